"""Second derivatives through results with named parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

S = np.array([[2.0, 0.3, -0.4], [0.3, 1.5, 0.2], [-0.4, 0.2, 1.8]])


def log_determinant(a):
    return np.linalg.slogdet(a)[1] ** 2


def log_determinant_by_name(a):
    return np.linalg.slogdet(a).logabsdet ** 2


def singular_values(a):
    return np.sum(np.linalg.svd(a, full_matrices=False)[1] ** 3)


def singular_values_by_name(a):
    r = np.linalg.svd(a)
    return np.sum(r.S**3) * r[1][0]


def triangular_factor(a):
    q, r = np.linalg.qr(a)
    return np.sum(np.diag(r) ** 3) + np.sum(q**3)


def eigenvalues_by_name(a):
    r = np.linalg.eigh((a + a.T) / 2.0)
    return np.sum(r.eigenvalues**3) * r.eigenvalues[0]


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize(
    "fn",
    [
        log_determinant,
        log_determinant_by_name,
        singular_values,
        singular_values_by_name,
        triangular_factor,
        eigenvalues_by_name,
    ],
)
def test_second_order(fn: Callable[..., Any], typed: bool) -> None:
    gradient = sg.grad(fn, specialize=typed)
    direction = np.cos(np.arange(9.0)).reshape(3, 3)
    step = 1e-4
    slope = (gradient(S + step * direction) - gradient(S - step * direction)) / (2 * step)
    found = sg.hvp(fn, specialize=typed)(direction, S)
    np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-6)
