"""Small arrays of which only single elements are used are numbers under Numba."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

numba = pytest.importorskip("numba")

v_0 = 1.5


def displays(x, p):
    s = 0.0
    for i in range(x.shape[0]):
        v = np.array([x[i] * p[0], p[1], 2])
        w = np.array([v[1] - v[-1], v[2] * v[0]])
        s += w[0] * w[1] * math.sin(v[0]) + v_0
    return s


def carried(x, p):
    y = np.array([p[0], p[1]])
    s = 0.0
    for i in range(x.shape[0]):
        y = np.array([y[1] * x[i], y[0] + 0.1 * y[1]])  # both are read before either is written
        s += y[0] * y[0]
    return s + y[1]


def stored(x, p):
    s = 0.0
    for i in range(x.shape[0]):
        w = np.zeros((2, 2))
        w[0, 0] = x[i] * p[0]
        w[1, 0] += math.exp(w[0, 0])
        w[1, 0] *= p[1]
        if x[i] > 0.5:
            w[0, 1] = w[1, 0] / w[0, 0]
        s += w[0, 1] + w[1, 0] * w[1, 1] + w[1, 0]
    return s


def chosen(x, p):
    s = 0.0
    k = 0
    while True:
        if x[k] > 0.5:
            v = np.array([[x[k], p[0]], [1.0, p[1]]])
        else:
            v = np.ones((2, 2))
            v[0, 1] = x[k] * x[k]
        s += v[0, 0] * v[1, 1] - v[0, 1] * v[1, 0]
        k += 1
        if k == x.shape[0]:
            break
    return s


def made_in_callee(x, p):
    s = 0.0
    for i in range(x.shape[0]):
        s += _corner(x[i], p[0]) * p[1]
    return s


@numba.njit
def _corner(a, b):
    m = np.array([a * b, a - b])
    return m[0] * m[1]


def by_loop(x, p):
    w = np.array([p[0], p[1]])
    s = 0.0
    for k in range(2):
        s += w[k] * x[k]
    return s


def given_away(x, p):
    w = np.array([p[0], x[0]])
    v = w
    v[0] = p[1] * p[1]
    return w[0] * w[1] * len(w) + w.sum()


def integers(x, p):
    k = np.array([1, 2])
    k[0] += 2
    return x[k[0]] * p[1] + x[k[1]] * p[0]


NUMBERS = [displays, carried, stored, made_in_callee]
ARRAYS = [by_loop, given_away, integers]


def arguments():
    rng = np.random.default_rng(5)
    return rng.random(7), rng.random(2) + 0.5


@pytest.mark.parametrize("program", NUMBERS + ARRAYS)
def test_the_gradient_is_the_same(program, monkeypatch):
    plain = getattr(program, "py_func", program)
    expected = sg.grad(plain, wrt=(0, 1))(*arguments())
    for off in (set(), {"elements"}):
        monkeypatch.setattr(loops, "skipped", off)
        df = sg.grad(numba.njit(program), wrt=(0, 1))
        for a, b in zip(df(*arguments()), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        code = [t for t in df.source.splitlines() if not t.lstrip().startswith("#")]
        made = any("np.array(" in t or "np.zeros((2, 2))" in t for t in code)
        assert made == (program in ARRAYS or bool(off))


def test_rows_of_rows_in_branches():
    df = sg.grad(numba.njit(chosen), wrt=(0, 1))
    for a, b in zip(df(*arguments()), sg.grad(chosen, wrt=(0, 1))(*arguments()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert "v_0_1" in df.source and "v_bar" not in df.source


@pytest.mark.parametrize("program", [*NUMBERS, chosen])
def test_forward_mode(program):
    x, p = arguments()
    compiled, plain = sg.jvp(numba.njit(program)), sg.jvp(program)
    np.testing.assert_allclose(compiled(0.5 * x, x, p), plain(0.5 * x, x, p), rtol=1e-12)


def test_a_number_is_as_wide_as_its_array():
    """What is stored into an array of floats is a float from then on."""

    def halves(x, n):
        v = np.array([n, 0.5])
        v[1] = n
        return x * (v[0] / v[1]) + v[0] ** -1

    df = sg.grad(numba.njit(halves))
    assert df(2.0, 4) == 1.0
    assert "float(n)" in df.source


def test_numpy_text_keeps_the_array():
    df = sg.grad(displays)
    df(*arguments())
    assert "np.array([x[i] * p[0], p[1], 2])" in df.source
