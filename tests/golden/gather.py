import numpy as np


def bigram_score(embedding, weights, words):
    vectors = embedding[words]
    pairs = vectors[:-1] * vectors[1:]
    return np.sum(pairs @ weights)


ARGS = (
    np.array([[0.1, 0.4], [0.9, -0.3], [0.5, 0.7]]),
    np.array([1.5, -0.5]),
    np.array([0, 2, 2, 1, 0]),
)
WRT = ("embedding", "weights")
