"""Helpers of the rules for eigh and eig, and what they share with svd and qr.

Terms that the function leaves undetermined (rotations within a repeated eigenvalue or singular
value, phases) are taken as zero: functions that do not depend on them get their right derivative.
A cotangent is None where the result was not used.  As in `linalg`, cotangents are plain
gradients, and the formulas stand between two conjugations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.elementwise import match, safe_divide
from srcgrad.runtime.support.linalg import (
    adjoint,
    diagonal_matrix,
    inverse_gaps,
    main_diagonal,
    symmetric,
)
from srcgrad.runtime.support.shape import Value, filled


def _repeated(w: Any) -> Any:
    """Which pairs of different places hold values that are equal to rounding."""
    n = np.shape(w)[-1]
    return (inverse_gaps(w) == 0) & ~np.eye(n, dtype=bool)


def repeated_terms(gw: Value, turn: Value, w: Value) -> Any:
    """What the cotangents say of the directions that mix eigenvectors of repeated eigenvalues.

    The eigenvectors have no derivative there, but a matrix function v f(w) v^H has one, and its
    cotangents determine it: gw is f'(w) times what the diagonal of v^H gv is to f(w).  Where that
    does not explain them the terms are zero, with a warning unless they do not matter.

    >>> repeated_terms(np.array([3.0, 3.0]), np.array([[2.0, 4.0], [4.0, 2.0]]), np.ones(2))
    array([[0., 6.],
           [6., 0.]])
    """
    pair = _repeated(w)
    if not pair.any():
        return np.zeros(turn.shape, turn.dtype)
    mixed = np.where(pair, symmetric(turn), 0)
    slope = safe_divide(gw, np.real(main_diagonal(turn)))
    both = slope[..., :, None] + 0 * slope[..., None, :]
    small = 1e-6 * (np.abs(both) + np.abs(np.swapaxes(both, -1, -2)))
    agree = np.abs(both - np.swapaxes(both, -1, -2)) <= small
    weight = np.max(np.abs(turn), (-2, -1), keepdims=True)
    lost = pair & ~agree & (np.abs(mixed) > 1e-10 * weight)
    if lost.any() and np.any(gw):
        _warn("the cotangents do not determine the gradient")
    return np.where(agree, both * mixed, 0).astype(turn.dtype)


def _warn(what: str) -> None:
    import warnings

    warnings.warn(
        f"eigenvalues or singular values are equal: {what}", RuntimeWarning, stacklevel=4
    )


def determined(x: Value, w: Value) -> Any:
    """x without the terms that mix eigenvectors of repeated eigenvalues; warns if there are any.

    >>> determined(np.eye(2), np.ones(2))
    array([[1., 0.],
           [0., 1.]])
    """
    pair = _repeated(w)
    if pair.any():
        size = np.max(np.abs(x), (-2, -1), keepdims=True)
        if np.any(pair & (np.abs(x) > 1e-10 * size)):
            _warn("the tangent of the vectors is not determined")
    return distinct(x, w)


def distinct(x: Value, w: Value) -> Any:
    """x with zeros for the pairs of places that hold equal values.

    >>> distinct(np.ones((2, 2)), np.ones(2))
    array([[1., 0.],
           [0., 1.]])
    """
    pair = _repeated(w)
    return np.where(pair, np.zeros_like(x), x) if pair.any() else x


def inverse_sums(s: Value) -> Any:
    """1 / (s_j + s_i) for each pair of different places, and 0 where both are 0.

    >>> inverse_sums(np.array([3.0, 1.0]))
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    total = s[..., None, :] + s[..., :, None]
    return safe_divide(1.0 - np.eye(s.shape[-1], dtype=s.dtype), total)


def eigvalsh_back(ct: Value, a: Value, uplo: Any) -> Any:
    """The cotangent of the symmetric `a` in `np.linalg.eigvalsh(a)`.

    >>> eigvalsh_back(np.array([1.0, 0.0]), np.diag([1.0, 2.0]), "L")
    array([[1., 0.],
           [0., 0.]])
    """
    v = np.linalg.eigh(a, uplo)[1]
    return (np.conj(v) * ct[..., None, :]) @ np.swapaxes(v, -1, -2)


def eigvalsh_dot(a_dot: Value, a: Value, uplo: Any) -> Any:
    """The tangent of `np.linalg.eigvalsh(a)` for a symmetric `a`.

    >>> eigvalsh_dot(np.eye(2), np.diag([1.0, 2.0]), "L")
    array([1., 1.])
    """
    v = np.linalg.eigh(a, uplo)[1]
    return np.real(main_diagonal(adjoint(v) @ symmetric(a_dot) @ v))


