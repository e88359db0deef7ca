import numpy as np


def inertia(centres, points):
    cost = 0.0
    for p in points:
        best = np.inf
        for c in centres:
            distance = np.sum((p - c) ** 2)
            if distance < best:
                best = distance
        cost += best
    return cost


ARGS = (
    np.array([[0.0, 0.1], [2.0, 1.8]]),
    np.array([[0.3, 0.4], [1.7, 2.2], [0.2, -0.5], [2.6, 1.1]]),
)
WRT = "centres"
