"""What is kept: peaks of linear time loops; what moves, shapes and callees leave behind."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numeric import check

import srcgrad as sg

V = np.array([0.4, -0.7, 1.1, 0.3, -0.2, 0.8])


def in_place(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def stored(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def exchanged(u, n):
    u, v = u.copy(), np.zeros_like(u)
    for _ in range(n):
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u**2)


def laplacian(u):
    out = np.zeros_like(u)
    out[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
    return out


def bound_again(u, n):
    for _ in range(n):
        u = u + 0.1 * laplacian(u)
    return np.sum(u**2)


def fresh(u, n):
    for _ in range(n):
        w = np.zeros(u.shape)
        w[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = w
    return np.sum(u**2)


def copied(u, n):
    for _ in range(n):
        w = u.copy()
        w[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = w
    return np.sum(u**2)


def rolled(u, n):
    for _ in range(n):
        u = u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
    return np.sum(u**2)


def joined(u, n):
    for _ in range(n):
        inner = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate((u[:1], inner, u[-1:]))
    return np.sum(u**2)


def step(u, v):
    v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])


def by_callee(u, n):
    u, v = u.copy(), np.zeros_like(u)
    for _ in range(n // 2):
        step(u, v)
        step(v, u)
    return np.sum(u**2)


def update(u, k):
    u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])


def by_callee_in_place(u, n):
    u = u.copy()
    for _ in range(n):
        update(u, 0.1)
    return np.sum(u**2)


LOOPS = [
    in_place, stored, exchanged, bound_again, fresh, copied, rolled, joined, by_callee,
    by_callee_in_place,
]  # fmt: skip


def arrays_at_peak(f, size, n, **options):
    """Peak memory of a gradient in arrays of the argument's size, after a first call."""
    gradient, u = sg.grad(f, **options), np.linspace(0.0, 1.0, size)
    gradient(u[:20], 3)
    tracemalloc.start()
    gradient(u, n)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / u.nbytes


@pytest.mark.parametrize("f", LOOPS)
def test_linear_time_loops_keep_nothing(f):
    """A list of ten thousand references is what may remain: some ten arrays of 1e5 doubles."""
    assert arrays_at_peak(f, 50_000, 300) < 9.5
    check(f, V, 3)


@pytest.mark.slow
@pytest.mark.parametrize("f", LOOPS)
def test_ten_thousand_steps(f):
    assert arrays_at_peak(f, 100_000, 10_000) < 10.0


@pytest.mark.parametrize("f", [in_place, stored])
def test_linear_time_loops_keep_nothing_when_compiled(f):
    pytest.importorskip("numba")
    gradient = sg.grad(f, backend="numba")
    gradient(V, 3)
    assert "tape" not in gradient.source
    np.testing.assert_allclose(gradient(V, 3), sg.grad(f)(V, 3), rtol=1e-12)


# ---- moves: an array under a new name, and nothing written through the old one ----------------


def view_outlives(x):
    w = x * 2.0
    part = w[1:3]
    u = w
    part[0] = x[0] * x[1]
    return np.sum(u * u)


def source_outlives(x):
    w = x * 2.0
    w[0] = x[1]
    u = w
    w[1] = x[2] ** 2
    return np.sum(u * u) + np.sum(w)


def moved_in_loop(x):
    u, total = x, 0.0
    for k in range(3):
        w = u * 1.5
        w[k] = u[k] ** 2
        total = total + np.sum(u * w)
        u = w
    return total + np.sum(u**3)


def moved_and_written(x):
    w = x * 2.0
    w[0] = x[3]
    u = w
    u[1] = u[0] * u[2]
    return np.sum(u * u)


def moved_in_a_branch(x):
    w = x * 2.0
    w[0] = x[1] * x[2]
    if x[0] > 0.0:
        u = w
    else:
        u = x
    return np.sum(u * u * x)


