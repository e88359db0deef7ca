"""Programs grown by running them: views of views, swaps, masks, recursion, closures, whatever
NumPy takes.  The generator knows no shape and no type: it keeps a statement when the program still
runs with it.  It shares nothing with the other generators."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from tests.fuzz.generator import Program
from tests.fuzz.grown.functions import Functions


def program(seed: int) -> Program:
    """The program of this seed; its function `f` returns a number.

    Example:
        >>> program(3).text == program(3).text
        True
    """
    for attempt in count():
        grower = Grower(seed * 1000 + attempt)
        if grower.program():
            wrt = tuple(range(len(grower.args) - 1))
            return Program(seed, grower.text(probed=False), grower.args, wrt)
    raise AssertionError


class Grower(Functions):
    """Grows a whole program."""

    def program(self) -> bool:
        """Grow it; False where nothing came of it."""
        self.width = self.pick(3, 4, 6)
        helpers = self.weighted([(3, 0), (3, 1), (1.5, 2)])
        if self.chance(0.12):
            self.recursive()
        for k in range(2 if self.profile == "call" else helpers):
            self.helper(f"h{k}")
        self.parameters()
        if not self.look():
            return False
        self.block(self.rng.randint(4, 16), 0)
        terms = [t for name, value in self.values.items() for t in self.terms(name, value)]
        self.rng.shuffle(terms)
        self.lines.append((1, "return " + " + ".join(terms[:7])))
        try:
            _, result = self.run(probed=False)
        except Exception:
            return False
        return isinstance(result, float | np.floating) and bool(abs(result) < 1e3)

    def parameters(self) -> None:
        values = np.random.default_rng(self.rng.randrange(10**9))
        shapes: dict[str, tuple[int, ...]] = {"x": self.pick((3,), (4,), (3,))}
        if self.chance(0.6):
            shapes["y"] = self.pick((3,), (4,), (2, 3))
        if self.chance(0.3):
            shapes["z"] = self.pick((2, 3), (3, 3), (2, 2, 3), (3, 2), (2, 3, 2))
        if self.chance(0.5):
            shapes["a"] = ()
        args = [values.uniform(-1.1, 1.1, s) for s in shapes.values()]
        given: list[Any] = [a if np.ndim(a) else float(a) for a in args]
        self.args = (*given, self.pick(1, 2, 3))
        self.signature = f"def f({', '.join(shapes)}, n):"

    def terms(self, name: str, value: Any) -> list[str]:
        """Terms of the result that depend on a variable."""
        weight = self.constant()
        match value:
            case np.ndarray(size=0):
                return []
            case np.ndarray(dtype=dtype) if self.chance(0.8):
                some = (name, f"np.sin({name})", f"{name} ** 2")
                if dtype.kind == "c":
                    some = (f"{name}.real", f"np.abs({name}) ** 2", f"(({name}) ** 2).real")
                return [f"{weight} * np.sum({self.pick(*some)})"]
            case float() | np.floating():
                return [f"{weight} * {name}"]
            case list() | tuple() | dict():
                items = value.items() if isinstance(value, dict) else enumerate(value)
                return [
                    f"{weight} * np.sum(np.sin({name}[{key!r}]))".replace("'", '"')
                    for key, item in items
                    if isinstance(item, np.ndarray) and item.dtype.kind == "f"
                ]
            case _:
                return []
