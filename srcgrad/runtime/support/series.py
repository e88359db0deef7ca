"""Helpers for series of polynomials, NumPy's set functions, and others read from this source.

The functions with a parameter `val` or `vander` stand for those of each of NumPy's six families
of polynomials, which give them their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error

Value = Any  # a number or an array


# ---- series -----------------------------------------------------------------


def basis_back(ct: Value, basis: Value, c: Value, tensor: bool) -> Any:
    """The cotangent of the coefficients c of a series, whose polynomials have values `basis`.

    >>> basis_back(np.ones(2), np.array([[1.0, 3.0], [1.0, 4.0]]), np.zeros(2), True)
    array([2., 7.])
    """
    ct, basis = np.asarray(ct), np.asarray(basis)
    if np.ndim(c) == 1:
        return np.tensordot(ct, basis, np.ndim(ct))
    if tensor:
        axes = basis.ndim - 1
        return np.moveaxis(np.tensordot(ct, basis, axes), -1, 0)
    found = np.moveaxis(ct[..., None] * basis, -1, 0)
    return np.sum(found, axis=tuple(range(np.ndim(c), found.ndim)))


def basis_dot(c: Value, basis: Value, like: Value, tensor: bool) -> Any:
    """The series of coefficients c: the transpose of `basis_back`.

    >>> basis_dot(np.array([1.0, 2.0]), np.array([[1.0, 3.0], [1.0, 4.0]]), np.zeros(2), True)
    array([7., 9.])
    """
    c, basis = np.asarray(c), np.asarray(basis)
    if np.ndim(like) == 1 or tensor:
        return np.tensordot(np.moveaxis(c, 0, -1), np.moveaxis(basis, -1, 0), 1)
    return np.sum(np.moveaxis(c, 0, -1) * basis, axis=-1)


def basis_share(ct: Value, c: Value, basis: Value, tensor: bool) -> Any:
    """The cotangent of `basis` in a series of coefficients c.

    >>> basis_share(np.ones(1), np.array([1.0, 2.0]), np.zeros((1, 2)), True)
    array([[1., 2.]])
    """
    ct, c = np.asarray(ct), np.asarray(c)
    if c.ndim == 1:
        return ct[..., None] * c
    if tensor:
        rest = c.ndim - 1
        return np.tensordot(
            np.moveaxis(ct, range(rest), range(-rest, 0)),
            c,
            (range(-rest, 0), range(1, c.ndim)),
        )
    return ct[..., None] * np.moveaxis(c, 0, -1)


def value_2d(val: Callable[..., Any], x: Value, y: Value, c: Value) -> Any:
    """A series in two variables at the points (x, y)."""
    return val(y, val(x, c), tensor=False)


def value_3d(val: Callable[..., Any], x: Value, y: Value, z: Value, c: Value) -> Any:
    """A series in three variables at the points (x, y, z)."""
    return val(z, val(y, val(x, c), tensor=False), tensor=False)


def value_nd(val: Callable[..., Any], pts: Any, c: Value) -> Any:
    """A series in as many variables as there are arrays of coordinates."""
    total = val(pts[0], c)
    for k in range(1, len(pts)):
        total = val(pts[k], total, tensor=False)
    return total


def grid_2d(val: Callable[..., Any], x: Value, y: Value, c: Value) -> Any:
    """A series in two variables on the grid of x and y."""
    return val(y, val(x, c))


def grid_3d(val: Callable[..., Any], x: Value, y: Value, z: Value, c: Value) -> Any:
    """A series in three variables on the grid of x, y and z."""
    return val(z, val(y, val(x, c)))


def vander_2d(vander: Callable[..., Any], x: Value, y: Value, deg: Any) -> Any:
    """The products of the polynomials of x and of y."""
    left, right = vander(x, deg[0]), vander(y, deg[1])
    both = left[..., :, None] * right[..., None, :]
    return np.reshape(both, (*both.shape[:-2], -1))


def vander_3d(vander: Callable[..., Any], x: Value, y: Value, z: Value, deg: Any) -> Any:
    """The products of the polynomials of x, of y and of z."""
    left, right = vander(x, deg[0]), vander(y, deg[1])
    both = left[..., :, None] * right[..., None, :]
    every = both[..., None] * vander(z, deg[2])[..., None, None, :]
    return np.reshape(every, (*every.shape[:-3], -1))


# ---- polynomials, highest power first ----------------------------------------


def polyfit(x: Value, y: Value, deg: int, rcond: Any = None, w: Any = None) -> Any:
    """`np.polyfit` without `full` and `cov`.

    >>> np.round(polyfit(np.arange(3.0), np.array([1.0, 3.0, 5.0]), 1), 6)
    array([2., 1.])
    """
    left = np.vander(x, deg + 1)
    right = np.asarray(y)
    if w is not None:
        left = left * w[:, None]
        right = right * w if np.ndim(right) == 1 else right * w[:, None]
    limit = len(x) * np.finfo(np.asarray(x).dtype).eps if rcond is None else rcond
    scale = np.sqrt(np.sum(left * left, axis=0))
    found = np.linalg.lstsq(left / scale, right, limit)[0]
    return (found.T / scale).T


def poly(seq_of_zeros: Value) -> Any:
    """`np.poly` of a list of roots.

    >>> poly(np.array([1.0, 2.0]))
    array([ 1., -3.,  2.])
    """
    if np.ndim(seq_of_zeros) != 1:
        raise error("MissingRule", "np.poly of a matrix: use np.poly(np.linalg.eigvals(a))")
    out = np.ones(1, np.asarray(seq_of_zeros).dtype)
    for zero in seq_of_zeros:
        out = np.append(out, 0.0) - zero * np.append(0.0, out)
    return out


# ---- sets of values ------------------------------------------------------------


def union1d(ar1: Value, ar2: Value) -> Any:
    """`np.union1d`: values in both arrays share the cotangent."""
    return np.unique(np.concatenate((ar1, ar2), axis=None))


def intersect1d(ar1: Value, ar2: Value, assume_unique: bool = False) -> Any:
    """`np.intersect1d`: both arrays share the cotangent."""
    first, second = np.unique(ar1), np.unique(ar2)
    return 0.5 * (first[np.isin(first, second)] + second[np.isin(second, first)])


def setdiff1d(ar1: Value, ar2: Value, assume_unique: bool = False) -> Any:
    """`np.setdiff1d`."""
    first = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return first[np.isin(first, ar2, invert=True)]


def setxor1d(ar1: Value, ar2: Value, assume_unique: bool = False) -> Any:
    """`np.setxor1d`."""
    first, second = np.unique(ar1), np.unique(ar2)
    one = first[np.isin(first, second, invert=True)]
    other = second[np.isin(second, first, invert=True)]
    return np.sort(np.concatenate((one, other)))


def sort_complex(a: Value) -> Any:
    """`np.sort_complex`."""
    return np.sort(np.asarray(a).astype(np.complex128))


def trim_widths(filt: Value, trim: str) -> tuple[int, int]:
    """How many zeros `np.trim_zeros` takes from either end.

    >>> trim_widths(np.array([0.0, 2.0, 0.0, 0.0]), "fb")
    (1, 2)
    """
    there = np.flatnonzero(filt)
    if len(there) == 0:
        return len(filt), 0
    first = int(there[0]) if "f" in trim.lower() else 0
    return first, len(filt) - 1 - int(there[-1]) if "b" in trim.lower() else 0


def trim_zeros(filt: Value, trim: str = "fb") -> Any:
    """`np.trim_zeros`: a part of what it is given."""
    first, last = trim_widths(filt, trim)
    return filt[first : len(filt) - last]


# ---- windows, products, ratios ---------------------------------------------------


def kaiser(M: int, beta: Value) -> Any:
    """`np.kaiser`.

    >>> np.round(kaiser(3, 2.0), 6)
    array([0.438676, 1.      , 0.438676])
    """
    half = max(M - 1, 1) / 2.0
    inside = np.sqrt(1.0 - ((np.arange(M) - (M - 1) / 2.0) / half) ** 2)
    return np.i0(beta * inside) / np.i0(np.asarray(beta))


def cond(x: Value, p: Any = None) -> Any:
    """`np.linalg.cond`.

    >>> cond(np.diag([4.0, 2.0]))
    np.float64(2.0)
    """
    if p is None or p == 2 or p == -2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    inverse = np.linalg.inv(x)
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(inverse, p, (-2, -1))


def interp_period(x: Value, xp: Value, fp: Value, period: float) -> Any:
    """`np.interp` of a function with a period.

    >>> interp_period(5.0, np.array([0.0, 1.0]), np.array([0.0, 1.0]), 2.0)
    np.float64(1.0)
    """
    inside = np.asarray(xp) % period
    order = np.argsort(inside)
    places, values = inside[order], np.asarray(fp)[order]
    places = np.concatenate((places[-1:] - period, places, places[:1] + period))
    return np.interp(x % period, places, np.concatenate((values[-1:], values, values[:1])))


def average_returned(
    a: Value, axis: Any = None, weights: Any = None, returned: bool = False
) -> Any:
    """`np.average(..., returned=True)`: the mean and the sum of the weights.

    >>> average_returned(np.array([1.0, 3.0]))
    (np.float64(2.0), np.float64(2.0))
    """
    mean = np.average(a, axis=axis, weights=weights)
    if weights is None:
        return mean, np.sum(np.ones_like(a), axis=axis)
    if np.ndim(weights) != np.ndim(a):
        weights = np.broadcast_to(np.expand_dims(weights, tuple(others(a, axis))), np.shape(a))
    return mean, np.sum(weights, axis=axis)


def others(a: Value, axis: Any) -> list[int]:
    """The axes of an array but one.

    >>> others(np.zeros((1, 2, 3)), -1)
    [0, 1]
    """
    return [k for k in range(np.ndim(a)) if k != axis % np.ndim(a)]


# ---- methods of ufuncs -------------------------------------------------------------


def reduceat_back(ct: Value, array: Value, indices: Any, axis: int) -> Any:
    """The cotangent of the array in `np.add.reduceat(array, indices, axis)`.

    >>> reduceat_back(np.array([1.0, 5.0]), np.zeros(3), [0, 2], 0)
    array([1., 1., 5.])
    """
    moved = np.moveaxis(np.asarray(ct), axis, 0)
    back = np.zeros((np.shape(array)[axis], *moved.shape[1:]), moved.dtype)
    for part, (start, stop) in zip(moved, segments(array, indices, axis), strict=True):
        back[start:stop] += part
    return np.moveaxis(back, 0, axis)


def segments(array: Value, indices: Any, axis: int) -> list[tuple[int, int]]:
    """Where the parts that `reduceat` reduces start and end.

    >>> segments(np.zeros(4), [2, 0, 3], 0)
    [(2, 3), (0, 3), (3, 4)]
    """
    starts = [int(k) for k in indices]
    ends = [*starts[1:], np.shape(array)[axis]]
    return [(a, max(b, a + 1)) for a, b in zip(starts, ends, strict=True)]


def multiply_reduceat(array: Value, indices: Any, axis: int = 0) -> Any:
    """`np.multiply.reduceat`."""
    moved, parts = np.moveaxis(array, axis, 0), []
    for start, stop in segments(array, indices, axis):
        parts.append(np.prod(moved[start:stop], axis=0))
    return np.moveaxis(np.stack(parts), 0, axis)


def maximum_reduceat(array: Value, indices: Any, axis: int = 0) -> Any:
    """`np.maximum.reduceat`."""
    moved, parts = np.moveaxis(array, axis, 0), []
    for start, stop in segments(array, indices, axis):
        parts.append(np.max(moved[start:stop], axis=0))
    return np.moveaxis(np.stack(parts), 0, axis)


def minimum_reduceat(array: Value, indices: Any, axis: int = 0) -> Any:
    """`np.minimum.reduceat`."""
    moved, parts = np.moveaxis(array, axis, 0), []
    for start, stop in segments(array, indices, axis):
        parts.append(np.min(moved[start:stop], axis=0))
    return np.moveaxis(np.stack(parts), 0, axis)


def subtract_reduce(array: Value, axis: int = 0) -> Any:
    """`np.subtract.reduce`: the first less the others."""
    moved = np.moveaxis(array, axis, 0)
    return moved[0] - np.sum(moved[1:], axis=0)


def subtract_accumulate(array: Value, axis: int = 0) -> Any:
    """`np.subtract.accumulate`."""
    moved = np.moveaxis(array, axis, 0)
    return np.moveaxis(2.0 * moved[0] - np.cumsum(moved, axis=0), 0, axis)


def divide_reduce(array: Value, axis: int = 0) -> Any:
    """`np.divide.reduce`: the first over the others."""
    moved = np.moveaxis(array, axis, 0)
    return moved[0] / np.prod(moved[1:], axis=0)


def divide_accumulate(array: Value, axis: int = 0) -> Any:
    """`np.divide.accumulate`."""
    moved = np.moveaxis(array, axis, 0)
    below = np.concatenate((np.ones_like(moved[:1]), np.cumprod(moved[1:], axis=0)))
    return np.moveaxis(moved[0] / below, 0, axis)


def hypot_reduce(array: Value, axis: int = 0) -> Any:
    """`np.hypot.reduce`: the norm."""
    return np.linalg.norm(array, axis=axis)


def hypot_accumulate(array: Value, axis: int = 0) -> Any:
    """`np.hypot.accumulate`."""
    moved = np.moveaxis(array, axis, 0)
    rest = np.sqrt(np.cumsum(moved * moved, axis=0)[1:])
    return np.moveaxis(np.concatenate((moved[:1], rest)), 0, axis)


def logaddexp2_reduce(array: Value, axis: int = 0) -> Any:
    """`np.logaddexp2.reduce`."""
    return np.logaddexp.reduce(np.asarray(array) * np.log(2.0), axis) / np.log(2.0)


def logaddexp_accumulate(array: Value, axis: int = 0) -> Any:
    """`np.logaddexp.accumulate`."""
    moved, parts = np.moveaxis(array, axis, 0), []
    total = moved[0]
    parts.append(total)
    for part in moved[1:]:
        total = np.logaddexp(total, part)
        parts.append(total)
    return np.moveaxis(np.stack(parts), 0, axis)


def after_initial(ct: Value, x: Value, axis: int) -> Any:
    """The cotangent without that of the initial value, if there is one.

    >>> after_initial(np.arange(3.0), np.zeros(2), 0)
    array([1., 2.])
    """
    if np.shape(ct)[axis] == np.shape(x)[axis]:
        return ct
    return np.delete(ct, 0, axis)


def with_initial(t: Value, out: Value, axis: int) -> Any:
    """The tangent with a zero for the initial value, if there is one.

    >>> with_initial(np.ones(2), np.zeros(3), 0)
    array([0., 1., 1.])
    """
    if np.shape(t)[axis] == np.shape(out)[axis]:
        return t
    return np.insert(t, 0, 0.0, axis)
