"""The rules of reductions, running totals, ufunc methods, and functions of sampled data.

Options are passed to the helpers by name: those left at their defaults are dropped from the
printed formula (`ufuncs.specialised`).
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.rules import ufuncs  # noqa: F401 (registers what the methods below are of)
from srcgrad.rules.registry import alias, linear, lookup, nondiff, refuse, source, structured
from srcgrad.rules.short import short
from srcgrad.rules.versions import NUMPY_2
from srcgrad.runtime import support
from srcgrad.runtime.support import sampled, series

# ---- sample points ---------------------------------------------------------

_V = np.array([0.3, -1.7, 0.6, 2.2])
_M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])
_T = np.cos(np.arange(24.0) * 1.3).reshape(2, 3, 4) + np.arange(24.0).reshape(2, 3, 4) * 0.1
_C = np.array([[0.3 + 0.5j, -1.1 + 0.2j, 0.7 - 0.9j], [1.2j, 0.4 + 0.1j, -0.6 + 0.3j]])
_Z = np.array([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]])
_NAN = np.array([[0.5, np.nan, 0.3], [2.0, 0.7, -0.4]])
_THERE = np.array([[True, False, True], [True, True, False]])

AXES: list[Any] = [
    (0.7,),
    (_V,),
    (_M,),
    (_M, 0),
    ((_M,), {"axis": -1}),
    ((_T,), {"axis": (0, 2)}),
    ((_T,), {"axis": (-1, 0), "keepdims": True}),
    ((_M,), {"keepdims": True}),
    ((_M,), {"axis": 1, "keepdims": True}),
]
WHERE: list[Any] = [((_M,), {"where": _THERE}), ((_M,), {"where": _THERE, "axis": 0})]
COMPLEX: list[Any] = [(_C,), (_C, 1)]
NANS: list[Any] = [(_NAN,), (_NAN, 0), ((_NAN,), {"axis": 1, "keepdims": True})]

_target: Any
_ufunc: Any
_KEEP = "axis=axis, keepdims=keepdims"
_PART = "axis=axis, keepdims=keepdims, where=where"
_SPREAD = f"support.sum_back({{}}, a, {_PART})"
_OUT = ("out",)

# ---- sums ------------------------------------------------------------------

_SUM = "a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True"
_PROD = "a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True"
_MAX = "a, axis=None, out=None, keepdims=False, initial=None, where=True"


def _with_axis(params: str, axis: int) -> str:
    """The same parameters as of a ufunc's method, which reduces over the first axis."""
    return params.replace("axis=None", f"axis={axis}")


def _sum(target: Any, params: str, at: Any) -> None:
    structured(
        target,
        params,
        vjp={"a": _SPREAD.format("g"), "initial": "np.sum(g)"},
        jvp={
            "a": f"np.sum(a_dot, dtype=dtype, {_PART})",
            "initial": "support.broadcast_like(initial_dot, out)",
        },
        writes=_OUT,
        at=at,
    )


_INITIAL: list[Any] = [((_M,), {"axis": 0, "initial": 0.7})]
_sum(np.sum, _SUM, [*AXES, *WHERE, *COMPLEX, *_INITIAL])
_sum(np.add.reduce, _with_axis(_SUM, 0), [(_V,), (_M,), (_M, None), (_M, 1), *WHERE, *_INITIAL])
structured(
    np.mean,
    "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True",
    vjp={"a": _SPREAD.format(f"g / support.count(a, {_PART})")},
    jvp={"a": f"np.mean(a_dot, dtype=dtype, {_PART})"},
    writes=_OUT,
    at=[*AXES, *WHERE, *COMPLEX],
)
_VALID = "axis=axis, keepdims=keepdims, where=support.valid(a, where)"
_SPREAD_VALID = f"support.sum_back({{}}, a, {_VALID})"
structured(
    np.nansum,
    _SUM,
    vjp={"a": _SPREAD_VALID.format("g")},
    jvp={"a": f"np.sum(a_dot, dtype=dtype, {_VALID})"},
    writes=_OUT,
    at=[*AXES, *NANS, *WHERE],
)
structured(
    np.nanmean,
    "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True",
    vjp={"a": _SPREAD_VALID.format(f"g / support.count(a, {_VALID})")},
    jvp={"a": f"np.mean(a_dot, dtype=dtype, {_VALID})"},
    writes=_OUT,
    at=[*AXES, *NANS, *WHERE],
)


