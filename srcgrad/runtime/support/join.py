"""Helpers of the rules for functions that join arrays, cut them, or make them from lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.elementwise import match
from srcgrad.runtime.support.shape import Value, cast_like, places, scatter


def _like(parts: list[Any], arrays: Value) -> Value:
    """The parts as the kind of sequence `arrays` is: an array, a tuple or a list."""
    if isinstance(arrays, np.ndarray):
        return np.stack(parts)
    return tuple(parts) if isinstance(arrays, tuple) else parts


def _cut(ct: Any, arrays: Value, axis: int, widths: list[int]) -> Value:
    parts, start = [], 0
    for a, width in zip(arrays, widths, strict=True):
        index = [slice(None)] * ct.ndim
        index[axis] = slice(start, start + width)
        part = ct[tuple(index)]
        parts.append(match(np.reshape(part, np.shape(a))[()], a))
        start += width
    return _like(parts, arrays)


def concatenate_back(ct: Value, arrays: Value, axis: int | None) -> Value:
    """The cotangent of each array in `np.concatenate(arrays, axis)`.

    >>> concatenate_back(np.arange(3.0), [np.zeros(2), np.zeros(1)], 0)
    [array([0., 1.]), array([2.])]
    """
    if axis is None:
        return _cut(np.asarray(ct), arrays, 0, [np.size(a) for a in arrays])
    return _cut(np.asarray(ct), arrays, axis, [np.shape(a)[axis] for a in arrays])


def stack_back(ct: Value, arrays: Value, axis: int) -> Value:
    """The cotangent of each array in `np.stack(arrays, axis)`.

    >>> stack_back(np.eye(2), [np.zeros(2), np.zeros(2)], 0)
    [array([1., 0.]), array([0., 1.])]
    """
    parts = list(np.moveaxis(np.asarray(ct), axis, 0))
    return _like([match(p, a) for p, a in zip(parts, arrays, strict=True)], arrays)


def vstack_back(ct: Value, arrays: Value) -> Value:
    """The cotangent of each array in `np.vstack(arrays)`.

    >>> vstack_back(np.eye(2), [np.zeros(2), np.zeros((1, 2))])
    [array([1., 0.]), array([[0., 1.]])]
    """
    return _cut(np.asarray(ct), arrays, 0, [len(np.atleast_2d(a)) for a in arrays])


def hstack_back(ct: Value, arrays: Value) -> Value:
    """The cotangent of each array in `np.hstack(arrays)`.

    >>> hstack_back(np.arange(3.0), [np.zeros(2), 0.0])
    [array([0., 1.]), np.float64(2.0)]
    """
    axis = 0 if np.ndim(arrays[0]) <= 1 else 1
    return _cut(np.asarray(ct), arrays, axis, [np.atleast_1d(a).shape[axis] for a in arrays])


def dstack_back(ct: Value, arrays: Value) -> Value:
    """The cotangent of each array in `np.dstack(arrays)`.

    >>> dstack_back(np.zeros((1, 2, 2)), [np.zeros(2), np.zeros(2)])
    [array([0., 0.]), array([0., 0.])]
    """
    return _cut(np.asarray(ct), arrays, 2, [np.atleast_3d(a).shape[2] for a in arrays])


def column_stack_back(ct: Value, arrays: Value) -> Value:
    """The cotangent of each array in `np.column_stack(arrays)`.

    >>> column_stack_back(np.eye(2), [np.zeros(2), np.zeros(2)])
    [array([1., 0.]), array([0., 1.])]
    """
    widths = [np.shape(a)[1] if np.ndim(a) > 1 else 1 for a in arrays]
    return _cut(np.asarray(ct), arrays, 1, widths)


def _numbered(nested: Value, start: int) -> tuple[Value, int]:
    if isinstance(nested, (list, tuple)):
        out = []
        for item in nested:
            numbered, start = _numbered(item, start)
            out.append(numbered)
        return out, start
    return places(nested) + start, start + np.size(nested)


def _spread(flat: Any, nested: Value, start: int) -> tuple[Value, int]:
    if isinstance(nested, (list, tuple)):
        out = []
        for item in nested:
            part, start = _spread(flat, item, start)
            out.append(part)
        return (tuple(out) if isinstance(nested, tuple) else out), start
    end = start + np.size(nested)
    return match(np.reshape(flat[start:end], np.shape(nested))[()], nested), end


def block_back(ct: Value, arrays: Value) -> Value:
    """The cotangent of each block in `np.block(arrays)`, nested as `arrays` is.

    >>> block_back(np.arange(3.0), [np.zeros(2), 0.0])
    [array([0., 1.]), np.float64(2.0)]
    """
    numbers, size = _numbered(arrays, 0)
    flat = np.zeros(size, np.asarray(ct).dtype)
    flat[np.block(numbers).ravel()] = np.ravel(ct)
    return _spread(flat, arrays, 0)[0]


def array_back(ct: Value, obj: Value) -> Value:
    """The cotangent of what `np.array(obj)` was made from: nested as `obj` is.

    >>> array_back(np.eye(2), [[0.0, 0.0], np.zeros(2)])
    [[np.float64(1.0), np.float64(0.0)], array([0., 1.])]
    """
    if isinstance(obj, (list, tuple)):
        rows: Any = np.reshape(ct, (len(obj), -1)) if len(obj) else []
        parts = [array_back(row, item) for row, item in zip(rows, obj, strict=True)]
        return tuple(parts) if isinstance(obj, tuple) else parts
    return cast_like(np.reshape(ct, np.shape(obj))[()], obj)


def as_array(obj: Value, like: Value) -> Any:
    """A cotangent nested as what an array was made from, as an array shaped like `like`.

    >>> as_array([1.0, None], np.zeros(2))
    array([1., 0.])
    """
    return np.reshape(np.array(_without_none(obj)), np.shape(like))


def _without_none(obj: Value) -> Value:
    if isinstance(obj, (list, tuple)):
        items = [_without_none(item) for item in obj]
        like = next((i for i in items if i is not None), 0.0)
        return [np.zeros(np.shape(like)) if i is None else i for i in items]
    return obj


def split_back(ct: Value, ary: Value, sections: Any, axis: int) -> Any:
    """The cotangent of `ary` in `np.split(ary, sections, axis)`.

    >>> split_back([np.ones(1), None], np.zeros(3), [1], 0)
    array([1., 0., 0.])
    """
    given = [np.asarray(c).dtype for c in ct if c is not None]
    out = np.zeros(np.shape(ary), np.result_type(*given) if given else float)
    for view, part in zip(np.array_split(out, sections, axis), ct, strict=True):
        if part is not None:
            view += part  # the pieces may overlap: split(x, [3, 1])
    return out


def hsplit_axis(ary: Value) -> int:
    """The axis along which `np.hsplit(ary, ...)` cuts.

    >>> hsplit_axis(np.zeros(3)), hsplit_axis(np.zeros((2, 3)))
    (0, 1)
    """
    return 1 if np.ndim(ary) > 1 else 0


def insert_back(ct: Value, arr: Value, obj: Any, values: Value, axis: int | None) -> Any:
    """The cotangents of `arr` and `values` in `np.insert(arr, obj, values, axis)`.

    >>> insert_back(np.arange(3.0), np.zeros(2), 1, 5.0, None)
    (array([0., 2.]), np.float64(1.0))
    """
    new = -1 - places(values)
    source = np.insert(places(arr), obj, new, axis)
    ct, old = np.asarray(ct), source >= 0
    return (
        scatter(ct[old], source[old], np.shape(arr)),
        scatter(ct[~old], -1 - source[~old], np.shape(values))[()],
    )
