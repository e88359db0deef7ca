"""`np.unique` with the positions of its values: all forms, both modes, typed and untyped."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([[0.7, 0.3], [1.1, -0.4]])
KINDS = ("return_index", "return_inverse", "return_counts")


def by_inverse(x):
    values, inverse = np.unique(x, return_inverse=True)
    return np.sum(values[inverse.ravel()] * np.arange(1.0, 5.0)) + np.sum(values**3)


def by_counts(x):
    values, counts = np.unique(x, return_counts=True)
    return np.sum(values**2 * counts)


def by_index(x):
    values, index = np.unique(x, True)
    return np.sum(np.ravel(x)[index] * np.sin(values))


def of_all(x):
    values, index, inverse, counts = np.unique(x, True, True, True)
    return np.sum(np.ravel(x)[index] * values * counts) + values[inverse.ravel()][0] ** 2


def of_groups(x):
    labels, inverse, counts = np.unique(
        np.array([0, 2, 2, 0]), return_inverse=True, return_counts=True
    )
    sums = np.zeros(len(labels))
    np.add.at(sums, inverse, np.ravel(x))
    return np.sum((sums / counts) ** 2)


@pytest.mark.parametrize("f", [by_inverse, by_counts, by_index, of_all, of_groups])
def test_positions_of_unique_values(f):
    check(f, X)
    sg.check_grads(f, (X,))


def test_equal_elements_share_the_cotangent():
    got = sg.grad(by_counts)(np.array([0.5, 0.2, 0.5]))
    np.testing.assert_allclose(got, [1.0, 0.4, 1.0])


@pytest.mark.parametrize("asked", list(itertools.product([False, True], repeat=3)))
def test_every_form_has_numpys_value(asked):
    index, inverse, counts = asked

    def f(x):
        return np.unique(x, index, inverse, counts)

    for typed in (True, False):
        value, _ = sg.jvp(f, specialize=typed)(np.ones_like(X), X)
        assert type(value) is type(f(X))
        for a, b in zip(value, f(X), strict=True):
            np.testing.assert_array_equal(a, b)
