"""Small functions that compiled code calls: their statements stand where they are called."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

numba = pytest.importorskip("numba")


@numba.njit
def square(x):
    return x * x


@numba.njit
def bell(a, b=0.5):
    e = math.exp(-square(a) * b)
    a = e * b
    return a + e


@numba.njit
def bent(x):
    if x > 0.5:
        y = x * x
    else:
        y = math.sin(x)
    return y


@numba.njit
def at(v, k):
    return v[k] * v[k - 1]


@numba.njit
def early(x):
    if x > 0.5:
        return x
    return x * x


@numba.njit
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@numba.njit
def loop(x):
    s = 0.0
    for k in range(3):
        s += x * k
    return s


@numba.njit
def twice(v):
    return v * 2.0


def once(x, c):
    s = 0.0
    for i in range(x.shape[0]):
        s += bell(x[i] - c[i])
    return s


def in_line(x, c):
    bell_e = c[0]  # a name that a variable of the function would have
    s = bell(x[0], b=bell_e) + bell(x[1]) * bell_e
    for i in range(1, x.shape[0]):
        s = bell(s, x[i]) + bent(c[i]) * at(x, i)
    return s


def many(x, c):
    s = 0.0
    for i in range(x.shape[0]):
        t = x[i]
        t = square(t)
        t = square(t) + square(square(c[i]))
        s += bent(t) * bent(x[i])
    return s


def others(x, c):
    s = 0.0
    for i in range(x.shape[0]):
        s += early(x[i]) + loop(c[i])
    return s + twice(x).sum()


def arguments():
    rng = np.random.default_rng(2)
    return rng.random(5), rng.random(5)


@pytest.mark.parametrize("program", [once, in_line, many, others])
def test_the_gradient_is_the_same(program, monkeypatch):
    expected = sg.grad(program, wrt=(0, 1))(*arguments())
    texts = []
    for off in (set(), {"inline"}):
        monkeypatch.setattr(loops, "skipped", off)
        df = sg.grad(numba.njit(program), wrt=(0, 1))
        for a, b in zip(df(*arguments()), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        texts.append(df.source)
        assert ("_reverse" in df.source) == (program is others or bool(off))
    assert texts[0] != texts[1] or program is others


def test_forward_mode_and_second_order():
    x, c = arguments()
    compiled, plain = sg.jvp(numba.njit(many)), sg.jvp(many)
    np.testing.assert_allclose(compiled(c, x, c), plain(c, x, c), rtol=1e-12)
    second = sg.hvp(numba.njit(once))
    np.testing.assert_allclose(second(c, x, c), sg.hvp(once)(c, x, c), rtol=1e-12)


def test_numpy_text_calls_the_function():
    df = sg.grad(once)
    df(*arguments())
    assert "bell_forward(" in df.source


def test_rules_for_the_function_come_first():
    def ruled(x, c):
        return square(x[0]) + bell(c[1])

    x, c = arguments()
    plain = sg.grad(numba.njit(ruled))
    assert plain(x, c)[0] == 2.0 * x[0]
    df = sg.grad(numba.njit(ruled), rules={square: lambda g, out, x: 7.0 * g})
    try:
        got = df(x, c)
    except sg.SrcgradError:  # Numba does not compile the lambda
        return
    assert got[0] == 7.0


def test_recursion_ends():
    def recursive(x, c):
        return power(x[0], 3) + c[0]

    x, c = arguments()
    try:
        got = sg.grad(numba.njit(recursive))(x, c)
    except sg.SrcgradError:  # Numba finds no type for the tuples that it keeps
        return
    assert got[0] == pytest.approx(3.0 * x[0] ** 2)


def test_a_block_with_rules_is_for_the_calls_in_it():
    def tripled(g, out, x):
        return 3.0 * g

    def overridden(x, c):
        with sg.override({np.sin: tripled}):
            y = wave(x[0])
        return y

    x, c = arguments()
    expected = sg.grad(overridden)(x, c)
    try:
        got = sg.grad(overridden, backend="numba")(x, c)
    except sg.SrcgradError:
        return
    np.testing.assert_allclose(got, expected)


def wave(x):
    return np.sin(x) * x


def test_a_change_of_the_function_is_seen(monkeypatch):
    def cube(x):
        return x * x * x

    def outer(x, c):
        return helper(x[0]) + c[0]

    def helper(x):
        return x * x

    x, c = arguments()
    df = sg.grad(outer, backend="numba")
    assert df(x, c)[0] == pytest.approx(2.0 * x[0])
    monkeypatch.setattr(helper, "__code__", cube.__code__)
    assert df(x, c)[0] == pytest.approx(3.0 * x[0] ** 2)
