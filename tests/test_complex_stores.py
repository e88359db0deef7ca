"""Real numbers that meet arrays of complex ones in place, and stores at indices that may repeat:
the reverse sweep reads no element that it has not kept."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.3, 0.4, 0.5])
Z = np.array([[0.3, -0.5, 0.7], [1.1, 0.4, -0.9]])


def element_added_then_written(x, z, t):
    u = z * 1j
    u += x[-3]
    x[2] *= t
    return np.sum((u**2).real) + x[2]


def scaled_at_indices_of_a_view(x):
    u = x
    u[1:][np.arange(2)] *= 0.5
    u[:2][[1, 0]] /= 3.0
    return np.sum(x * x)


def added_to_a_part(x, z, t):
    u = z * 1j
    u[:, 1:] += x[-3]
    return np.sum((u**2).real) * t


def subtracted_at_indices(x, z, t):
    u = z * 1j
    u[[0, 1]] -= x[1]
    return np.sum((u**2).real) * t


def powers_at_repeated_indices(x, z, t):
    u = z * 1j + x
    u[[0, 1, 0]] **= 2.0
    u[[0, 0]] *= x[-1]
    u[[1, 1]] /= t
    return np.sum((u**2).real)


@pytest.mark.parametrize(
    "f",
    [
        element_added_then_written,
        added_to_a_part,
        subtracted_at_indices,
        powers_at_repeated_indices,
    ],
)
def test_real_numbers_stored_into_complex_arrays(f):
    check(f, X, Z, 1.5, wrt=(0, 1, 2))
    sg.check_grads(f, (X, Z, 1.5), wrt=(0, 1, 2))


def test_indices_of_a_view():
    check(scaled_at_indices_of_a_view, X)
    sg.check_grads(scaled_at_indices_of_a_view, (X,))
