"""Rules of the helpers in `srcgrad.runtime.support` for linear algebra, norms and transforms.

The helpers of whole decompositions have no entry: they are written in the language srcgrad itself
writes, and are differentiated from their source.  FROM_SOURCE names them; a test checks that they
call only what has a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.rules.linalg import AA, STACKED, A, Z
from srcgrad.rules.products import B
from srcgrad.rules.registry import linear, nondiff, structured
from srcgrad.rules.shapes import M, N, S, T, V, W
from srcgrad.runtime import support

FROM_SOURCE: tuple[Callable[..., Any], ...] = (
    support.einsum_dot,
    support.einsum_cross,
    support.multi_dot_back,
    support.multi_dot_dot,
    support.matrix_power_back,
    support.matrix_power_dot,
    support.slogdet_back,
    support.slogdet_dot,
    support.cholesky_back,
    support.cholesky_dot,
    support.pinv_back,
    support.pinv_dot,
    support.lstsq_back,
    support.lstsq_columns,
    support.lstsq_dot,
    support.tensorsolve_back,
    support.tensorsolve_dot,
    support.tensorinv_back,
    support.tensorinv_dot,
    support.eigvalsh_back,
    support.eigvalsh_dot,
    support.eigh_back,
    support.eigh_dot,
    support.eig_back,
    support.eig_dot,
    support.eigvals_back,
    support.eigvals_dot,
    support.inverse_sums,
    support.widened,
    support.svdvals_back,
    support.svdvals_dot,
    support.svd_back,
    support.svd_dot,
    support.svd_any_back,
    support.svd_any_dot,
    support.qr_tall,
    support.qr_back,
    support.qr_dot,
    support.qr_any_back,
    support.qr_any_dot,
    support.norm_slope,
    support.singular_slope,
    support.norm_back,
    support.norm_dot,
    support.vector_norm_back,
    support.vector_norm_dot,
)

nondiff(
    support.repeated_terms,  # zero but where eigenvalues repeat, and there no second derivative is
    support.largest,
    support.paired,
    support.cutoff,
    support.solve_order,
    support.side,
    support.qr_check,
    support.norm_axes,
    support.norm_kind,
    support.of_vectors,
    support.tie_shares,
    support.line_shares,
    support.singular_shares,
    support.fft_axes,
    support.fft_sizes,
    support.other_norm,
)

# ---- matrices ------------------------------------------------------------------------------

linear(support.adjoint, "x", x="support.adjoint(g)", at=[(M,), (T,), (Z,)])
linear(support.symmetric, "x", x="support.symmetric(g)", at=[(S,), (AA,), (Z,)])
linear(
    support.diagonal_matrix,
    "x, rows, columns",
    x="support.main_diagonal(g)[..., : np.shape(x)[-1]]",
    at=[(V, 3, 3), (M, 3, 4), (M[:, :2], 4, 3)],
)
linear(
    support.main_diagonal,
    "x",
    x="support.diagonal_matrix(g, np.shape(x)[-2], np.shape(x)[-1])",
    at=[(S,), (T,), (M.T,)],
)
linear(support.padded, "s, n", s="g[..., : np.shape(s)[-1]]", at=[(V, 5), (M, 3)])
linear(
    support.determined,
    "x, w",
    x="support.distinct(g, w)",
    zero=("w",),
    at=[(S, V), (AA, M)],
)
linear(
    support.distinct,
    "x, w",
    x="support.distinct(g, w)",
    zero=("w",),
    at=[(S, V), (S, np.array([1.0, 1.0, 2.0]))],
)
structured(
    support.inverse_gaps,
    "w",
    let={"h": "-g * out * out"},
    vjp={"w": "np.sum(h, -2) - np.sum(h, -1)"},
    jvp={"w": "(w_dot[..., :, None] - w_dot[..., None, :]) * (out * out)"},
    at=[(V,), (M,), (V + 1j * W,)],
)
_STACKS = [(A, V, True), (AA, V, True), (AA, B[:3], False), (A, np.stack([V, W]), True)]
structured(
    support.solve_like,
    "a, c, b",
    let={"y": "support.solve_like(np.swapaxes(a, -1, -2), g, b)"},
    vjp={
        "a": "support.unbroadcast(-support.outer_like(y, out, support.of_vectors(a, b)), a)",
        "c": "support.unbroadcast(y, c)",
    },
    jvp={
        "a": "-support.solve_like(a, support.apply_like(a_dot, out, support.of_vectors(a, b)), b)",
        "c": "support.solve_like(a, c_dot, b)",
    },
    zero=("b",),
    at=[(A, V, V), *((a, b, b) for a, b in STACKED), (A, np.stack([V, W]), V)],
)
structured(
    support.apply_like,
    "a, x, vectors",
    vjp={
        "a": "support.unbroadcast(support.outer_like(g, x, vectors), a)",
        "x": "support.unbroadcast(support.apply_like(np.swapaxes(a, -1, -2), g, vectors), x)",
    },
    jvp={
        "a": "support.apply_like(a_dot, x, vectors)",
        "x": "support.apply_like(a, x_dot, vectors)",
    },
    at=_STACKS,
)
structured(
    support.outer_like,
    "y, x, vectors",
    vjp={
        "y": "support.unbroadcast(support.apply_like(g, x, vectors), y)",
        "x": "support.unbroadcast(support.apply_like(np.swapaxes(g, -1, -2), y, vectors), x)",
    },
    jvp={
        "y": "support.outer_like(y_dot, x, vectors)",
        "x": "support.outer_like(y, x_dot, vectors)",
    },
    at=[(V, W, True), (np.stack([V, W]), W, True), (M, S, False), (T, B.T, False)],
)
structured(
    support.cofactor,
    "a",
    vjp={"a": "support.cofactor_dot(g, a)"},
    jvp={"a": "support.cofactor_dot(a_dot, a)"},
    at=[(A,), (AA,), (S[:2, :2],), (Z,), (np.outer(V, W),)],
)
# In `a`, cofactor_dot(d, a) is the sum of cofactor(minors(a)) * minors(d) over each minor: so its
# derivative is one of smaller matrices, singular or not.
structured(
    support.cofactor_dot,
    "d, a",
    vjp={
        "d": "support.cofactor_dot(g, a)",
        "a": "support.minors_back(support.checkered(g)[..., None, None]"
        " * support.cofactor_dot(support.minors(d), support.minors(a)), a)",
    },
    jvp={
        "d": "support.cofactor_dot(d_dot, a)",
        "a": "support.checkered(np.sum(support.minors(a_dot)"
        " * support.cofactor_dot(support.minors(d), support.minors(a)), (-2, -1)))",
    },
    at=[(S, A), (Z, Z), (N, np.outer(V, W)[:2, :2]), (AA, AA), (N[:1, :1], N[1:, 1:])],
)
linear(support.minors, "a", a="support.minors_back(g, a)", at=[(S,), (AA,), (N[:1, :1],)])
linear(
    support.minors_back,
    "ct, a",
    ct="support.minors(g)",
    zero=("a",),
    at=[(support.minors(np.cos(S)), S), (support.minors(AA), AA)],
)
linear(support.checkered, "x", x="support.checkered(g)", at=[(S,), (AA,)])

# ---- norms ---------------------------------------------------------------------------------

linear(
    support.lines,
    "x, axes",
    x="support.unlines(g, x, axes)",
    at=[(T, (0, 2)), (T, (2, 1)), (M, (0, 1))],
)
linear(
    support.unlines,
    "y, x, axes",
    y="support.lines(g, axes)",
    zero=("x",),
    at=[(np.cos(T).reshape(3, 8), T, (0, 2)), (np.cos(T).reshape(2, 12), T, (2, 1))],
)

# ---- Fourier transforms ----------------------------------------------------------------------

_HALF = np.sin(np.arange(1.0, 7.0)).reshape(2, 3) + 1j * np.cos(M)
linear(
    support.rfft_back,
    "ct, a, n, axis, norm",
    ct="np.fft.rfft(g, n, axis, norm)",
    zero=("a",),
    at=[(_HALF[:, :2], M, None, -1, None), (_HALF, M, 5, 1, "ortho"), (_HALF, M, 2, 0, None)],
)
linear(
    support.irfft_back,
    "ct, a, axis, norm",
    ct="np.fft.irfft(g, np.shape(ct)[axis], axis, norm)",
    zero=("a",),
    at=[(M, _HALF, -1, None), (np.cos(T[0][:2]), _HALF, 1, "ortho"), (M, M, 0, "forward")],
)
linear(
    support.rfftn_back,
    "ct, a, s, axes, norm",
    ct="np.fft.rfftn(g, support.fft_sizes(a, s, axes), support.fft_axes(a, s, axes), norm)",
    zero=("a",),
    at=[(_HALF[:, :2], M, None, None, None), (_HALF, M, (2, 5), (0, 1), "ortho")],
)
linear(
    support.irfftn_back,
    "ct, a, s, axes, norm",
    ct="support.irfftn_dot(g, ct, support.fft_axes(a, s, axes), norm)",
    zero=("a",),
    at=[(np.cos(T[0][:2]), _HALF, None, None, None), (S, _HALF, (3, 3), (0, 1), "forward")],
)
linear(
    support.irfftn_dot,
    "x, like, axes, norm",
    x="support.irfftn_back(g, x, None, axes, norm)",
    zero=("like",),
    at=[(_HALF, np.zeros((2, 4)), (0, 1), None), (_HALF, np.zeros((2, 5)), (0, 1), "ortho")],
)
