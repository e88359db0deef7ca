"""`table[x]` where x carries a derivative: an object may compute with its key, a dict looks it up.

Where the class is not known when compiling it is asked when the derivative runs."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import srcgrad as sg


class Squares:
    """Stands for a table that interpolates between its entries."""

    def __getitem__(self, key):
        return np.asarray(key) ** 2


TABLES = {"squares": Squares(), "plain": {0.5: 2.0, 1.5: 3.0}, "list": [1.0, 2.0, 4.0]}


squares, plain, entries = map(operator.itemgetter, TABLES)


def between_entries(x):
    table = squares(TABLES)
    return table[x] * x


def of_an_array(x):
    table = squares(TABLES)
    return np.sum(table[np.ravel(x)] * x)


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(("f", "x"), [(between_entries, 1.5), (of_an_array, np.array([0.5, 2.0]))])
def test_refused_when_it_runs(f, x, typed):
    for derivative, args in ((sg.grad, (x,)), (sg.jvp, (x, x))):
        with pytest.raises(sg.MissingRule, match="indexing an object of the class Squares"):
            derivative(f, specialize=typed)(*args)


def looked_up(x):
    return plain(TABLES)[x] * x + entries(TABLES)[int(x)] * x**2


def keys_of_an_active_dict(x):
    weights = entries(TABLES)
    parts = {0: x, 2: x * x}
    total = 0.0
    for k, v in parts.items():
        total += weights[k] * v
    return total


@pytest.mark.parametrize("f", [looked_up, keys_of_an_active_dict])
def test_right(f):
    expected = 3.0 + 2.0 * 2.0 * 1.5 if f is looked_up else 1.0 + 4.0 * 2.0 * 1.5
    for typed in (True, False):
        assert sg.grad(f, specialize=typed)(1.5) == pytest.approx(expected)
        assert sg.jvp(f, specialize=typed)(1.0, 1.5)[1] == pytest.approx(expected)
        second = sg.grad(sg.grad(f, specialize=typed), specialize=typed)(1.5)
        assert second == pytest.approx(4.0 if f is looked_up else 8.0)
