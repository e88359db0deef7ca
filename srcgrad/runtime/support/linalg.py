"""Helpers of the rules for linear algebra, each differentiable again.

Most are written in the language that srcgrad itself writes (assignments, branches and calls of
functions that have rules), so a second derivative comes from their source.  The others have
entries in `srcgrad.rules.support_linalg`.

Complex numbers: a cotangent here is the plain (unconjugated) gradient du/dx - i du/dy.  Where the
function itself conjugates, the formulas are those for the conjugate of it, between two `np.conj`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.shape import Value, filled


def adjoint(x: Value) -> Any:
    """The conjugate transpose of the last two axes.

    >>> adjoint(np.array([[1j, 2.0]]))
    array([[0.-1.j],
           [2.-0.j]])
    """
    return np.conj(np.swapaxes(x, -1, -2))


def symmetric(x: Value) -> Any:
    """The Hermitian part: cholesky and eigh are functions of Hermitian matrices.

    >>> symmetric(np.array([[1.0, 4.0], [0.0, 1.0]]))
    array([[1., 2.],
           [2., 1.]])
    """
    return 0.5 * (x + np.conj(np.swapaxes(x, -1, -2)))


def diagonal_matrix(x: Value, rows: int, columns: int) -> Any:
    """Matrices of this shape with x on their diagonals.

    >>> diagonal_matrix(np.array([2.0]), 1, 2)
    array([[2., 0.]])
    """
    x = np.asarray(x)
    out = np.zeros((*x.shape[:-1], rows, columns), x.dtype)
    k = np.arange(x.shape[-1])
    out[..., k, k] = x
    return out


def main_diagonal(x: Value) -> Any:
    """The diagonals of the last two axes.

    >>> main_diagonal(np.eye(2))
    array([1., 1.])
    """
    return np.diagonal(x, 0, -2, -1)


def inverse_gaps(w: Value) -> Any:
    """1 / (w_j - w_i) for each pair, and 0 where the two are equal to rounding.

    >>> inverse_gaps(np.array([1.0, 3.0, 3.0]))
    array([[ 0. ,  0.5,  0.5],
           [-0.5,  0. ,  0. ],
           [-0.5,  0. ,  0. ]])
    """
    w = np.asarray(w)
    gap = w[..., None, :] - w[..., :, None]
    size = np.max(np.abs(w), -1, initial=0.0)[..., None, None]
    equal = np.abs(gap) <= 4.0 * w.shape[-1] * np.finfo(w.dtype).eps * size
    return np.where(equal, 0, 1 / np.where(equal, 1, gap)).astype(w.dtype)


def of_vectors(a: Value, b: Value) -> bool:
    """Whether `np.linalg.solve(a, b)` takes b as vectors: NumPy 1 takes stacks of them, too.

    >>> of_vectors(np.eye(2), np.ones(2))
    True
    """
    if np.__version__.startswith("1."):
        return np.ndim(b) == np.ndim(a) - 1
    return np.ndim(b) == 1


def solve_like(a: Value, c: Value, b: Value) -> Any:
    """`np.linalg.solve(a, c)`, where c holds vectors if `b` is taken as such, matrices otherwise.

    >>> solve_like(2.0 * np.eye(2), np.ones((3, 2)), np.ones(2)).shape
    (3, 2)
    """
    if of_vectors(a, b):
        return _solve_matrices(a, np.asarray(c)[..., None])[..., 0]
    return _solve_matrices(a, c)


def _solve_matrices(a: Value, c: Value) -> Any:
    """`np.linalg.solve(a, c)`, where c holds matrices whatever its number of dimensions."""
    missing = np.ndim(a) - np.ndim(c)
    return np.linalg.solve(a, np.reshape(c, (1,) * missing + np.shape(c)) if missing > 0 else c)


def outer_like(y: Value, x: Value, vectors: bool) -> Any:
    """Products of y and the transpose of x: of vectors or of matrices.

    >>> outer_like(np.ones(2), np.ones(2), True).shape
    (2, 2)
    """
    if vectors:
        return np.asarray(y)[..., :, None] * np.asarray(x)[..., None, :]
    return y @ np.swapaxes(x, -1, -2)


def _svd_frame(a: Any) -> tuple[Any, Any, Any, Any]:
    """u, s, vh of square matrices, and the determinant of u times that of vh."""
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def cofactor(a: Value) -> Any:
    """The matrix of cofactors: the gradient of the determinant, of singular matrices too.

    >>> cofactor(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    u, s, vh, sign = _svd_frame(np.asarray(a))
    n = s.shape[-1]
    others = np.where(np.eye(n, dtype=bool), s.dtype.type(1), s[..., None, :])
    return sign * (np.conj(u) * np.prod(others, -1)[..., None, :]) @ np.conj(vh)


def cofactor_dot(a_dot: Value, a: Value) -> Any:
    """The tangent, and as second derivatives are symmetric the cotangent, of `cofactor(a)`.

    >>> cofactor_dot(np.array([[1.0, 0.0], [0.0, 0.0]]), np.eye(2)).round(12)
    array([[0., 0.],
           [0., 1.]])
    """
    u, s, vh, sign = _svd_frame(np.asarray(a))
    n = s.shape[-1]
    e = np.swapaxes(np.conj(u), -1, -2) @ a_dot @ np.conj(np.swapaxes(vh, -1, -2))
    index = np.arange(n)
    pair = (index == index[:, None, None]) | (index == index[None, :, None])
    without = np.prod(np.where(pair, s.dtype.type(1), s[..., None, None, :]), -1)
    without = np.where(np.eye(n, dtype=bool), s.dtype.type(0), without)
    diagonal = (without * np.diagonal(e, 0, -2, -1)[..., None, :]).sum(-1)
    moved = diagonal_matrix(diagonal, n, n) - np.swapaxes(e, -1, -2) * without
    return sign * (np.conj(u) @ moved @ np.conj(vh))


def minors(a: Value) -> Any:
    """For each element the matrix without its row and column.

    >>> minors(np.array([[1.0, 2.0], [3.0, 4.0]]))[0, 1]
    array([[3.]])
    """
    rows, columns = _kept(np.shape(a)[-1])
    return np.asarray(a)[..., rows, columns]


def minors_back(ct: Value, a: Value) -> Any:
    """The cotangent of `a` in `minors(a)`.

    >>> minors_back(np.ones((2, 2, 1, 1)), np.zeros((2, 2)))
    array([[1., 1.],
           [1., 1.]])
    """
    rows, columns = _kept(np.shape(a)[-1])
    out = np.zeros(np.shape(a), np.asarray(ct).dtype)
    where: Any = (..., rows, columns)
    np.add.at(out, where, ct)
    return out


def _kept(n: int) -> tuple[Any, Any]:
    others = [[j for j in range(n) if j != i] for i in range(n)]
    kept = np.array(others, int).reshape(n, max(n - 1, 0))
    return kept[:, None, :, None], kept[None, :, None, :]


def checkered(x: Value) -> Any:
    """x with the signs of cofactors.

    >>> checkered(np.ones((2, 2)))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    place = np.arange(np.shape(x)[-1])
    return np.where((place[:, None] + place) % 2 == 0, x, np.negative(x))


def slogdet_back(gs: Value, gl: Value, sign: Value, a: Value) -> Any:
    """The cotangent of `a` in sign, logdet = `np.linalg.slogdet(a)`.

    >>> slogdet_back(None, 1.0, 1.0, 2.0 * np.eye(2))
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    t = filled(gl, np.real(sign))
    if np.iscomplexobj(a):
        t = t - 1j * np.real(1j * sign * filled(gs, sign))
    return np.asarray(t)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)


