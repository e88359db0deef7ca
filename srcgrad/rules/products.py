"""Rules for products of arrays.

No formula conjugates unless the function does: the gradient of a real function of z = x + iy is
du/dx - i du/dy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from srcgrad.rules.registry import Formula, alias, linear, nondiff, structured
from srcgrad.rules.shapes import M, N, S, T, V, W
from srcgrad.rules.short import short
from srcgrad.rules.short import specialised as specialised
from srcgrad.runtime import support

C = V + 1j * W  # a complex vector
B = np.cos(np.arange(1.0, 9.0)).reshape(4, 2)
PAIRS = [
    (V, W),
    (M, V),
    (V, S),
    (M, S),
    (T, B),
    (T, B[:, 0]),
    (B[:, 1], np.swapaxes(T, -1, -2)),
    (T[:, None], np.swapaxes(T, 1, 2)[None]),
    (M[None], T),
    (M, T),
    (S, C),
    (C, V),
]


def _bilinear(
    target: object, params: str, back: str, *, call: str, at: object, extra: str = ""
) -> None:
    """A product of `a` and `b` with helpers `<back>_a` and `<back>_b`."""
    structured(
        target,
        params,
        vjp={
            "a": f"support.{back}_a(g, a, b{extra})",
            "b": f"support.{back}_b(g, a, b{extra})",
        },
        jvp={"a": call.format("a_dot", "b"), "b": call.format("a", "b_dot")},
        writes=("out",) if "out" in params else (),
        at=at,
    )


def _bilinear_backs(
    back: str, *, call: str, at: object, extra: str = "", cast: str = "{}"
) -> None:
    """The helpers themselves: bilinear in the cotangent and the other operand."""
    tail = extra.removeprefix(", ")
    params = "ct, a, b" + (f", {tail}" if tail else "")
    structured(
        getattr(support, f"{back}_a"),
        params,
        vjp={"ct": cast.format(call.format("g", "b")), "b": f"support.{back}_b(ct, g, b{extra})"},
        jvp={
            "ct": f"support.{back}_a(ct_dot, a, b{extra})",
            "b": f"support.{back}_a(ct, a, b_dot{extra})",
        },
        zero=("a",),
        at=at,
    )
    structured(
        getattr(support, f"{back}_b"),
        params,
        vjp={"ct": cast.format(call.format("a", "g")), "a": f"support.{back}_a(ct, a, g{extra})"},
        jvp={
            "ct": f"support.{back}_b(ct_dot, a, b{extra})",
            "a": f"support.{back}_b(ct, a_dot, b{extra})",
        },
        zero=("b",),
        at=at,
    )


def _with_result(product: Callable[..., Any], pairs: Sequence[Any]) -> list[Any]:
    """Samples of the helpers: a cotangent of the product's shape in front."""
    return [(np.sin(product(*pair) + 1.0), *pair) for pair in pairs]


_bilinear(
    np.matmul,
    "a, b, /, out=None",
    "matmul_back",
    call="np.matmul({}, {})",
    at=PAIRS,
)
short(np.matmul, {"a": 2, "b": 2}, a="g @ b.T", b="a.T @ g")
short(np.matmul, {"a": 2, "b": 1}, a="np.outer(g, b)", b="a.T @ g")
short(np.matmul, {"a": 1, "b": 2}, a="b @ g", b="np.outer(a, g)")
short(np.matmul, {"a": 1, "b": 1}, a="g * b", b="g * a")
short(np.matmul, mode="jvp", a="a_dot @ b", b="a @ b_dot")
_bilinear_backs("matmul_back", call="np.matmul({}, {})", at=_with_result(np.matmul, PAIRS[:9]))
if hasattr(np.linalg, "matmul"):  # NumPy 2
    alias(np.linalg.matmul, np.matmul)

_DOT = [
    (V, W),
    (M, V),
    (V, S),
    (M, S),
    (2.0, V),
    (M, 0.4),
    (0.3, 0.4),
    (T, B),
    (M, np.cos(T)),
    (T, B[:, 0]),
    (C, V),
]
_bilinear(np.dot, "a, b, out=None", "dot_back", call="np.dot({}, {})", at=_DOT)
short(np.dot, {"a": 2, "b": 2}, a="g @ b.T", b="a.T @ g")
short(np.dot, {"a": 2, "b": 1}, a="np.outer(g, b)", b="a.T @ g")
short(np.dot, {"a": 1, "b": 2}, a="b @ g", b="np.outer(a, g)")
short(np.dot, {"a": 1, "b": 1}, a="g * b", b="g * a")
# np.dot makes a Python number a float64, unlike `*`.
_CAST = "support.cast_like({}, ct)"
_bilinear_backs("dot_back", call="np.dot({}, {})", cast=_CAST, at=_with_result(np.dot, _DOT[:10]))

