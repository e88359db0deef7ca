"""An arm that `np.where` did not choose contributes exactly zero, whatever its partials are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

PROGRAMS: list[Any] = []
X = np.array([-1.1, -0.5, 2.0, 0.3])
M = np.array([[0.5, -1.2, -0.1], [2.0, 0.7, -0.4]])
ROWS = np.array([[0.6, 1.3, 0.2], [-2.0, -0.7, -0.4]])


def program(*args: Any, wrt: Any = 0) -> Callable[[Any], Any]:
    def register(fn: Any) -> Any:
        PROGRAMS.append(pytest.param(fn, args, wrt, id=fn.__name__))
        return fn

    return register


@program(X)
def one_arm(x):
    return np.sum(np.where(x > 0, np.log(x), 0.0))


@program(X)
def arm_shared_with_another_use(x):
    e = np.exp(x)
    return np.sum(np.where(x < 0.5, e, 0) + e)


@program(X)
def arm_shared_by_two(x):
    e = np.log(x)
    y = np.where(x > 0, e, 0.0) + np.where(x > 1, e * e, 1.0)
    return y @ np.arange(4.0)


@program(X)
def several_steps(x):
    t = np.log(x)
    u = np.sqrt(t + 2.0)
    y = np.where(x > 0.2, u * t, x * x)
    return np.sum(y * y)


@program(X)
def nested(x):
    inner = np.where(x > 0, np.log(x), np.where(x < -1, np.sqrt(-x), x * 0.5))
    return np.where(x > -2, inner, 0.0) ** 2


@program(M)
def reduction_nobody_chose(a):
    s = np.sum(np.log(a), axis=1)
    y = np.where(np.array([False, False]), s, np.sum(a, axis=1))
    return np.sum(y**2)


@program(ROWS)
def reductions_of_some_rows(a):
    c = np.all(a > 0, axis=1)
    s = np.sum(np.log(a), axis=1)
    p = np.prod(np.sqrt(a), axis=1)
    return np.sum(np.where(c, s * p, 0.0))


@program(ROWS)
def reduction_that_keeps_dimensions(a):
    s = np.mean(np.log(a), axis=1, keepdims=True)
    return np.where(a > 0, s, 1.0) * a


@program(M)
def broadcast_arm(a):
    s = np.sum(a, axis=1, keepdims=True) - 0.3
    return np.sum(np.where(s > 0, np.log(s) * a, 0.0))


@program(M)
def moved_and_taken_apart(a):
    logs = np.log(a).T
    y = np.where(logs > -9, logs, 0.0)
    z = np.where(a.ravel() > 0.6, np.sqrt(a).reshape(-1), 1.0)
    q = np.where(a[:, 1:] > 0, np.log(a)[:, 1:], a[:, 1:])
    return np.sum(y**2) + np.sum(z) + np.sum(q)


@program(X)
def in_a_loop(x):
    s = 0.0
    for k in range(3):
        c = x > k - 1
        s = s + np.sum(np.where(c, np.log(x - k + 1), x) ** 2)
    return s


@program(X)
def condition_bound_again(x):
    c = x > 0
    y = np.where(c, np.log(x), 0.0)
    c = x < 1
    return np.sum(y * np.where(c, np.sqrt(1.0 - x), 1.0))


@program(X)
def condition_written_into(x):
    c = x > 0
    t = np.log(x)
    y = np.where(c, t, 0.0)
    c[2] = False
    return np.sum(y * np.where(c, t, 2.0))


@program(X)
def select(x):
    y = np.select([x > 1, x > 0, x < 0], [np.log(x), np.sqrt(x), 1 / x], default=x)
    return np.sum(y * y)


@program(X)
def select_with_named_lists(x):
    tests = [x > 1, x > 0]
    values = [np.log(x), np.sqrt(x)]
    return np.sum(np.select(tests, values, -1.0))


@program(-2.0)
def number_that_is_not_chosen(x):
    return np.where(x > 0, np.log(x), x * x) * 2.0


@program(2.0)
def number_that_is_chosen(x):
    return np.where(x > 0, np.log(x), x * x) * 2.0


@program(X)
def written_into(x):
    y = np.zeros(4)
    y[:] = np.where(x > 0, np.log(x), 0.0)
    y[0] = x[1]
    return y * x


def safe_log(x):
    t = np.log(x)
    return t * np.sqrt(x)


def entropy(p):
    if np.ndim(p) == 2:
        return np.sum(p * np.log(p), axis=1)
    return p * np.log(p)


@program(X)
def called(x):
    return np.sum(np.where(x > 0, safe_log(x), 0.0) + np.where(x > 1, entropy(x), 1.0))


@program(ROWS)
def called_with_a_reduction(a):
    return np.where(np.all(a > 0, axis=1), entropy(a), 1.0)


@program(0.7)
def called_with_a_number(x):
    return np.where(x > 1, safe_log(x - 1.0), safe_log(x))


@pytest.mark.parametrize(("fn", "args", "wrt"), PROGRAMS)
def test_program(fn, args, wrt):
    with np.errstate(all="ignore"):
        check(fn, *args, wrt=wrt, modes=("vjp",))


BOUNDARY = np.array([-1.0, 0.0, 2.0])


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    ("fn", "args", "expected"),
    [
        (lambda x: np.sum(np.where(x > 0, np.log(x), -1.0)), (BOUNDARY,), [0, 0, 0.5]),
        (lambda x: np.sum(np.where(x > 0, 1.0 / x**2, 0.0)), (BOUNDARY,), [0, 0, -0.25]),
        (lambda x: np.sum(np.where(x > 0, np.sqrt(np.sqrt(x)), x)), (np.zeros(2),), [1, 1]),
        (lambda x: np.sum(np.where(x > 0, x**0.5, 0.0)), (BOUNDARY,), [0, 0, 0.5**1.5]),
        (lambda x: np.sum(np.where(x > 0, safe_log(x), 0.0)), (np.zeros(2),), [0, 0]),
        (lambda x: 1.0 / (1.0 + np.exp(-x)), (-800.0,), 0.0),
        (
            lambda x: np.sum(np.tanh(x)) + np.sum(1.0 / np.cosh(x) ** 2),
            (np.array([-800.0, 0.0, 800.0]),),
            [0, 1, 0],
        ),
    ],
)
def test_exactly_zero(fn, args, expected, typed):
    with np.errstate(all="ignore"):
        got = sg.grad(fn, specialize=typed)(*args)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=0)
    assert np.shape(got) == np.shape(args[0])


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("chosen", [[False, False, False], [False, True, False]])
def test_sum_over_lanes_leaves_out_what_was_not_chosen(chosen, typed):
    def scaled(a, w, c):
        return np.where(c, a * w, 0).sum()

    w, c = np.array([1.0, 0.5, np.nan]), np.array(chosen)
    ga, gw = sg.grad(scaled, wrt=(0, 1), specialize=typed)(1.3, w, c)
    assert ga == (0.5 if c.any() else 0.0)
    np.testing.assert_array_equal(gw, np.where(c, 1.3, 0.0))


def test_second_derivative_where_the_first_is_zero():
    def square(x):
        return 0.5 * np.sum(np.where(x > 0.5, np.log(x), 0.0) ** 2)

    with np.errstate(all="ignore"):
        _, got = sg.vjp(sg.grad(square))(np.ones(3), np.array([1.0, -1.0, 0.0]))
    np.testing.assert_allclose(got, [1.0, 0.0, 0.0])


def test_no_masks_where_nothing_could_go_wrong():
    def relu(x, w):
        return np.sum(np.where(w @ x > 0, w @ x * 2.0, 0.0))

    text = sg.source(relu, X, np.ones((3, 4)))
    reverse = text.partition("reverse sweep")[2].splitlines()
    code = [line for line in reverse if not line.strip().startswith("#")]
    assert "".join(code).count("np.where") == 1  # the cotangent of the arm


def test_unchosen_lanes_do_not_warn_when_the_reverse_sweep_runs():
    def safe(x):
        return np.sum(np.where(x > 0, x, 1.0))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(sg.grad(safe)(X), [0, 0, 1, 1])


def masked_by_more(x, a):
    chosen = np.where(a.T > 0.95, 2.0 + np.log(x[::2]) ** 2 * a[0], 0.5)
    return np.sum(chosen * a)


@pytest.mark.parametrize("typed", [True, False])
def test_a_mask_with_more_dimensions_than_an_arm_of_a_slice(typed):
    x, a = np.arange(4.0) + 0.3, np.array([[0.9, 1.3], [2.0, 0.4]])
    sg.check_grads(masked_by_more, (x, a), wrt=(0, 1))
    got = sg.grad(masked_by_more, wrt=(0, 1), specialize=typed)(x, a)
    for k, (value, part) in enumerate(zip((x, a), got, strict=True)):
        for place in np.ndindex(value.shape):
            step = np.zeros(value.shape)
            step[place] = 1e-6
            plus = [v + step if i == k else v for i, v in enumerate((x, a))]
            minus = [v - step if i == k else v for i, v in enumerate((x, a))]
            slope = (masked_by_more(*plus) - masked_by_more(*minus)) / 2e-6
            assert part[place] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
def test_what_nan_to_num_replaces_has_no_derivative(typed: bool) -> None:
    def f(x):
        return np.sum(np.nan_to_num(np.log(x) * x, neginf=0.0))

    x = np.array([0.0, 1.0, 2.0])
    with np.errstate(all="ignore"):
        slope = sg.grad(f, specialize=typed)(x)
        curvature = sg.hvp(f, specialize=typed)(np.ones(3), x)
        ahead = sg.jvp(f, specialize=typed)(np.ones(3), x)[1]
    np.testing.assert_allclose(slope, [0.0, 1.0, 1.0 + np.log(2.0)], rtol=1e-14)
    np.testing.assert_allclose(curvature, [0.0, 1.0, 0.5], rtol=1e-14)
    assert ahead == pytest.approx(2.0 + np.log(2.0), rel=1e-14)


def left_early(x, n):
    s = x[0] * x[0]
    for _ in range(n):
        if np.sum(x) > 3.0:
            return np.sum(x * x)
    return np.where(x[0] > -0.2, s, x[1])


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("x", [[0.3, 0.4], [-1.0, 0.2], [5.0, 4.0]])
def test_lanes_that_a_return_leaves_out(x: list[float], n: int, typed: bool) -> None:
    at = np.array(x)
    directions = [sg.jvp(left_early, specialize=typed)(d, at, n)[1] for d in np.eye(2)]
    assert sg.grad(left_early, specialize=typed)(at, n) == pytest.approx(np.array(directions))


def distances(x):
    d = x[:, None, :] - x[None, :, :]
    return np.sqrt(np.sum(d * d, axis=-1))


def below_the_diagonal(x):
    return np.sum(np.tril(distances(x), -1) ** 2 * 0.5)


def pairs(x):
    r = distances(x)
    above = np.triu_indices(len(x), 1)
    return np.sum(1.0 / r[above] - np.log(r[above]))


def others(x):
    d = x[:, None, :] - x[None, :, :]
    r = np.sum(d * d, axis=-1) ** 0.5
    return np.sum(np.exp(-r[~np.eye(len(x), dtype=bool)]))


def of_squares(x):
    r = np.sqrt((x[:, :1] - x[:, 0]) ** 2)
    return np.sum(r[np.triu_indices(len(x), 1)]) + np.sum(x)


def listed(x):
    r = np.sqrt(x[:, 0] - x[0, 0])
    return np.sum(r[[1, 2]]) * r[[2]][0]


def taken_twice(x):
    r = np.sqrt(x[:, 0] - x[0, 0])
    s = 2.0 * r
    return np.sum(s[np.array([1, 2, 1])]) + np.sum(np.log(r)[r > 0.1])


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("f", [below_the_diagonal, pairs, others, of_squares, listed, taken_twice])
def test_elements_that_are_not_taken_have_no_part_in_it(f, typed):
    """Their partials are infinite, and zero times infinity is nan."""
    x = np.array([[0.1, 0.5], [0.4, 1.1], [1.3, 0.2]])
    with np.errstate(all="ignore"):
        found = sg.grad(f, specialize=typed)(x)
        directions = np.eye(6).reshape(6, 3, 2)
        tangents = [sg.jvp(f, specialize=typed)(d, x)[1] for d in directions]
    assert np.all(np.isfinite(found))
    assert found.ravel() == pytest.approx(np.array(tangents))
    h = 1e-6
    moved = [i for i in range(6) if f not in (listed, taken_twice) or i > 1]
    for i in moved:
        step = h * directions[i]
        with np.errstate(all="ignore"):
            wanted = (f(x + step) - f(x - step)) / (2 * h)
        assert found.ravel()[i] == pytest.approx(wanted, rel=1e-6, abs=1e-8)
