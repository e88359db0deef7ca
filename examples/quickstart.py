"""Fit an epidemic model to the influenza outbreak in a boarding school in 1978.

    python examples/quickstart.py [--plot fit.png]

The model is an ordinary Python loop. srcgrad writes the source of its gradient, which this program
prints, checks against differences, and gives to SciPy's optimiser. Needs scipy; the plot needs
matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import srcgrad as sg

BOYS = 763
STEPS_A_DAY = 12
DATA = Path(__file__).parent / "data" / "influenza_1978.csv"


def simulate(transmission, recovery, infected, days):
    """The number of infected boys on each day; the first day is the day of `infected`."""
    in_bed = np.zeros(days)
    susceptible = BOYS - infected
    dt = 1.0 / STEPS_A_DAY
    for day in range(days):
        in_bed[day] = infected
        for _ in range(STEPS_A_DAY):
            caught = transmission * susceptible * infected / BOYS * dt
            recovered = recovery * infected * dt
            susceptible -= caught
            infected += caught - recovered
    return in_bed


def loss(theta, observed):
    """Minus the log-likelihood of Poisson counts; `theta` are logarithms: any will do."""
    transmission = np.exp(theta[0])
    recovery = np.exp(theta[1])
    infected = np.exp(theta[2])
    expected = simulate(transmission, recovery, infected, len(observed))
    return np.sum(expected - observed * np.log(expected))


def fit(observed, start, value_and_gradient):
    return minimize(value_and_gradient, start, args=(observed,), jac=True, method="BFGS")


def report(result, observed):
    transmission, recovery, infected = np.exp(result.x)
    print(f"transmission      {transmission:6.3f} a day")
    print(f"recovery          {recovery:6.3f} a day, so {1 / recovery:.1f} days in bed")
    print(f"infected on day 1 {infected:6.2f}")
    print(f"reproduction      {transmission / recovery:6.2f} boys infected by one")
    print(f"{result.nfev} evaluations\n\nday  in bed  model")
    expected = simulate(transmission, recovery, infected, len(observed))
    for day, (boys, model) in enumerate(zip(observed, expected, strict=True), 1):
        print(f"{day:3}  {boys:6.0f}  {model:5.0f}")


def plot(result, observed, path):
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    days = np.arange(1, len(observed) + 1)
    figure, axes = pyplot.subplots(figsize=(6, 4))
    axes.plot(days, observed, "o", label="British Medical Journal, 1978")
    axes.plot(days, simulate(*np.exp(result.x), len(observed)), label="fitted model")
    axes.set(xlabel="day", ylabel="boys in bed")
    axes.legend()
    figure.savefig(path, dpi=150, bbox_inches="tight")
    print(f"the plot is in {path}")


def main():
    parser = argparse.ArgumentParser(description="Fit an epidemic model with srcgrad.")
    parser.add_argument("--plot", metavar="PATH", help="save a picture of the fit there")
    options = parser.parse_args()
    observed = np.loadtxt(DATA, delimiter=",", skiprows=2)[:, 1]
    start = np.log([1.0, 0.3, 1.0])

    value_and_gradient = sg.value_and_grad(loss, wrt=0)
    value, gradient = value_and_gradient(start, observed)
    print(value_and_gradient.source)
    print(f"at the start: loss {value:.3f}, gradient {gradient}")
    sg.check_grads(loss, (start, observed), wrt=0)
    print("first and second derivatives agree with differences\n")

    result = fit(observed, start, value_and_gradient)
    report(result, observed)
    if options.plot:
        plot(result, observed, options.plot)


if __name__ == "__main__":
    main()
