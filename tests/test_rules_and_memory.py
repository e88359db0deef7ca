"""Rules of users, and results that formulas read, where arrays are written into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, 1.3, 0.4, 1.9])


@sg.custom_gradient
def returned(v):
    y = np.exp(v)

    def gradient(dy):
        return dy * y

    return y, gradient


@sg.custom_vjp
def paired(v):
    return np.exp(v)


def paired_forward(v):
    y = np.exp(v)
    return y, y


def paired_backward(y, g):
    return (g * y,)


paired.defvjp(paired_forward, paired_backward)


@sg.custom_gradient
def square_returned(v):
    def gradient(dy):
        r = 2.0 * dy * v
        return r

    return v * v, gradient


@sg.custom_vjp
def square_paired(v):
    return v * v


def square_forward(v):
    return v * v, v


def square_backward(v, g):
    return (2.0 * g * v,)


square_paired.defvjp(square_forward, square_backward)


def registered(v):
    return np.exp(v)


@sg.rule(registered)
def registered_rule(g, out, v):
    if v is None:
        return None
    return g * out


RULES = [returned, paired, square_returned, square_paired, registered]


@pytest.mark.parametrize("rule", RULES, ids=lambda f: f.__name__)
def test_arrays_that_are_written_into(rule: Callable[[Any], Any]) -> None:
    def result(x):
        u = rule(x * 1.0)
        u += x
        u[0] *= 2.0
        return np.sum(u * u)

    def argument(x):
        y = x * 1.0
        u = rule(y)
        y[0] = x[1] * 3.0
        y *= x
        return np.sum(u * u) + np.sum(y)

    def loop(x):
        y, s = x * 1.0, 0.0
        for i in range(3):
            u = rule(y * 0.3 + 0.5)
            u += x
            s = s + np.sum(u)
            y[i] = x[i + 1] * 0.5
            y = y + 0.1 * u
        return s

    for fn in (result, argument, loop):
        check(fn, X, modes=("grad", "jvp"))


@sg.custom_vjp
def itself(v):
    return v


itself.defvjp(lambda v: (v, None), lambda _, g: (g,))


def writes_what_came_back(x):
    y = x * 1.0
    u = itself(y)
    u[0] = x[1]
    return np.sum(y * x)


def test_a_result_that_is_the_argument_is_refused() -> None:
    for typed in (True, False):
        with pytest.raises(sg.SrcgradError, match="shares memory with an argument"):
            sg.grad(writes_what_came_back, specialize=typed)(X)


def grows(x):
    v = x
    for _ in range(3):
        w = np.exp(v * 0.1)
        w *= x
        v = v + w * 0.1
    return np.sum(v)


def normalised(x):
    v = x
    for _ in range(3):
        t = np.linalg.norm(v)
        w = v / t
        w += x * t
        v = w * x
    return np.sum(v)


def rebound_twice(x):
    w, s = x * 5.0, 0.0
    for i in range(3):
        s = s + np.sum(w * w)
        t = np.tanh(w * 0.3)
        w = t / (s + 1.0)
        w[0] *= x[i]
        w = np.sqrt(w * w + x)
        w[1:] += w[:-1]
    return np.sum(w) + s


def in_a_branch(x):
    w = x * 2.0
    if x[0] > 0.5:
        w = np.exp(w * 0.1)
        w *= x
    for v in (x, x * 2.0):
        w = w / np.sum(w)
        w += v
        if v[0] < 1.0:
            w = np.exp(-w)
            w[0] = w[1] * v[2]
    return np.sum(w**2)


def solved_twice(x):
    a = np.outer(x, x) + 3.0 * np.eye(4)
    b = x * 1.0
    y = np.linalg.solve(a, b)
    b += y
    z = np.linalg.solve(a, b)
    y += z
    return np.sum(y * z)


def inverse_between(x):
    a = np.outer(x, x) + 3.0 * np.eye(4)
    y = np.linalg.solve(a, x)
    y[0] *= x[1]
    for _ in range(2):
        z = np.linalg.solve(a, y * 1.0)
        w = np.linalg.solve(a + 1.0, z)
        w += z
        y += w
    return np.sum(y * z)


@pytest.mark.parametrize("fn", [solved_twice, inverse_between], ids=lambda f: f.__name__)
def test_what_formulas_share_is_of_one_statement(fn: Callable[[Any], Any]) -> None:
    check(fn, X, modes=("grad", "jvp"))


@pytest.mark.parametrize(
    "fn", [grows, normalised, rebound_twice, in_a_branch], ids=lambda f: f.__name__
)
def test_results_that_formulas_read(fn: Callable[[Any], Any]) -> None:
    """The partial of `w = np.exp(v)` reads the result, before the name gets its older value."""
    check(fn, X, modes=("grad",))
    sg.check_grads(fn, (X,), order=2)
