import numpy as np


def lorenz(state, sigma, rho, beta):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def rk4(state, sigma, rho, beta, h, steps):
    for _ in range(steps):
        k1 = lorenz(state, sigma, rho, beta)
        k2 = lorenz(state + 0.5 * h * k1, sigma, rho, beta)
        k3 = lorenz(state + 0.5 * h * k2, sigma, rho, beta)
        k4 = lorenz(state + h * k3, sigma, rho, beta)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state @ state


ARGS = (np.array([1.0, 0.5, 2.0]), 10.0, 28.0, 2.5, 0.01, 3)
WRT = ("state", "sigma", "rho", "beta")
