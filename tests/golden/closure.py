import numpy as np


def make_damped(damping):
    def response(t, frequency):
        return np.exp(-damping * t) * np.cos(frequency * t)

    return response


damped = make_damped(0.4)


def energy(t, frequency):
    def squared(v):
        return v * v * frequency

    return squared(damped(t, frequency)) + squared(t)


ARGS = (0.8, 2.5)
WRT = ("t", "frequency")
