"""Nested functions handed to other functions, which call them and so write what they capture."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, 1.3, 0.4, 1.9])


def newton(f, df, y):
    for _ in range(20):
        y = y - f(y) / df(y)
    return y


def runge_kutta(f, y, h, n):
    for _ in range(n):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h * k2)
        y = y + h / 6 * (k1 + 4 * k2 + k3)
    return y


def both_ways(f, g, v):
    return f(g(v)) + g(f(v))


def again(f, y, n):
    return y if n == 0 else again(f, f(y), n - 1)


def root(f, y):
    return newton(f, lambda z: 2 * z, y)


def fill(f, out):
    for i in range(len(out)):
        out[i] = f(i)


class Solver:
    def run(self, f, y):
        return f(f(y))


def reads_what_was_written(x):
    y = x * x
    y[0] = x[1]
    return newton(lambda z: z * z - y[0] * y[2], lambda z: 2 * z, 1.0) * y[1]


def returns_its_buffer(x):
    buffer = np.zeros(4)

    def rate(y):
        buffer[:] = y * x
        return buffer

    return np.sum(runge_kutta(rate, x, 0.1, 2) ** 2) + np.sum(buffer)


def returns_a_copy(x):
    buffer = np.zeros(4)

    def rate(y):
        buffer[0] = x[0] * y[1]
        buffer[1:] = y[1:] * x[1:] * 0.3 - y[:-1]
        return buffer * 1.0

    return np.sum(runge_kutta(rate, x, 0.1, 3) ** 2) + np.sum(buffer)


def two_at_once(x):
    a = x * 1.0
    total = [0.0]

    def f(v):
        a[0] += v
        total[0] += v * v
        return a[0] * v

    def g(v):
        return a[1] * v * x[2]

    return both_ways(f, g, x[3]) + np.sum(a) + total[0]


def recursion(x):
    a = x * 1.0

    def f(v):
        a[1] *= v
        return v * a[1] + 0.1

    return again(f, x[0], 3) + a[1]


def handed_on(x):
    b = x * 1.0
    b[1] *= x[0]
    return root(lambda y: y * y - b[1] - 2, 1.0)


def writes_into_an_argument_too(x):
    a, out = x * 1.0, np.zeros(4)

    def f(i):
        a[i] *= 2
        return a[i] * x[i - 1]

    fill(f, out)
    return np.sum(out * a)


def captures_what_is_handed_beside_it(x):
    out = np.ones(4)

    def f(i):
        return out[i - 1] * x[i]

    fill(f, out)
    return np.sum(out**2)


def to_map_and_reduce(x):
    a = np.zeros(2)

    def f(p, q):
        a[0] += p * q
        return p * q + 1

    def g(v):
        a[1] += v * a[0]
        return a[1]

    return functools.reduce(f, x, x[0]) + a[0] + sum(map(g, x))


def by_name(x):
    a = x * 1.0

    def f(v):
        a[2] = v * v
        return a[2] * x[0]

    def solve(y, fun=None, n=2):
        for _ in range(n):
            y = fun(y)
        return y

    return solve(x[1], fun=f) + solve(x[1], n=1, fun=f) + a[2]


def to_a_method(x):
    a = x * 1.0

    def f(v):
        a[0] *= 0.5
        return v * a[0]

    return Solver().run(f, x[1]) + a[0]


def variable_of_a_loop(x):
    a, s = x * 1.0, 0.0
    for i in range(3):

        def f(v):
            a[i] += v
            return a[i] * v

        s += both_ways(f, lambda v: v * x[i], x[3])
    return s + np.sum(a)


def recursive_itself(x):
    a = x * 1.0

    def repeat(f, y, n=2, k=1):
        if n == 0:
            return y
        return repeat(f, f(y), n - k)

    def f(v):
        return v * a[1]

    return repeat(f, x[0])


PROGRAMS = [
    reads_what_was_written, returns_its_buffer, returns_a_copy, two_at_once, recursion, handed_on,
    writes_into_an_argument_too, captures_what_is_handed_beside_it, to_map_and_reduce, by_name,
    to_a_method, variable_of_a_loop, recursive_itself,
]  # fmt: skip


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_first_order(fn: Callable[[Any], Any]) -> None:
    check(fn, X, modes=("grad", "jvp"))


@pytest.mark.parametrize(
    "fn", [reads_what_was_written, returns_its_buffer, recursion], ids=lambda f: f.__name__
)
def test_second_order(fn: Callable[[Any], Any]) -> None:
    sg.check_grads(fn, (X,), order=2)


def returned_from_a_nested_function(x):
    buffer = np.zeros(4)

    def rate(y):
        buffer[:] = y * x
        return buffer

    y = x
    for _ in range(2):
        y = y + rate(y) * rate(y)
    return np.sum(y)


def test_an_error_inside_of_numba_is_a_refusal() -> None:
    """Whether Numba compiles it is its own affair, but no bare TypeError of its compiler."""
    pytest.importorskip("numba")
    try:
        found = sg.grad(returned_from_a_nested_function, backend="numba")(X)
    except sg.SrcgradError as e:
        assert "Numba can't compile the derivative" in str(e)  # noqa: PT017
    else:
        assert np.allclose(found, sg.grad(returned_from_a_nested_function)(X))


def in_a_list(f, y):
    return [f(y)]


def with_first(f, y, first):
    slopes = [first]
    slopes.append(f(y + 0.5 * slopes[0]))
    return y + slopes[1], slopes


class Stepper:
    def __init__(self, h):
        self.h = h

    def step(self, f, y):
        return y + self.h * f(y)


def rounds(f, y):
    for _ in range(2):
        y = in_a_list(f, y)[0]
    return y


def rounds_of_steps(f, y):
    first = f(y)
    for i in range(3):
        y, slopes = with_first(f, y, first)
        first = slopes[-1]
        if i == 1:
            break
    return y


def rounds_of_a_method(f, y):
    stepper, k = Stepper(0.1), 0
    while k < 3:
        y = stepper.step(f, y)
        k += 1
    return y


@pytest.mark.parametrize("run", [rounds, rounds_of_steps, rounds_of_a_method])
def test_captured_values_in_loops(run: Callable[..., Any]) -> None:
    """Each round adds to the adjoint of what the function handed on captures."""

    def f(x, p):
        return np.sum(run(lambda y: p * y, x))

    check(f, X, 0.7, wrt=(0, 1))


def f_of_both(x, p):
    return np.sum(rounds(lambda y: p * y, x)) + rounds_of_steps(lambda y: np.sin(p * y), x[0])


def made(a):
    def g(z):
        return z * a

    return g


def handed_what_was_made(x, q):
    return np.sum(rounds(made(q), x) * in_a_list(made(q * q), x)[0])


def test_a_returned_function_handed_on_at_second_order() -> None:
    sg.check_grads(handed_what_was_made, (X, 0.7), wrt=(0, 1), order=2)
    by_q = sg.grad(handed_what_was_made, 1)
    found = sg.grad(by_q, 1)(X, 0.7)
    h = 1e-5
    np.testing.assert_allclose(found, (by_q(X, 0.7 + h) - by_q(X, 0.7 - h)) / (2 * h), rtol=1e-6)


def test_captured_values_in_loops_at_second_order() -> None:
    sg.check_grads(f_of_both, (X, 0.7), wrt=(0, 1), order=2)
