import numpy as np


def positive_log(x, floor):
    y = x.copy()
    y[y < floor] = floor
    good = x[x > 0.5]
    return np.sum(np.log(y)) + np.sum(good**2)


ARGS = (np.array([0.05, 2.0, 0.7, -1.0]), 0.1)
WRT = ("x", "floor")
