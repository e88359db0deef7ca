"""Rules for linear algebra.

cholesky, eigh and eigvalsh are functions of symmetric (Hermitian) matrices: their derivatives are
symmetric, and a tangent counts by its symmetric part.  Entries say so in `note`.
"""

from __future__ import annotations

import numpy as np

from srcgrad.rules.products import B
from srcgrad.rules.registry import nondiff, refuse, structured
from srcgrad.rules.shapes import M, N, S, T, V, W
from srcgrad.rules.short import short
from srcgrad.rules.versions import NUMPY_2

A = S + 3.0 * np.eye(3)
P = A @ A.T
Z = A + 0.3j * S.T  # a complex matrix
H = Z @ np.conj(Z.T)
AA = np.stack([A, A.T + np.eye(3)])
WIDE = np.sin(np.arange(1.0, 13.0) ** 2).reshape(3, 4)
SYMMETRIC = "symmetric: only the symmetric part of a matrix matters, so of its cotangent"

# ---- equations and inverses ---------------------------------------------------------------

# Right-hand sides of a stack of matrices; NumPy 1 takes those of one dimension less as vectors.
STACKED = [(AA, V), (AA, B[:3])] if NUMPY_2 else [(AA, np.stack([V, W])), (AA[None], B[:3])]

structured(
    np.linalg.solve,
    "a, b",
    let={"y": "support.solve_like(np.swapaxes(a, -1, -2), g, b)"},
    vjp={
        "a": "support.unbroadcast(-support.outer_like(y, out, support.of_vectors(a, b)), a)",
        "b": "support.unbroadcast(y, b)",
    },
    jvp={
        "a": "-support.solve_like(a, support.apply_like(a_dot, out, support.of_vectors(a, b)), b)",
        "b": "np.linalg.solve(a, b_dot)",
    },
    at=[
        (A, V),
        (A, B[:3]),
        *STACKED,
        (A, T.swapaxes(1, 2)[:, :3]),
        (Z, V),
        (A, V + 1j * W),
    ],
)
short(np.linalg.solve, {"a": 2, "b": (1, 2)}, y="np.linalg.solve(a.T, g)", b="y")
short(np.linalg.solve, {"a": 2, "b": 1}, a="-np.outer(y, out)")
short(np.linalg.solve, {"a": 2, "b": 2}, a="-(y @ out.T)")
short(np.linalg.solve, {"a": 2, "b": (1, 2)}, mode="jvp", a="-np.linalg.solve(a, a_dot @ out)")
structured(
    np.linalg.inv,
    "a",
    vjp={"a": "-(np.swapaxes(out, -1, -2) @ g @ np.swapaxes(out, -1, -2))"},
    jvp={"a": "-(out @ a_dot @ out)"},
    at=[(A,), (AA,), (Z,)],
)
short(np.linalg.inv, {"a": 2}, a="-(out.T @ g @ out.T)")
structured(
    np.linalg.pinv,
    "a, rcond=None, hermitian=False, *, rtol=None",
    vjp={"a": "support.pinv_back(g, out, a)"},
    jvp={"a": "support.pinv_dot(a_dot, out, a)"},
    at=[(WIDE,), (WIDE.T,), (A,), (np.stack([WIDE, WIDE + 1.0]),), (WIDE * 1j + WIDE[::-1],)],
)
structured(
    np.linalg.lstsq,
    # The default of NumPy 1 is that of -1, with a warning.
    "a, b, rcond=None" if NUMPY_2 else "a, b, rcond=-1",
    let={"both": "support.lstsq_back(g[0], g[1], g[3], out[0], a, b, rcond)"},
    vjp={"a": "both[0]", "b": "both[1]"},
    jvp={
        "a": "support.lstsq_dot(a_dot, np.zeros_like(b), out, a, b, rcond)",
        "b": "support.lstsq_dot(np.zeros_like(a), b_dot, out, a, b, rcond)",
    },
    at=[
        (WIDE.T, B[:, 0], None),
        (WIDE.T, B, -1),
        (WIDE, V, None),
        (WIDE, B[:3], 1e-9),
        (A, V, None),
        (Z, V + 1j * W, None),
        *([(WIDE.T, B)] if NUMPY_2 else []),
    ],
)
structured(
    np.linalg.tensorsolve,
    "a, b, axes=None",
    let={"both": "support.tensorsolve_back(g, out, a, b, axes)"},
    vjp={"a": "both[0]", "b": "both[1]"},
    jvp={
        "a": "support.tensorsolve_dot(a_dot, np.zeros_like(b), out, a, b, axes)",
        "b": "np.linalg.tensorsolve(a, b_dot, axes)",
    },
    at=[
        (np.cos(np.arange(36.0)).reshape(2, 3, 6) + np.eye(6).reshape(2, 3, 6), M),
        (
            np.cos(np.arange(36.0)).reshape(2, 6, 3) + np.eye(6).reshape(2, 6, 3),
            np.cos(np.arange(6.0)),
            (0,),
        ),
    ],
)
structured(
    np.linalg.tensorinv,
    "a, ind=2",
    vjp={"a": "support.tensorinv_back(g, out, a, ind)"},
    jvp={"a": "support.tensorinv_dot(a_dot, out, ind)"},
    at=[
        (np.cos(np.arange(36.0)).reshape(2, 3, 6) + np.eye(6).reshape(2, 3, 6),),
        (np.cos(np.arange(36.0)).reshape(6, 3, 2) + np.eye(6).reshape(6, 3, 2), 1),
    ],
)

