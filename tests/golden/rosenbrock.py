import numpy as np


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


ARGS = (np.array([1.2, 0.9, 1.1, 0.7]),)
WRT = 0
MODES = ("grad", "value_and_grad", "jvp")
