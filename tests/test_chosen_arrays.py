"""max and min give one of their arguments itself: an array that may be written into."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

ONE = "max or min gives one of several arrays here, which is written into"
SEVERAL = "max gives views of several arrays, and one is written into"


def one_of_them(x):
    t = np.where(x > 0, x * x, x)
    m = min(t, 0.1)
    m -= t * x
    return t * x + m


def two(x):
    t = np.where(x > 0, x * x, x)
    u = np.where(x > 0, x * x * x, x)
    m = max(t, u)
    m *= x
    return t * x + m + u


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(("f", "x"), [(one_of_them, 0.2), (two, 1.3)])
def test_refused(f, x, typed):
    for derivative, args in ((sg.grad, (x,)), (sg.jvp, (1.0, x))):
        with pytest.raises(sg.UnsupportedSyntax, match=f"{ONE}|{SEVERAL}"):
            derivative(f, specialize=typed)(*args)


def numbers(a, b):
    high = max(a, b * a)
    high -= 0.5 * a
    low = min(a, 2 * b, a * a)
    low *= 2
    return high * low


def not_chosen(x):
    t = np.where(x > 0, x * x, x)
    m = min(t, -3.0)
    m -= t * x
    return t * x + m


def only_read(x):
    t = np.where(x > 0, x * x, x)
    m = max(t, 0.001)
    t = t + 1.0
    return m * t


@pytest.mark.parametrize(
    ("f", "args"), [(numbers, (1.3, 0.4)), (not_chosen, (0.4,)), (only_read, (0.7,))]
)
def test_right(f, args):
    check(f, *args)
