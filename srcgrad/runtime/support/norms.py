"""Helpers of the rule for norms: 0 where the norm is 0, ties shared equally."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.elementwise import direction, safe_divide
from srcgrad.runtime.support.shape import Value


def norm_axes(x: Value, axis: Any) -> tuple[int, ...]:
    """The axes over which `np.linalg.norm(x, axis=axis)` goes.

    >>> norm_axes(np.zeros((2, 3)), -1)
    (1,)
    """
    n = np.ndim(x)
    if axis is None:
        return tuple(range(n))
    return tuple(int(i) % n for i in np.atleast_1d(axis))


def norm_kind(x: Value, order: Any, axis: Any) -> str:
    """Which formula the norm of this order follows.

    >>> norm_kind(np.zeros(2), None, None), norm_kind(np.zeros((2, 2)), 1, None)
    ('euclidean', 'columns')
    """
    n = len(norm_axes(x, axis))
    if order is None or order in ("f", "fro") or (n == 1 and order == 2):
        return "euclidean"
    if n == 1:
        plain = {np.inf: "largest", -np.inf: "smallest", 0: "count", 1: "sum"}
        return plain.get(order, "power")
    matrix = {"nuc": "nuclear", 2: "spectral", -2: "least", 1: "columns", -1: "columns"}
    return matrix.get(order, "rows")


def tie_shares(sizes: Value, top: Value, axes: Any) -> Any:
    """1 where sizes reach top, divided by how many do: ties share equally.

    >>> tie_shares(np.array([1.0, 2.0, 2.0]), 2.0, (0,))
    array([0. , 0.5, 0.5])
    """
    hits = np.equal(sizes, top).astype(np.asarray(sizes).dtype)
    return hits / np.maximum(hits.sum(axis=axes, keepdims=True), 1)


def norm_slope(out: Value, x: Value, order: Any, axis: Any) -> Any:
    """The gradient of out = `np.linalg.norm(x, order, axis, keepdims=True)`.

    >>> norm_slope(np.array([5.0]), np.array([3.0, 4.0]), None, None)
    array([0.6, 0.8])
    """
    axes = norm_axes(x, axis)
    kind = norm_kind(x, order, axis)
    if kind == "euclidean":
        return safe_divide(np.conj(x), out)
    if kind == "sum":
        return direction(x)
    if kind == "largest" or kind == "smallest":
        return direction(x) * tie_shares(np.abs(x), out, axes)
    if kind == "count":
        return 0.0 * np.abs(x)
    if kind == "power":
        ratio = safe_divide(np.abs(x), out)
        return direction(x) * np.where(ratio == 0.0, 1.0, ratio) ** (order - 1.0)
    if kind == "columns" or kind == "rows":
        return direction(x) * line_shares(x, order, axes)
    return singular_slope(x, kind, axes)


def line_shares(x: Value, order: Any, axes: Any) -> Any:
    """For the matrix norms 1, -1, inf, -inf: the lines (columns or rows) that attain the norm.

    >>> line_shares(np.array([[1.0, 2.0], [1.0, 2.0]]), 1, (0, 1))
    array([[0., 1.]])
    """
    along, across = (axes[0], axes[1]) if abs(order) == 1 else (axes[1], axes[0])
    sums = np.sum(np.abs(x), axis=along, keepdims=True)
    pick = np.max if order > 0 else np.min
    return tie_shares(sums, pick(sums, axis=across, keepdims=True), across)


def singular_slope(x: Value, kind: str, axes: Any) -> Any:
    """The gradient of a matrix norm made of singular values.

    >>> singular_slope(np.diag([2.0, 1.0]), "spectral", (0, 1)).round(12)
    array([[1., 0.],
           [0., 0.]])
    """
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), False)
    slope = np.conj((u * singular_shares(s, kind)[..., None, :]) @ vh)
    return np.moveaxis(slope, (-2, -1), axes)


def singular_shares(s: Value, kind: str) -> Any:
    """How much each singular value counts in a norm made of them.

    >>> singular_shares(np.array([2.0, 1.0]), "nuclear")
    array([1., 1.])
    """
    if kind == "nuclear":
        return (s > 0).astype(s.dtype)
    top = np.max(s, -1, keepdims=True) if kind == "spectral" else np.min(s, -1, keepdims=True)
    return tie_shares(s, top, -1)


def norm_back(ct: Value, out: Value, x: Value, order: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent of x in out = `np.linalg.norm(x, order, axis, keepdims)`.

    >>> norm_back(5.0, 5.0, np.array([3.0, 4.0]), None, None, False)
    array([3., 4.])
    """
    if keepdims:
        return ct * norm_slope(out, x, order, axis)
    axes = norm_axes(x, axis)
    return np.expand_dims(ct, axes) * norm_slope(np.expand_dims(out, axes), x, order, axis)


