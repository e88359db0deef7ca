"""The one checker of whole programs: every mode, with and without types, against differences.

The slopes it compares with are a complex step's where the program takes complex numbers, and
extrapolated central differences otherwise.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import srcgrad as sg
from srcgrad import trees
from srcgrad.differences import Slopes

Wrt = int | str | tuple[int | str, ...]
ALL_MODES = ("grad", "value_and_grad", "vjp", "jvp")


def check(
    fn: Callable[..., Any],
    *args: Any,
    wrt: Wrt = 0,
    kwargs: Mapping[str, Any] | None = None,
    modes: Sequence[str] | None = None,
    specialize: Sequence[bool] = (True, False),
    has_aux: bool = False,
    tol: float = 1e-7,
) -> None:
    """Compare all derivatives of fn at a point with differences.

    Also checks: the value is that of fn; gradients have the shape and dtype of the arguments; the
    arguments are left alone; and nothing returned shares memory with anything else.
    Without `modes` these are vjp and jvp, and the gradients too where the result is one number.
    """
    point = Point(fn, args, dict(kwargs or {}), wrt, has_aux)
    if modes is None:
        modes = ALL_MODES if point.is_scalar else ("vjp", "jvp")
    for mode, typed in itertools.product(modes, specialize):
        problem = point.problem(mode, typed, tol)
        assert problem is None, f"{mode}{'' if typed else ' without types'}: {problem}"


class Point:
    """A function at its arguments, its value, and its slopes by differences."""

    def __init__(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        wrt: Wrt,
        has_aux: bool = False,
    ) -> None:
        self.fn, self.args, self.kwargs, self.wrt, self.has_aux = fn, args, kwargs, wrt, has_aux
        self.entries = wrt if isinstance(wrt, tuple) else (wrt,)
        self.chosen = tuple(self._entry(w) for w in self.entries)
        self.full = fn(*trees.copied(args), **trees.copied(kwargs))
        self.value = self.full[0] if has_aux else self.full
        numbers = trees.real_parts(self.value, self.value)
        self.is_scalar = trees.children(self.value) is None and numbers.size <= 1
        rng = np.random.default_rng(7)
        self.weights = np.ones(1) if self.is_scalar else rng.normal(size=numbers.size)
        self.slopes = self._slopes()
        self.direction = rng.normal(size=self.slopes.size)

    def problem(self, mode: str, typed: bool, tol: float) -> str | None:
        """What is wrong with the derivative of this mode, if anything."""
        options: dict[str, Any] = {"wrt": self.wrt, "specialize": typed}
        if self.has_aux and mode in ("grad", "value_and_grad"):
            options["has_aux"] = True
        derivative = getattr(sg, mode)(self.fn, **options)
        args, kwargs = trees.copied(self.args), trees.copied(self.kwargs)
        first = self._first(mode)
        result = derivative(*first, *args, **kwargs)
        if not same((args, kwargs), (self.args, self.kwargs)):
            return "the arguments were changed"
        value, gradient = self._parts(mode, result)
        if value is not None and not same(value, self.value, tol):
            return f"the value is {value!r}, that of the function {self.value!r}"
        # The value may be an argument, as it is in the function itself.
        shared = sharing(gradient, [args, kwargs, value, *first])
        if mode == "jvp":
            found = float(self.weights @ trees.real_parts(gradient, self.value))
            expected = float(self.slopes @ self.direction)
            if not close(found, expected, tol):
                return f"the tangent's sum is {found!r}, by differences {expected!r}"
            return shared
        gradients = gradient if isinstance(self.wrt, tuple) else (gradient,)
        differs = trees.mismatch(gradients, self.chosen)
        if differs is not None:
            return f"a gradient{differs}: {gradients!r}"
        found = trees.dual(gradients, self.chosen)
        if not close(found, self.slopes, tol):
            return f"the gradient is {found!r}, by differences {self.slopes!r}"
        return shared

    def _first(self, mode: str) -> tuple[Any, ...]:
        if mode == "vjp":
            return (trees.cotangent(self.value, self.weights),)
        if mode == "jvp":
            tangents = trees.tangent(self.chosen, self.direction)
            return (tangents if isinstance(self.wrt, tuple) else tangents[0],)
        return ()

    def _parts(self, mode: str, result: Any) -> tuple[Any, Any]:
        if not self.has_aux:
            return (None, result) if mode == "grad" else result
        if mode == "grad":
            gradient, aux = result
            value = None
        else:
            (value, aux), gradient = result
        assert same(aux, self.full[1], 1e-12), f"aux is {aux!r}"
        return value, gradient

    def _slopes(self) -> np.ndarray:
        def call(chosen: Any) -> Any:
            args, kwargs = list(trees.copied(self.args)), trees.copied(self.kwargs)
            for w, value in zip(self.entries, chosen, strict=True):
                if isinstance(w, int):
                    args[w] = value
                elif w in kwargs or w not in self._names()[: len(args)]:
                    kwargs[w] = value
                else:
                    args[self._names().index(w)] = value
            out = self.fn(*args, **kwargs)
            return out[0] if self.has_aux else out

        by = Slopes(call, self.chosen, self.weights, 0.02, analytic=True)
        size = trees.size(self.chosen)
        return np.array([by.along(e)[0] for e in np.eye(size)]).reshape(size)

    def _names(self) -> list[str]:
        return list(inspect.signature(self.fn).parameters)

    def _entry(self, w: int | str) -> Any:
        if isinstance(w, int):
            return self.args[w]
        if w in self.kwargs:
            return self.kwargs[w]
        names = self._names()
        if names.index(w) < len(self.args):
            return self.args[names.index(w)]
        return inspect.signature(self.fn).parameters[w].default


def close(found: Any, expected: Any, tol: float) -> bool:
    scale = tol * (1.0 + float(np.max(np.abs(expected), initial=0.0)))
    return bool(np.allclose(found, expected, rtol=tol, atol=scale))


def same(a: Any, b: Any, tol: float = 0.0) -> bool:
    """Whether two values are equal, with all their parts, types and dtypes."""
    parts_a, parts_b = trees.children(a), trees.children(b)
    if parts_a is not None and parts_b is not None:
        if type(a) is not type(b) or [n for n, _ in parts_a] != [n for n, _ in parts_b]:
            return False
        return all(same(x, y, tol) for (_, x), (_, y) in zip(parts_a, parts_b, strict=True))
    if isinstance(a, np.ndarray | np.generic | float | complex):
        if isinstance(a, np.ndarray) and (a.shape, a.dtype) != (np.shape(b), np.asarray(b).dtype):
            return False
        return bool(np.allclose(a, b, rtol=tol, atol=tol, equal_nan=True))
    return type(a) is type(b) and (a is b or bool(a == b))


def sharing(returned: Any, given: Any) -> str | None:
    """What of the returned values shares memory with another or with what was given, if any."""
    new = [(path, v) for path, v in trees.leaves(returned) if isinstance(v, np.ndarray)]
    old = [v for _, v in trees.leaves(given) if isinstance(v, np.ndarray)]
    for k, (path, v) in enumerate(new):
        if any(np.shares_memory(v, other) for other in old):
            return f"what is returned at {path} shares memory with an argument"
        if any(np.shares_memory(v, other) for _, other in new[:k]):
            return f"what is returned at {path} shares memory with another result"
    return None
