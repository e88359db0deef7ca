"""Root finders of SciPy: the root has the derivative of the equation that it solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import srcgrad as sg
from srcgrad.errors import MissingRule

A, B = 1.3, 1.7


def cubic(x, c, d):
    return x**3 - c * x - d


def plane(x, a, b):
    return np.array([x[0] ** 2 - a, x[1] * x[0] - b])


def of_lambda(a, b):
    return optimize.brentq(lambda x: x * x - a * b, 0.0, 10.0)


def of_arguments(a, b):
    y = optimize.brentq(cubic, 0.0, 10.0, args=(a, b))
    return y * y + a


def of_arguments_in_order(a, b):
    return optimize.brenth(cubic, 0.0, 10.0, (a, b), 1e-13)


def of_nested(a, b):
    def f(x):
        return np.exp(-a * x) - b * x

    return np.sin(optimize.newton(f, 0.5)) * a


def of_newton_with_slope(a, b):
    return optimize.newton(lambda x: x**2 - a, 1.0, lambda x: 2 * x) * b


def in_a_loop(a, b):
    s = 0.0
    for k in range(3):
        s += optimize.bisect(lambda x: x * x - a * (k + 1), 0.0, 10.0, xtol=1e-14) ** 2 * b
    return s


def in_a_branch(a, b):
    y = a
    if a > 1.0:
        y = optimize.ridder(cubic, 0.0, 10.0, args=(a, b))
    return y


def of_result(a, b):
    sol = optimize.root_scalar(cubic, args=(a, b), bracket=(0.0, 10.0))
    return sol.root * a if sol.converged else 0.0


def of_result_at_once(a, b):
    fprime = lambda x: 2 * x  # noqa: E731
    return (
        optimize.root_scalar(lambda x: x**2 - a, x0=1.0, fprime=fprime, method="newton").root * b
    )


def of_system(a, b):
    x = optimize.fsolve(plane, np.ones(2), args=(a, b))
    return x[0] + x[1] ** 2


def of_system_as_list(a, b):
    x = optimize.fsolve(lambda x: [x[0] ** 2 - a, x[1] * x[0] - b], [1.0, 1.0])
    return x[0] + x[1] ** 2


def of_system_result(a, b):
    sol = optimize.root(lambda x: plane(x, a, b), np.ones(2), tol=1e-12)
    return sol.x[0] + sol.x[1] ** 2 * a


def written_into(a, b):
    sol = optimize.root(lambda x: x**2 - a, np.ones(2), tol=1e-12)
    x = sol.x
    x *= b * a
    return x[0] * x[1] + np.sum(sol.x)


def of_one_equation(a, b):
    return optimize.fsolve(lambda x: x**2 - a * b, 1.0)[0]


def of_fixed_point(a, b):
    return optimize.fixed_point(lambda x: np.cos(a * x) / b, 0.5, xtol=1e-12)


class Square:
    def __init__(self, b):
        self.b = b

    def residual(self, x):
        return x * x - self.b

    def solve(self, a):
        return a * optimize.brentq(self.residual, 0.0, 10.0)


def of_method(a, b):
    return Square(a * b).solve(b)


def solve_for(f, low, high):
    return optimize.brentq(f, low, high)


def handed_on(a, b):
    return solve_for(lambda x: x**3 - a * x - b, 0.0, 10.0)


def of_roots(a, b):
    def inner(u):
        return optimize.brentq(lambda x: x**3 - u * x - b, 0.0, 10.0, xtol=1e-14)

    return optimize.brentq(lambda u: inner(u) - a, 0.1, 5.0, xtol=1e-14)


def of_constants(a, b):
    return optimize.brentq(cubic, 0.0, 10.0, args=(1.0, 2.0)) * a * b


NUMBERS = [
    of_lambda, of_arguments, of_arguments_in_order, of_nested, of_newton_with_slope, in_a_loop,
    in_a_branch, of_result, of_result_at_once, of_fixed_point, of_method, handed_on, of_roots,
    of_constants,
]  # fmt: skip
VECTORS = [of_system, of_system_as_list, of_system_result, of_one_equation, written_into]


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("f", NUMBERS + VECTORS, ids=lambda f: f.__name__)
def test_derivatives(f, generic):
    specialize = not generic
    h = 1e-4
    by_a = (f(A + h, B) - f(A - h, B)) / (2 * h)
    by_b = (f(A, B + h) - f(A, B - h)) / (2 * h)
    value, found = sg.value_and_grad(f, (0, 1), specialize=specialize)(A, B)
    assert value == f(A, B)
    np.testing.assert_allclose(found, (by_a, by_b), rtol=2e-6)
    value, tangent = sg.jvp(f, (0, 1), specialize=specialize)((0.3, -0.7), A, B)
    assert value == f(A, B)
    np.testing.assert_allclose(tangent, 0.3 * by_a - 0.7 * by_b, rtol=2e-6)


@pytest.mark.parametrize("f", NUMBERS + VECTORS, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    h = 1e-4
    first = sg.grad(f)
    expected = (first(A + h, B) - first(A - h, B)) / (2 * h)
    np.testing.assert_allclose(sg.hessian(f)(A, B), expected, rtol=1e-5, atol=1e-9)
    if f is not of_method:  # the adjoint of an object has no adjoint yet
        np.testing.assert_allclose(sg.grad(first)(A, B), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("f", [of_lambda, of_arguments, of_result, handed_on, of_roots])
def test_third_derivatives(f):
    h = 1e-4
    second = sg.grad(sg.grad(f))
    expected = (second(A + h, B) - second(A - h, B)) / (2 * h)
    np.testing.assert_allclose(sg.grad(second)(A, B), expected, rtol=1e-5)


def test_the_text():
    """The root finder is called once, as it is written; the reverse sweep divides by the slope."""
    df = sg.grad(of_arguments)
    df(A, B)
    text = df.source.partition("def of_arguments_grad")[2].replace(f"{__name__}.", "")
    assert "y = optimize.brentq(cubic, 0.0, 10.0, args=(a, b))\n" in text
    assert text.count("brentq(") == 2  # the comment of its reverse group is the other
    assert "support.solution" not in text


def test_no_derivative_costs_nothing():
    df = sg.grad(of_constants)
    df(A, B)
    assert "cubic(" not in df.source


def counts(a):
    calls = [0]

    def f(x):
        calls[0] += 1
        return x**2 - a

    return optimize.brentq(f, 0.0, 10.0) * calls[0]


def with_report(a):
    return optimize.brentq(lambda x: x**2 - a, 0.0, 10.0, full_output=True)[0]


def with_slope(a):
    f = lambda x: (x**2 - a, 2 * x)  # noqa: E731
    return optimize.root_scalar(f, x0=1.0, fprime=True, method="newton").root


@pytest.mark.parametrize("f", [counts, with_report, with_slope])
def test_refused(f):
    with pytest.raises(MissingRule, match="the root has a derivative where the function is read"):
        sg.grad(f)(1.3)
    with pytest.raises(MissingRule, match="the root has a derivative where the function is read"):
        sg.jvp(f)(1.0, 1.3)


def test_a_rule_of_the_users_comes_first():
    def rule(g, out, f, low, high, args):
        return None, None, None, (10.0 * g, 0.0)

    def root(a):
        return optimize.brentq(cubic, 0.0, 10.0, (a, 1.0))

    assert sg.grad(root, rules={optimize.brentq: rule})(1.3) == 10.0


def test_slope_of_zero():
    """The equation does not say how such a root moves."""

    def root(a):
        return optimize.brentq(lambda x: -1.0 if x < a else 1.0, 0.0, 10.0)

    with pytest.raises(ZeroDivisionError):
        sg.grad(root)(1.3)
