import numpy as np


def safe_log(x):
    return np.sum(np.where(x > 0.0, np.log(np.maximum(x, 1e-300)) * x, -(x**2)))


ARGS = (np.array([0.5, -2.0, 1.7]),)
WRT = 0
