import numpy as np


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention(Q, K, V):
    weights = softmax(Q @ K.T / np.sqrt(Q.shape[-1]))
    return np.sum((weights @ V) ** 2)


ARGS = (
    np.sin(np.arange(6.0)).reshape(3, 2),
    np.cos(np.arange(8.0)).reshape(4, 2),
    np.sin(np.arange(8.0) + 0.5).reshape(4, 2),
)
WRT = ("Q", "K", "V")
