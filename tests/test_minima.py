"""Minima of SciPy: their place has the derivative of the equation gradient = 0."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import srcgrad as sg
from srcgrad.errors import MissingRule, NotDifferentiable

A, B = 1.3, 0.7


def valley(x, a, b):
    return (x[0] - a) ** 2 + (x[1] - b * x[0]) ** 2 + x[0] ** 4


def of_lambda(a, b):
    sol = optimize.minimize(lambda x: valley(x, a, b), np.zeros(2), method="BFGS", tol=1e-11)
    return sol.x[1] * a


def of_arguments(a, b):
    sol = optimize.minimize(valley, np.zeros(2), (a, b), "Newton-CG", jac=by_hand, tol=1e-12)
    return sol.x[0] + sol.x[1] ** 2 if sol.success else 0.0


def by_hand(x, a, b):
    bend = x[1] - b * x[0]
    return np.array([2 * (x[0] - a) - 2 * b * bend + 4 * x[0] ** 3, 2 * bend])


def of_one_number(a, b):
    return optimize.minimize_scalar(lambda x: (x - a) ** 2 + b * x**4, tol=1e-12).x * b


class Loss:
    def __init__(self, a):
        self.a = a

    def at(self, x, b):
        return np.sum((x - self.a) ** 2 * b) + np.sum(x**4)


def of_method(a, b):
    return optimize.minimize(Loss(a).at, np.ones(2), args=(b,), tol=1e-10).x[0]


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("f", [of_lambda, of_arguments, of_one_number, of_method])
def test_derivatives(f, generic):
    specialize, h = not generic, 1e-3
    by_a = (f(A + h, B) - f(A - h, B)) / (2 * h)
    by_b = (f(A, B + h) - f(A, B - h)) / (2 * h)
    value, found = sg.value_and_grad(f, (0, 1), specialize=specialize)(A, B)
    assert value == f(A, B)
    np.testing.assert_allclose(found, (by_a, by_b), rtol=3e-4)
    tangent = sg.jvp(f, (0, 1), specialize=specialize)((0.3, -0.7), A, B)[1]
    np.testing.assert_allclose(tangent, 0.3 * found[0] - 0.7 * found[1], rtol=1e-9)


@pytest.mark.parametrize("f", [of_lambda, of_one_number])
def test_second_derivatives(f):
    h, first = 1e-4, sg.grad(f)
    expected = (first(A + h, B) - first(A - h, B)) / (2 * h)
    np.testing.assert_allclose(sg.hessian(f)(A, B), expected, rtol=1e-3)
    if f is of_one_number:  # the Hessian of an array has no adjoint of its own yet
        np.testing.assert_allclose(sg.grad(first)(A, B), expected, rtol=1e-3)


def within_bounds(a):
    return optimize.minimize(lambda x: (x[0] - a) ** 2, [0.0], bounds=[(0.0, 0.5)]).x[0]


def the_value(a):
    return optimize.minimize(lambda x: (x[0] - a) ** 2 + x[0] ** 4, [0.0]).fun


def above(x):
    return x[0] - 1.0


def under_a_constraint(a):
    rule = {"type": "eq", "fun": above}
    return optimize.minimize(lambda x: (x[0] - a) ** 2, [0.0], constraints=rule).x[0]


@pytest.mark.parametrize("f", [within_bounds, the_value, under_a_constraint])
def test_refused(f):
    with pytest.raises(MissingRule, match="the place of a minimum has a derivative where"):
        sg.grad(f)(A)


def test_kinks_are_refused():
    def kink(a):
        return optimize.minimize_scalar(lambda x: np.abs(x - a) + 0.1 * x * x).x

    with pytest.raises(NotDifferentiable, match="no place where the gradient is zero"):
        sg.grad(kink)(A)