def _variance(target: Any, root: bool, where: str) -> None:
    part = f"axis=axis, keepdims=keepdims, where={where}"
    centred = f"(a - np.mean(a, axis=axis, keepdims=True, where={where}))"
    if where != "where":
        centred = (
            f"np.where({where}, a - np.mean(a, axis=axis, keepdims=True, where={where}), 0.0)"
        )
    freedom = f"(support.count(a, {part}) - ddof)"
    tangent = f"np.sum(np.real(np.conj({centred}) * a_dot), {part})"
    if root:
        # Where all are equal the derivative is zero by convention.
        weight = f"support.safe_divide(g, out * {freedom})"
        forward = f"support.safe_divide({tangent}, out * {freedom})"
    else:
        weight = f"2.0 * g / {freedom}"
        forward = f"2.0 * {tangent} / {freedom}"
    structured(
        target,
        "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True",
        vjp={"a": f"support.sum_back({weight}, a, {part}) * np.conj({centred})"},
        jvp={"a": forward},
        writes=_OUT,
        at=[
            *AXES[1:],
            *WHERE,
            ((_M,), {"axis": 1, "ddof": 1}),
            ((_V,), {"ddof": 1}),
            *([] if "valid" not in where else NANS),
            *([] if "valid" in where else COMPLEX),
        ],
    )


_variance(np.var, False, "where")
_variance(np.std, True, "where")
_variance(np.nanvar, False, "support.valid(a, where)")
_variance(np.nanstd, True, "support.valid(a, where)")

_SHARE = f"support.sum_back(g, a, {_KEEP}) * support.average_weights(a, axis, weights)"
_TOTAL = "np.sum(support.average_weights(a, axis, weights), axis=axis, keepdims=True)"
_TOTAL_KEEP = f"np.sum(support.average_weights(a, axis, weights), {_KEEP})"
_ABOUT = f"(a - support.sum_back(out, a, {_KEEP}))"
_average = structured(
    np.average,
    "a, axis=None, weights=None, *, keepdims=False",
    vjp={
        "a": f"{_SHARE} / {_TOTAL}",
        "weights": "support.average_weights_back("
        f"support.sum_back(g, a, {_KEEP}) * {_ABOUT} / {_TOTAL}, axis, weights)",
    },
    jvp={
        "a": "np.average(a_dot, axis=axis, weights=weights, keepdims=keepdims)",
        "weights": f"np.sum(support.average_weights(a, axis, weights_dot) * {_ABOUT}, {_KEEP})"
        f" / {_TOTAL_KEEP}",
    },
    at=[
        (_V,),
        (_M, 0),
        ((_M,), {"axis": 1, "keepdims": True}),
        (_V, None, np.array([0.1, 0.4, 0.3, 0.2])),
        (_M, 0, np.array([0.3, 0.9])),
        (_M, None, np.abs(_M)),
        (_M, 1, np.abs(_M)),
        (_T, -1, np.array([0.1, 0.4, 0.3, 0.2])),
        *([(_T, (2, 0), np.cos(np.arange(8.0).reshape(4, 2) / 9))] if NUMPY_2 else []),
    ],
)

_average.variants["returned"] = source(
    np.average,
    series.average_returned,
    at=[
        ((_M, 1, np.abs(_M)), {"returned": True}),
        ((_M, 0, np.array([0.3, 0.9])), {"returned": True}),
        ((_V,), {"returned": True}),
    ],
    register=False,
)

# ---- products --------------------------------------------------------------


def _prod(target: Any, params: str, where: str, at: Any) -> None:
    part = f"axis=axis, keepdims=keepdims, where={where}"
    others = f"support.prod_others(a, axis=axis, where={where}, initial=initial)"
    structured(
        target,
        params,
        vjp={"a": f"support.sum_back(g, a, {part}) * {others}"},
        jvp={"a": f"np.sum({others} * a_dot, dtype=dtype, {part})"},
        writes=_OUT,
        at=at,
    )


_ZEROS: list[Any] = [(_Z,), (_Z, 1), (np.array([2.0, 0.0, 3.0]),)]
_prod(np.prod, _PROD, "where", [*AXES, *WHERE, *COMPLEX, *_ZEROS, ((_M, 0), {"initial": 0.7})])
_prod(np.multiply.reduce, _with_axis(_PROD, 0), "where", [(_V,), (_M,), (_M, None), (_M, 1)])
_prod(np.nanprod, _PROD, "support.valid(a, where)", [*AXES, *NANS])

# ---- extremes --------------------------------------------------------------


def _extreme(target: Any, params: str, at: Any) -> None:
    """The cotangent is shared equally by the elements that are equal to the result."""
    ties = f"support.ties(a, out, {_PART}, initial=initial)"
    structured(
        target,
        params,
        vjp={"a": f"support.sum_back(g, a, {_KEEP}) * {ties}"},
        jvp={"a": f"np.sum({ties} * a_dot, {_KEEP})"},
        writes=_OUT,
        at=at,
    )


