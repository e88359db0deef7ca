"""Python's iterators, statistics and sorted keys."""

from __future__ import annotations

import itertools
import operator
import statistics

from tests.probes.table import P, V, probe


@probe(V)
def product_of_two(x):
    return sum(a * b**2 for a, b in itertools.product(x, x[:2]))


@probe(V)
def product_with_itself(x):
    return sum(a * b**2 for a, b in itertools.product(x, repeat=2))


@probe(V)
def permutations_of_pairs(x):
    return sum(a * b**2 for a, b in itertools.permutations(x, 2))


@probe(V)
def combinations_with_replacement_of_pairs(x):
    return sum(a * b**2 for a, b in itertools.combinations_with_replacement(x, 2))


@probe(V)
def zip_longest_fills(x):
    return sum(a * b for a, b in itertools.zip_longest(x, x[:2], fillvalue=3.0))


@probe(V)
def takewhile_stops(x):
    return sum(v * v for v in itertools.takewhile(lambda v: v < 1.0, x))


@probe(V)
def dropwhile_starts(x):
    return sum(v * v for v in itertools.dropwhile(lambda v: v > 0.0, x))


@probe(V)
def compress_selects(x):
    return sum(v * v for v in itertools.compress(x, [1, 0, 1]))


@probe(V)
def filterfalse_selects(x):
    return sum(v * v for v in itertools.filterfalse(lambda v: v > 0.0, x))


@probe(V)
def starmap_of_zip(x):
    return sum(itertools.starmap(operator.mul, zip(x, x[::-1])))


@probe(V)
def sorted_keys(x):
    d = dict(zip("bca", x))
    total = 0.0
    for k in sorted(d):
        total = total * 2.0 + d[k]
    return total


@probe(V)
def sorted_in_a_loop(x):
    total = 0.0
    for v in sorted(x, reverse=True):
        total = total * 2.0 + v
    return total


@probe(V)
def dict_from_keys(x):
    d = dict.fromkeys("ab", x[0])
    d["b"] = d["b"] * x[1]
    return d["a"] * d["b"]


@probe(P)
def means_of_statistics(x):
    return (
        statistics.mean(x) * statistics.fmean(x, weights=[1.0, 2.0, 3.0, 4.0])
        + statistics.geometric_mean(x)
        + statistics.median(x)
    )


@probe(P)
def spreads_of_statistics(x):
    return (
        statistics.variance(x) * statistics.pstdev(x)
        + statistics.pvariance(x)
        + statistics.stdev(x)
    )


@probe(V)
def covariance_of_statistics(x):
    return statistics.covariance(x, x**2) * statistics.correlation(x, [1.0, 5.0, 2.0])


@probe(V)
def absolute_value_of_operator(x):
    return operator.abs(x) * x
