"""Integrators of `scipy.integrate` as loops over what they chose, which are differentiated.

An integrator chooses its steps, and `quad` its intervals, by the values that it meets.  These
functions run SciPy's, take what it chose for given, and compute the result from it once more:
the derivative is that of the numbers which SciPy computes, for the steps that it took.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np
from scipy import integrate

from srcgrad.runtime.support.scipy_steps import (
    accepted,
    apart,
    check_close,
    check_repeated,
    implicit_found,
    is_explicit,
    method_name,
    more_stages,
    odeint_found,
    odeint_tolerances,
    power_weights,
    steps_of,
    tableau,
    told,
    tolerances,
)


class Trajectory:
    """What `solve_ivp` gives."""

    def __init__(self, t, y, found):
        self.t = t
        self.y = y
        self.sol = told(found, "sol")
        self.t_events = told(found, "t_events")
        self.y_events = told(found, "y_events")
        self.nfev = told(found, "nfev")
        self.njev = told(found, "njev")
        self.nlu = told(found, "nlu")
        self.status = told(found, "status")
        self.message = told(found, "message")
        self.success = told(found, "success")


def solve_ivp(
    fun,
    t_span,
    y0,
    method="RK45",
    t_eval=None,
    dense_output=False,
    events=None,
    vectorized=False,
    args=None,
    **options,
):
    """`scipy.integrate.solve_ivp`: explicit methods over the steps that they accepted, others with
    the derivative of what DOP853 gives."""
    if is_explicit(method):
        return over_steps(fun, t_span, y0, method, t_eval, args, options)
    found = implicit_found(fun, t_span, y0, method, t_eval, args, options)
    if t_eval is None:
        times = with_ends(told(found, "t"), t_span, True)
    else:
        times = np.asarray(t_eval) * 1.0
    like = over_steps(fun, t_span, y0, "DOP853", times, args, tolerances(options))
    y = as_found(told(found, "y"), like.y, options)
    return Trajectory(times, y, found)


def odeint(
    func,
    y0,
    t,
    args=(),
    Dfun=None,
    col_deriv=0,
    full_output=0,
    ml=None,
    mu=None,
    rtol=None,
    atol=None,
    tcrit=None,
    h0=0.0,
    hmax=0.0,
    hmin=0.0,
    ixpr=0,
    mxstep=0,
    mxhnil=0,
    mxordn=12,
    mxords=5,
    printmessg=0,
    tfirst=False,
):
    """`scipy.integrate.odeint`, with the derivative of what DOP853 gives."""
    options = odeint_tolerances(rtol, atol)
    found = odeint_found(
        func, y0, t, args, Dfun, col_deriv, 0, ml, mu, rtol, atol, tcrit, h0, hmax, hmin, ixpr,
        mxstep, mxhnil, mxordn, mxords, printmessg, tfirst,
    )  # fmt: skip
    more = args if isinstance(args, tuple) else (args,)
    if tfirst:
        like = over_steps(func, (t[0], t[-1]), y0, "DOP853", t, more, options)
    else:
        turned = lambda time, y, *rest: func(y, time, *rest)  # noqa: E731
        like = over_steps(turned, (t[0], t[-1]), y0, "DOP853", t, more, options)
    return as_found(found, like.y.T, options)


def as_found(found, like, options):
    """The values that were found, which move as those do that were computed again."""
    again = apart(like)
    check_close(found, again, options)
    return found + (like - again)


def over_steps(fun, t_span, y0, method, t_eval, args, options):
    """The solution by an explicit method, over the steps that it accepted."""
    more = () if args is None else args
    found, steps = accepted(fun, t_span, y0, method, t_eval, args, options)
    times = with_ends(steps, t_span, told(found, "success"))
    A, B, C = tableau(method)
    extra, extra_times = more_stages(method, t_eval)
    y = np.asarray(y0) + np.zeros(np.shape(y0))
    ys = np.empty((len(times), len(y)), y.dtype)
    stages = np.empty((len(times) - 1, len(B) + 1 + len(extra), len(y)), y.dtype)
    ys[0] = y
    slope = np.asarray(fun(times[0], y, *more))
    for k in range(len(times) - 1):
        t = times[k]
        h = times[k + 1] - t
        K = np.empty((len(B) + 1 + len(extra), len(y)), y.dtype)
        K[0] = slope
        for s in range(1, len(B)):
            K[s] = fun(t + C[s] * h, y + np.dot(K[:s].T, A[s, :s]) * h, *more)
        y_new = y + h * np.dot(K[: len(B)].T, B)
        slope = np.asarray(fun(t + h, y_new, *more))
        K[len(B)] = slope
        for i in range(len(extra)):
            s = len(B) + 1 + i
            K[s] = fun(t + extra_times[i] * h, y + np.dot(K[:s].T, extra[i, :s]) * h, *more)
        stages[k] = K
        y = y_new
        ys[k + 1] = y
    check_repeated(found, t_eval, y)
    if t_eval is None:
        return Trajectory(times, ys.T, found)
    wanted, place = steps_of(t_eval, steps)
    points = np.asarray(t_eval)[wanted] * 1.0
    size = times[place + 1] - times[place]
    x = (points - times[place]) / size
    if method_name(method) == "DOP853":
        between = of_eighth_order(x, size, stages[place], ys[place], ys[place + 1])
    else:
        between = of_powers(x, size, stages[place], power_weights(method))
    return Trajectory(points, (between + ys[place]).T, found)


def with_ends(steps, t_span, reached):
    """The times of steps, which begin and end where the caller says."""
    times = np.array(steps)
    times[0] = t_span[0]
    if reached:
        times[-1] = t_span[1]
    return times


def of_powers(x, size, stages, weights):
    """What RK23 and RK45 add to the start of a step, at the parts `x` of it."""
    powers = np.cumprod(np.repeat(x[:, None], weights.shape[1], axis=1), axis=1)
    along = np.matmul(np.swapaxes(stages, 1, 2), weights)
    return size[:, None] * np.sum(along * powers[:, None, :], axis=2)


def of_eighth_order(x, size, stages, start, end):
    """The same for DOP853."""
    x, size = x[:, None], size[:, None]
    rise = end - start
    first, last = size * stages[:, 0], size * stages[:, len(integrate.DOP853.B)]
    rows = np.matmul(integrate.DOP853.D, stages)
    y = size * rows[:, 3] * x
    y = (y + size * rows[:, 2]) * (1.0 - x)
    y = (y + size * rows[:, 1]) * x
    y = (y + size * rows[:, 0]) * (1.0 - x)
    y = (y + (2.0 * rise - last - first)) * x
    y = (y + (first - rise)) * (1.0 - x)
    return (y + rise) * x
