"""Rounds that are computed again in their reverse: where that is done, and that it is right."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

pytest.importorskip("numba")


def chain(x, s):
    n = x.shape[0]
    h = 2.0 / s
    y, k1, k2, t = np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
    for _ in range(s):
        k1[0] = x[0]
        k2[0] = x[0]
        for i in range(1, n):
            k1[i] = x[i] * y[i - 1]
        for i in range(n):
            t[i] = y[i] + 0.5 * h * k1[i]
        for i in range(1, n):
            k2[i] = x[i] * t[i - 1]
        for i in range(n):
            t[i] = y[i] - 0.25 * h * k2[i]
        for i in range(1, n):
            k2[i] += x[i] * t[i - 1]
        for i in range(n):
            y[i] += h * (k1[i] + k2[i])
    return y[n - 1] + y[n // 2]


def ends_at_both_sides(x, s):
    n = x.shape[0]
    y, f, t = x.copy(), np.empty(n), np.empty(n)
    for _ in range(s):
        for i in range(1, n - 1):
            f[i] = y[i + 1] * y[i - 1] - x[i] * y[i]
        f[0] = y[1] * x[0]
        f[n - 1] = y[n - 2] * y[n - 1]
        for i in range(n):
            t[i] = y[i] + 0.1 * f[i]
        for i in range(n):
            y[i] = 0.5 * (y[i] + t[i]) + 0.01 * f[i] * t[i]
    return np.sum(y)


def plane(x, s):
    n, m = x.shape[0], x.shape[0] + 1
    u, v = np.zeros((n, m)), np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            u[i, j] = x[i] * (j + 1)
    for _ in range(s):
        for i in range(n):
            for j in range(m):
                v[i, j] = u[i, j] * u[i, j] * x[i]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] += 0.01 * (v[i - 1, j] * v[i + 1, j] - v[i, j] * v[i, j - 1] * x[j])
    return np.sum(u)


def buffer_is_half_filled(x, s):
    n = x.shape[0]
    y, k, t = x.copy(), np.zeros(n), np.zeros(n)
    for _ in range(s):
        for i in range(2, n):
            k[i] = x[i] * y[i - 1] * y[i - 2]
        for i in range(n):
            t[i] = y[i] + 0.5 * k[i - 1]
        for i in range(1, n):
            k[i] = x[i] * t[i - 1] * t[i]
        for i in range(n):
            y[i] += 0.1 * k[i] * y[i]
    return np.sum(y)


def recurrence(x, s):
    n = x.shape[0]
    y = x.copy()
    for _ in range(s):
        for i in range(1, n):
            y[i] = y[i] * y[i - 1] * x[i] + 0.5
    return np.sum(y)


def clock(x, s):
    n = x.shape[0]
    y, k, t = x.copy(), np.zeros(n), np.zeros(n)
    now = 0.0
    for _ in range(s):
        for i in range(n):
            k[i] = x[i] * y[i] * now
        for i in range(n):
            t[i] = y[i] + 0.5 * k[i]
        for i in range(n):
            y[i] += 0.1 * t[i] * t[i] * k[i] * now
        now += 0.25
    return np.sum(y)


def changed_between(x, s):
    n = x.shape[0]
    z, y, k, t = x.copy(), np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(s):
        for i in range(n):
            k[i] = z[i] * y[i] + z[i]
        for i in range(n):
            t[i] = y[i] + z[i] * k[i]
        for i in range(n):
            y[i] += 0.1 * t[i] * z[i]
    for i in range(n):
        z[i] = y[i] * y[i]
    return np.sum(z)


def two_loops(x, s):
    n = x.shape[0]
    y, k, t = x.copy(), np.zeros(n), np.zeros(n)
    for _ in range(s):
        for i in range(n):
            k[i] = x[i] * y[i] * y[n - 1 - i]
        for i in range(n):
            t[i] = y[i] + 0.5 * k[i] * k[i]
        for i in range(n):
            y[i] = 0.3 * t[i] * t[i]
    total = 0.0
    for i in range(n):
        total += y[i] * y[i]
    for _ in range(s):
        for i in range(n):
            k[i] = x[i] * y[i] * y[i]
        for i in range(n):
            t[i] = y[i] + 0.5 * k[i] * k[i]
        for i in range(n):
            y[i] = 0.3 * t[i] * t[i] * x[i]
    return total + y[0] * y[n - 1]


PROGRAMS = [
    chain, ends_at_both_sides, plane, buffer_is_half_filled, recurrence, clock, changed_between,
    two_loops,
]  # fmt: skip


def gradient(program, x, s):
    df = sg.grad(program, backend="numba")
    return df(x, s), df.source


@pytest.mark.parametrize("s", [1, 4])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_gradient_is_right_and_the_same_without(program, s, monkeypatch):
    x = np.random.default_rng(2).uniform(0.3, 1.1, 7)
    got, text = gradient(program, x, s)
    np.testing.assert_allclose(got, sg.grad(program)(x, s), rtol=1e-10)
    sg.check_grads(program, (x, s), order=1, modes=("reverse",))
    monkeypatch.setattr(loops, "skipped", {"replay"})
    without, other = gradient(program, x, s)
    np.testing.assert_allclose(got, without, rtol=1e-10)
    if program in (chain,):
        assert text != other


def test_only_the_state_is_kept_for_all_rounds():
    _, text = gradient(chain, np.linspace(0.5, 1.0, 7), 3)
    assert text.count("_tape = np.empty((") == 1
    assert "y_tape = np.empty((max(s, 0), y.shape[0]), y.dtype)" in text
    forward, reverse = text.split("# ---- reverse sweep ----")
    assert "y_tape[k, j1] = y[j1]" in forward
    assert "y[j1] = y_tape[k, j1]" in reverse
    again, back = reverse.split("# ---- and back ----")
    assert "k1[i] = x[i] * t1" in again
    assert "t1 = y[i - 1]" in back, "what is at hand still is not kept"


def test_a_buffer_that_a_round_does_not_fill_is_part_of_the_state():
    _, text = gradient(buffer_is_half_filled, np.linspace(0.5, 1.0, 7), 3)
    assert {"y_tape[k_2, j1] = y[j1]", "k_tape[k_2, j1] = k[j1]"} <= {
        s.strip() for s in text.split("\n")
    }


@pytest.mark.parametrize("program", [recurrence, clock])
def test_what_a_round_needs_from_others_is_not_computed_again(program):
    x = np.random.default_rng(2).uniform(0.3, 1.1, 7)
    assert "y[j1] = y_tape" not in gradient(program, x, 3)[1]
