import numpy as np


def batch_norm(x, scale, shift):
    mean = x.mean(axis=0)
    variance = np.mean((x - mean) ** 2, axis=0)
    out = scale * (x - mean) / np.sqrt(variance + 1e-5) + shift
    return np.sum(out**3)


ARGS = (
    np.array([[0.1, 0.9], [1.3, -0.4], [-0.7, 0.6]]),
    np.array([1.1, 0.8]),
    np.array([0.2, -0.1]),
)
WRT = ("x", "scale", "shift")
MODES = ("grad", "jvp")
