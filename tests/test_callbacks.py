"""Nested functions handed to functions that are not looked into, which call them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize

import srcgrad as sg
from srcgrad.errors import UnsupportedSyntax

A, B = 3.0, 2.0


def of_lambda(a, b):
    return a * integrate.quad(lambda x: x * x - b, 0.0, 1.0)[0]


def of_nested(a, b):
    def f(x):
        return x * x - b

    return a * integrate.quad(f, 0.0, 1.0)[0] * f(a)


def make(b):
    def f(x):
        return x * x - b

    return f


def of_made(a, b):
    return a * integrate.quad(make(b), 0.0, 1.0)[0]


def with_defaults(a, b):
    def f(x, c=2.0, *, d=1.0):
        return x * x - b * c * d

    return a * integrate.quad(f, 0.0, 1.0, args=(3.0,))[0]


def with_starred(a, b):
    def f(x, *cs):
        return x * x - b * cs[0] - cs[1]

    return a * integrate.quad(f, 0.0, 1.0, args=(3.0, 1.0))[0]


def of_two(a, b):
    def f(x):
        return x * x - b

    def g(y):
        return f(y) + 1.0

    return a * integrate.quad(g, 0.0, 1.0)[0]


def in_a_loop(a, b):
    s = 0.0
    for k in range(3):
        s += a * k * integrate.quad(lambda x: x * x - b - k, 0.0, 1.0)[0]
    return s


def that_counts(a, b):
    calls = np.zeros(1)

    def f(x):
        calls[0] += 1.0
        return x * x - b

    w = integrate.quad(f, 0.0, 1.0)[0]
    return a * w * calls[0]


def recursive(a, b):
    def power(n):
        return 1.0 if n < 1 else b * power(n - 1)

    return a * integrate.quad(lambda x: power(3) * x - 1, 0.0, 1.0)[0]


def stopped(a, b):
    w = sg.stop_gradient(optimize.minimize(lambda v: np.sum((v - a) ** 2), np.zeros(2)).x)
    return a * (w[0] - round(w[0])) + b * a


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize(
    "f",
    [of_lambda, of_nested, of_made, with_defaults, with_starred, of_two, in_a_loop, that_counts,
     recursive],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_they_return_is_right(f, specialize):
    h = 1e-4
    expected = (f(A + h, B) - f(A - h, B)) / (2 * h)
    value, found = sg.value_and_grad(f, specialize=specialize)(A, B)
    assert value == f(A, B)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    value, tangent = sg.jvp(f, specialize=specialize)(1.0, A, B)
    assert value == f(A, B)
    np.testing.assert_allclose(tangent, expected, rtol=1e-7)


def test_what_captures_an_argument():
    value, found = sg.value_and_grad(stopped)(A, B)
    assert value == stopped(A, B)
    np.testing.assert_allclose(found, B, atol=1e-6)


def test_the_text():
    df = sg.grad(of_nested)
    df(A, B)
    assert "integrate.quad(lambda x: f(x, b), 0.0, 1.0)" in df.source


def one_of_two(a, b):
    def f(x):
        return x * x - b

    def g(x):
        return x * x - 2.0 * b

    return a * integrate.quad(f if a > 1.0 else g, 0.0, 1.0)[0]


def in_a_container(a, b):
    rules = {"type": "eq", "fun": lambda v: v[0] - b * v[1]}
    x = optimize.minimize(lambda v: np.sum((v - b) ** 2), np.zeros(2), constraints=rules).x
    return a * x[0]


@pytest.mark.parametrize("f", [one_of_two, in_a_container])
def test_refused(f):
    message = "nested functions in a container, or one of several, are handed to a function"
    with pytest.raises(UnsupportedSyntax, match=message):
        sg.grad(f)(A, B)
    with pytest.raises(UnsupportedSyntax, match=message):
        sg.jvp(f)(1.0, A, B)
