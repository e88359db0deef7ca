"""Small functions with loops, stores and array results stand where compiled code calls them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops
from tests.programs import loaded

numba = pytest.importorskip("numba")


@numba.njit
def slope(y, k, out):
    n = y.shape[0]
    for i in range(n):
        left = y[i - 1] if i > 0 else y[n - 1]
        out[i] = k * (left - y[i]) + math.sin(y[i])


@numba.njit
def step(y, k, out, h=0.1):
    slope(y, k, out)
    for i in range(y.shape[0]):
        y[i] += h * out[i]


@numba.njit
def mixed(a, b, out):
    out[0] = a[0] * b[1]
    out[1] = out[0] * a[1] + b[0]
    a[0] *= b[0]


@numba.njit
def until(y, limit, out):
    for i in range(y.shape[0]):
        if y[i] > limit:
            continue
        if i == 4:
            break
        out[i] += y[i] * y[i]
    total = 0.0
    while total < 1.5:
        total += y[0]
    out[0] += total


@numba.njit
def early(y, flag, out):
    if flag > 0:
        return
    out[0] = y[0] * y[0]


@numba.njit
def sometimes(y, flag, out):
    if flag > 0:
        t = y[0] * 2.0
    if flag >= 0:
        out[0] += t * y[1]


@numba.njit
def pick(a, b):
    return a


@numba.njit
def cross(a, b):
    c = np.empty(3)
    for i in range(3):
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]
    return c


@numba.njit
def spread(a, u):
    for k in range(3):
        u[0] += a
        u[k] = u[k] * a


@numba.njit
def weigh(a, u):
    a = a * 2.0
    u[1] = 0.0
    u[2] = a
    return a * u[0]


@numba.njit
def norm(v):
    s = 0.0
    for k in range(v.shape[0]):
        s += v[k] * v[k]
    return math.sqrt(s)


def in_time(x, c):
    y, k1, k2 = x.copy(), np.empty(x.shape[0]), np.zeros(x.shape[0])
    for _ in range(3):
        slope(y, c[0], k1)
        for i in range(y.shape[0]):
            k2[i] = y[i] + 0.05 * k1[i]
        slope(k2, c[1], k1)
        for i in range(y.shape[0]):
            y[i] += 0.1 * k1[i]
    return np.sum(y * y)


def nested(x, c):
    y, k = x.copy(), np.zeros(x.shape[0])
    for t in range(2):
        step(y, c[t], k)
        step(y, 0.5, k, h=c[2])
    return y[0] * y[1] + y[2]


def itself(x, c):
    y = x.copy()
    for t in range(2):
        slope(y, c[t], y)
        mixed(y, y, y)
        mixed(y, c, y)
    return np.sum(y * y)


def overlapping(x, c):
    y = x.copy()
    for t in range(2):
        slope(y[1:], c[t], y[:-1])
        slope(y[:-1], c[t], y[1:])
        mixed(y[1:], y[2:], y)
    return np.sum(y * y)


def leaving(x, c):
    y, out = x.copy(), np.ones(x.shape[0])
    for t in range(3):
        until(y, 0.9, out)
        y[1] = out[0] * c[t] * 0.1
    return np.sum(out * y)


def returning(x, c):
    out = np.zeros(3)
    for t in range(-1, 2):
        early(x[t + 1 :], t, out)
        out[1] += out[0] * c[0]
    return np.sum(out)


def left_unbound(x, c):
    out = np.zeros(3)
    for t in range(2, -1, -1):
        sometimes(x[t:], 1 + t, out)
    return np.sum(out * c[:3])


def another_name(x, c):
    y, z = x.copy(), c.copy()
    for t in range(3):
        w = pick(y, z)
        w[t] *= z[t]
        z[t] += w[t] * y[0]
    return np.sum(y * z)


def arrays(x, c):
    w = x[:3].copy()
    total = 0.0
    for t in range(3):
        w = cross(w, c[t : t + 3])
        total += w[0] * w[1] + norm(w + c[:3])
    return total + np.sum(w)


def read_only(x, c):
    total = 0.0
    for t in range(2):
        w = cross(x[t : t + 3], c[:3])
        total += norm(w + c[2:]) * x[t] + w[0] * w[1]
    return total


def stored_meanwhile(x, c):
    u = x.copy()
    for t in range(2):
        spread(u[0], u)
        u[3] = weigh(u[1] * c[t], u) + u[2]
    return np.sum(u * c)


def of_items(x, c):
    u = x.copy()
    for i in range(2):
        slope(u, u[i], u)
        spread(u[i + 1] * c[i], u)
    return np.sum(u)


PROGRAMS = [
    in_time, nested, itself, overlapping, leaving, returning, left_unbound, another_name, arrays,
    read_only, stored_meanwhile, of_items,
]  # fmt: skip
CALLED = {returning: "early_forward(", left_unbound: "sometimes_forward("}


def arguments(dtype=np.float64):
    rng = np.random.default_rng(4)
    return (0.5 + 0.5 * rng.random(5)).astype(dtype), rng.random(5).astype(dtype)


def slopes(program, args):
    """The gradients by central differences of two steps."""
    out = []
    for k, a in enumerate(args):
        g = np.zeros(a.shape)
        for i in range(a.size):
            found = []
            for h in (1e-4, 2e-4):
                e = np.zeros(a.shape)
                e[i] = h
                up, down = ([*args[:k], a + s * e, *args[k + 1 :]] for s in (1, -1))
                found.append((program(*up) - program(*down)) / (2 * h))
            g[i] = (4 * found[0] - found[1]) / 3
        out.append(g)
    return out


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_gradient_is_the_same(program, monkeypatch):
    args = arguments()
    expected = slopes(program, args)
    for off in (set(), {"inline"}):
        monkeypatch.setattr(loops, "skipped", off)
        df = sg.grad(numba.njit(program), wrt=(0, 1))
        for found, g in zip(df(*args), expected, strict=True):
            np.testing.assert_allclose(found, g, rtol=1e-8, atol=1e-9)
        called = CALLED.get(program)
        assert ("_reverse(" in df.source) == bool(off or called)
        assert called is None or called in df.source


def test_no_arrays_go_on_tapes_for_each_call():
    df = sg.grad(numba.njit(in_time), wrt=(0, 1))
    df(*arguments())
    assert ".append(" not in df.source
    assert "saved" not in df.source


@pytest.mark.parametrize("program", [in_time, nested, stored_meanwhile])
def test_single_precision_stays(program):
    args = arguments(np.float32)
    found = sg.grad(numba.njit(program), wrt=(0, 1))(*args)
    expected = slopes(program, arguments())
    for g, e in zip(found, expected, strict=True):
        assert g.dtype == np.float32
        np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-5)


def test_arrays_of_no_elements():
    def none(x, c):
        y = x.copy()
        for _ in range(2):
            slope(y, c[0], y)
        return np.sum(y) * c[1] + c[0]

    _, c = arguments()
    found = sg.grad(numba.njit(none), wrt=(0, 1))(np.zeros(0), c)
    assert found[0].shape == (0,)
    np.testing.assert_array_equal(found[1], [1.0, 0.0, 0.0, 0.0, 0.0])


def test_forward_mode():
    args = arguments()
    direction = np.cos(np.arange(5.0))
    _, dot = sg.jvp(numba.njit(read_only))(direction, *args)
    np.testing.assert_allclose(dot, slopes(read_only, args)[0] @ direction, rtol=1e-8)


def test_many_calls_do_not_grow_without_end(tmp_path):
    lines = ["from tests.test_inline_procedures import slope", "", "", "def long(x, c):"]
    lines += ["    y = x.copy()", *["    slope(y, c[0], y)"] * 60, "    return y[0]", ""]
    df = sg.grad(loaded(tmp_path, "\n".join(lines)).long, backend="numba")
    df.specialize(*arguments())
    assert "slope_reverse(" in df.source
    assert df.source.count("\n") < 1500