_INNER = [(V, W), (M, V), (V, S), (M, S), (0.3, V), (T, B.T), (T, np.cos(T))]
_bilinear(np.inner, "a, b, /", "inner_back", call="np.inner({}, {})", at=_INNER)
short(np.inner, {"a": 1, "b": 1}, a="g * b", b="g * a")
short(np.inner, {"a": 2, "b": 2}, a="g @ b", b="g.T @ a")
_bilinear_backs(
    "inner_back", call="np.inner({}, {})", cast=_CAST, at=_with_result(np.inner, _INNER)
)

_TENSORDOT = [
    (M, np.cos(M), 2),
    (T, B, 1),
    (T, M, ([0, 1], [0, 1])),
    (T, M, ((1, 0), (1, 0))),
    (T, M, ([1], [1])),
    (T, M, (1, -1)),
    (T, np.cos(T), ((2, 0), (2, 0))),
    (V, W, 0),
]
_bilinear(
    np.tensordot,
    "a, b, axes=2",
    "tensordot_back",
    call="np.tensordot({}, {}, axes)",
    extra=", axes",
    at=_TENSORDOT,
)
_bilinear_backs(
    "tensordot_back",
    call="np.tensordot({}, {}, axes)",
    extra=", axes",
    at=_with_result(np.tensordot, _TENSORDOT),
)
if hasattr(np.linalg, "tensordot"):  # NumPy 2
    _bilinear(
        np.linalg.tensordot,
        "a, b, /, *, axes=2",
        "tensordot_back",
        call="np.tensordot({}, {}, axes)",
        extra=", axes",
        at=[(M, np.cos(M)), ((T, B), {"axes": 1})],
    )

_KRON = [(V, W[:2]), (V, M), (M, N), (2.0, V), (T, V)]
_bilinear(np.kron, "a, b", "kron_back", call="np.kron({}, {})", at=_KRON)
_bilinear_backs("kron_back", call="np.kron({}, {})", at=_with_result(np.kron, _KRON))

_CROSS = [
    (V, W, -1, -1, -1, None),
    (M, V, -1, -1, -1, None),
    (S, S.T + 1.0, 0, 1, 0, None),
    (S, S + N[0, 0], -1, -1, -1, 0),
]
_bilinear(
    np.cross,
    "a, b, axisa=-1, axisb=-1, axisc=-1, axis=None",
    "cross_back",
    call="np.cross({}, {}, axisa, axisb, axisc, axis)",
    extra=", axisa, axisb, axisc, axis",
    at=[(V, W), *_CROSS],
)
_AXES = ("axisa", "axisb", "axisc", "axis")
short(np.cross, {"a": 1, "b": 1, "out": 1}, absent=_AXES, a="np.cross(b, g)", b="np.cross(g, a)")
_bilinear_backs(
    "cross_back",
    call="np.cross({}, {}, axisa, axisb, axisc, axis)",
    extra=", axisa, axisb, axisc, axis",
    at=_with_result(np.cross, _CROSS),
)
if hasattr(np.linalg, "cross"):  # NumPy 2
    structured(
        np.linalg.cross,
        "a, b, /, *, axis=-1",
        vjp={
            "a": "support.cross_back_a(g, a, b, axis, axis, axis, None)",
            "b": "support.cross_back_b(g, a, b, axis, axis, axis, None)",
        },
        jvp={
            "a": "np.linalg.cross(a_dot, b, axis=axis)",
            "b": "np.linalg.cross(a, b_dot, axis=axis)",
        },
        at=[(V, W), (M, V), ((S, S.T), {"axis": 0})],
    )

# ---- products whose formulas are short for every shape ------------------------------------

_OUTER: list[Any] = [(np.outer, "a, b, out=None", "np.outer")]
if hasattr(np.linalg, "outer"):  # NumPy 2
    _OUTER.append((np.linalg.outer, "a, b, /", "np.linalg.outer"))
