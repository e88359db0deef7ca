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
from srcgrad.runtime.support import scipy_stats as formulas

_X = np.array([0.3, 1.7, 0.6, 2.2])
_Q = np.array([0.3, 0.1, 0.6, 0.9])
_K = np.array([0.0, 1.0, 2.0, 1.0])

_PLAIN: list[Any] = [(_X,), (_X, 0.1, 1.3), (0.7, -0.2 * _X, _X)]
_SHAPED: list[Any] = [(_X, 1.4), (0.7, 2.3 * _X, -0.2, 1.3)]
_SHARES: list[Any] = [(_Q, 0.1, 1.3), (0.7, _X, 1.3)]
_FIXED: list[Any] = [(_X, 2), (_X, 3, 0.1, 1.3)]  # no derivative in the shape


def _all(name: str, methods: str, at: list[Any]) -> None:
    for method in methods.split():
        formula = getattr(formulas, f"{name}_{method}")
        source(getattr(getattr(stats, name), method), formula, at=at)


_all("norm", "logpdf pdf cdf logcdf sf logsf", _PLAIN)
_all("expon", "logpdf pdf cdf sf", [(_X,), (_X, 0.1, 1.3)])
_all("uniform", "logpdf pdf cdf", [(_Q,), (_Q, 0.05, 1.3)])
_all("gamma", "logpdf pdf", _SHAPED)
_all("gamma", "cdf sf", _FIXED)
_all("chi2", "logpdf pdf", _SHAPED)
_all("chi2", "cdf sf", _FIXED)
_all("invgamma", "logpdf pdf", _SHAPED)
_all("beta", "logpdf pdf", [(_Q, 1.4, 0.7), (0.5, _X, 1.3, -0.1, 1.4)])
_all("beta", "cdf", [(_Q, 2, 3), (_Q, 2, 3, -0.1, 1.4)])
_all("t", "logpdf pdf", _SHAPED)
_all("t", "cdf", _FIXED)
_all("cauchy", "logpdf pdf cdf", _PLAIN)
_all("laplace", "logpdf pdf cdf", _PLAIN)
_all("logistic", "logpdf pdf cdf logcdf", _PLAIN)
_all("lognorm", "logpdf pdf cdf", _SHAPED)
_all("weibull_min", "logpdf pdf cdf", _SHAPED)
_all("pareto", "logpdf pdf", [(_X + 1.0, 1.4), (3.7, 2.3, 0.2, 1.3)])
_all("halfnorm", "logpdf pdf", [(_X,), (_X, 0.1, 1.3)])
for _name in ("norm", "expon", "uniform", "cauchy", "logistic"):
    _all(_name, "ppf", _SHARES)
_all("poisson", "logpmf pmf", [(_K.astype(int), _X), (2, 1.3)])
_all("binom", "logpmf pmf", [(_K.astype(int), 4, _Q), (2, 3, 0.4)])
_all("bernoulli", "logpmf pmf", [(np.array([0, 1, 1, 0]), _Q), (1, 0.4)])
_all("multivariate_normal", "logpdf pdf", [(V, V[::-1], P), (np.stack([V, V * V]), V[::-1], P)])

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
