import numpy as np


def capped_sum(prices, cap):
    total = 0.0
    for p in prices:
        if p < 0.0:
            continue
        if total > cap:
            break
        total = total + p * p / cap
    return total

ARGS = (np.array([1.0, -3.0, 2.0, 1.5, 4.0, 2.0]), 2.2)
WRT = ("prices", "cap")
