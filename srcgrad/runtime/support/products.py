"""Helpers of the rules for products of arrays.

No helper conjugates: the gradient of a real function of z = x + iy is du/dx - i du/dy, so the
reverse of a product is the plain transpose, for complex numbers too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.elementwise import match, unbroadcast
from srcgrad.runtime.support.shape import Value, filled


def _columns(ct: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """ct, a, b of a matmul, with vectors made matrices of one row or one column."""
    ct, a, b = np.asarray(ct), np.asarray(a), np.asarray(b)
    if b.ndim == 1:
        ct, b = ct[..., None], b[:, None]
        if a.ndim == 1:
            return ct[None], a[None], b
    elif a.ndim == 1:
        return ct[..., None, :], a[None], b
    return ct, a, b


def matmul_back_a(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `a` in `a @ b`.

    >>> matmul_back_a(np.ones((2, 1)), np.zeros((2, 3)), np.ones((3, 1))).shape
    (2, 3)
    """
    c, x, y = _columns(ct, a, b)
    return unbroadcast(c @ np.swapaxes(y, -1, -2), x).reshape(np.shape(a))


def matmul_back_b(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `b` in `a @ b`.

    >>> matmul_back_b(np.ones((2, 1)), np.ones((2, 3)), np.zeros((3, 1))).shape
    (3, 1)
    """
    c, x, y = _columns(ct, a, b)
    return unbroadcast(np.swapaxes(x, -1, -2) @ c, y).reshape(np.shape(b))


def _axes(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The contracted axes of `a` and of `b`, as np.tensordot understands `axes`."""
    try:
        first, second = axes
    except TypeError:
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    return (
        [int(i) % a.ndim for i in np.atleast_1d(first)],
        [int(i) % b.ndim for i in np.atleast_1d(second)],
    )


def tensordot_back_a(ct: Value, a: Value, b: Value, axes: Any) -> Any:
    """The cotangent of `a` in `np.tensordot(a, b, axes)`.

    >>> tensordot_back_a(1.0, np.zeros((2, 3)), np.ones((2, 3)), 2).shape
    (2, 3)
    """
    x, y, ct = np.asarray(a), np.asarray(b), np.asarray(ct)
    first, second = _axes(x, y, axes)
    kept = [i for i in range(x.ndim) if i not in first]
    other = [i for i in range(y.ndim) if i not in second]
    out = np.tensordot(ct, y, (list(range(len(kept), ct.ndim)), other))
    order = kept + [first[i] for i in np.argsort(second)]
    return match(np.transpose(out, np.argsort(order)), a)


def tensordot_back_b(ct: Value, a: Value, b: Value, axes: Any) -> Any:
    """The cotangent of `b` in `np.tensordot(a, b, axes)`.

    >>> tensordot_back_b(1.0, np.ones((2, 3)), np.zeros((2, 3)), 2).shape
    (2, 3)
    """
    x, y, ct = np.asarray(a), np.asarray(b), np.asarray(ct)
    first, second = _axes(x, y, axes)
    kept = [i for i in range(x.ndim) if i not in first]
    other = [i for i in range(y.ndim) if i not in second]
    out = np.tensordot(x, ct, (kept, list(range(len(kept)))))
    order = [second[i] for i in np.argsort(first)] + other
    return match(np.transpose(out, np.argsort(order)), b)


def _dot_axes(a: Value, b: Value) -> tuple[list[int], list[int]]:
    return [np.ndim(a) - 1], [max(np.ndim(b) - 2, 0)]


def dot_back_a(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `a` in `np.dot(a, b)`.

    >>> dot_back_a(2.0, np.zeros(2), np.array([1.0, 3.0]))
    array([2., 6.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.multiply(ct, b), a)
    return tensordot_back_a(ct, a, b, _dot_axes(a, b))


def dot_back_b(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `b` in `np.dot(a, b)`.

    >>> dot_back_b(2.0, np.array([1.0, 3.0]), np.zeros(2))
    array([2., 6.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.multiply(ct, a), b)
    return tensordot_back_b(ct, a, b, _dot_axes(a, b))


def inner_back_a(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `a` in `np.inner(a, b)`.

    >>> inner_back_a(2.0, np.zeros(2), np.array([1.0, 3.0]))
    array([2., 6.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.multiply(ct, b), a)
    return tensordot_back_a(ct, a, b, ([-1], [-1]))


def inner_back_b(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `b` in `np.inner(a, b)`.

    >>> inner_back_b(2.0, np.array([1.0, 3.0]), np.zeros(2))
    array([2., 6.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.multiply(ct, a), b)
    return tensordot_back_b(ct, a, b, ([-1], [-1]))


def _kron_parts(ct: Any, a: Any, b: Any) -> tuple[Any, Any, Any, int]:
    a, b = np.asarray(a), np.asarray(b)
    n = max(a.ndim, b.ndim)
    a, b = a.reshape((1,) * (n - a.ndim) + a.shape), b.reshape((1,) * (n - b.ndim) + b.shape)
    both = [size for pair in zip(a.shape, b.shape, strict=True) for size in pair]
    return np.reshape(ct, both), a, b, n


def kron_back_a(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `a` in `np.kron(a, b)`.

    >>> kron_back_a(np.arange(4.0), np.zeros(2), np.ones(2))
    array([1., 5.])
    """
    c, _, y, n = _kron_parts(ct, a, b)
    out = np.tensordot(c, y, (list(range(1, 2 * n, 2)), list(range(n))))
    return match(out.reshape(np.shape(a))[()], a)


def kron_back_b(ct: Value, a: Value, b: Value) -> Any:
    """The cotangent of `b` in `np.kron(a, b)`.

    >>> kron_back_b(np.arange(4.0), np.ones(2), np.zeros(2))
    array([2., 4.])
    """
    c, x, _, n = _kron_parts(ct, a, b)
    out = np.tensordot(c, x, (list(range(0, 2 * n, 2)), list(range(n))))
    return match(out.reshape(np.shape(b))[()], b)


def _cross(x: Any, y: Any, like: Any, axis: int) -> Any:
    """x cross y, three-dimensional along the last axis, as the cotangent of `like`."""
    moved = np.moveaxis(np.asarray(like), axis, -1)
    full = np.cross(_in_space(x), _in_space(y))[..., : moved.shape[-1]]
    return np.moveaxis(unbroadcast(full, moved), -1, axis)


def _in_space(x: Any) -> Any:
    """Vectors of a plane as those of space that lie in it."""
    if x.shape[-1] == 3:
        return x
    return np.concatenate((x, np.zeros_like(x[..., :1])), axis=-1)


def _cross_cotangent(ct: Value, a: Any, b: Any, axisc: int) -> Any:
    """The cotangent of a cross product as vectors; that of two in a plane is upright."""
    if a.shape[-1] == b.shape[-1] == 2:
        upright = np.asarray(ct)[..., None]
        return np.concatenate((np.zeros_like(upright), np.zeros_like(upright), upright), axis=-1)
    return np.moveaxis(np.asarray(ct), axisc, -1)


def cross_back_a(
    ct: Value, a: Value, b: Value, axisa: int, axisb: int, axisc: int, axis: int | None
) -> Any:
    """The cotangent of `a` in `np.cross(a, b, axisa, axisb, axisc, axis)`.

    >>> cross_back_a(np.array([1.0, 0, 0]), np.zeros(3), np.array([0, 1.0, 0]), -1, -1, -1, None)
    array([ 0.,  0., -1.])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1)
    return _cross(y, _cross_cotangent(ct, x, y, axisc), a, axisa)


def cross_back_b(
    ct: Value, a: Value, b: Value, axisa: int, axisb: int, axisc: int, axis: int | None
) -> Any:
    """The cotangent of `b` in `np.cross(a, b, axisa, axisb, axisc, axis)`.

    >>> cross_back_b(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.zeros(3), -1, -1, -1, None)
    array([0., 0., 1.])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1)
    return _cross(_cross_cotangent(ct, x, y, axisc), x, b, axisb)


def multi_dot_back(ct: Value, arrays: Value) -> Any:
    """The cotangents of the arrays in `np.linalg.multi_dot(arrays)`.

    >>> multi_dot_back(1.0, [np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    [array([3., 4.]), array([1., 2.])]
    """
    n = len(arrays)
    tails = [arrays[n - 1]]
    for k in range(n - 2, 0, -1):
        tails.append(np.dot(arrays[k], tails[len(tails) - 1]))
    parts = []
    for k in range(n - 1):
        tail = tails.pop()
        parts.append(dot_back_a(ct, arrays[k], tail))
        ct = dot_back_b(ct, arrays[k], tail)
    parts.append(ct)
    return parts


def multi_dot_dot(dots: Value, arrays: Value) -> Any:
    """The tangent of `np.linalg.multi_dot(arrays)`.

    >>> multi_dot_dot([1.0, 0.0], [2.0, 3.0])
    np.float64(3.0)
    """
    dots = filled(dots, arrays)
    value = arrays[0]
    tangent = dots[0]
    for k in range(1, len(arrays)):
        tangent = np.dot(tangent, arrays[k]) + np.dot(value, dots[k])
        value = np.dot(value, arrays[k])
    return tangent


def matrix_power_back(ct: Value, a: Value, n: int) -> Any:
    """The cotangent of `a` in `np.linalg.matrix_power(a, n)`.

    >>> matrix_power_back(np.ones((1, 1)), np.array([[3.0]]), 2)
    array([[6.]])
    """
    if n < 0:
        inverse = np.swapaxes(np.linalg.inv(a), -1, -2)
        return -(inverse @ matrix_power_back(ct, np.linalg.inv(a), -n) @ inverse)
    transposed = np.swapaxes(a, -1, -2)
    total = np.zeros(np.shape(a), np.result_type(ct))
    power = ct
    for k in range(n):
        total = total @ transposed if k else total
        total = total + power
        power = transposed @ power
    return total


def matrix_power_dot(a_dot: Value, a: Value, n: int) -> Any:
    """The tangent of `np.linalg.matrix_power(a, n)`.

    >>> matrix_power_dot(np.ones((1, 1)), np.array([[3.0]]), 2)
    array([[6.]])
    """
    if n < 0:
        inverse = np.linalg.inv(a)
        inverse_dot = -(inverse @ a_dot @ inverse)
        return matrix_power_dot(inverse_dot, inverse, -n)
    total = np.zeros(np.shape(a), np.result_type(a_dot))
    power = a_dot
    for _k in range(n):
        total = total @ a + power
        power = a @ power
    return total
