"""Slopes of a function by complex step or by extrapolated central differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import trees

_TINY = 1e-25  # the complex step: its square is nothing beside one
LEAST = 0.02  # entries nearer to zero are moved as if they were so large
_HALVINGS = 10
_AGREE = 1e-5  # how near a complex step has to be to differences to be trusted

Vector = np.ndarray[Any, Any]


def extrapolated(f: Callable[[float], float], step: float) -> tuple[float, float]:
    """The slope of f at 0 and an estimate of its error (Ridders' method).

    Example:
        >>> slope, error = extrapolated(lambda t: np.exp(2.0 * t), 0.1)
        >>> bool(abs(slope - 2.0) < 1e-9 and error < 1e-8)
        True
    """
    best, error = np.nan, np.inf
    before: list[float] = []
    for k in range(_HALVINGS):
        h = step / 2**k
        row = [(f(h) - f(-h)) / (2 * h)]
        for i, old in enumerate(before):
            row.append(row[i] + (row[i] - old) / (4 ** (i + 1) - 1))
        for i in range(1, len(row)):
            doubt = max(abs(row[i] - row[i - 1]), abs(row[i] - before[i - 1]))
            if doubt <= error:
                best, error = row[i], doubt
        # Where f was not defined at a larger step the table starts again.
        before = row if np.all(np.isfinite(row)) else []
    return best, error


class Slopes:
    """Slopes of the weighted sum of a function's results along directions.

    `analytic`: the function may be tried on complex numbers."""

    def __init__(
        self, call: Callable[[Any], Any], chosen: Any, weights: Vector, step: float, analytic: bool
    ) -> None:
        self.call, self.weights, self.step = call, weights, step
        # Differences of float32 numbers say little: f is asked in double precision.
        self.chosen = trees.doubled(chosen)
        self.x = trees.real_parts(self.chosen, self.chosen)
        self.value = self._value(self.x)
        self.exact = False
        if analytic and self.x.size and not trees.has_complex(chosen):
            self.exact = self._trusts_complex_step()

    def along(self, direction: Vector) -> tuple[float, float]:
        """The slope, and an estimate of its error."""
        if self.exact:
            return self._complex_step(direction), 0.0
        return extrapolated(lambda t: self._value(self.x + t * direction), self.step)

    def _value(self, x: Vector) -> float:
        try:
            out = self.call(trees.rebuilt(self.chosen, x))
        except (ArithmeticError, ValueError):  # outside of where f is defined
            return np.nan
        return float(self.weights @ trees.real_parts(out, out))

    def _complex_step(self, direction: Vector) -> float:
        out = self.call(trees.rebuilt(self.chosen, self.x + 1j * _TINY * direction))
        return float(self.weights @ trees.imaginary_parts(out)) / _TINY

    def _trusts_complex_step(self) -> bool:
        """Whether f takes complex numbers and is analytic, which `abs` or `conj` are not."""
        for shift in (0.0, 1.0):
            direction = np.cos(np.arange(self.x.size) + shift) * np.maximum(np.abs(self.x), LEAST)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", np.exceptions.ComplexWarning)
                    slope = self._complex_step(direction)
            except Exception:  # whatever f does not like about complex numbers
                return False
            ordinary, error = extrapolated(
                lambda t, d=direction: self._value(self.x + t * d),  # type: ignore[misc]
                self.step,
            )
            if not abs(slope - ordinary) <= 3 * error + _AGREE * abs(ordinary):
                return False
            if error > 1e-3 * abs(ordinary) + 1e-8:
                return False
        return True
