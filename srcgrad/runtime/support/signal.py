"""Helpers of the rules for functions of sampled data: differences, tables, polynomials,
convolutions, covariances, ranges, and sums of sequences.

Every helper takes Python numbers, NumPy scalars and arrays of any number of dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.elementwise import broadcast_like, unbroadcast

Value = Any  # a number or an array

__all__ = [
    "choose_back",
    "convolve_crop",
    "convolve_embed",
    "cov_apply",
    "cov_pair",
    "diff_back",
    "diff_dot",
    "ediff1d_back",
    "ediff1d_dot",
    "gradient_back",
    "interp_gather",
    "interp_scatter",
    "interp_slope",
    "interp_slope_back",
    "outer_left",
    "outer_left_back",
    "poly_moments",
    "poly_partial",
    "ramp",
    "ramp_back",
    "select_back",
    "select_default_back",
    "select_default_dot",
    "spread_left",
    "sum_of_back",
    "sum_of_dot",
    "trapezoid_unit",
    "trapezoid_weights",
    "trapezoid_weights_back",
    "vander_partial",
]


# ---- differences -------------------------------------------------------------


def _end_length(end: Any, axis: int) -> int:
    if end is None:
        return 0
    return 1 if np.ndim(end) == 0 else int(np.shape(end)[axis])


def diff_dot(a: Value, n: int, axis: int, prepend: Any, append: Any) -> Any:
    """np.diff with zeros for the constants at the ends.

    >>> diff_dot(np.array([1.0, 3.0]), 1, -1, 5.0, None)
    array([1., 2.])
    """
    widths = [(0, 0)] * np.ndim(a)
    widths[axis] = (_end_length(prepend, axis), _end_length(append, axis))
    return np.diff(np.pad(a, widths), n=n, axis=axis)


def diff_back(ct: Value, a: Value, n: int, axis: int, prepend: Any, append: Any) -> Any:
    """The transpose of `diff_dot`.

    >>> diff_back(np.array([1.0]), np.zeros(2), 1, -1, None, None)
    array([-1.,  1.])
    """
    ct = np.moveaxis(np.asarray(ct), axis, -1)
    start = _end_length(prepend, axis)
    length = np.shape(a)[axis] + start + _end_length(append, axis)
    for _ in range(min(n, length)):
        widths = [(0, 0)] * (ct.ndim - 1) + [(1, 1)]
        ct = -np.diff(np.pad(ct, widths), axis=-1)
    if n > length:
        ct = np.zeros((*ct.shape[:-1], length), ct.dtype)
    return np.moveaxis(ct[..., start : start + np.shape(a)[axis]], -1, axis)


def ediff1d_dot(ary: Value, to_end: Any, to_begin: Any) -> Any:
    """np.ediff1d with zeros for the constants at the ends.

    >>> ediff1d_dot(np.array([1.0, 3.0]), 9.0, None)
    array([2., 0.])
    """
    first = 0 if to_begin is None else np.size(to_begin)
    last = 0 if to_end is None else np.size(to_end)
    return np.pad(np.ediff1d(ary), (first, last))


def ediff1d_back(ct: Value, ary: Value, to_end: Any, to_begin: Any) -> Any:
    """The transpose of `ediff1d_dot`.

    >>> ediff1d_back(np.array([1.0]), np.zeros(2), None, None)
    array([-1.,  1.])
    """
    first = 0 if to_begin is None else np.size(to_begin)
    inner = np.asarray(ct)[first : first + max(np.size(ary) - 1, 0)]
    return diff_back(inner, np.zeros(np.size(ary)), 1, 0, None, None).reshape(np.shape(ary))


def _stencil(n: int, spacing: Any, edge_order: Any) -> Any:
    """The five diagonals of np.gradient's matrix, by applying it to five combs."""
    diagonals = np.zeros((5, n))
    rows = np.arange(n)
    for r in range(5):
        comb = (rows % 5 == r).astype(float)
        values = np.gradient(comb, *spacing, edge_order=edge_order)
        offset = (r - rows + 2) % 5 - 2  # the column of this comb nearest to the row
        inside = (rows + offset >= 0) & (rows + offset < n)
        diagonals[(offset + 2)[inside], rows[inside]] = values[inside]
    return diagonals


