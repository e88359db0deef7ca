import numpy as np


def gaussian_kernel(a, b, width):
    difference = a[:, np.newaxis, :] - b[np.newaxis, :, :]
    squared = np.sum(difference**2, axis=-1)
    return np.sum(np.exp(-squared / (2.0 * width**2)))


ARGS = (
    np.array([[0.1, 0.5], [0.9, -0.3], [1.5, 0.4]]),
    np.array([[0.4, 0.2], [-0.6, 0.8]]),
    0.9,
)
WRT = ("a", "b", "width")
