import numpy as np


def patches(image):
    blocks = image.reshape(2, 2, 2, 2).transpose(0, 2, 1, 3).reshape(4, 4)
    padded = np.concatenate([blocks, np.ones((1, 4))])
    return np.sum(padded[::-1] * np.roll(padded, 1, axis=0) ** 2)


ARGS = (np.linspace(0.1, 1.6, 16).reshape(4, 4),)
WRT = 0
