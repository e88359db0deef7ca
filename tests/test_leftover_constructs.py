"""Constructs of ordinary Python that programs use around their arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, 0.4, 1.1])


# ---- imports that fail, in an arm that does not run ----


def imports_what_is_not_there(x, k):
    if k > 2:
        if k > 3:
            from no_such_package.inside import sin
        else:
            import no_such_package.inside as sin
        return sin(x)
    return np.sum(x * x)


@pytest.mark.parametrize("typed", [True, False])
def test_an_import_fails_where_the_program_comes_to_it(typed):
    check(imports_what_is_not_there, X, 1)
    for k in (3, 4):
        with pytest.raises(ModuleNotFoundError, match="no_such_package"):
            sg.grad(imports_what_is_not_there, specialize=typed)(X, k)


def raises_either_way(x, k):
    if k > 2:
        if k > 3:
            raise ValueError("more than three")
        else:
            raise KeyError("three")
        x = x * 3.0
        return np.sum(x)
    return np.sum(x * x)


def test_code_behind_a_branch_that_leaves_either_way():
    check(raises_either_way, X, 1)
    with pytest.raises(ValueError, match="more than three"):
        sg.grad(raises_either_way)(X, 4)


# ---- classes that inherit their constructor ----


class Base:
    def __init__(self, k):
        self.k = k

    def value(self, t):
        return self.k * t


class Shifted(Base):
    def __init__(self, k, m):
        super().__init__(k)
        self.m = m

    def value(self, t):
        return super().value(t) ** 2 + self.m


class Doubled(Shifted):
    def value(self, t):
        return super().value(t) * 2.0


def of_a_grandchild(x):
    return Doubled(x[0], x[1]).value(x[2])


def test_a_constructor_that_is_inherited_and_calls_that_of_its_base():
    check(of_a_grandchild, X)
