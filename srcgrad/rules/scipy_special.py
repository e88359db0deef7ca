"""Rules for `scipy.special`.

Formulas that are not derived here by a line of calculus are those of the Digital Library of
Mathematical Functions (Olver et al., NIST), named by section.  A function of an order or degree
has no derivative in it here, unless a formula stands for it.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import special

from srcgrad.rules.registry import elementwise, lookup, nondiff, refuse, structured
from srcgrad.rules.ufuncs import ufunc
from srcgrad.runtime.support import scipy_special as helpers

# ---- sample points ----------------------------------------------------------

_V = np.array([0.3, -1.7, 0.6, 2.2])
_P = np.array([0.35, 1.7, 0.6, 2.2])
_M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])
_T = np.cos(np.arange(24.0) * 1.3).reshape(2, 3, 4)
_C = np.array([0.3 + 0.5j, 1.1 + 0.2j])

ANY: list[Any] = [(0.37,), (_V,), (_M,)]
POSITIVE: list[Any] = [(0.37,), (_P,)]
UNIT: list[Any] = [(0.37,), (np.array([0.2, 0.9]),)]
INNER: list[Any] = [(0.37,), (np.array([0.2, -0.9]),)]
COMPLEX: list[Any] = [(0.3 + 0.4j,), (_C,)]
TWO: list[Any] = [(0.37, 1.3), (_P, 0.8), (_P[:, None], np.array([0.4, 2.1]))]
_ROOT = "math.sqrt(math.pi)"


def _of(name: str, params: str, *, at: Any, **formulas: Any) -> None:
    """A ufunc of SciPy, if this version has it."""
    target = getattr(special, name, None)
    if target is None or lookup(target) is not None:
        return
    if isinstance(target, np.ufunc):
        ufunc(target, params, at=at, **formulas)
    else:
        elementwise(target, params, at=at, **formulas)


# ---- gamma and beta functions (DLMF 5) --------------------------------------

_of("gamma", "x", x="g * out * special.psi(x)", at=[*POSITIVE, (-1.3,)])
_of("gammaln", "x", x="g * special.psi(x)", at=[*POSITIVE, (-1.3,)])
_of("loggamma", "x", x="g * special.psi(x)", at=POSITIVE)
_of("rgamma", "x", x="-g * out * special.psi(x)", at=[*POSITIVE, (-1.3,)])
_of("psi", "x", x="g * special.zeta(2.0, x)", at=[*POSITIVE, (-1.3,)])
_of("polygamma", "n, x", x="g * special.polygamma(n + 1, x)", at=[(0, 0.4), (1, _P), (2, 1.3)])
_of("multigammaln", "a, d",
    a="g * np.sum(special.psi(np.asarray(a)[..., None]"
    " - 0.5 * np.arange(d, dtype=np.asarray(a).dtype)), -1)",
    at=[(2.3, 2), (_P + 2.0, 3)])  # fmt: skip
_of("zeta", "x, q=1.0", q="-g * x * special.zeta(x + 1.0, q)", at=[(2.3, 0.7), (3.0, _P)])
_of("beta", "a, b", a="g * out * (special.psi(a) - special.psi(a + b))",
    b="g * out * (special.psi(b) - special.psi(a + b))", at=TWO)  # fmt: skip
_of("betaln", "a, b", a="g * (special.psi(a) - special.psi(a + b))",
    b="g * (special.psi(b) - special.psi(a + b))", at=TWO)  # fmt: skip
_of("binom", "n, k", n="g * out * (special.psi(n + 1.0) - special.psi(n - k + 1.0))",
    k="g * out * (special.psi(n - k + 1.0) - special.psi(k + 1.0))",
    at=[(4.3, 1.2), (_P + 2.0, 0.7)])  # fmt: skip
_of("poch", "z, m", z="g * out * (special.psi(z + m) - special.psi(z))",
    m="g * out * special.psi(z + m)", at=TWO)  # fmt: skip
_of("factorial", "n, exact=False", n="g * out * special.psi(n + 1.0)", at=[(2.3,), (_P,)])
_KERNEL = "np.exp(special.xlogy({a} - 1.0, {x}) - {x} - special.gammaln({a}))"
_GAMMA = _KERNEL.format(a="a", x="x")
_of("gammainc", "a, x", x=f"g * {_GAMMA}", at=TWO)
_of("gammaincc", "a, x", x=f"-g * {_GAMMA}", at=TWO)
_INVERSE = _KERNEL.format(a="a", x="out")
_of("gammaincinv", "a, y", y=f"g / {_INVERSE}", at=[(1.3, 0.4), (_P, 0.3)])
_of("gammainccinv", "a, y", y=f"-g / {_INVERSE}", at=[(1.3, 0.4), (_P, 0.3)])
_SHARE = (
    "np.exp(special.xlogy(a - 1.0, {x}) + special.xlog1py(b - 1.0, -{x}) - special.betaln(a, b))"
)
_THREE: list[Any] = [(1.3, 0.8, 0.4), (_P, 1.2, 0.3)]
_of("betainc", "a, b, x", x=f"g * {_SHARE.format(x='x')}", at=_THREE)
_of("betaincc", "a, b, x", x=f"-g * {_SHARE.format(x='x')}", at=_THREE)
_of("betaincinv", "a, b, y", y=f"g / {_SHARE.format(x='out')}", at=_THREE)
_of("betainccinv", "a, b, y", y=f"-g / {_SHARE.format(x='out')}", at=_THREE)

# ---- error functions and the normal distribution (DLMF 7) -------------------

_BELL = f"2.0 / {_ROOT} * np.exp(-x * x)"
_of("erf", "x", x=f"g * {_BELL}", at=[*ANY, *COMPLEX])
_of("erfc", "x", x=f"-g * {_BELL}", at=[*ANY, *COMPLEX])
_of("erfcx", "x", x=f"g * (2.0 * x * out - 2.0 / {_ROOT})", at=[*ANY, *COMPLEX])
_of("erfi", "x", x=f"g * 2.0 / {_ROOT} * np.exp(x * x)", at=[*ANY, *COMPLEX])
_of("dawsn", "x", x="g * (1.0 - 2.0 * x * out)", at=[*ANY, *COMPLEX])
_of("wofz", "x", x=f"g * (2.0j / {_ROOT} - 2.0 * x * out)", at=COMPLEX)
_of("erfinv", "x", x=f"g * 0.5 * {_ROOT} * np.exp(out * out)", at=INNER)
_of("erfcinv", "x", x=f"-g * 0.5 * {_ROOT} * np.exp(out * out)", at=UNIT)
_NORMAL = "math.sqrt(2.0 * math.pi)"
_of("ndtr", "x", x=f"g * np.exp(-0.5 * x * x) / {_NORMAL}", at=ANY)
_of("log_ndtr", "x", x=f"g * np.exp(-0.5 * x * x - out) / {_NORMAL}", at=ANY)
_of("ndtri", "x", x=f"g * {_NORMAL} * np.exp(0.5 * out * out)", at=UNIT)
_of("ndtri_exp", "x", x=f"g * {_NORMAL} * np.exp(x + 0.5 * out * out)", at=[(-0.4,), (-_P,)])
_of("owens_t", "h, a",
    h="-g * special.erf(a * h / math.sqrt(2.0)) * np.exp(-0.5 * h * h)"
    " / (2.0 * math.sqrt(2.0 * math.pi))",
    a="g * np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a))",
    at=TWO)  # fmt: skip

# ---- logistic functions, entropies, transformations -------------------------

_of("expit", "x", x="g * out * (1.0 - out)", at=ANY)
_of("logit", "x", x="g / (x * (1.0 - x))", at=UNIT)
_of("log_expit", "x", x="g * special.expit(-x)", at=ANY)
_of("softplus", "x", x="g * special.expit(x)", at=ANY)
_of("expm1", "x", x="g * (out + 1.0)", at=[*ANY, *COMPLEX])
_of("log1p", "x", x="g / (1.0 + x)", at=[*POSITIVE, *COMPLEX])
_of("exp2", "x", x="g * out * math.log(2.0)", at=ANY)
_of("exp10", "x", x="g * out * math.log(10.0)", at=ANY)
_of("cbrt", "x", x="g / (3.0 * out * out)", at=ANY)
_of("cosm1", "x", x="-g * np.sin(x)", at=ANY)
_DEGREE = "math.pi / 180.0"
_of("sindg", "x", x=f"g * ({_DEGREE}) * special.cosdg(x)", at=ANY)
_of("cosdg", "x", x=f"-g * ({_DEGREE}) * special.sindg(x)", at=ANY)
_of("tandg", "x", x=f"g * ({_DEGREE}) * (1.0 + out * out)", at=ANY)
_of("cotdg", "x", x=f"-g * ({_DEGREE}) * (1.0 + out * out)", at=ANY)
_of("radian", "d, m, s", d=f"g * ({_DEGREE})", m=f"g * ({_DEGREE}) / 60.0",
    s=f"g * ({_DEGREE}) / 3600.0", at=[(1.0, 2.0, 3.0), (_V, 0.3, 0.4)])  # fmt: skip
_of("entr", "x", x="-g * (np.log(x) + 1.0)", at=POSITIVE)
_of("xlogy", "x, y", x="special.xlogy(g, y)", y="g * support.safe_divide(x, y)", at=TWO)
_of("xlog1py", "x, y", x="special.xlog1py(g, y)", y="g * support.safe_divide(x, 1.0 + y)", at=TWO)
_of("rel_entr", "x, y", x="g * (np.log(x / y) + 1.0)", y="-g * support.safe_divide(x, y)", at=TWO)
_of("kl_div", "x, y", x="g * np.log(x / y)", y="g * (1.0 - support.safe_divide(x, y))", at=TWO)
_of("huber", "delta, r",
    delta="g * np.where(np.abs(r) <= delta, 0.0, np.abs(r) - delta)",
    r="g * np.where(np.abs(r) <= delta, r, delta * np.sign(r))",
    at=[(0.5, 0.2), (0.5, _V), (1.9, _V)])  # fmt: skip
_BEND = "np.sqrt(1.0 + (r / delta) ** 2)"
_of("pseudo_huber", "delta, r", delta=f"g * (2.0 * out / delta - r * r / (delta * {_BEND}))",
    r=f"g * r / {_BEND}", at=[(0.5, 0.2), (0.5, _V)])  # fmt: skip
_POWERS: list[Any] = [(0.7, 1.3), (_P, 0.4), (_P, -0.6)]
_of("boxcox", "x, lmbda", x="g * x ** (lmbda - 1.0)",
    lmbda="g * ((lmbda * out + 1.0) * np.log(x) - out) / lmbda", at=_POWERS)  # fmt: skip
_of("boxcox1p", "x, lmbda", x="g * (1.0 + x) ** (lmbda - 1.0)",
    lmbda="g * ((lmbda * out + 1.0) * np.log1p(x) - out) / lmbda", at=_POWERS)  # fmt: skip
_of("inv_boxcox", "y, lmbda", y="g * out ** (1.0 - lmbda)",
    lmbda="g * out * (y / (lmbda * y + 1.0) - np.log(out)) / lmbda",
    at=[(0.7, 1.3), (0.3 * _P, 0.4)])  # fmt: skip
_of("inv_boxcox1p", "y, lmbda", y="g * (1.0 + out) ** (1.0 - lmbda)",
    lmbda="g * (1.0 + out) * (y / (lmbda * y + 1.0) - np.log1p(out)) / lmbda",
    at=[(0.7, 1.3), (0.3 * _P, 0.4)])  # fmt: skip
_of("exprel", "x",
    x="g * np.where(np.abs(x) < 1e-3, 0.5 + x / 3.0 + x * x / 8.0,"
    " (np.exp(x) - out) / np.where(x == 0.0, 1.0, x))",
    at=ANY)  # fmt: skip

_of("powm1", "x, y", x="g * y * np.power(x, y - 1.0)", y="g * (out + 1.0) * np.log(x)", at=TWO)
# (a + b) / 2 by the hypergeometric series of the square of the quotient (DLMF 19.8.1, 19.5.1).
_RATIO = "2.0 * (a - b) * (out / (a + b)) ** 2 / (a + b) ** 2"
_RATIO += " * special.hyp2f1(1.5, 1.5, 2.0, ((a - b) / (a + b)) ** 2)"
_of("agm", "a, b", a=f"g * support.cast_like(out / (a + b) - b * {_RATIO}, a)",
    b=f"g * support.cast_like(out / (a + b) + a * {_RATIO}, b)",
    at=[*TWO, (1.3, 1.3)])  # fmt: skip
# The real part of the Faddeeva function w, where w' = 2 i / sqrt(pi) - 2 z w (DLMF 7.10.2).
_of("voigt_profile", "x, sigma, gamma", at=[(0.4, 0.8, 0.3), (_V, 1.3, 0.7)],
    let={"z": "(x + 1j * gamma) / (sigma * math.sqrt(2.0))",
         "slope": f"(1.0j / {_ROOT} - z * special.wofz(z)) / (sigma * sigma * {_ROOT})"},
    x="g * np.real(slope)", gamma="-g * np.imag(slope)",
    sigma="-g * (out / sigma + np.real(slope * z) * math.sqrt(2.0))")  # fmt: skip

# ---- integrals (DLMF 6, 7, 25.12) -------------------------------------------

_of("exp1", "x", x="-g * np.exp(-x) / x", at=[*POSITIVE, *COMPLEX])
_of("expi", "x", x="g * np.exp(x) / x", at=[*POSITIVE, *COMPLEX])
_of("expn", "n, x", x="-g * special.expn(n - 1, x)", at=[(2, 0.4), (3, _P)])
_of("spence", "x",
    x="g * np.where(x == 1.0, -1.0, np.log(x) / np.where(x == 1.0, 1.0, 1.0 - x))",
    at=POSITIVE)  # fmt: skip
for _name, _first, _second in (
    ("sici", "np.sinc({x} / math.pi)", "np.cos({x}) / {x}"),
    ("shichi", "np.sinh({x}) / {x}", "np.cosh({x}) / {x}"),
    ("fresnel", "np.sin(0.5 * math.pi * {x} * {x})", "np.cos(0.5 * math.pi * {x} * {x})"),
):
    _first, _second = _first.format(x="x"), _second.format(x="x")
    structured(
        getattr(special, _name),
        "x, /",
        vjp={"x": f"g[0] * {_first} + g[1] * {_second}"},
        jvp={"x": f"(x_dot * {_first}, x_dot * {_second})"},
        at=POSITIVE,
    )
structured(
    special.airy,
    "z, /",
    vjp={"z": "g[0] * out[1] + g[1] * z * out[0] + g[2] * out[3] + g[3] * z * out[2]"},
    jvp={"z": "(z_dot * out[1], z_dot * z * out[0], z_dot * out[3], z_dot * z * out[2])"},
    at=ANY,
)

_ROOT_Z = "np.sqrt(np.maximum(support.real_only(z), 0.0))"  # the slope of the scale's exponent
structured(
    special.airye,
    "z, /",
    vjp={"z": f"g[0] * (out[1] + {_ROOT_Z} * out[0]) + g[1] * (z * out[0] + {_ROOT_Z} * out[1])"
         f" + g[2] * (out[3] - {_ROOT_Z} * out[2]) + g[3] * (z * out[2] - {_ROOT_Z} * out[3])"},
    jvp={"z": f"(z_dot * (out[1] + {_ROOT_Z} * out[0]), z_dot * (z * out[0] + {_ROOT_Z} * out[1]),"
         f" z_dot * (out[3] - {_ROOT_Z} * out[2]), z_dot * (z * out[2] - {_ROOT_Z} * out[3]))"},
    at=POSITIVE,
)  # fmt: skip
for _name, _parts in (
    ("itairy", ("special.airy({x})[0]", "special.airy({x})[2]",
                "special.airy(-{x})[0]", "special.airy(-{x})[2]")),
    ("iti0k0", ("special.i0({x})", "special.k0({x})")),
    ("itj0y0", ("special.j0({x})", "special.y0({x})")),
    ("it2i0k0", ("(special.i0({x}) - 1.0) / {x}", "-special.k0({x}) / {x}")),
    ("it2j0y0", ("(1.0 - special.j0({x})) / {x}", "-special.y0({x}) / {x}")),
):  # fmt: skip
    _slopes = [f"({part.format(x='x')})" for part in _parts]
    structured(
        getattr(special, _name),
        "x, /",
        vjp={"x": " + ".join(f"g[{k}] * {slope}" for k, slope in enumerate(_slopes))},
        jvp={"x": f"({', '.join(f'x_dot * {slope}' for slope in _slopes)})"},
        at=[(0.37,), (np.array([0.35, 0.6, 1.1]),)],
    )
# Parabolic cylinder functions solve w'' = (x^2 / 4 + a) w, a = -v - 1/2 (DLMF 12.2).
for _name, _first, _factor in (
    ("pbdv", "v", "(x * x / 4.0 - v - 0.5)"), ("pbvv", "v", "(x * x / 4.0 - v - 0.5)"),
    ("pbwa", "a", "(a - x * x / 4.0)"),
):  # fmt: skip
    structured(
        getattr(special, _name),
        f"{_first}, x, /",
        vjp={"x": f"g[0] * out[1] + g[1] * {_factor} * out[0]"},
        jvp={"x": f"(x_dot * out[1], x_dot * {_factor} * out[0])"},
        at=[(1.3, 0.7), (0.4, _P)],
    )
structured(
    special.ellipj,
    "u, m, /",
    let={"bend": "-out[2] * (special.ellipeinc(out[3], m) / (2.0 * m * (1.0 - m)) - u / (2.0 * m)"
         " - out[0] * out[1] / (2.0 * (1.0 - m) * out[2]))"},
    vjp={"u": "(g[0] * out[1] - g[1] * out[0] + g[3]) * out[2] - g[2] * m * out[0] * out[1]",
         "m": "(g[0] * out[1] - g[1] * out[0] + g[3]) * bend"
         " - g[2] * out[0] * (out[0] + 2.0 * m * out[1] * bend) / (2.0 * out[2])"},
    jvp={"u": "(u_dot * out[1] * out[2], -u_dot * out[0] * out[2], -u_dot * m * out[0] * out[1],"
         " u_dot * out[2])",
         "m": "(m_dot * out[1] * bend, -m_dot * out[0] * bend,"
         " -m_dot * out[0] * (out[0] + 2.0 * m * out[1] * bend) / (2.0 * out[2]), m_dot * bend)"},
    at=[(0.7, 0.4), (0.3, 0.6)],
)  # fmt: skip

# ---- Bessel functions (DLMF 10.6, 10.29) and Struve functions (11.4) --------

_of("j0", "x", x="-g * special.j1(x)", at=ANY)
_of("j1", "x", x="g * 0.5 * (special.j0(x) - special.jv(2, x))", at=[*ANY, (0.0,)])
_of("y0", "x", x="-g * special.y1(x)", at=POSITIVE)
_of("y1", "x", x="g * 0.5 * (special.y0(x) - special.yv(2, x))", at=POSITIVE)
_of("i0", "x", x="g * special.i1(x)", at=ANY)
_of("i1", "x", x="g * 0.5 * (special.i0(x) + special.iv(2, x))", at=ANY)
_of("k0", "x", x="-g * special.k1(x)", at=POSITIVE)
_of("k1", "x", x="-g * 0.5 * (special.k0(x) + special.kv(2, x))", at=POSITIVE)
_of("i0e", "x", x="g * (special.i1e(x) - np.sign(x) * out)", at=ANY)
_of("i1e", "x",
    x="g * (0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * out)", at=ANY)  # fmt: skip
_of("k0e", "x", x="g * (out - special.k1e(x))", at=POSITIVE)
_of("k1e", "x", x="g * (out - 0.5 * (special.k0e(x) + special.kve(2, x)))", at=POSITIVE)
_ORDERS: list[Any] = [(0.3, 0.8), (1, _P), (2.0, 1.3)]
for _name in ("jv", "jn", "yv", "hankel1", "hankel2"):
    _of(_name, "v, z", at=_ORDERS,
        z=f"g * 0.5 * (special.{_name}(v - 1, z) - special.{_name}(v + 1, z))")  # fmt: skip
_of("yn", "n, x", x="g * 0.5 * (special.yv(n - 1.0, x) - special.yv(n + 1.0, x))",
    at=[(1, _P), (2, 1.3)])  # fmt: skip
_of("iv", "v, z", z="g * 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z))", at=_ORDERS)
_of("kv", "v, z", z="-g * 0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z))", at=_ORDERS)
_of("kn", "n, x", x="-g * 0.5 * (special.kv(n - 1.0, x) + special.kv(n + 1.0, x))",
    at=[(1, _P), (2, 1.3)])  # fmt: skip
_of("ive", "v, z", at=_ORDERS,
    z="g * (0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z))"
    " - np.sign(support.real_only(z)) * out)")  # fmt: skip
_of("kve", "v, z", at=_ORDERS,
    z="g * (out - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z)))")  # fmt: skip
for _name, _sign in (
    ("spherical_jn", "-"), ("spherical_yn", "-"), ("spherical_in", "+"), ("spherical_kn", "+"),
):  # fmt: skip
    # The second derivative is that of the differential equation.
    _again = f"-2.0 * out / z {_sign} special.{_name}(n, z)"
    _again += f" + n * (n + 1) / z ** 2 * special.{_name}(n, z)"
    _of(_name, "n, z, derivative=False", at=[(1, 0.7), (2, _P), (1, 0.7, True)],
        z=f"g * ({_again} if derivative else special.{_name}(n, z, True))")  # fmt: skip
for _name in ("struve", "modstruve"):
    _of(_name, "v, x", at=_ORDERS, x=f"g * (special.{_name}(v - 1, x) - v * out / x)")

elementwise(helpers.real_only, "x", x="g", at=[(0.3,), (_V,)])
for _name in ("jve", "yve"):
    _of(_name, "v, z", at=_ORDERS, let={"r": "support.real_only(z)"},
        z=f"g * 0.5 * (special.{_name}(v - 1, r) - special.{_name}(v + 1, r))")  # fmt: skip
for _name in ("hankel1e", "hankel2e"):
    _sign = "-" if _name == "hankel1e" else "+"
    _of(
        _name,
        "v, z",
        at=_ORDERS,
        z=f"g * (0.5 * (special.{_name}(v - 1, z) - special.{_name}(v + 1, z)) {_sign} 1j * out)",
    )
_of("itstruve0", "x", x="g * support.cast_like(special.struve(0, x), x)", at=POSITIVE)
_of("itmodstruve0", "x", x="g * support.cast_like(special.modstruve(0, x), x)", at=POSITIVE)
_of("it2struve0", "x", x="-g * support.cast_like(special.struve(0, x), x) / x", at=POSITIVE)
_of("besselpoly", "a, lmb, nu", at=[(0.7, 1.2, 0.4), (_P, 0.3, 1.0)],
    a="g * (special.besselpoly(a, lmb + 1.0, nu - 1.0)"
    " - special.besselpoly(a, lmb + 1.0, nu + 1.0))")  # fmt: skip
_of("wright_bessel", "a, b, x", x="g * special.wright_bessel(a, a + b, x)", at=_THREE)
_of("log_wright_bessel", "a, b, x", at=_THREE,
    x="g * np.exp(special.log_wright_bessel(a, a + b, x) - out)")  # fmt: skip
# Kelvin functions: ber + i bei and ker + i kei solve w'' = i w - w' / x (DLMF 10.61.3).
for _real, _imaginary in (("ber", "bei"), ("ker", "kei")):
    _of(_real, "x", x=f"g * special.{_real}p(x)", at=POSITIVE)
    _of(_imaginary, "x", x=f"g * special.{_imaginary}p(x)", at=POSITIVE)
    _of(f"{_real}p", "x", x=f"-g * (special.{_imaginary}(x) + out / x)", at=POSITIVE)
    _of(f"{_imaginary}p", "x", x=f"g * (special.{_real}(x) - out / x)", at=POSITIVE)

# ---- elliptic integrals (DLMF 19.4) and others ------------------------------

_of("ellipk", "m", m="g * (special.ellipe(m) / (1.0 - m) - out) / (2.0 * m)", at=UNIT)
_of("ellipe", "m", m="g * (out - special.ellipk(m)) / (2.0 * m)", at=UNIT)
_of("ellipkm1", "p", p="-g * (special.ellipe(1.0 - p) / p - out) / (2.0 * (1.0 - p))", at=UNIT)
_MODULUS = "np.sqrt(1.0 - m * np.sin(phi) ** 2)"
_ANGLES: list[Any] = [(0.7, 0.4), (_V, 0.3), (0.4, -0.6)]
_of("ellipkinc", "phi, m", phi=f"g / {_MODULUS}", at=_ANGLES,
    m="g * (special.ellipeinc(phi, m) / (2.0 * m * (1.0 - m)) - out / (2.0 * m)"
    f" - np.sin(2.0 * phi) / (4.0 * (1.0 - m) * {_MODULUS}))")  # fmt: skip
_of("ellipeinc", "phi, m", phi=f"g * {_MODULUS}", at=_ANGLES,
    m="g * (out - special.ellipkinc(phi, m)) / (2.0 * m)")  # fmt: skip
_of("lambertw", "z, k=0, tol=1e-8", z="g / (np.exp(out) * (1.0 + out))",
    at=[(0.7,), (_P,), (0.0,), (0.3 + 0.2j,)])  # fmt: skip
_of("wrightomega", "z", z="g * out / (1.0 + out)", at=[(0.7,), (_V,), (0.3 + 0.2j,)])
_of("hyp0f1", "v, z", z="g * special.hyp0f1(v + 1.0, z) / v", at=TWO)
_of("hyp1f1", "a, b, x", x="g * a / b * special.hyp1f1(a + 1.0, b + 1.0, x)", at=_THREE)
_of("hyp2f1", "a, b, c, z", at=[(0.4, 1.2, 0.7, 0.3), (_P, 1.2, 0.7, -0.4)],
    z="g * a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)")  # fmt: skip
_of("hyperu", "a, b, x", x="-g * a * special.hyperu(a + 1.0, b + 1.0, x)", at=_THREE)

# ---- orthogonal polynomials (DLMF 18.9) -------------------------------------

_DEGREES: list[Any] = [(1, 0.3), (3, _V), (2.0, 0.4)]
_of("eval_chebyt", "n, x", x="g * n * special.eval_chebyu(n - 1, x)", at=_DEGREES)
_of("eval_chebyu", "n, x", x="g * 2.0 * special.eval_gegenbauer(n - 1, 2.0, x)", at=_DEGREES)
_of("eval_legendre", "n, x", x="g * special.eval_gegenbauer(n - 1, 1.5, x)", at=_DEGREES)
_of(
    "eval_hermite",
    "n, x",
    x="g * 2.0 * n * special.eval_hermite(np.maximum(n - 1, 0), x)",
    at=_DEGREES[:2],
)
_of(
    "eval_hermitenorm",
    "n, x",
    x="g * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)",
    at=_DEGREES[:2],
)
_of("eval_laguerre", "n, x", x="-g * special.eval_genlaguerre(n - 1, 1.0, x)", at=_DEGREES)
_MORE: list[Any] = [(1, 0.3, 0.4), (3, 0.7, _V)]
_of("eval_genlaguerre", "n, alpha, x", at=_MORE,
    x="-g * special.eval_genlaguerre(n - 1, alpha + 1.0, x)")  # fmt: skip
_of("eval_gegenbauer", "n, alpha, x", at=_MORE,
    x="g * 2.0 * alpha * special.eval_gegenbauer(n - 1, alpha + 1.0, x)")  # fmt: skip
_of("eval_jacobi", "n, alpha, beta, x", at=[(1, 0.3, 0.4, 0.2), (3, 0.7, 0.1, _V)],
    x="g * 0.5 * (n + alpha + beta + 1.0)"
    " * special.eval_jacobi(n - 1, alpha + 1.0, beta + 1.0, x)")  # fmt: skip
_of("eval_sh_legendre", "n, x", at=_DEGREES,
    x="g * 2.0 * special.eval_gegenbauer(n - 1, 1.5, 2.0 * x - 1.0)")  # fmt: skip

_of("eval_chebyc", "n, x", x="g * n * special.eval_chebyu(n - 1, 0.5 * x)", at=_DEGREES)
_of("eval_chebys", "n, x", x="g * special.eval_gegenbauer(n - 1, 2.0, 0.5 * x)", at=_DEGREES)
_of("eval_sh_chebyt", "n, x", at=_DEGREES,
    x="g * 2.0 * n * special.eval_chebyu(n - 1, 2.0 * x - 1.0)")  # fmt: skip
_of("eval_sh_chebyu", "n, x", at=_DEGREES,
    x="g * 4.0 * special.eval_gegenbauer(n - 1, 2.0, 2.0 * x - 1.0)")  # fmt: skip
_of("eval_sh_jacobi", "n, p, q, x", at=[(1, 1.3, 0.4, 0.2), (3, 1.7, 0.6, _V)],
    x="g * (n + p) * special.eval_jacobi(n - 1, p - q + 1.0, q, 2.0 * x - 1.0)"
    " / special.binom(2.0 * n + p - 1.0, n)")  # fmt: skip
_of("lpmv", "m, v, x", at=[(1, 2.0, 0.3), (0, 3.0, np.array([0.2, -0.6])), (1, 1.0, 0.4)],
    x="g * (v * x * out - (v + m) * special.lpmv(m, v - 1.0, x)) / (x * x - 1.0)")  # fmt: skip

# ---- distribution functions -------------------------------------------------

_HALF = _KERNEL.format(a="(0.5 * v)", x="(0.5 * x)")
_of("chdtr", "v, x", x=f"g * 0.5 * {_HALF}", at=TWO)
_of("chdtrc", "v, x", x=f"-g * 0.5 * {_HALF}", at=TWO)
_RATE = _KERNEL.format(a="b", x="(a * x)")
_of(
    "gdtr",
    "a, b, x",
    a=f"g * x * support.cast_like({_RATE}, a)",
    x=f"g * a * support.cast_like({_RATE}, x)",
    at=_THREE,
)
_of(
    "gdtrc",
    "a, b, x",
    a=f"-g * x * support.cast_like({_RATE}, a)",
    x=f"-g * a * support.cast_like({_RATE}, x)",
    at=_THREE,
)
_COUNT = _KERNEL.format(a="(k + 1.0)", x="m")
_of("pdtr", "k, m", m=f"-g * support.cast_like({_COUNT}, m)", at=[(2.0, 1.3), (3.0, _P)])
_of("pdtrc", "k, m", m=f"g * support.cast_like({_COUNT}, m)", at=[(2.0, 1.3), (3.0, _P)])
_of("stdtr", "df, t", at=[(2.3, 0.4), (3.0, _V)],
    t="g * support.cast_like(np.exp(-special.betaln(0.5 * df, 0.5)"
    " - 0.5 * (df + 1.0) * np.log1p(t * t / df)) / np.sqrt(df), t)")  # fmt: skip

# ---- reductions -------------------------------------------------------------

_KEEP = "axis=axis, keepdims=keepdims"
_SOFT = f"np.exp(a - support.sum_back(out, a, {_KEEP}))"
_sum = structured(
    special.logsumexp,
    "a, axis=None, *, keepdims=False",
    vjp={"a": f"support.sum_back(g, a, {_KEEP}) * {_SOFT}"},
    jvp={"a": f"np.sum({_SOFT} * a_dot, {_KEEP})"},
    at=[(_V,), (_M, 0), ((_M,), {"axis": 1, "keepdims": True}), (_T, (0, 2))],
)
_weighted = structured(
    special.logsumexp,
    "a, axis=None, b=None, keepdims=False",
    vjp={
        "a": f"support.sum_back(g, a, {_KEEP}) * {_SOFT} * b",
        "b": f"support.unbroadcast(support.sum_back(g, a, {_KEEP}) * {_SOFT}, b)",
    },
    jvp={
        "a": f"np.sum({_SOFT} * b * a_dot, {_KEEP})",
        "b": f"np.sum({_SOFT} * b_dot, {_KEEP})",
    },
    at=[(_M, 1, np.abs(_M)), (_M, 0, np.array([[0.4, 1.0, 2.0]])), (_M, 1, np.abs(_M), True)],
    register=False,
)
_sum.variants.update({"b": _weighted, 3: _weighted, 4: _weighted})
structured(
    special.softmax,
    "x, axis=None",
    vjp={"x": "out * (g - np.sum(g * out, axis=axis, keepdims=True))"},
    jvp={"x": "out * (x_dot - np.sum(x_dot * out, axis=axis, keepdims=True))"},
    at=[(_V,), (_M, 0), (_M, 1), (_T, (0, 2))],
)
structured(
    special.log_softmax,
    "x, axis=None",
    vjp={"x": "g - np.exp(out) * np.sum(g, axis=axis, keepdims=True)"},
    jvp={"x": "x_dot - np.sum(np.exp(out) * x_dot, axis=axis, keepdims=True)"},
    at=[(_V,), (_M, 0), (_M, 1), (_T, (0, 2))],
)

# Binomial and negative binomial, F, inverses (DLMF 8.17); counts are rounded down.
_FEW = "np.exp(special.xlogy(np.floor(k), {p}) + special.xlog1py(n - np.floor(k) - 1.0, -{p})"
_FEW += " - special.betaln(n - np.floor(k), np.floor(k) + 1.0))"
_BINOMIAL: list[Any] = [(1.0, np.array([4]), 0.3), (2.0, np.array([5]), np.array([0.2, 0.9]))]
_of("bdtr", "k, n, p", p=f"-g * support.cast_like({_FEW.format(p='p')}, p)", at=_BINOMIAL)
_of("bdtrc", "k, n, p", p=f"g * support.cast_like({_FEW.format(p='p')}, p)", at=_BINOMIAL)
_of("bdtri", "k, n, y", y=f"-g / support.cast_like({_FEW.format(p='out')}, y)", at=_BINOMIAL)
_WAIT = "np.exp(special.xlogy(n - 1.0, {p}) + special.xlog1py(np.floor(k), -{p})"
_WAIT += " - special.betaln(n, np.floor(k) + 1.0))"
_of("nbdtr", "k, n, p", p=f"g * support.cast_like({_WAIT.format(p='p')}, p)", at=_BINOMIAL)
_of("nbdtrc", "k, n, p", p=f"-g * support.cast_like({_WAIT.format(p='p')}, p)", at=_BINOMIAL)
_of("nbdtri", "k, n, p", p=f"g / support.cast_like({_WAIT.format(p='out')}, p)", at=_BINOMIAL)
_VARIANCE = "np.exp(0.5 * (special.xlogy(dfn, dfn * {x}) + special.xlogy(dfd, dfd)"
_VARIANCE += " - (dfn + dfd) * np.log(dfn * {x} + dfd)) - special.betaln(0.5 * dfn, 0.5 * dfd))"
_VARIANCE += " / {x}"
_DEGREES_OF_F: list[Any] = [(2.3, 4.1, 0.7), (3.0, 2.0, _P)]
_of(
    "fdtr",
    "dfn, dfd, x",
    x=f"g * support.cast_like({_VARIANCE.format(x='x')}, x)",
    at=_DEGREES_OF_F,
)
_of(
    "fdtrc",
    "dfn, dfd, x",
    x=f"-g * support.cast_like({_VARIANCE.format(x='x')}, x)",
    at=_DEGREES_OF_F,
)
_of("fdtri", "dfn, dfd, p", p=f"g / support.cast_like({_VARIANCE.format(x='out')}, p)",
    at=[(2.3, 4.1, 0.7), (3.0, 2.0, np.array([0.2, 0.9]))])  # fmt: skip
_PLACE = _KERNEL.format(a="(0.5 * v)", x="(0.5 * out)")
_of("chdtri", "v, p", p=f"-g * 2.0 / support.cast_like({_PLACE}, p)",
    at=[(2.3, 0.4), (3.0, np.array([0.2, 0.9]))])  # fmt: skip
_of("pdtri", "k, y", y=f"-g / {_KERNEL.format(a='(np.floor(k) + 1.0)', x='out')}",
    at=[(2, 0.4), (3, np.array([0.2, 0.9]))])  # fmt: skip
_of("stdtrit", "df, p", at=[(2.3, 0.4), (3.0, np.array([0.2, 0.9]))],
    p="g * support.cast_like(np.exp(special.betaln(0.5 * df, 0.5) + 0.5 * np.log(df)"
    " + 0.5 * (df + 1.0) * np.log1p(out * out / df)), p)")  # fmt: skip
_of("gdtrix", "a, b, p", a="-g * out / a", p=f"g / (a * {_KERNEL.format(a='b', x='(a * out)')})",
    at=[(1.3, 0.8, 0.4), (_P, 1.2, 0.3)])  # fmt: skip
_of("gdtria", "p, b, x", x="-g * out / x", p=f"g / (x * {_KERNEL.format(a='b', x='(x * out)')})",
    at=[(0.4, 0.8, 1.3), (0.3, 1.2, _P)])  # fmt: skip
_QUANTILE = f"{_NORMAL} * np.exp(0.5 * special.ndtri(p) ** 2)"
_of("nrdtrimn", "p, std, x", x="g", std="-g * support.cast_like(special.ndtri(p), std)",
    p=f"-g * std * support.cast_like({_QUANTILE}, p)",
    at=[(0.4, 1.3, 0.7), (0.7, _P, 0.3)])  # fmt: skip
_of("nrdtrisd", "mn, p, x", x="g / support.cast_like(special.ndtri(p), x)",
    mn="-g / support.cast_like(special.ndtri(p), mn)",
    p=f"-g * out * support.cast_like({_QUANTILE} / special.ndtri(p), p)",
    at=[(0.4, 0.7, 1.3), (0.1, 0.8, _P)])  # fmt: skip
_of("tklmbda", "x, lmbda", at=[(0.4, 0.3), (np.array([0.2, -0.5]), 0.7)],
    x="g / (out ** (lmbda - 1.0) + (1.0 - out) ** (lmbda - 1.0))")  # fmt: skip
# Not central chi-square: differences of its neighbours in df (Johnson, Kotz and Balakrishnan,
# Continuous Univariate Distributions 2, chapter 29).
_of("chndtr", "x, df, nc", at=[(3.4, 7.0, 0.8), (_P + 1.0, 8.0, 1.2)],
    x="g * 0.5 * (special.chndtr(x, df - 2.0, nc) - out)",
    nc="g * 0.5 * (special.chndtr(x, df + 2.0, nc) - out)")  # fmt: skip
_of("chndtrix", "p, df, nc", at=[(0.4, 7.0, 0.8)],
    p="g * 2.0 / (special.chndtr(out, df - 2.0, nc) - special.chndtr(out, df, nc))")  # fmt: skip

# ---- the rest ---------------------------------------------------------------

nondiff(special.round, special.gammasgn)
# Others are read where they are written in Python.
for _name in dir(special):
    _target = getattr(special, _name)
    _python = inspect.isfunction(_target) or isinstance(_target, type)
    if not _name.startswith("_") and callable(_target) and not _python:
        refuse(
            _target,
            why="its derivative is in no table of srcgrad's; give a rule with @srcgrad.rule",
        )