def slogdet_dot(a_dot: Value, sign: Value, a: Value) -> Any:
    """The tangent of sign, logdet = `np.linalg.slogdet(a)`.

    >>> slogdet_dot(np.eye(2), 1.0, np.eye(2))
    (np.float64(0.0), np.float64(2.0))
    """
    t = np.trace(np.linalg.solve(a, a_dot), 0, -2, -1)
    if np.iscomplexobj(a):
        return sign * (1j * np.imag(t)), np.real(t)
    return 0.0 * t, t


def cholesky_back(ct: Value, out: Value, upper: bool) -> Any:
    """The cotangent of the symmetric `a` in out = `np.linalg.cholesky(a)`.

    >>> cholesky_back(np.array([[1.0]]), np.array([[2.0]]), False)
    array([[0.25]])
    """
    low = out
    g = np.conj(ct)
    if upper:
        low = adjoint(out)
        g = adjoint(g)
    p = np.tril(adjoint(low) @ np.tril(g))
    p = symmetric(p - 0.5 * diagonal_matrix(main_diagonal(p), p.shape[-1], p.shape[-1]))
    s = np.linalg.solve(adjoint(low), adjoint(np.linalg.solve(adjoint(low), p)))
    return np.conj(s)


def cholesky_dot(a_dot: Value, out: Value, upper: bool) -> Any:
    """The tangent of out = `np.linalg.cholesky(a)` for a symmetric `a`.

    >>> cholesky_dot(np.array([[1.0]]), np.array([[2.0]]), False)
    array([[0.25]])
    """
    low = out
    if upper:
        low = adjoint(out)
    p = np.linalg.solve(low, adjoint(np.linalg.solve(low, symmetric(a_dot))))
    p = np.tril(p) - 0.5 * diagonal_matrix(main_diagonal(p), p.shape[-1], p.shape[-1])
    low_dot = low @ p
    if upper:
        low_dot = adjoint(low_dot)
    return low_dot


def pinv_back(ct: Value, out: Value, a: Value) -> Any:
    """The cotangent of `a` in out = `np.linalg.pinv(a)`.

    >>> pinv_back(np.array([[1.0]]), np.array([[0.5]]), np.array([[2.0]]))
    array([[-0.25]])
    """
    gh = np.swapaxes(ct, -1, -2)
    ph = adjoint(out)
    first = -(ph @ np.conj(ct) @ ph)
    second = (gh - a @ (out @ gh)) @ (out @ ph)
    third = (ph @ out) @ (gh - (gh @ out) @ a)
    return np.conj(first + second + third)


def pinv_dot(a_dot: Value, out: Value, a: Value) -> Any:
    """The tangent of out = `np.linalg.pinv(a)`.

    >>> pinv_dot(np.array([[1.0]]), np.array([[0.5]]), np.array([[2.0]]))
    array([[-0.25]])
    """
    dh = adjoint(a_dot)
    ph = adjoint(out)
    second = (out @ ph) @ (dh - (dh @ a) @ out)
    third = (dh - out @ (a @ dh)) @ (ph @ out)
    return second + third - out @ a_dot @ out


def apply_like(a: Value, x: Value, vectors: bool) -> Any:
    """a times x: times vectors or matrices.

    >>> apply_like(2.0 * np.eye(2), np.ones((3, 2)), True).shape
    (3, 2)
    """
    if vectors:
        return (a @ np.asarray(x)[..., None])[..., 0]
    return a @ x
