"""The Lotka-Volterra equations, and how far they are from data."""

import numpy as np

HARES = 0
LYNXES = 1


def rates(hares, lynxes, growth, hunting, decline, feeding):
    """How fast both populations change."""
    return hares * (growth - hunting * lynxes), lynxes * (feeding * hares - decline)


def simulate(theta, years, steps):
    """Both populations once a year, by Runge-Kutta steps; `theta` are logarithms of the four
    rates and of both populations at the start."""
    growth, hunting, decline, feeding, hares, lynxes = np.exp(theta)
    h = 1.0 / steps
    out = np.empty((years, 2))
    for year in range(years):
        out[year, HARES] = hares
        out[year, LYNXES] = lynxes
        for _ in range(steps):
            a, b = rates(hares, lynxes, growth, hunting, decline, feeding)
            c, d = rates(
                hares + 0.5 * h * a, lynxes + 0.5 * h * b, growth, hunting, decline, feeding
            )
            e, f = rates(
                hares + 0.5 * h * c, lynxes + 0.5 * h * d, growth, hunting, decline, feeding
            )
            p, q = rates(hares + h * e, lynxes + h * f, growth, hunting, decline, feeding)
            hares = hares + h / 6.0 * (a + 2.0 * c + 2.0 * e + p)
            lynxes = lynxes + h / 6.0 * (b + 2.0 * d + 2.0 * f + q)
    return out


def misfit(theta, observed, steps=20):
    """Sum of squared differences of logarithms."""
    model = simulate(theta, len(observed), steps)
    return np.sum((np.log(model) - np.log(observed)) ** 2)
