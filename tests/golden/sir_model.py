import numpy as np


def sir(beta, gamma, infected, observed):
    susceptible = 763.0 - infected
    misfit = 0.0
    for day in range(len(observed)):
        for _ in range(4):
            caught = beta * susceptible * infected / 763.0 * 0.25
            healed = gamma * infected * 0.25
            susceptible -= caught
            infected += caught - healed
        misfit += (infected - observed[day]) ** 2
    return misfit


ARGS = (1.7, 0.45, 1.0, np.array([3.0, 8.0, 26.0, 76.0]))
WRT = ("beta", "gamma", "infected")
MODES = ("value_and_grad", "jvp")