for _outer, _params, _call in _OUTER:
    structured(
        _outer,
        _params,
        vjp={
            "a": "np.reshape(g @ np.ravel(b), np.shape(a))",
            "b": "np.reshape(np.ravel(a) @ g, np.shape(b))",
        },
        jvp={"a": f"{_call}(a_dot, b)", "b": f"{_call}(a, b_dot)"},
        writes=("out",) if _outer is np.outer else (),
        at=[(V, W[:2])] + ([(M, V), (2.0, V)] if _outer is np.outer else []),
    )
    short(_outer, {"a": 1, "b": 1}, a="g @ b", b="a @ g")
structured(
    np.vdot,
    "a, b, /",
    vjp={
        "a": "np.reshape(np.conj(g * b), np.shape(a))",
        "b": "np.reshape(g * np.conj(a), np.shape(b))",
    },
    jvp={"a": "np.vdot(a_dot, b)", "b": "np.vdot(a, b_dot)"},
    at=[(V, W), (C, C * 1j + 0.3), (M, np.cos(M)), (0.4, 2.0)],
)
short(np.vdot, {"a": 1, "b": 1}, real=True, a="g * b", b="g * a")
_VECDOT = [(V, W), (M, V), (C, C * 1j + 0.3), (T, B[:, 0])]
if hasattr(np, "vecdot"):
    _vecdot = structured(
        np.vecdot,
        "a, b, /, out=None",
        vjp={
            "a": "support.unbroadcast(np.conj(g[..., None] * b), a)",
            "b": "support.unbroadcast(g[..., None] * np.conj(a), b)",
        },
        jvp={"a": "np.vecdot(a_dot, b)", "b": "np.vecdot(a, b_dot)"},
        writes=("out",),
        at=_VECDOT,
    )
    _linalg_vecdot = structured(
        np.linalg.vecdot,
        "a, b, /, *, axis=-1",
        vjp={
            "a": "support.unbroadcast(np.conj(np.expand_dims(g, axis) * b), a)",
            "b": "support.unbroadcast(np.expand_dims(g, axis) * np.conj(a), b)",
        },
        jvp={
            "a": "np.linalg.vecdot(a_dot, b, axis=axis)",
            "b": "np.linalg.vecdot(a, b_dot, axis=axis)",
        },
        at=[*_VECDOT, ((T, np.cos(T)), {"axis": -2})],
    )
    _vecdot.variants["axis"] = replace(
        _linalg_vecdot, target=np.vecdot, name="numpy.vecdot", at=_linalg_vecdot.at[-1:]
    )
if hasattr(np, "matvec"):
    structured(
        np.matvec,
        "a, b, /, out=None",
        vjp={
            "a": "support.unbroadcast(g[..., :, None] * b[..., None, :], a)",
            "b": "support.unbroadcast(np.matvec(np.swapaxes(a, -1, -2), g), b)",
        },
        jvp={"a": "np.matvec(a_dot, b)", "b": "np.matvec(a, b_dot)"},
        writes=("out",),
        at=[(M, V), (T, B[:, 0]), (M, np.stack([V, W])), (S, C)],
    )
    structured(
        np.vecmat,
        "a, b, /, out=None",
        vjp={
            "a": "support.unbroadcast(np.conj(np.matvec(b, g)), a)",
            "b": "support.unbroadcast(np.conj(a[..., :, None]) * g[..., None, :], b)",
        },
        jvp={"a": "np.vecmat(a_dot, b)", "b": "np.vecmat(a, b_dot)"},
        writes=("out",),
        at=[(V, S), (V[:2], M), (C, S), (np.stack([V, W]), S)],
    )
structured(
    np.linalg.multi_dot,
    "arrays, *, out=None",
    vjp={"arrays": "support.multi_dot_back(g, arrays)"},
    jvp={"arrays": "support.multi_dot_dot(arrays_dot, arrays)"},
    writes=("out",),
    at=[([M.T, M, M.T],), ([V, S, W],), ([M, S],), ([V, S, S.T, M.T],)],
)
structured(
    np.linalg.matrix_power,
    "a, n",
    vjp={"a": "support.matrix_power_back(g, a, n)"},
    jvp={"a": "support.matrix_power_dot(a_dot, a, n)"},
    view="maybe",
    at=[(S, 3), (S, 1), (S, 0), (S, -2), (np.stack([N, N.T]), 4)],
)

# ---- einsum ----------------------------------------------------------------------------------

