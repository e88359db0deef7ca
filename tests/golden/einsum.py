import numpy as np


def bilinear(T, x, y):
    return np.sum(np.einsum("ijk,j,k->i", T, x, y) ** 2)


ARGS = (np.arange(1.0, 13.0).reshape(2, 2, 3) / 10, np.array([0.5, -1.0]), np.array([1.0, 0.3, 0.2]))
WRT = ("T", "x", "y")
