"""Tails, logarithms and quantiles of the distributions in `scipy_stats`, as their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

Value = Any  # a number or an array


def norm_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (-special.ndtri(q))


def expon_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.log(-np.expm1(-z)), -np.inf)


def expon_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, -z, 0.0)


def expon_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (-np.log(q))


def uniform_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return 1.0 - np.clip(z, 0.0, 1.0)


def uniform_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(np.clip(z, 0.0, 1.0))


def uniform_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log1p(-np.clip(z, 0.0, 1.0))


def uniform_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (1.0 - q)


def gamma_logcdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.gammainc(a, z))


def gamma_logsf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.gammaincc(a, z))


def gamma_ppf(q: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.gammaincinv(a, q))


def gamma_isf(q: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.gammainccinv(a, q))


def chi2_logcdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.gammainc(0.5 * df, 0.5 * z))


def chi2_logsf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.gammaincc(0.5 * df, 0.5 * z))


def chi2_ppf(q: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (2.0 * special.gammaincinv(0.5 * df, q))


def chi2_isf(q: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (2.0 * special.gammainccinv(0.5 * df, q))


def invgamma_cdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, special.gammaincc(a, 1.0 / z), 0.0)


def invgamma_sf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, special.gammainc(a, 1.0 / z), 1.0)


def invgamma_ppf(q: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (1.0 / special.gammainccinv(a, q))


def invgamma_isf(q: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (1.0 / special.gammaincinv(a, q))


def beta_sf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return special.betaincc(a, b, np.clip(z, 0.0, 1.0))


def beta_logcdf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.betainc(a, b, np.clip(z, 0.0, 1.0)))


def beta_logsf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.betaincc(a, b, np.clip(z, 0.0, 1.0)))


def beta_ppf(q: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.betaincinv(a, b, q))


def beta_isf(q: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.betainccinv(a, b, q))


def t_sf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return special.stdtr(df, -z)


def t_logcdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.stdtr(df, z))


def t_logsf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(special.stdtr(df, -z))


def t_ppf(q: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.stdtrit(df, q))


def t_isf(q: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (-special.stdtrit(df, q))


def cauchy_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return 0.5 - np.arctan(z) / math.pi


def cauchy_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(0.5 + np.arctan(z) / math.pi)


def cauchy_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.log(0.5 - np.arctan(z) / math.pi)


def cauchy_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.tan(math.pi * (0.5 - q)))


def laplace_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, 0.5 * np.exp(-z), 1.0 - 0.5 * np.exp(z))


def laplace_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.where(q > 0.5, -np.log(2.0 * (1.0 - q)), np.log(2.0 * q)))


def laplace_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.where(q > 0.5, np.log(2.0 * (1.0 - q)), -np.log(2.0 * q)))


def logistic_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return special.expit(-z)


def logistic_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return special.log_expit(-z)


def logistic_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (-special.logit(q))


def lognorm_sf(x: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, special.ndtr(-np.log(z) / s), 1.0)


def lognorm_logcdf(x: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, special.log_ndtr(np.log(z) / s), -np.inf)


def lognorm_logsf(x: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, special.log_ndtr(-np.log(z) / s), 0.0)


def lognorm_ppf(q: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.exp(s * special.ndtri(q)))


def lognorm_isf(q: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (np.exp(-s * special.ndtri(q)))


def weibull_min_sf(x: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.exp(-(z**c)), 1.0)


def weibull_min_logsf(x: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, -(z**c), 0.0)


def weibull_min_logcdf(x: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.log(-np.expm1(-(z**c))), -np.inf)


def weibull_min_ppf(q: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * ((-np.log1p(-q)) ** (1.0 / c))


def weibull_min_isf(q: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * ((-np.log(q)) ** (1.0 / c))


def pareto_cdf(x: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 1.0, 1.0 - z ** (-b), 0.0)


def pareto_sf(x: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 1.0, z ** (-b), 1.0)


def pareto_logsf(x: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 1.0, -b * np.log(z), 0.0)


def pareto_logcdf(x: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 1.0, np.log1p(-(z ** (-b))), -np.inf)


def pareto_ppf(q: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * ((1.0 - q) ** (-1.0 / b))


def pareto_isf(q: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (q ** (-1.0 / b))


def halfnorm_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, special.erf(z / math.sqrt(2.0)), 0.0)


def halfnorm_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, 2.0 * special.ndtr(-z), 1.0)


def halfnorm_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, math.log(2.0) + special.log_ndtr(-z), 0.0)


def halfnorm_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.log(special.erf(z / math.sqrt(2.0))), -np.inf)


def halfnorm_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (special.ndtri(0.5 * (1.0 + q)))


def halfnorm_isf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * (-special.ndtri(0.5 * q))
