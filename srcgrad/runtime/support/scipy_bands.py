"""Matrices of `scipy.linalg` by their diagonals, and factorisations as others write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from srcgrad.runtime.support.adjoints import error
from srcgrad.runtime.support.scipy_linalg import corner, doubled, lu_parts, permutation

Value = Any  # an array

# ---- bands: `ab[u + i - j, j]` is the element (i, j) -----------------------------------


def bands_flipped(low: int, up: int, ab: Value) -> Any:
    """The bands of the transpose.

    >>> bands_flipped(0, 1, np.array([[0.0, 5.0], [1.0, 2.0]]))
    array([[1., 2.],
           [5., 0.]])
    """
    n = np.shape(ab)[1]
    out = np.zeros_like(ab)
    for d in range(-low, up + 1):  # column minus row
        out[low + d, max(0, -d) : n - max(0, d)] = ab[up - d, max(0, d) : n - max(0, -d)]
    return out


def bands_applied(low: int, up: int, ab: Value, x: Value) -> Any:
    """The product with a vector, or with the columns of a matrix.

    >>> bands_applied(0, 1, np.array([[0.0, 5.0], [1.0, 2.0]]), np.array([1.0, 1.0]))
    array([6., 2.])
    """
    n = np.shape(ab)[1]
    out = np.zeros(np.shape(x), np.result_type(ab, x))
    for d in range(-low, up + 1):
        band = ab[up - d, max(0, d) : n - max(0, -d)]
        shaped = band if np.ndim(x) == 1 else band[:, None]
        out[max(0, -d) : n - max(0, d)] += shaped * x[max(0, d) : n - max(0, -d)]
    return out


def bands_outer(low: int, up: int, y: Value, x: Value) -> Any:
    """The bands of y x^T.

    >>> bands_outer(0, 1, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([[0., 4.],
           [3., 8.]])
    """
    n = np.shape(x)[0]
    out = np.zeros((low + up + 1, n), np.result_type(x, y))
    for d in range(-low, up + 1):
        product = y[max(0, -d) : n - max(0, d)] * x[max(0, d) : n - max(0, -d)]
        shaped = product if np.ndim(product) == 1 else np.sum(product, axis=1)
        out[up - d, max(0, d) : n - max(0, -d)] = shaped
    return out


def solveh_banded(ab: Value, b: Value, *, lower: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.solveh_banded`: both halves of the bands are written out."""
    count = np.shape(ab)[0] - 1
    other = bands_flipped(count, 0, ab) if lower else bands_flipped(0, count, ab)
    bands = np.concatenate((other[:-1], ab) if lower else (ab, other[1:]), axis=0)
    return linalg.solve_banded((count, count), bands, b)


# ---- equations and factorisations ------------------------------------------------------


def solve_toeplitz(c_or_cr: Value, b: Value, check_finite: bool = True) -> Any:
    if isinstance(c_or_cr, tuple):
        return np.linalg.solve(linalg.toeplitz(c_or_cr[0], c_or_cr[1]), b)
    return np.linalg.solve(linalg.toeplitz(c_or_cr), b)


def qr(a: Value, *, mode: str = "full", check_finite: bool = True) -> Any:
    if mode not in ("full", "economic"):
        raise error("MissingRule", "scipy.linalg.qr with this mode; write mode='economic'")
    if mode == "full" and np.shape(a)[0] > np.shape(a)[1]:
        raise error("MissingRule", "scipy.linalg.qr of more rows than columns: mode='economic'")
    return np.linalg.qr(a)


def lu(a: Value, *, check_finite: bool = True) -> Any:
    if np.ndim(a) != 2 or np.shape(a)[0] != np.shape(a)[1]:
        raise error("MissingRule", "scipy.linalg.lu of matrices that are not square")
    packed, pivots = linalg.lu_factor(a)
    low, up = lu_parts(packed)
    return np.eye(len(pivots))[permutation(pivots)].T, low, up


def polar(a: Value, side: str = "right") -> Any:
    """The positive factor is the root of a^T a (Higham, Functions of Matrices, chapter 8)."""
    if side == "right":
        p = linalg.sqrtm(a.T @ a)
        return np.linalg.solve(p.T, a.T).T, p
    p = linalg.sqrtm(a @ a.T)
    return np.linalg.solve(p, a), p


def expm_frechet(A: Value, E: Value, *, check_finite: bool = True) -> Any:
    return linalg.expm(A), corner(linalg.expm(doubled(A, E)))
