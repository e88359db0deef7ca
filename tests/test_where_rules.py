"""Lanes that `np.where` did not choose, through rules of users: exactly zero where the rule works
lane by lane; and all other uses of a value count in all lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.0, 1.3, 0.0, 1.9])
P = np.array([0.7, 1.3, 0.4, 1.9])


@sg.custom_gradient
def returned(x):
    def gradient(dy):
        return dy / x

    return np.log(x), gradient


@sg.custom_vjp
def paired(x):
    return np.log(x)


def paired_forward(x):
    return np.log(x), x


def paired_backward(saved, g):
    part = g / saved
    return (part,)


paired.defvjp(paired_forward, paired_backward)


@sg.custom_jvp
def pushed(x):
    return np.log(x)


def pushed_forward(primals, tangents):
    return np.log(primals[0]), tangents[0] / primals[0]


pushed.defjvp(pushed_forward)


def registered(x):
    return np.log(x)


def _scaled(g, x):
    return g / x


@sg.rule(registered)
def registered_rule(g, out, x):
    if np.ndim(x) == 0:
        return g / x
    return _scaled(g, x) * 1.0


def of_two(x, y):
    return np.log(x) * y


@sg.rule(of_two)
def of_two_rule(g, out, x, y):
    by_x = g * y / x
    return by_x, g * np.log(x)


def coupled(x):
    return np.log(x) + np.sum(x)


@sg.rule(coupled)
def coupled_rule(g, out, x):
    total = np.sum(g)
    return g / x + total


RULES = [returned, paired, pushed, registered]


@pytest.mark.parametrize("rule", RULES, ids=lambda f: f.__name__)
def test_an_arm_that_is_not_chosen(rule: Callable[[Any], Any]) -> None:
    def direct(x):
        return np.sum(np.where(x > 0.5, rule(x), x**2))

    def behind(x):
        t = np.sqrt(x)
        return np.sum(np.where(x > 0.5, np.sin(rule(t) * x), x**2))

    def scalar(x):
        total = 0.0
        for v in x:
            total += np.where(v > 0.5, rule(v), v * v)
        return total

    with np.errstate(all="ignore"):
        for fn, chosen in ((direct, 1.0 / X[[1, 3]]), (scalar, 1.0 / X[[1, 3]]), (behind, None)):
            for typed in (True, False):
                found = sg.grad(fn, specialize=typed)(X)
                assert found[0] == found[2] == 0.0
                assert chosen is None or np.allclose(found[[1, 3]], chosen)


@pytest.mark.parametrize("rule", RULES, ids=lambda f: f.__name__)
def test_other_uses_count_in_all_lanes(rule: Callable[[Any], Any]) -> None:
    def shared(x):
        t = np.sqrt(x)
        return np.sum(np.where(x > 1.0, t, 0.0)) + np.sum(rule(t))

    def twice(x):
        t = rule(np.sqrt(x))
        return np.sum(np.where(x > 1.0, t, 0.0) * t)

    check(shared, P)
    check(twice, P)


def two_operands(x):
    t = np.sqrt(x)
    return np.sum(np.where(x > 0.5, of_two(t, x), x))


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
def test_two_operands(typed: bool) -> None:
    with np.errstate(all="ignore"):
        found = sg.grad(two_operands, specialize=typed)(X)
    chosen = 0.5 + np.log(X[[1, 3]]) / 2
    assert np.allclose(found, [1.0, chosen[0], 1.0, chosen[1]])


def one_coupled(x):
    return np.sum(np.where(x > 1.0, coupled(x), 0.0))


def test_a_rule_that_couples_lanes_keeps_all_of_them() -> None:
    check(one_coupled, P)
