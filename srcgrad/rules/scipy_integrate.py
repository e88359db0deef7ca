"""`scipy.integrate`: sums over samples have rules, integrators are refused with what to write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import integrate

from srcgrad.rules.registry import add, lookup, name_of, refuse

_known = lookup(getattr(np, "trapezoid", None) or np.trapz)  # type: ignore[attr-defined, unused-ignore]
assert _known is not None
add(replace(_known, target=integrate.trapezoid, name=name_of(integrate.trapezoid)))
refuse(
    integrate.solve_ivp,
    integrate.odeint,
    integrate.RK45,
    integrate.LSODA,
    integrate.solve_bvp,
    why="an integrator chooses its steps by the values it meets: write the steps as a loop, whose "
    "derivative is that of the numbers it gives, or give srcgrad.custom_vjp the adjoint equation",
)
refuse(
    integrate.quad,
    integrate.dblquad,
    integrate.nquad,
    integrate.quad_vec,
    why="its nodes depend on the values it meets; write the sum over fixed nodes",
)
