"""Arrays that each round makes for itself are made once: where, and that it is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

pytest.importorskip("numba")


def cross(p, v):
    total = 0.0
    for i in range(p.shape[0]):
        a, b = np.zeros(3), np.zeros(3)
        for k in range(3):
            a[k] = p[i, k] - v[k]
            b[k] = p[i, k] * v[k]
        c = a[1] * b[2] - a[2] * b[1]
        total += math.sqrt(c * c + a[0] * a[0] + b[0] * b[0])
    return total


def counts(p, v):
    total = 0.0
    for i in range(p.shape[0]):
        m = np.zeros((2, 3))
        for k in range(3):
            m[k % 2, k] += p[i, k] * v[k]
        for k in range(3):
            total += math.sin(m[0, k]) * m[1, k] + m[0, k] ** 2
    return total


def sized_by_the_argument(p, v):
    total = 0.0
    n = p.shape[1]
    for i in range(p.shape[0]):
        e = np.empty(n)
        s = 0.0
        for k in range(n):
            e[k] = math.exp(p[i, k] * v[k])
            s += e[k]
        for k in range(n):
            total += e[k] / s * v[k]
    return total


def sized_by_the_round(p, v):
    total = 0.0
    for i in range(1, p.shape[0]):
        e = np.zeros(i)
        for k in range(i):
            e[k] = p[i, k % 3] * v[k % 3]
        for k in range(i):
            total += e[k] * e[k]
    return total


def handed_on(p, v):
    total = 0.0
    last = np.zeros(3)
    for i in range(p.shape[0]):
        e = np.zeros(3)
        for k in range(3):
            e[k] = p[i, k] * v[k] * last[k] + p[i, k]
        last = e
        total += e[0] * e[1]
    return total + last[2]


def as_a_whole(p, v):
    total = 0.0
    for i in range(p.shape[0]):
        e = np.zeros(3)
        for k in range(3):
            e[k] = p[i, k] * v[k]
        total += np.sum(e * e)
    return total


def in_a_branch(p, v):
    total = 0.0
    for i in range(p.shape[0]):
        if p[i, 0] > 0.5:
            e = np.zeros(2)
            e[0] += p[i, 1] * v[0]
            e[1] += e[0] * p[i, 2]
            total += e[0] * e[1]
    return total


def while_it_lasts(p, v):
    total, i = 0.0, 0
    while i < p.shape[0]:
        e = np.zeros(2)
        e[0] += p[i, 1] * v[0]
        e[1] += e[0] * p[i, 2]
        total += e[0] * e[1]
        i += 1
    return total


def single(p, v):
    total = 0.0
    for i in range(p.shape[0]):
        e = np.zeros(3, dtype=np.float32)
        for k in range(3):
            e[k] += p[i, k]
        total += e[0] * e[1] * v[2]
    return total


def nested(p, v):
    total = 0.0
    for i in range(p.shape[0]):
        a = np.zeros(3)
        for j in range(3):
            b = np.zeros(2)
            for k in range(2):
                b[k] = p[i, k] * v[j]
            a[j] = b[0] * b[1]
        total += a[0] * a[1] * a[2]
    return total


LIFTED = [cross, counts, sized_by_the_argument, in_a_branch, nested, single]
OTHERS = [sized_by_the_round, handed_on, as_a_whole, while_it_lasts]


def arguments():
    rng = np.random.default_rng(5)
    return rng.uniform(0.2, 1.1, (6, 3)), rng.uniform(0.5, 1.5, 3)


@pytest.mark.parametrize("rows", [6, 0])
@pytest.mark.parametrize("program", LIFTED + OTHERS)
def test_the_gradient_is_right_and_the_same_without(program, rows, monkeypatch):
    p, v = arguments()
    args = p[:rows], v
    expected = sg.grad(program, wrt=(0, 1))(*args)
    for off in (set(), {"lift"}):
        monkeypatch.setattr(loops, "skipped", off)
        got = sg.grad(program, wrt=(0, 1), backend="numba")(*args)
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6 if program is single else 1e-10)


def text(program):
    df = sg.grad(program, wrt=(0, 1), backend="numba")
    df.specialize(*arguments())
    return df.source


@pytest.mark.parametrize("program", LIFTED)
def test_no_round_makes_an_array(program):
    inside = [s for s in text(program).split("\n") if s.startswith(" " * 8)]
    assert not any("np.zeros" in s or "np.empty" in s or ".pop()" in s for s in inside)


@pytest.mark.parametrize("program", [sized_by_the_round, handed_on, as_a_whole])
def test_arrays_of_other_sizes_or_that_others_hold_are_made_each_time(program):
    inside = [s.strip() for s in text(program).split("\n") if s.startswith(" " * 8)]
    assert any(s.startswith("e = np.zeros") for s in inside)


def test_elements_that_are_filled_anyway_are_not_cleared():
    forward = text(cross).split("and back")[0]
    assert "= 0.0\n" not in forward.split("for i in")[1]
    assert "m[j1, j2] = 0.0" in text(counts)
