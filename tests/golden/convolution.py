import numpy as np


def convolve(image, kernel):
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            out += kernel[i, j] * image[i : i + rows, j : j + columns]
    return np.sum(np.maximum(out, 0.0))


ARGS = (
    np.cos(np.arange(20.0)).reshape(4, 5),
    np.array([[0.5, -1.0], [0.3, 0.8]]),
)
WRT = ("image", "kernel")
MODES = ("grad", "jvp")
