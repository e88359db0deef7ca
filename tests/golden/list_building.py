import numpy as np


def harmonics(x, n):
    rows = []
    for k in range(n):
        rows.append(np.sin((k + 1) * x))
    spectrum = np.stack(rows)
    return np.sum(spectrum[0] * spectrum[-1])


ARGS = (np.array([0.3, 0.9]), 3)
WRT = 0
