"""Integrators of SciPy: the derivative of what they compute with the steps that they chose."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from scipy import integrate

import srcgrad as sg
from srcgrad.errors import MissingRule, NotDifferentiable

A, B = 1.3, 0.7
TIMES = np.linspace(0.0, 2.0, 5)
TIGHT = 1e-9


def prey(t, y, a, b):
    return np.array([a * y[0] - b * y[0] * y[1], -y[1] + y[0] * y[1]])


def prey_of(y, t, a, b):
    return [a * y[0] - b * y[0] * y[1], -y[1] + y[0] * y[1]]


def by_arguments(a, b):
    sol = integrate.solve_ivp(
        prey, (0.0, 2.0), np.array([1.0, 0.5 * a]), args=(a, b), rtol=TIGHT, atol=TIGHT
    )
    return sol.y[0, -1] * sol.y[1, -1] if sol.success else 0.0


def by_captures_at_times(a, b):
    def rhs(t, y):
        return [a * y[0] - b * y[0] * y[1] + np.sin(t), -y[1] + y[0] * y[1]]

    times = [0.0, 0.5, 1.1 * b, 2.0]
    sol = integrate.solve_ivp(
        rhs, (0.0, 2.0 * a), [1, b], method="RK23", t_eval=times, rtol=1e-8, atol=1e-10
    )
    return np.sum(sol.y[0] * sol.y[1]) + np.sum(sol.t**2)


def backwards(a, b):
    sol = integrate.solve_ivp(
        lambda t, y: prey(t, y, a, b),
        [2.0 * a, 0.0],
        [1.0, 0.5],
        integrate.DOP853,
        TIMES[::-1],
        rtol=TIGHT,
        atol=TIGHT,
    )
    return np.sum(sol.y[0] * sol.y[1])


def over_a_span(a, b):
    sol = integrate.solve_ivp(prey, (b, 2.0 * a), [1.0, 0.5], args=(a, b), rtol=TIGHT, atol=TIGHT)
    return np.sum(sol.y[:, -1] ** 2) * sol.t[-1]


def implicit(a, b):
    sol = integrate.solve_ivp(
        prey, (0.0, a), [1.0, 0.5 * a], "LSODA", args=(a, b), rtol=TIGHT, atol=TIGHT
    )
    return np.sum(sol.y[:, -1] ** 2)


def implicit_at_times(a, b):
    sol = integrate.solve_ivp(
        lambda t, y: prey(t, y, a, b), (0.0, 2.0), [1.0, a], "Radau", TIMES, rtol=1e-8, atol=1e-9
    )
    return np.sum(sol.y**2)


def by_odeint(a, b):
    return np.sum(integrate.odeint(prey_of, [1.0, 0.5 * a], TIMES * b, args=(a, b)) ** 2)


def by_odeint_time_first(a, b):
    y = integrate.odeint(lambda t, y: prey(t, y, a, b), np.array([1.0, a]), TIMES, tfirst=True)
    return y[-1, 0] * y[-1, 1]


def in_a_loop(a, b):
    y, s = np.array([1.0, 0.5]), 0.0
    for k in range(2):
        f = lambda t, y: prey(t, y, a * (k + 1), b)  # noqa: E731
        y = integrate.solve_ivp(f, (0.0, 1.0), y, rtol=TIGHT, atol=TIGHT).y[:, -1]
        s += y[0] * b
    return s


def of_a_period(a, b):
    return integrate.quad(lambda x: np.exp(-a * x) * np.sin(b * x), 0.0, a)[0]


def of_arguments(a, b):
    value, _ = integrate.quad(lambda x, p: abs(x - 1.0) ** 2.5 * p, -a, 3.0 * b, args=(a,))
    return value


def of_a_jump(a, b):
    """The limits move, the jump does not."""
    return integrate.quad(lambda x: a * x if x < 1.0 else 2.0, 0.0, a * b * 2.0, points=[1.0])[0]


def upwards(a, b):
    return integrate.quad(lambda x: np.exp(-a * x * x), b, np.inf)[0]


def downwards(a, b):
    return integrate.quad(lambda x: np.exp(a * x), -np.inf, -b)[0]


def everywhere(a, b):
    return integrate.quad(lambda x: np.exp(-a * x * x + b * x), -np.inf, np.inf)[0]


def turned(a, b):
    return (
        integrate.quad(lambda x: np.exp(-a * x), np.inf, b)[0]
        + integrate.quad(lambda x: np.sqrt(abs(x - 0.3)) * a, 2.0 * b, -a, points=[0.3])[0]
    )


def fixed(a, b):
    return integrate.fixed_quad(lambda x: np.sin(a * x), 0.0, b, n=8)[0]


def over_an_area(a, b):
    return integrate.dblquad(lambda y, x: np.sin(x * y * a), 0.0, b, lambda x: 0.0, lambda x: x)[0]


INTEGRALS = [of_a_period, of_arguments, of_a_jump, upwards, downwards, everywhere, turned]
if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):
    INTEGRALS.append(fixed)  # later it passes arrays that it writes into on through *args
PATHS = [
    by_arguments, by_captures_at_times, backwards, over_a_span, implicit, implicit_at_times,
    by_odeint, by_odeint_time_first, in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("f", PATHS + INTEGRALS, ids=lambda f: f.__name__)
def test_derivatives(f, generic):
    specialize = not generic
    h = 1e-3
    by_a = (8 * (f(A + h, B) - f(A - h, B)) - f(A + 2 * h, B) + f(A - 2 * h, B)) / (12 * h)
    by_b = (8 * (f(A, B + h) - f(A, B - h)) - f(A, B + 2 * h) + f(A, B - 2 * h)) / (12 * h)
    value, found = sg.value_and_grad(f, (0, 1), specialize=specialize)(A, B)
    np.testing.assert_allclose(value, f(A, B), rtol=1e-13)
    np.testing.assert_allclose(found, (by_a, by_b), rtol=2e-5, atol=1e-9)
    tangent = sg.jvp(f, (0, 1), specialize=specialize)((0.3, -0.7), A, B)[1]
    np.testing.assert_allclose(tangent, 0.3 * found[0] - 0.7 * found[1], rtol=1e-9, atol=1e-11)


def by_odd_times(a):
    f = lambda t, y: -a * y * y  # noqa: E731
    return integrate.solve_ivp(f, (0.0, a), [1.0], t_eval=[0.4], rtol=TIGHT, atol=TIGHT).y[0, 0]


SECOND = [of_a_jump, upwards]


@pytest.mark.parametrize("f", SECOND, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    h = 1e-4
    first = sg.grad(f)
    expected = (first(A + h, B) - first(A - h, B)) / (2 * h)
    np.testing.assert_allclose(sg.hessian(f)(A, B), expected, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(sg.grad(first)(A, B), expected, rtol=1e-5, atol=1e-8)


def test_second_derivatives_of_a_path():
    """y = 1 / (1 + 0.4 a)."""
    assert sg.hessian(by_odd_times)(A) == pytest.approx(0.32 / (1.0 + 0.4 * A) ** 3, rel=1e-7)


def test_integral_in_an_integral():
    h = 1e-4
    found = sg.grad(over_an_area, (0, 1))(A, B)
    by_a = (over_an_area(A + h, B) - over_an_area(A - h, B)) / (2 * h)
    by_b = (over_an_area(A, B + h) - over_an_area(A, B - h)) / (2 * h)
    np.testing.assert_allclose(found, (by_a, by_b), rtol=1e-6)


def test_the_steps_are_those_of_scipy():
    """The derivative of RK45's own steps, at a tolerance at which they are few."""

    def path(a):
        return integrate.solve_ivp(lambda t, y: -a * y, (0.0, 2.0), [1.0]).y[0, -1]

    steps = np.diff(integrate.solve_ivp(lambda t, y: -A * y, (0.0, 2.0), [1.0]).t)

    def decay(z):  # of one step of RK45 for y' = z y
        return np.polyval([1 / 600, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0], z)

    h = 1e-5
    product = [np.prod([decay(-(A + d) * s) for s in steps]) for d in (h, -h)]
    assert path(A) == pytest.approx(np.prod([decay(-A * s) for s in steps]), rel=1e-13)
    assert sg.grad(path)(A) == pytest.approx((product[0] - product[1]) / (2 * h), rel=1e-8)


