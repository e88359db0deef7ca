"""`copy.copy` and `copy.deepcopy` of arrays and plain containers in differentiated functions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, 1.3, 0.4, 1.9])
BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])


def of_arrays(x):
    y, z = copy.copy(x), copy.deepcopy(x)
    y[0] = x[1] * 2.0
    z[1] = y[0] * z[0]
    return np.sum(y * z)


def of_lists(x):
    rows = [[x[0], x[1]], [x[2], x[3]]]
    shallow, deep = copy.copy(rows), copy.deepcopy(rows)
    rows[0][0] *= x[1]
    shallow[1] = [x[0] ** 2, 1.0]
    deep[1][1] *= shallow[0][0]
    return sum(map(sum, rows)) * sum(map(sum, shallow)) + sum(map(sum, deep))


def of_dicts(x):
    state = {"u": x * 1.0, "n": x[0]}
    before = copy.deepcopy(state)
    for _ in range(2):
        state["u"] *= before["u"]
        state["n"] = state["n"] * before["n"]
    return np.sum(state["u"]) * state["n"] + np.sum(before["u"])


@pytest.mark.parametrize("fn", [of_arrays, of_lists, of_dicts], ids=lambda f: f.__name__)
def test_copies(fn: Callable[[Any], Any]) -> None:
    check(fn, X, modes=("grad", "jvp"))


def same_array_twice(x):
    a = x * 1.0
    both = copy.deepcopy([a, a])
    both[0][0] = x[1]
    return np.sum(both[1])


class Held:
    def __init__(self, u):
        self.u = u


def of_an_object(x):
    held = copy.deepcopy(Held(x))
    return np.sum(held.u)


@BOTH
@pytest.mark.parametrize("fn", [same_array_twice, of_an_object], ids=lambda f: f.__name__)
def test_what_a_copy_would_have_to_keep_is_refused(fn: Callable[[Any], Any], typed: bool) -> None:
    with pytest.raises(sg.SrcgradError):
        sg.grad(fn, specialize=typed)(X)
