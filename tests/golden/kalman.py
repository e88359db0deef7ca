import numpy as np


def negative_log_likelihood(F, Q, R, measurements):
    n = F.shape[0]
    x = np.zeros(n)
    P = np.eye(n)
    total = 0.0
    for z in measurements:
        x = F @ x
        P = F @ P @ F.T + Q
        innovation = z - x[0]
        S = P[0, 0] + R
        gain = P[:, 0] / S
        x = x + gain * innovation
        P = P - np.outer(gain, P[0])
        total += 0.5 * (np.log(S) + innovation * innovation / S)
    return total


ARGS = (
    np.array([[1.0, 0.1], [0.0, 0.95]]),
    np.array([[0.02, 0.0], [0.0, 0.05]]),
    0.3,
    np.array([0.2, 0.5, 0.4, 0.9]),
)
WRT = ("F", "Q", "R")
