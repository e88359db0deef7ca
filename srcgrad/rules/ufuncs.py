"""The rules of NumPy's ufuncs and of functions like them.

`g * (x > y)` rather than `np.where`: it keeps numbers numbers and float32 float32.  Constants are
weak (Python floats) for the same reason.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from srcgrad.ir.types import Array, Type
from srcgrad.rules import registry
from srcgrad.rules.registry import Entry, Formula, alias, linear, nondiff, structured
from srcgrad.rules.trim import Trim, is_default, is_real
from srcgrad.rules.versions import NUMPY_2, takes

# ---- sample points ---------------------------------------------------------

_V = np.array([0.3, -1.7, 0.6, 2.2])
_P = np.array([0.35, 1.7, 0.6, 2.2])
_U = np.array([0.3, -0.7, 0.6, 0.12])
_M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])
_C = np.array([0.3 + 0.5j, -1.1 + 0.2j, 0.7 - 0.9j])

ANY = [(0.37,), (_V,), (_M,), (np.float64(-0.8),), (np.array(0.6),)]
POSITIVE = [(0.37,), (_P,), (np.abs(_M),), (np.array(0.6),)]
UNIT = [(0.37,), (_U,)]
ANALYTIC = [(0.3 + 0.4j,), (_C,)]
PAIRS: list[Any] = [
    (0.37, 1.3),
    (_V, np.array([1.15, -0.4, 2.5, 0.8])),
    (_V, 0.7),
    (1.3, _V),
    (_V[:, None], np.array([1.15, 0.4, 2.5])),
    (_M, np.array([[0.9], [-0.37]])),
    (np.array(0.65), _M),
]
POSITIVE_PAIRS = [tuple(abs(v) for v in pair) for pair in PAIRS]
ANALYTIC_PAIRS = [(_C, 0.4 - 0.3j), (_V[:3], _C), (1.5, _C[:, None])]


def ufunc(target: Any, params: str, *, at: Any, **formulas: Any) -> Entry:
    """Register a ufunc: `out=` and `dtype=` are allowed, `where=` is not."""
    params = f"{params}, /, out=None, *, dtype=None"
    return registry.elementwise(target, params, at=at, writes=("out",), **formulas)


def _real(target: Any, x: str, at: Any = ANY) -> None:
    ufunc(target, "x", x=x, at=at)


def _analytic(target: Any, x: str, at: Any = ANY) -> None:
    """A holomorphic function: the formula is right for complex arguments too."""
    ufunc(target, "x", x=x, at=[*at, *ANALYTIC])


_target: Any

# ---- arithmetic ------------------------------------------------------------

ufunc(np.add, "x1, x2", x1="g", x2="g", at=[*PAIRS, *ANALYTIC_PAIRS])
ufunc(np.subtract, "x1, x2", x1="g", x2="-g", at=[*PAIRS, *ANALYTIC_PAIRS])
ufunc(np.multiply, "x1, x2", x1="g * x2", x2="g * x1", at=[*PAIRS, *ANALYTIC_PAIRS])
ufunc(np.divide, "x1, x2", x1="g / x2", x2="-g * out / x2", at=[*PAIRS, *ANALYTIC_PAIRS])

_POWERS = [
    *POSITIVE_PAIRS,
    *ANALYTIC_PAIRS,
    (_V, 2),
    (_V, 3),
    (_V, -1),
    (-1.3, 2),
    (_V[:, None], np.arange(4)),
    (0.0, 2),
    (0.0, 1),
    (np.array([0.0, 1.5]), np.array([2, 3])),
]
for _power in (np.power, np.float_power):
    ufunc(
        _power,
        "x1, x2",
        x1="g * support.power_partial(x1, x2, 1, 0)",
        x2="g * support.power_partial(x1, x2, 0, 1)",
        at=_POWERS,
    )

ufunc(np.remainder, "x1, x2", x1="g", x2="-g * np.floor_divide(x1, x2)", at=PAIRS)
ufunc(np.fmod, "x1, x2", x1="g", x2="-g * np.trunc(x1 / x2)", at=PAIRS)
structured(
    np.divmod,
    "x1, x2, /",
    vjp={"x1": "g[1]", "x2": "support.unbroadcast(-g[1] * out[0], x2)"},
    jvp={
        "x1": "(support.zero_like(out[0]), support.broadcast_like(x1_dot, out[1]))",
        "x2": "(support.zero_like(out[0]), -x2_dot * out[0])",
    },
    at=[(3.7, 1.3), (np.array([3.7, -2.2]), np.array([1.3, 0.9])), (np.array([3.7, -2.2]), 1.3)],
)
ufunc(np.negative, "x", x="-g", at=[*ANY, *ANALYTIC])
ufunc(np.positive, "x", x="g", at=[*ANY, *ANALYTIC])
ufunc(np.square, "x", x="g * 2.0 * x", at=[*ANY, *ANALYTIC])
ufunc(np.reciprocal, "x", x="-g * out * out", at=[*ANY, *ANALYTIC])
_analytic(np.sqrt, "g * 0.5 / out", POSITIVE)
_real(np.cbrt, "g / (3.0 * out * out)")

# ---- exponentials and logarithms -------------------------------------------

_analytic(np.exp, "g * out")
_analytic(np.exp2, "g * out * math.log(2.0)")
_analytic(np.expm1, "g * (out + 1.0)")
_analytic(np.log, "g / x", POSITIVE)
_analytic(np.log2, "g / (x * math.log(2.0))", POSITIVE)
_analytic(np.log10, "g / (x * math.log(10.0))", POSITIVE)
_analytic(np.log1p, "g / (1.0 + x)", POSITIVE)
ufunc(
    np.logaddexp,
    "x1, x2",
    x1="g * support.exp_difference(x1, out)",
    x2="g * support.exp_difference(x2, out)",
    at=PAIRS,
)
ufunc(
    np.logaddexp2,
    "x1, x2",
    x1="g * support.exp_difference(x1 * math.log(2.0), out * math.log(2.0))",
    x2="g * support.exp_difference(x2 * math.log(2.0), out * math.log(2.0))",
    at=PAIRS,
)

# ---- trigonometry ----------------------------------------------------------

_analytic(np.sin, "g * np.cos(x)")
_analytic(np.cos, "-g * np.sin(x)")
_analytic(np.tan, "g * (1.0 + out * out)")
_analytic(np.arcsin, "g / np.sqrt(1.0 - x * x)", UNIT)
_analytic(np.arccos, "-g / np.sqrt(1.0 - x * x)", UNIT)
_analytic(np.arctan, "g / (1.0 + x * x)")
_analytic(np.sinh, "g * np.cosh(x)")
_analytic(np.cosh, "g * np.sinh(x)")
_analytic(np.tanh, "g * (1.0 - out * out)")
_analytic(np.arcsinh, "g / np.sqrt(1.0 + x * x)")
_analytic(np.arccosh, "g / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))", [(1.37,), (_P + 1.2,)])
_analytic(np.arctanh, "g / (1.0 - x * x)", UNIT)
ufunc(
    np.arctan2,
    "x1, x2",
    x1="g * support.safe_divide(x2, x1 * x1 + x2 * x2)",
    x2="-g * support.safe_divide(x1, x1 * x1 + x2 * x2)",
    at=PAIRS,
)
ufunc(
    np.hypot,
    "x1, x2",
    x1="g * support.safe_divide(x1, out)",
    x2="g * support.safe_divide(x2, out)",
    at=PAIRS,
)
for _target in (np.deg2rad, np.radians):
    _real(_target, "np.deg2rad(g)")
for _target in (np.rad2deg, np.degrees):
    _real(_target, "np.rad2deg(g)")

# ---- comparisons that pick a value -----------------------------------------

ufunc(
    np.maximum,
    "x1, x2",
    x1="g * (x1 > x2) + 0.5 * g * (x1 == x2)",
    x2="g * (x2 > x1) + 0.5 * g * (x2 == x1)",
    at=[*PAIRS],
)
ufunc(
    np.minimum,
    "x1, x2",
    x1="g * (x1 < x2) + 0.5 * g * (x1 == x2)",
    x2="g * (x2 < x1) + 0.5 * g * (x2 == x1)",
    at=[*PAIRS],
)
_NANS = [(np.array([np.nan, 1.0, 2.0]), np.array([0.5, np.nan, 1.5]))]
ufunc(
    np.fmax,
    "x1, x2",
    x1="g * ((x1 > x2) | np.isnan(x2)) + 0.5 * g * (x1 == x2)",
    x2="g * ((x2 > x1) | np.isnan(x1)) + 0.5 * g * (x2 == x1)",
    at=[*PAIRS, *_NANS],
)
ufunc(
    np.fmin,
    "x1, x2",
    x1="g * ((x1 < x2) | np.isnan(x2)) + 0.5 * g * (x1 == x2)",
    x2="g * ((x2 < x1) | np.isnan(x1)) + 0.5 * g * (x2 == x1)",
    at=[*PAIRS, *_NANS],
)
_CLIP = "a, a_min=None, a_max=None, out=None, *, min=None, max=None, dtype=None"
_LOW, _HIGH = "support.given(a_min, min)", "support.given(a_max, max)"
registry.elementwise(
    np.clip,
    _CLIP,
    a=f"g * support.within(a, {_LOW}, {_HIGH})",
    a_min=f"g * support.below(a, {_LOW}, {_HIGH})",
    a_max=f"g * support.above(a, {_LOW}, {_HIGH})",
    min=f"g * support.below(a, {_LOW}, {_HIGH})",
    max=f"g * support.above(a, {_LOW}, {_HIGH})",
    writes=("out",),
    at=[
        (0.37, 0.0, 1.0),
        (_V, -1.0, 1.0),
        (_V, None, 1.0),
        (_V, 0.0, None),
        (_M, np.array([-0.5, -0.6, 0.1]), np.array([[1.0], [0.5]])),
        (_V, 1.0, 0.5),
        *([((_V,), {"min": 0.1, "max": 1.1})] if takes(np.clip, "min") else []),
    ],
)
ufunc(
    np.copysign,
    "x1, x2",
    x1="g * np.sign(x1) * np.sign(out)",
    zero=("x2",),
    at=PAIRS,
)
ufunc(np.heaviside, "x1, x2", x2="g * (x1 == 0)", zero=("x1",), at=PAIRS)
ufunc(np.nextafter, "x1, x2", x1="g", zero=("x2",), at=[(0.37, 1.0), (_V, 3.0)])
ufunc(
    np.ldexp,
    "x1, x2",
    x1="np.ldexp(g, x2)",
    zero=("x2",),
    at=[(0.7, 3), (_V, np.arange(4)), (1.5, np.arange(3))],
)
_WHERE = registry.elementwise(
    np.where,
    "condition, x=None, y=None, /",
    x="np.where(condition, g, 0.0)",
    y="np.where(condition, 0.0, g)",
    zero=("condition",),
    at=[
        (True, 0.4, 1.3),
        (_V > 0.5, _V, np.array([1.15, -0.4, 2.5, 0.8])),
        (_V > 0.5, _V, 0.7),
        (_V[:, None] > 0.5, np.array([1.15, 0.4, 2.5]), 2.0),
        (np.array([True, False, True]), _C, 1.5),
    ],
)
_WHERE.variants[1] = Entry(np.where, "numpy.where", "nondiff", None, {}, {})

# ---- absolute value and complex numbers ------------------------------------


def _absolute(target: Any, params: str, at: Any, **options: Any) -> None:
    structured(
        target,
        params,
        vjp={"x": "g * support.direction(x)"},
        jvp={"x": "np.real(x_dot * support.direction(x))"},
        lanes=True,
        at=at,
        **options,
    )


_absolute(np.absolute, "x, /, out=None, *, dtype=None", [*ANY, *ANALYTIC], writes=("out",))
_real(np.fabs, "g * np.sign(x)")
_SIGN = registry.add(Entry(np.sign, "numpy.sign", "nondiff", None, {}, {}))
if NUMPY_2:  # the direction of a complex number; before, the sign of its real part
    _AWAY = "np.where(x == 0, np.inf, np.abs(x))"
    _SIGN.variants["complex"] = structured(
        np.sign,
        "x, /, out=None, *, dtype=None",
        vjp={"x": f"(g - np.real(g * out) * np.conj(out)) / {_AWAY}"},
        jvp={"x": f"(x_dot - out * np.real(np.conj(out) * x_dot)) / {_AWAY}"},
        lanes=True,
        writes=("out",),
        at=[(0.3 + 0.4j,), (_C,), (0.7,)],
        register=False,
    )
linear(
    np.real,
    "val",
    val="support.match(g, val)",
    view="maybe",
    lanes=True,
    at=[(0.7,), (_V,), (0.3 + 0.4j,), (_C,)],
)
linear(
    np.imag,
    "val",
    val="support.match(-1j * g, val)",
    view="maybe",
    lanes=True,
    at=[(0.7,), (_V,), (0.3 + 0.4j,), (_C,)],
)
linear(
    np.conjugate,
    "x, /, out=None",
    x="np.conj(g)",
    writes=("out",),
    lanes=True,
    at=[*ANY, *ANALYTIC],
)
structured(
    np.angle,
    "z, deg=False",
    vjp={"z": "support.match(-1j * support.angle_unit(deg) * support.safe_divide(g, z), z)"},
    jvp={"z": "support.angle_unit(deg) * np.imag(support.safe_divide(z_dot, z))"},
    lanes=True,
    at=[(0.3 + 0.4j,), (_C,), (_C, True), (_V,)],
)
structured(
    np.real_if_close,
    "a, tol=100",
    vjp={"a": "support.match(g, a)"},
    jvp={"a": "support.match(a_dot, out)"},
    view="maybe",
    lanes=True,
    at=[(_V,), (_C,)],
)

# ---- others ----------------------------------------------------------------

registry.elementwise(
    np.sinc,
    "x",
    x="g * support.sinc_partial(x, 1)",
    at=[*ANY, (0.0,), (np.array([0.0, 1e-4, 9.3]),)],
)
registry.elementwise(np.i0, "x", x="g * support.i0_partial(x, 1)", at=[(_V,), (_M,)])
registry.elementwise(
    np.nan_to_num,
    "x, *, nan=0.0, posinf=None, neginf=None",
    x="g * np.isfinite(x)",
    at=[(0.4,), (_V,), (np.array([np.nan, 1.0, np.inf]),)],
)
structured(
    np.unwrap,
    "p, discont=None, axis=-1, *, period=2 * np.pi",
    vjp={"p": "g"},
    jvp={"p": "p_dot"},
    at=[(np.array([0.1, 2.9, -3.0, -1.1]),), (_M * 4.0,), ((_V * 3.1,), {"period": 4.0})],
)
structured(
    np.modf,
    "x, /",
    vjp={"x": "g[0]"},
    jvp={"x": "(x_dot, support.zero_like(out[1]))"},
    at=[(1.3,), (_V,)],
)
structured(
    np.frexp,
    "x, /",
    vjp={"x": "np.ldexp(g[0], -out[1])"},
    jvp={"x": "(np.ldexp(x_dot, -out[1]), None)"},
    at=[(1.3,), (_V,)],
)
structured(
    np.select,
    "condlist, choicelist, default=0",
    vjp={
        "choicelist": "support.select_back(g, condlist, choicelist)",
        "default": "support.select_default_back(g, condlist, default)",
    },
    jvp={
        "choicelist": "np.select(condlist, choicelist_dot, support.zero_like(out))",
        "default": "support.select_default_dot(default_dot, condlist, out)",
    },
    at=[
        ([_V > 1, _V > 0], [_V**2, _V], -_V),
        ([_V > 1, _V > 0], (_V, np.array(0.4)), 0.3),
        ([_V > 0.5], [_V], 1.5),
    ],
)
structured(
    np.choose,
    "a, choices, out=None, mode='raise'",
    vjp={"choices": "support.choose_back(g, a, choices, mode)"},
    jvp={"choices": "np.choose(a, choices_dot, mode=mode)"},
    writes=("out",),
    at=[([0, 1, 0, 1], [_V, -_V]), ([0, 5, -1, 1], [_V, 2 * _V, _V**2], None, "clip")],
)
# ---- derivative zero -------------------------------------------------------

nondiff(
    np.floor_divide, np.sign, np.signbit, np.floor, np.ceil, np.rint, np.trunc, np.spacing,
    np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
    np.isnan, np.isinf, np.isfinite, np.isnat, np.gcd, np.lcm,
)  # fmt: skip
if hasattr(np, "bitwise_count"):
    nondiff(np.bitwise_count)

# ---- methods of arrays ------------------------------------------------------

alias(np.ndarray.clip, np.clip)
alias(np.ndarray.conj, np.conjugate)
alias(np.ndarray.conjugate, np.conjugate)
alias(np.ndarray.choose, np.choose)

# ---- short formulas --------------------------------------------------------


def specialised(
    entry: Entry,
    param: str,
    constants: Mapping[str, Any],
    types: Mapping[str, Type] | None = None,
    forward: bool = False,
) -> Formula | None:
    """A shorter formula than the entry's, given arguments that are literals and types.

    `constants` holds the values of parameters that are literals in the call or left at their
    defaults; `types` what is known of the parameters.  The reverse formula is returned, or the
    forward one (with `<param>_dot`).  None: the entry's formula is short already.

    Example:
        >>> specialised(registry.lookup(np.power), "x1", {"x2": 3}).text
        'g * 3.0 * x1 ** 2'
    """
    types = types or {}
    short = _by_constant(entry, param, constants, types)
    same_forward = entry.kind == "elementwise" or entry.target in (np.absolute, abs)
    if short is not None and (same_forward or not forward):
        return Formula(_with_tangent(short, param) if forward else short)
    formula = (entry.jvps if forward and entry.kind == "structured" else entry.vjps).get(param)
    if formula is None or (forward and entry.kind == "linear"):
        return None
    plain = text = _spelled(formula.text)
    if _TRIMMED.search(text):
        node = ast.parse(text, mode="eval").body
        text = ast.unparse(Trim(entry, constants, types).visit(node))
    if forward and entry.kind == "elementwise":
        text = _with_tangent(text, param)
    return None if text == plain else Formula(text)


@lru_cache(maxsize=8192)
def _spelled(text: str) -> str:
    """A formula in the one way that `ast` spells it."""
    return ast.unparse(ast.parse(text, mode="eval"))


# What `_Trim` may change has one of these in it.
_TRIMMED = re.compile(r"np\.(conj|real)|support\.(match|direction|sum_back)|\w+=")


@lru_cache(maxsize=8192)
def _with_tangent(text: str, param: str) -> str:
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "g":
            node.id = f"{param}_dot"
    return ast.unparse(tree)


def _by_constant(
    entry: Entry, param: str, constants: Mapping[str, Any], types: Mapping[str, Type]
) -> str | None:
    if entry.target in (np.power, np.float_power, pow, math.pow):
        base, exponent = list(entry.vjps)[:2]
        if param == base and _is_number(constants.get(exponent)):
            return _power_rule(base, constants[exponent])
        value = constants.get(base)
        if param == exponent and value is not None and _is_number(value) and value > 0:
            return f"g * math.log({float(value)!r}) * out"
    if entry.target is np.clip and param == "a":
        return _clip_rule(constants)
    if entry.target in (np.absolute, abs) and is_real(types.get("x")):
        return "g * np.sign(x)"
    if entry.target in (np.sum, np.mean) and param == "a":
        return _spread_rule(entry, constants, types)
    return None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _power_rule(base: str, n: Any) -> str | None:
    if n == 0:
        return None  # the general formula gives zeros of the right shape
    if n == 1:
        return "g"
    if n == 2:
        return f"g * 2.0 * {base}"
    if n == 0.5:
        return "g * 0.5 / out"
    if n == -1:
        return f"-g / {base} ** 2"
    if n < 0:
        return f"{float(n)!r} * g * {base} ** {n - 1!r}"
    return f"g * {float(n)!r} * {base} ** {n - 1!r}"


def _clip_rule(constants: Mapping[str, Any]) -> str | None:
    """Bounds that are literals are compared in place."""
    bounds = []
    for first, second in (("a_min", "min"), ("a_max", "max")):
        if first not in constants or second not in constants:
            return None
        value = constants[second] if constants[first] is None else constants[first]
        if value is not None and not _is_number(value):
            return None
        bounds.append(value)
    low, high = bounds
    if low is None or high is None:
        test = f"(a >= {low!r})" if high is None else f"(a <= {high!r})"
        return None if low is None and high is None else f"g * {test}"
    return f"g * ((a >= {low!r}) & (a <= {high!r}))"


def _spread_rule(
    entry: Entry, constants: Mapping[str, Any], types: Mapping[str, Type]
) -> str | None:
    """The sum of all elements of an array."""
    options = ("axis", "keepdims", "where", "initial", "dtype")
    if not all(is_default(k, constants) for k in options if k in entry.params.parameters):  # type: ignore[union-attr]
        return None
    if not isinstance(types.get("a"), Array):
        return None
    value = "g" if entry.target is np.sum else "g / a.size"
    return f"np.full(a.shape, {value}, a.dtype)"
