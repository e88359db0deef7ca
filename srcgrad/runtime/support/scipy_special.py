"""Helpers of the rules for `scipy.special`; this module is loaded where SciPy is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error

Value = Any  # a number or an array


def real_only(x: Value) -> Any:
    """The argument of a function that has no derivative at complex numbers.

    >>> real_only(0.5)
    0.5
    """
    if np.iscomplexobj(x):
        raise error(
            "NotDifferentiable",
            "a Bessel or Airy function with a real scale, at complex arguments",
        )
    return x
