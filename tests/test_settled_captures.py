"""Nested functions and the later bindings of what they capture: only what may still run counts."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check


def solved(fn, start):
    for _ in range(30):
        start = start - fn(start) / (2.0 * start)
    return start


def arm_that_returns(x, scale=None):
    if scale == 1.0:

        def root(t):
            return t * t - scale * x

        return solved(root, 2.0)
    if scale is None:
        scale = 2.0 * x
    if scale > 100.0:
        raise ValueError(scale)

    def root(t):
        return t * t - scale * x

    return solved(root, 1.0)


def other_arm(x, kind="scaled"):
    k = x * x
    if kind == "scaled":

        def g(v):
            return v * k
    else:
        k = np.sin(x)

        def g(v):
            return v - k

    return g(x) * x


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (arm_that_returns, (1.3, 1.0)),
        (arm_that_returns, (1.3,)),
        (other_arm, (1.3,)),
        (other_arm, (1.3, "moved")),
    ],
)
def test_right(f, args):
    check(f, *args)


def same_round(x):
    total = 0.0
    for i in range(3):
        k = x * i
        if i == 1:

            def g(v):
                return v * k
        else:
            k = x

            def g(v):
                return v + k

        total += g(x)
    return total


def leaves_a_loop_only(x):
    k = x
    g = None
    while True:
        if x > 0:

            def g(v):
                return v * k

            break
    k = 3.0
    return g(x)


def swallowed(x):
    k = x
    g = None
    try:
        if x > 0:

            def g(v):
                return v * k

            raise ValueError(x)
    except ValueError:
        pass
    k = 3.0
    return g(x)


@pytest.mark.parametrize("f", [same_round, leaves_a_loop_only, swallowed])
def test_refused(f):
    """Here the later binding may still run."""
    with pytest.raises(sg.UnsupportedSyntax, match="captures k, which gets another value later"):
        sg.grad(f)(1.3)
