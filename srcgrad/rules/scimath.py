"""Rules for `np.lib.scimath`, whose results are complex where real ones don't exist."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.rules.registry import elementwise

_X = np.array([0.3, -1.7, 0.6])
_C = np.array([0.3 + 0.5j, -1.1 + 0.2j])
_BOTH: list[Any] = [(0.37,), (-1.3,), (_X,), (_X * 2.0,), (_C,)]
_M = "np.lib.scimath"

for _name, _formula in (
    ("sqrt", "g * 0.5 / out"),
    ("log", "g / x"),
    ("log2", "g / (x * math.log(2.0))"),
    ("log10", "g / (x * math.log(10.0))"),
    ("arccos", "-g / np.sin(out)"),
    ("arcsin", "g / np.cos(out)"),
    ("arctanh", "g / (1.0 - x * x)"),
):
    elementwise(getattr(np.lib.scimath, _name), "x", x=_formula, at=_BOTH)
elementwise(
    np.lib.scimath.logn,
    "n, x",
    n=f"-g * out / (n * {_M}.log(n))",
    x=f"g / (x * {_M}.log(n))",
    at=[(2.3, 0.37), (0.4, _X), (2.3, _C)],
)
elementwise(
    np.lib.scimath.power,
    "x, p",
    x=f"g * p * {_M}.power(x, p - 1.0)",
    p=f"g * out * {_M}.log(x)",
    at=[(0.37, 2.3), (_X, 0.4), (_X, 2.0), (_C, 0.7)],
)
