import numpy as np


def loss(w, x):
    z = 2.0 * (x @ w)
    return np.sum(np.log1p(np.exp(-z)))


ARGS = (np.array([0.5, -1.0], np.float32), np.array([[1.0, 0.2], [0.3, 0.7]], np.float32))
WRT = "w"
TOLERANCE = 1e-5
