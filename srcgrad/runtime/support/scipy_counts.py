"""Distributions of counts and of vectors in `scipy.stats`, as their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from srcgrad.runtime.support.adjoints import error

Value = Any  # a number or an array


def poisson_cdf(k: Value, mu: Value, loc: Value = 0) -> Any:
    return special.pdtr(np.floor(k - loc), mu)


def poisson_sf(k: Value, mu: Value, loc: Value = 0) -> Any:
    return special.pdtrc(np.floor(k - loc), mu)


def poisson_logcdf(k: Value, mu: Value, loc: Value = 0) -> Any:
    return np.log(special.pdtr(np.floor(k - loc), mu))


def binom_cdf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    return special.bdtr(np.floor(k - loc), n, p)


def binom_sf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    return special.bdtrc(np.floor(k - loc), n, p)


def nbinom_logpmf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    j = k - loc
    ways = special.gammaln(n + j) - special.gammaln(j + 1.0) - special.gammaln(n)
    return ways + n * np.log(p) + special.xlog1py(j, -p)


def nbinom_pmf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    return np.exp(nbinom_logpmf(k, n, p, loc))


def nbinom_cdf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    return special.betainc(n, np.floor(k - loc) + 1.0, p)


def nbinom_sf(k: Value, n: Value, p: Value, loc: Value = 0) -> Any:
    return special.betaincc(n, np.floor(k - loc) + 1.0, p)


def geom_logpmf(k: Value, p: Value, loc: Value = 0) -> Any:
    return special.xlog1py(k - loc - 1.0, -p) + np.log(p)


def geom_pmf(k: Value, p: Value, loc: Value = 0) -> Any:
    return np.exp(geom_logpmf(k, p, loc))


def geom_cdf(k: Value, p: Value, loc: Value = 0) -> Any:
    return -np.expm1(np.floor(k - loc) * np.log1p(-p))


def geom_sf(k: Value, p: Value, loc: Value = 0) -> Any:
    return np.exp(np.floor(k - loc) * np.log1p(-p))


def geom_logsf(k: Value, p: Value, loc: Value = 0) -> Any:
    return np.floor(k - loc) * np.log1p(-p)


def dirichlet_logpdf(x: Value, alpha: Value) -> Any:
    if np.ndim(x) != 1 or np.shape(x) != np.shape(alpha):
        raise error("MissingRule", "dirichlet: pass one place, with as many parts as parameters")
    shares = np.asarray(alpha)
    constant = special.gammaln(np.sum(shares)) - np.sum(special.gammaln(shares))
    return constant + np.sum(special.xlogy(shares - 1.0, x))


def dirichlet_pdf(x: Value, alpha: Value) -> Any:
    return np.exp(dirichlet_logpdf(x, alpha))


def multivariate_t_logpdf(x: Value, loc: Value, shape: Value, df: Value = 1) -> Any:
    if np.ndim(shape) != 2 or np.ndim(loc) != 1:
        raise error("MissingRule", "multivariate_t: pass a place and a matrix")
    factor = np.linalg.cholesky(shape)
    w = np.linalg.solve(factor, np.transpose(x - loc))
    size = np.shape(shape)[0]
    half = 0.5 * (df + size)
    constant = (
        special.gammaln(half) - special.gammaln(0.5 * df) - 0.5 * size * np.log(df * math.pi)
    )
    constant = constant - np.sum(np.log(np.diagonal(factor)))
    return constant - half * np.log1p(np.sum(w * w, axis=0) / df)


def multivariate_t_pdf(x: Value, loc: Value, shape: Value, df: Value = 1) -> Any:
    return np.exp(multivariate_t_logpdf(x, loc, shape, df))
