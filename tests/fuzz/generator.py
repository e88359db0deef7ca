"""Random programs of the kind that users write: loops over arrays that are updated in place.

`program(seed)` is deterministic.  The text is a module with a function `f` and its helpers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from tests.fuzz.expressions import Kind
from tests.fuzz.statements import Statements


@dataclass(frozen=True)
class Program:
    """A program: its text, and arguments for its function `f` that returns a number."""

    seed: int
    text: str
    args: tuple[object, ...]
    wrt: tuple[int, ...]


def _helper(gen: Statements, name: str, params: tuple[Kind, ...], result: Kind | None) -> None:
    """Write a helper function with parameters of these kinds; result None: writes its first."""
    names = [f"p{i}" for i in range(len(params))]
    gen.lines.append(f"def {name}({', '.join(names)}):")
    gen.scope = dict(zip(names, params, strict=True))
    gen.indent, gen.loops, gen.budget = 1, 0, gen.rng.randint(1, 4)
    gen.returns_number = result == ("f",)
    gen.body(gen.budget)
    if result is None:
        gen.write(f"p0[{gen.index(int(params[0][1]))}]", ("f",))
        gen.write("p0", params[0])
    elif result == ("t",):
        gen.line(f"return {gen.squashed(('f',), 2, True)}, {gen.squashed(('v', 3), 1, True)}")
    elif gen.chance(0.2) and gen.names(*result):  # the argument itself, or a view of it
        gen.line(f"return {gen.rng.choice(gen.names(*result))}")
    else:
        gen.line(f"return {gen.squashed(result, 2, True)}")
    gen.lines += ["", ""]
    gen.helpers.append((name, params, result))


_HELPERS: tuple[tuple[tuple[Kind, ...], Kind | None], ...] = (
    ((("f",), ("f",)), ("f",)),
    ((("v", 3), ("f",)), ("f",)),
    ((("v", 3), ("f",)), ("v", 3)),
    ((("v", 3), ("f",)), None),
    ((("v", 2), ("f",)), None),
    ((("f",), ("v", 2)), ("t",)),
)

_RECURSIVE = """\
def recurse(p0, p1):
    if p1 == 0:
        return {base}
    s = recurse(np.sin(p0) * {factor}, p1 - 1)
    return s * p0 + {shift}


"""

_PARAMS: tuple[tuple[str, Kind], ...] = (
    ("x", ("v", 3)),
    ("y", ("v", 4)),
    ("a", ("m", 2, 3)),
    ("s", ("f",)),
    ("t", ("f",)),
    ("n", ("i", 3)),
)


def _argument(kind: Kind, rng: np.random.Generator) -> object:
    if kind[0] == "i":
        return int(rng.integers(1, int(kind[1]) + 1))
    if kind[0] == "f":
        return float(rng.uniform(-1.2, 1.2))
    return rng.uniform(-1.2, 1.2, tuple(int(n) for n in kind[1:]))


def program(seed: int) -> Program:
    """The program of this seed.

    Example:
        >>> program(3).text == program(3).text
        True
    """
    rng = random.Random(seed)
    gen = Statements(rng)
    gen.limit = gen.pick(1, 1, 2, 3)
    gen.lines += ["import math", "", "import numpy as np", "", ""]
    if gen.chance(0.2):
        text = _RECURSIVE.format(base=gen.positive(), factor=gen.constant(), shift=gen.constant())
        gen.lines += text.splitlines()
        gen.helpers.append(("recurse", (("f",), ("i", 3)), ("f",)))
    for i, (params, result) in enumerate(rng.sample(_HELPERS, rng.randint(0, 2))):
        _helper(gen, f"h{i}", params, result)
    params = [p for p in _PARAMS if p[0] in "xs" or gen.chance(0.4)]
    gen.lines.append(f"def f({', '.join(name for name, _ in params)}):")
    gen.scope = dict(params)
    gen.fixed, gen.indent, gen.loops = {"n"}, 1, 0
    gen.returns_number = True
    gen.budget = rng.randint(2, 14)
    gen.body(gen.budget)
    gen.line(f"return {_total(gen)}")
    args = np.random.default_rng(seed)
    values = tuple(_argument(kind, args) for _, kind in params)
    wrt = tuple(i for i, (_, kind) in enumerate(params) if kind[0] != "i")
    return Program(seed, "\n".join(gen.lines) + "\n", values, wrt)


def _total(gen: Statements) -> str:
    """A number that depends on most of what is in scope."""
    terms = [gen.number(1)]
    for name, kind in gen.scope.items():
        if gen.chance(0.75):
            weight = gen.constant()
            match kind[0]:
                case "f":
                    terms.append(f"{weight} * {name}")
                case "v" | "m":
                    terms.append(f"{weight} * np.sum({gen.pick(name, f'np.sin({name})')})")
                case "l":
                    terms.append(
                        f"{weight} * {gen.pick(f'sum({name})', f'np.sum(np.array({name}))')}"
                    )
                case "t":
                    terms.append(f"{name}[0] * np.sum({name}[1])")
                case "d":
                    terms.append(f'{name}["a"] * {name}["b"]')
    return " + ".join(terms)