_LOW: list[Any] = [((_M,), {"axis": 0, "initial": 0.6, "where": _THERE})]
_HIGH: list[Any] = [((_M,), {"axis": 0, "initial": 0.1, "where": _THERE})]
for _target, _more in (
    (np.max, _LOW),
    (np.amax, []),
    (np.min, _HIGH),
    (np.amin, []),
    (np.nanmax, NANS),
    (np.nanmin, NANS),
):
    if lookup(_target) is None:  # np.amax was np.max once
        _extreme(_target, _MAX, [*AXES, *_more])
for _target in (np.maximum.reduce, np.minimum.reduce, np.fmax.reduce, np.fmin.reduce):
    _extreme(
        _target,
        "a, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True",
        [(_V,), (_M,), (_M, 1), (_M, None)],
    )
_WIDTH = (
    f"(support.ties(a, np.max(a, {_KEEP}), {_KEEP})"
    f" - support.ties(a, np.min(a, {_KEEP}), {_KEEP}))"
)
structured(
    np.ptp,
    "a, axis=None, out=None, keepdims=False",
    vjp={"a": f"support.sum_back(g, a, {_KEEP}) * {_WIDTH}"},
    jvp={"a": f"np.sum({_WIDTH} * a_dot, {_KEEP})"},
    writes=_OUT,
    at=AXES[1:],
)
_LOGSUM = f"support.exp_difference(a, support.sum_back(out, a, {_KEEP}))"
structured(
    np.logaddexp.reduce,
    "a, axis=0, dtype=None, out=None, keepdims=False",
    vjp={"a": f"support.sum_back(g, a, {_KEEP}) * {_LOGSUM}"},
    jvp={"a": f"np.sum({_LOGSUM} * a_dot, {_KEEP})"},
    writes=_OUT,
    at=[(_V,), (_M,), (_M, 1), (_M, None), (_M, 0, None, None, True)],
)

# ---- quantiles -------------------------------------------------------------


def _quantile(
    target: Any, params: str, q: str, method: str, skipnan: bool, at: Any, moved: Any = None
) -> None:
    """Piecewise linear: each quantile is a mean of neighbours in the order of the elements."""
    # In its place it is the slope of the line between two neighbours.
    in_place = moved and source(target, moved, at=_PLACES[moved], register=False)
    options = f"axis=axis, method={method}, keepdims=keepdims, skipnan={skipnan}"
    options = options.replace(", method='linear'", "").replace(", skipnan=False", "")
    structured(
        target,
        params,
        vjp={"a": f"support.quantile_back(g, a, {q}, {options})"},
        jvp={"a": f"support.quantile_apply(a_dot, a, {q}, {options})"},
        writes=_OUT,
        otherwise=in_place,
        at=at,
    )


_PLACES: dict[Any, list[Any]] = {
    moved: [
        (_V, 0.37 * unit),
        (_M, np.array([0.31, 0.82]) * unit, 1),
        ((_T, 0.77 * unit), {"axis": (0, 2), "keepdims": True}),
    ]
    for moved, unit in ((sampled.quantile_moved, 1.0), (sampled.percentile_moved, 100.0))
}
_MEDIAN = "a, axis=None, out=None, *, keepdims=False"
_QUANTILE = "a, q, axis=None, out=None, *, method='linear', keepdims=False"
_MEDIANS: list[Any] = [(_V,), (_M,), (_M, 0), (_M, 1), ((_T,), {"axis": (0, 2)}), *AXES[6:]]
_quantile(np.median, _MEDIAN, "0.5", "'linear'", False, _MEDIANS)
_quantile(np.nanmedian, _MEDIAN, "0.5", "'linear'", True, [*_MEDIANS, *NANS])


def _at_q(*values: Any) -> list[Any]:
    samples: list[Any] = [(_V, q) for q in values]
    samples += [(_M, values[0], 1), ((_T, values[-1]), {"axis": (0, 1), "keepdims": True})]
    methods = ("lower", "higher", "midpoint", "nearest", "inverted_cdf", "hazen", "weibull",
               "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
               "median_unbiased", "normal_unbiased")  # fmt: skip
    return samples + [((_V, values[0]), {"method": m}) for m in methods]


_quantile(
    np.quantile, _QUANTILE, "q", "method", False, _at_q(0.4, [0.1, 0.75]), sampled.quantile_moved
)
_quantile(np.nanquantile, _QUANTILE, "q", "method", True, [*_at_q(0.4), (_NAN, 0.3, 0)])
_PERCENT = "np.true_divide(q, 100.0)"
_quantile(
    np.percentile, _QUANTILE, _PERCENT, "method", False, _at_q(40, [10, 75.0]),
    sampled.percentile_moved,
)  # fmt: skip
_quantile(np.nanpercentile, _QUANTILE, _PERCENT, "method", True, [*_at_q(40), (_NAN, 30, 0)])

# ---- running totals --------------------------------------------------------

