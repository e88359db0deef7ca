"""Python's iterators and statistics as functions of lists: what is differentiated in their place.

`rules/sources.py` says which function stands for which.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import itertools

import numpy as np

from srcgrad.runtime.support.adjoints import error

# ---- places ----------------------------------------------------------------------


def places_in(*shape):
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    if len(lengths) == 1:
        return [(i,) for i in range(lengths[0])]
    if len(lengths) == 2:
        return [(i, j) for i in range(lengths[0]) for j in range(lengths[1])]
    if len(lengths) == 3:
        return [
            (i, j, k)
            for i in range(lengths[0])
            for j in range(lengths[1])
            for k in range(lengths[2])
        ]
    return list(itertools.product(*[range(n) for n in lengths]))


# ---- itertools ----------------------------------------------------------------------


def product_of(first, second=None, third=None, *, repeat=1):
    if repeat == 2 and second is None:
        second = first
    elif repeat == 3 and second is None:
        second, third = first, first
    elif repeat != 1:
        raise error("MissingRule", "itertools.product with this repeat: write the loops")
    if second is None:
        return [(a,) for a in first]
    if third is None:
        return [(first[i], second[k]) for i in range(len(first)) for k in range(len(second))]
    return [(a, b, c) for a in first for b in second for c in third]


def permutations_of(items, r=None):
    places = list(itertools.permutations(range(len(items)), r))
    return [tuple([items[k] for k in chosen]) for chosen in places]


def combinations_again(items, r):
    places = list(itertools.combinations_with_replacement(range(len(items)), r))
    return [tuple([items[k] for k in chosen]) for chosen in places]


def zipped_longest(first, second, *, fillvalue=None):
    rows = []
    for k in range(max(len(first), len(second))):
        a = first[k] if k < len(first) else fillvalue
        b = second[k] if k < len(second) else fillvalue
        rows.append((a, b))
    return rows


def taken_while(predicate, items):
    count = 0
    for k in range(len(items)):
        if not predicate(items[k]):
            break
        count = k + 1
    return [items[k] for k in range(count)]


def dropped_while(predicate, items):
    start = len(items)
    for k in range(len(items)):
        if not predicate(items[k]):
            start = k
            break
    return [items[k] for k in range(start, len(items))]


def compressed(data, selectors):
    count = min(len(data), len(selectors))
    return [data[k] for k in range(count) if selectors[k]]


def filtered_out(predicate, items):
    if predicate is None:
        return [item for item in items if not item]
    return [item for item in items if not predicate(item)]


# ---- dictionaries and lists ---------------------------------------------------------


def table_of_keys(keys, value=None):
    made = {}
    for k in keys:
        made[k] = value
    return made


# ---- statistics ---------------------------------------------------------------------


def mean(data):
    items = list(data)
    return sum(items) / len(items)


def weighted_mean(data, weights=None):
    items = list(data)
    if weights is None:
        return sum(items) / len(items)
    shares = list(weights)
    total = 0.0
    for k in range(len(items)):
        total = total + items[k] * shares[k]
    return total / sum(shares)


def geometric_mean(data):
    items = list(data)
    return np.exp(sum([np.log(v) for v in items]) / len(items))


def harmonic_mean(data, weights=None):
    items = list(data)
    if any(v <= 0.0 for v in items):
        raise error(
            "NotDifferentiable", "statistics.harmonic_mean at or below zero has no derivative"
        )
    if weights is None:
        return len(items) / sum([1.0 / v for v in items])
    if len(weights) != len(items):
        raise ValueError("Number of weights does not match data size")
    return sum(weights) / sum([weights[k] / items[k] for k in range(len(items))])


def smallest_items(n, items, key=None):
    return sorted(items, key=key)[: max(n, 0)]


def largest_items(n, items, key=None):
    return sorted(items, key=key, reverse=True)[: max(n, 0)]


def squares_about(items, center):
    middle = sum(items) / len(items) if center is None else center
    return sum([(v - middle) ** 2 for v in items])


def variance(data, xbar=None):
    items = list(data)
    return squares_about(items, xbar) / (len(items) - 1)


def population_variance(data, mu=None):
    items = list(data)
    return squares_about(items, mu) / len(items)


def deviation(data, xbar=None):
    return np.sqrt(variance(data, xbar))


def population_deviation(data, mu=None):
    return np.sqrt(population_variance(data, mu))


def middle(data):
    items = sorted(data)
    half = len(items) // 2
    if len(items) % 2:
        return items[half]
    return (items[half - 1] + items[half]) / 2


def covariance(first, second):
    count = len(first)
    a, b = sum(first) / count, sum(second) / count
    return sum([(first[k] - a) * (second[k] - b) for k in range(count)]) / (count - 1)


def correlation(first, second):
    return covariance(first, second) / np.sqrt(variance(first) * variance(second))
