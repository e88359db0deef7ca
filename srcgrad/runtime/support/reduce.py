"""Helpers of the rules for reductions and running totals.

Every helper takes Python numbers, NumPy scalars and arrays of any number of dimensions.  An axis
is None (all of the array), a number or a tuple, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Value = Any  # a number or an array

__all__ = [
    "average_weights",
    "average_weights_back",
    "before",
    "carry",
    "count",
    "cumsum_back",
    "kept",
    "prod_others",
    "quantile_apply",
    "quantile_back",
    "sum_back",
    "ties",
    "to_array",
    "to_items",
    "valid",
]


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    return tuple(sorted(int(i) % max(ndim, 1) for i in axes))


def _expanded(reduced: Any, ndim: int, axis: Any) -> Any:
    """A result of a reduction, with the reduced dimensions back as ones."""
    reduced = np.asarray(reduced)
    return reduced if reduced.ndim == ndim else np.expand_dims(reduced, _axes(axis, ndim))


def _like(result: Any, a: Value) -> Any:
    return result if isinstance(a, np.ndarray) else np.asarray(result)[()]


def sum_back(
    ct: Value, a: Value, axis: Any = None, keepdims: Any = False, where: Any = True
) -> Any:
    """The cotangent of a sum over `axis`, repeated to the shape of a.

    >>> sum_back(np.array([1.0, 2.0]), np.zeros((2, 3)), axis=1)
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    shape = np.shape(a)
    dtype = np.result_type(ct, getattr(a, "dtype", 0.0))
    result = np.empty(shape, dtype)
    result[...] = _expanded(ct, len(shape), axis)
    if where is not True:
        result = np.where(where, result, 0.0)
    return _like(result, a)


def count(a: Value, axis: Any = None, keepdims: Any = False, where: Any = True) -> Any:
    """How many elements of a are summed into one element of the result.

    >>> count(np.zeros((2, 3)), axis=1)
    3
    """
    shape = np.shape(a)
    if where is True:
        n = 1
        for i in _axes(axis, len(shape)):
            n *= shape[i] if shape else 1
        return n
    there = np.broadcast_to(where, shape)
    total = np.sum(there, axis=axis, keepdims=bool(keepdims))
    return total.astype(np.real(a).dtype if isinstance(a, np.ndarray) else float)


def valid(a: Value, where: Any = True) -> Any:
    """Where a is not nan (and `where` holds).

    >>> valid(np.array([1.0, np.nan]))
    array([ True, False])
    """
    there = np.logical_not(np.isnan(a))
    return there if where is True else np.logical_and(there, where)


def ties(
    a: Value,
    out: Value,
    axis: Any = None,
    keepdims: Any = False,
    where: Any = True,
    initial: Any = None,
) -> Any:
    """The share of each element in its maximum or minimum `out`: equal for equal elements.

    >>> ties(np.array([2.0, 5.0, 5.0]), 5.0)
    array([0. , 0.5, 0.5])
    """
    shape = np.shape(a)
    best = _expanded(out, len(shape), axis)
    same = np.equal(a, best)
    if where is not True:
        same = np.logical_and(same, where)
    dtype = a.dtype if isinstance(a, np.ndarray) else float
    share = np.asarray(same, dtype)
    total = share.sum(axis=_axes(axis, len(shape)), keepdims=True)
    if initial is not None:
        total = total + np.equal(best, initial)
    return _like(share / np.where(total == 0, total + 1, total), a)


# ---- lines along an axis -----------------------------------------------------