# ---- determinants --------------------------------------------------------------------------

structured(
    np.linalg.det,
    "a",
    vjp={"a": "np.asarray(g)[..., None, None] * support.cofactor(a)"},
    jvp={"a": "np.sum(support.cofactor(a) * a_dot, (-2, -1))"},
    at=[(A,), (S,), (AA,), (Z,), (np.outer(V, W),), (N,), (np.array([[0.7]]),)],
)
short(np.linalg.det, {"a": 2}, a="g * support.cofactor(a)")
short(np.linalg.det, {"a": 2}, mode="jvp", a="np.sum(support.cofactor(a) * a_dot)")
structured(
    np.linalg.slogdet,
    "a",
    vjp={"a": "support.slogdet_back(g[0], g[1], out[0], a)"},
    jvp={"a": "support.slogdet_dot(a_dot, out[0], a)"},
    at=[(A,), (-S,), (AA,), (Z,)],
)

# ---- factorisations ------------------------------------------------------------------------

structured(
    np.linalg.cholesky,
    "a, /, *, upper=False",
    vjp={"a": "support.cholesky_back(g, out, upper)"},
    jvp={"a": "support.cholesky_dot(a_dot, out, upper)"},
    note=SYMMETRIC,
    at=[
        (P,),
        (np.stack([P, P + N[0, 0]]),),
        (H,),
        *([((P,), {"upper": True}), ((H,), {"upper": True})] if NUMPY_2 else []),
    ],
)
structured(
    np.linalg.eigvalsh,
    "a, UPLO='L'",
    vjp={"a": "support.eigvalsh_back(g, a, UPLO)"},
    jvp={"a": "support.eigvalsh_dot(a_dot, a, UPLO)"},
    note=SYMMETRIC,
    at=[(P,), (P, "U"), (np.stack([P, S + S.T]),), (H,)],
)
structured(
    np.linalg.eigh,
    "a, UPLO='L'",
    vjp={"a": "support.eigh_back(g[0], g[1], out[0], out[1])"},
    jvp={"a": "support.eigh_dot(a_dot, out[0], out[1])"},
    note=SYMMETRIC,
    at=[(P,), (P, "U"), (np.stack([P, S + S.T]),)],
)
structured(
    np.linalg.eigvals,
    "a",
    vjp={"a": "support.eigvals_back(g, out, a)"},
    jvp={"a": "support.eigvals_dot(a_dot, out, a)"},
    at=[(A,), (np.stack([P, P + np.triu(S)]),), (Z,), (np.array([[0.3, 2.0], [-1.0, 0.1]]),)],
)
structured(
    np.linalg.eig,
    "a",
    vjp={"a": "support.eig_back(g[0], g[1], out[0], out[1], a)"},
    jvp={"a": "support.eig_dot(a_dot, out[0], out[1])"},
    at=[(A,), (np.stack([P, P + np.triu(S)]),), (Z,), (np.array([[0.3, 2.0], [-1.0, 0.1]]),)],
)
structured(
    np.linalg.svd,
    "a, full_matrices=True, compute_uv=True, hermitian=False",
    vjp={"a": "support.svd_any_back(g, out, a, compute_uv, hermitian)"},
    jvp={"a": "support.svd_any_dot(a_dot, out, a, compute_uv, hermitian)"},
    at=[
        (A, False),
        (WIDE, False),
        (WIDE.T, False),
        (A,),
        (AA, False),
        (A, True, False),
        (WIDE, False, False),
        (Z, False, False),
    ],
)
if hasattr(np.linalg, "svdvals"):  # NumPy 2
    structured(
        np.linalg.svdvals,
        "a, /",
        vjp={"a": "support.svdvals_back(g, a)"},
        jvp={"a": "support.svdvals_dot(a_dot, a)"},
        at=[(A,), (WIDE,), (Z,)],
    )
