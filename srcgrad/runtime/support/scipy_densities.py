"""More densities and distribution functions of `scipy.stats`, as their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

Value = Any  # a number or an array


def log_mass(a: Value, b: Value) -> Any:
    """The logarithm of what lies between two places of the normal distribution."""
    low, high = np.where(a > 0.0, -b, a), np.where(a > 0.0, -a, b)
    low = np.where(np.isinf(low), np.minimum(high, 0.0) - 1e3, low)  # nothing lies below
    top = special.log_ndtr(high)
    return top + np.log1p(-np.exp(special.log_ndtr(low) - top))


def f_logpdf(x: Value, dfn: Value, dfd: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = special.xlogy(0.5 * dfn, dfn / dfd) + special.xlogy(0.5 * dfn - 1.0, z)
    inside = inside - 0.5 * (dfn + dfd) * np.log1p(dfn * z / dfd)
    inside = inside - special.betaln(0.5 * dfn, 0.5 * dfd) - np.log(scale)
    return np.where(z >= 0.0, inside, -np.inf)


def f_pdf(x: Value, dfn: Value, dfd: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(f_logpdf(x, dfn, dfd, loc, scale))


def f_cdf(x: Value, dfn: Value, dfd: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return special.fdtr(dfn, dfd, np.maximum(z, 0.0))


def f_sf(x: Value, dfn: Value, dfd: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return special.fdtrc(dfn, dfd, np.maximum(z, 0.0))


def f_ppf(q: Value, dfn: Value, dfd: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.fdtri(dfn, dfd, q))


def gumbel_r_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


def gumbel_r_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(gumbel_r_logpdf(x, loc, scale))


def gumbel_r_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.exp(-np.exp(-z))


def gumbel_r_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return -np.exp(-z)


def gumbel_r_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return -np.expm1(-np.exp(-z))


def gumbel_r_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(-np.expm1(-np.exp(-z)))


def gumbel_r_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (-np.log(-np.log(q)))


def gumbel_r_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (-np.log(-np.log1p(-q)))


def gumbel_l_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return z - np.exp(z) - np.log(scale)


def gumbel_l_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(gumbel_l_logpdf(x, loc, scale))


def gumbel_l_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return -np.expm1(-np.exp(z))


def gumbel_l_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(-np.expm1(-np.exp(z)))


def gumbel_l_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.exp(-np.exp(z))


def gumbel_l_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return -np.exp(z)


def gumbel_l_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.log(-np.log1p(-q)))


def gumbel_l_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.log(-np.log(q)))


def halfcauchy_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, math.log(2.0 / math.pi) - np.log1p(z * z) - np.log(scale), -np.inf)


def halfcauchy_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(halfcauchy_logpdf(x, loc, scale))


def halfcauchy_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, 2.0 / math.pi * np.arctan(z), 0.0)


def halfcauchy_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, 1.0 - 2.0 / math.pi * np.arctan(z), 1.0)


def halfcauchy_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.tan(0.5 * math.pi * q))


def halfcauchy_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.tan(0.5 * math.pi * (1.0 - q)))


def rayleigh_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.log(z) - 0.5 * z * z - np.log(scale), -np.inf)


def rayleigh_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(rayleigh_logpdf(x, loc, scale))


def rayleigh_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, -np.expm1(-0.5 * z * z), 0.0)


def rayleigh_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.exp(-0.5 * z * z), 1.0)


def rayleigh_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, -0.5 * z * z, 0.0)


def rayleigh_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.sqrt(-2.0 * np.log1p(-q)))


def rayleigh_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.sqrt(-2.0 * np.log(q)))


def vonmises_logpdf(x: Value, kappa: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return kappa * (np.cos(z) - 1.0) - np.log(2.0 * math.pi * special.i0e(kappa)) - np.log(scale)


def vonmises_pdf(x: Value, kappa: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(vonmises_logpdf(x, kappa, loc, scale))


def invgauss_logpdf(x: Value, mu: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = -0.5 * np.log(2.0 * math.pi * z**3) - 0.5 * ((z / mu - 1.0) ** 2) / z - np.log(scale)
    return np.where(z > 0.0, inside, -np.inf)


def invgauss_pdf(x: Value, mu: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(invgauss_logpdf(x, mu, loc, scale))


def skewnorm_logpdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return (
        math.log(2.0 / math.sqrt(2.0 * math.pi))
        - 0.5 * z * z
        + special.log_ndtr(a * z)
        - np.log(scale)
    )


def skewnorm_pdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(skewnorm_logpdf(x, a, loc, scale))


def truncnorm_logpdf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = -0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - log_mass(a, b) - np.log(scale)
    return np.where((z >= a) & (z <= b), inside, -np.inf)


def truncnorm_pdf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(truncnorm_logpdf(x, a, b, loc, scale))


def truncnorm_cdf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = special.ndtr(np.clip(z, a, b)) - special.ndtr(a)
    return inside / (special.ndtr(b) - special.ndtr(a))


def truncnorm_ppf(q: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.ndtri(special.ndtr(a) + q * (special.ndtr(b) - special.ndtr(a))))
