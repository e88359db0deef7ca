"""Rules for the densities and distribution functions of `scipy.stats`.

In place of `norm.logpdf` its formula in `support/scipy_stats.py` is differentiated.  A frozen
distribution (`norm(0, 1)`) is not followed: pass its parameters to the method.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from srcgrad.rules.linalg import P
from srcgrad.rules.registry import refuse, source
from srcgrad.rules.shapes import V
from srcgrad.runtime.support import (
    scipy_counts,
    scipy_densities,
    scipy_quantiles,
    scipy_stats,
)

_X = np.array([0.3, 1.7, 0.6, 2.2])
_Q = np.array([0.3, 0.1, 0.6, 0.9])
_K = np.array([0.0, 1.0, 2.0, 1.0])

_PLAIN: list[Any] = [(_X,), (_X, 0.1, 1.3), (0.7, -0.2 * _X, _X)]
_SHAPED: list[Any] = [(_X, 1.4), (0.7, 2.3 * _X, -0.2, 1.3)]
_SHARES: list[Any] = [(_Q, 0.1, 1.3), (0.7, _X, 1.3)]
_FIXED: list[Any] = [(_X, 2), (_X, 3, 0.1, 1.3)]  # no derivative in the shape


_FORMULAS: dict[str, Any] = {}
for _module in (scipy_stats, scipy_quantiles, scipy_densities, scipy_counts):
    _FORMULAS |= vars(_module)


def _all(name: str, methods: str, at: list[Any]) -> None:
    for method in methods.split():
        formula = _FORMULAS[f"{name}_{method}"]
        source(getattr(getattr(stats, name), method), formula, at=at)


_LATER: list[Any] = [(_X + 0.2,), (_X, 0.1, 1.3)]
_SHAPED_SHARES: list[Any] = [(_Q, 1.4), (0.7, 2.3 * _X, -0.2, 1.3)]

_all("norm", "logpdf pdf cdf logcdf sf logsf", _PLAIN)
_all("expon", "logpdf pdf cdf logcdf sf logsf", _LATER)
_all("uniform", "logpdf pdf cdf logcdf sf logsf", [(_Q,), (_Q, 0.05, 1.3)])
_all("gamma", "logpdf pdf", _SHAPED)
_all("gamma", "cdf logcdf sf logsf", _FIXED)
_all("chi2", "logpdf pdf", _SHAPED)
_all("chi2", "cdf logcdf sf logsf", _FIXED)
_all("invgamma", "logpdf pdf", _SHAPED)
_all("invgamma", "cdf sf", _FIXED)
_all("beta", "logpdf pdf", [(_Q, 1.4, 0.7), (0.5, _X, 1.3, -0.1, 1.4)])
_all("beta", "cdf logcdf sf logsf", [(_Q, 2, 3), (_Q, 2, 3, -0.1, 1.4)])
_all("t", "logpdf pdf", _SHAPED)
_all("t", "cdf logcdf sf logsf", _FIXED)
_all("f", "logpdf pdf", [(_X, 2.4, 3.1), (0.7, 2.3 * _X, 4.0, -0.2, 1.3)])
_all("f", "cdf sf", [(_X, 2, 3), (_X, 3, 4, 0.1, 1.3)])
_all("cauchy", "logpdf pdf cdf logcdf sf logsf", _PLAIN)
_all("laplace", "logpdf pdf cdf sf", _PLAIN)
_all("logistic", "logpdf pdf cdf logcdf sf logsf", _PLAIN)
_all("gumbel_r", "logpdf pdf cdf logcdf sf logsf", _PLAIN)
_all("gumbel_l", "logpdf pdf cdf logcdf sf logsf", _PLAIN)
_all("lognorm", "logpdf pdf cdf logcdf sf logsf", _SHAPED)
_all("weibull_min", "logpdf pdf cdf logcdf sf logsf", _SHAPED)
_all("pareto", "logpdf pdf cdf logcdf sf logsf", [(_X + 1.0, 1.4), (3.7, 2.3, 0.2, 1.3)])
_all("halfnorm", "logpdf pdf cdf logcdf sf logsf", _LATER)
_all("halfcauchy", "logpdf pdf cdf sf", _LATER)
_all("rayleigh", "logpdf pdf cdf sf logsf", _LATER)
_all("vonmises", "logpdf pdf", [(_X, 1.4), (0.7, 2.3 * _X, -0.2)])
_all("invgauss", "logpdf pdf", [(_X, 1.4), (0.7, 2.3 * _X, -0.2, 1.3)])
_all("skewnorm", "logpdf pdf", _SHAPED)
_all("truncnorm", "logpdf pdf cdf", [(_X, -0.5, 2.9), (0.7, 0.2, 3.0 * _X + 2.0, 0.1, 1.3)])
_all("truncnorm", "ppf", [(_Q, -0.5, 2.9), (0.7, 0.2, 3.0 * _X + 2.0, 0.1, 1.3)])
for _name in ("norm", "expon", "uniform", "cauchy", "logistic", "laplace", "gumbel_r", "gumbel_l",
              "halfnorm", "halfcauchy", "rayleigh"):  # fmt: skip
    _all(_name, "ppf isf", _SHARES)
for _name in ("gamma", "chi2", "t", "invgamma"):
    _all(_name, "ppf isf", [(_Q, 2), (_Q, 3, 0.1, 1.3)])
for _name in ("lognorm", "weibull_min", "pareto"):
    _all(_name, "ppf isf", _SHAPED_SHARES)
_all("beta", "ppf isf", [(_Q, 2, 3), (_Q, 2, 3, -0.1, 1.4)])
_all("f", "ppf", [(_Q, 2, 3), (_Q, 3, 4, -0.1, 1.4)])
_COUNTED: list[Any] = [(_K.astype(int), _X), (2, 1.3)]
_all("poisson", "logpmf pmf cdf logcdf sf", _COUNTED)
_OF_FOUR: list[Any] = [(_K.astype(int), 4, _Q), (2, 3, 0.4)]
_all("binom", "logpmf pmf cdf sf", _OF_FOUR)
_all("nbinom", "logpmf pmf", [(_K.astype(int), 1.4, _Q), (2, 3.1, 0.4)])
_all("nbinom", "cdf sf", _OF_FOUR)
_all("geom", "logpmf pmf cdf sf logsf", [(_K.astype(int) + 1, _Q), (2, 0.4)])
_all("bernoulli", "logpmf pmf", [(np.array([0, 1, 1, 0]), _Q), (1, 0.4)])
_all("multivariate_normal", "logpdf pdf", [(V, V[::-1], P), (np.stack([V, V * V]), V[::-1], P)])
_all("multivariate_t", "logpdf pdf", [(V, V[::-1], P, 2.3), (np.stack([V, V * V]), V[::-1], P, 4)])
_all("dirichlet", "logpdf pdf", [])  # a place moves in a plane only: it has tests of its own

# ---- what is left -----------------------------------------------------------

_METHODS = ["logpdf", "pdf", "logpmf", "pmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"]
for _name in dir(stats):
    _owner = getattr(stats, _name)
    if not isinstance(_owner, stats.rv_continuous | stats.rv_discrete):
        continue
    for _method in _METHODS:
        if hasattr(_owner, _method):
            refuse(
                getattr(_owner, _method),
                why="its formula is in no table of srcgrad's; write it with scipy.special",
            )
