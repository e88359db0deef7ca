"""What integrators of `scipy.integrate` chose; no derivative passes through these functions."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np
from scipy import integrate

from srcgrad.runtime.support.adjoints import error

EXPLICIT = {"RK23": integrate.RK23, "RK45": integrate.RK45, "DOP853": integrate.DOP853}

# How far a step may reach where what decays is left behind (Hairer and Wanner, Solving Ordinary
# Differential Equations II, section IV.2).
LIMITS = {"RK23": 2.51, "RK45": 3.31, "DOP853": 6.1}
MOST_STEPS = 100_000  # more than these would hardly fit into memory
_OF_STEPS = "scipy.integrate: an explicit method, whose steps are differentiated,"
_STIFF = (
    "the limit of its stability, where the derivative of the steps is not that of the solution; "
    "make rtol and atol smaller"
)


class Search:
    """What SciPy gave, in no container."""

    def __init__(self, result):
        self.result = result


def accepted(fun, t_span, y0, method, t_eval, args, options):
    """What SciPy finds, and the times of the steps that it accepted."""
    name = method_name(method)
    times, stiff = [float(t_span[0])], [0]

    class Recorded(EXPLICIT[name]):  # type: ignore[misc, valid-type]
        def step(self):
            message = super().step()
            if self.status != "failed":
                times.append(self.t)
                stiff[0] += self.t_old != self.t and stretch(self) > 0.9 * LIMITS[name]
            if len(times) > MOST_STEPS:
                raise error("NotDifferentiable", f"{_OF_STEPS} takes more than {MOST_STEPS} steps")
            return message

    found = integrate.solve_ivp(fun, t_span, y0, Recorded, t_eval, args=args, **options)
    if stiff[0] > max(5, 0.05 * len(times)):
        raise error("NotDifferentiable", f"{_OF_STEPS} is at {_STIFF}")
    return Search(found), np.array(times)


def stretch(solver):
    """How far the step of a solver reaches in the time in which its error would decay."""
    h = solver.h_previous
    moved = h * np.dot(solver.K.T, solver.E5 if hasattr(solver, "E5") else solver.E)
    length = np.linalg.norm(moved)
    if length <= 1e-12 * np.linalg.norm(solver.y):
        return 0.0
    change = np.asarray(solver._fun(solver.t, solver.y + moved)) - solver.f
    return abs(h) * np.linalg.norm(change) / length


def told(found, name):
    """What the integrator says of its work."""
    return getattr(found.result, name)


def method_name(method):
    return method if isinstance(method, str) else method.__name__


def tableau(method):
    """The coefficients of a method."""
    cls = EXPLICIT[method_name(method)]
    return cls.A, cls.B, cls.C


def more_stages(method, t_eval):
    """Those of the stages that DOP853 has for times inside a step."""
    if t_eval is None or method_name(method) != "DOP853":
        return np.zeros((0, 0)), np.zeros(0)
    return integrate.DOP853.A_EXTRA, integrate.DOP853.C_EXTRA


def power_weights(method):
    return EXPLICIT[method_name(method)].P


def steps_of(t_eval, times):
    """Which of these times were reached, and in which step each of them is."""
    forward = 1.0 if times[-1] >= times[0] else -1.0
    place = np.searchsorted(forward * times[1:], forward * np.asarray(t_eval))
    wanted = np.flatnonzero(place < len(times) - 1)
    return wanted, place[wanted]


def is_explicit(method):
    """Whether the steps of a method are repeated: those of others are equations."""
    known = EXPLICIT.get(method_name(method))
    return known is not None and (isinstance(method, str) or method is known)


def implicit_found(fun, t_span, y0, method, t_eval, args, options):
    """What SciPy finds by a method whose steps are equations."""
    found = integrate.solve_ivp(fun, t_span, y0, method, t_eval, args=args, **options)
    if not found.success:
        raise error("NotDifferentiable", f"scipy.integrate.solve_ivp: {found.message}")
    return Search(found)


def odeint_found(*args):
    return integrate.odeint(*args)


def tolerances(options):
    """Those of the options that other methods have, too."""
    return {k: v for k, v in options.items() if k in ("rtol", "atol", "max_step")}


def odeint_tolerances(rtol, atol):
    default = 1.49012e-8
    return {
        "rtol": default if rtol is None else np.min(rtol),
        "atol": default if atol is None else atol,
    }


def check_close(found, again, options):
    """DOP853 has to come to the same values."""
    near = 100.0 * (options.get("rtol", 1e-3) * np.max(np.abs(found)))
    near += 100.0 * np.max(options.get("atol", 1e-6))
    if not np.max(np.abs(found - again)) <= near:
        raise error(
            "NotDifferentiable",
            "scipy.integrate: DOP853, whose derivative is taken, comes to other values at these "
            "tolerances; make them smaller",
        )


def check_repeated(found, t_eval, end):
    """The steps, taken once more, have to come to the same end."""
    if t_eval is None and not np.allclose(found.result.y[:, -1], end, 1e-6, 1e-12, equal_nan=True):
        raise error(
            "NotDifferentiable",
            "scipy.integrate.solve_ivp: the function gives other values when it is called again",
        )


def apart(total):
    """The same value, with which nothing moves."""
    return total if np.ndim(total) == 0 else np.array(total)
