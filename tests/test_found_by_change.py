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
