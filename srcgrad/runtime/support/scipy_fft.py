"""Cosine and sine transforms of `scipy.fft`, and their transposes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft

from srcgrad.runtime.support.shape import fit

Value = Any  # an array

_TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}


def waves(x: Value, n: int | None, sine: bool, kind: int, axis: int, norm: Any) -> Any:
    """`scipy.fft.dct` or `dst` of this type.

    >>> waves(np.array([1.0, 1.0]), None, False, 2, -1, None)
    array([4., 0.])
    """
    transform: Any = fft.dst if sine else fft.dct
    return transform(x, kind, n, axis, norm)


def waves_back(ct: Value, x: Value, sine: bool, kind: int, axis: int, norm: Any) -> Any:
    """The cotangent of x in `waves(x, n, sine, kind, axis, norm)`.

    The matrices of types 2 and 3 are the transposes of one another, and those of 1 and 4
    symmetric, up to the factors that one line at the end, or both, has more than the others
    (Britanak, Yip, Rao, "Discrete cosine and sine transforms", 2007, chapter 2).

    >>> waves_back(np.array([1.0, 0.0]), np.zeros(2), False, 2, -1, None)
    array([2., 2.])
    """
    g = np.moveaxis(np.array(ct), axis, -1)
    ends = _doubled(g.shape[-1], sine, kind) if norm != "ortho" else np.ones(g.shape[-1])
    back = waves(g * ends if kind in (1, 2) else g, None, sine, _TRANSPOSED[kind], -1, norm)
    if kind in (1, 3):
        back = back / ends
    return fit(np.moveaxis(back, -1, axis).astype(g.dtype), x)


def _doubled(n: int, sine: bool, kind: int) -> Any:
    """How much more the transform of a line counts than that of its fellows."""
    ends = np.ones(n)
    if kind in (2, 3):
        ends[-1 if sine else 0] = 2.0
    elif kind == 1 and not sine:
        ends[[0, -1]] = 2.0
    return ends


def other_type(kind: int) -> int:
    """The type of a transform that is the inverse of one of this type.

    >>> other_type(2), other_type(4)
    (3, 4)
    """
    return _TRANSPOSED[kind]
