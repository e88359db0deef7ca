import numpy as np


class Layer:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)

    def loss(self, x, target):
        error = self(x) - target
        return error @ error


layer = Layer(np.array([[0.5, -0.3], [0.8, 0.2]]), np.array([0.1, -0.2]))

PRIMAL = layer.loss
ARGS = (np.array([0.6, -0.9]), np.array([0.2, 0.1]))
WRT = "x"
