"""NumPy's functions of sampled data, written in Python: what is differentiated where an argument
is active that their formulas leave out (ends of differences, spacings, what an array is padded
with), or where an option makes another function of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error

Value = Any  # a number or an array


# ---- differences -------------------------------------------------------------------


def diff_ended(
    a: Value, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Any:
    """`np.diff` with values put before or behind.

    >>> diff_ended(np.array([1.0, 4.0]), append=9.0)
    array([3., 5.])
    """
    joined = np.asarray(a)
    if prepend is not None:
        joined = np.concatenate((_end(prepend, a, axis), joined), axis)
    if append is not None:
        joined = np.concatenate((joined, _end(append, a, axis)), axis)
    return np.diff(joined, n, axis)


def _end(value: Any, a: Value, axis: int) -> Any:
    """What is put at an end: a number stands for one item in each line."""
    if np.ndim(value) != 0:
        return np.asarray(value)
    return value + np.zeros_like(np.take(a, [0], axis))


def ediff1d_ended(ary: Value, to_end: Any = None, to_begin: Any = None) -> Any:
    """`np.ediff1d` with values put before or behind the differences.

    >>> ediff1d_ended(np.array([1.0, 4.0]), 9.0)
    array([3., 9.])
    """
    made = np.diff(np.ravel(ary))
    if to_begin is not None:
        made = np.concatenate((np.ravel(to_begin), made))
    if to_end is not None:
        made = np.concatenate((made, np.ravel(to_end)))
    return made


def gradient_spaced(f: Value, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`np.gradient`, of the spacings too.

    >>> gradient_spaced(np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 3.0]))
    array([1., 1., 1.])
    """
    axes = list(range(np.ndim(f))) if axis is None else _as_list(axis)
    found = []
    for k in range(len(axes)):
        spacing = varargs[0] if len(varargs) == 1 else varargs[k]
        found.append(slope_along(f, spacing, axes[k], edge_order))
    if len(found) == 1:
        return found[0]
    return tuple(found) if _TUPLES else found


_TUPLES = isinstance(np.gradient(np.zeros((2, 2))), tuple)  # a list before NumPy 2


def _as_list(axis: Any) -> list[int]:
    return list(axis) if isinstance(axis, tuple | list) else [axis]


def slope_along(f: Value, spacing: Any, axis: int, edge_order: int) -> Any:
    """Slopes along one axis, by the parabola through each sample and its neighbours.

    >>> slope_along(np.array([1.0, 2.0, 5.0]), 0.5, 0, 2)
    array([0., 4., 8.])
    """
    rows = np.moveaxis(np.asarray(f), axis, -1)
    if np.ndim(spacing) == 0:
        steps = spacing * np.ones(np.shape(rows)[-1] - 1)
    else:
        steps = np.diff(spacing)
    slopes = np.diff(rows) / steps
    left, right = steps[:-1], steps[1:]
    inner = (right * slopes[..., :-1] + left * slopes[..., 1:]) / (left + right)
    first, last = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        first = 2.0 * first - inner[..., :1]
        last = 2.0 * last - inner[..., -1:]
    return np.moveaxis(np.concatenate((first, inner, last), axis=-1), -1, axis)


# ---- arrays with borders ------------------------------------------------------------


def pad_valued(
    array: Value, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0.0
) -> Any:
    """`np.pad` with given values.

    >>> pad_valued(np.array([1.0]), 1, constant_values=3.0)
    array([3., 1., 3.])
    """
    values = np.broadcast_to(constant_values, (np.ndim(array), 2))
    return np.pad(array, pad_width) + np.tensordot(values, borders(array, pad_width), 2)


def borders(array: Value, pad_width: Any) -> Any:
    """For each end of each axis an array of ones where `np.pad` puts its value.

    >>> borders(np.array([7.0]), 1)
    array([[[1., 0., 0.],
            [0., 0., 1.]]])
    """
    inside = np.zeros(np.shape(array))
    ends = np.eye(2 * np.ndim(array)).reshape(-1, np.ndim(array), 2)
    made = np.array([np.pad(inside, pad_width, constant_values=e.tolist()) for e in ends])
    return made.reshape(np.ndim(array), 2, *made.shape[1:])