_RUNS: list[Any] = [(_V,), (_M,), (_M, 0), (_M, -1), (_T, 1)]
_RUN = "a, axis=None, dtype=None, out=None"


def _cumsum(target: Any, params: str, at: Any) -> None:
    linear(target, params, a="support.cumsum_back(g, a, axis=axis)", writes=_OUT, at=at)


def _cumprod(target: Any, params: str, at: Any) -> None:
    """Never divides by an element: `before` and `carry` are running products of the others."""
    back = "support.carry({} * a, a, axis=axis, reverse=True)"
    g = "np.reshape(g, np.shape(a))"  # the result is flat when there is no axis
    before = "support.before(a, axis=axis)"
    structured(
        target,
        params,
        vjp={"a": f"{before} * ({g} + {back.format(g)})"},
        jvp={
            "a": f"np.reshape({before} * a_dot"
            f" + a * support.carry({before} * a_dot, a, axis=axis), np.shape(out))"
        },
        writes=_OUT,
        at=at,
    )


_cumsum(np.cumsum, _RUN, [*_RUNS, (_C, 1)])
_cumsum(np.add.accumulate, _with_axis(_RUN, 0), [(_V,), (_M,), (_M, 1)])
_LONG: list[Any] = [(_Z, 1), (np.array([2.0, 0.0, 3.0, 4.0]),), (_C, 1), (1.0 + 0.1 * _T.ravel(),)]
_cumprod(np.cumprod, _RUN, [*_RUNS, *_LONG])
_WHOLE = ("axis", "dtype", "out")
short(np.cumsum, {"a": 1}, absent=_WHOLE, real=True, a="np.cumsum(g[::-1])[::-1]")
short(
    np.cumprod, {"a": 1}, absent=_WHOLE,
    a="support.before(a) * (g + support.carry(g * a, a, reverse=True))",
)  # fmt: skip
_cumprod(np.multiply.accumulate, _with_axis(_RUN, 0), [(_V,), (_M,), (_M, 1)])
if hasattr(np, "cumulative_sum"):
    _CUMULATIVE: list[Any] = [(_V,), ((_M,), {"axis": 1}), ((_V,), {"include_initial": True})]
    _CUMULATIVE += [((_M,), {"axis": 0, "include_initial": True})]
    _CUMULATIVE_PARAMS = "x, /, *, axis=None, dtype=None, out=None, include_initial=False"
    _AXIS = "0 if axis is None else axis"
    linear(
        np.cumulative_sum,
        _CUMULATIVE_PARAMS,
        x=f"support.cumsum_back(support.after_initial(g, x, {_AXIS}), x, axis={_AXIS})",
        writes=_OUT,
        at=_CUMULATIVE,
    )
    _INNER = f"support.after_initial(g, x, {_AXIS})"
    _BEFORE_X = f"support.before(x, axis={_AXIS})"
    structured(
        np.cumulative_prod,
        _CUMULATIVE_PARAMS,
        vjp={
            "x": f"{_BEFORE_X} * ({_INNER}"
            f" + support.carry({_INNER} * x, x, axis={_AXIS}, reverse=True))"
        },
        jvp={
            "x": f"support.with_initial({_BEFORE_X} * x_dot"
            f" + x * support.carry({_BEFORE_X} * x_dot, x, axis={_AXIS}), out, {_AXIS})"
        },
        writes=_OUT,
        at=_CUMULATIVE,
    )