def test_without_a_derivative_all_is_as_scipy_has_it():
    def inert(x, k):
        down = lambda t, y: y[0] - 0.5  # noqa: E731
        sol = integrate.solve_ivp(
            lambda t, y: -k * y, (0.0, 2.0), [1.0], "BDF", events=down, dense_output=True
        )
        rest = integrate.quad(lambda t: k * t, 0.0, 1.0, full_output=True)
        return x * sol.t_events[0][0] * sol.sol(0.5)[0] * rest[0]

    def inert_steps(x, k):
        sol = integrate.solve_ivp(lambda t, y: -1e3 * k * y, (0.0, 1.0), [1.0])
        return x * sol.y[0, -1] * integrate.quad(lambda t: k * t, 0.0, 1.0)[0]

    for f in (inert, inert_steps):
        found = sg.grad(f)
        assert found(3.0, 1.0) == f(1.0, 1.0)
        assert sg.jvp(f)(1.0, 3.0, 1.0)[1] == f(1.0, 1.0)
        assert "integrate.solve_ivp(" in found.source
        assert "def solve_ivp" not in found.source


def test_the_stiff_is_refused():
    def stiff(a, method, tolerance):
        rhs = lambda t, y: -1000.0 * a * (y - np.cos(t))  # noqa: E731
        sol = integrate.solve_ivp(
            rhs, (0.0, 0.3), [1.0], method, rtol=tolerance, atol=tolerance * 1e-3
        )
        return sol.y[0, -1]

    for method in ("RK45", "LSODA"):
        with pytest.raises(NotDifferentiable, match="at the limit of its stability"):
            sg.grad(stiff)(1.3, method, 1e-3)
    k = 1300.0
    by_hand = 1000.0 * (2.0 * k * np.cos(0.3) + np.sin(0.3)) / (k * k + 1.0)
    by_hand -= 2000.0 * k * (k * k * np.cos(0.3) + k * np.sin(0.3)) / (k * k + 1.0) ** 2
    assert sg.grad(stiff)(1.3, "RK45", 1e-9) == pytest.approx(by_hand, rel=1e-4)


