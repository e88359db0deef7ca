import numpy as np


def smooth_then_fit(x, a):
    y = np.empty(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + (1.0 - a) * x[i]
    loss = 0.0
    for i in range(len(x)):
        loss += (y[i] - x[i]) ** 2
    return loss


ARGS = (np.array([0.2, 1.0, -0.4, 0.7]), 0.6)
WRT = ("x", "a")
