"""Random programs whose variables change their shapes: from one definition to the next, from one
round of a loop to another, by branches and exits.  All shapes fit together by broadcasting, so
that an adjoint of the wrong one raises no error by itself.

`program(seed)` is deterministic.
"""

from __future__ import annotations

import random

import numpy as np

from tests.fuzz.generator import Program

_HELPERS = """\
import numpy as np


def turned(v, a):
    if np.size(v) == 1:
        return np.ones(3) * v
    return v[:1] + a


def summed(v, w):
    s = 0.0
    while s < 1.0:
        v, w = w * 0.5, v
        s += 0.4
    return v + w

"""
_NAMES = ("p", "x", "u", "w")
_SHAPES = ((3,), (1,), (2, 3), (1, 3))


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []

    def name(self) -> str:
        return self.rng.choice(_NAMES)

    def expression(self) -> str:
        v, w = self.name(), self.name()
        return self.rng.choice(
            [
                f"{v} * a", f"{v} + a", f"{v} * {w}", v, f"{v}[:1]", f"np.sin({v})", f"{v} * {v}",
                f"{v} - {w}", f"np.sum({v}) * {w}", f"{v}[:1] * 0.5", f"np.ones(3) * {v}",
                f"0.5 * {v}", f"np.array([a, a])[:1] + {v}[:1]", f"turned({v}, a)",
                f"summed({v}, {w})", f"np.where(a > 0.0, {v}, {w})", f"np.mean({v}, axis=0) + {w}",
                f"{v}.copy()", f"np.maximum({v}, {w})", f"({v} if n > 2 else {w}) * 0.5",
                f"np.atleast_1d(np.sum({v})) * 0.3", f"{v}[::-1]", f"{v}.T.T",
            ]
        )  # fmt: skip

    def test(self) -> str:
        tests = ["i == 1", "i % 2 == 0", "a > 0.0", "s > 1.0", "np.size(p) == 3", "n > 2"]
        return self.rng.choice(tests)

    def block(self, indent: str, depth: int, in_loop: bool, count: int) -> None:
        for _ in range(count):
            self.statement(indent, depth, in_loop)

    def statement(self, indent: str, depth: int, in_loop: bool) -> None:
        rng, deeper = self.rng, f"{indent}    "
        kind = rng.random()
        if kind < 0.45:
            self.lines.append(f"{indent}{self.name()} = {self.expression()}")
        elif kind < 0.62:
            names = rng.sample(_NAMES, rng.choice((2, 3)))
            turned = [*names[1:], names[0]]
            self.lines.append(f"{indent}{', '.join(names)} = {', '.join(turned)}")
        elif kind < 0.72:
            by = rng.choice(("0.3", "s", "a"))
            self.lines.append(f"{indent}s = s * 0.7 + np.mean({self.name()} * {by})")
        elif kind < 0.85 and depth < 3:
            self.lines.append(f"{indent}if {self.test()}:")
            self.block(deeper, depth + 1, in_loop, rng.randint(1, 2))
            if rng.random() < 0.4:
                self.lines.append(f"{indent}else:")
                self.block(deeper, depth + 1, in_loop, rng.randint(1, 2))
        elif kind < 0.93 and in_loop:
            leave = rng.choice(("continue", "continue", "break"))
            self.lines += [f"{indent}if {self.test()}:", f"{deeper}{leave}"]
        elif depth < 2:
            self.lines.append(f"{indent}for j in range({rng.randint(1, 2)}):")
            self.block(deeper, depth + 1, True, rng.randint(1, 3))
        else:
            self.lines.append(f"{indent}{self.name()} *= {rng.choice(('0.5', 'a', '1.5'))}")


def program(seed: int) -> Program:
    """The program of a seed: a loop over x and u, in which p and w come and go.

    >>> print(program(3).text.splitlines()[-2].strip())
    p, x, w = x, w, p
    """
    rng = random.Random(seed)
    writer = _Writer(rng)
    writer.lines = [
        *_HELPERS.splitlines(), "", "def f(x, u, a, n):", "    s = 0.0", "    i = 0",
        "    p = " + rng.choice(("u", "x * a", "x")),
        "    w = " + rng.choice(("u", "x * u", "u * a")),
    ]  # fmt: skip
    writer.block("    ", 0, False, rng.randint(0, 2))
    writer.lines.append("    for i in range(n):")
    writer.block("        ", 1, True, rng.randint(2, 6))
    writer.block("    ", 0, False, rng.randint(0, 2))
    parts = [
        f"{rng.choice((0.5, 1.5, 2.0))} * np.sum({rng.choice(('', 'np.sin'))}({v}))"
        for v in rng.sample(_NAMES, rng.randint(1, 4))
    ]
    writer.lines.append(f"    return s + {' + '.join(parts)}")
    values = np.random.default_rng(seed)
    x, u = (values.uniform(0.2, 0.9, shape) for shape in rng.sample(_SHAPES, 2))
    args = (x, u, rng.choice((0.4, -0.3)), rng.randint(2, 4))
    return Program(seed, "\n".join(writer.lines) + "\n", args, (0, 1, 2))
