import numpy as np


def logistic_path(x0, r, n):
    x = np.zeros(n)
    x[0] = x0
    for i in range(1, n):
        x[i] = r * x[i - 1] * (1.0 - x[i - 1])
    return np.sum(x * x)


ARGS = (0.3, 2.9, 6)
WRT = ("x0", "r")
MODES = ("grad", "jvp")