def gradient_back(ct: Any, f: Value, varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The transpose of np.gradient.

    >>> gradient_back(np.array([1.0, 0.0, 0.0]), np.zeros(3), ())
    array([-1.,  1.,  0.])
    """
    shape = np.shape(f)
    wanted = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [i % len(shape) for i in wanted]
    parts = [ct] if len(axes) == 1 and not isinstance(ct, list | tuple) else ct
    spacings = varargs if len(varargs) == len(axes) else tuple(varargs) * len(axes)
    total: Any = 0.0
    for k, (i, part) in enumerate(zip(axes, parts, strict=True)):
        if part is not None:
            total = total + _apply_back(part, i, spacings[k : k + 1], edge_order)
    return total


def _apply_back(ct: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    ct = np.moveaxis(np.asarray(ct), axis, -1)
    n = ct.shape[-1]
    diagonals = _stencil(n, spacing, edge_order).astype(ct.dtype)
    result = np.zeros(ct.shape, ct.dtype)
    for k in range(5):
        offset = k - 2
        rows = slice(max(0, -offset), min(n, n - offset))
        columns = slice(max(0, offset), min(n, n + offset))
        result[..., columns] += diagonals[k, rows] * ct[..., rows]
    return np.moveaxis(result, -1, axis)


def _halves(d: Any, axis: int) -> Any:
    """Half of the sum of the two neighbouring intervals of each node."""
    widths = [(0, 0)] * np.ndim(d)
    widths[axis] = (1, 1)
    padded = np.moveaxis(np.pad(d, widths), axis, -1)
    return np.moveaxis(0.5 * (padded[..., 1:] + padded[..., :-1]), -1, axis)


def trapezoid_weights(y: Value, x: Value, dx: Value, axis: int = -1) -> Any:
    """The weight of each value in np.trapezoid, in the shape of y.

    >>> trapezoid_weights(np.zeros(3), None, 2.0)
    array([1., 2., 1.])
    """
    shape = np.shape(y)
    if x is None:
        steps = np.ones(shape[axis] - 1, getattr(y, "dtype", float)) * dx
    else:
        steps = np.diff(x, axis=axis if np.ndim(x) > 1 else -1)
    if np.ndim(steps) == 1 and len(shape) > 1:
        steps = steps.reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])
    return np.array(np.broadcast_to(_halves(steps, axis), shape))


def trapezoid_unit(y: Value, x: Value, axis: int = -1) -> Any:
    """The weights for a step of one; zero when the points are given, which the step is not for.

    >>> trapezoid_unit(np.zeros(3), None)
    array([0.5, 1. , 0.5])
    """
    return trapezoid_weights(y, None, 1.0 if x is None else 0.0, axis)


def trapezoid_weights_back(ct: Value, x: Value, axis: int = -1) -> Any:
    """The transpose of `trapezoid_weights` in x.

    >>> trapezoid_weights_back(np.array([1.0, 0.0, 2.0]), np.zeros(3))
    array([-0.5, -0.5,  1. ])
    """
    ct = np.asarray(ct)
    if np.ndim(x) == 1 and ct.ndim > 1:
        ct = ct.sum(axis=tuple(i for i in range(ct.ndim) if i != axis % ct.ndim))
        axis = 0
    ct = np.moveaxis(ct, axis, -1)
    steps = 0.5 * (ct[..., 1:] + ct[..., :-1])
    widths = [(0, 0)] * (ct.ndim - 1) + [(1, 1)]
    return unbroadcast(np.moveaxis(-np.diff(np.pad(steps, widths), axis=-1), -1, axis), x)


# ---- tables ------------------------------------------------------------------


def _segment(x: Any, xp: Any) -> tuple[Any, Any, Any]:
    """The segment of the table in which x lies, how far along it, and whether it is inside."""
    x, xp = np.asarray(x), np.asarray(xp)
    low = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(len(xp) - 2, 0))
    high = np.minimum(low + 1, len(xp) - 1)
    width = xp[high] - xp[low]
    part = (x - xp[low]) / np.where(width == 0, 1.0, width)
    return low, np.clip(part, 0.0, 1.0), (x >= xp[0]) & (x <= xp[-1])


def interp_slope(x: Value, xp: Value, fp: Value) -> Any:
    """The slope of the table at x; zero outside.

    >>> interp_slope(0.5, np.array([0.0, 1.0]), np.array([0.0, 3.0]))
    np.float64(3.0)
    """
    low, _, inside = _segment(x, xp)
    xp, fp = np.asarray(xp), np.asarray(fp)
    if len(xp) == 1:
        return np.multiply(x, 0.0)
    return np.where(inside, (fp[low + 1] - fp[low]) / (xp[low + 1] - xp[low]), 0.0)[()]


def interp_slope_back(ct: Value, x: Value, xp: Value) -> Any:
    """The transpose of `interp_slope` in fp.

    >>> interp_slope_back(1.0, 0.5, np.array([0.0, 2.0]))
    array([-0.5,  0.5])
    """
    low, _, inside = _segment(x, xp)
    xp = np.asarray(xp)
    result = np.zeros(len(xp), np.result_type(ct, xp))
    if len(xp) > 1:
        scaled = np.where(inside, ct, 0.0) / (xp[low + 1] - xp[low])
        np.add.at(result, low + 1, scaled)
        np.subtract.at(result, low, scaled)
    return result


def interp_gather(v: Value, x: Value, xp: Value, left: Any, right: Any) -> Any:
    """np.interp of the values v, and zero where a constant `left` or `right` was given.

    >>> interp_gather(np.array([1.0, 2.0]), 9.0, np.array([0.0, 1.0]), None, 7.0)
    np.float64(0.0)
    """
    ends = (None if left is None else 0.0, None if right is None else 0.0)
    result = np.interp(x, xp, v, *ends)  # always double
    return result.astype(np.result_type(np.asarray(x), np.asarray(xp), np.asarray(v)))


def interp_scatter(ct: Value, x: Value, xp: Value, left: Any, right: Any) -> Any:
    """The transpose of `interp_gather` in v.

    >>> interp_scatter(1.0, 0.25, np.array([0.0, 1.0]), None, None)
    array([0.75, 0.25])
    """
    low, part, _ = _segment(x, xp)
    x, xp = np.asarray(x), np.asarray(xp)
    outside = np.zeros(x.shape, bool)
    if left is not None:
        outside = outside | (x < xp[0])
    if right is not None:
        outside = outside | (x > xp[-1])
    ct = np.where(outside, 0.0, ct)
    result = np.zeros(len(xp), np.result_type(ct, xp))
    np.add.at(result, low, ct * (1.0 - part))
    np.add.at(result, np.minimum(low + 1, len(xp) - 1), ct * part)
    return result


# ---- polynomials -------------------------------------------------------------


def _powers(n: int, m: int) -> list[tuple[int, int]]:
    """(coefficient, power) of the m-th derivatives of x**(n-1), ..., x, 1."""
    result = []
    for power in range(n - 1, -1, -1):
        coefficient = 1
        for k in range(m):
            coefficient *= power - k
        result.append((coefficient, max(power - m, 0)))
    return result


def poly_partial(p: Value, x: Value, m: int) -> Any:
    """The m-th derivative of np.polyval(p, x) by x.

    >>> poly_partial(np.array([1.0, 0.0, 0.0]), 3.0, 1)
    np.float64(6.0)
    """
    p = np.asarray(p)
    total = x * 0
    for c, (coefficient, _) in zip(p[: max(len(p) - m, 0)], _powers(len(p), m), strict=False):
        total = total * x + c * coefficient
    return total


def poly_moments(ct: Value, x: Value, p: Value, m: int) -> Any:
    """The transpose of `poly_partial` in p.

    >>> poly_moments(1.0, 2.0, np.zeros(3), 0)
    array([4., 2., 1.])
    """
    parts = [np.sum(ct * (c * x**k)) for c, k in _powers(len(p), m)]
    return np.array(parts)


def vander_partial(x: Value, N: Any, increasing: bool, m: int) -> Any:
    """The m-th derivative of np.vander by x, element by element.

    >>> vander_partial(np.array([3.0]), 3, False, 1)
    array([[6., 1., 0.]])
    """
    x = np.asarray(x)
    columns = [c * x**k for c, k in _powers(len(x) if N is None else N, m)]
    return np.stack(columns[::-1] if increasing else columns, axis=1)


# ---- convolution -------------------------------------------------------------


def _offset(a: Any, v: Any, mode: str) -> int:
    """Where the result of this mode starts in the full convolution."""
    n = min(len(a), len(v))
    match mode:
        case "full":
            return 0
        case "same":
            return n - 1 - n // 2
        case "valid":
            return n - 1
    raise ValueError(f"np.convolve has no mode {mode!r}")


def convolve_embed(ct: Value, a: Value, v: Value, mode: str, flip: bool = False) -> Any:
    """The cotangent of a convolution, with zeros where the full one has more elements.

    `flip` is set for np.correlate, which exchanges and reverses when v is longer.

    >>> convolve_embed(np.array([1.0]), np.zeros(2), np.zeros(2), "valid")
    array([0., 1., 0.])
    """
    length = len(a) + len(v) - 1
    result = np.zeros(length, np.asarray(ct).dtype)
    start = _start(a, v, mode, flip, length, len(ct))
    result[start : start + len(ct)] = ct
    return result


def _start(a: Any, v: Any, mode: str, flip: bool, length: int, size: int) -> int:
    start = _offset(a, v, mode)
    return length - size - start if flip and len(v) > len(a) else start


def convolve_crop(full: Value, a: Value, v: Value, mode: str, flip: bool = False) -> Any:
    """The transpose of `convolve_embed`: the part of a full convolution that the mode returns.

    >>> convolve_crop(np.array([1.0, 2.0, 3.0]), np.zeros(2), np.zeros(2), "valid")
    array([2.])
    """
    small, large = sorted((len(a), len(v)))
    size = {"full": len(full), "same": large, "valid": large - small + 1}[mode]
    start = _start(a, v, mode, flip, len(full), size)
    return np.array(full[start : start + size])


# ---- covariance --------------------------------------------------------------


def _centred(m: Any, rowvar: bool) -> Any:
    m = np.asarray(m)
    m = m[None, :] if m.ndim == 1 else m if rowvar else m.T
    return m - np.mean(m, axis=1, keepdims=True)


def _freedom(n: int, bias: bool, ddof: int | None) -> float:
    return float(n - ((0 if bias else 1) if ddof is None else ddof))


def cov_pair(a: Value, b: Value, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    """A B' + B A' of centred data, over the degrees of freedom: the derivative of np.cov.

    >>> cov_pair(np.array([1.0, 3.0]), np.array([1.0, 3.0]))
    np.float64(4.0)
    """
    x, y = _centred(a, rowvar), _centred(b, rowvar)
    product = x @ np.conj(y).T
    result = (product + np.conj(product).T) / _freedom(x.shape[1], bias, ddof)
    return result.squeeze()[()]


def cov_apply(
    ct: Value, m: Value, rowvar: bool = True, bias: bool = False, ddof: Any = None
) -> Any:
    """The transpose of `cov_pair` in either argument.

    >>> cov_apply(1.0, np.array([1.0, 3.0]))
    array([-2.,  2.])
    """
    x = _centred(m, rowvar)
    ct = np.reshape(ct, (x.shape[0], x.shape[0]))
    result = (ct + np.conj(ct).T) @ np.conj(x) / _freedom(x.shape[1], bias, ddof)
    return (result if rowvar or np.ndim(m) == 1 else result.T).reshape(np.shape(m))


# ---- ranges ------------------------------------------------------------------


def _ramp_weights(num: int, endpoint: bool, rising: bool, dtype: Any) -> Any:
    ends = (0.0, 1.0) if rising else (1.0, 0.0)
    return np.linspace(*ends, num, endpoint=endpoint).astype(dtype)


def ramp(x: Value, like: Value, num: int, endpoint: bool, axis: int, rising: bool) -> Any:
    """What np.linspace's result owes to its stop (rising) or start x, in the shape of `like`.

    >>> ramp(2.0, np.zeros(3), 3, True, 0, True)
    array([0., 1., 2.])
    """
    shape = list(np.shape(like))
    shape.pop(axis)
    x = np.asarray(broadcast_like(x, np.empty(shape)))
    weights = _ramp_weights(num, endpoint, rising, np.result_type(x.dtype, np.float16))
    return np.moveaxis(np.multiply.outer(weights, x), 0, axis)


def ramp_back(ct: Value, x: Value, num: int, endpoint: bool, axis: int, rising: bool) -> Any:
    """The transpose of `ramp`.

    >>> ramp_back(np.ones(3), 2.0, 3, True, 0, True)
    np.float64(1.5)
    """
    ct = np.moveaxis(np.asarray(ct), axis, 0)
    weights = _ramp_weights(num, endpoint, rising, np.real(ct).dtype)
    return unbroadcast(np.tensordot(weights, ct, axes=1), x)


# ---- outer -------------------------------------------------------------------


def outer_left(a: Value, b: Value) -> Any:
    """a with a dimension of one for each dimension of b, as in `ufunc.outer(a, b)`.

    >>> outer_left(np.zeros(2), np.zeros(3)).shape
    (2, 1)
    """
    a = np.asarray(a)
    return a.reshape(a.shape + (1,) * np.ndim(b))[()]


def outer_left_back(ct: Value, a: Value) -> Any:
    """ct summed over the dimensions after those of a.

    >>> outer_left_back(np.ones((2, 3)), np.zeros(2))
    array([3., 3.])
    """
    ct = np.asarray(ct)
    n = np.ndim(a)
    total = ct.sum(axis=tuple(range(n, ct.ndim)))
    return unbroadcast(total, a)


def spread_left(t: Value, like: Value) -> Any:
    """The transpose of `outer_left_back`: t repeated over the last dimensions of `like`.

    >>> spread_left(np.array([1.0, 2.0]), np.zeros((2, 2)))
    array([[1., 1.],
           [2., 2.]])
    """
    t = np.asarray(t)
    t = t.reshape(t.shape + (1,) * (np.ndim(like) - t.ndim))
    return broadcast_like(t, like)


# ---- choices -----------------------------------------------------------------


def select_back(ct: Value, condlist: Any, choicelist: Any) -> Any:
    """The cotangent of each choice of np.select.

    >>> select_back(np.ones(2), [np.array([True, False])], [np.zeros(2)])
    [array([1., 0.])]
    """
    parts, free = [], True
    for condition, choice in zip(condlist, choicelist, strict=True):
        taken = np.logical_and(free, condition)
        parts.append(unbroadcast(np.where(taken, ct, 0.0), choice))
        free = np.logical_and(free, np.logical_not(condition))
    return tuple(parts) if isinstance(choicelist, tuple) else parts


def _none_holds(condlist: Any) -> Any:
    free: Any = True
    for condition in condlist:
        free = np.logical_and(free, np.logical_not(condition))
    return free


def select_default_back(ct: Value, condlist: Any, default: Value) -> Any:
    """The cotangent of the default of np.select.

    >>> select_default_back(np.ones(2), [np.array([True, False])], np.zeros(2))
    array([0., 1.])
    """
    return unbroadcast(np.where(_none_holds(condlist), ct, 0.0), default)


def select_default_dot(t: Value, condlist: Any, like: Value) -> Any:
    """The transpose of `select_default_back`, in the shape of `like`.

    >>> select_default_dot(1.0, [np.array([True, False])], np.zeros(2))
    array([0., 1.])
    """
    return broadcast_like(np.where(_none_holds(condlist), t, 0.0), like)


def choose_back(ct: Value, a: Any, choices: Any, mode: str) -> Any:
    """The cotangent of each choice of np.choose.

    >>> choose_back(np.ones(2), [0, 1], [np.zeros(2), np.zeros(2)], "raise")
    [array([1., 0.]), array([0., 1.])]
    """
    n = len(choices)
    chosen = np.asarray(a)
    chosen = chosen % n if mode == "wrap" else np.clip(chosen, 0, n - 1)
    parts = [unbroadcast(np.where(chosen == i, ct, 0.0), c) for i, c in enumerate(choices)]
    if isinstance(choices, np.ndarray):
        return np.array(parts)
    return tuple(parts) if isinstance(choices, tuple) else parts


# ---- Python's sum ------------------------------------------------------------


def sum_of_back(ct: Value, iterable: Any) -> Any:
    """The cotangent of each item of a sequence that was added up.

    >>> sum_of_back(2.0, [1.0, 3.0])
    [2.0, 2.0]
    """
    if isinstance(iterable, np.ndarray):
        return np.array(np.broadcast_to(ct, iterable.shape))
    parts = [unbroadcast(ct, v) for v in iterable]
    return tuple(parts) if isinstance(iterable, tuple) else parts


def sum_of_dot(iterable: Any, like: Value) -> Any:
    """The sum of tangents (None is zero) in the shape of `like`.

    >>> sum_of_dot([1.0, None], 0.0)
    1.0
    """
    return broadcast_like(sum(v for v in iterable if v is not None), like)
