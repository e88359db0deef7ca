import numpy as np


def f(x, y):
    unused = np.exp(x) * y
    count = 0
    for k in range(3):
        count += k
    label = "sum" if count else "mean"
    return np.sum(x * y) if label == "sum" else np.mean(x)


ARGS = (np.array([1.0, 2.0]), np.array([0.5, -1.0]))
WRT = "x"
