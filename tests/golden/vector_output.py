import numpy as np


def spherical(r, theta, phi):
    return np.array([r * np.sin(theta) * np.cos(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(theta)])


ARGS = (2.0, 0.6, 1.1)
WRT = ("r", "theta", "phi")
MODES = ("vjp", "jvp")
