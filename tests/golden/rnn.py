import numpy as np


def recurrent(W, U, inputs, targets):
    h = np.zeros(W.shape[0])
    loss = 0.0
    for t in range(len(inputs)):
        h = np.tanh(W @ h + U @ inputs[t])
        loss += np.sum((h - targets[t]) ** 2)
    return loss / len(inputs)


ARGS = (
    np.array([[0.4, -0.2], [0.1, 0.3]]),
    np.array([[0.5, 0.1], [-0.3, 0.6]]),
    np.array([[1.0, 0.2], [-0.5, 0.7], [0.3, 0.3]]),
    np.array([[0.1, 0.2], [0.3, -0.4], [0.0, 0.5]]),
)
WRT = ("W", "U")
