import numpy as np


def first_passage(drift, steps, barrier):
    position = 0.0
    for k in range(len(steps)):
        position = position + drift * steps[k]
        if position > barrier:
            return position - barrier + 0.1 * k * drift
    return -position


ARGS = (0.9, np.array([0.5, 1.0, -0.2, 2.0, 1.0]), 1.5)
WRT = ("drift", "steps")
