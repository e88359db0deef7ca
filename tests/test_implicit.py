"""Solutions of equations have the derivatives that the implicit function theorem gives."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
from scipy import optimize

import srcgrad as sg
from srcgrad.errors import ArgumentError

A = np.array([[3.0, 1.0], [0.5, 2.0]])
B = np.array([1.0, 2.0])


def cubic(x, a):
    return x * x * x + x - a


@sg.implicit(cubic)
def root(a):
    x = 1.0
    for _ in range(60):
        x = x - (x * x * x + x - a) / (3 * x * x + 1)
    return x


def of_root(a):
    return np.sin(root(a * a)) * a


def system(x, a, b):
    return a @ x + 0.1 * x**3 - b


@sg.implicit(system)
def solution(a, b):
    return optimize.root(lambda x: system(x, a, b), np.zeros(b.shape), tol=1e-13).x


def of_solution(a, b):
    return np.sum(solution(a, b) ** 2)


def power(x, a, n):
    return x**n - a


@sg.implicit(power, wrt=(0,))
def power_root(a, n):
    return a ** (1.0 / n)


@pytest.mark.parametrize("modes", [("reverse",), ("forward",), ("reverse", "forward")])
def test_a_number(modes):
    sg.check_grads(of_root, (1.3,), modes=modes)


def test_the_solution_itself():
    assert sg.grad(root)(2.0) == pytest.approx(1 / 4)  # x = 1, and 3 x^2 + 1 = 4


@pytest.mark.parametrize("specialize", [True, False])
def test_a_system_of_equations(specialize):
    x = solution(A, B)
    jacobian = A + np.diag(0.3 * x * x)
    weight = np.linalg.solve(jacobian.T, 2.0 * x)
    by_a, by_b = sg.grad(of_solution, wrt=(0, 1), specialize=specialize)(A, B)
    np.testing.assert_allclose(by_a, -np.outer(weight, x), rtol=1e-10)
    np.testing.assert_allclose(by_b, weight, rtol=1e-10)


def test_a_system_to_second_order():
    h, direction = 1e-5, np.array([0.3, -1.0])

    def gradient(b):
        return sg.grad(of_solution, wrt=1)(A, b)

    expected = (gradient(B + h * direction) - gradient(B - h * direction)) / (2 * h)
    actual = sg.hvp(of_solution, wrt=1)(direction, A, B)
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
    hessian = sg.hessian(of_solution, wrt=1)(A, B)
    np.testing.assert_allclose(hessian @ direction, actual, rtol=1e-10)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-10)


def test_arguments_without_a_derivative():
    assert sg.grad(power_root)(8.0, 3) == pytest.approx(1 / 12)
    _, tangent = sg.jvp(power_root)(1.0, 8.0, 3)
    assert tangent == pytest.approx(1 / 12)


def test_where_the_residual_is_flat_the_derivative_is_refused_by_numpy():
    def flat(x, a):
        return 0.0 * x + a

    @sg.implicit(flat)
    def anything(a):
        return a * 0.0

    with pytest.raises(np.linalg.LinAlgError):
        sg.grad(lambda a: np.sum(anything(a)))(np.ones(2))


def test_parameters_that_do_not_match():
    with pytest.raises(ArgumentError, match="cubic must take the solution and the 2 arguments"):
        sg.implicit(cubic)(lambda a, b: a)
    with pytest.raises(ArgumentError, match="positional arguments"):
        sg.implicit(cubic)(lambda *a: a)
    with pytest.raises(ArgumentError, match="implicit takes the residual, a function; got 3"):
        sg.implicit(3)


def test_the_text_of_a_rule_outlives_the_cache_of_lines():
    linecache.clearcache()
    test_the_solution_itself()
