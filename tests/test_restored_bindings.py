"""An undone write goes to the array that was written, though its name is bound again since."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg


def doubled(x, k):
    y = 0.0
    for i in range(3):
        w = np.arange(4.0) * (i + k)
        v = w[:2]
        y += np.sum(x[:2] * v)
        w *= 2.0
        y += np.sum(x[1:] ** 2) * v[0]
    return y


def by_library(x, k):
    y = 0.0
    for i in range(3):
        w = np.arange(4.0) * (i + k)
        v = w[:2]
        y += np.sum(x[:2] * v) ** 2
        np.negative(w, out=w)
        y += np.sum(x[1:] ** 2) * v[0]
        w.fill(3.0)
        y *= v[1]
    return y


def picked(k, n):
    if n:
        return 1.35
    return k


def appended(x, k):
    for _ in range(3):
        w = [picked(k, 1), 0.5]
        for _ in range(2):
            w.append(0.7)
    k += 0.5
    return k * k * np.sum(x)


def sorted_list(x, k):
    y = 0.0
    for i in range(3):
        w = [1.0 * i, 2.0]
        y += x[0] ** 2 * w[0]
        w.append(3.0)
        y += x[0] ** 2 * w[2]
        w.reverse()
        y += x[0] ** 2 * w[0]
        w.pop()
        w.sort()
        y *= w[1] * k
    return y


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("wrt", [0, 1, (0, 1)])
@pytest.mark.parametrize("f", [doubled, by_library, appended, sorted_list])
def test_the_array_written_is_the_one_restored(f, wrt, typed):
    args = (np.array([0.1, 1.1, 2.1]), 0.5)
    picks = (wrt,) if isinstance(wrt, int) else wrt
    tangents = [np.array([0.3, -1.0, 0.9]), 0.4]
    directions = [tangents[k] if k in picks else 0.0 * tangents[k] for k in range(2)]
    plus, minus = (
        f(*(a + s * d for a, d in zip(args, directions, strict=True))) for s in (1e-6, -1e-6)
    )
    got = sg.grad(f, wrt=picks, specialize=typed)(*args)
    product = sum(np.sum(g * tangents[k]) for g, k in zip(got, picks, strict=True))
    assert product == pytest.approx((plus - minus) / 2e-6, rel=1e-6, abs=1e-8)
