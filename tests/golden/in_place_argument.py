import numpy as np


def normalise(x):
    x -= np.mean(x)
    x /= np.sqrt(np.sum(x * x))


def contrast(x, w):
    normalise(x)
    x *= w
    return np.sum(x**3)


ARGS = (np.array([0.5, 2.0, -1.0, 0.2]), np.array([1.0, 0.5, 2.0, 1.5]))
WRT = ("x", "w")
