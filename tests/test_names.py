"""Names of a program that the generated text also likes to use."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg

X = np.array([0.3, 0.5, 1.4])


def log_density(x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return -0.5 * z * z - np.log(scale) - 0.9


def total(x, mu):
    return np.sum(log_density(x, mu, 1.3))


def test_reverse_over_reverse_through_a_function():
    """The reverse of `log_density_reverse(result_bar, saved)` has a parameter of its own."""
    sg.check_grads(total, (X, 0.1), wrt=(0, 1))
    weight = np.array([1.0, 2.0, 3.0])
    _, back = sg.vjp(sg.grad(total))(weight, X, 0.1)
    np.testing.assert_allclose(back, -weight / 1.3**2)


def with_cotangents(result_bar, x):
    return np.sum(inner(result_bar, x) * x)


def inner(result_bar, x):
    y = result_bar * x
    return y * result_bar


def test_a_parameter_named_as_a_cotangent():
    sg.check_grads(with_cotangents, (X, X[::-1]), wrt=(0, 1))


def early(value, saved):
    s = 0.0
    for i in range(4):
        s = s + value * saved * i
        if s > 100:
            return s * value
    return s * s


def early_with_bars(x, x_bar, result_bar):
    for _ in range(3):
        if x > 1:
            return x * x_bar * result_bar * result_bar
    return np.sum(np.full(3, x_bar) * x * x) * result_bar


def test_parameters_named_as_in_the_driver_of_early_returns():
    for point in ((0.7, 1.2), (7.7, 12.2)):
        sg.check_grads(early, point, wrt=(0, 1), order=1)
    for point in ((0.7, 1.2, 0.4), (2.7, 1.2, 0.4)):
        sg.check_grads(early_with_bars, point, wrt=(0, 1, 2))
        sg.check_grads(early_with_bars, point)


def with_local_names(x):
    cotangent = x * 2
    result_bar = cotangent * x
    tangents = x * 3
    x_dot = cotangent * tangents
    return cotangent * x * result_bar + x_dot


def test_local_variables_named_as_parameters_of_derivatives():
    slope = sg.grad(with_local_names)(2.0)
    assert sg.vjp(with_local_names)(3.0, 2.0)[1] == 3.0 * slope
    assert sg.jvp(with_local_names)(3.0, 2.0)[1] == pytest.approx(3.0 * slope)


def waves(a):
    return np.sin(a) * a


@pytest.mark.parametrize("specialize", [True, False])
def test_forward_over_forward_has_two_tangents(specialize):
    twice = sg.jvp(sg.jvp(waves, specialize=specialize), wrt=1, specialize=specialize)
    _, (first, second) = twice(2.0, 3.0, 1.3)
    slope, bend = np.cos(1.3) * 1.3 + np.sin(1.3), 2 * np.cos(1.3) - 1.3 * np.sin(1.3)
    np.testing.assert_allclose([first, second], [2.0 * slope, 6.0 * bend])


def inverse(a):
    return 1.0 / a


def of_inverse(a):
    return np.sin(inverse(a * a)) * a


@pytest.mark.parametrize("specialize", [True, False])
def test_forward_over_forward_through_a_rule(specialize):
    rules = {inverse: lambda g, out, a: -g * out * out}
    once = sg.jvp(of_inverse, rules=rules, specialize=specialize)
    _, (_, second) = sg.jvp(once, wrt=1, specialize=specialize)(1.0, 1.0, 1.3)
    h = 1e-5
    expected = (once(1.0, 1.3 + h)[1] - once(1.0, 1.3 - h)[1]) / (2 * h)
    np.testing.assert_allclose(second, expected, rtol=1e-7)


SLOPE = sg.vjp(waves)


def test_a_derivative_of_the_module_is_seen_through():
    def f(x, a):
        return SLOPE(1.0, x)[1] * a

    sg.check_grads(f, (0.3, 0.4), wrt=(0, 1))
