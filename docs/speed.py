"""How fast compiled gradients are: `python docs/speed.py` prints the table of docs/numba.md.

Each function is written once; its adjoint is written by hand beside it, compiled the same way.
Times are the least processor times of several rounds in one process, in turns.
"""

from __future__ import annotations

import math
import os
import platform
import sys
import time

import numpy as np
from numba import __version__ as numba_version
from numba import njit

import srcgrad as sg

ROUNDS = int(os.environ.get("SPEED_ROUNDS", "15"))


# ---- attention weights: a softmax in each row ----


def softmax(x, w):
    total = 0.0
    e = np.empty(x.shape[1])
    for i in range(x.shape[0]):
        most = x[i, 0]
        for j in range(x.shape[1]):
            if x[i, j] > most:
                most = x[i, j]
        s = 0.0
        for j in range(x.shape[1]):
            e[j] = math.exp(x[i, j] - most)
            s += e[j]
        for j in range(x.shape[1]):
            total += e[j] / s * w[i, j]
    return total


def softmax_by_hand(x, w):
    x_bar = np.empty(x.shape)
    e = np.empty(x.shape[1])
    for i in range(x.shape[0]):
        most = x[i, 0]
        for j in range(x.shape[1]):
            if x[i, j] > most:
                most = x[i, j]
        s, d = 0.0, 0.0
        for j in range(x.shape[1]):
            e[j] = math.exp(x[i, j] - most)
            s += e[j]
            d += e[j] * w[i, j]
        d /= s
        for j in range(x.shape[1]):
            x_bar[i, j] = e[j] / s * (w[i, j] - d)
    return x_bar


# ---- a factorisation in place ----


def cholesky(a, b):
    c = a.copy()
    for i in range(c.shape[0]):
        for j in range(i):
            for k in range(j):
                c[i, j] -= c[i, k] * c[j, k]
            c[i, j] /= c[j, j]
        for k in range(i):
            c[i, i] -= c[i, k] * c[i, k]
        c[i, i] = math.sqrt(c[i, i])
    total = 0.0
    for i in range(c.shape[0]):
        for j in range(i + 1):
            total += c[i, j] * b[i, j]
    return total


def cholesky_by_hand(a, b):
    n = a.shape[0]
    c = a.copy()
    for i in range(n):
        for j in range(i):
            s = c[i, j]
            for k in range(j):
                s -= c[i, k] * c[j, k]
            c[i, j] = s / c[j, j]
        s = c[i, i]
        for k in range(i):
            s -= c[i, k] * c[i, k]
        c[i, i] = math.sqrt(s)
    g = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            g[i, j] = b[i, j]
    for i in range(n - 1, -1, -1):
        g[i, i] *= 0.5 / c[i, i]
        u = 2.0 * g[i, i]
        for k in range(i):
            g[i, k] -= u * c[i, k]
        for j in range(i - 1, -1, -1):
            v = g[i, j] / c[j, j]
            g[i, j] = v
            g[j, j] -= v * c[i, j]
            for k in range(j):
                g[i, k] -= v * c[j, k]
                g[j, k] -= v * c[i, k]
    return g


# ---- the heat equation: a stencil in a loop over time ----


def heat(u, steps):
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i] + 0.2 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i]
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i] * u[i]
    return total


def heat_by_hand(u, steps):
    n = u.shape[0]
    w = u.copy()
    v = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            v[i] = w[i] + 0.2 * (w[i - 1] - 2.0 * w[i] + w[i + 1])
        for i in range(1, n - 1):
            w[i] = v[i]
    g = 2.0 * w
    d = np.zeros(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            d[i] = g[i]
        g[0] += 0.2 * d[1]
        g[n - 1] += 0.2 * d[n - 2]
        for i in range(1, n - 1):
            g[i] = 0.6 * d[i] + 0.2 * (d[i - 1] + d[i + 1])
    return g


# ---- a logistic map with a parameter for each step ----


def iterate(r, x):
    for i in range(r.shape[0]):
        x = r[i] * x * (1.0 - x)
    return x


def iterate_by_hand(r, x):
    xs = np.empty(r.shape[0])
    for i in range(r.shape[0]):
        xs[i] = x
        x = r[i] * x * (1.0 - x)
    g = np.empty(r.shape[0])
    b = 1.0
    for i in range(r.shape[0] - 1, -1, -1):
        g[i] = b * xs[i] * (1.0 - xs[i])
        b *= r[i] * (1.0 - 2.0 * xs[i])
    return g


def kernels():
    """Of each kernel: the name, the function, its adjoint and arguments."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((400, 100))
    m = rng.standard_normal((120, 120))
    return {
        "softmax in each row": (softmax, softmax_by_hand, (x, rng.random(x.shape))),
        "Cholesky in place": (cholesky, cholesky_by_hand, (m @ m.T + 120 * np.eye(120), m)),
        "heat equation": (heat, heat_by_hand, (rng.random(2000), 100)),
        "logistic map": (iterate, iterate_by_hand, (3.0 + 0.5 * rng.random(50_000), 0.3)),
    }


def least_times(functions, args):
    """The least time of each function, in seconds, called in turns."""
    best = [math.inf] * len(functions)
    for _ in range(ROUNDS):
        for k, fn in enumerate(functions):
            start = time.process_time()
            fn(*args)
            best[k] = min(best[k], time.process_time() - start)
    return best


def main() -> None:
    print(
        f"<!-- {platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {numba_version} -->"
    )
    print("| | function | gradient | adjoint by hand | gradient / function | gradient / by hand |")
    print("|---|---|---|---|---|---|")
    for name, (fn, by_hand, args) in kernels().items():
        primal, adjoint = njit(error_model="numpy")(fn), njit(error_model="numpy")(by_hand)
        gradient = sg.grad(primal)
        primal(*args)
        off = np.max(np.abs(gradient(*args) - adjoint(*args))) / np.max(np.abs(adjoint(*args)))
        if off > 1e-9:
            sys.exit(f"{name}: the gradient differs from the adjoint by {off}")
        f, g, h = least_times((primal, gradient, adjoint), args)
        print(
            f"| {name} | {1e6 * f:.0f} µs | {1e6 * g:.0f} µs | {1e6 * h:.0f} µs "
            f"| {g / f:.1f} | {g / h:.2f} |"
        )


if __name__ == "__main__":
    main()
