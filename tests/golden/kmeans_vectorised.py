import numpy as np


def inertia(centres, points):
    offsets = points[:, None] - centres[None]
    distances = np.sum(offsets**2, axis=2)
    return np.sum(np.min(distances, axis=1))


ARGS = (
    np.array([[0.0, 0.1], [2.0, 1.8]]),
    np.array([[0.3, 0.4], [1.7, 2.2], [0.2, -0.5], [2.6, 1.1]]),
)
WRT = "centres"
