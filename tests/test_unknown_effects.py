"""Calls made for what they do to their arguments, where the compiler can't see what that is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad as sg

BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
X = np.array([1.5, 2.0, 0.3])


def shuffled(x):
    y = x.copy()
    np.random.shuffle(y)
    return y[0]


def method_shuffled(x, rng):
    y = x.copy()
    rng.shuffle(y)
    return y[0]


def two_outputs(x):
    y, z = np.zeros_like(x), np.zeros_like(x)
    np.modf(x, y, z)
    return np.sum(y)


def two_named_outputs(x):
    y, z = np.zeros_like(x), np.zeros_like(x)
    np.modf(x, out=(y, z))
    return np.sum(y)


@BOTH
@pytest.mark.parametrize(
    ("fn", "args", "message"),
    [
        (shuffled, (), "shuffle writes into an array that carries a derivative"),
        (
            method_shuffled,
            (np.random.default_rng(0),),
            "no derivative rule for the method shuffle",
        ),
        (two_outputs, (), "no derivative rule for numpy.modf"),
        (two_named_outputs, (), "no derivative rule for numpy.modf"),
    ],
)
def test_they_are_refused_on_active_arrays(fn: Any, args: Any, message: str, typed: bool) -> None:
    with pytest.raises(sg.SrcgradError, match=message):
        sg.grad(fn, "x", specialize=typed)(X, *args)


def visits(x, rng):
    order, total = np.arange(3), 0.0
    for _ in range(3):
        total = total + x[order[0]] * x[order[1]] ** 2
        rng.shuffle(order)
    return total


@BOTH
def test_what_they_write_is_recorded(typed: bool) -> None:
    """The reverse sweep reads the order that each iteration saw, not the last one."""

    def value(x):
        return visits(x, np.random.default_rng(0))

    expected = [(value(X + e) - value(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    found = sg.grad(visits, "x", specialize=typed)(X, np.random.default_rng(0))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
