"""Rules for NumPy's polynomials, sets of values, windows and others.

A series is a matrix of values of its polynomials times its coefficients.  The polynomials of each
family have derivatives that are series again: NumPy's `<name>der`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.polynomial

from srcgrad.rules.registry import linear, nondiff, refuse, source, structured
from srcgrad.rules.shapes import M, S
from srcgrad.runtime import support
from srcgrad.runtime.support import series, uniques

_X = np.array([0.3, -0.5, 0.7])
_C = np.array([1.1, 2.0, -0.3, 0.5])
_D = np.array([0.3, -1.0, 2.0])
_C2 = np.outer(_C, _D)
_B = np.cos(np.arange(12.0)).reshape(3, 4)

FAMILIES = {
    "polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm",
    "hermite_e": "herme", "laguerre": "lag",
}  # fmt: skip


def _family(module: str, prefix: str) -> None:
    owner = getattr(np.polynomial, module)
    name = f"np.polynomial.{module}.{prefix}"
    of = partial(getattr, owner)
    basis = f"np.reshape({name}vander(x, np.shape(c)[0] - 1), np.shape(x) + np.shape(c)[:1])"
    structured(
        of(f"{prefix}val"),
        "x, c, tensor=True",
        vjp={
            "x": f"support.unbroadcast(g * {name}val(x, {name}der(c), tensor), x)",
            "c": f"support.cast_like(support.basis_back(g, {basis}, c, tensor), c)",
        },
        jvp={
            "x": f"x_dot * {name}val(x, {name}der(c), tensor)",
            "c": f"support.cast_like(support.basis_dot(c_dot, {basis}, c, tensor), out)",
        },
        at=[(0.3, _C), (_X, _C), (_X, _C2), (_X, _C2, False), (M, _D), (_X, _C[:1])],
    )
    slope = f"({name}vander(x, deg)[..., :np.maximum(deg, 1)] @ {name}der(np.eye(deg + 1)))"
    structured(
        of(f"{prefix}vander"),
        "x, deg",
        vjp={"x": f"support.cast_like(np.reshape(np.sum(g * {slope}, axis=-1), np.shape(x)), x)"},
        jvp={"x": f"support.cast_like(np.atleast_1d(x_dot)[..., None] * {slope}, out)"},
        at=[(_X, 3), (M, 2), (_X, 0), (0.3, 2)],
    )
    for what, more in (("der", "m, scl"), ("int", "m, [], lbnd, scl")):
        extra = "" if what == "der" else "k=[], lbnd=0, "
        matrix = f"{name}{what}(np.eye(np.shape(c)[axis]), {more})"
        structured(
            of(f"{prefix}{what}"),
            f"c, m=1, {extra}scl=1, axis=0",
            vjp={
                "c": f"support.cast_like("
                f"np.moveaxis(np.tensordot({matrix}, g, (0, axis)), 0, axis), c)"
            },
            jvp={"c": f"{name}{what}(c_dot, {more}, axis)"},
            at=[(_C,), (_C, 2), (_C2,), ((_C2,), {"axis": 1, "scl": 0.5}), (_C[:1],)],
        )
    val, vander = of(f"{prefix}val"), of(f"{prefix}vander")
    source(of(f"{prefix}val2d"), partial(series.value_2d, val), at=[(_X, _X[::-1], _C2)])
    source(of(f"{prefix}grid2d"), partial(series.grid_2d, val), at=[(_X, _D, _C2)])
    cube = np.multiply.outer(_C2, _D)
    source(of(f"{prefix}val3d"), partial(series.value_3d, val), at=[(_X, _D, _X, cube)])
    if hasattr(owner, f"{prefix}valnd"):  # NumPy 2.5
        source(of(f"{prefix}valnd"), partial(series.value_nd, val), at=[((_X, _D), _C2)])
    source(of(f"{prefix}grid3d"), partial(series.grid_3d, val), at=[(_X, _D, _X, cube)])
    source(of(f"{prefix}vander2d"), partial(series.vander_2d, vander), at=[(_X, _D, (2, 1))])
    source(
        of(f"{prefix}vander3d"), partial(series.vander_3d, vander), at=[(_X, _D, _X, (1, 1, 1))]
    )


for _module, _prefix in FAMILIES.items():
    _family(_module, _prefix)

_BASES: list[Any] = [(_B[:, 0], _B, _C, True), (_B @ np.outer(_C, _D), _B, _C2, True)]
structured(
    support.basis_back,
    "ct, basis, c, tensor",
    vjp={
        "ct": "support.basis_dot(g, basis, c, tensor)",
        "basis": "support.basis_share(ct, g, basis, tensor)",
    },
    jvp={
        "ct": "support.basis_back(ct_dot, basis, c, tensor)",
        "basis": "support.basis_back(ct, basis_dot, c, tensor)",
    },
    zero=("c",),
    at=[(_B[:, 0], _B, _C, True), (_C2.T[:, :3], _B, _C2, True), (_D, _B, _C2, False)],
)
structured(
    support.basis_dot,
    "c, basis, like, tensor",
    vjp={
        "c": "support.basis_back(g, basis, c, tensor)",
        "basis": "support.basis_share(g, c, basis, tensor)",
    },
    jvp={
        "c": "support.basis_dot(c_dot, basis, like, tensor)",
        "basis": "support.basis_dot(c, basis_dot, like, tensor)",
    },
    zero=("like",),
    at=[(_C, _B, _C, True), (_C2, _B, _C2, True), (_C2, _B, _C2, False)],
)
structured(
    support.basis_share,
    "ct, c, basis, tensor",
    vjp={
        "ct": "support.basis_dot(c, g, c, tensor)",
        "c": "support.basis_back(ct, g, c, tensor)",
    },
    jvp={
        "ct": "support.basis_share(ct_dot, c, basis, tensor)",
        "c": "support.basis_share(ct, c_dot, basis, tensor)",
    },
    zero=("basis",),
    at=[(_B[:, 0], _C, _B, True), (_C2.T[:, :3], _C2, _B, True), (_D, _C2, _B, False)],
)

# ---- polynomials, highest power first ------------------------------------------------------

linear(
    np.polyder,
    "p, m=1",
    p="support.cast_like(np.pad("
    "g * np.polyder(np.ones(np.size(p)), m), (0, np.minimum(m, np.size(p)))), p)",
    view="maybe",
    at=[(_C,), (_C, 2), (_C, 0), (_D, 3)],
)
structured(
    np.polyint,
    "p, m=1, k=None",
    vjp={
        "p": "support.cast_like("
        "g[: np.size(p)] * np.polyint(np.ones(np.size(p)), m)[: np.size(p)], p)"
    },
    jvp={"p": "np.polyint(p_dot, m)"},
    at=[(_C,), (_C, 2), (_C, 1, 5)],
)
for _add, _sign in ((np.polyadd, ""), (np.polysub, "-")):
    linear(
        _add,
        "a1, a2",
        a1="np.reshape(g[np.size(g) - np.size(a1) :], np.shape(a1))",
        a2=f"np.reshape({_sign}g[np.size(g) - np.size(a2) :], np.shape(a2))",
        at=[(_C, _D), (_D, _C), (_C, 0.3)],
    )
# Leading zeros are dropped, so the result may be shorter than a convolution's.
_FULL = "np.pad(g, (np.size(a1) + np.size(a2) - 1 - np.size(g), 0))"
structured(
    np.polymul,
    "a1, a2",
    vjp={
        "a1": f"np.reshape(np.convolve({_FULL}, np.atleast_1d(a2)[::-1], 'valid'), np.shape(a1))",
        "a2": f"np.reshape(np.convolve({_FULL}, np.atleast_1d(a1)[::-1], 'valid'), np.shape(a2))",
    },
    jvp={
        "a1": "np.convolve(a1_dot, a2)[-np.size(out) :]",
        "a2": "np.convolve(a1, a2_dot)[-np.size(out) :]",
    },
    at=[(_C, _D), (0.4, _D)],
)
refuse(np.polydiv, why="the length of the remainder depends on values")
source(
    np.polyfit,
    series.polyfit,
    at=[(_C, np.sin(_C), 2), (_C, np.outer(_C, _D), 1), ((_C, _C, 2), {"w": _C[::-1]})],
)
source(np.poly, series.poly, at=[(_D,), (_C,)])
structured(
    np.roots,
    "p",
    let={"share": "np.polyval(np.polyder(p), out)"},
    vjp={
        "p": "support.cast_like(support.match("
        "-np.sum((g / share)[:, None] * np.vander(out, np.size(p)), axis=0), p), p)"
    },
    jvp={"p": "support.cast_like(-np.polyval(p_dot, out) / share, out)"},
    at=[(np.array([1.0, -3.0, 2.3, -0.4]),), (np.array([1.3, 0.5, 2.0]),)],
)

# ---- sets of values ------------------------------------------------------------------------

_unique = structured(
    np.unique,
    "ar",
    vjp={"ar": "support.unique_back(g, ar)"},
    jvp={"ar": "support.unique_dot(ar_dot, ar)"},
    at=[(_X,), (_C2,)],
)
# Positions and counts are whole numbers, which have no differences to compare with here.
_unique_and_places = source(np.unique, uniques.unique, at=[], register=False)
for _given in (2, 3, 4, "return_index", "return_inverse", "return_counts"):
    _unique.variants[_given] = _unique_and_places
nondiff(uniques.unique_parts)
source(np.union1d, series.union1d, at=[(_C, _X)])
source(np.intersect1d, series.intersect1d, at=[])  # nothing is in both, once it is moved
source(np.setdiff1d, series.setdiff1d, at=[(_C, _X), (_C, _X, True)])
source(np.setxor1d, series.setxor1d, at=[(_C, _X)])
source(np.sort_complex, series.sort_complex, at=[(_C,), (_C + 1j * _C[::-1],)])
source(np.trim_zeros, series.trim_zeros, at=[(_C,), (_C, "f")])
for _unordered in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    if hasattr(np, _unordered):
        refuse(getattr(np, _unordered), why="the order of its values is not fixed; use np.unique")

# ---- others ----------------------------------------------------------------------------------

source(np.kaiser, series.kaiser, at=[(5, 2.0), (1, 0.4), (4, 1.3)])
source(
    np.linalg.cond,
    series.cond,
    at=[(S + 2.0 * np.eye(3),), (M,), (S + 2.0 * np.eye(3), 1), (S + 2.0 * np.eye(3), -2)],
)
nondiff(support.trim_widths)
