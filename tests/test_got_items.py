"""`d.get(key, default)`: what it gives back is the item itself, or the default itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numeric import check

X = np.array([1.5, 0.7, -0.4])


def numbers_of_two_kinds(x):
    d = {"a": x[0], "b": 0.0}
    t = d.get("b", 0.5) if x[0] > 0 else x[1]
    t += 1
    return t * x[0] + sum(d.values())


def written_where_found(x):
    d = {"a": x * 2, "b": x * x}
    s = 0.0
    for n in "abc":
        u = d.get(n)
        if u is None:
            continue
        u *= x[0]
        s += u.sum() * d["a"][1]
    return s


def default_is_written(x):
    d = {"a": x * 2}
    other = x * x
    s = 0.0
    for n in ("b", "a", "c"):
        u = d.get(n, other)
        u[0] = u[1] * s + x[2]
        s += np.sum(u * u)
    return s + np.sum(other * d["a"])


def key_comes_later(x):
    d = {"a": x * 2}
    other = x * x
    s = 0.0
    for n in ("b", "a", "b"):
        u = d.get(n, other)
        u *= x[1]
        d["b"] = np.sin(u) + s
        s += np.sum(u * d["b"])
    return s


def bound_to_its_default(x):
    d = {0: x * 2, 2: x[::-1] * 3.0}
    u = x * x
    for k in range(4):
        u = d.get(k, u)
        u[1] = u[0] * u[2]
        d[k] = u * x[k % 3]
    return np.sum(u) + np.sum(d[1] * d[2])


def bound_to_its_key(x):
    d = {0: 1, 1: 3, 3: 2}
    k, s = 0, 0.0
    while k != 7:
        s = s * x[k % 3] + np.sin(x[1])
        k = d.get(k, 7)
    return s


def list_items(x):
    d = {"a": [x[0], x[1]]}
    for n in ("a", "b", "a"):
        u = d.get(n, [x[2]])
        u.append(u[0] * x[1])
        u[0] = u[-1] * u[0]
    return sum(d["a"])


def only_the_default_is_active(x):
    d = {"a": np.ones(3)}
    other = x * x
    s = 0.0
    for n in ("b", "a", "b"):
        u = d.get(n, other)
        u *= 2.0
        s += np.sum(u * u) * x[0]
    return s


def nothing_active(x):
    held = [0.5, 2.5]
    t = held.pop() if x[0] > 0 else x[1]
    return t * x[0] + held[0] * x[2]


@pytest.mark.parametrize(
    "f",
    [
        numbers_of_two_kinds,
        written_where_found,
        default_is_written,
        key_comes_later,
        bound_to_its_default,
        bound_to_its_key,
        list_items,
        only_the_default_is_active,
        nothing_active,
    ],
)
def test_right(f):
    check(f, X)