linear(
    support.after_initial,
    "ct, x, axis",
    ct="support.with_initial(g, ct, axis)",
    zero=("x",),
    at=[(_M, _M, 1), (_M, _M[:1], 0)],
)
linear(
    support.with_initial,
    "t, out, axis",
    t="support.after_initial(g, t, axis)",
    zero=("out",),
    at=[(_M, _M, 1), (_M[:1], _M, 0)],
)
linear(
    support.reduceat_back,
    "ct, array, indices, axis",
    ct="np.add.reduceat(g, indices, axis)",
    zero=("array",),
    at=[(_V[:2], _V, [0, 2], 0), (_M, _M, [1, 0, 2], 1)],
)
structured(
    np.nancumsum,
    _RUN,
    vjp={"a": "np.where(np.isnan(a), 0.0, support.cumsum_back(g, a, axis=axis))"},
    jvp={"a": "np.cumsum(np.where(np.isnan(a), 0.0, a_dot), axis=axis)"},
    writes=_OUT,
    at=[*_RUNS, (_NAN,), (_NAN, 1)],
)
_FULL = "np.where(np.isnan(a), 1.0, a)"
_BEFORE = f"support.before({_FULL}, axis=axis)"
_G = "np.reshape(g, np.shape(a))"
structured(
    np.nancumprod,
    _RUN,
    vjp={
        "a": f"np.where(np.isnan(a), 0.0, {_BEFORE} * ({_G}"
        f" + support.carry({_G} * {_FULL}, {_FULL}, axis=axis, reverse=True)))"
    },
    jvp={
        "a": f"np.reshape({_BEFORE} * np.where(np.isnan(a), 0.0, a_dot)"
        f" + {_FULL} * support.carry({_BEFORE} * np.where(np.isnan(a), 0.0, a_dot), {_FULL},"
        " axis=axis), np.shape(out))"
    },
    writes=_OUT,
    at=[*_RUNS, (_NAN,), (_NAN, 1)],
)
_KEPT = "support.kept(a, out, axis)"
for _target in (np.maximum.accumulate, np.minimum.accumulate):
    structured(
        _target,
        "a, axis=0, dtype=None, out=None",
        vjp={
            "a": f"(1.0 - {_KEPT}) * "
            f"(g + support.carry(g * {_KEPT}, {_KEPT}, axis=axis, reverse=True))"
        },
        jvp={
            "a": f"(1.0 - {_KEPT}) * a_dot"
            f" + {_KEPT} * support.carry((1.0 - {_KEPT}) * a_dot, {_KEPT}, axis=axis)"
        },
        writes=_OUT,
        at=[(_V,), (_M,), (_M, 1), (np.array([1.0, 3.0, 2.0, 4.0, 3.5]),)],
    )

# ---- outer -----------------------------------------------------------------


def _renamed(text: str, names: dict[str, ast.expr]) -> str:
    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return names.get(node.id, node)

    return ast.unparse(Rename().visit(ast.parse(text, mode="eval").body))


def _outer(ufunc: np.ufunc, at: Any) -> None:
    """`ufunc.outer(A, B)` is the ufunc on A with as many more dimensions as B has."""
    entry = lookup(ufunc)
    assert entry is not None
    assert entry.params is not None
    first, second = list(entry.params.parameters)[:2]
    left = ast.parse("support.outer_left(A, B)", mode="eval").body
    names: dict[str, ast.expr] = {first: left, second: ast.Name("B")}
    vjp: dict[str, str | None] = {}
    jvp: dict[str, str | None] = {}
    for param, tangent, back in (
        (first, "support.outer_left(A_dot, B)", "support.outer_left_back({}, A)"),
        (second, "B_dot", "support.unbroadcast({}, B)"),
    ):
        formula = entry.vjps.get(param)
        if formula is None:
            continue
        key = "A" if param == first else "B"
        vjp[key] = back.format(_renamed(formula.text, names))
        forward = _renamed(formula.text, {**names, "g": ast.parse(tangent, mode="eval").body})
        jvp[key] = f"support.broadcast_like({forward}, out)"
    zero = tuple({first: "A", second: "B"}[p] for p in entry.zero)
    structured(ufunc.outer, "A, B, /", vjp=vjp, jvp=jvp, zero=zero, at=at)


_OUTER: list[Any] = [
    (_V, np.array([1.15, 0.4, 2.5])),
    (_M, np.array([1.15, 0.43])),
    (0.7, np.array([1.15, 0.43])),
    (np.array([1.15, 0.43]), _M),
]
for _ufunc in (
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin,
    np.hypot, np.arctan2, np.logaddexp, np.logaddexp2, np.copysign, np.remainder, np.fmod,
):  # fmt: skip
    _outer(_ufunc, _OUTER)
for _ufunc in (np.power, np.float_power):
    _outer(_ufunc, [(np.abs(a), b) for a, b in _OUTER])
nondiff(
    np.greater.outer, np.greater_equal.outer, np.less.outer, np.less_equal.outer, np.equal.outer,
    np.not_equal.outer, np.logical_and.outer, np.logical_or.outer, np.floor_divide.outer,
    np.logical_and.reduce, np.logical_or.reduce,
)  # fmt: skip
_AT: list[Any] = [(_V, [0, 2]), (_M, [1, 0, 2], 1), (_V, [2, 0, 1, 1]), (_T, [0, 2], 1)]
linear(
    np.add.reduceat,
    "array, indices, axis=0, dtype=None, out=None",
    array="support.reduceat_back(g, array, indices, axis)",
    writes=_OUT,
    at=_AT,
)
for _name in ("multiply", "maximum", "minimum"):
    source(getattr(np, _name).reduceat, getattr(series, f"{_name}_reduceat"), at=_AT)
_LINES: list[Any] = [(_V,), (_M,), (_M, 1), (_T, -1)]
for _name in ("subtract", "divide", "hypot", "logaddexp2"):
    source(getattr(np, _name).reduce, getattr(series, f"{_name}_reduce"), at=_LINES)
for _name in ("subtract", "divide", "hypot", "logaddexp"):
    source(getattr(np, _name).accumulate, getattr(series, f"{_name}_accumulate"), at=_LINES)
