"""A regression over data that lies on the workers of a cluster, with a worker killed on the way.

    python examples/dask_regression.py [--workers 2] [--partitions 6] [--kill]

Each partition is made, and stays, on a worker. An evaluation sends the coefficients there,
computes loss and gradient of each partition where its data is, and adds them up in a tree: what
travels is a number and a vector. srcgrad has no part in the distribution: a derivative is pickled
as a function is. With --kill one worker dies in the middle of the fit; Dask makes its partitions
again elsewhere, the sums are taken in the same order, and the result is the same to the last bit.

Needs dask and distributed: pip install "srcgrad[dask]". On a real cluster only the line that makes
the client changes.
"""

from __future__ import annotations

import argparse
import os
import signal

import numpy as np
from dask.distributed import Client, LocalCluster
from scipy.optimize import minimize

import srcgrad as sg

TRUTH = np.array([0.8, -1.2, 0.5, 0.0, 0.3])
PRIOR = 0.01


def partition(number, rows=4000):
    """The rows of one partition; on a real cluster this reads a file."""
    rng = np.random.default_rng(number)
    features = rng.normal(size=(rows, TRUTH.size))
    counts = rng.poisson(np.exp(features @ TRUTH))
    return features, counts.astype(float)


def loss(coefficients, part):
    """Minus the log-likelihood of counts with mean exp(features @ coefficients)."""
    features, counts = part
    log_mean = features @ coefficients
    return np.sum(np.exp(log_mean) - counts * log_mean)


def add(a, b):
    return a[0] + b[0], a[1] + b[1]


class Objective:
    """The sum of the losses over all partitions, and its gradient."""

    def __init__(self, client, partitions):
        self.client, self.evaluations = client, 0
        self.parts = client.map(partition, range(partitions))
        self.of_part = sg.value_and_grad(loss)

    def __call__(self, coefficients):
        self.evaluations += 1
        # pure=False: the same coefficients are evaluated again, not looked up.
        sums = [self.client.submit(self.of_part, coefficients, p, pure=False) for p in self.parts]
        while len(sums) > 1:  # pairs of neighbours: the order of additions never changes
            pairs = zip(sums[::2], sums[1::2], strict=False)
            odd = sums[len(sums) // 2 * 2 :]
            sums = [self.client.submit(add, a, b, pure=False) for a, b in pairs] + odd
        value, gradient = sums[0].result()
        return value + 0.5 * PRIOR * coefficients @ coefficients, gradient + PRIOR * coefficients


def fit(objective, after_step=None):
    start = np.zeros(TRUTH.size)
    return minimize(objective, start, jac=True, method="L-BFGS-B", callback=after_step)


def kill_one(client):
    """Kill the process of a worker that holds partitions, as a failing machine would."""
    pids = client.run(os.getpid)
    holders = {address for found in client.who_has().values() for address in found}
    victim = sorted(holders)[0]
    os.kill(pids[victim], signal.SIGKILL)
    print(f"killed one of {len(pids)} workers, after the second step")


def main():
    parser = argparse.ArgumentParser(description="A regression on a cluster, with srcgrad.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=6)
    parser.add_argument("--kill", action="store_true", help="kill a worker in the middle")
    options = parser.parse_args()
    cluster = LocalCluster(
        n_workers=options.workers, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        objective = Objective(client, options.partitions)
        steps = []

        def after_step(coefficients):
            steps.append(coefficients)
            if options.kill and len(steps) == 2:
                kill_one(client)

        found = fit(objective, after_step)
    print(f"{objective.evaluations} evaluations over {options.partitions} partitions")
    print("truth ", "  ".join(f"{c:6.3f}" for c in TRUTH))
    print("found ", "  ".join(f"{c:6.3f}" for c in found.x))
    print("bits  ", found.x.tobytes().hex())


if __name__ == "__main__":
    main()
