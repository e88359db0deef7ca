"""Second derivatives through dicts that are filled, merged and emptied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

X = np.array([0.7, 1.3, 0.4, 1.9])


def merged(x):
    d = {}
    d[0] = x[0] * x[1]
    e = {**d}
    e[1] = x[2] * e[0]
    return e[0] * e[1]


def updated(x):
    d = {}
    for i in range(4):
        d[i] = x[i] ** 2
    d.update({2: d[1] * x[0]})
    return d[1] * d[2] * sum(d.values())


def arrays(x):
    d = {"a": x * 1.0}
    d["b"] = d["a"] * x[0]
    e = {**d, "c": x**2}
    e["a"][0] = e["c"][1] * 3
    d["b"][1:] *= e["a"][:-1]
    return np.sum(d["a"] * e["b"]) + np.sum(e["c"])


def defaults(x):
    d = {}
    for i in range(4):
        d.setdefault(i % 2, x[3])
        d[i % 2] *= x[i]
    return d[0] * d[1]


def lists(x):
    d = {}
    for i, v in enumerate(x):
        d.setdefault(i % 2, []).append(v * v)
    return sum(d[0]) * sum(d[1])


def popped(x):
    d = {i: x[i] ** 2 for i in range(4)}
    a = d.pop(1)
    d[5] = a * x[0]
    b = d.get(7, x[1])
    del d[0]
    return sum(d.values()) * b


def nested(x):
    d = {"p": {"w": x[0] * 1.0, "b": x[1]}}
    d["p"]["w"] += x[2] ** 2
    d["q"] = {**d["p"], "z": x[3] * d["p"]["w"]}
    return d["q"]["w"] * d["q"]["z"] * d["p"]["b"]


PROGRAMS = [merged, updated, arrays, defaults, lists, popped, nested]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_hessian_vector_products(fn: Callable[[Any], Any]) -> None:
    direction = np.array([0.3, -1.1, 0.7, 0.5])
    gradient = sg.grad(fn)
    step = 1e-5
    slope = (gradient(X + step * direction) - gradient(X - step * direction)) / (2 * step)
    assert np.allclose(sg.hvp(fn)(direction, X), slope, rtol=1e-6, atol=1e-8)


def joined_in_place(x):
    d = {"a": x[0]}
    d |= {"b": x[1] * x[0]}
    return d["a"] * d["b"]


def test_an_operator_of_unknown_types_is_refused() -> None:
    with pytest.raises(sg.SrcgradError, match="in-place operation"):
        sg.jvp(joined_in_place, specialize=False)(X, X)
