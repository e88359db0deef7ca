import numpy as np


def log_density(x, B):
    K = B @ B.T + np.eye(len(x))
    L = np.linalg.cholesky(K)
    z = np.linalg.solve(L, x)
    return -0.5 * np.sum(z * z) - np.sum(np.log(np.diag(L)))


ARGS = (np.array([0.4, -1.0]), np.array([[1.0, 0.3], [-0.2, 0.5]]))
WRT = ("x", "B")