refuse(
    *(getattr(getattr(np, name), method) for name in (
        "power", "float_power", "remainder", "fmod", "arctan2", "copysign", "heaviside",
        "nextafter", "ldexp", "divmod", "matmul",
    ) for method in ("reduce", "accumulate", "reduceat")),
    *(getattr(np, name).reduceat for name in (
        "subtract", "divide", "hypot", "logaddexp", "logaddexp2", "fmax", "fmin",
    )),
    np.logaddexp2.accumulate, np.fmax.accumulate, np.fmin.accumulate,
    np.heaviside.outer, np.nextafter.outer, np.ldexp.outer, np.divmod.outer, np.matmul.outer,
    why="this method of this ufunc has no rule; write a loop, or the calls one by one",
)  # fmt: skip

# ---- differences and integrals ---------------------------------------------

structured(
    np.diff,
    "a, n=1, axis=-1, prepend=None, append=None",
    vjp={"a": "support.diff_back(g, a, n, axis, prepend, append)"},
    jvp={"a": "support.diff_dot(a_dot, n, axis, prepend, append)"},
    at=[
        (_V,),
        (_M,),
        (_M, 2),
        (_M, 1, 0),
        ((_V,), {"prepend": 0.0}),
        ((_M,), {"axis": 0, "n": 2, "append": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])}),
    ],
    otherwise=source(
        np.diff,
        sampled.diff_ended,
        at=[
            (_V, 1, -1, 0.3),
            (_M, 2, 0, np.array([[0.3, 0.1, -0.2]]), 0.7),
            (_M, 1, 1, np.array([[0.3], [0.1]])),
        ],
        register=False,
    ),
)
structured(
    np.ediff1d,
    "ary, to_end=None, to_begin=None",
    vjp={"ary": "support.ediff1d_back(g, ary, to_end, to_begin)"},
    jvp={"ary": "support.ediff1d_dot(ary_dot, to_end, to_begin)"},
    at=[(_V,), (_M,), (_V, 9.0), (_V, np.array([1.0, 2.0]), 0.5)],
    otherwise=source(
        np.ediff1d,
        sampled.ediff1d_ended,
        at=[(_V, 9.0), (_M, np.array([1.0, 2.0]), 0.5)],
        register=False,
    ),
)
structured(
    np.gradient,
    "f, *varargs, axis=None, edge_order=1",
    vjp={
        "f": "support.gradient_back(g, f, varargs, axis=axis, edge_order=edge_order)",
    },
    jvp={"f": "np.gradient(f_dot, *varargs, axis=axis, edge_order=edge_order)"},
    at=[
        (_V,),
        (_V, 0.5),
        (_V, np.array([0.0, 0.5, 2.0, 2.5])),
        (_M,),
        (_T, 0.5, 2.0, np.array([0.0, 0.5, 2.0, 2.5])),
        ((_T,), {"axis": 1}),
        ((_T, 0.3), {"axis": (1, 2), "edge_order": 2}),
        (np.sin(np.arange(9.0)), 0.3),
    ],
    otherwise=source(
        np.gradient,
        sampled.gradient_spaced,
        at=[
            (_V, 0.5),
            (_V, np.array([0.0, 0.5, 2.0, 2.5])),
            (_T, 0.5, 2.0, np.array([0.0, 0.5, 2.0, 2.5])),
            ((_V, np.array([0.0, 0.5, 2.0, 2.5])), {"edge_order": 2}),
            ((_T, 0.3), {"axis": (1, 2), "edge_order": 2}),
        ],
        register=False,
    ),
)
_trapezoid = getattr(np, "trapezoid", None) or np.trapz  # type: ignore[attr-defined, unused-ignore]
structured(
    _trapezoid,
    "y, x=None, dx=1.0, axis=-1",
    vjp={
        "y": "support.sum_back(g, y, axis=axis) * support.trapezoid_weights(y, x, dx, axis)",
        "x": "support.trapezoid_weights_back(y * support.sum_back(g, y, axis=axis), x, axis)",
        "dx": "np.sum(y * support.sum_back(g, y, axis=axis) * support.trapezoid_unit(y, x, axis))",
    },
    jvp={
        "y": "np.sum(y_dot * support.trapezoid_weights(y, x, dx, axis), axis=axis)",
        "x": "np.sum(y * support.trapezoid_weights(y, x_dot, 1.0, axis), axis=axis)",
        "dx": "dx_dot * np.sum(y * support.trapezoid_unit(y, x, axis), axis=axis)",
    },
    at=[
        (_V,),
        (_V, np.array([0.0, 0.5, 2.0, 2.5])),
        (_V, None, 0.1),
        (_M, np.array([0.0, 0.5]), 1.0, 0),
        (_M, np.cumsum(np.abs(_M), 1)),
    ],
)

