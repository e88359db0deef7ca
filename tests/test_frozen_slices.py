"""Slices from outside, which Numba freezes, are written out: what has one length is known."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

pytest.importorskip("numba")

INNER = slice(1, -1)
STEPS = slice(None, None, 2)


def sheet(a, b):
    a = a.copy()
    for _ in range(3):
        a[INNER, INNER] = 0.25 * (a[2:, INNER] + a[:-2, INNER] + b[INNER, 2:] * a[INNER, :-2])
    return np.sum(a[INNER] * b[1:-1])


def steps(a, b):
    return np.sum(a[STEPS] * b[STEPS, STEPS][0, 0])


def captured():
    part = slice(1, None)

    def line(a, b):
        return np.sum(np.sin(a[part] - a[:-1]) * b[part])

    return line


def arguments():
    rng = np.random.default_rng(4)
    return rng.random((6, 6)), rng.random((6, 6))


@pytest.mark.parametrize("program", [sheet, steps, captured()])
def test_the_gradient_is_the_same(program, monkeypatch):
    expected = sg.grad(program, wrt=(0, 1))(*arguments())
    for off in (set(), {"slices"}):
        monkeypatch.setattr(loops, "skipped", off)
        df = sg.grad(program, wrt=(0, 1), backend="numba")
        for a, b in zip(df(*arguments()), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        code = "\n".join(s for s in df.source.splitlines() if not s.lstrip().startswith("#"))
        assert any(n in code for n in ("INNER", "STEPS", "part")) == bool(off)


def test_arrays_of_one_shape_are_not_summed_down():
    def line(a):
        return np.sum(np.sin(a[INNER] - a[2:]) * a[:-2])

    df = sg.grad(line, backend="numba")
    df(np.arange(5.0))
    assert "a_bar[1:-1]" in df.source and "unbroadcast" not in df.source


def test_another_slice_is_another_compilation(monkeypatch):
    x = np.arange(5.0)

    def part(x):
        return np.sum(x[INNER] * x[INNER])

    df = sg.grad(part, backend="numba")
    np.testing.assert_array_equal(df(x), [0, 2, 4, 6, 0])
    monkeypatch.setitem(globals(), "INNER", slice(2, None))
    np.testing.assert_array_equal(df(x), [0, 0, 4, 6, 8])


def test_numpy_reads_them_live(monkeypatch):
    x = np.arange(5.0)

    def part(x):
        return np.sum(x[INNER] * x[INNER])

    df = sg.grad(part)
    np.testing.assert_array_equal(df(x), [0, 2, 4, 6, 0])
    monkeypatch.setitem(globals(), "INNER", slice(2, None))
    np.testing.assert_array_equal(df(x), [0, 0, 4, 6, 8])
