import numpy as np


def quadratic_form(A, x):
    n = len(x)
    total = 0.0
    for i in range(n):
        row = 0.0
        for j in range(i + 1):
            row += A[i, j] * x[j]
        total += x[i] * row * row
    return total


ARGS = (np.arange(1.0, 10.0).reshape(3, 3) / 5, np.array([0.5, -1.0, 0.7]))
WRT = ("A", "x")
