"""Random programs about containers: lists, dicts and objects that are changed under several names,
by callees and by closures; arrays inside them, views of views, stores of every form.

`program(seed)` is deterministic.  What `tests/fuzz/generator.py` writes are loops over arrays;
here the loops are short and the ways to reach one place are many.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from tests.fuzz.generator import Program

_HELPERS = """\
import math

import numpy as np


class Box:
    def __init__(self, v, s):
        self.v = v
        self.s = s

    def at(self, k):
        return self.v[k] * self.s


def push(items, value):
    items.append(value)
    return len(items)


def put(table, key, value):
    table[key] = value


def scale(v, by):
    v *= 0.5
    v[1] = np.sin(by) + v[0]
    return v


def mix(v, w):
    w[:] = v[::-1] * 0.3 + w
    return v[0] * w[1]


def pick(items, k, other):
    if k < len(items):
        return items[k]
    return other


def pair(v, s):
    u = v * s
    return u, v


def fold(items, n):
    if n == 0:
        return 0.1
    items[n - 1] = items[n - 1] * 0.7 + 0.1
    return items[n - 1] * fold(items, n - 1) + 0.2


"""


class Writer:
    """Writes the statements of one function; `scope` maps names to kinds.

    Kinds: f number, v vector of three, m matrix (2, 3), l list of numbers (two or more), r list of
    two vectors, d dict of numbers with "a" and "b", g function of a number, o a Box."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.scope: dict[str, str] = {}
        self.indent, self.counter, self.loops = 1, 0, 0

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def names(self, kind: str) -> list[str]:
        return [n for n, k in self.scope.items() if k == kind]

    def any(self, kind: str) -> str | None:
        found = self.names(kind)
        return self.rng.choice(found) if found else None

    def bind(self, kind: str, value: str) -> str:
        old = self.names(kind)
        if old and self.chance(0.3):
            name = self.rng.choice(old)
        else:
            self.counter += 1
            name = f"{kind}{self.counter}"
        self.line(f"{name} = {value}")
        self.scope[name] = kind
        return name

    @contextmanager
    def block(self) -> Iterator[None]:
        outer, start = dict(self.scope), len(self.lines)
        self.indent += 1
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1
        self.scope = outer

    # ---- expressions -----------------------------------------------------------

    def leaf(self) -> str:
        options = [repr(round(self.rng.uniform(-1.5, 1.5), 2))]
        for name, kind in self.scope.items():
            match kind:
                case "f":
                    options += [name] * 3
                case "v":
                    options += [f"{name}[{self.rng.randrange(-3, 3)}]", f"{name}.sum()"]
                case "m":
                    options.append(f"{name}[{self.pick('0', '1', '-1')}, {self.pick('0', '2')}]")
                case "l":
                    options += [f"{name}[{self.pick('0', '1', '-1', '-2')}]", f"sum({name})"]
                case "r":
                    options += [f"{name}[{self.pick('0', '1', '-1')}][{self.pick('0', '1')}]"]
                    options.append(f"sum(r_.sum() for r_ in {name})")
                case "d":
                    key = self.pick('"a"', '"b"')
                    options += [f"{name}[{key}]", f"{name}.get({key}, 0.5)"]
                    options.append(f"sum({name}.values())")
                case "g":
                    options.append(f"{name}({self.rng.uniform(-1, 1):.2f})")
                case "o":
                    options += [f"{name}.s", f"{name}.at({self.pick('0', '1')})", f"{name}.v[2]"]
        return self.rng.choice(options)

    def number(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.25):
            return self.leaf()
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            f"np.sin({a})",
            f"np.tanh({a})",
            f"({a}) * ({b})",
            f"{a} + {b}",
            f"{a} - ({b})",
            f"({a}) / (2.0 + ({b}) ** 2)",
            f"({a} if {self.test()} else {b})",
        )

    def small(self) -> str:
        """A number that stays bounded."""
        return f"{self.pick('np.sin', 'np.tanh', 'np.cos')}({self.number()})"

    def test(self) -> str:
        return f"{self.leaf()} {self.pick('<', '>')} {self.rng.uniform(-1, 1):.3f}"

    def vector(self) -> str:
        v = self.any("v") or "np.ones(3)"
        w = self.any("v") or "np.ones(3)"
        m = self.any("m")
        r = self.any("r")
        options = [
            f"np.sin({v})",
            f"{v} * {w}",
            f"{v} + {self.leaf()}",
            f"{v}[::-1]",
            f"np.array([{self.leaf()}, {self.leaf()}, {self.leaf()}])",
            f"np.where({v} > 0.1, {v}, {w} * 0.5)",
            f"np.cumsum({v}) * 0.4",
            f"{v}.copy()",
        ]
        options += [f"{m}[{self.pick('0', '1')}]", f"{m}.T[:, 1]"] if m else []
        options += [f"{r}[{self.pick('0', '1')}]"] if r else []
        return self.rng.choice(options)

    # ---- statements ------------------------------------------------------------

    def statement(self) -> None:
        forms: list[Callable[[], object]] = [
            lambda: self.bind("f", self.small()),
            lambda: self.bind("v", self.vector()),
            self.new_container,
            self.alias,
            self.change_list,
            self.change_list,
            self.change_dict,
            self.change_rows,
            self.store,
            self.store,
            self.view,
            self.helper,
            self.closure,
            self.unpack,
            self.choice,
        ]
        if self.indent < 3:
            forms += [self.loop, self.loop, self.branch, self.guarded, self.gather]
        self.rng.choice(forms)()

    def new_container(self) -> None:
        kind = self.pick("l", "l", "d", "r", "m", "o")
        s, t, v = self.small(), self.small(), self.any("v") or "np.ones(3)"
        match kind:
            case "l":
                value = self.pick(
                    f"[{s}, {t}]",
                    "[0.0] * 3",
                    "[0, 0]",
                    f"[{s} for _ in range(3)]",
                    f"list({v})",
                    f"[e_ * 2.0 for e_ in {v}]",
                    f"{v}.tolist()",
                    f"[*{v}, {s}]",
                )
            case "d":
                value = self.pick(
                    f'{{"a": {s}, "b": {t}}}',
                    f"dict(a={s}, b={t})",
                    '{"a": 0, "b": 0.0}',
                    f'{{k_: e_ for k_, e_ in zip("ab", {v})}}',
                )
            case "r":
                value = self.pick(f"[{v} * 1.0, {v} + {s}]", f"[{v}, np.zeros(3)]")
            case "m":
                value = self.pick(f"np.outer([1.0, 0.5], {v})", f"np.stack([{v}, {v} * {s}])")
            case _:
                value = f"Box({v}, {s})"
        self.bind(kind, value)

    def alias(self) -> None:
        kind = self.pick("l", "d", "r", "v", "m")
        name = self.any(kind)
        if name:
            self.bind(kind, name)

    def change_list(self) -> None:
        name = self.any("l")
        if not name:
            return self.new_container()
        s = self.small()
        k = self.pick("0", "1", "-1")
        self.line(
            self.pick(
                f"{name}.append({s})",
                f"{name}[{k}] = {s}",
                f"{name}[{k}] = {s}",
                f"{name}[{k}] += {s}",
                f"{name}[{k}] *= 0.5",
                f"{name}.insert({self.pick('0', '1')}, {s})",
                f"{name}.extend([{s}, {self.leaf()}])",
                f"{name} += [{s}]",
                f"{name}[0], {name}[-1] = {name}[-1], {name}[0]",
                f"{name}.reverse()",
                f"{name}[1:] = [{s}, {self.leaf()}]",
            )
        )
        if self.chance(0.3):
            self.counter += 1
            self.line(f"if len({name}) > 3:")
            self.line(f"    p{self.counter} = {name}.pop({self.pick('', '0')})")
            self.line(f"    {name}[0] = {name}[0] + p{self.counter} * 0.5")
        return None

    def change_dict(self) -> None:
        name = self.any("d")
        if not name:
            return self.new_container()
        s, key = self.small(), self.pick('"a"', '"b"')
        self.line(
            self.pick(
                f"{name}[{key}] = {s}",
                f"{name}[{key}] += {s}",
                f"{name}[{key}] = {name}[{key}] * 0.5 + {s}",
                f"{name}.update(b={s})",
                f'{name}.update({{"a": {s}}})',
                f'{name}["c"] = {s}',
                f'{name}["a"] = {name}.setdefault("e", {s}) * 0.5',
                f'{name}["b"] = {name}.pop("c", {s})',
            )
        )
        return None

    def change_rows(self) -> None:
        name = self.any("r")
        if not name:
            return self.new_container()
        s, k = self.small(), self.pick("0", "1")
        self.line(
            self.pick(
                f"{name}[{k}][1] = {s}",
                f"{name}[{k}] *= 0.5",
                f"{name}[{k}][1:] += {s}",
                f"{name}[0], {name}[1] = {name}[1], {name}[0]",
                f"{name}[{k}] = {self.vector()}",
                f"{name}[0] = {name}[1]",
            )
        )
        return None

    def store(self) -> None:
        v, w = self.any("v"), self.any("v") or "np.ones(3)"
        if not v:
            return
        s, m = self.small(), self.any("m")
        options = [
            f"{v}[{self.pick('0', '1', '-1')}] = {s}",
            f"{v}[1:] = {w}[:2] * 0.5",
            f"{v}[1:] += {v}[:-1] * 0.3",
            f"{v} *= 0.6",
            f"{v} += {s}",
            f"{v}[{v} > 0.3] = {s}",
            f"{v}[[0, 2]] += {s}",
            f"{v}[np.array([2, 0])] = {w}[:2]",
            f"np.multiply({v}, 0.5, out={v})",
            f"np.copyto({v}, {w} * 0.7)",
            f"{v}[...] = np.sin({w})",
        ]
        if m:
            options += [
                f"{m}[0] = {v}",
                f"{m}[:, 1] = {s}",
                f"{m}.T[2] += {s}",
                f"{m}.reshape(-1)[1:4] *= 0.5",
                f"{m}[0, 1], {m}[1, 2] = {m}[1, 2], {m}[0, 1]",
            ]
        box = self.any("o")
        if box:
            options += [f"{box}.v[1] = {s}", f"{box}.v[:] = {w} * 0.5"]
        self.line(self.rng.choice(options))

    def view(self) -> None:
        v, m, r = self.any("v"), self.any("m"), self.any("r")
        options = [f"{v}[::-1]", f"{v}[:]", f"{v}.reshape(3)"] if v else []
        options += [f"{m}[1]", f"{m}.T.T[0]", f"{m}.reshape(-1)[::2]"] if m else []
        options += [f"{r}[0][::-1]"] if r else []
        if options:
            name = self.bind("v", self.rng.choice(options))
            if self.chance(0.5):
                self.line(f"{name}[::-1][1:][0] = {self.small()}")

    def helper(self) -> None:
        items, table, v = self.any("l"), self.any("d"), self.any("v")
        s = self.small()
        options: list[tuple[str, str]] = []
        if items:
            options += [("", f"push({items}, {s})"), ("f", f"pick({items}, 1, {s})")]
            options += [("f", f"pick({items}, 9, {s})"), ("f", f"fold({items}, 2)")]
        if table:
            options.append(("", f"put({table}, {self.pick(chr(34) + 'a' + chr(34))}, {s})"))
        if v:
            options += [("v", f"scale({v}, {s})"), ("f", f"mix({v}, {self.vector()}.copy())")]
            options += [("", f"scale({v}[:], {s})"), ("f", f"mix({v}.copy(), {v})")]
        if options:
            kind, text = self.rng.choice(options)
            if kind:
                self.bind(kind, text)
            else:
                self.line(text)

    def closure(self) -> None:
        if self.indent > 1:
            return
        self.counter += 1
        name = f"g{self.counter}"
        before = dict(self.scope)
        self.line(f"def {name}(z_):")
        self.indent += 1
        self.scope = {n: k for n, k in self.scope.items() if k in "fvld"}
        self.scope["z_"] = "f"
        if self.chance(0.5):
            self.rng.choice([self.change_list, self.change_dict, self.store])()
        self.scope["z_"] = "f"
        self.line(f"return np.tanh(z_ + {self.number(1)})")
        self.indent -= 1
        self.scope = before
        self.scope[name] = "g"

    def unpack(self) -> None:
        v, items = self.any("v"), self.any("l")
        if v and self.chance(0.5):
            self.counter += 2
            a, b = f"v{self.counter}", f"v{self.counter - 1}"
            self.line(f"{a}, {b} = pair({v}, {self.leaf()})")
            self.scope[a] = self.scope[b] = "v"
        elif items:
            self.counter += 2
            a, b = f"f{self.counter}", f"l{self.counter - 1}"
            self.line(f"{a}, *{b} = {items} + [{self.leaf()}, 0.3]")
            self.scope[a], self.scope[b] = "f", "l"

    def choice(self) -> None:
        kind = self.pick("v", "l", "d", "f")
        names = self.names(kind)
        if len(names) >= 2:
            a, b = self.rng.sample(names, 2)
            self.bind(kind, f"{a} if {self.test()} else {b}")

    # ---- nested statements -----------------------------------------------------

    def body(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def loop(self) -> None:
        items, table, v, m, r = (self.any(k) for k in "ldvmr")
        self.counter += 1
        n = self.counter
        heads: list[tuple[str, dict[str, str]]] = [(f"for i{n} in range(3):", {})]
        if items:
            heads.append((f"for e{n} in list({items}):", {f"e{n}": "f"}))
            heads.append((f"for i{n}, e{n} in enumerate({items}[:2]):", {f"e{n}": "f"}))
        if table:
            heads.append((f"for k{n}, e{n} in list({table}.items()):", {f"e{n}": "f"}))
        if v and items:
            heads.append(
                (f"for e{n}, h{n} in zip({v}, {items}[:]):", {f"e{n}": "f", f"h{n}": "f"})
            )
        if m:
            heads.append((f"for w{n} in {m}:", {f"w{n}": "v"}))
        if r:
            heads.append((f"for w{n} in {r}:", {f"w{n}": "v"}))
        head, names = self.rng.choice(heads)
        if self.chance(0.2):
            self.line(f"q{n} = 0")
            head, names = f"while q{n} < 3:", {}
        self.line(head)
        with self.block():
            if head.startswith("while"):
                self.line(f"q{n} += 1")
            self.scope |= names
            self.body(self.rng.randint(1, 3))
            if self.chance(0.3):
                self.line(f"if {self.test()}:")
                self.line(f"    {self.pick('break', 'continue')}")
                self.body(1)

    def branch(self) -> None:
        self.line(f"if {self.test()}:")
        with self.block():
            self.body(self.rng.randint(1, 2))
            if self.chance(0.15):
                self.line(f"return {self.number(1)}")
        if self.chance(0.5):
            self.line("else:")
            with self.block():
                self.body(1)

    def guarded(self) -> None:
        form = self.pick("try", "with")
        self.line("try:" if form == "try" else 'with np.errstate(all="ignore"):')
        with self.block():
            self.body(self.rng.randint(1, 2))
        if form == "try":
            self.line("finally:")
            with self.block():
                self.body(1)

    def gather(self) -> None:
        items, v = self.any("l"), self.any("v")
        source = items or v or "[0.2, 0.4]"
        self.bind(
            "l",
            self.pick(
                f"[e_ * e_ for e_ in {source}] + [{self.leaf()}, 0.1]",
                f"[{self.leaf()}, 0.2] + [np.sin(e_) for e_ in {source} if e_ > 0.05]",
                f"[a_ * b_ for a_, b_ in zip({source}, {source}[1:])] + [0.1, {self.leaf()}]",
            ),
        )


def program(seed: int) -> Program:
    """The program of this seed.

    Example:
        >>> program(3).text == program(3).text
        True
    """
    work = Writer(random.Random(seed))
    work.scope = {"x": "v", "s": "f", "t": "f"}
    work.body(work.rng.randint(3, 11))
    terms = [work.number(1)]
    for name, kind in work.scope.items():
        if work.chance(0.7) and kind in "fvmld":
            total = {"f": name, "v": f"np.sin({name}).sum()", "m": f"np.sin({name}).sum()"}
            other = f"sum({name})" if kind == "l" else f"sum({name}.values())"
            terms.append(total.get(kind, other))
    work.line(f"return {' + '.join(terms)}")
    text = _HELPERS + "def f(x, s, t):\n" + "\n".join(work.lines) + "\n"
    rng = np.random.default_rng(seed)
    args = (rng.uniform(-1.2, 1.2, 3), *(float(a) for a in rng.uniform(-1.2, 1.2, 2)))
    return Program(seed, text, args, (0, 1, 2))