# ---- ranges ----------------------------------------------------------------

_RANGES: list[Any] = [
    (0.3, 2.0),
    (0.3, 2.0, 5),
    (0.3, 2.0, 5, False),
    (np.array([0.3, 1.1]), 2.0, 4),
    ((np.array([0.3, 1.1]), np.array([2.0, 3.0]), 4), {"axis": -1}),
]
_AS_RAMP = "num, endpoint, axis"
_linspace = structured(
    np.linspace,
    "start, stop, num=50, endpoint=True, *, dtype=None, axis=0",
    vjp={
        "start": f"support.ramp_back(g, start, {_AS_RAMP}, False)",
        "stop": f"support.ramp_back(g, stop, {_AS_RAMP}, True)",
    },
    jvp={
        "start": f"support.ramp(start_dot, out, {_AS_RAMP}, False)",
        "stop": f"support.ramp(stop_dot, out, {_AS_RAMP}, True)",
    },
    at=[*_RANGES, (0.3, 2.0, 1)],
)
_linspace.variants["retstep"] = _linspace.variants[5] = source(
    np.linspace,
    sampled.linspace_step,
    at=[(0.3, 2.0, 4, True, True), (_V, 2.0, 3, False, True)],
    register=False,
)
# How many there are depends on the ends, and jumps; the items start at `start`.
_arange = structured(
    np.arange,
    "start, stop, step=1, dtype=None, *, device=None, like=None",
    vjp={"start": "np.sum(g)", "step": "np.sum(g * np.arange(np.size(g)))"},
    jvp={
        "start": "np.full(np.size(out), start_dot)",
        "step": "step_dot * np.arange(np.size(out))",
    },
    zero=("stop",),
    at=[(0.3, 2.4), (0.3, 2.4, 0.5), (2.4, 0.3, -0.6)],
)
_arange.variants[1] = structured(
    np.arange,
    "stop, *, step=1, dtype=None, device=None, like=None",
    vjp={"step": "np.sum(g * np.arange(np.size(g)))"},
    jvp={"step": "step_dot * np.arange(np.size(out))"},
    zero=("stop",),
    at=[((2.4,), {"step": 0.7})],
    register=False,
)
structured(
    np.geomspace,
    "start, stop, num=50, endpoint=True, dtype=None, axis=0",
    vjp={
        "start": f"support.ramp_back(g * out, start, {_AS_RAMP}, False) / start",
        "stop": f"support.ramp_back(g * out, stop, {_AS_RAMP}, True) / stop",
    },
    jvp={
        "start": f"out * support.ramp(start_dot / start, out, {_AS_RAMP}, False)",
        "stop": f"out * support.ramp(stop_dot / stop, out, {_AS_RAMP}, True)",
    },
    at=_RANGES,
)
structured(
    np.logspace,
    "start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0",
    vjp={
        "start": f"support.ramp_back(g * out * math.log(base), start, {_AS_RAMP}, False)",
        "stop": f"support.ramp_back(g * out * math.log(base), stop, {_AS_RAMP}, True)",
        "base": "np.sum(g * out * np.linspace(start, stop, num, endpoint, axis=axis)) / base",
    },
    jvp={
        "start": f"out * math.log(base) * support.ramp(start_dot, out, {_AS_RAMP}, False)",
        "stop": f"out * math.log(base) * support.ramp(stop_dot, out, {_AS_RAMP}, True)",
        "base": "base_dot * out * np.linspace(start, stop, num, endpoint, axis=axis) / base",
    },
    at=[*_RANGES[:4], (0.3, 1.2, 4, True, 2.0)],
)

# ---- tables, polynomials, convolutions -------------------------------------

