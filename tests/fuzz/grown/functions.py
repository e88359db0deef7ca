"""Functions of grown programs: nested ones, recursive ones, and helpers with own bodies."""

from __future__ import annotations

import numpy as np

from tests.fuzz.grown.blocks import Blocks
from tests.fuzz.grown.scope import Helper
from tests.fuzz.grown.statements import NUMBERS

HALVES = (
    "np.concatenate([rec(a0[:m], b1), rec(a0[m:], b1 * 0.5)])",
    "np.concatenate([rec(a0[1:], b1), a0[:1] * b1])",
)


class Functions(Blocks):
    """Grows functions beside or inside the one at hand."""

    def closure(self) -> bool:
        self.closures += 1
        name, outer, target = f"g{self.closures}", self.array(), self.target()
        lines = self.pick(self.early, self.late, self.writing)(name)
        call = self.pick(
            f"{target} = {name}({outer})",
            f"{target} = {name}({self.scalar(1)})",
            f"{self.rng.choice(NUMBERS)} = np.sum({name}({outer}))",
        )
        if not self.add(*((self.indent, line) for line in (*lines, call))):
            return False
        if self.chance(0.4):
            self.statement()
            self.add((self.indent, f"{self.target()} = {name}({self.array()})"))
        return True

    def early(self, name: str) -> list[str]:
        """A function that has an array from where it is made."""
        if self.chance(0.5):
            value = self.pick("z * k", "np.sum(k) + z", "k")
            return [f"{name} = lambda z, k={self.array()}: {value}"]
        value = self.pick("z * k", "np.sum(k) * z", "k + z", "k[1:] * z")
        return [f"def {name}(z, k={self.array()}):", f"    return {value}"]

    def late(self, name: str) -> list[str]:
        """A function that looks an array up when it is called."""
        a = (self.arrays() + ["x"])[0]
        return [f"def {name}(z):", f"    return {self.pick(f'z * {a}', f'np.sum({a}) * z', a)}"]

    def writing(self, name: str) -> list[str]:
        """A function that writes into an array of the one around it."""
        a = self.rng.choice(self.arrays() + ["x"])
        place, op = self.pick("0", "...", "1:"), self.pick("=", "+=", "*=")
        return [
            f"def {name}(z):",
            f"    {a}[{place}] {op} {self.pick('z', 'z * 0.5', 'np.sin(z)')}",
            f"    return {self.pick('z', f'np.sum({a})', a)}",
        ]

    def helper(self, name: str) -> None:
        """Grow a function of its own, to be called by what follows."""
        params = self.pick(("a",), ("a", "s"), ("a", "a"), ("a", "a", "s"), ("s", "a"))
        result = self.weighted([(2, "p"), (2, "a"), (1.5, "s"), (0.8, "t"), (0.8, "w")])
        inner = type(self)(self.rng.random())
        inner.profile, inner.width = self.profile, 3
        inner.helpers, inner.head = list(self.helpers), list(self.head)
        shape = self.pick((3,), (4,), (2, 3))
        values = np.random.default_rng(self.rng.randrange(10**6))
        inner.args = tuple(
            values.uniform(-1, 1, shape) if p == "a" else float(values.uniform(-1, 1))
            for p in params
        )
        names = [("a" if p == "a" else "b") + str(i) for i, p in enumerate(params)]
        inner.name, inner.signature = name, f"def {name}({', '.join(names)}):"
        inner.lines = [(1, "n = 2")]
        if not inner.look():
            return
        inner.block(self.rng.randint(1, 4), 2)
        inner.give(result, names)
        try:
            inner.run(probed=False)
        except Exception:
            return
        self.head += [inner.signature, *("    " * i + line for i, line in inner.lines), "", ""]
        self.helpers.append(Helper(name, params, result))

    def give(self, result: str, names: list[str]) -> None:
        """What a helper returns, or writes into its argument."""
        match result:
            case "a":
                self.lines.append((1, f"return {self.pick(self.expr(1), self.array())}"))
            case "s":
                self.lines.append((1, f"return {self.scalar(1)}"))
            case "t":
                self.lines.append((1, f"return {self.array()}, {self.scalar(1)}"))
            case "w":
                self.lines.append((1, f"return {self.array()}, {self.array()}"))
            case _ if "a0" in names:
                place, op = self.pick("0", "...", "1:", "-1"), self.pick("=", "+=", "*=")
                self.add((1, f"a0[{place}] {op} {self.scalar(1)}"))

    def recursive(self) -> None:
        match self.pick("number", "halves", "procedure"):
            case "number":
                call = f"rec(a0{self.pick('', '[::-1]')}, b1 * {self.constant()}, k - 1)"
                self.head += [
                    "def rec(a0, b1, k=2):",
                    "    if k == 0:",
                    "        return np.sum(a0) * b1",
                    f"    a0[k] = a0[k - 1] * {self.constant()}",
                    f"    return {call} + np.sin(a0[0])",
                ]
                self.helpers.append(Helper("rec", ("a", "s"), "s"))
            case "halves":
                self.head += [
                    "def rec(a0, b1):",
                    "    if len(a0) < 2:",
                    "        return a0 * b1",
                    "    m = len(a0) // 2",
                    f"    return {self.pick(*HALVES)}",
                ]
                self.helpers.append(Helper("rec", ("a", "s"), "a"))
            case _:
                factor = self.pick("a0[0]", "0.5", "a0[-1]")
                self.head += [
                    "def rec(a0, k=2):",
                    "    if k > 0:",
                    f"        a0[{self.pick('1:', ':-1', '...')}] *= {factor}",
                    f"        rec(a0{self.pick('[::-1]', '', '[...]')}, k - 1)",
                    f"        a0[0] += {self.pick('a0[-1]', 'np.sin(a0[1])', '0.5')}",
                ]
                self.helpers.append(Helper("rec", ("a",), "p"))
        self.head += ["", ""]
