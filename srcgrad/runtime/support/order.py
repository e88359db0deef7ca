"""Helpers of the rules for functions that order elements: sort, partition, unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.shape import Value, scatter


def _runs(values: Any, ct: Any) -> Any:
    """ct averaged over each run of equal values along the last axis: ties share equally."""
    if values.shape[-1] < 2 or not np.any(values[..., 1:] == values[..., :-1]):
        return ct
    first = np.ones(values.shape, bool)
    first[..., 1:] = values[..., 1:] != values[..., :-1]
    label = np.cumsum(first.ravel()) - 1
    total = np.zeros(label[-1] + 1, ct.dtype)
    np.add.at(total, label, ct.ravel())
    mean = total / np.bincount(label).astype(ct.real.dtype)
    return mean[label].reshape(ct.shape)


def _along(a: Value, axis: int | None) -> Any:
    return np.ravel(a) if axis is None else np.moveaxis(np.asarray(a), axis, -1)


def sort_back(ct: Value, a: Value, out: Value, axis: int | None) -> Any:
    """The cotangent of `a` in out = `np.sort(a, axis)` or `np.partition`; ties share equally.

    >>> sort_back(np.array([1.0, 2.0]), np.array([7.0, 3.0]), np.array([3.0, 7.0]), -1)
    array([2., 1.])
    """
    c, x, y = (_along(v, axis) for v in (ct, a, out))
    to, given = np.argsort(x, -1, "stable"), np.argsort(y, -1, "stable")
    c = _runs(np.take_along_axis(x, to, -1), np.take_along_axis(c, given, -1))
    back = np.empty(x.shape, c.dtype)
    np.put_along_axis(back, to, c, -1)
    return back.reshape(np.shape(a)) if axis is None else np.moveaxis(back, -1, axis)


def sort_dot(a_dot: Value, a: Value, out: Value, axis: int | None) -> Any:
    """The tangent of out = `np.sort(a, axis)` or `np.partition`; ties share equally.

    >>> sort_dot(np.array([1.0, 2.0]), np.array([7.0, 3.0]), np.array([3.0, 7.0]), -1)
    array([2., 1.])
    """
    d, x, y = (_along(v, axis) for v in (a_dot, a, out))
    given, to = np.argsort(x, -1, "stable"), np.argsort(y, -1, "stable")
    d = _runs(np.take_along_axis(x, given, -1), np.take_along_axis(d, given, -1))
    moved = np.empty(y.shape, d.dtype)
    np.put_along_axis(moved, to, d, -1)
    return moved if axis is None else np.moveaxis(moved, -1, axis)


def unique_back(ct: Value, ar: Value) -> Any:
    """The cotangent of `ar` in `np.unique(ar)`; equal elements share equally.

    >>> unique_back(np.array([1.0, 2.0]), np.array([5.0, 3.0, 5.0]))
    array([1., 1., 1.])
    """
    _, inverse, counts = np.unique(ar, return_inverse=True, return_counts=True)
    share = np.asarray(ct) / counts.astype(np.asarray(ct).real.dtype)
    return share[inverse.ravel()].reshape(np.shape(ar))


def unique_dot(ar_dot: Value, ar: Value) -> Any:
    """The tangent of `np.unique(ar)`; equal elements share equally.

    >>> unique_dot(np.array([1.0, 2.0, 3.0]), np.array([5.0, 3.0, 5.0]))
    array([2., 2.])
    """
    _, inverse, counts = np.unique(ar, return_inverse=True, return_counts=True)
    total = scatter(np.ravel(ar_dot), inverse.ravel(), counts.shape)
    return total / counts.astype(total.real.dtype)
