"""The rules of Python's builtins, of `math` and `operator`, and of conversions.

Formulas for `math` use `math`: they are for numbers, and stay Python numbers.
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from srcgrad.rules.registry import alias, elementwise, linear, nondiff, structured

# ---- operators -------------------------------------------------------------

OPERATORS: dict[str, Any] = {
    "neg": np.negative,
    "pos": np.positive,
    "invert": np.invert,
    "not": operator.not_,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "is": operator.is_,
    "is_not": operator.is_not,
    "in": operator.contains,
    "not_in": operator.contains,
}
nondiff(operator.not_, operator.is_, operator.is_not, operator.contains, operator.truth)
for _name, _target in OPERATORS.items():
    for _spelling in (_name, f"{_name}_"):
        _function = getattr(operator, _spelling, None)
        if _function is not None and _function is not _target:
            alias(_function, _target)
alias(operator.abs, abs)
alias(operator.index, int)

# ---- builtins --------------------------------------------------------------

structured(
    abs,
    "x, /",
    vjp={"x": "g * support.direction(x)"},
    jvp={"x": "np.real(x_dot * support.direction(x))"},
    lanes=True,
    at=[(0.4,), (-1.3,), (np.array([0.4, -1.3]),), (0.3 + 0.4j,)],
)
elementwise(
    pow,
    "base, exp",
    base="g * support.power_partial(base, exp, 1, 0)",
    exp="g * support.power_partial(base, exp, 0, 1)",
    at=[(1.3, 2.5), (-1.3, 3), (0.0, 2), (0.7, -2.0)],
)


def _extreme(target: Any, sign: str) -> None:
    """max and min: of a sequence, of two numbers, of several."""
    ties = "support.ties(support.to_array({0}), out)"
    several = structured(
        target,
        "*args",
        vjp={"args": f"support.to_items(g * {ties.format('args')}, args)"},
        jvp={"args": f"np.sum(support.to_array(args_dot) * {ties.format('args')})"},
        at=[(0.4, 1.3, -0.2), (2.0, 2.5, 2.3, 1.0)],
        view="maybe",  # one of the arguments itself
    )
    several.variants[1] = structured(
        target,
        "iterable, /",
        vjp={"iterable": f"support.to_items(g * {ties.format('iterable')}, iterable)"},
        jvp={"iterable": f"np.sum(support.to_array(iterable_dot) * {ties.format('iterable')})"},
        at=[([0.4, 1.3, -0.2],), ((2.0, 1.5, 2.5),), (np.array([0.4, 1.3, -0.2]),)],
        register=False,
    )
    two = elementwise(
        target,
        "x1, x2, /",
        x1=f"g * (x1 {sign} x2) + 0.5 * g * (x1 == x2)",
        x2=f"g * (x2 {sign} x1) + 0.5 * g * (x2 == x1)",
        at=[(0.4, 1.3), (1.3, -0.2)],
        register=False,
    )
    several.variants[2] = replace(two, view="maybe")


_extreme(max, ">")
_extreme(min, "<")
structured(
    sum,
    "iterable, /, start=0",
    vjp={
        "iterable": "support.sum_of_back(g, iterable)",
        "start": "support.unbroadcast(g, start)",
    },
    jvp={
        "iterable": "support.sum_of_dot(iterable_dot, out)",
        "start": "support.broadcast_like(start_dot, out)",
    },
    at=[
        ([0.4, 1.3, -0.2],),
        ((0.4, 1.3), 0.7),
        (np.array([0.4, 1.3, -0.2]),),
        (np.array([[0.4, 1.3], [-0.2, 0.9]]),),
        ([np.array([0.4, 1.3]), 0.7, np.array([[0.1], [0.2]])], 1.5),
    ],
)
structured(
    divmod,
    "x, y, /",
    vjp={"x": "g[1]", "y": "support.unbroadcast(-g[1] * out[0], y)"},
    jvp={
        "x": "(support.zero_like(out[0]), support.broadcast_like(x_dot, out[1]))",
        "y": "(support.zero_like(out[0]), -y_dot * out[0])",
    },
    at=[(3.7, 1.3), (-2.2, 0.9)],
)

# ---- conversions -----------------------------------------------------------

_cast: Any
_NUMBERS: list[Any] = [(0.7,), (np.float64(0.7),), (np.array(0.7),)]
linear(float, "x=0.0, /", x="support.unbroadcast(g, x)", at=_NUMBERS)
# `np.float64(a)` of an array of that dtype is the array itself.
for _cast in (np.float16, np.float32, np.float64, np.longdouble):
    linear(_cast, "x=0.0, /", x="support.unbroadcast(g, x)", view="maybe", at=_NUMBERS)
for _cast in (np.complex64, np.complex128, np.clongdouble):
    linear(
        _cast,
        "x=0.0, /",
        x="support.unbroadcast(g, x)",
        view="maybe",
        at=[(0.7,), (0.7 - 0.2j,)],
    )
structured(
    complex,
    "real=0.0, imag=0.0",
    vjp={"real": "support.match(g, real)", "imag": "support.match(1j * g, imag)"},
    jvp={"real": "support.match(real_dot, out)", "imag": "1j * imag_dot"},
    at=[(0.7,), (0.7, 0.4), (0.7 + 0.1j,), ((), {"imag": 0.3})],
)
nondiff(
    int, bool, str, bytes, round, type, isinstance, issubclass, callable, hash, id, len, repr,
    ascii, format, range, slice, all, any, hasattr, ord, chr, bin, oct, hex, np.bool_, np.dtype,
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.intp,
    np.uintp,
)  # fmt: skip
nondiff(print, input, open, breakpoint, pure=False)

# ---- math ------------------------------------------------------------------

_ANY = [(0.37,), (-1.3,), (2.2,)]
_POSITIVE = [(0.37,), (2.2,)]
_UNIT = [(0.37,), (-0.7,)]


def _math(name: str, x: str, at: Any = _ANY) -> None:
    function = getattr(math, name, None)  # some are younger than Python 3.11
    if function is not None:
        elementwise(function, "x, /", x=x, at=at)


_math("exp", "g * out")
_math("exp2", "g * out * math.log(2.0)")
_math("expm1", "g * (out + 1.0)")
_math("log2", "g / (x * math.log(2.0))", _POSITIVE)
_math("log10", "g / (x * math.log(10.0))", _POSITIVE)
_math("log1p", "g / (1.0 + x)", _POSITIVE)
_math("sqrt", "g * 0.5 / out", _POSITIVE)
_math("cbrt", "g / (3.0 * out * out)")
_math("sin", "g * math.cos(x)")
_math("cos", "-g * math.sin(x)")
_math("tan", "g * (1.0 + out * out)")
_math("asin", "g / math.sqrt(1.0 - x * x)", _UNIT)
_math("acos", "-g / math.sqrt(1.0 - x * x)", _UNIT)
_math("atan", "g / (1.0 + x * x)")
_math("sinh", "g * math.cosh(x)")
_math("cosh", "g * math.sinh(x)")
_math("tanh", "g * (1.0 - out * out)")
_math("asinh", "g / math.sqrt(1.0 + x * x)")
_math("acosh", "g / math.sqrt(x * x - 1.0)", [(1.37,), (3.1,)])
_math("atanh", "g / (1.0 - x * x)", _UNIT)
_math("erf", "g * 2.0 * math.exp(-x * x) / math.sqrt(math.pi)")
_math("erfc", "-g * 2.0 * math.exp(-x * x) / math.sqrt(math.pi)")
_math("gamma", "g * out * support.polygamma(0, x)", [(0.37,), (2.2,), (-1.3,)])
_math("lgamma", "g * support.polygamma(0, x)", [(0.37,), (2.2,), (-1.3,)])
_math("fabs", "g * np.sign(x)")
_math("degrees", "math.degrees(g)")
_math("radians", "math.radians(g)")

_log = elementwise(math.log, "x, /", x="g / x", at=_POSITIVE)
_log.variants[2] = elementwise(
    math.log,
    "x, base, /",
    x="g / (x * math.log(base))",
    base="-g * out / (base * math.log(base))",
    at=[(0.37, 2.0), (2.2, 0.6)],
    register=False,
)
elementwise(
    math.pow,
    "x, y, /",
    x="g * support.power_partial(x, y, 1, 0)",
    y="g * support.power_partial(x, y, 0, 1)",
    at=[(0.37, 2.5), (0.0, 2), (-1.3, 3), (0.0, 1)],
)
elementwise(
    math.atan2,
    "y, x, /",
    y="g * support.safe_divide(x, x * x + y * y)",
    x="-g * support.safe_divide(y, x * x + y * y)",
    at=[(0.37, 1.3), (-0.2, -0.7)],
)
elementwise(math.fmod, "x, y, /", x="g", y="-g * math.trunc(x / y)", at=[(3.7, 1.3), (-2.2, 0.9)])
# x - y * (the nearest whole number to x / y)
elementwise(
    math.remainder, "x, y, /", x="g", y="-g * np.rint(x / y)", at=[(3.7, 1.3), (-2.2, 0.9)]
)
elementwise(
    math.copysign,
    "x, y, /",
    x="g * np.sign(x) * np.sign(out)",
    zero=("y",),
    at=[(0.37, -1.3), (-0.2, -0.7)],
)
elementwise(math.ldexp, "x, i, /", x="math.ldexp(g, i)", zero=("i",), at=[(0.37, 3), (-1.2, -2)])
if hasattr(math, "fma"):
    elementwise(math.fma, "x, y, z, /", x="g * y", y="g * x", z="g", at=[(0.3, 1.2, -0.4)])
structured(
    math.modf,
    "x, /",
    vjp={"x": "g[0]"},
    jvp={"x": "(x_dot, 0.0)"},
    at=[(1.3,), (-2.7,)],
)
structured(
    math.frexp,
    "x, /",
    vjp={"x": "math.ldexp(g[0], -out[1])"},
    jvp={"x": "(math.ldexp(x_dot, -out[1]), None)"},
    at=[(1.3,), (-2.7,)],
)
_hypot = structured(
    math.hypot,
    "*coordinates",
    vjp={
        "coordinates": "support.to_items("
        "g * support.safe_divide(support.to_array(coordinates), out), coordinates)"
    },
    jvp={
        "coordinates": "np.sum(support.to_array(coordinates_dot)"
        " * support.safe_divide(support.to_array(coordinates), out))"
    },
    at=[(0.4, 1.3, -0.2), (-0.7,)],
)
_hypot.variants[2] = elementwise(
    math.hypot,
    "x, y, /",
    x="g * support.safe_divide(x, out)",
    y="g * support.safe_divide(y, out)",
    at=[(0.4, -1.3)],
    register=False,
)
_DIFFERENCE = "support.safe_divide(support.to_array(p) - support.to_array(q), out)"
structured(
    math.dist,
    "p, q, /",
    vjp={
        "p": f"support.to_items(g * {_DIFFERENCE}, p)",
        "q": f"support.to_items(-g * {_DIFFERENCE}, q)",
    },
    jvp={
        "p": f"np.sum(support.to_array(p_dot) * {_DIFFERENCE})",
        "q": f"-np.sum(support.to_array(q_dot) * {_DIFFERENCE})",
    },
    at=[([0.4, 1.3], (0.1, -0.5))],
)
structured(
    math.fsum,
    "seq, /",
    vjp={"seq": "support.sum_of_back(g, seq)"},
    jvp={"seq": "support.sum_of_dot(seq_dot, out)"},
    at=[([0.4, 1.3, -0.2],), (np.array([0.4, 1.3]),)],
)
_OTHERS = "support.prod_others(support.to_array(iterable))"
structured(
    math.prod,
    "iterable, /, *, start=1",
    vjp={
        "iterable": f"support.to_items(g * start * {_OTHERS}, iterable)",
        "start": "g * np.prod(support.to_array(iterable))",
    },
    jvp={
        "iterable": f"start * np.sum(support.to_array(iterable_dot) * {_OTHERS})",
        "start": "start_dot * np.prod(support.to_array(iterable))",
    },
    at=[([0.4, 1.3, -0.2],), ((0.4, 0.0, -0.2),), (([0.4, 1.3],), {"start": 0.7})],
)
if hasattr(math, "sumprod"):
    structured(
        math.sumprod,
        "p, q, /",
        vjp={
            "p": "support.to_items(g * support.to_array(q), p)",
            "q": "support.to_items(g * support.to_array(p), q)",
        },
        jvp={
            "p": "np.sum(support.to_array(p_dot) * support.to_array(q))",
            "q": "np.sum(support.to_array(p) * support.to_array(q_dot))",
        },
        at=[([0.4, 1.3], [0.1, -0.5])],
    )
nondiff(
    math.floor, math.ceil, math.trunc, math.isnan, math.isinf, math.isfinite, math.isclose,
    math.gcd, math.lcm, math.factorial, math.comb, math.perm, math.isqrt, math.ulp,
)  # fmt: skip
elementwise(math.nextafter, "x, y, /", x="g", zero=("y",), at=[(0.37, 1.0)])
