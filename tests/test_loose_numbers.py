"""Numbers that are ints on some paths: an array made of one may be one of integers."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check


def in_a_loop(x):
    total = 0.0
    for v in (x, 1):
        a = np.full(2, v)
        a[0] = x * 0.7
        total += a.sum() * x
    return total


def by_a_branch(x):
    if x > 1:
        v = 2
    else:
        v = x
    a = np.full(2, v * 3)
    a[0] = x * 0.7
    return a.sum() * x


def by_way_of_a_list(x):
    values = [2, 3]
    if x < 1:
        values = [x, x]
    a = np.array(values)
    a[1] = x
    return a.sum() * x


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("f", [in_a_loop, by_a_branch, by_way_of_a_list])
def test_refused(f, typed):
    for derivative, args in ((sg.grad, (1.3,)), (sg.jvp, (1.0, 1.3))):
        with pytest.raises(sg.NotDifferentiable, match="array of dtype int64, which truncates it"):
            derivative(f, specialize=typed)(*args)


def begun_with_an_int(x):
    s = 0
    for v in x:
        s += v * v
    a = np.full(2, s)
    a[0] *= x[0]
    b = np.array([s, np.sin(s), s / 3])
    b[1] += x[1]
    return a.sum() * b.sum()


def lists_of_both(x):
    out = []
    for v in (x[0], 2):
        out.append(np.asarray(v) * x[1])
    return out[0] * out[1]


@pytest.mark.parametrize("f", [begun_with_an_int, lists_of_both])
def test_right(f):
    check(f, np.array([1.3, 0.7]))


def test_right_on_the_other_path():
    check(by_a_branch, 0.7)
    check(by_way_of_a_list, 0.7)
