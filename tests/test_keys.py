"""Values with a derivative as keys of dicts and members of sets."""

from __future__ import annotations

from typing import Any

import pytest

import srcgrad as sg
from tests.numeric import Point

BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])


def items_of_a_table(x):
    d = {x: 2.0}
    return sum(k * v for k, v in d.items())


def loop_over_a_table(x):
    d = {}
    d[x * x] = 1.0
    s = 0.0
    for k in d:
        s += k
    return s


def list_of_keys(x):
    return list({x: 1, x * x: 2}.keys())[1]


def largest_key(x):
    return max({x: 1, x * x: 2})


def sum_of_a_set(x):
    return sum({x, x * x})


def largest_of_a_set(x):
    return max({x, x * x, 0.5})


def sorted_set(x):
    return sorted({x * x, x})[0]


def table_turned_round(x):
    d = {"a": x}
    e = {v: k for k, v in d.items()}
    return next(iter(e)) * 2


def constant_numbers_as_keys(x):
    d = {1.0: x, 2.0: x * x}
    return sum(k * v for k, v in d.items())


def sets_of_constants(x):
    return x * len({1, 2, 2}) + (x if 3 in {1, 3} else 0)


def table_of_results(x):
    memo = {}

    def f(n):
        if n in memo:
            return memo[n]
        r = x if n < 2 else f(n - 1) * x + f(n - 2)
        memo[n] = r
        return r

    return f(5)


def looked_up_by_a_value(x):
    memo = {}

    def f(v):
        if v not in memo:
            memo[v] = v * v
        return memo[v]

    return f(x) + f(x)


def sorted_keys(x):
    d = {"b": x, "a": x * x}
    s = 0.0
    for k in sorted(d):
        s = s * x + d[k]
    return s


def table_of_pairs(x):
    d = dict(zip("ab", [x, x * x]))
    return sum(d[k] * i for i, k in enumerate(d, 1))


REFUSED = [
    items_of_a_table,
    loop_over_a_table,
    list_of_keys,
    largest_key,
    sum_of_a_set,
    largest_of_a_set,
    sorted_set,
    table_turned_round,
]


@BOTH
@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_keys_that_are_read_are_refused(fn: Any, typed: bool) -> None:
    for make, args in ((sg.grad, (1.3,)), (sg.jvp, (1.0, 1.3))):
        with pytest.raises(
            sg.NotDifferentiable, match="the keys of a dict or the members"
        ) as caught:
            make(fn, specialize=typed)(*args)
        assert "test_keys.py:" in str(caught.value)


RIGHT = [
    constant_numbers_as_keys,
    sets_of_constants,
    table_of_results,
    looked_up_by_a_value,
    sorted_keys,
    table_of_pairs,
]


@BOTH
@pytest.mark.parametrize("fn", RIGHT, ids=lambda fn: fn.__name__)
def test_keys_that_only_find_values(fn: Any, typed: bool) -> None:
    point = Point(fn, (1.3,), {}, 0)
    for mode in ("value_and_grad", "jvp"):
        assert point.problem(mode, typed, 1e-7) is None
