"""Elements beside one another that a loop reads are kept in one copy of their array."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

pytest.importorskip("numba")


def line(x, c):
    u, w = x[0].copy(), x[1].copy()
    m = u.shape[0]
    for t in range(3):
        for i in range(1, m - 1):
            w[i] = u[i] - c[t] * u[i] * (u[i] - u[i - 1]) + 0.5 * u[i + 1]
        for i in range(1, m - 1):
            u[i] = w[i]
    return np.sum(u * u)


def plane(x, c):
    u, w = x.copy(), x.copy()
    for t in range(3):
        for i in range(1, u.shape[0] - 1):
            for j in range(2, u.shape[1]):
                w[i, j] = u[i - 1, j] * u[i + 1, j] - c[t] * np.sin(u[i, j] * u[i, j - 2])
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                u[i, j] = 0.5 * w[i, j]
    return np.sum(u * c[0])


def swapped(x, c):
    u, w = x[0].copy(), x[1].copy()
    for t in range(4):
        for i in range(u.shape[0] - 2):
            w[i] = np.sin(u[i]) * u[i + 2] * c[t] + w[i]
        u, w = w, u
    return np.sum(u * w)


def product(x, c):
    h, z = c.copy(), np.zeros(c.shape[0])
    for _ in range(3):
        for i in range(x.shape[0]):
            s = 0.0
            for j in range(x.shape[1]):
                s += x[i, j] * h[j]
            z[i] = np.sin(s)
        for i in range(x.shape[0]):
            h[i] = h[i] * z[i]
    return np.sum(h)


def from_the_end(x, c):
    u, w = x[0].copy(), x[1].copy()
    for t in range(3):
        for i in range(u.shape[0]):
            w[i] = np.sin(u[i]) * u[i - 1] * c[t]
        for i in range(u.shape[0]):
            u[i] = w[i]
    return np.sum(u)


def asked_first(x, c):
    u, w = x[0].copy(), x[1].copy()
    m = u.shape[0]
    for t in range(3):
        for i in range(m):
            if i < m - 1:
                w[i] = np.sin(u[i]) * u[i + 1] * c[t]
        for i in range(m):
            u[i] = w[i]
    return np.sum(u)


def stored_meanwhile(x, c):
    u = x[0].copy()
    for t in range(3):
        for i in range(1, u.shape[0] - 1):
            u[i] = np.sin(u[i - 1]) * u[i + 1] * c[t] + u[i]
    return np.sum(u)


def through_a_view(x, c):
    u = x[0].copy()
    v = u[1:]
    for t in range(3):
        for i in range(1, u.shape[0] - 2):
            v[i] = np.sin(u[i - 1]) * u[i + 1] * c[t]
    return np.sum(u)


def triangle(x, c):
    u = x[0].copy()
    w = np.zeros(u.shape[0])
    for t in range(3):
        for i in range(1, u.shape[0]):
            w[i] = 0.0
            for j in range(i - 1):
                w[i] += np.sin(u[j]) * u[j + 1] * c[t]
        for i in range(u.shape[0]):
            u[i] += w[i]
    return np.sum(u)


def left(x, c):
    u, w = x[0].copy(), x[1].copy()
    for t in range(3):
        for i in range(u.shape[0] - 1):
            if i == 2:
                break
            w[i] = np.sin(u[i]) * u[i + 1] * c[t]
        for i in range(u.shape[0]):
            u[i] = w[i]
    return np.sum(u)


def no_rounds(x, c):
    u, w = x[0].copy(), x[1].copy()
    k = 0
    for t in range(3):
        for i in range(k):
            for j in range(u.shape[0]):
                w[j] = np.sin(u[j + 7]) * u[j + 8] * c[i]
        for i in range(u.shape[0]):
            u[i] += w[i] * c[t]
    return np.sum(u)


def taking_turns(x, c):
    u, w = x[0].copy(), x[1].copy()
    n = x.shape[1]
    for t in range(4):
        for i in range(1, n - 1):
            w[i] = u[i] * u[i + 1] * c[t] + u[i - 1] * u[i]
        u, w = w, u
    return np.sum(u * w)


def three_in_turn(x, c):
    u, v, w = x[0].copy(), x[1].copy(), np.zeros(x.shape[1])
    n = x.shape[1]
    for t in range(4):
        for i in range(1, n - 1):
            w[i] = u[i] * u[i + 1] * c[t] + v[i - 1] * v[i]
        if c[t] > 0.3:
            u, v, w = v, w, u
        else:
            v, w = w, v
    return np.sum(u * v * w)


def one_memory(x, c):
    u, w = x[0].copy(), x[1].copy()
    n = x.shape[1]
    for t in range(4):
        for i in range(1, n - 1):
            w[i] = u[i] * u[i + 1] * c[t] + u[i - 1] * u[i]
        w = u  # from now on they are one
    return np.sum(u * w)


def at_times_one_memory(x, c):
    u, v, w = x[0].copy(), x[1].copy(), x[2].copy()
    n = x.shape[1]
    for t in range(4):
        for i in range(1, n - 1):
            w[i] = u[i] * u[i + 1] * c[t] + u[i - 1] * u[i]
        if c[t] > 0.3:
            u, v, w = v, w, v
        else:
            u, w = w, u
    return np.sum(u * v * w)


COPIED = [line, plane, product, taking_turns, three_in_turn]
OTHERS = [
    swapped, one_memory, at_times_one_memory, from_the_end, asked_first, stored_meanwhile,
    through_a_view, triangle, left, no_rounds,
]  # fmt: skip


def arguments(shape=(5, 5), dtype=np.float64):
    rng = np.random.default_rng(9)
    return rng.random(shape).astype(dtype), rng.random(5).astype(dtype)


def slopes(program, args):
    """Along one direction for each argument, by central differences of two steps."""
    out = []
    for k, a in enumerate(args):
        found = []
        d = np.cos(np.arange(a.size)).reshape(a.shape)
        for h in (1e-3, 2e-3):
            up, down = ([*args[:k], a + s * h * d, *args[k + 1 :]] for s in (1, -1))
            found.append((program(*up) - program(*down)) / (2 * h))
        out.append((d, (4 * found[0] - found[1]) / 3))
    return out


@pytest.mark.parametrize("program", [*COPIED, *OTHERS])
def test_the_gradient_is_the_same(program, monkeypatch):
    args = arguments()
    grads, texts = [], []
    for off in (set(), {"neighbours"}):
        monkeypatch.setattr(loops, "skipped", off)
        df = sg.grad(program, wrt=(0, 1), backend="numba")
        grads.append(df(*args))
        texts.append(df.source)
    for one, other in zip(*grads, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    for g, (d, slope) in zip(grads[0], slopes(program, args), strict=True):
        np.testing.assert_allclose(np.sum(g * d), slope, rtol=1e-8, atol=1e-9)
    if program in COPIED:
        kept = [text.count("_tape = np.empty") for text in texts]
        assert kept[0] < kept[1] or texts[0].count("range(") > texts[1].count("range(")
        assert texts[0] != texts[1]
    elif program is not no_rounds:
        assert texts[0] == texts[1]


def test_a_stencil_keeps_one_row_for_each_step():
    df = sg.grad(line, wrt=(0, 1), backend="numba")
    df(*arguments())
    kept = [s for s in df.source.splitlines() if "_tape = np.empty" in s]
    assert sum("u_tape" in s for s in kept) == 1
    assert "u_tape[t, i - 1]" in df.source


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_small_arrays(size):
    for program in (line, swapped):
        x = arguments()[0][:, :size].copy()
        args = x, arguments()[1]
        found = sg.grad(program, wrt=(0, 1), backend="numba")(*args)
        for g, (d, slope) in zip(found, slopes(program, args), strict=True):
            np.testing.assert_allclose(np.sum(g * d), slope, rtol=1e-8, atol=1e-9)


def test_single_precision_stays():
    x, c = arguments(dtype=np.float32)
    df = sg.grad(line, wrt=(0, 1), backend="numba")
    found = df(x, c)
    assert found[0].dtype == np.float32
    assert "u_tape" in df.source
    for g, (d, slope) in zip(found, slopes(line, arguments()), strict=True):
        np.testing.assert_allclose(np.sum(g * d), slope, rtol=1e-3, atol=1e-3)