def returned_and_restored(x):
    y = x * x
    s = np.sum(np.sin(y))
    y[1] = 0.0
    z = y
    return z * s


def made(x, k):
    out = x * k
    out[0] = out[1] * x[0]
    return out


def given_back(x, out):
    out[:] = x * 2.0
    return out


def made_by_callees(x):
    a = made(x, 2.0)
    b = made(a, 3.0)
    b[1] = a[0] * b[2]
    c = given_back(a, np.zeros(len(x)))
    c[2] = b[1]
    return np.sum(a * b) + np.sum(c * c)


def kept_in_a_list(x):
    rows = []
    for k in range(3):
        w = x * (k + 1.0)
        w[k] = x[0] * x[1]
        rows.append(w)
        u = w
        x = x + 0.1 * u
    rows[0][1] = x[2]
    return np.sum(rows[0] * rows[1]) + np.sum(rows[2] * x)


def chain_of_names(x):
    a = x * 2.0
    a[0] = x[1] ** 2
    b = a
    c = b
    d = c
    return np.sum(d * d) * d[0]


@pytest.mark.parametrize(
    "f",
    [
        view_outlives, source_outlives, moved_in_loop, moved_and_written, moved_in_a_branch,
        returned_and_restored, made_by_callees, kept_in_a_list, chain_of_names,
    ],
)  # fmt: skip
def test_moves(f):
    check(f, V)
    if f not in (returned_and_restored, kept_in_a_list):
        check(sg.grad(f), V, specialize=(True,), tol=1e-6)


# ---- what callees overwrite ---------------------------------------------------------------------


def fill(w, v, t):
    w[:] = t
    v[0] = w[1]


def filled(x, n):
    w, v, s = np.zeros(len(x)), np.ones(len(x)), 0.0
    for t in range(n):
        fill(w, v, t + 1.0)
        s += np.sum(w * x * x * v)
    fill(v, w, 9.0)
    return s


def nonlinear(u, k):
    u[1:] = u[1:] * u[:-1] * k


def read_by_the_callee_only(x, n):
    u = x * 1.0
    for _ in range(n):
        nonlinear(u, 1.1)
    return np.sum(u)


def read_by_the_caller_too(x, n):
    u, s = x * 1.0, 0.0
    for _ in range(n):
        s = s + np.sum(u**3)
        nonlinear(u, 1.1)
        u *= 0.9
    return s


def overwritten_after(x, n):
    u = x * 1.0
    s = observe(u)
    u[0] = 3.0
    for _ in range(n):
        update(u, 0.1)
        s = s + observe(u)
        u[1] = 0.5
    return s


def observe(u):
    y = u
    return np.sum(y * y * y)


def recursive(u, k):
    u[k] = u[k] * u[k - 1]
    if k > 1:
        recursive(u, k - 1)
        u[k] = u[k] + u[0] ** 2


def by_recursion(x, n):
    u = x * 1.0
    s = np.sum(u * u)
    recursive(u, n)
    return s + np.sum(u * u)


@pytest.mark.parametrize(
    "f",
    [
        filled, read_by_the_callee_only, read_by_the_caller_too, overwritten_after, by_recursion,
        by_callee,
    ],
)  # fmt: skip
def test_callees_that_write(f):
    check(f, V, 4)


# ---- shapes without contents --------------------------------------------------------------------


def shapes_change(x):
    s = 0.0
    for k in range(1, 5):
        w = x[:k] * np.ones((3, 1))
        v = np.concatenate((x[k:], x[:1]))
        s = s + np.sum(w) * np.sum(v) + np.mean(np.stack((x, x + k)))
    return s


def broadcast_in_a_loop(x):
    a = np.ones((1, 1))
    for k in range(3):
        a = a * x[:, None] + np.sum(a) * x[k]
    return np.sum(a)


@pytest.mark.parametrize("f", [shapes_change, broadcast_in_a_loop])
def test_shapes(f):
    check(f, V)
