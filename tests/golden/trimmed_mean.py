import numpy as np


def trimmed_mean(x, trim):
    ordered = np.sort(x)
    kept = ordered[trim : len(x) - trim]
    return np.mean(kept) * np.median(x)


ARGS = (np.array([2.0, -1.0, 5.0, 0.5, 3.0]), 1)
WRT = 0
