"""Helpers of the rules for `scipy.linalg`; this module is loaded where SciPy is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from srcgrad.runtime.support.adjoints import error

Value = Any  # an array


def _outer(x: Value, y: Value) -> Any:
    """x y^T for vectors, the sum of the columns' products for matrices."""
    return np.outer(x, y) if np.ndim(x) == 1 else x @ y.T


def doubled(a: Value, e: Value) -> Any:
    """The matrix [[a, e], [0, a]]: a function of it has the derivative along e in its corner.

    >>> doubled(np.eye(1), np.full((1, 1), 3.0))
    array([[1., 3.],
           [0., 1.]])
    """
    top = np.concatenate((a, e), axis=-1)
    return np.concatenate((top, np.concatenate((np.zeros_like(e), a), axis=-1)), axis=-2)


def corner(f: Value) -> Any:
    """The upper right quarter of a matrix.

    >>> corner(np.arange(4.0).reshape(2, 2))
    array([[1.]])
    """
    n = np.shape(f)[-1] // 2
    return f[..., :n, n:]


def part_of(a: Value, lower: bool, unit: bool) -> Any:
    """The part of a matrix that a triangular solver reads.

    >>> part_of(np.ones((2, 2)), True, True)
    array([[0., 0.],
           [1., 0.]])
    """
    return np.tril(a, -1 if unit else 0) if lower else np.triu(a, 1 if unit else 0)


def is_transposed(trans: Any) -> bool:
    """Whether an option of a solver means the transpose.

    >>> is_transposed("T"), is_transposed(0)
    (True, False)
    """
    if trans in (2, "C"):
        raise error("MissingRule", "the conjugate transpose; use np.conj(a), trans='T'")
    return trans in (1, "T")


def flipped(trans: Any) -> int:
    """The option of a solver for the transposed matrix.

    >>> flipped(0), flipped("T")
    (1, 0)
    """
    return 0 if is_transposed(trans) else 1


def triangular_share(y: Value, x: Value, trans: Any, lower: bool, unit: bool) -> Any:
    """The cotangent of the matrix of a triangular solver with result x; y is that of b.

    >>> triangular_share(np.ones(1), np.full(1, 2.0), 0, True, False)
    array([[-2.]])
    """
    both = _outer(x, y) if is_transposed(trans) else _outer(y, x)
    return -part_of(both, lower, unit)


def applied(a: Value, x: Value, trans: Any) -> Any:
    """a x, or its transpose times x.

    >>> applied(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0]), "T")
    array([0., 1.])
    """
    return a.T @ x if is_transposed(trans) else a @ x


def factor_share(y: Value, x: Value, c: Value, lower: bool) -> Any:
    """The cotangent of the factor in `cho_solve((c, lower), b)` with result x; y is that of b.

    >>> factor_share(np.ones(1), np.ones(1), np.full((1, 1), 2.0), True)
    array([[-4.]])
    """
    both = -_outer(y, x)
    both = both + both.T
    return np.tril(both @ np.tril(c)) if lower else np.triu(np.triu(c) @ both)


def factor_dot(c_dot: Value, x: Value, c: Value, lower: bool) -> Any:
    """The tangent of a matrix times x, for that of its Cholesky factor.

    >>> factor_dot(np.ones((1, 1)), np.ones(1), np.full((1, 1), 2.0), True)
    array([4.])
    """
    if lower:
        factor, tangent = np.tril(c), np.tril(c_dot)
        return tangent @ (factor.T @ x) + factor @ (tangent.T @ x)
    factor, tangent = np.triu(c), np.triu(c_dot)
    return tangent.T @ (factor @ x) + factor.T @ (tangent @ x)


def permutation(piv: Any) -> Any:
    """The order of the rows that LAPACK's pivots make.

    >>> permutation([1, 1])
    array([1, 0])
    """
    order = np.arange(len(piv))
    for k, p in enumerate(piv):
        order[[k, p]] = order[[p, k]]
    return order


def lu_parts(lu: Value) -> Any:
    """The factors that `lu_factor` packs into one matrix.

    >>> lu_parts(np.array([[2.0, 1.0], [0.5, 3.0]]))[1]
    array([[2., 1.],
           [0., 3.]])
    """
    return np.tril(lu, -1) + np.eye(len(lu)), np.triu(lu)


def lu_back(ct: Value, lu: Value, piv: Any) -> Any:
    """The cotangent of `a` in (lu, piv) = `lu_factor(a)`.

    >>> lu_back(np.ones((1, 1)), np.full((1, 1), 2.0), [0])
    array([[1.]])
    """
    lower, upper = lu_parts(lu)
    inner = np.tril(lower.T @ np.tril(ct, -1), -1) + np.triu(np.triu(ct) @ upper.T)
    left = np.linalg.solve(lower.T, np.linalg.solve(upper, inner.T).T)
    return left[np.argsort(permutation(piv))]


def lu_dot(a_dot: Value, lu: Value, piv: Any) -> Any:
    """The tangent of `lu_factor(a)[0]`.

    >>> lu_dot(np.ones((1, 1)), np.full((1, 1), 2.0), [0])
    array([[1.]])
    """
    lower, upper = lu_parts(lu)
    moved = a_dot[permutation(piv)]
    inner = np.linalg.solve(upper.T, np.linalg.solve(lower, moved).T).T
    return lower @ np.tril(inner, -1) + np.triu(inner) @ upper


def lu_share(y: Value, x: Value, lu: Value, piv: Any, trans: Any) -> Any:
    """The cotangent of the factors in `lu_solve((lu, piv), b, trans)` with result x.

    >>> lu_share(np.ones(1), np.full(1, 2.0), np.eye(1), [0], 0)
    array([[-2.]])
    """
    both = _outer(x, y) if is_transposed(trans) else _outer(y, x)
    moved = -both[permutation(piv)]
    lower, upper = lu_parts(lu)
    return np.tril(moved @ upper.T, -1) + np.triu(lower.T @ moved)


def lu_matrix_dot(lu_dot: Value, lu: Value, piv: Any) -> Any:
    """The tangent of a matrix, for that of its factors.

    >>> lu_matrix_dot(np.ones((1, 1)), np.eye(1), [0])
    array([[1.]])
    """
    lower, upper = lu_parts(lu)
    moved = np.tril(lu_dot, -1) @ upper + lower @ np.triu(lu_dot)
    return moved[np.argsort(permutation(piv))]


def blocks_back(ct: Value, arrs: Any) -> Any:
    """The cotangent of each block in `block_diag(*arrs)`.

    >>> blocks_back(np.eye(2), (1.0, np.eye(1)))
    (np.float64(1.0), array([[1.]]))
    """
    out, row, column = [], 0, 0
    for a in arrs:
        rows, columns = np.atleast_2d(a).shape
        part = np.asarray(ct)[row : row + rows, column : column + columns]
        out.append(np.reshape(part, np.shape(a))[()])
        row, column = row + rows, column + columns
    return tuple(out)


def blocks_of(arrs: Any) -> Any:
    """`block_diag(*arrs)`.

    >>> blocks_of((1.0, 2.0))
    array([[1., 0.],
           [0., 2.]])
    """
    return linalg.block_diag(*arrs)
