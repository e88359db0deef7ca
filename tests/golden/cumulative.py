import numpy as np


def drawdown(returns):
    wealth = np.cumprod(1.0 + returns)
    area = np.cumsum(wealth)
    return area[-1] / np.prod(wealth)


ARGS = (np.array([0.1, -0.05, 0.2, -0.1]),)
WRT = 0