def _lines(a: Value, axis: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The array with the reduced axes flattened into a last one, and the way back."""
    a = np.asarray(a)
    axes = _axes(axis, a.ndim)
    kept_axes = [i for i in range(a.ndim) if i not in axes]
    order = (*kept_axes, *axes)
    moved = a.transpose(order)
    shape = moved.shape
    lead = shape[: len(kept_axes)]
    n = int(np.prod(shape[len(kept_axes) :]))

    def back(lines: Any) -> Any:
        return lines.reshape(shape).transpose(np.argsort(order))

    return moved.reshape(*lead, n), back


def before(a: Value, axis: Any = None, reverse: bool = False) -> Any:
    """The product of the elements before each element (after it when `reverse`).

    >>> before(np.array([2.0, 3.0, 4.0]))
    array([1., 2., 6.])
    """
    lines, back = _lines(a, axis)
    lines = lines[..., ::-1] if reverse else lines
    result = np.ones(lines.shape, lines.dtype)
    np.cumprod(lines[..., :-1], axis=-1, out=result[..., 1:])
    return _like(back(result[..., ::-1] if reverse else result), a)


def carry(b: Value, a: Value, axis: Any = None, reverse: bool = False) -> Any:
    """s with s[i] = b[i-1] + a[i-1] * s[i-1] and s[0] = 0; from the end when `reverse`.

    It is the derivative of running products, and its own derivative.

    >>> carry(np.array([1.0, 1.0, 1.0]), np.array([2.0, 2.0, 2.0]))
    array([0., 1., 3.])
    """
    dtype = np.result_type(getattr(a, "dtype", 0.0), b)
    b, a_full = np.broadcast_arrays(np.asarray(b, dtype), np.asarray(a, dtype))
    b_lines, back = _lines(b, axis)
    a_lines, _ = _lines(a_full, axis)
    if reverse:
        b_lines, a_lines = b_lines[..., ::-1], a_lines[..., ::-1]
    result = np.zeros(b_lines.shape, dtype)
    result[..., 1:] = _scan(b_lines[..., :-1], a_lines[..., :-1])
    return _like(back(result[..., ::-1] if reverse else result), a)


def _scan(b: Any, a: Any) -> Any:
    """s with s[i] = b[i] + a[i] * s[i-1] along the last axis."""
    n = b.shape[-1]
    b, a = np.array(b), np.array(a)
    if n <= 16 or b.size // n > 64:
        for i in range(1, n):
            b[..., i] += a[..., i] * b[..., i - 1]
        return b
    step = 1
    while step < n:  # doubling: log2(n) passes over the array instead of n steps
        b[..., step:] = b[..., step:] + a[..., step:] * b[..., :-step]
        a[..., step:] = a[..., step:] * a[..., :-step]
        step *= 2
    return b


def prod_others(a: Value, axis: Any = None, where: Any = True, initial: Any = 1) -> Any:
    """The product of the other elements of each line: what np.prod's derivative is, without
    dividing by an element that may be zero.

    >>> prod_others(np.array([2.0, 0.0, 3.0]))
    array([0., 6., 0.])
    """
    part = a if where is True else np.where(where, a, 1.0)
    others = before(part, axis) * before(part, axis, reverse=True)
    return (
        others if initial is None or (type(initial) is int and initial == 1) else others * initial
    )


def cumsum_back(ct: Value, a: Value, axis: Any = None) -> Any:
    """The sums of the cotangents from each element to the end.

    >>> cumsum_back(np.array([1.0, 1.0, 1.0]), np.zeros(3))
    array([3., 2., 1.])
    """
    if axis is None:
        flat = np.cumsum(np.ravel(ct)[::-1])[::-1]
        return _like(flat.reshape(np.shape(a)), a)
    return np.flip(np.cumsum(np.flip(ct, axis), axis=axis), axis)


def kept(a: Value, out: Value, axis: int = 0) -> Any:
    """How much of the value before a running maximum (or minimum) keeps at each element.

    >>> kept(np.array([1.0, 3.0, 3.0, 2.0]), np.array([1.0, 3.0, 3.0, 3.0]))
    array([0. , 0. , 0.5, 1. ])
    """
    a, out = np.moveaxis(np.asarray(a), axis, 0), np.moveaxis(np.asarray(out), axis, 0)
    result = np.zeros(a.shape, a.dtype)
    new = a[1:] == out[1:]
    old = out[:-1] == out[1:]
    result[1:] = np.where(new & old, 0.5, np.where(new, 0.0, 1.0))
    return np.moveaxis(result, 0, axis)


# ---- average -----------------------------------------------------------------


def average_weights(a: Value, axis: Any, weights: Value) -> Any:
    """The weights of np.average in the shape of a; ones when there are none.

    >>> average_weights(np.zeros((2, 2)), 0, np.array([1.0, 2.0]))
    array([[1., 1.],
           [2., 2.]])
    """
    shape = np.shape(a)
    if weights is None:
        return np.ones(shape, getattr(a, "dtype", float))
    weights = np.asarray(weights)
    if weights.shape != shape:
        wanted = axis if isinstance(axis, tuple) else (axis,)
        axes = [i % len(shape) for i in wanted]
        weights = weights.transpose(np.argsort(axes))
        weights = np.expand_dims(weights, tuple(i for i in range(len(shape)) if i not in axes))
    return np.array(np.broadcast_to(weights, shape))


def average_weights_back(ct: Value, axis: Any, weights: Value) -> Any:
    """The transpose of `average_weights`: the cotangent in the shape of the weights.

    >>> average_weights_back(np.ones((2, 2)), 0, np.array([1.0, 2.0]))
    array([2., 2.])
    """
    if np.shape(ct) == np.shape(weights):
        return ct
    wanted = axis if isinstance(axis, tuple) else (axis,)
    axes = [i % np.ndim(ct) for i in wanted]
    total = np.sum(ct, axis=tuple(i for i in range(np.ndim(ct)) if i not in axes))
    return total.transpose(np.argsort(np.argsort(axes)))


# ---- quantiles ---------------------------------------------------------------


def _quantile_weights(lines: Any, q: float, method: str, skipnan: bool) -> Any:
    """The weight of each element in the q-th quantile of its line."""
    ordered = np.sort(lines, axis=-1)  # nan last
    size = lines.shape[-1]
    there = np.sum(~np.isnan(lines), axis=-1) if skipnan else np.full(lines.shape[:-1], size)
    place = _places(there, q, method)
    low = np.floor(place).astype(int)
    part = place - low
    first = np.take_along_axis(ordered, low[..., None], -1)
    high = np.minimum(low + 1, np.maximum(there - 1, 0))
    second = np.take_along_axis(ordered, high[..., None], -1)
    part = part[..., None].astype(lines.dtype)
    return (1 - part) * _equal_share(lines, first) + part * _equal_share(lines, second)


def _places(there: Any, q: float, method: str) -> Any:
    """The fractional place of the q-th quantile among so many numbers in order: of 0, 1, 2, ...
    it is the quantile itself."""
    counts, back = np.unique(np.maximum(there, 1), return_inverse=True)
    found = [
        float(np.quantile(np.arange(float(n)), q, method=method))  # type: ignore[call-overload]
        for n in counts.tolist()
    ]
    return np.reshape(np.array(found)[np.ravel(back)], np.shape(there))


def _equal_share(lines: Any, value: Any) -> Any:
    same = (lines == value).astype(lines.dtype)
    return same / np.maximum(same.sum(axis=-1, keepdims=True), 1)


def quantile_apply(
    x: Value,
    a: Value,
    q: Any,
    axis: Any = None,
    method: str = "linear",
    keepdims: Any = False,
    skipnan: bool = False,
) -> Any:
    """The elements of x that stand where the quantiles of a stand: the quantile's derivative.

    >>> quantile_apply(np.array([1.0, 2.0, 3.0]), np.array([5.0, 9.0, 7.0]), 0.5)
    np.float64(3.0)
    """
    lines, _ = _lines(a, axis)
    x_lines, _ = _lines(np.where(np.isnan(a), 0.0, x), axis)
    parts = [
        np.sum(_quantile_weights(lines, p, method, skipnan) * x_lines, axis=-1)
        for p in np.ravel(q).tolist()
    ]
    result = np.stack(parts).reshape(np.shape(q) + lines.shape[:-1])
    if keepdims:
        ndim = np.ndim(a)
        lead = np.ndim(q)
        result = np.expand_dims(result, tuple(i + lead for i in _axes(axis, ndim)))
    return result[()]


def quantile_back(
    ct: Value,
    a: Value,
    q: Any,
    axis: Any = None,
    method: str = "linear",
    keepdims: Any = False,
    skipnan: bool = False,
) -> Any:
    """The cotangent of quantiles, at the elements they were taken from.

    >>> quantile_back(1.0, np.array([5.0, 9.0, 7.0, 1.0]), 0.5)
    array([0.5, 0. , 0.5, 0. ])
    """
    lines, back = _lines(a, axis)
    ct = np.reshape(ct, (np.size(q), *lines.shape[:-1]))
    total = np.zeros(lines.shape, np.result_type(ct, lines))
    for p, part in zip(np.ravel(q).tolist(), ct, strict=True):
        total = total + _quantile_weights(lines, p, method, skipnan) * part[..., None]
    return _like(back(total), a)


# ---- sequences of numbers ----------------------------------------------------


def to_array(items: Any) -> Any:
    """A sequence of numbers as an array; None, the tangent of what has none, as zero.

    >>> to_array([1.0, None])
    array([1., 0.])
    """
    if isinstance(items, np.ndarray):
        return items
    return np.array([0.0 if v is None else v for v in items])


def to_items(ct: Any, items: Any) -> Any:
    """An array as a sequence like `items`: list, tuple or array.

    >>> to_items(np.array([1.0, 2.0]), (3.0, 4.0))
    (1.0, 2.0)
    """
    if isinstance(items, np.ndarray):
        return ct
    values = np.asarray(ct).tolist()
    return tuple(values) if isinstance(items, tuple) else values
