"""Third order through users' rules, whose derivatives are deliberately not the true ones: what is
differentiated again is the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg


def cube(x):
    return x * x * x


def cube_rule(g, out, x):
    return g * np.sin(2.0 * x)


@sg.custom_vjp
def by_vjp(x):
    return x * x * x


by_vjp.defvjp(lambda x: (x * x * x, x), lambda x, g: (g * np.sin(2.0 * x),))


@sg.custom_jvp
def by_jvp(x):
    return x * x * x


@by_jvp.defjvp
def _by_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return x * x * x, t * np.sin(2.0 * x)


@sg.custom_gradient
def by_gradient(x):
    def gradient(dy):
        return dy * np.sin(2.0 * x)

    return x * x * x, gradient


def calls_cube(x):
    return cube(x)


def calls_by_vjp(x):
    return by_vjp(x)


def calls_by_jvp(x):
    return by_jvp(x)


def calls_by_gradient(x):
    return by_gradient(x)


CASES = {
    "rule": (calls_cube, {cube: cube_rule}),
    "custom_vjp": (calls_by_vjp, None),
    "custom_jvp": (calls_by_jvp, None),
    "custom_gradient": (calls_by_gradient, None),
}


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize(("fn", "rules"), CASES.values(), ids=CASES)
def test_reverse_three_times(fn: Callable[..., Any], rules: Any, typed: bool) -> None:
    derivative: Any = fn
    for _ in range(3):
        derivative = sg.grad(derivative, rules=rules, specialize=typed)
    assert derivative(0.7) == pytest.approx(-4.0 * np.sin(1.4), rel=1e-12)


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize(("fn", "rules"), CASES.values(), ids=CASES)
def test_forward_over_forward_over_reverse(
    fn: Callable[..., Any], rules: Any, typed: bool
) -> None:
    first = sg.grad(fn, rules=rules, specialize=typed)
    second = sg.jvp(first, rules=rules, specialize=typed)  # (t, x) -> (f'(x), f''(x) t)
    third = sg.jvp(second, wrt=1, rules=rules, specialize=typed)
    _, (slope, curvature) = third(1.0, 1.0, 0.7)
    assert slope == pytest.approx(2.0 * np.cos(1.4), rel=1e-12)
    assert curvature == pytest.approx(-4.0 * np.sin(1.4), rel=1e-12)
