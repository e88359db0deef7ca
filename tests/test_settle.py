"""Numbers that each round makes are kept at its end; loops inside joined loops are joined, too."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

pytest.importorskip("numba")


def scaled(x, w):
    total = 0.0
    m = np.zeros((x.shape[0], x.shape[2]))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                m[i, k] += x[i, j, k] * x[i, j, k]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = 0.0
            for k in range(x.shape[2]):
                s += x[i, j, k] / (1.0 + m[i, k]) * w[k]
            total += s * s
    return total


def old_value_is_read(x, w):
    total, s = 0.0, w[0]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += s * x[i, j, 0]
            s = 1.0
            for k in range(x.shape[2]):
                s *= x[i, j, k] * w[k]
            total += s * s
    return total * s


def last_value_is_read(x, w):
    total, s = 0.0, 2.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = w[0]
            for k in range(x.shape[2]):
                s += x[i, j, k] * x[i, j, k]
            total += math.sin(s)
        total += s * s
    return total * s * s


def sums_of_sums(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        r = 0.0
        for j in range(x.shape[1]):
            s = 0.0
            for k in range(x.shape[2]):
                s += x[i, j, k] * w[k]
            r += math.exp(-s * s)
        total += r * r
    return total


def buffer_goes_on(x, w):
    total = 0.0
    b = np.ones(x.shape[2])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = 0.0
            for k in range(x.shape[2]):
                s += x[i, j, k] * w[k] * b[k]
            for k in range(x.shape[2]):
                b[k] = s * x[i, j, k]
            total += s * s
    return total


def rows_and_columns(x, w):
    total = 0.0
    c = np.empty(x.shape[2])
    for i in range(x.shape[0]):
        for k in range(x.shape[2]):
            s = 0.0
            for j in range(x.shape[1]):
                s += x[i, j, k] * x[i, j, k]
            c[k] = math.sqrt(s + 1.0)
        for j in range(x.shape[1]):
            s = 0.0
            for k in range(x.shape[2]):
                s += x[i, j, k] / c[k] * w[k]
            total += s * s
    return total


PROGRAMS = [
    scaled, old_value_is_read, last_value_is_read, sums_of_sums, buffer_goes_on, rows_and_columns,
]  # fmt: skip


def arguments(rows=3):
    rng = np.random.default_rng(5)
    return rng.uniform(0.2, 1.1, (rows, 4, 3)), rng.uniform(0.5, 1.5, 3)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mode", [sg.grad, sg.value_and_grad])
def test_the_gradient_is_right_and_the_same_without(program, mode, monkeypatch):
    for rows in (3, 1, 0):
        args = arguments(rows)
        expected = mode(program, wrt=(0, 1))(*args)
        for off in (set(), {"settle"}, {"settle", "fuse"}):
            monkeypatch.setattr(loops, "skipped", off)
            got = mode(program, wrt=(0, 1), backend="numba")(*args)
            for a, b in zip(leaves(got), leaves(expected), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14)


def leaves(value):
    return [x for v in value for x in (v if isinstance(v, tuple) else (v,))]


def text(program):
    df = sg.grad(program, wrt=(0, 1), backend="numba")
    df.specialize(*arguments())
    return df.source


def test_rounds_of_inner_loops_are_reversed_one_by_one():
    shown = text(scaled)
    assert "s_tape" not in shown
    assert shown.count("---- and back ----") == 1
    assert "np.empty((" not in shown, "what is kept is kept for one round of the inner loop"


def test_older_values_that_are_read_are_put_back():
    assert "s = s_tape[i, j]\n" in text(old_value_is_read)
