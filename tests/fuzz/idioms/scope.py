"""What a program has in scope, and random expressions over it.

Kinds: s number, k small integer; v float array of 4, w of 3, M 4 by 3, Q 4 by 4, C 2 by 4 by 3;
F float32 array of 4, Z complex array of 4, I array of 4 indices with repeats, B mask of 4;
L list of arrays, T pair of arrays, D dictionary of arrays, S object with arrays.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

SHAPES = {"v": (4,), "w": (3,), "M": (4, 3), "Q": (4, 4), "C": (2, 4, 3), "F": (4,)}
EXTENTS = {4: ("n", "n", "4", "len(x)"), 3: ("m", "m", "3"), 2: ("2",)}


@dataclass
class Scope:
    """The names of the function being written, and its lines."""

    rng: random.Random
    kinds: dict[str, str] = field(default_factory=dict)
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)  # smallest, largest
    lines: list[str] = field(default_factory=list)
    indent: int = 0
    made: int = 0
    frozen: set[str] = field(default_factory=set)  # names that may not be bound again
    coming: dict[str, str] = field(default_factory=dict)  # in scope after the next line

    # ---- writing ----

    def put(self, *texts: str) -> None:
        self.lines += ["    " * self.indent + text for text in texts]
        written = set(re.findall(r"\w+", " ".join(texts)))
        self.kinds |= {n: kind for n, kind in self.coming.items() if n in written}
        self.coming = {}

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def new(self, kind: str, stem: str = "") -> str:
        self.made += 1
        name = f"{stem or kind.lower()}{self.made}"
        self.coming[name] = kind
        return name

    def names(self, *kinds: str) -> list[str]:
        return [n for n, k in self.kinds.items() if k in kinds]

    def some(self, kind: str) -> str | None:
        """A name of this kind, sooner one that was bound late."""
        found = self.names(kind)
        if not found:
            return None
        return found[-1] if self.chance(0.3) else self.rng.choice(found)

    # ---- pieces ----

    def constant(self) -> str:
        return self.pick("0.5", "0.3", "1.2", "-0.7", "0.25", "2.0", "0.9", "1.0", "0.1")

    def index(self, extent: int) -> str:
        """An index that is in range for a dimension of this extent."""
        found = [str(i) for i in range(extent)] + ["-1"]
        weights = [1] * len(found)
        for name, (low, high) in self.counters.items():
            for text, down, up in ((name, 0, 0), (f"{name} - 1", 1, -1), (f"{name} + 1", -1, 1)):
                if low - down >= 0 and high + up < extent and (down or low >= 0):
                    found.append(text)
                    weights.append(8 if text == name else 4)
            if low >= 0:
                found.append(f"({name} + {self.pick('1', '2')}) % {extent}")
                weights.append(1)
        return self.rng.choices(found, weights)[0]

    def element(self, name: str) -> str:
        shape = SHAPES[self.kinds[name]]
        return f"{name}[{', '.join(self.index(n) for n in shape)}]"

    def condition(self) -> str:
        found = [f"{self.s(0)} {self.pick('<', '>', '>=')} {self.pick('0.1', '0.35', '-0.2')}"]
        found.append(f"{self.s(0)} > {self.s(0)}")
        found.append(f"np.sum({self.v(0)}) > {self.pick('0.21', '-0.4')}")
        found.append(f"-0.31 < {self.s(0)} < 0.83")
        found.append(f"np.any({self.v(0)} > 0.57)")
        found += [f"{c} % 2 == {self.pick('0', '1')}" for c in self.counters]
        found += [f"{c} == {self.pick('0', '1', '2')}" for c in self.counters]
        if (k := self.some("k")) is not None:
            found.append(f"{k} {self.pick('>', '==')} {self.pick('0', '1')}")
        return self.pick(*found)

    def near(self, text: str) -> str:
        """Keep a number or array from growing."""
        return self.pick(
            f"np.sin({text})", f"np.tanh({text})", f"0.5 * ({text})", f"({text}) / 2", f"({text})"
        )

    # ---- expressions ----

    def of(self, kind: str, depth: int = 1) -> str:
        match kind:
            case "s":
                return self.s(depth)
            case "v":
                return self.v(depth)
            case "w":
                return self.w(depth)
            case "M":
                return self.m(depth)
            case "Q":
                return self.q(depth)
            case "C":
                return self.c(depth)
        raise AssertionError(kind)

    def pair(self, kind: str, depth: int) -> tuple[str, str]:
        return self.of(kind, depth - 1), self.of(kind, depth - 1)

    def arithmetic(self, kind: str, depth: int) -> list[str]:
        a, b = self.pair(kind, depth)
        s = self.s(0)
        return [
            f"{a} + {b}",
            f"{a} - {self.constant()} * {b}",
            f"{a} * {b}",
            f"{a} * {s}",
            f"{a} / (1.5 + {b} * {b})",
            f"np.{self.pick('sin', 'cos', 'tanh', 'arctan', 'exp')}(0.6 * {a})",
            f"np.sqrt(1.0 + {a} ** 2)",
            f"np.{self.pick('maximum', 'minimum')}({a}, {self.pick(b, s, '0.15')})",
            f"np.where({a} > {self.pick('0.13', '-0.2')}, {b}, {self.pick(a, s)})",
            f"np.clip({a}, -0.71, {self.pick('0.62', '0.83')})",
            f"np.abs({a})",
            f"-{a}",
            f"np.hypot({a}, 1.0 + {b})",
            f"np.log1p({a} ** 2)",
        ]

    def s(self, depth: int = 1) -> str:
        if depth <= 0:
            found = [self.constant(), *(self.names("s") * 3)]
            arrays = self.names(*SHAPES)
            found += [self.element(self.rng.choice(arrays)) for _ in range(3) if arrays]
            if (d := self.some("D")) is not None:
                found.append(f'{d}["{self.pick("a", "b")}"][{self.index(4)}]')
            if (name := self.some("L")) is not None:
                found.append(f"{name}[{self.pick('0', '1', '-1')}][{self.index(4)}]")
            if (name := self.some("S")) is not None:
                found += [f"{name}.u[{self.index(4)}]", f"{name}.e"]
            if (name := self.some("T")) is not None:
                found.append(f"{name}[{self.pick('0', '1')}][{self.index(4)}]")
            return self.rng.choice(found)
        a, b = self.pair("s", depth)
        v, u, m = self.v(depth - 1), self.v(depth - 1), self.m(depth - 1)
        return self.pick(
            *self.arithmetic("s", depth),
            f"math.{self.pick('sin', 'cos', 'tanh', 'atan')}({a})",
            f"{self.pick('max', 'min')}({a}, {b})",
            f"abs({a})",
            f"({a} if {self.condition()} else {b})",
            f"np.sum({v})",
            f"({v}).{self.pick('sum', 'mean')}()",
            f"np.{self.pick('mean', 'max', 'min', 'var', 'std')}({v})",
            f"np.dot({v}, {u})",
            f"({v}) @ ({u})",
            f"np.sum({m})",
            f"np.linalg.norm({v} + 2.0)",
            f"np.prod(1.0 + 0.3 * {v})",
            f"np.einsum('i,i->', {v}, {u})",
            f"sum(t * t for t in {v})",
            f"sum([{a} * t for t in {v}])",
            f"max(t * {self.constant()} for t in {v})",
            f"np.trace({self.q(depth - 1)})",
            f"np.sort({v})[{self.index(4)}]",
            f"np.real(np.sum(np.exp(1j * ({v}))))",
            f"float(np.sum({v} ** 2))",
            f"({m}).max(axis={self.pick('0', '1')}).sum()",
            f"np.median({v})",
            f"np.interp({a}, np.array([-2.0, -0.5, 0.6, 2.0]), {v})",
        )

    def v(self, depth: int = 1) -> str:
        if depth <= 0:
            found = self.names("v") * 3
            found += [f"{n}[:, {self.index(3)}]" for n in self.names("M")]
            found += [f"{n}[{self.index(4)}]" for n in self.names("Q")]
            found += [f"{n}[{self.index(2)}, :, {self.index(3)}]" for n in self.names("C")]
            found += [
                f"{n}[{self.pick('0', '1', '-1')}]"
                for n in self.names(
                    "L",
                )
            ]
            found += [f"{n}[{self.pick('0', '1')}]" for n in self.names("T")]
            found += [f'{n}["{self.pick("a", "b")}"]' for n in self.names("D")]
            found += [f"{n}.{self.pick('u', 'v')}" for n in self.names("S")]
            return self.rng.choice(found) if found else "np.ones(4)"
        a, b = self.pair("v", depth)
        w, m, q = self.w(depth - 1), self.m(depth - 1), self.q(depth - 1)
        extra = [f"({a})[{i}]" for i in self.names("I")]
        extra += [f"np.where({i}, {a}, {b})" for i in self.names("B")]
        extra += [f"np.real({z})" for z in self.names("Z")]
        return self.pick(
            *self.arithmetic("v", depth),
            *extra,
            f"({m}).sum(axis=1)",
            f"np.{self.pick('mean', 'max', 'min')}({m}, axis=1)",
            f"({m}) @ ({w})",
            f"({q}) @ ({a})",
            f"({a}) @ ({q})",
            f"np.dot({q}, {a})",
            f"np.cumsum({a})",
            f"np.sort({a})",
            f"({a})[::-1]",
            f"np.roll({a}, {self.pick('1', '-1', '2')})",
            f"np.concatenate((({a})[2:], ({b})[:2]))",
            f"np.array([{self.s(0)}, {self.s(0)}, {self.s(0)}, {self.s(0)}])",
            f"np.array([t * {self.s(0)} for t in {a}])",
            f"np.outer({a}, {w})[:, {self.index(3)}]",
            f"np.diag({q})",
            f"({a}).copy()",
            f"np.full(n, {self.s(0)})",
            "np.zeros(n)",
            f"np.ones_like({a})",
            f"np.linspace({self.s(0)}, {self.s(0)}, n)",
            f"np.append(({a})[1:], {self.s(0)})",
            f"np.cumprod(1.0 + 0.2 * {a})",
            f"np.gradient({a})",
            f"np.convolve({a}, np.array([0.25, 0.5, 0.25]), 'same')",
            f"np.einsum('ij,j->i', {m}, {w})",
            f"np.linalg.solve(3.0 * np.eye(n) + 0.3 * np.tanh({q}), {a})",
            f"np.real(np.fft.ifft(np.fft.fft({a}) * np.array([1.0, 0.5, 0.25, 0.5])))",
            f"np.abs({a} + 1j * ({b}) + 2.0)",
            f"np.take({a}, [0, 2, 2, 1])",
            f"({a})[np.array([3, 0, 0, 1])]",
            f"np.stack(({a}, {b}))[{self.pick('0', '1')}]",
            f"np.vstack([{a}, {b}]).sum(axis=0)",
            f"np.average(np.stack([{a}, {b}]), axis=0, weights=np.array([0.3, 0.7]))",
            f"({a}).reshape(2, 2).T.ravel()",
            f"({m}).T[{self.index(3)}]",
            f"np.flip({a})",
            f"np.repeat(({a})[:2], 2)",
            f"np.tile(({a})[1:3], 2)",
            f"np.pad(({a})[1:-1], 1)",
        )

    def w(self, depth: int = 1) -> str:
        if depth <= 0:
            found = list(self.names("w") * 2)
            found += [f"{n}[{self.index(4)}]" for n in self.names("M")]
            found += [f"{n}[{self.index(2)}, {self.index(4)}]" for n in self.names("C")]
            found += [f"{n}[1:]" for n in self.names("v")[-2:]]
            return self.rng.choice(found)
        a, m = self.w(depth - 1), self.m(depth - 1)
        return self.pick(
            *self.arithmetic("w", depth),
            f"np.{self.pick('sum', 'mean', 'max')}({m}, axis=0)",
            f"np.diff({self.v(depth - 1)})",
            f"({self.v(depth - 1)}) @ ({m})",
            f"({m}).T @ ({self.v(depth - 1)})",
            f"np.cross({a}, np.array([0.2, 1.0, -0.4]))",
            f"({m})[{self.index(4)}, ::-1]",
        )

    def m(self, depth: int = 1) -> str:
        if depth <= 0:
            found = list(self.names("M") * 3) + [f"{n}[{self.index(2)}]" for n in self.names("C")]
            return self.rng.choice(found)
        v, w, m = self.v(depth - 1), self.w(depth - 1), self.m(depth - 1)
        return self.pick(
            *self.arithmetic("M", depth),
            f"np.outer({v}, {w})",
            f"({self.q(depth - 1)}) @ ({m})",
            f"({v})[:, None] * ({w})",
            f"({m}) * ({w})",
            f"({m}) + ({v})[:, np.newaxis]",
            f"({m})[::-1]",
            f"({m})[[2, 0, 0, 1]]",
            f"({m}).copy()",
            "np.zeros((n, m))",
            f"np.cumsum({m}, axis={self.pick('0', '1')})",
            f"np.sort({m}, axis={self.pick('0', '1')})",
            f"({m}) - np.mean({m}, axis=0)",
            f"({m}) / (1.0 + np.sum(({m}) ** 2, axis=1, keepdims=True))",
            f"np.column_stack(({v}, {self.v(0)}, {self.v(0)}))",
            f"np.transpose(({m}).T)",
        )

    def q(self, depth: int = 1) -> str:
        found = list(self.names("Q") * 3)
        if depth <= 0 and found:
            return self.rng.choice(found)
        m, v = self.m(0), self.v(0)
        found += [f"({m}) @ ({m}).T", f"np.outer({v}, {v})", f"np.eye(n) * {self.s(0)}"]
        if depth > 0:
            found += self.arithmetic("Q", depth)
        return self.rng.choice(found)

    def c(self, depth: int = 1) -> str:
        found: Sequence[str] = self.names("C")
        if depth <= 0 and found:
            return self.rng.choice(found)
        m = self.m(0)
        made = [f"np.stack([{m}, {self.m(0)}])", "np.zeros((2, n, m))"]
        made.append(f"np.ones((2, 1, 1)) * {m}")
        if depth > 0 and found:
            made += self.arithmetic("C", depth)
        return self.rng.choice(made)
