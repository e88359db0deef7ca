"""`try` in differentiated code: right when nothing is raised, and right or refused when it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

A = np.array([[2.0, 0.3], [0.3, 1.0]])
B = np.array([0.5, 0.7])
TYPED = pytest.mark.parametrize("typed", [True, False])


def log_density(a, b):
    c = b * b
    try:
        lower = np.linalg.cholesky(a + c[0] * np.eye(2))
    except np.linalg.LinAlgError:
        return -1e10
    return np.sum(np.log(np.diag(lower))) + np.sum(c)


@TYPED
def test_a_handler_that_returns_a_constant(typed):
    check(log_density, A, B, wrt=1, modes=("grad", "vjp", "jvp"), specialize=(typed,))
    value, grads = sg.value_and_grad(log_density, wrt=(0, 1), specialize=typed)(-A, B)
    assert value == -1e10
    assert not np.any(np.concatenate([np.ravel(g) for g in grads]))


def jittered(s, a):
    b = a * s
    try:
        lower = np.linalg.cholesky(b)
    except np.linalg.LinAlgError:
        lower = np.linalg.cholesky(b + 5.0 * np.eye(2) * s)
    return np.sum(np.log(np.diag(lower)))


@TYPED
@pytest.mark.parametrize("a", [A, -A])
def test_a_handler_with_a_derivative(a, typed):
    check(jittered, 1.3, a, modes=("grad", "vjp", "jvp"), specialize=(typed,))


def fallback(table, x):
    try:
        v = table["b"]
    except KeyError:
        v = x * 2.0
    else:
        v = v * x
    return v * v * x


@TYPED
@pytest.mark.parametrize("table", [{"a": 1.0}, {"b": 1.5}])
def test_else_and_handler(table, typed):
    check(fallback, table, 2.0, wrt=1, modes=("grad", "jvp"), specialize=(typed,))


def ignored(x):
    y = x
    try:
        y = math.log(x)
    except ValueError:
        pass
    return y * y


@TYPED
@pytest.mark.parametrize("x", [2.0, -2.0])
def test_a_handler_that_does_nothing(x, typed):
    check(ignored, x, modes=("grad", "jvp"), specialize=(typed,))


def raising(x):
    try:
        y = math.sqrt(x)
    except ValueError as error:
        raise RuntimeError("no root") from error
    finally:
        z = 3.0
    return y * z


@TYPED
def test_a_handler_that_raises(typed):
    check(raising, 2.0, modes=("grad",), specialize=(typed,))
    with pytest.raises(RuntimeError, match="no root"):
        sg.grad(raising, specialize=typed)(-2.0)


def half_done(x, k):
    u = np.zeros(3)
    try:
        u[0] = x[0]
        u[1] = x[0] * x[1]
        u[k] = 1.0
    except IndexError:
        return 3.0
    return np.sum(u * u)


def in_a_loop(x, _):
    s = 0.0
    for k in range(3):
        try:
            s = s * x[k] + math.log(x[k])
        except ValueError:
            continue
    return s


@TYPED
@pytest.mark.parametrize(
    ("fn", "good", "bad"),
    [
        (half_done, (np.array([1.5, 2.0]), 2), (np.array([1.5, 2.0]), 5)),
        (in_a_loop, (np.array([1.5, 2.0, 3.0]), 0), (np.array([1.5, -2.0, 3.0]), 0)),
    ],
)
def test_a_handler_whose_way_back_is_not_known_refuses(fn, good, bad, typed):
    df = sg.grad(fn, specialize=typed)
    check(fn, *good, modes=("grad",), specialize=(typed,))
    with pytest.raises(sg.SrcgradError, match=r"test_try.py:\d+: an exception was handled"):
        df(*bad)


def no_derivative_inside(x, text):
    try:
        n = int(text)
    except ValueError:
        n = 2
    return x**n


@TYPED
@pytest.mark.parametrize(("text", "slope"), [("3", 27.0), ("three", 6.0)])
def test_what_carries_no_derivative_may_be_caught(text, slope, typed):
    assert sg.grad(no_derivative_inside, specialize=typed)(3.0, text) == slope
