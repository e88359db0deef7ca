"""Densities and distribution functions of `scipy.stats`, as their formulas.

They are what is differentiated in place of SciPy's methods, which check and broadcast arguments in
ways that can't be followed; `scipy.special` has what NumPy has not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from srcgrad.runtime.support.adjoints import error

Value = Any  # a number or an array


def norm_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return -0.5 * z * z - np.log(scale) - 0.5 * math.log(2.0 * math.pi)


def norm_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(norm_logpdf(x, loc, scale))


def norm_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.ndtr((x - loc) / scale)


def norm_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.log_ndtr((x - loc) / scale)


def norm_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.ndtr((loc - x) / scale)


def norm_logsf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.log_ndtr((loc - x) / scale)


def norm_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * special.ndtri(q)


def expon_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, -z - np.log(scale), -np.inf)


def expon_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.exp(-z) / scale, 0.0)


def expon_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, -np.expm1(-z), 0.0)


def expon_sf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, np.exp(-z), 1.0)


def expon_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc - scale * np.log1p(-q)


def uniform_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where((z >= 0.0) & (z <= 1.0), -np.log(scale), -np.inf)


def uniform_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where((z >= 0.0) & (z <= 1.0), 1.0 / scale, 0.0)


def uniform_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.clip((x - loc) / scale, 0.0, 1.0)


def uniform_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * q


def gamma_logpdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = special.xlogy(a - 1.0, z) - z - special.gammaln(a) - np.log(scale)
    return np.where(z >= 0.0, inside, -np.inf)


def gamma_pdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(gamma_logpdf(x, a, loc, scale))


def gamma_cdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.gammainc(a, (x - loc) / scale)


def gamma_sf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.gammaincc(a, (x - loc) / scale)


def chi2_logpdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return gamma_logpdf(x, 0.5 * df, loc, 2.0 * scale)


def chi2_pdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(chi2_logpdf(x, df, loc, scale))


def chi2_cdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return gamma_cdf(x, 0.5 * df, loc, 2.0 * scale)


def chi2_sf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return gamma_sf(x, 0.5 * df, loc, 2.0 * scale)


def invgamma_logpdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = -(a + 1.0) * np.log(z) - special.gammaln(a) - 1.0 / z - np.log(scale)
    return np.where(z > 0.0, inside, -np.inf)


def invgamma_pdf(x: Value, a: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(invgamma_logpdf(x, a, loc, scale))


def beta_logpdf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = special.xlogy(a - 1.0, z) + special.xlog1py(b - 1.0, -z)
    inside = inside - special.betaln(a, b) - np.log(scale)
    return np.where((z >= 0.0) & (z <= 1.0), inside, -np.inf)


def beta_pdf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(beta_logpdf(x, a, b, loc, scale))


def beta_cdf(x: Value, a: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.betainc(a, b, np.clip((x - loc) / scale, 0.0, 1.0))


def t_logpdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    constant = special.gammaln(0.5 * (df + 1.0)) - special.gammaln(0.5 * df)
    constant = constant - 0.5 * np.log(df * math.pi) - np.log(scale)
    return constant - 0.5 * (df + 1.0) * np.log1p(z * z / df)


def t_pdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(t_logpdf(x, df, loc, scale))


def t_cdf(x: Value, df: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.stdtr(df, (x - loc) / scale)


def cauchy_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return -np.log(math.pi * scale) - np.log1p(z * z)


def cauchy_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return 1.0 / (math.pi * scale * (1.0 + z * z))


def cauchy_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return 0.5 + np.arctan((x - loc) / scale) / math.pi


def cauchy_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * np.tan(math.pi * (q - 0.5))


def laplace_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return -np.abs((x - loc) / scale) - np.log(2.0 * scale)


def laplace_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(laplace_logpdf(x, loc, scale))


def laplace_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, 1.0 - 0.5 * np.exp(-z), 0.5 * np.exp(z))


def logistic_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = np.abs((x - loc) / scale)  # the density is even
    return -z - 2.0 * np.log1p(np.exp(-z)) - np.log(scale)


def logistic_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    p = special.expit((x - loc) / scale)
    return p * (1.0 - p) / scale


def logistic_cdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.expit((x - loc) / scale)


def logistic_logcdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return special.log_expit((x - loc) / scale)


def logistic_ppf(q: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return loc + scale * special.logit(q)


def lognorm_logpdf(x: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    w = np.log(z) / s
    inside = -0.5 * w * w - np.log(s * z) - np.log(scale) - 0.5 * math.log(2.0 * math.pi)
    return np.where(z > 0.0, inside, -np.inf)


def lognorm_pdf(x: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(lognorm_logpdf(x, s, loc, scale))


def lognorm_cdf(x: Value, s: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0.0, special.ndtr(np.log(z) / s), 0.0)


def weibull_min_logpdf(x: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = np.log(c) + special.xlogy(c - 1.0, z) - z**c - np.log(scale)
    return np.where(z >= 0.0, inside, -np.inf)


def weibull_min_pdf(x: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(weibull_min_logpdf(x, c, loc, scale))


def weibull_min_cdf(x: Value, c: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 0.0, -np.expm1(-(z**c)), 0.0)


def pareto_logpdf(x: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    return np.where(z >= 1.0, np.log(b) - (b + 1.0) * np.log(z) - np.log(scale), -np.inf)


def pareto_pdf(x: Value, b: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(pareto_logpdf(x, b, loc, scale))


def halfnorm_logpdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    z = (x - loc) / scale
    inside = 0.5 * math.log(2.0 / math.pi) - 0.5 * z * z - np.log(scale)
    return np.where(z >= 0.0, inside, -np.inf)


def halfnorm_pdf(x: Value, loc: Value = 0.0, scale: Value = 1.0) -> Any:
    return np.exp(halfnorm_logpdf(x, loc, scale))


def poisson_logpmf(k: Value, mu: Value, loc: Value = 0) -> Any:
    n = k - loc
    return special.xlogy(n, mu) - special.gammaln(n + 1.0) - mu


def poisson_pmf(k: Value, mu: Value, loc: Value = 0) -> Any:
    return np.exp(poisson_logpmf(k, mu, loc))


def binom_logpmf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    j = k - loc
    ways = special.gammaln(n + 1.0) - special.gammaln(j + 1.0) - special.gammaln(n - j + 1.0)
    return ways + special.xlogy(j, p) + special.xlog1py(n - j, -p)


def binom_pmf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    return np.exp(binom_logpmf(k, n, p, loc))


def bernoulli_logpmf(k: Value, p: Value, loc: Value = 0) -> Any:
    j = k - loc
    return special.xlogy(j, p) + special.xlog1py(1 - j, -p)


def bernoulli_pmf(k: Value, p: Value, loc: Value = 0) -> Any:
    return np.exp(bernoulli_logpmf(k, p, loc))


def multivariate_normal_logpdf(x: Value, mean: Value, cov: Value) -> Any:
    if np.ndim(cov) != 2 or np.ndim(mean) != 1:
        raise error("MissingRule", "multivariate_normal: pass a mean and a covariance matrix")
    factor = np.linalg.cholesky(cov)
    w = np.linalg.solve(factor, np.transpose(x - mean))
    size = np.shape(cov)[0]
    return (
        -0.5 * np.sum(w * w, axis=0)
        - np.sum(np.log(np.diagonal(factor)))
        - 0.5 * size * math.log(2.0 * math.pi)
    )


def multivariate_normal_pdf(x: Value, mean: Value, cov: Value) -> Any:
    return np.exp(multivariate_normal_logpdf(x, mean, cov))
