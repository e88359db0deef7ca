"""Iterators that are unpacked where they are made: `x, y = map(np.asarray, [x, y])`."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check


def mapped(x, y):
    x, y = map(np.atleast_1d, [x, y])
    return np.sum(x * y)


def swapped(x, y):
    x, y = map(np.sin, (y, x))
    return x * y * y


def mapped_over_parts(x, y):
    p = [x, y]
    a, b = map(lambda u, v: u * v + x, [p[0], p[1]], (y, x))
    return a * b


def of_generators(x, y):
    a, b = (np.sin(v) for v in (x, y))
    (c, d), (e, f) = zip((x, y), (a, b), strict=True)
    return a * b + c * d + e * f


def reversed_and_counted(x, y):
    a, b = sorted([x, y])
    u, v = reversed((x, y))
    (i, p), (j, q) = enumerate((x, y))
    return a * b**2 + u * v**2 + i * p + j * q


def starred(x, y):
    a, *rest = map(float, (x, y, x))
    (only,) = filter(lambda v: v > 0, (x, -y))
    return a * rest[0] + rest[1] * only


def listed(x, y, z=0):
    x, y, z = list(map(np.asanyarray, (x, y, z)))
    a, b = [np.abs(v) * v for v in (x, y)]
    return (a * b + z) / (1 + z) ** 2


@pytest.mark.parametrize(
    "f", [listed, mapped, swapped, mapped_over_parts, of_generators, reversed_and_counted, starred]
)
def test_right(f):
    check(f, 1.3, 0.7, wrt=(0, 1))


@pytest.mark.parametrize("f", [mapped, listed])
def test_over_names_there_is_no_loop(f):
    derivative = sg.grad(f)
    derivative(1.3, 0.7)
    assert "range(" not in derivative.source


def test_the_wrong_number_is_the_users_own_error():
    def two_of_three(x):
        a, b = map(np.sin, (x, x, x))
        return a * b

    with pytest.raises(ValueError, match="unpack"):
        sg.grad(two_of_three)(1.0)
