"""What SciPy's optimisers ask for, made by srcgrad: gradient, Hessian, Hessian times a vector,
constraints and their Jacobians, residuals and theirs.

    python examples/scipy_optimize.py

Three problems with known answers: Rosenbrock's valley, a hanging chain, and the decay of a mixture
of two substances. Each is written as a person would write it in NumPy; none has a derivative
written by hand.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, least_squares, minimize

import srcgrad as sg

# ---- without constraints: jac=True, hess=, hessp= --------------------------------------------


def rosenbrock(x):
    """Rosenbrock (1960): a curved valley with its bottom at (1, ..., 1)."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def valley():
    value_and_gradient = sg.value_and_grad(rosenbrock)  # one call gives both: jac=True
    product = sg.hvp(rosenbrock)  # takes the vector first, as all of srcgrad's products do
    start = np.full(8, -1.0)
    known = {
        "BFGS": {},
        "trust-exact": {"hess": sg.hessian(rosenbrock)},
        "Newton-CG": {"hessp": lambda x, vector: product(vector, x)},
    }
    print("Rosenbrock's valley in 8 dimensions")
    for method, more in known.items():
        found = minimize(value_and_gradient, start, jac=True, method=method, **more)
        off = np.max(np.abs(found.x - 1.0))
        print(f"  {method:12} {found.nfev:4} evaluations, {found.nit:3} steps, off by {off:.0e}")


# ---- constraints ------------------------------------------------------------------------------

LINKS = 12


def height(angles):
    """Potential energy of a chain of equal links hanging from the origin."""
    return np.sum(np.cumsum(np.sin(angles)))


def ends(angles):
    """Where the chain ends; it has to be fastened at (6, 0)."""
    return np.array([np.sum(np.cos(angles)), np.sum(np.sin(angles))])


def weighted_ends(angles, multipliers):
    """Its Hessian is what SciPy asks of a constraint: second derivatives by multipliers."""
    return ends(angles) @ multipliers


def gap(angles):
    return ends(angles) - np.array([6.0, 0.0])


def chain():
    fastened = NonlinearConstraint(
        ends, [6.0, 0.0], [6.0, 0.0], jac=sg.jacobian(ends), hess=sg.hessian(weighted_ends)
    )  # fmt: skip
    found = minimize(
        sg.value_and_grad(height), np.linspace(-1.0, 1.0, LINKS), jac=True,
        hess=sg.hessian(height), constraints=[fastened], method="trust-constr",
        options={"gtol": 1e-9, "xtol": 1e-12},
    )  # fmt: skip
    slopes = np.tan(found.x)
    # Forces balance at every joint, so that slopes grow by equal steps: a discrete catenary.
    uneven = np.ptp(np.diff(slopes)) / np.ptp(slopes)
    lowest = np.min(np.cumsum(np.sin(found.x)))
    print(f"\na chain of {LINKS} links, {found.nit} steps, lowest point {lowest:.4f}")
    print(f"  ends off by {found.constr_violation:.0e}, slopes uneven by {uneven:.0e}")
    by_slsqp = minimize(
        sg.value_and_grad(height), np.linspace(-1.0, 1.0, LINKS), jac=True, method="SLSQP",
        constraints=[{"type": "eq", "fun": gap, "jac": sg.jacobian(gap)}],
        options={"ftol": 1e-14, "maxiter": 200},
    )  # fmt: skip
    print(f"  SLSQP agrees to {np.max(np.abs(by_slsqp.x - found.x)):.0e}")


# ---- least squares ----------------------------------------------------------------------------


def activity(theta, times):
    """Two substances, with amounts and rates of decay."""
    amounts, rates = theta[:2], theta[2:]
    return np.exp(-np.outer(times, rates)) @ amounts


def residuals(theta, times, measured):
    return activity(theta, times) - measured


def decay():
    times = np.linspace(0.0, 6.0, 40)
    truth = np.array([3.0, 1.0, 2.0, 0.3])
    noise = np.random.default_rng(5).normal(scale=0.01, size=times.size)
    measured = activity(truth, times) + noise
    found = least_squares(
        residuals, np.array([1.0, 1.0, 3.0, 0.1]), jac=sg.jacobian(residuals),
        bounds=Bounds(np.zeros(4), np.full(4, 10.0)), args=(times, measured),
        xtol=1e-12, ftol=1e-12, gtol=1e-12,
    )  # fmt: skip
    # Standard errors from the same Jacobian, at the solution.
    errors = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac))) * 0.01
    print(f"\na mixture of two substances, {found.nfev} evaluations of the residuals")
    for name, value, error in zip(("A", "B", "a", "b"), found.x, errors, strict=True):
        print(f"  {name} = {value:.3f} +- {error:.3f}")


if __name__ == "__main__":
    valley()
    chain()
    decay()
