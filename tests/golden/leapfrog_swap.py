import numpy as np


def wave(u, c, steps):
    before = u.copy()
    now = u.copy()
    after = np.zeros(len(u))
    for _ in range(steps):
        after[1:-1] = 2.0 * now[1:-1] - before[1:-1] + c * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        before, now, after = now, after, before
    return np.sum(now * now)


ARGS = (np.array([0.0, 0.3, 1.0, 0.3, 0.0]), 0.25, 4)
WRT = ("u", "c")
