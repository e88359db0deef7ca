import numpy as np


def heat(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


ARGS = (np.array([0.0, 1.0, 0.5, -0.3, 0.8, 0.0]), 0.2, 3)
WRT = ("u", "k")
MODES = ("grad", "jvp")
