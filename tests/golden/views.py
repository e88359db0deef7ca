import numpy as np


def scale_rows(A, factors):
    B = A * 1.0
    for row, factor in zip(B, factors):
        row *= factor
    diagonal_block = B[1:, :2]
    diagonal_block[0] = diagonal_block[1] * diagonal_block[0]
    return np.sum(B.T * B.T)


ARGS = (np.array([[1.0, 0.4, -0.2], [0.3, 0.9, 2.0], [0.7, -1.1, 0.5]]), np.array([0.5, 1.5, -1.0]))
WRT = ("A", "factors")
