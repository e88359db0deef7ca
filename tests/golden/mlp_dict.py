import numpy as np


def loss(params, x, y):
    h = x
    for name in ("hidden", "output"):
        layer = params[name]
        h = np.tanh(h @ layer["w"] + layer["b"])
    return np.mean((h - y) ** 2)


PARAMS = {
    "hidden": {"w": np.array([[0.1, -0.2, 0.5], [0.4, 0.3, -0.1]]), "b": np.array([0.1, 0.0, -0.2])},
    "output": {"w": np.array([[0.6], [-0.4], [0.3]]), "b": np.array([0.05])},
}
ARGS = (PARAMS, np.array([[0.5, 1.0], [-1.0, 0.2]]), np.array([[0.3], [-0.6]]))
WRT = "params"
