"""Derivatives of derivatives, to the sixth order and in any mix of modes; and small programs that
other tools were once wrong about, written anew."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numeric import check

import srcgrad as sg

V = np.array([0.6, -0.3, 0.8])


def looped(x):
    s = 1.0
    for k in range(1, 4):
        s = s * x + k * x
    return s


def branched(x):
    y = x * x
    if y > 0.2:
        y = y * x
    return y * y


def counted(x):
    s, k = x, 0
    while k < 3:
        s = s * x
        k += 1
    return s * x


def stored(x):
    u = np.zeros(2)
    u[0] = x * x
    u[1] = u[0] * x
    u[0] *= u[1]
    return u[0] + u[1]


def cube(x):
    return x * x * x


def called(x):
    return cube(x) * cube(x * 0.5)


def held(x):
    parts = [x * x, x]
    pair = {"a": parts[0] * x}
    return pair["a"] * parts[1] * x


def power(k):
    """x**k, and its derivatives."""
    return lambda x, n: math.perm(k, n) * x ** max(k - n, 0) if n <= k else 0.0


# Each program as the polynomial that it computes.
POLYNOMIALS = {
    looped: {3: 1.0 + 1.0, 2: 2.0, 1: 3.0},
    branched: {6: 1.0},
    counted: {5: 1.0},
    stored: {5: 1.0, 3: 1.0},
    called: {6: 0.125},
    held: {5: 1.0},
}


def expected(f, x, n):
    return sum(c * power(k)(x, n) for k, c in POLYNOMIALS[f].items())


@pytest.mark.parametrize("f", POLYNOMIALS, ids=lambda f: f.__name__)
def test_polynomials(f):
    assert f(0.9) == pytest.approx(expected(f, 0.9, 0), rel=1e-12)


@pytest.mark.parametrize("f", POLYNOMIALS, ids=lambda f: f.__name__)
def test_forward_to_the_sixth_order(f):
    derivative = f
    for order in range(1, 7):
        derivative = tangent_of(derivative)
        assert derivative(0.9) == pytest.approx(expected(f, 0.9, order), rel=1e-9, abs=1e-9)


def tangent_of(f):
    slope = sg.jvp(f)

    def along(x):
        return slope(1.0, x)[1]

    return along


@pytest.mark.parametrize("f", POLYNOMIALS, ids=lambda f: f.__name__)
def test_reverse_to_the_third_order(f):
    derivative = f
    for order in range(1, 4):
        derivative = sg.grad(derivative)
        assert derivative(0.9) == pytest.approx(expected(f, 0.9, order), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("f", [stored, branched, called], ids=lambda f: f.__name__)
def test_reverse_to_the_third_order_without_types(f):
    derivative = f
    for order in range(1, 4):
        derivative = sg.grad(derivative, specialize=False)
        assert derivative(0.9) == pytest.approx(expected(f, 0.9, order), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("f", [f for f in POLYNOMIALS if f is not held], ids=lambda f: f.__name__)
def test_reverse_to_the_sixth_order(f):
    derivative = f
    for order in range(1, 7):
        derivative = sg.grad(derivative)
        assert derivative(0.9) == pytest.approx(expected(f, 0.9, order), rel=1e-8, abs=1e-8)


MIXES = list(itertools.product("fr", repeat=3))
OFTEN = [("f", "r", "f"), ("r", "f", "f"), ("r", "r", "f")]


@pytest.mark.parametrize(
    "modes",
    [m if m in OFTEN else pytest.param(m, marks=pytest.mark.slow) for m in MIXES],
    ids="".join,
)
def test_any_mix_of_modes(modes):
    for f in (stored, looped):
        derivative = f
        for mode in modes:
            derivative = tangent_of(derivative) if mode == "f" else sg.grad(derivative)
        assert derivative(0.9) == pytest.approx(expected(f, 0.9, 3), rel=1e-9)


def in_place(u):
    u = u * 1.0
    for k in range(2):
        u[1:] += u[:-1] * u[1:]
        u[0] = u[k] * u[2]
    return np.sum(u * u)


def test_hessians_of_programs_that_write_in_place():
    want = sg.hessian(in_place)(V)
    rows = [sg.vjp(sg.grad(in_place))(e, V)[1] for e in np.eye(3)]
    columns = [sg.jvp(sg.grad(in_place))(e, V)[1] for e in np.eye(3)]
    products = [sg.hvp(in_place)(e, V) for e in np.eye(3)]
    for other in (rows, columns, products, want.T):
        np.testing.assert_allclose(other, want, rtol=1e-10, atol=1e-12)
    sg.check_grads(in_place, (V,), order=2)


def raveled(x):
    u = np.ravel(x)
    for i in range(2):
        u[i] = u[i + 1] * u[i]
        v = u[::-1]
        v[0] += np.sin(u[1])
    return np.sum(u * x * x)


def in_a_list(x):
    parts = [x, x * 2.0]
    parts[0][1:] *= parts[1][:-1]
    return np.sum(parts[0] * parts[1] * x)


def in_a_dict(x):
    parts = {"a": x, "b": x[1:]}
    parts["b"] *= 2.0
    parts["a"] *= x[0]
    return np.sum(parts["a"] ** 3)


def appended(x):
    parts = []
    for i in range(3):
        parts.append(x[i] * x[0])
    return parts[0] * parts[1] * parts[2]


def overwritten(x):
    x[0] *= x[1]
    x *= x
    return np.sum(x * x)


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    "f", [in_place, raveled, in_a_list, in_a_dict, appended, overwritten], ids=lambda f: f.__name__
)
def test_reverse_over_reverse_through_memory(f, typed):
    want = sg.hessian(f)(V)
    gradient = sg.grad(f, specialize=typed)
    rows = [sg.vjp(gradient, specialize=typed)(e, V)[1] for e in np.eye(3)]
    np.testing.assert_allclose(rows, want, rtol=1e-10, atol=1e-12)


class Pair:
    def __init__(self, u, v):
        self.u, self.v = u, v


def in_an_object(x):
    pair = Pair(x * 1.0, x)
    pair.u *= pair.v
    pair.v = pair.u * 2.0
    return np.sum(pair.u * pair.v)


@pytest.mark.parametrize("typed", [True, False])
def test_second_order_through_objects(typed):
    want = np.diag(24.0 * V**2)
    gradient = sg.grad(in_an_object, specialize=typed)
    rows = [sg.vjp(gradient, specialize=typed)(e, V)[1] for e in np.eye(3)]
    np.testing.assert_allclose(rows, want, rtol=1e-10, atol=1e-12)
    curvature = sg.hessian(in_an_object, specialize=typed)(V)  # forward over reverse
    np.testing.assert_allclose(curvature, want, rtol=1e-10, atol=1e-12)


# ---- published failures, written anew ---------------------------------------------------------


def value_before_the_loop(x):
    """A variable set before a loop and changed in it counts with both values."""
    s = x[0] * 2.0
    t = s
    for k in range(3):
        s = s * x[k] + t
    return s * t


def nested_accumulation(x):
    total = 0.0
    for i in range(3):
        inner = x[i]
        for j in range(2):
            inner = inner * x[j] + total
        total = total + inner * inner
    return total


def nonlinear_accumulator(x):
    s = 1.0
    for k in range(3):
        s = s + s * x[k] * s
    return s


def skipping(x):
    s = x[0]
    for k in range(3):
        if x[k] < 0.0:
            continue
        s = s * x[k]
        if s > 10.0:
            continue
        s = s + x[k]
    return s


def element_read_and_written(x):
    v = x * 1.0
    for i in range(3):
        v[i] = v[i] + x[i] * v[(i + 1) % 3]
        v[i] = v[i] * v[i]
    return np.sum(v)


def dynamic_bounds(x, n):
    s = 0.0
    for i in range(n):
        n = n - 1
        for j in range(i + 1):
            s = s + x[j % 3] * s + x[i % 3]
    return s * n


def left_early(x):
    s = 1.0
    for k in range(3):
        s = s * x[k]
        if s < 0.0:
            break
        s = s + x[0]
    else:
        s = s * 2.0
    return s * x[2]


def early_returns(x):
    s = 0.0
    for k in range(3):
        s = s + x[k] ** 2
        if s > 0.4:
            return s * x[k]
    return s


def reused_name(x):
    y = x * x
    y = np.sum(y)
    y = y * x
    return np.sum(y * y)


def aliased_rows(x):
    a = np.outer(x, x)
    for row in a:
        row *= row[0]
    b = a.T
    b[0] = b[1] * 2.0
    return np.sum(a * a)


def overlapping(x):
    u = x * 1.0
    u[1:] += u[:-1]
    u[:-1] *= u[1:]
    return np.sum(u * u)


def swapped_buffers(x):
    u, v = x * 1.0, x * 2.0
    for _ in range(3):
        v[:] = u * v
        u, v = v, u
    return np.sum(u * v)


def atomic_add(x):
    out = np.zeros(2)
    for i in range(3):
        out[i % 2] += x[i] * out[(i + 1) % 2] + x[i]
    return out[0] * out[1]


def overwritten_argument(x):
    x *= x
    x[0] = x[1] * 3.0
    return np.sum(x * x)


def while_on_values(x):
    r, k = x[0] * 4.0, 0
    while r > 0.5:
        r = r * 0.5 + x[1] * 0.1
        k += 1
    return r * k


def conditional_in_a_dynamic_loop(x):
    m = x[0]
    for v in x:
        if v > m:
            m = v * v
    return m * x[1]


PUBLISHED = [
    value_before_the_loop, nested_accumulation, nonlinear_accumulator, skipping,
    element_read_and_written, left_early, early_returns, reused_name, aliased_rows, overlapping,
    swapped_buffers, atomic_add, overwritten_argument, while_on_values,
    conditional_in_a_dynamic_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", PUBLISHED, ids=lambda f: f.__name__)
def test_published_failures(f):
    check(f, V)
    if f is not aliased_rows:
        sg.check_grads(f, (V,), order=2)


def test_bounds_that_change():
    check(dynamic_bounds, V, 5)
