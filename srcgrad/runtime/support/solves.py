"""Helpers of the rules for lstsq, tensorsolve and tensorinv."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.support.linalg import adjoint, main_diagonal
from srcgrad.runtime.support.shape import Value, filled


def cutoff(a: Value, rcond: Any) -> float:
    """The relative size below which `np.linalg.lstsq(a, b, rcond)` takes singular values as zero.

    >>> cutoff(np.eye(2), 0.1)
    0.1
    """
    eps = float(np.finfo(np.asarray(a).dtype).eps)
    if rcond is None:
        return eps * float(max(np.shape(a)))
    if rcond == "warn" or rcond < 0:  # the first is the default of NumPy 1
        return eps
    return float(rcond)


def lstsq_back(gx: Value, gr: Value, gs: Value, x: Value, a: Value, b: Value, rcond: Any) -> Any:
    """The cotangents of `a` and `b` in x, residuals, rank, s = `np.linalg.lstsq(a, b, rcond)`.

    >>> one = np.eye(1)
    >>> lstsq_back(np.ones(1), None, None, np.ones(1), 2.0 * one, np.array([2.0]), None)
    (array([[-0.5]]), array([0.5]))
    """
    if np.ndim(b) == 1:
        column = None if gx is None else gx[:, None]
        back = lstsq_columns(column, gr, gs, x[:, None], a, b[:, None], rcond)
        return back[0], back[1][:, 0]
    return lstsq_columns(gx, gr, gs, x, a, b, rcond)


def lstsq_columns(
    gx: Value, gr: Value, gs: Value, x: Value, a: Value, b: Value, rcond: Any
) -> Any:
    """`lstsq_back` for right-hand sides that are the columns of a matrix.

    >>> one = np.eye(1)
    >>> lstsq_columns(one, None, None, one, 2.0 * one, 2.0 * one, None)
    (array([[-0.5]]), array([[0.5]]))
    """
    p = np.linalg.pinv(a, cutoff(a, rcond))
    ph = adjoint(p)
    r = b - a @ x
    g = np.conj(filled(gx, x))
    gb = ph @ g
    ga = r @ adjoint(p @ gb) - gb @ adjoint(x)
    ga = ga + (ph @ x) @ adjoint(g - p @ (a @ g))
    if gr is not None and np.size(gr) > 0:
        slope = 2.0 * r * gr
        gb = gb + slope
        ga = ga - slope @ adjoint(x)
    if gs is not None:
        u, _, vh = np.linalg.svd(a, False)
        ga = ga + (u * gs) @ vh
    return np.conj(ga), np.conj(gb)


def lstsq_dot(a_dot: Value, b_dot: Value, out: Value, a: Value, b: Value, rcond: Any) -> Any:
    """The tangents of x, residuals, rank, s = out = `np.linalg.lstsq(a, b, rcond)`.

    >>> out = np.linalg.lstsq(np.eye(1), np.ones(1), rcond=None)
    >>> lstsq_dot(np.eye(1), np.zeros(1), out, np.eye(1), np.ones(1), None)[0]
    array([-1.])
    """
    x = out[0]
    p = np.linalg.pinv(a, cutoff(a, rcond))
    dh = adjoint(a_dot)
    r = b - a @ x
    change = b_dot - a_dot @ x
    x_dot = p @ change + p @ (adjoint(p) @ (dh @ r))
    y = dh @ (adjoint(p) @ x)
    x_dot = x_dot + y - p @ (a @ y)
    r_dot = 0.0 * out[1]
    if np.size(out[1]) > 0:
        r_dot = np.reshape(2.0 * np.real(np.sum(np.conj(r) * change, 0)), np.shape(out[1]))
    u, _, vh = np.linalg.svd(a, False)
    s_dot = np.real(main_diagonal(adjoint(u) @ a_dot @ adjoint(vh)))
    return x_dot, r_dot, None, s_dot


def tensorsolve_back(ct: Value, out: Value, a: Value, b: Value, axes: Any) -> Any:
    """The cotangents of `a` and `b` in out = `np.linalg.tensorsolve(a, b, axes)`.

    >>> tensorsolve_back(np.ones(1), np.ones(1), 2.0 * np.eye(1), np.full(1, 2.0), None)
    (array([[-0.5]]), array([0.5]))
    """
    order = solve_order(a, axes)
    moved = np.transpose(a, order)
    matrix = np.reshape(moved, (np.size(b), np.size(b)))
    y = np.linalg.solve(np.transpose(matrix), np.ravel(ct))
    ga = np.reshape(-np.outer(y, np.ravel(out)), np.shape(moved))
    return np.transpose(ga, np.argsort(order)), np.reshape(y, np.shape(b))


def solve_order(a: Value, axes: Any) -> Any:
    """The order of the axes of `a` in which `np.linalg.tensorsolve` reads it.

    >>> solve_order(np.zeros((2, 3, 6)), (0,))
    (1, 2, 0)
    """
    moved = () if axes is None else tuple(int(k) % np.ndim(a) for k in axes)
    return tuple(k for k in range(np.ndim(a)) if k not in moved) + moved


def tensorsolve_dot(a_dot: Value, b_dot: Value, out: Value, a: Value, b: Value, axes: Any) -> Any:
    """The tangent of out = `np.linalg.tensorsolve(a, b, axes)`.

    >>> tensorsolve_dot(np.eye(1), np.zeros(1), np.ones(1), np.eye(1), np.ones(1), None)
    array([-1.])
    """
    moved = np.transpose(a_dot, solve_order(a, axes))
    matrix = np.reshape(moved, (np.size(b), np.size(b)))
    change = np.reshape(matrix @ np.ravel(out), np.shape(b))
    return np.linalg.tensorsolve(a, b_dot - change, axes)


def side(a: Value) -> int:
    """The number of rows of the square matrix that `np.linalg.tensorinv` makes of `a`.

    >>> side(np.zeros((2, 3, 6)))
    6
    """
    return math.isqrt(np.size(a))


def tensorinv_back(ct: Value, out: Value, a: Value, ind: int) -> Any:
    """The cotangent of `a` in out = `np.linalg.tensorinv(a, ind)`.

    >>> tensorinv_back(np.eye(1), np.eye(1), np.eye(1), 1)
    array([[-1.]])
    """
    n = side(a)
    inverse = np.transpose(np.reshape(out, (n, n)))
    return np.reshape(-(inverse @ np.reshape(ct, (n, n)) @ inverse), np.shape(a))


def tensorinv_dot(a_dot: Value, out: Value, ind: int) -> Any:
    """The tangent of out = `np.linalg.tensorinv(a, ind)`.

    >>> tensorinv_dot(np.eye(1), np.eye(1), 1)
    array([[-1.]])
    """
    n = side(out)
    inverse = np.reshape(out, (n, n))
    return np.reshape(-(inverse @ np.reshape(a_dot, (n, n)) @ inverse), np.shape(out))
