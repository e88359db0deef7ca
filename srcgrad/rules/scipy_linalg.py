"""Rules for `scipy.linalg`: as NumPy's where they are the same, and functions of matrices.

The derivative of a function of a matrix along e is the corner of the function of [[a, e], [0, a]]
(Higham, Functions of Matrices, theorem 3.6).  Options that let a function write into its arguments
(`overwrite_a`) are refused.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from srcgrad.rules.linalg import SYMMETRIC, WIDE, A, P
from srcgrad.rules.products import B
from srcgrad.rules.registry import (
    Entry,
    _signature,
    add,
    linear,
    lookup,
    name_of,
    nondiff,
    refuse,
    source,
    structured,
)
from srcgrad.rules.shapes import M, S, V, W
from srcgrad.runtime.support import scipy_bands as bands
from srcgrad.runtime.support import scipy_linalg as helpers

_B3 = B[:3]
_L = np.tril(A)
_U = np.triu(A)


def _like(target: Any, known: Any, params: str, at: Any) -> None:
    """The rule of a function of NumPy with other options."""
    entry = lookup(known)
    assert isinstance(entry, Entry)
    add(
        replace(
            entry, target=target, name=name_of(target), params=_signature(params), at=tuple(at)
        )
    )


# ---- equations, inverses, determinants, norms -------------------------------

_like(linalg.solve, np.linalg.solve, "a, b, *, check_finite=True, assume_a=None",
      [(A, V), (A, _B3), ((P, V), {"assume_a": "gen"})])  # fmt: skip
_like(linalg.inv, np.linalg.inv, "a, *, check_finite=True", [(A,)])
_like(linalg.det, np.linalg.det, "a, *, check_finite=True", [(A,), (S,)])
_like(linalg.pinv, np.linalg.pinv, "a, *, atol=None, rtol=None, check_finite=True", [(WIDE,)])
structured(
    linalg.norm,
    "a, ord=None, axis=None, keepdims=False, check_finite=True",
    vjp={"a": "support.norm_back(g, out, a, ord, axis, keepdims)"},
    jvp={"a": "support.norm_dot(a_dot, out, a, ord, axis, keepdims)"},
    at=[(V,), (M,), (M, "fro"), (V, 1), (M, 2), (M, None, 1)],
)
structured(
    linalg.solve_triangular,
    "a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True",
    let={"y": "linalg.solve_triangular(a, g, support.flipped(trans), lower, unit_diagonal)"},
    vjp={"a": "support.triangular_share(y, out, trans, lower, unit_diagonal)", "b": "y"},
    jvp={
        "a": "-linalg.solve_triangular(a, support.applied("
        "support.part_of(a_dot, lower, unit_diagonal), out, trans), trans, lower, unit_diagonal)",
        "b": "linalg.solve_triangular(a, b_dot, trans, lower, unit_diagonal)",
    },
    at=[(_U, V), (_L, V, 0, True), (_L, _B3, "T", True), (_U, _B3, 1), (_L, V, 0, True, True)],
)
structured(
    linalg.solve_sylvester,
    "a, b, q",
    let={"y": "linalg.solve_sylvester(a.T, b.T, g)"},
    vjp={"a": "-(y @ out.T)", "b": "-(out.T @ y)", "q": "y"},
    jvp={
        "a": "-linalg.solve_sylvester(a, b, a_dot @ out)",
        "b": "-linalg.solve_sylvester(a, b, out @ b_dot)",
        "q": "linalg.solve_sylvester(a, b, q_dot)",
    },
    at=[(A, P[:2, :2], B[:3])],
)
structured(
    linalg.solve_continuous_lyapunov,
    "a, q",
    let={"y": "linalg.solve_continuous_lyapunov(a.T, g)"},
    vjp={"a": "-(y @ out.T + y.T @ out)", "q": "y"},
    jvp={
        "a": "-linalg.solve_continuous_lyapunov(a, a_dot @ out + out @ a_dot.T)",
        "q": "linalg.solve_continuous_lyapunov(a, q_dot)",
    },
    at=[(A, S)],
)
structured(
    linalg.solve_discrete_lyapunov,
    "a, q",
    let={"y": "linalg.solve_discrete_lyapunov(a.T, g)"},
    vjp={"a": "y @ a @ out.T + y.T @ a @ out", "q": "y"},
    jvp={
        "a": "linalg.solve_discrete_lyapunov(a, a_dot @ out @ a.T + a @ out @ a_dot.T)",
        "q": "linalg.solve_discrete_lyapunov(a, q_dot)",
    },
    at=[(0.1 * A, S)],
)

# ---- factors ----------------------------------------------------------------

structured(
    linalg.cholesky,
    "a, lower=False, *, check_finite=True",
    vjp={"a": "support.cholesky_back(g, out, not lower)"},
    jvp={"a": "support.cholesky_dot(a_dot, out, not lower)"},
    note=SYMMETRIC,
    at=[(P,), (P, True)],
)
# The half that is not the factor's is what the matrix has there; from SciPy 1.18 on it is zero.
_KEPT = linalg.cho_factor(np.array([[1.0, 0.0], [0.5, 1.0]]))[0][1, 0] != 0.0
_UPPER, _LOWER = (" + np.triu({}, 1)", " + np.tril({}, -1)") if _KEPT else ("", "")
structured(
    linalg.cho_factor,
    "a, lower=False, *, check_finite=True",
    vjp={
        "a": "support.cholesky_back(np.tril(g[0]), np.tril(out[0]), False)"
        f"{_UPPER.format('g[0]')} if lower else"
        f" support.cholesky_back(np.triu(g[0]), np.triu(out[0]), True){_LOWER.format('g[0]')}"
    },
    jvp={
        "a": "(support.cholesky_dot(a_dot, np.tril(out[0]), False)"
        f"{_UPPER.format('a_dot')} if lower else"
        f" support.cholesky_dot(a_dot, np.triu(out[0]), True){_LOWER.format('a_dot')}, None)"
    },
    note=SYMMETRIC,
    at=[(P,), (P, True)],
)
structured(
    linalg.cho_solve,
    "c_and_lower, b, *, check_finite=True",
    let={"y": "linalg.cho_solve(c_and_lower, g)"},
    vjp={
        "c_and_lower": "(support.factor_share(y, out, c_and_lower[0], c_and_lower[1]), None)",
        "b": "y",
    },
    jvp={
        "c_and_lower": "-linalg.cho_solve(c_and_lower, support.factor_dot("
        "c_and_lower_dot[0], out, c_and_lower[0], c_and_lower[1]))",
        "b": "linalg.cho_solve(c_and_lower, b_dot)",
    },
    at=[((_L, True), V), ((_U, False), V), ((_L, True), _B3)],
)
structured(
    linalg.lu_factor,
    "a, *, check_finite=True",
    vjp={"a": "support.lu_back(g[0], out[0], out[1])"},
    jvp={"a": "(support.lu_dot(a_dot, out[0], out[1]), None)"},
    at=[(A,), (A[::-1],)],
)
structured(
    linalg.lu_solve,
    "lu_and_piv, b, trans=0, *, check_finite=True",
    let={"y": "linalg.lu_solve(lu_and_piv, g, support.flipped(trans))"},
    vjp={
        "lu_and_piv": "(support.lu_share(y, out, lu_and_piv[0], lu_and_piv[1], trans), None)",
        "b": "y",
    },
    jvp={
        "lu_and_piv": "-linalg.lu_solve(lu_and_piv, support.applied(support.lu_matrix_dot("
        "lu_and_piv_dot[0], lu_and_piv[0], lu_and_piv[1]), out, trans), trans)",
        "b": "linalg.lu_solve(lu_and_piv, b_dot, trans)",
    },
    at=[(linalg.lu_factor(A[::-1]), V), (linalg.lu_factor(A), _B3, 1)],
)
_EIGH = "a, *, lower=True, driver=None, check_finite=True"
_eigh = structured(
    linalg.eigh,
    _EIGH,
    vjp={"a": "support.eigh_back(g[0], g[1], out[0], out[1])"},
    jvp={"a": "support.eigh_dot(a_dot, out[0], out[1])"},
    note=SYMMETRIC,
    # Other drivers give vectors signs that jump.
    at=[((P,), {"driver": "evd"}), ((P,), {"lower": False, "driver": "evd"})],
)
_VALUES: dict[str, Any] = {
    "vjp": {"a": "support.eigvalsh_back(g, a, 'L')"},
    "jvp": {"a": "support.eigvalsh_dot(a_dot, a, 'L')"},
    "note": SYMMETRIC,
}
_eigh.variants["eigvals_only"] = structured(
    linalg.eigh,
    f"{_EIGH}, eigvals_only=True",
    at=[((P,), {"eigvals_only": True})],
    register=False,
    **_VALUES,
)
structured(linalg.eigvalsh, _EIGH, at=[(P,), ((P,), {"lower": False})], **_VALUES)
structured(
    linalg.eigvals,
    "a, *, check_finite=True",
    vjp={"a": "support.eigvals_back(g, out, a)"},
    jvp={"a": "support.eigvals_dot(a_dot, out, a)"},
    at=[(A,)],
)
structured(
    linalg.eig,
    "a, *, check_finite=True",
    vjp={"a": "support.eig_back(g[0], g[1], out[0], out[1], a)"},
    jvp={"a": "support.eig_dot(a_dot, out[0], out[1])"},
    at=[(A,)],
)
structured(
    linalg.svd,
    "a, full_matrices=True, compute_uv=True, *, check_finite=True",
    vjp={"a": "support.svd_any_back(g, out, a, compute_uv, False)"},
    jvp={"a": "support.svd_any_dot(a_dot, out, a, compute_uv, False)"},
    at=[(A, False), (WIDE, False), (A, True, False)],
)
structured(
    linalg.svdvals,
    "a, *, check_finite=True",
    vjp={"a": "support.svdvals_back(g, a)"},
    jvp={"a": "support.svdvals_dot(a_dot, a)"},
    at=[(A,), (WIDE,)],
)

# ---- functions of matrices --------------------------------------------------


def _matrix_function(name: str, a: Any, at: Any, params: str = "a") -> None:
    more = "".join(f", {p}" for p in params.split(", ")[1:])
    along = f"support.corner(linalg.{name}(support.doubled({{a}}, {{e}}){more}))"
    structured(
        getattr(linalg, name),
        params,
        vjp={"a": f"support.match({along.format(a='np.swapaxes(a, -1, -2)', e='g')}, a)"},
        jvp={"a": along.format(a="a", e="a_dot")},
        at=at,
    )


for _name in ("expm", "sinm", "cosm", "sinhm", "coshm"):
    _matrix_function(_name, A, [(0.3 * A,), (S,)])
_matrix_function("logm", P, [(P,), (0.1 * P + np.eye(3),)])
structured(
    linalg.sqrtm,
    "a",
    vjp={"a": "support.match(linalg.solve_sylvester(out.T, out.T, g), a)"},
    jvp={"a": "linalg.solve_sylvester(out, out, a_dot)"},
    at=[(P,), (0.1 * P + np.eye(3),)],
)

source(linalg.expm_frechet, bands.expm_frechet, at=[(0.3 * A, P)])

# ---- bands ------------------------------------------------------------------

_BANDS = np.cos(np.arange(16.0) ** 2).reshape(4, 4) + np.array([[0.0], [0.0], [4.0], [0.0]])
_Y = np.array([0.3, -1.2, 0.7, 0.9])
_YS = np.outer(_Y, [1.0, 0.4]) + np.eye(4)[:, :2]
_AROUND = "l_and_u[0], l_and_u[1]"
structured(
    linalg.solve_banded,
    "l_and_u, ab, b, *, check_finite=True",
    let={
        "y": "linalg.solve_banded((l_and_u[1], l_and_u[0]),"
        f" support.bands_flipped({_AROUND}, ab), g)"
    },
    vjp={"ab": f"-support.bands_outer({_AROUND}, y, out)", "b": "y"},
    jvp={
        "ab": f"-linalg.solve_banded(l_and_u, ab, support.bands_applied({_AROUND}, ab_dot, out))",
        "b": "linalg.solve_banded(l_and_u, ab, b_dot)",
    },
    zero=("l_and_u",),
    at=[((1, 2), _BANDS, _Y), ((1, 2), _BANDS, _YS)],
)
linear(
    bands.bands_flipped,
    "low, up, ab",
    ab="support.bands_flipped(up, low, g)",
    zero=("low", "up"),
    at=[(1, 2, _BANDS), (2, 1, _BANDS)],
)
structured(
    bands.bands_applied,
    "low, up, ab, x",
    vjp={
        "ab": "support.bands_outer(low, up, g, x)",
        "x": "support.bands_applied(up, low, support.bands_flipped(low, up, ab), g)",
    },
    jvp={
        "ab": "support.bands_applied(low, up, ab_dot, x)",
        "x": "support.bands_applied(low, up, ab, x_dot)",
    },
    zero=("low", "up"),
    at=[(1, 2, _BANDS, _Y), (2, 1, _BANDS, _YS)],
)
structured(
    bands.bands_outer,
    "low, up, y, x",
    vjp={
        "y": "support.bands_applied(low, up, g, x)",
        "x": "support.bands_applied(up, low, support.bands_flipped(low, up, g), y)",
    },
    jvp={
        "y": "support.bands_outer(low, up, y_dot, x)",
        "x": "support.bands_outer(low, up, y, x_dot)",
    },
    zero=("low", "up"),
    at=[(1, 2, _Y, _Y[::-1]), (2, 1, _YS, _YS[::-1])],
)
source(
    linalg.solveh_banded,
    bands.solveh_banded,
    at=[(_BANDS[1:3], _Y), ((_BANDS[2:4] + 0.1, _YS), {"lower": True})],
)

# ---- other equations and factors --------------------------------------------

source(linalg.solve_toeplitz, bands.solve_toeplitz, at=[(P[0], V), ((P[0], P[0] + 0.1), V)])
source(linalg.qr, bands.qr, at=[(A,), ((B[:, :2],), {"mode": "economic"})])
source(linalg.lu, bands.lu, at=[(A,), (A[::-1],)])
source(linalg.polar, bands.polar, at=[(A,), (A, "left")])

# ---- matrices made of vectors and blocks ------------------------------------

_STEP = "np.subtract.outer(np.arange(np.size({0})), np.arange(np.size({1})))"
linear(
    linalg.circulant,
    "c",
    c=f"support.scatter(g, {_STEP.format('c', 'c')} % np.size(c), np.shape(c))",
    at=[(V,)],
)
_toeplitz = linear(
    linalg.toeplitz,
    "c",
    c=f"support.scatter(g, np.abs({_STEP.format('c', 'c')}), np.shape(c))",
    at=[(V,)],
)
_DOWN, _RIGHT = f"np.maximum({_STEP}, 0)", f"np.maximum(-{_STEP}, 0)"
_toeplitz.variants[2] = linear(
    linalg.toeplitz,
    "c, r",
    c=f"support.scatter(np.tril(g), {_DOWN.format('c', 'r')}, np.shape(c))",
    r=f"support.scatter(np.triu(g, 1), {_RIGHT.format('c', 'r')}, np.shape(r))",
    at=[(V, np.append(W, 0.3))],
    register=False,
)
structured(
    linalg.block_diag,
    "*arrs",
    vjp={"arrs": "support.blocks_back(g, arrs)"},
    jvp={"arrs": "support.blocks_of(support.filled(arrs_dot, arrs))"},
    at=[(A, M, V), (0.3, M)],
)
linear(
    helpers.blocks_of, "arrs", arrs="support.blocks_back(g, arrs)", at=[((A, M, V),), ((0.3, M),)]
)
linear(
    helpers.blocks_back,
    "ct, arrs",
    ct="support.blocks_of(support.filled(g, arrs))",
    zero=("arrs",),
    at=[(np.cos(np.arange(36.0)).reshape(6, 6)[:, :7], (A, A, 0.3)[:2])],
)

nondiff(
    linalg.hadamard, linalg.hilbert, linalg.invhilbert, linalg.pascal, linalg.invpascal,
    linalg.dft, linalg.bandwidth, linalg.issymmetric, linalg.ishermitian, helpers.permutation,
    helpers.is_transposed, helpers.flipped,
)  # fmt: skip
# Others are read where they are written in Python.
for _name in dir(linalg):
    _target = getattr(linalg, _name)
    _python = inspect.isfunction(_target) or isinstance(_target, type)
    if not _name.startswith("_") and callable(_target) and not _python:
        refuse(
            _target,
            why="its derivative is in no table of srcgrad's; give a rule with @srcgrad.rule",
        )
