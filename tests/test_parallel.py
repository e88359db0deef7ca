"""Loops over Numba's `prange`: both sweeps run in parallel where that is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

numba = pytest.importorskip("numba")
prange = numba.prange


def total(x, w):
    s = 0.0
    for i in prange(x.shape[0]):
        s += math.sin(x[i, 0]) * w[0]
    return s


def rows(x, w):
    y = np.empty(x.shape[0])
    for i in prange(x.shape[0]):
        t = 0.0
        for j in range(x.shape[1]):
            t += x[i, j] * w[j]
        y[i] = math.tanh(t)
    return np.sum(y * y)


def per_row_sum(x, w):
    s = 0.0
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            s += math.exp(-x[i, j]) * x[i, 0]
    return s * w[0]


def neighbours(x, w):
    y = np.zeros(x.shape[0])
    for i in prange(1, x.shape[0]):
        y[i] = x[i, 0] * x[i - 1, 1] * w[0]
    return np.sum(y)


def buffered(x, w):
    s = 0.0
    row = np.empty(x.shape[1])
    for i in range(x.shape[0]):
        for j in prange(x.shape[1]):
            row[j] = x[i, j] * w[j]
        for j in prange(x.shape[1]):
            s += row[j] * row[j]
    return s


PROGRAMS = (total, rows, per_row_sum, neighbours, buffered)


def arguments():
    rng = np.random.default_rng(8)
    return rng.random((200, 6)), rng.random(6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_many_runs_give_the_serial_gradient(program):
    expected = sg.grad(program, wrt=(0, 1))(*arguments())
    df = sg.grad(numba.njit(parallel=True)(program), wrt=(0, 1))
    for _ in range(20):
        for a, b in zip(df(*arguments()), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14)


def text_of(program, mode=sg.grad, **options):
    df = mode(numba.njit(**options)(program), wrt=(0, 1))
    df.specialize(*arguments())
    return df.source


def test_the_reverse_loop_is_parallel_where_rounds_store_apart():
    text = text_of(neighbours, sg.value_and_grad, parallel=True)
    assert "in prange(" in text
    assert "w_bar_sum_part += " in text_of(total, parallel=True)


def test_a_comment_says_why_a_loop_is_serial():
    text = text_of(rows, parallel=True)
    assert "# In order: rounds store to the same elements of w_bar." in text


def test_without_parallel_a_prange_is_a_range():
    assert "prange" not in text_of(rows)
    assert sg.source(rows, *arguments(), wrt=0).count("prange") == 0


def test_the_pass_can_be_turned_off(monkeypatch):
    monkeypatch.setattr(loops, "skipped", {"parallel"})
    assert "in prange(" not in text_of(total, parallel=True)
