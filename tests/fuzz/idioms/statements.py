"""Statements and whole functions: loops, in-place code, aliases, containers, helpers."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.idioms.helpers import HELPERS, STATE
from tests.fuzz.idioms.recipes import CONSTANTS, Recipes

HEAD = ["import math", "from dataclasses import dataclass", "", "import numpy as np", "", ""]


class Author(Recipes):
    """Writes one program."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.params: dict[str, str] = {}
        self.helpers: list[str] = []
        self.loops = 0
        self.budget = 0
        self.returning = True

    def text(self) -> str:
        needed = [HELPERS[name] for name in self.helpers]
        body = "\n".join(self.lines)
        head = list(HEAD)
        if "State" in body or "S" in self.params.values():
            head += [STATE, ""]
        if any(
            word in body for word in ("WEIGHTS", "GAIN", "LIMITS", "fold(", "make_s", "Filter(")
        ):
            head += [CONSTANTS]
        return "\n".join(head) + "\n" + "".join(f"{h}\n\n" for h in needed) + body + "\n"

    # ---- whole functions ----

    def parameters(self) -> None:
        self.params = {"x": "v", "A": "M", "s": "s"}
        for name, kind, share in (
            ("y", "v", 0.4), ("q", "Q", 0.3), ("c", "C", 0.2), ("k", "k", 0.4), ("idx", "I", 0.3),
            ("p", "D", 0.15), ("st", "S", 0.15), ("xs", "L", 0.15), ("uv", "T", 0.1),
        ):  # fmt: skip
            if self.chance(share):
                self.params[name] = kind
        self.kinds = dict(self.params)
        self.frozen = {"k", "idx"}

    def function(self) -> None:
        self.parameters()
        self.put(f"def f({', '.join(self.params)}):")
        self.indent = 1
        self.put("n, m = A.shape")
        self.budget = self.rng.randint(4, 16)
        self.block(self.budget)
        self.result()

    def procedure(self) -> None:
        """A kernel that returns nothing: what it wrote into `x` is its result."""
        self.parameters()
        self.put(f"def kernel({', '.join(self.params)}):")
        self.indent, self.returning = 1, False
        self.put("n, m = A.shape")
        self.frozen |= {"x"}
        self.budget = self.rng.randint(3, 10)
        self.block(self.budget)
        self.put("for i in range(n):")
        self.counters["i"] = (0, 3)
        self.indent += 1
        self.put(f"x[i] {self.pick('=', '+=')} {self.near(self.s(1))}")

    def result(self) -> None:
        terms = [self.near(self.s(1))]
        for name, kind in self.kinds.items():
            if not self.chance(0.7):
                continue
            weight = self.constant()
            match kind:
                case "s":
                    terms.append(f"{weight} * {name}")
                case "v" | "w" | "M" | "Q" | "C" | "F":
                    inner = self.pick(name, f"np.sin({name})", f"{name} ** 2", f"{name} * {name}")
                    terms.append(f"{weight} * np.sum({inner})")
                case "Z":
                    terms.append(f"{weight} * np.sum(np.abs({name} + 3.0))")
                case "L":
                    terms.append(self.pick(
                        f"sum(np.sum(np.cos(r)) for r in {name})", f"np.sum(np.array({name}))"
                    ))  # fmt: skip
                case "T":
                    terms.append(f"{name}[0] @ {name}[1]")
                case "D":
                    terms.append(f'np.sum({name}["a"] * {name}["b"])')
                case "S":
                    terms.append(f"{name}.u @ {name}.v * {name}.e")
        if len(terms) > 4 and self.chance(0.5):
            self.put(f"total = {terms[0]}")
            for t in terms[1:]:
                self.put(f"total += {t}")
            self.put("return total")
        else:
            self.put("return " + " + ".join(terms))

    # ---- blocks ----

    def block(self, size: int) -> None:
        start = len(self.lines)
        for _ in range(size):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement()
        if len(self.lines) == start:
            self.statement(simple=True)

    def inner(self, size: int = 3) -> None:
        """An indented block; what it binds is not in scope after it."""
        before = dict(self.kinds)
        self.indent += 1
        self.block(self.rng.randint(1, size))
        self.indent -= 1
        self.kinds = before

    def statement(self, simple: bool = False) -> None:
        plain: list[Callable[[], None]] = [
            self.bind, self.bind, self.rebind, self.store, self.store, self.whole,
            self.number_update, self.alias, self.library_write,
        ]  # fmt: skip
        richer: list[Callable[[], None]] = [
            self.container, self.container_use, self.call, self.walrus, self.other_dtype,
            self.swap, self.recipe, self.recipe, self.recipe,
        ]  # fmt: skip
        nested: list[Callable[[], None]] = [
            self.loop, self.loop, self.loop, self.branch, self.while_loop, self.rows,
            self.time_loop, self.attempt, self.matched, self.nest, self.closure,
            self.running_best,
        ]  # fmt: skip
        if self.loops and self.chance(0.12):
            return self.leave()
        if simple or self.loops >= 3:
            return self.rng.choice(plain)()
        if self.indent >= 4:
            return self.rng.choice(plain + richer)()
        return self.rng.choice(plain * 2 + richer * 2 + nested)()

    # ---- names ----

    def bind(self) -> None:
        kind = self.pick("s", "s", "v", "v", "v", "w", "M", "M", "Q", "C")
        value = self.of(kind, self.rng.randint(1, 2))
        self.put(f"{self.new(kind)} = {value}")

    def rebind(self) -> None:
        kind = self.pick("s", "s", "v", "v", "M")
        found = [n for n in self.names(kind) if n not in self.frozen]
        if not found:
            return self.bind()
        value = self.of(kind, 1)
        self.put(f"{self.rng.choice(found)} = {self.near(value)}")

    def number_update(self) -> None:
        found = [n for n in self.names("s") if n not in self.frozen]
        name = self.rng.choice(found)
        self.put(
            self.pick(
                f"{name} += {self.near(self.s(1))}",
                f"{name} -= {self.s(0)} * {self.s(0)}",
                f"{name} *= {self.constant()}",
                f"{name} = math.tanh({name} * {self.s(0)} + {self.s(0)})",
                f"{name} = {name} * 0.5 + {self.s(1)}",
                f"{name} /= 1.0 + {self.s(0)} ** 2",
            )
        )

    def walrus(self) -> None:
        name = self.new("s", "t")
        self.put(f"{self.new('s')} = ({name} := {self.s(1)}) * {name}")

    def other_dtype(self) -> None:
        what = self.pick("I", "B", "F", "Z", "Z", "B", "I")
        if what == "I":
            value = self.pick("np.array([1, 0, 1, 3])", "np.arange(n)[::-1]", "np.argsort(x)")
            self.put(f"{self.new('I')} = {value}")
        elif what == "B":
            self.put(f"{self.new('B')} = {self.v(0)} > {self.pick('0.11', '-0.3')}")
        elif what == "F":
            value = f"({self.v(1)}).astype(np.float32)"
            self.put(f"{self.new('F')} = {value}")
        else:
            value = self.pick(
                f"{self.v(0)} + 1j * {self.v(0)}",
                f"np.exp(1j * {self.v(0)})",
                f"np.fft.fft({self.v(0)})",
                f"{self.v(0)} * (0.3 + {self.s(0)} * 1j)",
            )
            self.put(f"{self.new('Z')} = {value}")

    def swap(self) -> None:
        found = [n for n in self.names("v") if n not in self.frozen]
        if len(found) < 2:
            return self.alias()
        a, b, *rest = self.rng.sample(found, min(3, len(found)))
        if rest and self.chance(0.5):
            self.put(f"{a}, {b}, {rest[0]} = {b}, {rest[0]}, {a}")
        else:
            self.put(f"{a}, {b} = {b}, {a}")
        return None

    # ---- control flow ----

    def counted(self, name: str) -> tuple[str, tuple[int, int]]:
        choices = [
            (f"range({self.pick('n', '4', 'len(x)')})", (0, 3)),
            ("range(m)", (0, 2)),
            ("range(1, n - 1)", (1, 2)),
            ("range(n - 1, -1, -1)", (0, 3)),
            ("range(0, n, 2)", (0, 2)),
            ("range(1, n)", (1, 3)),
            ("range(2)", (0, 1)),
        ]
        for other, (low, high) in self.counters.items():
            if low >= 0 and high <= 3:
                choices += [(f"range({other})", (0, max(high - 1, 0))),
                            (f"range({other} + 1)", (0, high)),
                            (f"range({other}, n)", (low, 3))] * 2  # fmt: skip
        if (k := self.some("k")) is not None:
            choices.append((f"range({k})", (0, 1)))
            choices.append((f"range({k}, n)", (0, 3)))
        return self.rng.choice(choices)

    def looped(self, size: int = 3, counter: str = "", bounds: tuple[int, int] = (0, 0)) -> None:
        before = dict(self.counters)
        if counter:
            self.counters[counter] = bounds
        self.loops += 1
        self.inner(size)
        self.loops -= 1
        self.counters = before

    def loop(self) -> None:
        counter = next((c for c in ("i", "j", "l", "r") if c not in self.counters), "")
        if not counter:
            return self.store()
        how, bounds = self.counted(counter)
        if self.chance(0.2):
            return self.over_items(counter)
        self.put(f"for {counter} in {how}:")
        self.looped(3, counter, bounds)
        if self.chance(0.08):
            self.put("else:")
            self.inner(1)
        return None

    def over_items(self, counter: str) -> None:
        before = dict(self.kinds)
        a, b = self.new("s", "t"), self.new("s", "t")
        u, v = self.v(0), self.v(0)
        head, bounds = self.rng.choice(
            [
                (f"for {a} in {u}:", None),
                (f"for {a}, {b} in zip({u}, {v}):", None),
                (f"for {counter}, {a} in enumerate({u}):", (0, 3)),
                (f"for {a} in reversed({u}):", None),
                (f"for {counter}, ({a}, {b}) in enumerate(zip({u}, {v})):", (0, 3)),
            ]
        )
        self.put(head)
        self.looped(2, counter if bounds else "", bounds or (0, 0))
        self.kinds = before

    def leave(self) -> None:
        how = self.pick("continue", "break", "continue", "break", "return")
        if how == "return" and self.returning:
            how = f"return {self.near(self.s(1))}"
        self.put(f"if {self.condition()}:")
        self.indent += 1
        if self.chance(0.4):
            self.statement(simple=True)
        self.put(how)
        self.indent -= 1

    def branch(self) -> None:
        self.put(f"if {self.condition()}:")
        self.inner(2)
        if self.chance(0.3):
            self.put(f"elif {self.condition()}:")
            self.inner(2)
        if self.chance(0.5):
            self.put("else:")
            self.inner(2)
        if self.returning and self.loops == 0 and self.chance(0.12):
            self.put(f"if {self.condition()}:", f"    return {self.near(self.s(1))}")

    def while_loop(self) -> None:
        self.made += 1
        it = f"it{self.made}"
        kind = self.pick("count", "converge", "forever")
        self.put(f"{it} = 0")
        if kind == "count":
            self.put(f"while {it} < {self.pick('3', 'n', '2')}:")
        elif kind == "converge":
            err = self.new("s", "err")
            self.put(f"{err} = 1.0", f"while {err} > 0.2 and {it} < 4:")
        else:
            self.put("while True:")
        self.indent += 1
        self.put(f"{it} += 1")
        if kind == "converge":
            self.put(f"{err} = 0.5 * {err} + 0.1 * abs({self.s(0)})")
        if kind == "forever":
            self.put(f"if {it} > {self.pick('2', '3')} or {self.s(0)} > 0.93:", "    break")
        self.indent -= 1
        self.looped(2)

    def rows(self) -> None:
        """A loop over rows, which are views."""
        array = self.some("M") or "A"
        row = self.new("w", "row")
        before = dict(self.kinds)
        counter = next((c for c in ("i", "j", "l", "r") if c not in self.counters), "i2")
        head = self.pick(
            f"for {row} in {array}:",
            f"for {counter}, {row} in enumerate({array}):",
            f"for {row} in {array}[::-1]:",
            f"for {row} in {array}[1:]:",
        )
        self.put(head)
        self.indent += 1
        self.put(
            self.pick(
                f"{row} *= {self.constant()}",
                f"{row}[{self.index(3)}] = {self.near(self.s(1))}",
                f"{row} += {self.near(self.w(0))}",
                f"{row}[1:] = {row}[:-1]",
                f"{row}[...] = np.sin({row}) * {self.s(0)}",
                f"s = s + np.sum({row}) * {self.s(0)}" if "s" not in self.frozen else "pass",
            )
        )
        self.indent -= 1
        enumerated = "enumerate" in head and counter not in self.counters
        if self.chance(0.5):
            self.looped(2, counter if enumerated else "", (0, 3))
        self.kinds = before

    def time_loop(self) -> None:
        """Two or three buffers that change places."""
        u, v, edge = self.new("v", "u"), self.new("v", "u"), self.s(0)
        fresh = self.pick("np.zeros(n)", "np.empty(n)", "x * 0.5")
        self.put(f"{u} = {self.v(1)} + 0.0", f"{v} = {fresh}")
        self.put(f"for step in range({self.pick('2', '3', 'n')}):")
        self.indent += 1
        self.put(
            f"{v}[0] = {edge}",
            f"{v}[1:-1] = {u}[1:-1] + 0.2 * ({u}[2:] - 2.0 * {u}[1:-1] + {u}[:-2])",
            self.pick(f"{v}[-1] = {u}[0] * {u}[1]", f"{v}[-1] = np.sin({u}[-1])"),
        )
        self.indent -= 1
        if self.chance(0.4):
            self.looped(1)
        self.indent += 1
        self.put(self.pick(f"{u}, {v} = {v}, {u}", f"{u}, {v} = {v}, {u}", f"{u} = {v}.copy()"))
        self.indent -= 1

    def attempt(self) -> None:
        self.put("try:" if self.chance(0.5) else 'with np.errstate(all="ignore"):')
        tried = self.lines[-1].strip() == "try:"
        self.inner(2)
        if tried:
            self.put(self.pick("except ZeroDivisionError:", "except (ValueError, IndexError):"))
            self.put("    raise" if self.chance(0.5) else "    pass")

    def matched(self) -> None:
        subject = self.some("k") or self.rng.choice(["n", *self.counters])
        self.put(f"match {subject}:")
        self.indent += 1
        self.put("case 0:")
        self.inner(1)
        if self.chance(0.5):
            self.put("case 1 | 3:")
            self.inner(1)
        self.put("case _:")
        self.inner(1)
        self.indent -= 1

    def nest(self) -> None:
        """The loop nests of linear algebra: triangles, accumulators, products."""
        if {"i", "j", "l"} & set(self.counters):
            return self.store()
        a, q = self.some("M") or "A", self.some("Q")
        if q is None:
            value = self.q(1)
            q = self.new("Q")
            self.put(f"{q} = {value} + 0.0")
        fresh = self.new("Q", "b")
        acc = self.new("s", "acc")
        choices = [
            [f"{fresh} = np.zeros((n, n))", "for i in range(n):", "    for j in range(i + 1):",
             f"        {acc} = 0.0", "        for l in range(m):",
             f"            {acc} += {a}[i, l] * {a}[j, l]",
             f"        {fresh}[i, j] = {acc}", f"        {fresh}[j, i] = {acc}"],
            [f"{fresh} = {q} + 3.0 * np.eye(n)", f"{acc} = 1.0", "for l in range(n):",
             "    for i in range(l + 1, n):", f"        {fresh}[i, l] /= {fresh}[l, l]",
             "        for j in range(l + 1, n):",
             f"            {fresh}[i, j] -= {fresh}[i, l] * {fresh}[l, j]",
             f"    {acc} *= 0.3 * {fresh}[l, l]"],
            [f"{fresh} = {q}.copy()", f"{acc} = 0.0", "for step in range(2):",
             "    for i in range(1, n - 1):", "        for j in range(1, n - 1):",
             f"            {fresh}[i, j] = 0.2 * ({fresh}[i, j] + {fresh}[i - 1, j] + "
             f"{fresh}[i + 1, j] + {fresh}[i, j - 1] + {fresh}[i, j + 1])",
             f"            {acc} += {fresh}[i, j] * {self.s(0)}"],
            [f"{fresh} = np.array({q})", f"{acc} = 1.0", "for i in range(n):",
             f"    if {fresh}[i, i] < {self.s(0)}:", "        continue",
             f"    {acc} = {acc} * (1.0 + 0.3 * {fresh}[i, i])",
             "    for j in range(n - 1, i, -1):", f"        {fresh}[i, j] *= {acc}",
             f"        if {acc} > 1.7:", "            break"],
            [f"{fresh} = np.empty((n, n))", f"{acc} = 0.0", "for i in range(n):",
             f"    {fresh}[i] = {q}[i] * {self.s(0)}", f"    {fresh}[i, :i] = 0.0",
             f"    {acc} += {fresh}[i, i:].sum()"],
        ]  # fmt: skip
        self.put(*self.rng.choice(choices))
        return None

    def running_best(self) -> None:
        best, where = self.new("s", "best"), self.new("k", "at")
        values = self.v(1)
        self.put(f"{best} = -np.inf", f"{where} = 0", f"for k1, t in enumerate({values}):")
        self.put(f"    if t > {best}:", f"        {best}, {where} = t, k1")
        self.kinds.pop(where)
        if self.chance(0.5):
            self.put(f"{best} = {best} + {self.some('v')}[{where}]")

    def closure(self) -> None:
        self.made += 1
        name, kind = f"g{self.made}", self.pick("s", "v")
        captured = self.some("v") or "x"
        if kind == "s":
            self.put(f"{name} = lambda t: t * {captured}[{self.index(4)}] + {self.s(0)}")
            self.put(f"{self.new('s')} = {name}({self.s(0)}) + {name}({self.s(0)})")
        elif self.chance(0.5):
            self.put(f"def {name}(t, scale={self.constant()}):")
            self.put(f"    return scale * t * {captured}")
            self.put(f"{self.new('v')} = {name}({self.v(0)}{self.pick('', ', scale=0.4')})")
        else:
            self.put(f"def {name}(i, t):", f"    {captured}[i] = t * {self.constant()}")
            self.put(f"{name}({self.index(4)}, {self.s(0)})")
