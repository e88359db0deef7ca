"""`np.interp`: what is given for places outside the table has a derivative too."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([-0.7, 0.4, 1.1, 5.0])
PLACES = [0.0, 1.0, 3.0]
F = np.array([0.3, 0.5, -0.2])


def both_ends(x, f, left, right):
    inside = np.interp(x, PLACES, f, left=left, right=right)
    return np.sum(inside**2) + np.interp(-2.0, PLACES, f, left) ** 2


def of_the_values(f):
    return np.sum(np.interp([-1.0, 2.0, 4.0], PLACES, f, f[0] * f[1], f[2] ** 2) ** 2)


@pytest.mark.parametrize(("f", "args"), [(both_ends, (X, F, 0.4, -0.8)), (of_the_values, (F,))])
def test_ends(f, args):
    check(f, *args, wrt=tuple(range(len(args))))
    sg.check_grads(f, args, wrt=tuple(range(len(args))))