_EINSUM: list[Any] = [
    ("ij,jk->ik", M, S),
    ("ij,j->i", M, V),
    ("i,ij,j", V[:2], M, V),
    ("ij,ij", M, np.cos(M)),
    ("ii", S),
    ("ii->i", S),
    ("iij->j", np.cos(T[:, :2])),
    ("...j,j->...", T, B[:, 0]),
    ("...ij,jk", T, B),
    ("i,i", V, W[:1]),
    ("ij->", M),
    ("ij->ji", M),
    ("i,j->ij", V, W),
    ("ij,kj->k", M, S),
    (" i j , j ", M, V),
    (M, [0, 1], S, [1, 2], [0, 2]),
    (M, [0, 1], V, [1]),
    (T, [Ellipsis, 0], B, [0, 1], [Ellipsis, 1]),
    ("...,...->...", M, V),
    ("i,i,i->i", V, W, V + W),
    ("ij,j->i", S, C),
]
_einsum = structured(
    np.einsum,
    "*operands, out=None, optimize=False, dtype=None, order='K', casting='safe'",
    vjp={"operands": "support.einsum_back(g, operands)"},
    jvp={"operands": "support.einsum_dot(operands_dot, operands)"},
    writes=("out",),
    at=[*_EINSUM, (("ij,jk,kl->il", M, S, S), {"optimize": True})],
)
# Of one array, einsum gives a view where it sums nothing.
_einsum.variants[2] = replace(_einsum, view="maybe", at=(("ij->ji", M), ("ii", S)), variants={})
_einsum.variants["not text"] = _einsum.variants[2]
structured(
    support.einsum_back,
    "ct, operands",
    vjp={
        "ct": "support.einsum_dot(g, operands)",
        "operands": "support.einsum_cross(g, ct, operands)",
    },
    jvp={
        "ct": "support.einsum_back(ct_dot, operands)",
        "operands": "support.einsum_cross(operands_dot, ct, operands)",
    },
    at=[(np.sin(np.einsum(*s) + 1.0), s) for s in _EINSUM[:20]],
)
structured(
    support.einsum_of,
    "operands",
    vjp={"operands": "support.einsum_back(g, operands)"},
    jvp={"operands": "support.einsum_dot(operands_dot, operands)"},
    at=[(s,) for s in _EINSUM[:20:4]],
)
linear(
    support.replaced,
    "operands, k, value",
    operands="support.replaced(g, k, None)",
    value="support.unbroadcast(g[k], value)",
    at=[(("ij,jk", M, S), 1, np.cos(M)), ((M, [0, 1], V, [1]), 2, W)],
)
linear(
    support.added,
    "total, parts, k",
    total="g",
    parts="support.without(g, k)",
    at=[((None, V, M), (None, W, np.cos(M)), 1)],
)
linear(support.without, "parts, k", parts="support.without(g, k)", at=[((None, V, M), 1)])
nondiff(support.nothing, support.is_given)


def einsum_partials(subscripts: str, dims: list[tuple[str, ...] | None]) -> list[Formula | None]:
    """For each array of an einsum with literal subscripts its formula, or None: use the entry's.

    `dims` holds what is known of each array's dimensions ("1", "n" or "?"), None if nothing.  The
    formulas name the arrays `x0`, `x1`, ...

    >>> [f.text for f in einsum_partials("ij,j->i", [("n", "n"), ("n",)])]
    ["np.einsum('i,j->ij', g, x1)", "np.einsum('i,ij->j', g, x0)"]
    """
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    subs = inputs.split(",")
    if "." in text or len(subs) != len(dims):
        return [None] * len(dims)
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    return [_partial(subs, output, dims, k) for k in range(len(subs))]


def _partial(
    subs: list[str], output: str, dims: list[tuple[str, ...] | None], k: int
) -> Formula | None:
    target, known = subs[k], dims[k]
    if known is None or len(set(target)) != len(target):
        return None
    others = [j for j in range(len(subs)) if j != k]
    texts = [output, *(subs[j] for j in others)]
    names = ["g", *(f"x{j}" for j in others)]
    full = set(output)  # indices that some array surely has at their whole length
    for j in others:
        full |= {c for c, n in zip(subs[j], dims[j] or (), strict=False) if n == "n"}
    if not set(target) <= full:  # summed over in this array alone: its cotangent is repeated
        texts.append(target)
        names.append(f"np.ones_like(x{k})")
    call = f"np.einsum('{','.join(texts)}->{target}', {', '.join(names)})"
    if "1" in known or "?" in known:
        call = f"support.unbroadcast({call}, x{k})"
    return Formula(call)
