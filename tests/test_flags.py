"""Variables that hold the truth of a test which types decide pick branches, as the test would."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check


def newton(fn, start, fprime=None, args=(), steps=8):
    included = fprime == True  # noqa: E712 - as it is written
    x = 1.0 * start
    for _ in range(steps):
        if included:
            value, slope = fn(x, *args)
        else:
            value = fn(x, *args)
            slope = fprime(x, *args)
        if slope == 0.0:
            continue
        x = x - value / slope
    return x


def both(x, a):
    return x * x - a, 2.0 * x


def slope_included(a):
    return newton(both, 1.0, fprime=True, args=(a,))


def slope_apart(a):
    return newton(lambda x, a: x * x - a, 1.0, lambda x, a: 2.0 * x, args=(a,))


def normed(x, weights=None, how="mean", scale=False):
    has_weights = weights is not None
    plain = how in ("mean", "sum")
    scaled = scale is True
    y = x * weights if has_weights else x
    if not plain:
        y = y.undefined(how)
    if scaled:
        y = y / how
    total = y.sum()
    if has_weights and how == "mean":
        total = total / weights.sum()
    return total * total


def flag_that_changes(x, y=None):
    found = y is not None
    total = 0.0
    for k in range(3):
        if found:
            total += x * k
            y = None
        else:
            total += x * x
            y = x
        found = y is not None
    return total


X = np.array([0.3, -1.2, 0.8])


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (slope_included, (1.7,)),
        (slope_apart, (1.7,)),
        (normed, (X,)),
        (normed, (X, np.array([1.0, 2.0, 0.5]))),
        (normed, (X, None, "sum")),
        (flag_that_changes, (1.3,)),
        (flag_that_changes, (1.3, 2.0)),
    ],
)
def test_right(f, args):
    check(f, *args)


def test_what_is_decided_is_not_in_the_text():
    derivative = sg.grad(normed)
    derivative(X)
    text = derivative.source
    assert "undefined" not in text
    assert "has_weights" not in text
