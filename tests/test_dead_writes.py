"""Writes stay where what they write is read under another name."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg

X = np.array([1.0, 2.0, 3.0])


def renamed(x, s):
    v = x
    v += s
    return x[0] * s


def constants(x, s):
    y = np.ones(3)
    z = y[1:]
    z *= 4.0
    return np.sum(x * y) * s


def by_whole_numbers(x, s):
    y = np.ones(3)
    t = y[1:]
    t += 1
    u = t.T
    u **= 2
    return np.sum(x * y) * s


def by_library(x, s):
    y = np.ones(3)
    z = y
    np.multiply(z, 5.0, out=z)
    return np.sum(x * y) * s


def scaled(a):
    a *= 3
    b = a[1:]
    b -= 1


def by_callee(x, s):
    y = x * 2.0
    scaled(y)
    return y[0] * y[1] * s


def nested(x, s):
    y = np.ones(3)

    def write():
        z = y
        z *= 4.0

    write()
    return np.sum(x * y) * s


def in_a_list(x, s):
    y = x * 2.0
    rows = [y, y]
    z = rows[1]
    z += s
    return rows[0][1] * s


def in_a_loop(x, s):
    y = np.zeros((3, 3))
    for i in range(3):
        row = y[i]
        row += i
        row *= 2
    return np.sum(y @ x) * s


PROGRAMS = [
    renamed, constants, by_whole_numbers, by_library, by_callee, nested, in_a_list, in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("f", PROGRAMS)
def test_writes_that_are_read_elsewhere(f, typed):
    step, tangents = 1e-6, (np.array([0.3, -1.0, 0.8]), 0.7)
    plus, minus = (f(X + h * tangents[0], 2.0 + h * tangents[1]) for h in (step, -step))
    slope = (plus - minus) / (2 * step)
    value, (x_bar, s_bar) = sg.value_and_grad(f, wrt=(0, 1), specialize=typed)(X, 2.0)
    assert value == f(X.copy(), 2.0)
    assert x_bar @ tangents[0] + s_bar * tangents[1] == pytest.approx(slope, rel=1e-7)
    value, tangent = sg.jvp(f, wrt=(0, 1), specialize=typed)(tangents, X, 2.0)
    assert value == f(X.copy(), 2.0)
    assert tangent == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("f", [renamed, constants, by_whole_numbers, by_callee, in_a_loop])
def test_compiled(f):
    numba = pytest.importorskip("numba")
    del numba
    expected = sg.grad(f, wrt=(0, 1))(X, 2.0)
    got = sg.grad(f, wrt=(0, 1), backend="numba")(X, 2.0)
    assert np.allclose(got[0], expected[0])
    assert got[1] == pytest.approx(expected[1])


def unpacked_before_a_write(x, s):
    def write(z):
        x[1] += 0.5
        return z

    items = [*x, write(s)]
    return sum(items) * s


@pytest.mark.parametrize("typed", [True, False])
def test_items_are_taken_before_what_comes_later_writes(typed):
    value, (x_bar, s_bar) = sg.value_and_grad(
        unpacked_before_a_write, wrt=(0, 1), specialize=typed
    )(X, 2.0)
    assert value == unpacked_before_a_write(X.copy(), 2.0)
    assert list(x_bar) == [2.0, 2.0, 2.0]
    assert s_bar == pytest.approx(10.0)