def norm_dot(x_dot: Value, out: Value, x: Value, order: Any, axis: Any, keepdims: bool) -> Any:
    """The tangent of out = `np.linalg.norm(x, order, axis, keepdims)`.

    >>> norm_dot(np.array([1.0, 0.0]), 5.0, np.array([3.0, 4.0]), None, None, False)
    np.float64(0.6)
    """
    axes = norm_axes(x, axis)
    if keepdims:
        slope = norm_slope(out, x, order, axis)
    else:
        slope = norm_slope(np.expand_dims(out, axes), x, order, axis)
    return np.real(np.sum(x_dot * slope, axis=axes, keepdims=keepdims))


def vector_norm_back(ct: Value, out: Value, x: Value, order: Any, axis: Any, keep: bool) -> Any:
    """The cotangent of x in out = `np.linalg.vector_norm(x, ord=order, axis=axis)`.

    >>> vector_norm_back(5.0, 5.0, np.array([[3.0, 4.0]]), 2, None, False)
    array([[3., 4.]])
    """
    if axis is not None and np.ndim(axis) == 0:
        return norm_back(ct, out, x, order, axis, keep)
    axes = norm_axes(x, axis)
    if not keep:
        ct = np.expand_dims(ct, axes)
        out = np.expand_dims(out, axes)
    moved = lines(x, axes)
    slope = norm_slope(lines(out, axes), moved, order, -1)
    return ct * unlines(slope, x, axes)


def vector_norm_dot(x_dot: Value, out: Value, x: Value, order: Any, axis: Any, keep: bool) -> Any:
    """The tangent of out = `np.linalg.vector_norm(x, ord=order, axis=axis)`.

    >>> vector_norm_dot(np.ones((1, 2)), 5.0, np.array([[3.0, 4.0]]), 2, None, False)
    np.float64(1.4)
    """
    if axis is not None and np.ndim(axis) == 0:
        return norm_dot(x_dot, out, x, order, axis, keep)
    axes = norm_axes(x, axis)
    if not keep:
        out = np.expand_dims(out, axes)
    moved = lines(x, axes)
    slope = norm_slope(lines(out, axes), moved, order, -1)
    return np.real(np.sum(x_dot * unlines(slope, x, axes), axis=axes, keepdims=keep))


def lines(x: Value, axes: Any) -> Any:
    """x with these axes last and merged into one.

    >>> lines(np.zeros((2, 3, 4)), (0, 2)).shape
    (3, 8)
    """
    rest = tuple(i for i in range(np.ndim(x)) if i not in axes)
    moved = np.transpose(x, rest + tuple(axes))
    return np.reshape(moved, (*moved.shape[: len(rest)], -1))


def unlines(y: Value, x: Value, axes: Any) -> Any:
    """The inverse of `lines(x, axes)`, applied to y.

    >>> unlines(np.zeros((3, 8)), np.zeros((2, 3, 4)), (0, 2)).shape
    (2, 3, 4)
    """
    order = tuple(i for i in range(np.ndim(x)) if i not in axes) + tuple(axes)
    return np.transpose(np.reshape(y, [np.shape(x)[i] for i in order]), np.argsort(order))
