"""Distributions at places that the sample points of their rules leave out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import srcgrad as sg
from srcgrad.errors import MissingRule, NotDifferentiable


def slope(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


def half_line(mu):
    return stats.truncnorm.logpdf(1.7, (0.0 - mu) / 1.3, np.inf, mu, 1.3)


def far_half_line(mu):
    return stats.truncnorm.logpdf(9.0, (8.0 - mu) / 1.3, np.inf, mu, 1.3)


def other_half_line(mu):
    return stats.truncnorm.logpdf(-1.7, -np.inf, (0.5 - mu) / 1.3, mu, 1.3)


def below_the_support(a):
    x = np.array([-0.5, 0.5])
    return np.sum(stats.rayleigh.cdf(x, 0.0, a) + stats.halfnorm.sf(x, 0.0, a))


@pytest.mark.parametrize("f", [half_line, far_half_line, other_half_line, below_the_support])
def test_ends_of_supports(f):
    for at in (-0.4, 0.6) if f is not below_the_support else (1.3,):
        assert sg.grad(f)(at) == pytest.approx(slope(f, at), rel=1e-6)


def test_dirichlet():
    alpha, x = np.array([1.4, 2.3, 0.7]), np.array([0.2, 0.5, 0.3])

    def of_parameters(alpha):
        return stats.dirichlet.logpdf(x, alpha)

    def of_share(u):
        place = np.array([u, 0.5, 0.5 - u])
        return stats.dirichlet.pdf(place, alpha)

    direction = np.array([0.3, -0.5, 0.8])
    expected = slope(lambda s: of_parameters(alpha + s * direction), 0.0)
    assert sg.grad(of_parameters)(alpha) @ direction == pytest.approx(expected, rel=1e-7)
    assert sg.grad(of_share)(0.2) == pytest.approx(slope(of_share, 0.2), rel=1e-7)
    curvature = slope(lambda s: sg.grad(of_parameters)(alpha + s * direction), 0.0, 1e-5)
    np.testing.assert_allclose(sg.hessian(of_parameters)(alpha) @ direction, curvature, rtol=1e-7)
    with pytest.raises(MissingRule, match="dirichlet: pass one place"):
        sg.grad(lambda a: stats.dirichlet.logpdf(x[:2], a))(alpha)


def test_shapes_without_a_formula_are_refused():
    with pytest.raises(NotDifferentiable, match="gammaincinv has no derivative with respect to a"):
        sg.grad(lambda a: stats.gamma.ppf(0.3, a))(1.4)


def test_scaled_functions_at_complex_arguments_are_refused():
    """|Re z| in their scale has no complex derivative."""
    with pytest.raises(NotDifferentiable, match="a real scale, at complex arguments"):
        sg.grad(lambda t: special.ive(0.3, (1.0 + 1.0j) * t).real)(0.7)