def counting(a):
    calls = [0]

    def f(t, y):
        calls[0] += 1
        return -a * y

    return integrate.solve_ivp(f, (0.0, 1.0), [1.0]).y[0, -1] * calls[0]


def counting_integral(a):
    calls = [0]

    def f(x):
        calls[0] += 1
        return a * x

    return integrate.quad(f, 0.0, 1.0)[0]


def with_events(a):
    down = lambda t, y: y[0] - 0.5  # noqa: E731
    return integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], events=down).t_events[0][0]


def with_dense_output(a):
    return integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], dense_output=True).y[0, -1]


def with_weight(a):
    return integrate.quad(lambda x: a * x, 0.0, 1.0, weight="cos", wvar=2.0)[0]


@pytest.mark.parametrize(
    "f", [counting, counting_integral, with_events, with_dense_output, with_weight]
)
def test_refused(f):
    with pytest.raises(MissingRule, match="where the function is read and changes nothing"):
        sg.grad(f)(A)
    with pytest.raises(MissingRule, match="where the function is read and changes nothing"):
        sg.jvp(f)(1.0, A)


def test_what_is_too_singular_is_refused():
    with pytest.raises(NotDifferentiable, match="too far from smooth"):
        sg.grad(lambda a: integrate.quad(lambda x: x ** (-0.9 * a), 0.0, 1.0)[0])(1.0)
