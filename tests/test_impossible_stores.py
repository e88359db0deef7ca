"""Code for numbers and for arrays: what is tried with the one fails with the other."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check


def angles(e, n, u):
    try:
        e[abs(e) < 1e-3] = 0.0
        n[abs(n) < 1e-3] = 0.0
        u[abs(u) < 1e-3] = 0.0
    except TypeError:
        if abs(e) < 1e-3:
            e = 0.0
        if abs(n) < 1e-3:
            n = 0.0
        if abs(u) < 1e-3:
            u = 0.0
    r = np.hypot(e, n)
    return np.arctan2(u, r) + np.hypot(r, u) + np.arctan2(e, n)


@pytest.mark.parametrize("kind", [float, np.float64, lambda v: np.array([v, 0.5 * v])])
def test_angles(kind):
    args = (kind(0.5), kind(0.7), kind(0.4))
    if isinstance(args[0], np.ndarray):
        check(angles, *args, wrt=(0, 1, 2), specialize=(True,))
    else:
        check(angles, *args, wrt=(0, 1, 2), specialize=(True,))


def cut(x):
    try:
        x[x < 0.0] = 0.0
    except (TypeError, ValueError):
        x = max(x, 0.0)
    return x * x


def other_error(x):
    try:
        x[0] = 0.0
    except ValueError:
        x = 0.0
    return x * x


def never_there(x):
    y = x * x
    if isinstance(x, np.ndarray):
        y[0] = 2.0
    elif x > 100.0:
        y[1] = 3.0
    return y * x


def test_right():
    check(never_there, 1.3)
    check(cut, np.array([0.3, -0.2]))


def test_errors_are_the_users_own():
    with pytest.raises(TypeError, match="'float' object does not support item assignment"):
        sg.grad(other_error)(1.3)
    with pytest.raises(TypeError, match="'float' object does not support item assignment"):
        sg.grad(never_there)(101.0)