structured(
    np.polyval,
    "p, x",
    vjp={
        "p": "support.poly_moments(g, x, p, 0)",
        "x": "g * support.poly_partial(p, x, 1)",
    },
    jvp={
        "p": "support.poly_partial(p_dot, x, 0)",
        "x": "x_dot * support.poly_partial(p, x, 1)",
    },
    at=[(_V, 0.7), (_V, _M), (np.array([2.0]), 0.7), (_V, np.array(1.3))],
)
structured(
    np.vander,
    "x, N=None, increasing=False",
    vjp={"x": "np.sum(g * support.vander_partial(x, N, increasing, 1), axis=1)"},
    jvp={"x": "x_dot[:, None] * support.vander_partial(x, N, increasing, 1)"},
    at=[(_V,), (_V, 3), (_V, 4, True), (_V, 1)],
)
_MODES: list[Any] = [
    (a, v, mode)
    for a, v in ((_V, np.array([0.5, -1.0, 0.3])), (np.array([0.5, -1.0]), _V), (_V, _V[::-1]))
    for mode in ("full", "same", "valid")
]
_COMPLEX_PAIRS: list[Any] = [(_C[0], _C[1, :2]), (_C[0], np.array([0.5, -1.0]))]
structured(
    np.convolve,
    "a, v, mode='full'",
    vjp={
        "a": "support.match(np.convolve("
        "support.convolve_embed(g, a, v, mode), np.asarray(v)[::-1], 'valid'), a)",
        "v": "support.match(np.convolve("
        "support.convolve_embed(g, a, v, mode), np.asarray(a)[::-1], 'valid'), v)",
    },
    jvp={"a": "np.convolve(a_dot, v, mode)", "v": "np.convolve(a, v_dot, mode)"},
    at=[*_MODES, *_COMPLEX_PAIRS],
)
structured(
    np.correlate,
    "a, v, mode='valid'",
    vjp={
        "a": "support.match(np.convolve("
        "support.convolve_embed(g, a, v, mode, True), np.conj(v), 'valid'), a)",
        "v": "support.match(np.conj(np.convolve("
        "support.convolve_embed(g, a, v, mode, True), np.asarray(a)[::-1], 'valid')[::-1]), v)",
    },
    jvp={"a": "np.correlate(a_dot, v, mode)", "v": "np.correlate(a, v_dot, mode)"},
    at=_MODES,
)

# ---- statistics ------------------------------------------------------------

_COV = "rowvar=rowvar, bias=bias, ddof=ddof"
_cov = structured(
    np.cov,
    "m, y=None, rowvar=True, bias=False, ddof=None",
    vjp={"m": f"support.cov_apply(g, m, {_COV})"},
    jvp={"m": f"support.cov_pair(m_dot, m, {_COV})"},
    at=[
        (_M,),
        (_V,),
        (_T[0],),
        ((_M,), {"rowvar": False}),
        ((_M,), {"bias": True}),
        ((_M,), {"ddof": 0}),
    ],
)
_weights = np.array([0.2, 0.5, 0.9])
_cov_weighted = source(
    np.cov,
    sampled.cov_weighted,
    at=[
        (_V, _V**2),
        ((_M, np.cos(_M)), {"bias": True}),
        ((_T[0],), {"rowvar": False, "y": np.cos(_T[0])}),
        ((_M,), {"fweights": np.array([1, 2, 3])}),
        (_M, None, True, False, None, np.array([1, 2, 1]), _weights),
        ((_M,), {"aweights": _weights, "ddof": 0}),
    ],
    register=False,
)
_cov.variants.update(dict.fromkeys(("y", "fweights", "aweights", 2, 3, 4, 5, 6, 7), _cov_weighted))
_corrcoef = structured(
    np.corrcoef,
    "x, y=None, rowvar=True",
    let={
        "variance": "np.diagonal(np.cov(x, rowvar=rowvar))",
        "scale": "1.0 / np.sqrt(variance)",
    },
    vjp={
        "x": "support.cov_apply(scale[:, None] * g * scale"
        " - np.diag(0.5 * np.sum((g + g.T) * out, axis=1) / variance), x, rowvar=rowvar)"
    },
    jvp={
        "x": "scale[:, None] * support.cov_pair(x_dot, x, rowvar=rowvar) * scale"
        " - 0.5 * out * (np.diagonal(support.cov_pair(x_dot, x, rowvar=rowvar)) / variance)"
        " - 0.5 * out * (np.diagonal(support.cov_pair(x_dot, x, rowvar=rowvar)) / variance)"
        "[:, None]"
    },
    at=[(_T[0],), ((_T[0],), {"rowvar": False})],
)
_corrcoef_of = source(
    np.corrcoef,
    sampled.corrcoef_of,
    at=[(_V, _V**2), (_T[0][:, :3], np.cos(_T[0][:, :3])), (_T[0], np.cos(_T[0]), False)],
    register=False,
)
_corrcoef.variants.update(dict.fromkeys(("y", 2, 3), _corrcoef_of))
structured(
    np.bincount,
    "x, weights=None, minlength=0",
    vjp={"weights": "np.take(g, x)"},
    jvp={"weights": "np.bincount(x, weights=weights_dot, minlength=minlength)"},
    at=[(np.array([0, 2, 2, 1]), _V), (np.array([0, 2, 2, 1]), _V, 5)],
)
refuse(
    np.histogram,
    np.histogram2d,
    np.histogramdd,
    np.histogram_bin_edges,
    why="counts are constant almost everywhere and the edges are not; "
    "use np.digitize and np.bincount with weights",
)
# ---- methods of arrays -----------------------------------------------------

for _method in ("sum", "prod", "mean", "var", "std", "max", "min", "cumsum", "cumprod"):
    alias(getattr(np.ndarray, _method), getattr(np, _method))
