import numpy as np


def log_likelihood(start, transition, emission, observations):
    alpha = start * emission[:, observations[0]]
    total = 0.0
    for symbol in observations[1:]:
        scale = np.sum(alpha)
        total += np.log(scale)
        alpha = (alpha / scale) @ transition * emission[:, symbol]
    return total + np.log(np.sum(alpha))


ARGS = (
    np.array([0.6, 0.4]),
    np.array([[0.7, 0.3], [0.2, 0.8]]),
    np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]),
    np.array([0, 1, 2, 2, 0]),
)
WRT = ("start", "transition", "emission")
