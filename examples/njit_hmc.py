"""Hamiltonian Monte Carlo, compiled whole: the sampler calls the derivative from jitted code.

The log density is that of a correlated normal distribution with a quartic term; the derivative is
made from its source, and the loop over samples never leaves compiled code.

    python examples/njit_hmc.py
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

import srcgrad as sg


@njit
def logp(q: np.ndarray) -> float:
    total = 0.0
    for i in range(q.shape[0]):
        total -= 0.5 * q[i] * q[i]
        if i > 0:
            total -= 0.25 * (q[i] - 0.5 * q[i - 1]) ** 4
    return total


logp_and_grad = sg.value_and_grad(logp)


@njit
def leapfrog(q, p, g, step, steps):
    """Follow the dynamics; gives position, momentum, log density and its gradient at the end."""
    value = 0.0
    for _ in range(steps):
        p = p + 0.5 * step * g
        q = q + step * p
        value, g = logp_and_grad(q)
        p = p + 0.5 * step * g
    return q, p, value, g


@njit
def sample(q, n, step, steps, seed):
    """`n` samples of the distribution with log density `logp`, and the share accepted."""
    np.random.seed(seed)
    out = np.empty((n, q.shape[0]))
    accepted = 0
    value, g = logp_and_grad(q)
    for k in range(n):
        p = np.random.standard_normal(q.shape[0])
        energy = value - 0.5 * np.sum(p * p)
        q_new, p_new, value_new, g_new = leapfrog(q, p, g, step, steps)
        energy_new = value_new - 0.5 * np.sum(p_new * p_new)
        if np.log(np.random.random()) < energy_new - energy:
            q, value, g = q_new, value_new, g_new
            accepted += 1
        out[k] = q
    return out, accepted / n


def main() -> None:
    start = np.zeros(5)
    sample(start, 1, 0.2, 10, 0)  # compile
    began = time.perf_counter()
    samples, share = sample(start, 20_000, 0.2, 10, 1)
    took = time.perf_counter() - began
    print(logp_and_grad.source)
    print(f"20000 samples in {took:.2f} s, {100 * share:.0f} % accepted")
    print("mean", np.round(samples.mean(0), 2), "deviation", np.round(samples.std(0), 2))


if __name__ == "__main__":
    main()
