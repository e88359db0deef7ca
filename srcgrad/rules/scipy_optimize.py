"""`scipy.optimize`: what to write for the derivative of a solution, and its test functions."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from srcgrad.rules.registry import refuse, source, structured
from srcgrad.rules.solvers import solver
from srcgrad.runtime.support import scipy_optimize as helpers

_X = np.array([0.7, -0.4, 1.1, 0.3])

_ROOTS = "root root_scalar fsolve brentq brenth bisect ridder toms748 newton fixed_point"
_MINIMA = (
    "least_squares curve_fit linprog milp nnls lsq_linear"
    " differential_evolution basinhopping dual_annealing shgo brute"
)
for _name in ["brentq", "brenth", "bisect", "ridder", "toms748", "newton"]:
    solver(getattr(optimize, _name), "number")
solver(optimize.fixed_point, "number", moves=True)
solver(optimize.root_scalar, "number", field="root")
solver(optimize.fsolve, "array")
solver(optimize.root, "array", field="x")
structured(
    helpers.stationary,
    "slope, curvature, found",
    vjp={"slope": "g"},
    jvp={"slope": "slope_dot"},
    zero=("curvature", "found"),
    result=lambda slope, curvature, found: slope,
    at=[(0.001, 2.0, 0.3), (0.001 * _X, np.diag([2.0, 1.0, 3.0, 1.0]), _X)],
)
solver(optimize.minimize, "array", field="x", minimum=True)
solver(optimize.minimize_scalar, "number", field="x", minimum=True)
refuse(
    optimize.minimize,
    optimize.minimize_scalar,
    why="the place of a minimum has a derivative where the function is read, changes nothing and "
    "returns its value alone, and the call has no bounds, no constraints and no starred "
    "arguments; else put the call into a function decorated by srcgrad.implicit(gradient)",
)
refuse(
    *(getattr(optimize, name) for name in _ROOTS.split()),
    why="the root has a derivative where the function is read, changes nothing and returns its "
    "value alone, and the call has no full_output and no starred arguments; else put the call "
    "into a function decorated by srcgrad.implicit(residual)",
)
refuse(
    *(getattr(optimize, name) for name in _MINIMA.split()),
    why="a minimum's derivative is that of the equation gradient = 0: put it into a function "
    "decorated by srcgrad.implicit(gradient)",
)
source(optimize.rosen, helpers.rosen, at=[(_X,), (np.outer(_X, _X[:2]),)])
source(optimize.rosen_der, helpers.rosen_der, at=[(_X,), (np.outer(_X, _X[:2]),)])
source(optimize.rosen_hess, helpers.rosen_hess, at=[(_X,), (_X[:2],)])
source(optimize.rosen_hess_prod, helpers.rosen_hess_prod, at=[(_X, _X[::-1])])
