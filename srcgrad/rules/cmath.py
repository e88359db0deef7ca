"""Rules for the functions of `cmath`."""

from __future__ import annotations

import cmath
from typing import Any

from srcgrad.rules.registry import elementwise, nondiff, structured

_ANY: list[Any] = [(0.3 + 0.4j,), (-1.1 + 0.2j,), (0.7,)]


def _analytic(name: str, x: str, at: Any = _ANY) -> None:
    elementwise(getattr(cmath, name), "x, /", x=x, at=at)


_analytic("exp", "g * out")
_analytic("sqrt", "g * 0.5 / out")
_analytic("log10", "g / (x * math.log(10.0))")
_analytic("sin", "g * np.cos(x)")
_analytic("cos", "-g * np.sin(x)")
_analytic("tan", "g * (1.0 + out * out)")
_analytic("asin", "g / np.cos(out)")
_analytic("acos", "-g / np.sin(out)")
_analytic("atan", "g / (1.0 + x * x)")
_analytic("sinh", "g * np.cosh(x)")
_analytic("cosh", "g * np.sinh(x)")
_analytic("tanh", "g * (1.0 - out * out)")
_analytic("asinh", "g / np.cosh(out)")
_analytic("acosh", "g / np.sinh(out)", [(0.3 + 0.4j,), (1.7,)])
_analytic("atanh", "g / (1.0 - x * x)")
_log = elementwise(cmath.log, "x, /", x="g / x", at=_ANY)
_log.variants[2] = elementwise(
    cmath.log,
    "x, base, /",
    x="g / (x * np.log(base))",
    base="-g * out / (base * np.log(base))",
    at=[(0.3 + 0.4j, 2.0), (0.7, 0.4 + 1.0j)],
    register=False,
)
structured(
    cmath.phase,
    "x, /",
    vjp={"x": "support.match(-1j * support.safe_divide(g, x), x)"},
    jvp={"x": "np.imag(support.safe_divide(x_dot, x))"},
    at=[(0.3 + 0.4j,), (-1.1 - 0.2j,)],
)
structured(
    cmath.polar,
    "x, /",
    vjp={"x": "support.match(g[0] * support.direction(x) - 1j * support.safe_divide(g[1], x), x)"},
    jvp={"x": "(np.real(x_dot * support.direction(x)), np.imag(support.safe_divide(x_dot, x)))"},
    at=[(0.3 + 0.4j,), (-1.1 - 0.2j,)],
)
elementwise(
    cmath.rect,
    "r, phi, /",
    r="g * np.exp(1j * phi)",
    phi="g * 1j * out",
    at=[(0.7, 0.4), (1.3, -2.0)],
)
nondiff(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)
