import numpy as np


def geometric_mean(x):
    assert x.ndim == 1, "a vector"
    if np.any(x <= 0.0):
        raise ValueError(f"x has to be positive, its least element is {x.min()}")
    with np.errstate(under="ignore"):
        logs = np.log(x)
    print("geometric mean of", len(x))
    return np.exp(np.mean(logs))


ARGS = (np.array([1.0, 2.0, 4.5]),)
WRT = 0
