import numpy as np


def trace_formula(A, x):
    B = np.linalg.inv(A)
    return np.trace(B @ A.T) + x @ B @ x + np.linalg.det(A)


ARGS = (np.array([[2.0, 0.5], [-0.3, 1.5]]), np.array([1.0, 0.4]))
WRT = ("A", "x")
