"""Roots that were found: the implicit function theorem, by the derivative of f at the root.

A root does not follow from its neighbours, so that no differences of these functions tell whether
a rule is right: the tests compare root finders with themselves.
"""

from __future__ import annotations

from srcgrad.rules.registry import structured
from srcgrad.runtime import support

structured(
    support.solution,
    "found, residual, slope",
    vjp={"found": "g", "residual": "-g / slope"},
    jvp={"found": "found_dot", "residual": "-residual_dot / slope"},
    zero=("slope",),  # its factor is the residual, zero at a root
    result=lambda found, residual, slope: found,
    at=[],
)
structured(
    support.solutions,
    "found, residual, jacobian",
    vjp={"found": "g", "residual": "-np.linalg.solve(jacobian.T, g)"},
    jvp={"found": "found_dot", "residual": "-np.linalg.solve(jacobian, residual_dot)"},
    zero=("jacobian",),
    result=lambda found, residual, jacobian: found,
    at=[],
)
