"""Frozen distributions of SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.probes.table import P, V, probe

stats = pytest.importorskip("scipy.stats")

OUTSIDE = stats.norm(0.1, scale=0.8)


@probe(V)
def frozen_normal(x):
    return stats.norm(0.3, 1.2).logpdf(x)


@probe(V, 0.3, 1.2, wrt=(0, 1, 2))
def frozen_normal_of_parameters(x, m, s):
    return np.sum(stats.norm(loc=m, scale=s).logpdf(x))


@probe(0.7, 0.2, wrt=(0, 1))
def frozen_in_a_variable(x, m):
    d = stats.norm(m, 1.3)
    m = m * 2.0
    return d.pdf(x) * d.cdf(x) * m


@probe(P, 1.5, wrt=(0, 1))
def frozen_gamma_in_a_loop(x, a):
    total = 0.0
    for v in x:
        d = stats.gamma(a, scale=v)
        total = total + d.logpdf(v * 0.5 + 1.0)
        a = a * 1.1
    return total


@probe(V)
def frozen_outside(x):
    return OUTSIDE.logpdf(x) * OUTSIDE.pdf(x)


@probe(np.array([0.4, 1.2]), np.array([[1.3, 0.2], [0.2, 0.9]]), wrt=0)
def frozen_multivariate(x, c):
    return stats.multivariate_normal(np.zeros(2), c).logpdf(x)
