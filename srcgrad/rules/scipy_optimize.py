"""Solvers of `scipy.optimize`: what to write for the derivative of a solution."""

from __future__ import annotations

from scipy import optimize

from srcgrad.rules.registry import refuse

_ROOTS = "root root_scalar fsolve brentq brenth bisect ridder toms748 newton fixed_point"
_MINIMA = (
    "minimize minimize_scalar least_squares curve_fit linprog milp nnls lsq_linear"
    " differential_evolution basinhopping dual_annealing shgo brute"
)
refuse(
    *(getattr(optimize, name) for name in _ROOTS.split()),
    why="a root finder's steps have no part in the derivative of the root: put it into a function "
    "decorated by srcgrad.implicit(residual)",
)
refuse(
    *(getattr(optimize, name) for name in _MINIMA.split()),
    why="a minimum's derivative is that of the equation gradient = 0: put it into a function "
    "decorated by srcgrad.implicit(gradient)",
)
