"""The parts of NumPy's functions that call a function for each part of an array.

`np.apply_along_axis(f, 0, a)` is lowered as `along_axis([f(v) for v in lines_along(a, 0)], a, 0)`:
the calls are the user's code, and these are linear functions of arrays around them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error
from srcgrad.runtime.support.join import stack_back

Value = Any  # a number or an array


def lines_along(a: Value, axis: int) -> Any:
    """The lines of an array along an axis, one below the other.

    >>> lines_along(np.arange(6.0).reshape(2, 3), 0)
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    """
    moved = np.moveaxis(np.asarray(a), axis, -1)
    return moved.reshape(-1, moved.shape[-1])


def lines_along_back(ct: Value, a: Value, axis: int) -> Any:
    """The cotangent of `a` in `lines_along(a, axis)`.

    >>> lines_along_back(np.eye(2), np.zeros((2, 2)), 0)
    array([[1., 0.],
           [0., 1.]])
    """
    shape = np.moveaxis(np.asarray(a), axis, -1).shape
    return np.moveaxis(np.reshape(ct, shape), -1, axis)


def along_axis(results: list[Any], a: Value, axis: int) -> Any:
    """What `np.apply_along_axis` makes of the results for `lines_along(a, axis)`.

    >>> along_axis([1.0, 2.0], np.zeros((3, 2)), 0)
    array([1., 2.])
    """
    first = np.asarray(results[0])
    stacked = np.stack([np.asarray(r) for r in results]).astype(first.dtype, copy=False)
    outer = np.moveaxis(np.asarray(a), axis, -1).shape[:-1]
    out = stacked.reshape(outer + first.shape)
    start, count = axis % np.ndim(a), first.ndim
    return np.moveaxis(out, range(len(outer), out.ndim), range(start, start + count))


def along_axis_back(ct: Value, results: list[Any], a: Value, axis: int) -> Any:
    """The cotangent of each of the results in `along_axis(results, a, axis)`.

    >>> along_axis_back(np.array([5.0, 6.0]), [1.0, 2.0], np.zeros((3, 2)), 0)
    [np.float64(5.0), np.float64(6.0)]
    """
    start, count = axis % np.ndim(a), np.ndim(results[0])
    moved = np.moveaxis(np.asarray(ct), range(start, start + count), range(-count, 0))
    parts = stack_back(moved.reshape(-1, *np.shape(results[0])), results, 0)
    return [p if isinstance(r, np.ndarray) else p[()] for p, r in zip(parts, results, strict=True)]


def with_axis(found: Value, value: Value, axis: int) -> Any:
    """A result over an axis, in which the axis has length one if it was dropped.

    >>> with_axis(np.zeros(2), np.zeros((2, 3)), 1).shape
    (2, 1)
    """
    return found if np.ndim(found) == np.ndim(value) else np.expand_dims(found, axis)


def vectorized(results: list[Any], like: Value) -> Any:
    """What `np.vectorize` makes of its results: the first decides the dtype.

    >>> vectorized([1.0, 2.0], np.zeros((2, 1)))
    array([[1.],
           [2.]])
    """
    first = np.asarray(results[0])
    if first.ndim or isinstance(results[0], tuple):
        raise error("MissingRule", "np.vectorize of a function with more than one result")
    return np.array(results).astype(first.dtype).reshape(np.shape(like))


def vectorized_back(ct: Value, results: list[Any]) -> Any:
    """The cotangent of each of the results in `vectorized(results, like)`.

    >>> vectorized_back(np.ones((2, 1)), [1.0, 2.0])
    [np.float64(1.0), np.float64(1.0)]
    """
    return [
        r_bar if not isinstance(r, np.ndarray) else np.asarray(r_bar)
        for r_bar, r in zip(np.ravel(ct), results, strict=True)
    ]


def pieces(parts: list[Any], conditions: list[Any], x: Value) -> Any:
    """What `np.piecewise` makes of the values of its functions, where the conditions hold.

    >>> pieces([np.array([5.0]), 7.0], [np.array([True, False]), True], np.zeros(2))
    array([7., 7.])
    """
    x = np.asarray(x)
    out = np.zeros(x.shape, x.dtype)
    for part, condition in zip(parts, conditions, strict=True):
        out[np.asarray(condition)] = part
    return out


def pieces_back(ct: Value, parts: list[Any], conditions: list[Any]) -> Any:
    """The cotangent of each part in `pieces(parts, conditions, x)`: where it was not replaced.

    >>> pieces_back(np.ones(2), [5.0, np.array([7.0])], [[True, True], [False, True]])
    [np.float64(1.0), array([1.])]
    """
    left = np.array(ct)
    backs: list[Any] = []
    for part, condition in reversed(list(zip(parts, conditions, strict=True))):
        there = np.asarray(condition)
        back = left[there]
        backs.append(back if np.ndim(part) else np.sum(back))
        left[there] = 0.0
    return backs[::-1]


def otherwise(conditions: list[Any]) -> Any:
    """Where none of the conditions holds.

    >>> otherwise([np.array([True, False]), np.array([False, False])])
    array([False,  True])
    """
    return ~np.any([np.asarray(c, bool) for c in conditions], axis=0)


def row_of(parts: Any) -> Any:
    """`np.r_[parts]`.

    >>> row_of((1.0, np.zeros(2)))
    array([1., 0., 0.])
    """
    return np.r_[tuple(parts)]


def row_back(ct: Value, parts: Any) -> Any:
    """The cotangent of each part in `np.r_[parts]`.

    >>> row_back(np.arange(3.0), (1.0, np.zeros(2)))
    (np.float64(0.0), array([1., 2.]))
    """
    return _split(ct, parts, [np.atleast_1d(p) for p in parts], 0)


def column_of(parts: Any) -> Any:
    """`np.c_[parts]`.

    >>> column_of((np.zeros(2), np.ones(2)))
    array([[0., 1.],
           [0., 1.]])
    """
    return np.c_[tuple(parts)]


def column_back(ct: Value, parts: Any) -> Any:
    """The cotangent of each part in `np.c_[parts]`.

    >>> column_back(np.eye(2), (np.zeros(2), np.ones(2)))
    (array([1., 0.]), array([0., 1.]))
    """
    shaped = [p if np.ndim(p) > 1 else np.reshape(p, (-1, 1)) for p in parts]
    return _split(ct, parts, shaped, -1)


def _split(ct: Value, parts: Any, shaped: list[Any], axis: int) -> Any:
    ends = np.cumsum([s.shape[axis] for s in shaped])[:-1]
    found = np.split(np.asarray(ct), ends, axis)
    return tuple(
        np.reshape(f, np.shape(p)) if isinstance(p, np.ndarray) else np.reshape(f, np.shape(p))[()]
        for f, p in zip(found, parts, strict=True)
    )


def unknown_function(fn: Any) -> Exception:
    """The error of a call of a function that was not among those known when compiling."""
    name = getattr(fn, "__name__", repr(fn))
    return error(
        "NotDifferentiable",
        f"the function {name} is called, which was not among those to choose from when the "
        "derivative was compiled",
    )
