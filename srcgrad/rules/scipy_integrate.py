"""`scipy.integrate`: sums over samples, and integrators over the steps that they chose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import integrate

from srcgrad.rules.registry import add, lookup, name_of, nondiff, refuse, source
from srcgrad.rules.solvers import replayed
from srcgrad.runtime.support import scipy_integrate as helpers
from srcgrad.runtime.support import scipy_quadrature as quadrature
from srcgrad.runtime.support import scipy_steps as steps

_Y = np.array([[0.3, 1.2, 0.7, 2.0, 1.1], [0.1, -0.4, 1.5, 0.9, 0.2]])
_X = np.array([0.0, 0.5, 1.1, 1.9, 2.2])

_known = lookup(getattr(np, "trapezoid", None) or np.trapz)  # type: ignore[attr-defined, unused-ignore]
assert _known is not None
add(replace(_known, target=integrate.trapezoid, name=name_of(integrate.trapezoid)))
source(
    integrate.cumulative_trapezoid,
    quadrature.cumulative_trapezoid,
    at=[(_Y[0],), (_Y, _X), ((_Y.T, _X), {"axis": 0, "initial": 0})],
)
source(integrate.romb, quadrature.romb, at=[(_Y[0], 0.3), ((_Y.T,), {"axis": 0})])

nondiff(
    steps.Search, steps.accepted, steps.implicit_found, steps.odeint_found, steps.told,
    steps.is_explicit, steps.tableau, steps.more_stages, steps.power_weights, steps.method_name,
    steps.steps_of, steps.tolerances, steps.odeint_tolerances, steps.apart, 
     steps.check_repeated, steps.check_close, quadrature.intervals,
    quadrature.gauss_rule,  quadrature.check_alike, pure=False,
)  # fmt: skip
replayed(integrate.solve_ivp, helpers.solve_ivp, ("fun",), ("y0", "args", "t_span", "t_eval"),
         without=("dense_output", "events", "vectorized"))  # fmt: skip
replayed(integrate.odeint, helpers.odeint, ("func",), ("y0", "t", "args"),
         without=("full_output",))  # fmt: skip
replayed(integrate.quad, quadrature.quad, ("func",), ("a", "b", "args"),
         without=("full_output", "weight", "complex_func"))  # fmt: skip
replayed(integrate.dblquad, quadrature.dblquad, ("func", "gfun", "hfun"),
         ("a", "b", "args"), without=())  # fmt: skip
_WHERE = "it has a derivative where the function is read and changes nothing, and the call has no "
refuse(
    integrate.solve_ivp,
    why=_WHERE + "events, dense_output, vectorized or starred arguments: give the times wanted as "
    "t_eval, find the time of an event with a root finder, or write the steps as a loop",
)
refuse(
    integrate.odeint,
    why=_WHERE + "full_output and no starred arguments; else write the steps as a loop",
)
refuse(
    integrate.RK45,
    integrate.LSODA,
    integrate.solve_bvp,
    why="use scipy.integrate.solve_ivp, or write the steps as a loop, whose derivative is that of "
    "the numbers it gives",
)
refuse(
    integrate.quad,
    integrate.dblquad,
    why=_WHERE + "full_output, weight or starred arguments: write a weight into the function, or "
    "the sum over fixed nodes",
)
refuse(
    integrate.nquad,
    integrate.quad_vec,
    why="its nodes depend on the values it meets; use quad, or write the sum over fixed nodes",
)
