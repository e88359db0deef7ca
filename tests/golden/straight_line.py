import numpy as np


def f(x, y):
    a = x * y
    b = np.sin(a) + x
    return b * np.exp(-a)


ARGS = (0.7, 1.3)
WRT = ("x", "y")
MODES = ("grad", "value_and_grad", "vjp", "jvp")
