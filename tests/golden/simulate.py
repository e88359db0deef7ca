import numpy as np


def simulate(x, w, n):
    s = 0.0
    for i in range(n):
        h = np.tanh(w * s + x[i])
        s = h * s + 1.0
    return s


ARGS = (np.array([0.2, -0.4, 0.9, 0.3]), 0.8, 4)
WRT = ("x", "w")
MODES = ("grad", "jvp")
