"""Random programs put together from the idioms of numerical Python: what an outside tester would
write, with a grammar of its own (`generator` and `containers` share nothing with it)."""

from __future__ import annotations

import random

import numpy as np

from tests.fuzz.generator import Program
from tests.fuzz.idioms.statements import Author
from tests.fuzz.made import Made

PROCEDURES = 0.08  # share of programs that return nothing and write into an argument


def program(seed: int) -> Program:
    """The program of this seed; its function `f` returns a number, or is named `kernel`.

    Example:
        >>> program(3).text == program(3).text
        True
    """
    rng = random.Random(seed)
    author = Author(rng)
    values = np.random.default_rng(seed)
    if rng.random() < PROCEDURES:
        author.procedure()
    else:
        author.function()
    args = tuple(_argument(kind, values) for kind in author.params.values())
    wrt = tuple(i for i, kind in enumerate(author.params.values()) if kind not in "kI")
    return Program(seed, author.text(), args, wrt)


def _argument(kind: str, rng: np.random.Generator) -> object:
    def floats(*shape: int) -> np.ndarray:
        return rng.uniform(-1.1, 1.1, shape)

    match kind:
        case "k":
            return int(rng.integers(0, 3))
        case "I":
            return rng.integers(0, 4, 4)
        case "s":
            return float(rng.uniform(-1.1, 1.1))
        case "L":
            return [floats(4), floats(4), floats(4)]
        case "T":
            return (floats(4), floats(4))
        case "D":
            return {"a": floats(4), "b": floats(4)}
        case "S":
            return Made("State", (floats(4), floats(4), float(rng.uniform(0.2, 1.0))))
    return floats(*{"v": (4,), "w": (3,), "M": (4, 3), "Q": (4, 4), "C": (2, 4, 3)}[kind])