# ---- statistics ---------------------------------------------------------------------


def quantile_moved(
    a: Value,
    q: Value,
    axis: Any = None,
    out: Any = None,
    method: str = "linear",
    keepdims: Any = False,
) -> Any:
    """`np.quantile`, of its place q too: it moves along the line between its neighbours.

    >>> quantile_moved(np.array([1.0, 5.0]), 0.25)
    np.float64(2.0)
    """
    if method != "linear":
        raise error(
            "MissingRule",
            f"the derivative of a quantile by q is known for the method 'linear', not {method!r}",
        )
    rows = np.sort(_lines(a, axis), axis=-1)
    last = max(np.shape(rows)[-1] - 1, 1)
    place = np.multiply(q, last)
    base = np.floor(place).astype(int)
    low, high = np.maximum(np.ceil(place).astype(int) - 1, 0), np.minimum(base + 1, last)
    part = (place - base) / np.maximum(high - low, 1)
    found = rows[..., base] + (rows[..., high] - rows[..., low]) * part
    lead = np.ndim(q)
    found = np.moveaxis(found, list(range(-lead, 0)), list(range(lead)))
    if not keepdims:
        return found
    axes = range(np.ndim(a)) if axis is None else [k % np.ndim(a) for k in _as_list(axis)]
    return np.expand_dims(found, tuple([k + lead for k in axes]))


def _lines(a: Value, axis: Any) -> Any:
    """The array with the axes that quantiles are taken along as its last one."""
    if axis is None:
        return np.ravel(a)
    axes = _as_list(axis)
    moved = np.moveaxis(np.asarray(a), axes, list(range(-len(axes), 0)))
    return np.reshape(moved, (*np.shape(moved)[: np.ndim(a) - len(axes)], -1))


def percentile_moved(
    a: Value,
    q: Value,
    axis: Any = None,
    out: Any = None,
    method: str = "linear",
    keepdims: Any = False,
) -> Any:
    """`np.percentile`, of q too.

    >>> percentile_moved(np.array([1.0, 5.0]), 25.0)
    np.float64(2.0)
    """
    return quantile_moved(a, np.true_divide(q, 100.0), axis=axis, method=method, keepdims=keepdims)


def cov_weighted(
    m: Value,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """`np.cov` of two sets of variables, or with weights.

    >>> cov_weighted(np.array([1.0, 3.0]), np.array([1.0, 5.0]))
    array([[2., 4.],
           [4., 8.]])
    """
    x = _variables(m, rowvar)
    if y is not None:
        x = np.concatenate((x, _variables(y, rowvar)), axis=0)
    less = (0 if bias else 1) if ddof is None else ddof
    weights = np.ones(np.shape(x)[1])
    if fweights is not None:
        weights = weights * np.asarray(fweights)
    total = np.sum(weights)
    share = 1.0
    if aweights is not None:
        held = np.asarray(aweights)
        weights = weights * held
        total = np.sum(weights)
        share = np.sum(weights * held) / total
    apart = x - np.sum(x * weights, axis=1, keepdims=True) / total
    return np.squeeze((apart * weights) @ np.conj(apart).T / (total - less * share))


def _variables(m: Value, rowvar: bool) -> Any:
    """One variable a row."""
    x = np.atleast_2d(m)
    return x if rowvar or np.shape(x)[0] == 1 else x.T


def corrcoef_of(x: Value, y: Any = None, rowvar: bool = True) -> Any:
    """`np.corrcoef` of two sets of variables.

    >>> corrcoef_of(np.array([1.0, 3.0]), np.array([2.0, 5.0])).round(6)
    array([[1., 1.],
           [1., 1.]])
    """
    c = cov_weighted(x, y, rowvar)
    scale = np.sqrt(np.diag(c))
    return c / scale[:, None] / scale


# ---- ranges -------------------------------------------------------------------------


def linspace_step(
    start: Value,
    stop: Value,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """`np.linspace(..., retstep=True)`: the numbers and the step between them.

    >>> linspace_step(0.0, 1.0, 3, retstep=True)
    (array([0. , 0.5, 1. ]), 0.5)
    """
    made = np.linspace(start, stop, num, endpoint, axis=axis)
    return made, (stop - start) / ((num - 1) if endpoint else num)