structured(
    np.linalg.qr,
    "a, mode='reduced'",
    vjp={"a": "support.qr_any_back(g, out, a, mode)"},
    jvp={"a": "support.qr_any_dot(a_dot, out, a, mode)"},
    at=[(A,), (WIDE,), (WIDE.T,), (AA,), (Z,), (A, "r"), (WIDE.T, "r"), (A, "complete")],
)

# ---- norms ---------------------------------------------------------------------------------

structured(
    np.linalg.norm,
    "x, ord=None, axis=None, keepdims=False",
    vjp={"x": "support.norm_back(g, out, x, ord, axis, keepdims)"},
    jvp={"x": "support.norm_dot(x_dot, out, x, ord, axis, keepdims)"},
    at=[
        (V,),
        (M,),
        (T,),
        (V, 1),
        (V, 3),
        (V, 0.5),
        (V, np.inf),
        (V, -np.inf),
        (V, 0),
        (V, -2),
        (M, "fro"),
        (M, "nuc"),
        (M, 2),
        (M, -2),
        (M, 1),
        (M, -1),
        (M, np.inf),
        (M, -np.inf),
        (M, None, 1),
        (M, 2, 0, True),
        (M, 3, -1, True),
        (T, "nuc", (0, 2)),
        (T, 1, (1, 2), True),
        (T, 2, (-1, 0)),
        (T, None, (1, 2)),
        (V + 1j * W,),
        (V + 1j * W, 1),
        (V + 1j * W, 3),
        (V + 1j * W, np.inf),
        (Z, "nuc"),
        (Z, 2),
        (Z, 1),
    ],
)
_OPTIONS = ("ord", "axis", "keepdims")
short(np.linalg.norm, absent=_OPTIONS, real=True, x="g * support.safe_divide(x, out)")
short(np.linalg.norm, absent=_OPTIONS, x="g * support.safe_divide(np.conj(x), out)")
short(
    np.linalg.norm,
    absent=_OPTIONS,
    real=True,
    mode="jvp",
    x="np.sum(x_dot * support.safe_divide(x, out))",
)
if hasattr(np.linalg, "vector_norm"):  # NumPy 2
    structured(
        np.linalg.vector_norm,
        "x, /, *, axis=None, keepdims=False, ord=2",
        vjp={"x": "support.vector_norm_back(g, out, x, ord, axis, keepdims)"},
        jvp={"x": "support.vector_norm_dot(x_dot, out, x, ord, axis, keepdims)"},
        at=[
            (V,),
            (M,),
            ((M,), {"axis": 1}),
            ((T,), {"axis": (0, 2), "ord": 3}),
            ((T,), {"axis": (2, 1), "ord": 1, "keepdims": True}),
            ((T,), {"ord": np.inf}),
        ],
    )
if hasattr(np.linalg, "matrix_norm"):  # NumPy 2
    structured(
        np.linalg.matrix_norm,
        "x, /, *, keepdims=False, ord='fro'",
        vjp={"x": "support.norm_back(g, out, x, ord, (-2, -1), keepdims)"},
        jvp={"x": "support.norm_dot(x_dot, out, x, ord, (-2, -1), keepdims)"},
        at=[(M,), (T,), ((T,), {"ord": 2, "keepdims": True}), ((M,), {"ord": "nuc"})],
    )
nondiff(np.linalg.matrix_rank)
refuse(np.bmat, why="np.matrix is not supported; use np.block")
