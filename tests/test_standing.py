"""Elements that stand in their array until the reverse sweep: they are read from there."""

from __future__ import annotations

import ast
import math
import random

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.indices import Site, is_untouched

pytest.importorskip("numba")


def left_looking(a):
    n = a.shape[0]
    low, total = np.zeros((n, n)), 0.0
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= low[j, k] * low[j, k]
        low[j, j] = math.sqrt(s)
        total += math.log(low[j, j])
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= low[i, k] * low[j, k]
            low[i, j] = t / low[j, j]
    return total


def table(a):
    n = a.shape[0]
    d = np.zeros((n, n))
    for i in range(n):
        d[i, 0] = a[i, 0]
    for j in range(1, n):
        d[0, j] = a[0, j] * d[0, j - 1]
    for i in range(1, n):
        for j in range(1, n):
            d[i, j] = 0.1 * a[i, j] * d[i - 1, j] * d[i, j - 1] + d[i - 1, j - 1] * a[j, i]
    return d[n - 1, n - 1]


def backwards(a):
    n = a.shape[0]
    x = np.zeros(n)
    x[n - 1] = a[0, 0]
    for i in range(n - 2, -1, -1):
        x[i] = math.sin(a[i, i] * x[i + 1]) + a[i, 0]
    return x[0] * x[1]


def exponentials(a):
    n, s = a.shape[0], 0.0
    e = np.empty(n)
    for i in range(n):
        e[i] = math.exp(a[i, 0])
        s += e[i]
    return math.log(s) * e[0] + math.sin(s)


def around_the_end(a):
    n = a.shape[0]
    x = np.ones(n)
    for i in range(n):
        x[i] = x[i - 1] * a[i, 0] + x[i - 2] * x[i - 1]
    return np.sum(x)


def twice(a):
    n = a.shape[0]
    x = np.ones(n)
    for _ in range(2):
        for i in range(1, n):
            x[i] = x[i - 1] * a[i, 0] * x[i - 1]
    return np.sum(x)


def in_place(a):
    n = a.shape[0]
    x = a[0].copy()
    for i in range(1, n):
        for j in range(i):
            x[j] = x[j] * x[i] + a[i, j]
    return np.sum(x)


def half_precision(a):
    n, s = a.shape[0], 0.0
    e = np.empty(n, np.float32)
    for i in range(n):
        t = math.exp(a[i, 0] * 0.1)
        e[i] = t
        s += t * t + e[i]
    return s * s


def bound_again(a):
    n = a.shape[0]
    x = np.ones(n)
    for i in range(1, n):
        x[i] = x[i - 1] * a[i, 0] * x[i - 1]
    s = x[n - 1]
    x = np.zeros(n)
    for i in range(n):
        x[i] = a[i, i]
    return s * np.sum(x)


PROGRAMS = [
    left_looking, table, backwards, exponentials, around_the_end, twice, in_place, half_precision,
    bound_again,
]  # fmt: skip
STAND = [left_looking, table, backwards]


def argument():
    a = np.random.default_rng(3).uniform(0.2, 0.9, (5, 5))
    return a @ a.T + 3.0 * np.eye(5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_gradient_is_right_and_the_same_without(program, monkeypatch):
    a = argument()
    expected = sg.grad(program)(a)
    for off in (set(), {"standing"}):
        monkeypatch.setattr(loops, "skipped", off)
        got = sg.grad(program, backend="numba")(a)
        np.testing.assert_allclose(
            got, expected, rtol=1e-9 if program is not half_precision else 1e-6
        )
    tol = 1e-2 if program is half_precision else None
    sg.check_grads(program, (a,), order=1, modes=("reverse",), tol=tol)


@pytest.mark.parametrize("program", STAND)
def test_a_table_that_is_filled_once_needs_no_tape(program):
    df = sg.grad(program, backend="numba")
    df.specialize(argument())
    assert "_tape" not in df.source


@pytest.mark.parametrize("program", [around_the_end, twice, in_place])
def test_elements_that_are_stored_to_again_are_kept(program):
    df = sg.grad(program, backend="numba")
    df.specialize(argument())
    assert "_tape" in df.source


# ---- which stores reach what was read ----------------------------------------------------------

INDICES = ["i", "j", "k", "m", "i - 1", "j - 1", "i + 1", "k + 1", "j + 2", "0", "2", "n"]
RANGES = ["3", "1, 4", "2, 4", "i", "i + 1", "i + 1, 5", "j, 5", "1, j", "3, -1, -1", "3, i, -1"]


def program(rng):
    """A nest of loops with a read and a store in it, each also in loops of its own."""
    lines, depth, counters = ["def f(a, n):"], 1, ["i", "j"]
    usable = {"n", "0", "2"}

    def loop(counter):
        nonlocal depth
        given = [r for r in RANGES if not {"i", "j"} & set(r) - usable]
        lines.append(" " * depth + f"for {counter} in range({rng.choice(given)}):")
        usable.add(counter)
        depth += 1

    for counter in counters[: rng.randint(1, 2)]:
        loop(counter)
    outer, around = depth, set(usable)
    parts = ["v = a[{}, {}]", "a[{}, {}] = 1"]
    rng.shuffle(parts)
    for part, own in zip(parts, "km", strict=True):
        depth, usable = outer, set(around)
        if rng.random() < 0.6:
            loop(own)
        given = [e for e in INDICES if e.split()[0] in usable]
        lines.append(" " * depth + part.format(rng.choice(given), rng.choice(given)))
    return "\n".join(lines)


class Trace:
    """An array of any size with indices from -9, that knows whether a store reached a read."""

    def __init__(self):
        self.read, self.reached = set(), False

    def __getitem__(self, key):
        self.read.add(self.place(key))

    def __setitem__(self, key, value):
        self.reached |= self.place(key) in self.read

    @staticmethod
    def place(key):
        return tuple(k % 7 for k in key)


def test_stores_that_are_said_to_reach_nothing_reach_nothing():
    rng, said, right = random.Random(1), 0, 0
    for _ in range(4000):
        text = program(rng)
        fn = Function(ast.parse(text).body[0])
        read, store = (
            next(s for s in fn.statements if isinstance(s, ast.Assign) and wanted(s))
            for wanted in (is_read, lambda s: not is_read(s))
        )
        untouched = is_untouched(
            Site(fn, read), read.value.slice, Site(fn, store), store.targets[0].slice
        )
        space = {}
        exec(text, space)
        reached = False
        for n in (0, 3, 5):
            trace = Trace()
            space["f"](trace, n)
            reached |= trace.reached
        said += untouched
        right += not reached
        assert not (untouched and reached), text
    assert said > 0.4 * right, (said, right)


def is_read(s):
    return isinstance(s.targets[0], ast.Name)
