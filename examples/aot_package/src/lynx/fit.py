"""Fitting the model: BFGS with the gradient that was made ahead of time."""

from typing import NamedTuple

import numpy as np

from lynx._gradients import misfit_value_and_grad

START = np.log([0.5, 0.03, 0.8, 0.03, 30.0, 4.0])


class Fit(NamedTuple):
    """The parameters found, and how far the model is from the data with them."""

    growth: float
    hunting: float
    decline: float
    feeding: float
    hares: float
    lynxes: float
    misfit: float
    evaluations: int


def fit(observed, start=START, tolerance=1e-6):
    """The parameters with which the model is closest to `observed` (years by 2)."""
    theta = np.array(start, float)
    value, gradient = misfit_value_and_grad(theta, observed)
    inverse = np.eye(len(theta)) / np.linalg.norm(gradient)
    evaluations = 1
    while np.linalg.norm(gradient) > tolerance and evaluations < 500:
        direction = -inverse @ gradient
        step = 1.0
        while True:
            new_value, new_gradient = misfit_value_and_grad(theta + step * direction, observed)
            evaluations += 1
            if new_value <= value + 1e-4 * step * (gradient @ direction) or step < 1e-12:
                break
            step /= 2.0
        moved, turned = step * direction, new_gradient - gradient
        inverse = updated(inverse, moved, turned)
        theta, value, gradient = theta + moved, new_value, new_gradient
    return Fit(*(float(x) for x in np.exp(theta)), float(value), evaluations)


def updated(inverse, moved, turned):
    """The BFGS update of the inverse Hessian."""
    curvature = moved @ turned
    if curvature <= 0.0:
        return inverse
    keep = np.eye(len(moved)) - np.outer(moved, turned) / curvature
    return keep @ inverse @ keep.T + np.outer(moved, moved) / curvature
