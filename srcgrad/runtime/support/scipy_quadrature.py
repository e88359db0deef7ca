"""Integrals of `scipy.integrate`, of functions and of samples, read from this source."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np
from scipy import integrate

from srcgrad.runtime.support.adjoints import error
from srcgrad.runtime.support.scipy_steps import apart

NODES = 21  # of Gauss' rule in each interval; as many as quad has


def quad(
    func,
    a,
    b,
    args=(),
    full_output=0,
    epsabs=1.49e-8,
    epsrel=1.49e-8,
    limit=50,
    points=None,
    weight=None,
    wvar=None,
    wopts=None,
    maxp1=50,
    limlst=50,
    complex_func=False,
):
    """`scipy.integrate.quad`, with Gauss' rule in the intervals that it ended with.

    The first and the last interval move with the limits, the others stay.
    """
    more = args if isinstance(args, tuple) else (args,)
    found, rough, cuts, nodes, weights = intervals(func, a, b, more, epsabs, epsrel, limit, points)
    places, shares = gauss_rule()
    total = 0.0
    last = len(cuts) - 2
    for k in range(last + 1):
        low = a if k == 0 and np.isfinite(a) else cuts[k]
        high = b if k == last and np.isfinite(b) else cuts[k + 1]
        size = high - low
        for i in range(len(places)):
            total = total + size * shares[i] * func(low + size * places[i], *more)
    for i in range(len(nodes)):
        total = total + weights[i] * func(nodes[i], *more)
    again = apart(total)
    check_alike(found, rough, again)
    return found + (total - again), rough


def gauss_rule():
    """Places and weights of Gauss' rule between 0 and 1."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    return 0.5 * (x + 1.0), 0.5 * w


def intervals(func, a, b, args, epsabs, epsrel, limit, points):
    """The integral and its error; the ends of the intervals from a limit that is finite; places
    and weights where a limit is not."""
    found = integrate.quad(func, a, b, args, 1, epsabs, epsrel, limit, points)
    info = found[2]
    lows, highs = (np.asarray(info[k])[: info["last"]] for k in ("alist", "blist"))
    if np.isfinite(a) and np.isfinite(b):
        cuts = np.array([a, *np.sort(lows)[1:], b] if a <= b else [a, *np.sort(lows)[:0:-1], b])
        return found[0], found[1], cuts, np.zeros(0), np.zeros(0)
    return (found[0], found[1], *_unbounded(float(a), float(b), lows, highs))


def _unbounded(a, b, lows, highs):
    """The intervals of t, from 0 to 1, at x = a + (1 - t) / t, as SciPy's QUADPACK has it."""
    edges = np.unique([*lows, *highs, 1.0, 0.5])
    sign = 1.0 if a <= b else -1.0
    low, high = min(a, b), max(a, b)
    x, w = gauss_rule()
    start, cuts = edges, np.zeros(0)
    if np.isfinite(low) or np.isfinite(high):
        end, away = (low, 1.0) if np.isfinite(low) else (high, -1.0)
        far = end + away * (1.0 - edges[-2]) / edges[-2]
        cuts = np.array([end, far] if end == a else [far, end])
        start = edges[:-1]
    sizes = np.diff(start)
    t = (start[:-1, None] + sizes[:, None] * x).ravel()
    weights = (sizes[:, None] * w).ravel() / t**2
    beyond = (1.0 - t) / t
    if not len(cuts):
        return cuts, np.append(beyond, -beyond), sign * np.append(weights, weights)
    return cuts, end + away * beyond, sign * weights


def check_alike(found, rough, again):
    """The two ways to integrate have to agree."""
    if abs(found - again) > 1e-6 * abs(found) + 10.0 * abs(rough):
        raise error(
            "NotDifferentiable",
            "scipy.integrate.quad: the function is too far from smooth for a derivative; give the "
            "places of its singularities as points, or substitute the variable",
        )


def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    """`scipy.integrate.dblquad`, one integral in the other."""

    def inner(y):
        return quad(lambda x: func(x, y, *args), gfun(y), hfun(y), (), 0, epsabs, epsrel)[0]

    return quad(inner, a, b, (), 0, epsabs, epsrel)


# ---- integrals of samples -----------------------------------------------------------


def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        steps = dx
    elif np.ndim(x) == 1:
        steps = np.diff(x)
    else:
        steps = np.diff(np.moveaxis(np.asarray(x), axis, -1))
    sums = np.cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        start = np.full((*np.shape(sums)[:-1], 1), initial)
        sums = np.concatenate([start, sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def romb(y, dx=1.0, axis=-1, show=False):
    """Romberg's extrapolation of the trapezoidal rule (Press et al., Numerical Recipes, 4.3)."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    count = np.shape(y)[-1] - 1
    rows = [count * dx * (y[..., 0] + y[..., -1]) / 2.0]
    stride = count
    while stride > 1:
        half = stride // 2
        new = [rows[0] / 2.0 + half * dx * np.sum(y[..., half::stride], axis=-1)]
        for k in range(len(rows)):
            new.append(new[k] + (new[k] - rows[k]) / (4.0 ** (k + 1) - 1.0))
        rows = new
        stride = half
    return rows[-1]
