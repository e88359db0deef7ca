import numpy as np


def potential(positions, masses):
    energy = 0.0
    for i in range(len(masses)):
        for j in range(i):
            offset = positions[i] - positions[j]
            energy -= masses[i] * masses[j] / np.sqrt(offset @ offset + 0.01)
    return energy


ARGS = (np.array([[0.0, 0.1], [1.0, 0.4], [-0.5, 1.2]]), np.array([1.0, 2.0, 0.5]))
WRT = ("positions", "masses")
