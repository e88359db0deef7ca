"""Numerical programs, changed at random until their derivatives failed, and made small again."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.3, -0.5, 0.7, 1.1])
A = np.array([[0.4, -0.2, 1.7], [0.7, -1.6, 0.3], [-0.6, 0.8, -1.2], [0.2, 0.5, 0.9]])


# ---- a variable that checkpointed loops bind again without reading it ---------------------------


def bound_in_checkpoints(A):
    m, n = A.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            for _ in sg.checkpointed(range(2), snapshots=2):
                b = A[i, j]
            A[i - 1] = b * b
    return A[0, 0]


def parts_in_checkpoints(u, c):
    for t in range(3):
        for _ in sg.checkpointed(range(4), snapshots=2):
            part = np.zeros_like(u)
        part[1:-1] = u[2:]
        u = c * part * u + t
    return np.sum(u * u)


def another_after_checkpoints(x):
    y = x[2:]
    for _ in sg.checkpointed(range(2), snapshots=2):
        y = x
    return np.sum(y * y)


def states_beside_checkpoints(x, c):
    s = 0.0
    for k in range(3):
        for i in sg.checkpointed(range(3), snapshots=2):
            e = np.exp(c * x[i]) * s
            s = s + e * e + x[k]
        s = s * e
    return s


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (bound_in_checkpoints, (A,)),
        (parts_in_checkpoints, (X, 0.3)),
        (another_after_checkpoints, (X,)),
        (states_beside_checkpoints, (X * 0.3, 0.2)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_what_checkpointed_loops_bind_again(fn, args):
    check(fn, *args, wrt=tuple(range(len(args))))


# ---- zeros of the shape that a variable had before its loop: none ------------------------------


def begun_anew(y):
    for _ in range(3):
        z = y.copy()
        for _ in range(4):
            z = z * 2.0
    return np.sum(z)


def views_begun_anew(H, x):
    for t in range(2):
        a = x * H[0]
        for _ in range(2):
            n = a[1:]
        H[t] = n[0]
    return np.mean(H)


def test_adjoints_of_what_a_loop_begins_anew():
    check(begun_anew, X)
    check(views_begun_anew, X, X + 1.0, wrt=(0, 1))


def test_adjoints_of_what_a_loop_begins_anew_in_compiled_code():
    assert sg.grad(begun_anew, backend="numba")(X) == pytest.approx(np.full(4, 16.0))


# ---- what iterations of a checkpointed loop read from outside when they are run again -----------


def another_number_each_time(q):
    s = 0.0
    for v in q:
        for _ in sg.checkpointed(range(2), snapshots=2):
            w = v
            s += w**2
    return s


def overwritten_after_it(u, c):
    s = 0.0
    for i in sg.checkpointed(range(3), snapshots=2):
        s = s * s + u[i] * 2.0 + c
    u[:] = u * s
    return np.sum(u) + s


def overwritten_by_a_loop_around(u, c):
    s = 0.1
    for k in range(3):
        h = u[k] * c
        for i in sg.checkpointed(range(3), snapshots=1):
            s = np.sin(s + h) + u[i]
        u[k] = s
    return s * u[1]


def a_bound_that_grows(u, c):
    s, k = 0.1, 0
    while k < 3:
        m = k + 2
        for i in sg.checkpointed(range(m), snapshots=1):
            t = u[(k + i) % 4]
            s = np.sin(s + t * c)
            u[i % 4] = u[i % 4] * s
        k += 1
        c = c * s
    return s * u[1]


@pytest.mark.parametrize(
    "fn", [overwritten_after_it, overwritten_by_a_loop_around, a_bound_that_grows]
)
def test_what_checkpointed_loops_read_from_outside(fn):
    check(fn, X, 0.4, wrt=(0, 1))


def test_numbers_that_checkpointed_loops_read_from_outside():
    check(another_number_each_time, X)


# ---- statements behind blocks that always leave -------------------------------------------------


def behind_with(x):
    with np.errstate(all="ignore"):
        return x * x
    t = x
    return t


def behind_a_loop_without_end(x):
    while True:
        x = x * x
        if x < 0.1:
            return x
    t = x
    return t


def behind_try(x):
    try:
        return x * x
    finally:
        x = 2.0
    t = x
    return t


def behind_a_break_in_with(x):
    for _ in range(3):
        if x > 0.2:
            with np.errstate(all="ignore"):
                x = 0.5 * x
                break
            t = x
            x = t * 2
        else:
            continue
        x = t
    return x


@pytest.mark.parametrize(
    "fn", [behind_with, behind_a_loop_without_end, behind_try, behind_a_break_in_with]
)
def test_statements_that_are_never_reached(fn):
    check(fn, 0.5)
