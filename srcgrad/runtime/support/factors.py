"""Helpers of the rules for svd and qr; conventions as in `decompositions`."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error
from srcgrad.runtime.support.decompositions import determined, inverse_sums, repeated_terms
from srcgrad.runtime.support.elementwise import safe_divide
from srcgrad.runtime.support.linalg import (
    adjoint,
    diagonal_matrix,
    inverse_gaps,
    main_diagonal,
    symmetric,
)
from srcgrad.runtime.support.shape import Value, filled


def svdvals_back(ct: Value, a: Value) -> Any:
    """The cotangent of `a` in `np.linalg.svd(a, compute_uv=False)`.

    >>> svdvals_back(np.array([1.0, 0.0]), np.diag([2.0, 1.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    u, _, vh = np.linalg.svd(a, False)
    return np.conj((u * ct[..., None, :]) @ vh)


def svdvals_dot(a_dot: Value, a: Value) -> Any:
    """The tangent of `np.linalg.svd(a, compute_uv=False)`.

    >>> svdvals_dot(np.eye(2), np.diag([2.0, 1.0]))
    array([1., 1.])
    """
    u, _, vh = np.linalg.svd(a, False)
    return np.real(main_diagonal(adjoint(u) @ a_dot @ adjoint(vh)))


def padded(s: Value, n: int) -> Any:
    """s with zeros up to length n along its last axis.

    >>> padded(np.ones(1), 2)
    array([1., 0.])
    """
    s = np.asarray(s)
    out = np.zeros((*s.shape[:-1], n), s.dtype)
    out[..., : s.shape[-1]] = s
    return out


def widened(x: Value, w: Value) -> Any:
    """Matrices with zero rows and columns appended, square of the length of w.

    >>> widened(np.ones((1, 1)), np.zeros(2))
    array([[1., 0.],
           [0., 0.]])
    """
    n = w.shape[-1]
    rows = np.eye(n, x.shape[-2], 0, w.dtype)
    return rows @ x @ np.eye(x.shape[-1], n, 0, w.dtype)


def svd_back(gu: Value, gs: Value, gvh: Value, u: Value, s: Value, vh: Value) -> Any:
    """The cotangent of `a` in u, s, vh = `np.linalg.svd(a)`, thin or full.

    >>> svd_back(None, np.array([1.0]), None, np.eye(1), np.array([3.0]), np.eye(1))
    array([[1.]])
    """
    p = u.shape[-1]
    q = vh.shape[-2]
    v = adjoint(vh)
    y = adjoint(u) @ np.conj(filled(gu, u))
    z = vh @ np.swapaxes(filled(gvh, vh), -1, -2)
    w = padded(s, max(p, q))
    left = widened(y - adjoint(y), w)
    right = widened(z - adjoint(z), w)
    inner = inverse_gaps(w) * (left + right) + inverse_sums(w) * (left - right)
    if gs is not None:
        turn = widened(y, w) + widened(z, w)
        inner = inner + 2.0 * repeated_terms(padded(gs, max(p, q)), 0.5 * symmetric(turn), w)
    inner = 0.5 * inner[..., :p, :q] + diagonal_matrix(filled(gs, s), p, q)
    reciprocal = diagonal_matrix(safe_divide(1.0, s), p, q)
    if np.iscomplexobj(u):
        n = s.shape[-1]
        turn = np.imag(main_diagonal(y)[..., :n]) - np.imag(main_diagonal(z)[..., :n])
        inner = inner + 0.5j * reciprocal * diagonal_matrix(turn, p, q)
    back = u @ inner @ vh
    if p < u.shape[-2]:
        g = np.conj(filled(gu, u))
        back = back + (g - u @ y) @ reciprocal @ vh
    if q < vh.shape[-1]:
        g = np.swapaxes(filled(gvh, vh), -1, -2)
        back = back + u @ reciprocal @ adjoint(g - v @ z)
    return np.conj(back)


def svd_dot(a_dot: Value, u: Value, s: Value, vh: Value) -> Any:
    """The tangents of u, s, vh = `np.linalg.svd(a)`, thin or full.

    >>> svd_dot(np.eye(1), np.eye(1), np.array([3.0]), np.eye(1))[1]
    array([1.])
    """
    p = u.shape[-1]
    q = vh.shape[-2]
    n = s.shape[-1]
    v = adjoint(vh)
    c = adjoint(u) @ a_dot @ v
    w = padded(s, max(p, q))
    square = widened(c, w)
    even = 0.5 * inverse_gaps(w) * determined(square + adjoint(square), w)
    odd = 0.5 * inverse_sums(w) * (square - adjoint(square))
    omega = (even + odd)[..., :p, :p]
    gamma = (even - odd)[..., :q, :q]
    reciprocal = diagonal_matrix(safe_divide(1.0, s), q, p)
    if np.iscomplexobj(u):
        turn = safe_divide(0.5j * np.imag(main_diagonal(c)), s)
        omega = omega + diagonal_matrix(padded(turn, p), p, p)
        gamma = gamma - diagonal_matrix(padded(turn, q), q, q)
    u_dot = u @ omega
    if p < u.shape[-2]:
        u_dot = u_dot + (a_dot @ v - u @ c) @ reciprocal
    v_dot = v @ gamma
    if q < vh.shape[-1]:
        v_dot = v_dot + (adjoint(a_dot) @ u - v @ adjoint(c)) @ np.swapaxes(reciprocal, -1, -2)
    return u_dot, np.real(main_diagonal(c))[..., :n], adjoint(v_dot)


def qr_tall(gq: Value, gr: Value, q: Value, r: Value) -> Any:
    """The conjugate cotangent of a matrix with at least as many rows as columns, from conjugates.

    >>> qr_tall(np.array([[0.0]]), np.array([[1.0]]), np.array([[-1.0]]), np.array([[-2.0]]))
    array([[-1.]])
    """
    b = gr @ adjoint(r) - adjoint(q) @ gq
    upper = np.triu(b, 1)
    n = r.shape[-1]
    inner = upper + adjoint(upper) + diagonal_matrix(np.real(main_diagonal(b)), n, n)
    return adjoint(np.linalg.solve(r, adjoint(gq + q @ inner)))


def qr_back(gq: Value, gr: Value, q: Value, r: Value, a: Value) -> Any:
    """The cotangent of `a` in q, r = `np.linalg.qr(a)`.

    >>> qr_back(None, np.array([[1.0]]), np.array([[-1.0]]), np.array([[-2.0]]), np.array([[2.0]]))
    array([[-1.]])
    """
    gq = np.conj(filled(gq, q))
    gr = np.triu(np.conj(filled(gr, r)))
    n = r.shape[-2]
    if n == r.shape[-1]:
        return np.conj(qr_tall(gq, gr, q, r))
    gq = gq + a[..., n:] @ adjoint(gr[..., n:])
    first = qr_tall(gq, gr[..., :n], q, r[..., :n])
    return np.conj(np.concatenate((first, q @ gr[..., n:]), -1))


def qr_dot(a_dot: Value, q: Value, r: Value, a: Value) -> Any:
    """The tangents of q, r = `np.linalg.qr(a)`.

    >>> qr_dot(np.eye(1), np.array([[-1.0]]), np.array([[-2.0]]), np.array([[2.0]]))[1]
    array([[-1.]])
    """
    n = r.shape[-2]
    square = r[..., :n]
    x = adjoint(np.linalg.solve(adjoint(square), adjoint(a_dot[..., :n])))
    c = adjoint(q) @ x
    low = np.tril(c, -1)
    t = np.triu(c, 1) + adjoint(low) + diagonal_matrix(np.real(main_diagonal(c)), n, n)
    q_dot = x - q @ t
    r_dot = t @ square
    if n < r.shape[-1]:
        rest = adjoint(q_dot) @ a[..., n:] + adjoint(q) @ a_dot[..., n:]
        r_dot = np.concatenate((r_dot, rest), -1)
    return q_dot, r_dot


def svd_any_back(ct: Value, out: Value, a: Value, compute_uv: bool, hermitian: bool) -> Any:
    """The cotangent of `a` in out = `np.linalg.svd(a, compute_uv=compute_uv)`.

    >>> svd_any_back(np.array([1.0]), np.array([3.0]), np.array([[3.0]]), False, False)
    array([[1.]])
    """
    if hermitian:
        raise error("MissingRule", "svd with hermitian=True has no derivative rule; use eigh")
    if not compute_uv:
        return svdvals_back(ct, a)
    return svd_back(ct[0], ct[1], ct[2], out[0], out[1], out[2])


def svd_any_dot(a_dot: Value, out: Value, a: Value, compute_uv: bool, hermitian: bool) -> Any:
    """The tangent of out = `np.linalg.svd(a, compute_uv=compute_uv)`.

    >>> svd_any_dot(np.eye(1), np.array([3.0]), np.array([[3.0]]), False, False)
    array([1.])
    """
    if hermitian:
        raise error("MissingRule", "svd with hermitian=True has no derivative rule; use eigh")
    if not compute_uv:
        return svdvals_dot(a_dot, a)
    return svd_dot(a_dot, out[0], out[1], out[2])


def qr_check(a: Value, mode: str) -> None:
    """Refuse the modes of `np.linalg.qr` whose result is not determined by its factors.

    >>> qr_check(np.eye(2), "reduced")
    """
    rows, columns = np.shape(a)[-2:]
    if mode not in ("reduced", "r") and not (mode == "complete" and rows <= columns):
        raise error("MissingRule", f"np.linalg.qr with mode {mode!r} has no derivative rule here")


def qr_any_back(ct: Value, out: Value, a: Value, mode: str) -> Any:
    """The cotangent of `a` in out = `np.linalg.qr(a, mode)`.

    >>> qr_any_back(np.array([[1.0]]), np.array([[2.0]]), np.array([[2.0]]), "r")
    array([[1.]])
    """
    qr_check(a, mode)
    if mode == "r":
        q, r = np.linalg.qr(a)
        return qr_back(np.zeros_like(q), ct, q, r, a)
    return qr_back(ct[0], ct[1], out[0], out[1], a)


def qr_any_dot(a_dot: Value, out: Value, a: Value, mode: str) -> Any:
    """The tangent of out = `np.linalg.qr(a, mode)`.

    >>> qr_any_dot(np.eye(1), np.array([[2.0]]), np.array([[2.0]]), "r")
    array([[1.]])
    """
    qr_check(a, mode)
    if mode == "r":
        q, r = np.linalg.qr(a)
        return qr_dot(a_dot, q, r, a)[1]
    return qr_dot(a_dot, out[0], out[1], a)
