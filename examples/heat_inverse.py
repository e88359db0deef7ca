"""Recover where a plate was heated from its temperature some time later.

    python examples/heat_inverse.py [--plot fields.png]

Heat spreads over a square plate whose conductivity grows with its temperature, by a stencil that
updates one array in place, for 300 steps. The gradient of the misfit by the initial temperature
goes back through all of them. The loop is marked `checkpointed`: the gradient keeps 12 copies of
the temperature instead of some arrays for each step, and runs steps again from these. The program
prints what that saves, then finds the initial temperature with L-BFGS. Needs scipy; the plot needs
matplotlib.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
from scipy.optimize import minimize

import srcgrad as sg

SIZE = 40
STEPS = 300
SMOOTHNESS = 2e-4


def spread(u, steps):
    """The plate after some steps; `u` is written over, its edge stays at the outer temperature."""
    for _ in sg.checkpointed(range(steps), snapshots=12):
        k = 0.05 + 0.1 * u * u
        down = (k[1:, 1:-1] + k[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
        right = (k[1:-1, 1:] + k[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
        u[1:-1, 1:-1] += 0.5 * (down[1:] - down[:-1] + right[:, 1:] - right[:, :-1])
    return u


def spread_taped(u, steps):
    """The same, without the mark."""
    for _ in range(steps):
        k = 0.05 + 0.1 * u * u
        down = (k[1:, 1:-1] + k[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
        right = (k[1:-1, 1:] + k[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
        u[1:-1, 1:-1] += 0.5 * (down[1:] - down[:-1] + right[:, 1:] - right[:, :-1])
    return u


def roughness(u):
    return np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 2)


def misfit(u, measured, steps):
    rough = roughness(u)
    return np.sum((spread(u, steps) - measured) ** 2) + SMOOTHNESS * rough


def misfit_taped(u, measured, steps):
    rough = roughness(u)
    return np.sum((spread_taped(u, steps) - measured) ** 2) + SMOOTHNESS * rough


def heated():
    """A disc and a bar, the temperature that is to be found."""
    y, x = np.mgrid[0:SIZE, 0:SIZE] / (SIZE - 1.0)
    u = np.zeros((SIZE, SIZE))
    u[(x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.15**2] = 1.0
    u[(np.abs(x - 0.7) < 0.06) & (np.abs(y - 0.6) < 0.25)] = 0.7
    return u


def memory_of(gradient, *arguments):
    """Megabytes at the peak of one call, and its result."""
    tracemalloc.start()
    found = gradient(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6, found


def compare(measured):
    """What the mark changes: memory and time, and not the gradient."""
    start = np.full(measured.shape, 0.1)
    found = {}
    for name, f in (("taped", misfit_taped), ("checkpointed", misfit)):
        gradient = sg.grad(f)
        gradient(start, measured, 2)
        begun = time.perf_counter()
        gradient(start, measured, STEPS)
        took = time.perf_counter() - begun
        megabytes, found[name] = memory_of(gradient, start, measured, STEPS)
        print(f"{name:12}  {megabytes:7.2f} MB at the peak  {took:6.3f} s")
    same = np.array_equal(found["taped"], found["checkpointed"])
    print(f"the gradients are {'equal to the last bit' if same else 'different'}")


def recover(measured):
    value_and_gradient = sg.value_and_grad(misfit)

    def objective(flat):
        value, u_bar = value_and_gradient(flat.reshape(measured.shape), measured, STEPS)
        return value, u_bar.ravel()

    bounds = [(0.0, 1.5)] * measured.size
    start = np.full(measured.size, 0.1)
    options = {"maxiter": 25}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found, found.x.reshape(measured.shape)


def plot(fields, path):
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(fields), figsize=(9, 3))
    for axis, (title, field) in zip(axes, fields.items(), strict=True):
        axis.imshow(field, vmin=0.0, vmax=1.0, cmap="inferno")
        axis.set(title=title, xticks=[], yticks=[])
    figure.savefig(path, dpi=150, bbox_inches="tight")
    print(f"plotted to {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE")
    path = parser.parse_args().plot
    truth = heated()
    measured = spread(truth.copy(), STEPS)
    compare(measured)
    result, found = recover(measured)
    before = np.sqrt(np.mean((np.full(truth.shape, 0.1) - truth) ** 2))
    after = np.sqrt(np.mean((found - truth) ** 2))
    ends = np.max(np.abs(spread(found.copy(), STEPS) - measured))
    print(f"{result.nfev} gradients; misfit {result.fun:.2e}")
    print(f"error of the initial temperature: {before:.3f} at the start, {after:.3f} found")
    print(f"largest difference of the final temperature: {ends:.1e}")
    print(f"hottest place of the disc: {found[11:18, 9:16].max():.2f} (it was 1.00)")
    if path:
        plot({"measured": measured, "found": found, "heated": truth}, path)


if __name__ == "__main__":
    main()
