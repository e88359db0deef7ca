import numpy as np


def horner(coefficients, x):
    value = 0.0
    for c in coefficients:
        value = value * x + c
    return value


ARGS = (np.array([0.5, -1.0, 2.0, 0.3]), 1.4)
WRT = ("coefficients", "x")
MODES = ("grad", "value_and_grad")
