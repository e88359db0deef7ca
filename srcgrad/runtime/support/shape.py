"""Helpers of the rules for functions that move, repeat or join array elements.

Every helper takes Python numbers, NumPy scalars and arrays of any number of dimensions, and lists
of these where the function takes sequences: when types are unknown nothing narrower is promised.
A cotangent of a list of results may hold None for a result that nothing used.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error, zeros
from srcgrad.runtime.support.elementwise import match, unbroadcast

Value = Any  # a number, an array, or (nested) lists of them


def cast_like(x: Value, a: Value) -> Value:
    """x with the dtype of `a` where that is floating.

    >>> cast_like(np.ones(2), np.zeros(2, np.float32)).dtype
    dtype('float32')
    """
    x = match(x, a)
    dtype = np.asarray(a).dtype
    return np.asarray(x, dtype)[()] if dtype.kind in "fc" else x


def places(a: Value) -> np.ndarray:
    """The place of each element of `a`, in row-major order.

    >>> places(np.zeros((2, 2)))
    array([[0, 1],
           [2, 3]])
    """
    return np.arange(np.size(a)).reshape(np.shape(a))


def scatter(ct: Value, where: Any, shape: Any) -> Any:
    """An array of this shape in which each element of ct is added at the place `where` says.

    >>> scatter(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2]), (3,))
    array([1., 0., 5.])
    """
    ct, where = np.broadcast_arrays(np.asarray(ct), np.asarray(where))
    out = np.zeros(int(np.prod(shape)), ct.dtype)
    np.add.at(out, where.ravel(), ct.ravel())
    return out.reshape(shape)


def filled(parts: Value, like: Value) -> Value:
    """The parts, with zeros of the shape in `like` instead of each None, and of that shape.

    >>> filled([None, 1.0], [np.ones(2), 3.0])
    [array([0., 0.]), 1.0]
    """
    if parts is None:
        return _zeros(like)
    if isinstance(like, (list, tuple)):
        if not isinstance(parts, (list, tuple)):
            parts = list(parts) if np.ndim(parts) else [parts] * len(like)
        made = [filled(p, x) for p, x in zip(parts, like, strict=True)]
        return tuple(made) if isinstance(like, tuple) else made
    if np.asarray(like).dtype.kind == "O":  # a dict or an object, whose adjoint is one already
        return parts
    return np.broadcast_to(parts, np.shape(like)) if np.shape(parts) != np.shape(like) else parts


def _zeros(like: Value) -> Value:
    if isinstance(like, (list, tuple)):
        made = [_zeros(x) for x in like]
        return tuple(made) if isinstance(like, tuple) else made
    if like is None:  # it holds nothing that has a derivative
        return None
    a = np.asarray(like)
    if a.dtype.kind == "O":  # a dict or an object
        return zeros(like)
    return np.zeros(a.shape, a.dtype if a.dtype.kind in "fc" else float)[()]


def _order(a: Value, order: str) -> str:
    """What order="A" or "K" means for `a`; only layouts that are one of C and F are answered."""
    if order in ("C", "F"):
        return order
    flags = np.asarray(a).flags
    if order == "A":
        return "F" if flags.fnc else "C"
    if flags.c_contiguous:
        return "C"
    if flags.f_contiguous:
        return "F"
    raise error("MissingRule", 'order="K" of an array that is neither C- nor F-contiguous')


def reshape_as(x: Value, a: Value, shape: Any, order: str) -> Any:
    """x in this shape, in the order that `order` means for `a`.

    >>> reshape_as(np.arange(4), np.zeros((2, 2)), (2, 2), "F")
    array([[0, 2],
           [1, 3]])
    """
    return np.reshape(x, shape, order=_order(a, order))  # type: ignore[call-overload]


@lru_cache(maxsize=256)
def _outline(shape: tuple[int, ...], dtype: Any) -> Any:
    return np.ndarray(shape, dtype, bytes(dtype.itemsize), 0, (0,) * len(shape))


def outline(x: Any) -> Any:
    """A value with the shape and dtype of x that takes no memory, where nothing else is read.

    >>> outline(np.ones((2, 3))).shape, outline((1.5, "a"))
    ((2, 3), (1.5, 'a'))
    """
    if isinstance(x, np.ndarray):
        return x if x.dtype.hasobject else _outline(x.shape, x.dtype)
    if type(x) is tuple:
        return tuple(map(outline, x))
    return x


def reshape_back(ct: Value, a: Value, order: str) -> Any:
    """The cotangent of `a` in `np.reshape(a, shape, order)` and `np.ravel(a, order)`.

    >>> reshape_back(np.arange(4), np.zeros((2, 2)), "C")
    array([[0, 1],
           [2, 3]])
    """
    return np.reshape(ct, np.shape(a), order=_order(a, order))  # type: ignore[call-overload]


def transpose_back(ct: Value, axes: Any) -> Any:
    """The cotangent of `a` in `np.transpose(a, axes)`.

    >>> transpose_back(np.zeros((2, 3, 4)), (2, 0, 1)).shape
    (3, 4, 2)
    """
    if axes is None:
        return np.transpose(ct)
    return np.transpose(ct, np.argsort(np.asarray(axes) % max(np.ndim(ct), 1)))


def rollaxis_back(ct: Value, axis: int, start: int) -> Any:
    """The cotangent of `a` in `np.rollaxis(a, axis, start)`.

    >>> rollaxis_back(np.zeros((4, 2, 3)), 2, 0).shape
    (2, 3, 4)
    """
    n = np.ndim(ct)
    return np.transpose(ct, np.argsort(_rolled(n, axis, start)))


def _rolled(n: int, axis: int, start: int) -> list[int]:
    axis, start = axis % n, start + n if start < 0 else start
    order = [i for i in range(n) if i != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return order


def repeat_back(ct: Value, a: Value, repeats: Any, axis: int | None) -> Any:
    """The cotangent of `a` in `np.repeat(a, repeats, axis)`.

    >>> repeat_back(np.arange(6.0), np.zeros(3), 2, None)
    array([1., 5., 9.])
    """
    if axis is None:
        return scatter(ct, np.repeat(places(a), repeats), np.shape(a))
    return scatter(ct, np.repeat(places(a), repeats, axis), np.shape(a))


def tile_back(ct: Value, a: Value, reps: Any) -> Any:
    """The cotangent of `a` in `np.tile(a, reps)`.

    >>> tile_back(np.arange(6.0), np.zeros(2), 3)
    array([6., 9.])
    """
    reps = tuple(np.atleast_1d(reps))
    shape = np.shape(a)
    n = max(len(reps), len(shape))
    reps = (1,) * (n - len(reps)) + reps
    sizes = (1,) * (n - len(shape)) + shape
    both = [size for pair in zip(reps, sizes, strict=True) for size in pair]
    return np.reshape(ct, both).sum(axis=tuple(range(0, 2 * n, 2))).reshape(shape)[()]


def shaped_back(ct: Value, arrays: Value) -> Any:
    """The cotangents of the arguments of `np.atleast_1d(*arrays)` and its kin.

    >>> shaped_back(np.ones((1, 1)), (2.0,))
    (np.float64(1.0),)
    """
    parts = [ct] if len(arrays) == 1 else ct
    pairs = zip(parts, arrays, strict=True)
    return tuple(None if p is None else np.reshape(p, np.shape(a))[()] for p, a in pairs)


def shaped_dot(dots: Value, arrays: Value, like: Value) -> Any:
    """The tangents of the arguments of `np.atleast_1d(*arrays)` in the shapes of its results.

    >>> shaped_dot((2.0, None), (2.0, 3.0), (np.zeros(1), np.zeros(1)))
    (array([2.]), array([0.]))
    """
    dots = filled(dots, arrays)
    return tuple(np.reshape(d, np.shape(x)) for d, x in zip(dots, like, strict=True))


def broadcast_arrays_back(ct: Value, arrays: Value) -> Any:
    """The cotangents of the arguments of `np.broadcast_arrays(*arrays)`.

    >>> broadcast_arrays_back([np.ones(3), None], (2.0, np.zeros(3)))
    (np.float64(3.0), None)
    """
    return tuple(None if p is None else unbroadcast(p, a) for p, a in zip(ct, arrays, strict=True))


def broadcast_arrays_dot(dots: Value, arrays: Value, like: Value) -> Any:
    """The tangents of `np.broadcast_arrays(*arrays)`, whose results have the shapes in `like`.

    >>> broadcast_arrays_dot((1.0, None), (2.0, np.zeros(2)), (np.zeros(2), np.zeros(2)))
    (array([1., 1.]), array([0., 0.]))
    """
    dots = filled(dots, arrays)
    return tuple(np.broadcast_to(d, np.shape(x)) for d, x in zip(dots, like, strict=True))


def meshgrid_back(ct: Value, arrays: Value, indexing: str) -> Any:
    """The cotangents of the arguments of `np.meshgrid(*arrays)`.

    >>> meshgrid_back([np.ones((3, 2)), None], (np.zeros(2), np.zeros(3)), "xy")
    (array([3., 3.]), None)
    """
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = [1, 0]
    parts = []
    for part, axis, a in zip(ct, axes, arrays, strict=True):
        if part is not None:
            others = tuple(i for i in range(len(axes)) if i != axis)
            part = np.reshape(np.sum(part, axis=others), np.shape(a))
        parts.append(part)
    return tuple(parts)


def meshgrid_dot(dots: Value, arrays: Value, like: Value, indexing: str) -> Any:
    """The tangents of `np.meshgrid(*arrays)`, in the shapes (full or sparse) of `like`.

    >>> meshgrid_dot((np.ones(2), None), (np.zeros(2), np.zeros(1)), np.zeros((2, 1, 2)), "xy")
    [array([[1., 1.]]), array([[0., 0.]])]
    """
    sparse = np.size(like[0]) < np.prod([np.size(a) for a in arrays])
    grid: Any = np.meshgrid  # `indexing` is any string here
    return list(grid(*filled(dots, arrays), sparse=bool(sparse), indexing=indexing))


def diag_back(ct: Value, v: Value, k: int) -> Any:
    """The cotangent of `v` in `np.diag(v, k)`.

    >>> diag_back(np.ones(2), np.zeros((2, 2)), 0)
    array([[1., 0.],
           [0., 1.]])
    """
    if np.ndim(v) == 1:
        return np.diag(ct, k)
    return scatter(ct, np.diag(places(v), k), np.shape(v))


def trace_back(ct: Value, a: Value, offset: int, axis1: int, axis2: int) -> Any:
    """The cotangent of `a` in `np.trace(a, offset, axis1, axis2)`.

    >>> trace_back(2.0, np.zeros((2, 2)), 0, 0, 1)
    array([[2., 0.],
           [0., 2.]])
    """
    where = np.diagonal(places(a), offset, axis1, axis2)
    return scatter(np.asarray(ct)[..., None], where, np.shape(a))


def take_back(ct: Value, a: Value, indices: Any, axis: int | None, mode: str) -> Any:
    """The cotangent of `a` in `np.take(a, indices, axis, mode=mode)`.

    >>> take_back(np.array([1.0, 2.0]), np.zeros(3), [2, 2], None, "raise")
    array([0., 0., 3.])
    """
    where = np.take(places(a), indices, axis, mode=mode)  # type: ignore[call-overload]
    return scatter(ct, where, np.shape(a))


def fit(x: Value, a: Value) -> Any:
    """x cut or padded with zeros to the shape of `a`, and real if `a` is.

    >>> fit(np.ones(3), np.zeros(2)), fit(np.ones(1), np.zeros(2))
    (array([1., 1.]), array([1., 0.]))
    """
    x, shape = match(np.asarray(x), a), np.shape(a)
    x = x[tuple(slice(n) for n in shape)]
    if x.shape == shape:
        return x
    out = np.zeros(shape, x.dtype)
    out[tuple(slice(n) for n in x.shape)] = x
    return out
