"""The rules of the helpers in `support/elementwise.py`, `reduce.py` and `signal.py`.

Each helper is differentiated in terms of helpers, so that derivatives of any order exist.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.rules.registry import elementwise, linear, nondiff, structured
from srcgrad.runtime import support

_V = np.array([0.3, -1.7, 0.6, 2.2])
_M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])
_Z = np.array([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]])
_C = np.array([0.3 + 0.5j, -1.1 + 0.2j, 0.7 - 0.9j])
_THERE = np.array([[True, False, True], [True, True, False]])

# ---- elementwise -----------------------------------------------------------

linear(
    support.match,
    "ct, x",
    ct="support.match(g, ct)",
    zero=("x",),
    lanes=True,
    at=[(_V, _V), (_C, _C.real), (_C.real, _C), (0.3 + 1j, 0.2), (0.3, 1j)],
)
linear(
    support.unbroadcast,
    "ct, x",
    ct="support.unbroadcast(g, ct)",
    zero=("x",),
    lanes=True,
    at=[(_M, _M), (_M, 0.3), (_M, np.zeros((2, 1))), (_M, np.zeros(3)), (_C, 0.5), (0.3, _V)],
)
linear(
    support.broadcast_like,
    "t, x",
    t="support.unbroadcast(g, t)",
    zero=("x",),
    lanes=True,
    at=[(_M, _M), (0.3, _M), (np.array([[0.3], [0.4]]), _M)],
)
elementwise(
    support.safe_divide,
    "x1, x2",
    x1="support.safe_divide(g, x2)",
    x2="-support.safe_divide(g * out, x2)",
    at=[(0.3, 1.2), (_V, 0.7), (_M, np.array([[0.3], [-0.4]])), (_C, 0.4 + 0.2j)],
)
elementwise(
    support.direction,
    "x",
    x="support.safe_divide(np.conj(g) - out * np.real(out * g), np.abs(x))",
    at=[(0.3,), (_V,), (_C,)],
)
elementwise(
    support.exp_difference,
    "x1, x2",
    x1="g * out",
    x2="-g * out",
    at=[(0.3, 1.2), (_V, 0.7), (_M, np.array([[0.3], [-0.4]]))],
)
elementwise(
    support.power_partial,
    "x1, x2, m, n",
    x1="g * support.power_partial(x1, x2, m + 1, n)",
    x2="g * support.power_partial(x1, x2, m, n + 1)",
    at=[
        (0.3, 1.2, 1, 0),
        (np.abs(_V), 0.7, 0, 1),
        (_V, 3, 1, 0),
        (np.abs(_M), np.array([[0.3], [-0.4]]), 1, 1),
        (_C, 0.4 + 0.2j, 1, 2),
        (0.0, 2, 1, 0),
        (0.0, 1, 1, 0),
    ],
)
elementwise(
    support.sinc_partial,
    "x, n",
    x="g * support.sinc_partial(x, n + 1)",
    at=[(0.3, 1), (_V, 2), (np.array([0.0, 3.3, -7.0]), 1)],
)
elementwise(
    support.i0_partial, "x, n", x="g * support.i0_partial(x, n + 1)", at=[(0.3, 1), (_V, 2)]
)
elementwise(
    support.polygamma,
    "n, x",
    x="g * support.polygamma(n + 1, x)",
    at=[(0, 0.4), (1, 2.3), (0, -1.4), (2, -0.3)],
)
nondiff(
    support.zero_like, support.angle_unit, support.given, support.within, support.below,
    support.above, support.trapezoid_unit, support.count, support.valid, support.ties,
    support.kept, support.finite,
)  # fmt: skip

# ---- reductions ------------------------------------------------------------

_AXES: list[Any] = [(None, False), (0, False), (1, True), ((0, 1), True)]
linear(
    support.sum_back,
    "ct, a, axis=None, keepdims=False, where=True",
    ct="np.sum(g, axis=axis, keepdims=keepdims, where=where)",
    zero=("a",),
    at=[
        *((np.sum(_M, axis=i, keepdims=k), _M, i, k) for i, k in _AXES),
        (0.7, 0.3),
        (_M[0], _M, 0, False, _THERE),
    ],
)
structured(
    support.before,
    "a, axis=None, reverse=False",
    vjp={"a": "out * support.carry(g, a, axis=axis, reverse=not reverse)"},
    jvp={"a": "support.carry(a_dot * out, a, axis=axis, reverse=reverse)"},
    at=[(_V,), (_M, 0), (_M, 1, True), (_Z, 1), (_Z, (0, 1))],
)
structured(
    support.carry,
    "b, a, axis=None, reverse=False",
    vjp={
        "b": "support.unbroadcast(support.carry(g, a, axis=axis, reverse=not reverse), b)",
        "a": "out * support.carry(g, a, axis=axis, reverse=not reverse)",
    },
    jvp={
        "b": "support.carry(b_dot, a, axis=axis, reverse=reverse)",
        "a": "support.carry(a_dot * out, a, axis=axis, reverse=reverse)",
    },
    at=[(_V[::-1], _V), (_M, _Z, 0), (_M, _Z, 1, True), (np.cos(np.arange(40.0)),) * 2],
)
_PART = "np.where(where, a, 1.0)"
_BEFORE, _AFTER = (f"support.before({_PART}, axis=axis, reverse={r})" for r in (False, True))
structured(
    support.prod_others,
    "a, axis=None, where=True, initial=1",
    let={"before": _BEFORE, "after": _AFTER},
    vjp={
        "a": "np.where(where, initial * ("
        f"before * support.carry(g * after, {_PART}, axis=axis, reverse=True)"
        f" + after * support.carry(g * before, {_PART}, axis=axis)), 0.0)"
    },
    jvp={
        "a": "initial * ("
        "after * support.carry(np.where(where, a_dot, 0.0) * before,"
        f" {_PART}, axis=axis)"
        " + before * support.carry(np.where(where, a_dot, 0.0) * after,"
        f" {_PART}, axis=axis, reverse=True))"
    },
    at=[(_V,), (_M, 0), (_Z, 1), (_Z,), (_M, 0, _THERE), (_M, 1, True, 0.7), (0.4,)],
)
linear(
    support.cumsum_back,
    "ct, a, axis=None",
    ct="np.cumsum(g, axis=axis)",
    zero=("a",),
    at=[(_V, _V), (_M.ravel(), _M), (_M, _M, 0)],
)
_W = np.array([0.1, 0.9])
linear(
    support.average_weights,
    "a, axis, weights",
    weights="support.average_weights_back(g, axis, weights)",
    zero=("a",),
    at=[(_M, 0, _W), (_M, None, _M), (np.zeros((2, 3, 2)), (2, 1), _M), (_M, -1, _V[:3])],
)
linear(
    support.average_weights_back,
    "ct, axis, weights",
    ct="support.average_weights(ct, axis, g)",
    zero=("weights",),
    at=[(_M, 0, _W), (_M, None, _M), (np.cos(np.arange(12.0)).reshape(2, 3, 2), (2, 1), _M)],
)
_QUANTILE = "q, axis=axis, method=method, keepdims=keepdims, skipnan=skipnan"
linear(
    support.quantile_apply,
    "x, a, q, axis=None, method='linear', keepdims=False, skipnan=False",
    x=f"support.quantile_back(g, a, {_QUANTILE})",
    zero=("a",),
    at=[(_V, _V[::-1], 0.4), (_M, _M, [0.1, 0.8], 1), (_M, _M, 0.5, 0, "lower", True)],
)
linear(
    support.quantile_back,
    "ct, a, q, axis=None, method='linear', keepdims=False, skipnan=False",
    ct=f"support.quantile_apply(g, a, {_QUANTILE})",
    zero=("a",),
    at=[(0.7, _V, 0.4), (_M.T[:2, :2], _M, [0.1, 0.8], 1), (_M[:1], _M, 0.5, 0, "lower", True)],
)
linear(
    support.to_array,
    "items",
    items="support.to_items(g, items)",
    at=[([0.3, 0.7],), ((0.3, 0.7),), (_V,)],
)
linear(
    support.to_items,
    "ct, items",
    ct="support.to_array(g)",
    zero=("items",),
    at=[(_V, [0.1, 0.2, 0.3, 0.4]), (_V[:2], (0.1, 0.2)), (_V, _V)],
)

# ---- sampled data ----------------------------------------------------------

_DIFF = "n, axis, prepend, append"
linear(
    support.diff_dot,
    f"a, {_DIFF}",
    a=f"support.diff_back(g, a, {_DIFF})",
    at=[(_V, 1, -1, None, None), (_M, 2, 1, 0.0, None), (_M, 1, 0, None, _M)],
)
linear(
    support.diff_back,
    f"ct, a, {_DIFF}",
    ct=f"support.diff_dot(g, {_DIFF})",
    zero=("a",),
    at=[(_V[:3], _V, 1, -1, None, None), (_M[:, :2], _M, 2, 1, 0.0, None)],
)
linear(
    support.ediff1d_dot,
    "ary, to_end, to_begin",
    ary="support.ediff1d_back(g, ary, to_end, to_begin)",
    at=[(_V, None, 1.0), (_M, [1.0, 2.0], None)],
)
linear(
    support.ediff1d_back,
    "ct, ary, to_end, to_begin",
    ct="support.ediff1d_dot(g, to_end, to_begin)",
    zero=("ary",),
    at=[(_V, _V, None, 1.0), (_V, _V, 1.0, None)],
)
linear(
    support.gradient_back,
    "ct, f, varargs, axis=None, edge_order=1",
    ct="np.gradient(g, *varargs, axis=axis, edge_order=edge_order)",
    zero=("f",),
    at=[(_V, _V, ()), ([_M, 2 * _M], _M, (0.5,)), (_M, _M, (0.5,), 1, 2)],
)
structured(
    support.trapezoid_weights,
    "y, x, dx, axis=-1",
    vjp={
        "x": "support.trapezoid_weights_back(g, x, axis)",
        "dx": "np.sum(g * support.trapezoid_unit(y, x, axis))",
    },
    jvp={
        "x": "support.trapezoid_weights(y, x_dot, 1.0, axis)",
        "dx": "dx_dot * support.trapezoid_unit(y, x, axis)",
    },
    zero=("y",),
    at=[(_V, _V, 1), (_V, None, 0.3), (_M, np.array([0.0, 0.5]), 1, 0), (_M, 2 * _M, 1)],
)
linear(
    support.trapezoid_weights_back,
    "ct, x, axis=-1",
    ct="support.trapezoid_weights(ct, g, 1.0, axis)",
    zero=("x",),
    at=[(_V, _V), (_M, np.array([0.0, 0.5]), 0), (_M, 2 * _M)],
)
structured(
    support.poly_partial,
    "p, x, m",
    vjp={
        "p": "support.poly_moments(g, x, p, m)",
        "x": "g * support.poly_partial(p, x, m + 1)",
    },
    jvp={
        "p": "support.poly_partial(p_dot, x, m)",
        "x": "x_dot * support.poly_partial(p, x, m + 1)",
    },
    at=[(_V, 0.7, 1), (_V, _M, 2), (_V, 0.7, 0)],
)
structured(
    support.poly_moments,
    "ct, x, p, m",
    vjp={
        "ct": "support.poly_partial(g, x, m)",
        "x": "ct * support.poly_partial(g, x, m + 1)",
    },
    jvp={
        "ct": "support.poly_moments(ct_dot, x, p, m)",
        "x": "support.poly_moments(ct * x_dot, x, p, m + 1)",
    },
    zero=("p",),
    at=[(0.3, 0.7, _V, 1), (_M, np.cos(_M), _V, 0)],
)
structured(
    support.vander_partial,
    "x, N, increasing, m",
    vjp={"x": "np.sum(g * support.vander_partial(x, N, increasing, m + 1), axis=1)"},
    jvp={"x": "x_dot[:, None] * support.vander_partial(x, N, increasing, m + 1)"},
    at=[(_V, 4, False, 1), (_V, None, True, 0)],
)
_PAIR = (np.cos(np.arange(6.0)), _V, np.array([0.5, -1.0, 0.3]))
linear(
    support.convolve_embed,
    "ct, a, v, mode, flip=False",
    ct="support.convolve_crop(g, a, v, mode, flip)",
    zero=("a", "v"),
    at=[(*_PAIR, "full"), (_PAIR[0][:4], *_PAIR[1:], "same"), (_PAIR[0][:2], *_PAIR[1:], "valid")],
)
linear(
    support.convolve_crop,
    "full, a, v, mode, flip=False",
    full="support.convolve_embed(g, a, v, mode, flip)",
    zero=("a", "v"),
    at=[(*_PAIR, "full"), (*_PAIR, "same"), (_PAIR[0], _PAIR[2], _PAIR[1], "valid", True)],
)
_COV = "rowvar=rowvar, bias=bias, ddof=ddof"
structured(
    support.cov_pair,
    "a, b, rowvar=True, bias=False, ddof=None",
    vjp={"a": f"support.cov_apply(g, b, {_COV})", "b": f"support.cov_apply(g, a, {_COV})"},
    jvp={"a": f"support.cov_pair(a_dot, b, {_COV})", "b": f"support.cov_pair(a, b_dot, {_COV})"},
    at=[(_M, _Z), (_V, _V[::-1]), (_M, _Z, False), (_M, _Z, True, True)],
)
structured(
    support.cov_apply,
    "ct, m, rowvar=True, bias=False, ddof=None",
    vjp={
        "ct": f"np.reshape(support.cov_pair(g, m, {_COV}), np.shape(ct))",
        "m": f"support.cov_apply(ct, g, {_COV})",
    },
    jvp={
        "ct": f"support.cov_apply(ct_dot, m, {_COV})",
        "m": f"support.cov_apply(ct, m_dot, {_COV})",
    },
    at=[(_M[:, :2], _M), (0.7, _V), (np.cos(np.arange(9.0)).reshape(3, 3), _M, False)],
)
_RAMP = "num, endpoint, axis, rising"
linear(
    support.ramp,
    f"x, like, {_RAMP}",
    x=f"support.ramp_back(g, x, {_RAMP})",
    zero=("like",),
    at=[(0.3, np.zeros(4), 4, True, 0, True), (0.3, np.zeros((2, 3)), 3, False, -1, False)],
)
linear(
    support.ramp_back,
    f"ct, x, {_RAMP}",
    ct=f"support.ramp(g, ct, {_RAMP})",
    zero=("x",),
    at=[
        (_V, 0.3, 4, True, 0, True),
        (_M, _V[:2], 3, False, -1, False),
        (_M, 0.3, 2, True, 0, True),
    ],
)
linear(
    support.outer_left,
    "a, b",
    a="support.outer_left_back(g, a)",
    zero=("b",),
    at=[(_V, _M), (0.3, _V), (_M, 0.3)],
)
linear(
    support.outer_left_back,
    "ct, a",
    ct="support.spread_left(g, ct)",
    zero=("a",),
    at=[(_M, _V[:2]), (_M, 0.3), (_M, _M)],
)
linear(
    support.spread_left,
    "t, like",
    t="support.outer_left_back(g, t)",
    zero=("like",),
    at=[(_V[:2], _M), (0.3, _M)],
)
linear(
    support.select_back,
    "ct, condlist, choicelist",
    ct="support.broadcast_like(np.select(condlist, g), ct)",
    zero=("choicelist",),
    at=[(_V, [_V > 1, _V > 0], [_V, _V**2])],
)
linear(
    support.select_default_back,
    "ct, condlist, default",
    ct="support.select_default_dot(g, condlist, ct)",
    zero=("default",),
    at=[(_V, [_V > 1, _V > 0], 0.3), (_V, [_V > 1], _V)],
)
linear(
    support.select_default_dot,
    "t, condlist, like",
    t="support.select_default_back(g, condlist, t)",
    zero=("like",),
    at=[(0.3, [_V > 1, _V > 0], _V), (_V, [_V > 1], _V)],
)
linear(
    support.choose_back,
    "ct, a, choices, mode",
    ct="support.broadcast_like(np.choose(a, g, mode=mode), ct)",
    zero=("choices",),
    at=[(_V, [0, 1, 0, 1], [_V, -_V], "raise")],
)
linear(
    support.sum_of_back,
    "ct, iterable",
    ct="support.sum_of_dot(g, ct)",
    zero=("iterable",),
    at=[(0.3, [0.1, 0.2]), (_V, (0.1, _V)), (0.3, _V), (_M[0], _M)],
)
linear(
    support.sum_of_dot,
    "iterable, like",
    iterable="support.sum_of_back(g, iterable)",
    zero=("like",),
    at=[([0.1, 0.2], 0.3), ((0.1, _V), _V), (_V, 0.3), (_M, _M[0])],
)
