"""The test functions of `scipy.optimize`, read from this source, and a check of its minima."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error

Value = Any  # an array


def rosen(x: Value) -> Any:
    """`scipy.optimize.rosen` (Rosenbrock, Computer Journal 3, 1960)."""
    x = np.asarray(x) * 1.0
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2, axis=0)


def rosen_der(x: Value) -> Any:
    """`scipy.optimize.rosen_der`: the gradient of `rosen`."""
    x = np.asarray(x) * 1.0
    slope = x[1:] - x[:-1] ** 2
    der = np.zeros_like(x)
    der[:-1] = -400.0 * x[:-1] * slope - 2.0 * (1.0 - x[:-1])
    der[1:] += 200.0 * slope
    return der


def rosen_hess(x: Value) -> Any:
    """`scipy.optimize.rosen_hess`: the second derivatives of `rosen`."""
    x = np.asarray(x) * 1.0
    beside = -400.0 * x[:-1]
    middle = np.zeros_like(x)
    middle[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    middle[1:] += 200.0
    return np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1)


def rosen_hess_prod(x: Value, p: Value) -> Any:
    """`scipy.optimize.rosen_hess_prod`: the second derivatives of `rosen`, times p."""
    return rosen_hess(x) @ p


def stationary(slope: Value, curvature: Value, found: Value) -> Any:
    """The gradient at a minimum, if Newton's step from there is short.

    >>> stationary(1e-9, 2.0, 1.0)
    1e-09
    """
    step = slope / curvature if np.ndim(curvature) < 2 else np.linalg.solve(curvature, slope)
    if not np.max(np.abs(step)) <= 1e-2 * (1.0 + np.max(np.abs(found))):
        raise error(
            "NotDifferentiable",
            "what scipy.optimize found is no place where the gradient is zero: the derivative of "
            "a minimum at a kink, at a bound or far from convergence is not known",
        )
    return slope