def eigh_back(gw: Value, gv: Value, w: Value, v: Value) -> Any:
    """The cotangent of the symmetric `a` in w, v = `np.linalg.eigh(a)`.

    >>> eigh_back(np.array([1.0, 0.0]), None, np.array([1.0, 2.0]), np.eye(2))
    array([[1., 0.],
           [0., 0.]])
    """
    gw = filled(gw, w)
    inner = diagonal_matrix(gw, w.shape[-1], w.shape[-1])
    if gv is not None:
        turn = adjoint(v) @ np.conj(gv)
        inner = inner + inverse_gaps(w) * turn + repeated_terms(gw, turn, w)
    return np.conj(symmetric(v @ inner @ adjoint(v)))


def eigh_dot(a_dot: Value, w: Value, v: Value) -> Any:
    """The tangents of w, v = `np.linalg.eigh(a)` for a symmetric `a`.

    >>> eigh_dot(np.eye(2), np.array([1.0, 2.0]), np.eye(2))[0]
    array([1., 1.])
    """
    inner = adjoint(v) @ symmetric(a_dot) @ v
    return np.real(main_diagonal(inner)), v @ (inverse_gaps(w) * determined(inner, w))


def largest(v: Value) -> Any:
    """Ones where each column of v has its largest element: LAPACK makes that element real.

    >>> largest(np.array([[1.0, 0.0], [2.0, 3.0]]))
    array([[0., 0.],
           [1., 1.]])
    """
    size = np.abs(v)
    row = np.arange(np.shape(v)[-2])[:, None] == np.argmax(size, -2)[..., None, :]
    return row.astype(size.dtype)


def eig_back(gw: Value, gv: Value, w: Value, v: Value, a: Value) -> Any:
    """The cotangent of `a` in w, v = `np.linalg.eig(a)`.

    >>> eig_back(np.array([1.0, 0.0]), None, np.array([1.0, 2.0]), np.eye(2), np.eye(2))
    array([[1., 0.],
           [0., 0.]])
    """
    n = w.shape[-1]
    inner = diagonal_matrix(np.conj(filled(gw, w)), n, n)
    if gv is not None:
        g = np.conj(gv)
        along = np.sum(np.conj(g) * v, -2)
        u = g - v * np.real(along)[..., None, :]
        if np.iscomplexobj(v):
            top = largest(v)
            turn = safe_divide(np.imag(along), np.sum(top * np.real(v), -2))
            u = u + 1j * top * turn[..., None, :]
        inner = inner + np.conj(inverse_gaps(w)) * (adjoint(v) @ u)
    back = np.linalg.solve(adjoint(v), inner @ adjoint(v))
    return match(np.conj(back), a)


def eig_dot(a_dot: Value, w: Value, v: Value) -> Any:
    """The tangents of w, v = `np.linalg.eig(a)`.

    >>> eig_dot(np.eye(2), np.array([1.0, 2.0]), np.eye(2))[0]
    array([1., 1.])
    """
    inner = np.linalg.solve(v, a_dot @ v)
    u = v @ (inverse_gaps(w) * inner)
    v_dot = u - v * np.real(np.sum(np.conj(v) * u, -2))[..., None, :]
    if np.iscomplexobj(v):
        top = largest(v)
        turn = safe_divide(np.sum(top * np.imag(u), -2), np.sum(top * np.real(v), -2))
        v_dot = v_dot - 1j * v * turn[..., None, :]
    return main_diagonal(inner), v_dot


def paired(w: Value, like: Value) -> Any:
    """For each of `like` the place in w of the nearest value, each place once.

    >>> paired(np.array([1.0, 2.0]), np.array([2.1, 0.9]))
    array([1, 0])
    """
    flat, target = np.reshape(w, (-1, np.shape(w)[-1])), np.reshape(like, (-1, np.shape(w)[-1]))
    order = np.empty(target.shape, int)
    for values, wanted, row in zip(flat, target, order, strict=True):
        far = np.abs(values[None, :] - wanted[:, None])
        for _ in range(len(row)):
            i, j = np.unravel_index(np.argmin(far), far.shape)
            row[i] = j
            far[i, :] = np.inf
            far[:, j] = np.inf
    return order.reshape(np.shape(w))


def eigvals_back(ct: Value, out: Value, a: Value) -> Any:
    """The cotangent of `a` in out = `np.linalg.eigvals(a)`.

    >>> eigvals_back(np.array([1.0, 0.0]), np.array([1.0, 2.0]), np.diag([1.0, 2.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    w, v = np.linalg.eig(a)
    v = np.take_along_axis(v, paired(w, out)[..., None, :], -1)
    back = np.linalg.solve(np.swapaxes(v, -1, -2), ct[..., :, None] * np.swapaxes(v, -1, -2))
    return match(back, a)


def eigvals_dot(a_dot: Value, out: Value, a: Value) -> Any:
    """The tangent of out = `np.linalg.eigvals(a)`.

    >>> eigvals_dot(np.eye(2), np.array([1.0, 2.0]), np.diag([1.0, 2.0])).real
    array([1., 1.])
    """
    w, v = np.linalg.eig(a)
    v = np.take_along_axis(v, paired(w, out)[..., None, :], -1)
    return main_diagonal(np.linalg.solve(v, a_dot @ v))
