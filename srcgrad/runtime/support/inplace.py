"""Helpers of library functions that write into arrays: which elements, and what is put there."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error, own
from srcgrad.runtime.support.elementwise import unbroadcast
from srcgrad.runtime.support.shape import places

Index = tuple[np.ndarray, ...]

# ---- which elements ------------------------------------------------------------------------


def choice_index(a: Any, count: int, mode: str = "raise") -> Any:
    """Which of so many arrays `np.choose(a, arrays, mode=mode)` takes each element of.

    >>> choice_index(np.array([0, 5, -1]), 2, "clip")
    array([0, 1, 0])
    """
    which = np.asarray(a)
    if which.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {which.dtype!r} to dtype('int64')")
    which = which.astype(int)
    if mode == "raise":
        if np.any((which < 0) | (which >= count)):
            raise ValueError("invalid entry in choice array")
        return which
    return which % count if mode == "wrap" else np.clip(which, 0, count - 1)


def flat_index(a: np.ndarray, ind: Any, mode: str = "raise") -> Index:
    """The index arrays of the elements that `np.put(a, ind, ...)` writes.

    >>> flat_index(np.zeros((2, 2)), [-1, 2])
    (array([1, 1]), array([1, 0]))
    """
    where, size = np.asarray(ind).ravel(), np.size(a)
    if mode == "raise":
        where = np.arange(size)[where]
    elif mode == "wrap":
        where = where % size
    else:
        where = np.clip(where, 0, size - 1)
    return tuple(np.unravel_index(where, np.shape(a)))


def flat_place(a: np.ndarray, key: Any) -> tuple[Any, ...]:
    """The indices of the elements that `a.flat[key]` names.

    >>> flat_place(np.zeros((2, 2)), slice(1, 3))
    (array([0, 1]), array([1, 0]))
    """
    if not isinstance(a, np.ndarray):
        raise error("UnsupportedSyntax", "the attribute flat of something that is not an array")
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    return tuple(np.unravel_index(np.arange(a.size)[key], a.shape))


def mask_index(a: np.ndarray, mask: Any) -> Index:
    """The index arrays of the elements that `np.place(a, mask, ...)` writes.

    >>> mask_index(np.zeros((2, 2)), [[True, False], [False, True]])
    (array([0, 1]), array([0, 1]))
    """
    return np.nonzero(np.reshape(np.asarray(mask, bool), np.shape(a)))


def diagonal_index(a: np.ndarray, wrap: bool = False) -> Index:
    """The index arrays of the elements that `np.fill_diagonal(a, ...)` writes.

    >>> diagonal_index(np.zeros((3, 2)))
    (array([0, 1]), array([0, 1]))
    """
    shape = np.shape(a)
    if len(shape) != 2:
        k = np.arange(shape[0])
        return (k,) * len(shape)
    step = shape[1] + 1
    stop = np.size(a) if wrap else min(np.size(a), shape[1] * shape[1])
    return tuple(np.unravel_index(np.arange(0, stop, step), shape))


def along_axis_index(a: np.ndarray, indices: Any, axis: int | None) -> Index:
    """The index arrays of the elements that `np.put_along_axis(a, indices, ...)` writes.

    >>> along_axis_index(np.zeros((2, 3)), np.array([[2], [0]]), 1)
    (array([[0],
           [1]]), array([[2],
           [0]]))
    """
    indices = np.asarray(indices)
    if axis is None:
        return flat_index(a, indices)
    ndim = np.ndim(a)
    axis %= ndim
    out = []
    for k, n in enumerate(np.shape(a)):
        around = (1,) * k + (-1,) + (1,) * (ndim - 1 - k)
        out.append(indices if k == axis else np.arange(n).reshape(around))
    return tuple(out)


def distinct_index(key: Any, a: np.ndarray) -> Any:
    """The index itself, if it names no element of `a` twice.

    >>> distinct_index([0, 2], np.zeros(3))
    [0, 2]
    """
    named = places(a)[key]
    if np.unique(named).size != np.size(named):
        raise error(
            "UnsupportedSyntax",
            "a ufunc's .at with an index that names an element twice: only np.add.at, "
            "np.subtract.at, np.maximum.at and np.minimum.at are differentiated then",
        )
    return key


# ---- what is put there -----------------------------------------------------------------------


def cycled(values: Any, index: Index) -> Any:
    """The values, repeated or cut to the number of elements of an index.

    >>> cycled([1.0, 2.0], (np.arange(3),))
    array([1., 2., 1.])
    """
    return _resized(values, np.broadcast(*index).shape)


def cycled_like(values: Any, a: np.ndarray) -> Any:
    """The values, repeated or cut to the shape of `a`.

    >>> cycled_like([1.0, 2.0], np.zeros(3))
    array([1., 2., 1.])
    """
    return _resized(values, np.shape(a))


def _resized(values: Any, shape: tuple[int, ...]) -> Any:
    if np.ndim(values) and not np.size(values):  # NumPy then leaves the array as it is
        raise error(
            "UnsupportedSyntax",
            "no values at all are put into an array in differentiated code: test for it with `if`",
        )
    return np.resize(values, shape) if np.ndim(values) else values


def sorted_array(a: Any, axis: int = -1) -> np.ndarray:
    """`np.sort`, for what `a.sort()` sorts in place.

    >>> sorted_array(np.array([3.0, 1.0]))
    array([1., 3.])
    """
    if not isinstance(a, np.ndarray):
        raise error(
            "UnsupportedSyntax",
            "a list is sorted in place in differentiated code: use sorted(...) or an array",
        )
    return np.sort(a, axis)


def maximum_at(a: np.ndarray, key: Any, b: Any) -> np.ndarray:
    """A copy of `a` after `np.maximum.at(a, key, b)`.

    >>> maximum_at(np.zeros(3), [0, 0, 2], [1.0, 2.0, -1.0])
    array([2., 0., 0.])
    """
    out = np.array(a)
    np.maximum.at(out, key, b)
    return out


def minimum_at(a: np.ndarray, key: Any, b: Any) -> np.ndarray:
    """A copy of `a` after `np.minimum.at(a, key, b)`.

    >>> minimum_at(np.zeros(3), [0, 0, 2], [1.0, -2.0, -1.0])
    array([-2.,  0., -1.])
    """
    out = np.array(a)
    np.minimum.at(out, key, b)
    return out


def added_at(a: np.ndarray, key: Any, b: Any) -> np.ndarray:
    """Zeros of the shape of `a` after `np.add.at(zeros, key, b)`.

    >>> added_at(np.ones(3), [0, 0, 2], 1.5)
    array([3. , 0. , 1.5])
    """
    out = np.zeros(np.shape(a), np.result_type(b, 0.0))
    np.add.at(out, key, b)
    return out


def winners(a: np.ndarray, key: Any, b: Any, out: np.ndarray) -> np.ndarray:
    """How many of an element and the values meant for it are the extreme: ties share.

    >>> winners(np.zeros(2), [0, 0], [1.0, 1.0], np.array([1.0, 0.0]))
    array([2., 1.])
    """
    count = np.asarray(a == out, np.asarray(out).real.dtype)
    np.add.at(count, key, b == out[key])
    return count


def item_added_back(a_bar: Any, key: Any, ct: Any) -> Any:
    """The cotangent of ct in `item_add(a, key, ct)`.

    >>> float(item_added_back(np.array([1.0, 2.0, 3.0]), slice(0, 2), 0.5))
    3.0
    """
    if ct is None or a_bar is None:
        return None
    if isinstance(a_bar, np.ndarray):
        return unbroadcast(np.array(a_bar[key])[()], ct)
    return own(a_bar[key])


def parts_of(x: Any) -> Any:
    """A copy of all that a container holds, for `put_parts`."""
    return own(x)


def put_parts(x: Any, kept: Any) -> Any:
    """Restore arrays and numbers inside a container to what `parts_of` copied."""
    if isinstance(x, np.ndarray):
        x[...] = kept
        return x
    if isinstance(x, list | dict):
        for k in range(len(x)) if isinstance(x, list) else x:
            x[k] = put_parts(x[k], kept[k])
        return x
    return kept
