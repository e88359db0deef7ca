"""Arguments with fields: an adjoint for each field, where the program only reads fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import srcgrad as sg


@dataclass(frozen=True)
class Spring:
    k: float
    m: float
    n: int = 3
    label: str = "spring"


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray
    scale: float


class Curve(NamedTuple):
    a: float
    b: np.ndarray
    k: int


def swing(s, x):
    v = 0.0
    for _ in range(s.n):
        v -= 0.1 * s.k / s.m * x
        x += 0.1 * v
    return x * v


def layer(p, x):
    h = np.tanh(x @ p.w + p.b)
    return np.sum(h * p.scale) + p.scale


def curve(c, x):
    k = 1.0 if c.k > 2 else 2.0
    return np.sum((c.a * x + c.b * k) ** 2)


def network(p, x):
    h = np.tanh(x @ p["w"] + p["b"])
    return np.sum(h @ p["w"].T) + np.sum(p["b"])


def with_numbers(p, x):
    b = p["a"] * x
    for _ in range(3):
        b = b * p["a"] + p["b"]
    return np.sum(b)


def unread(p, x):
    return np.sum(p["w"] * x)


def in_branches(p, x):
    if x > p["a"]:
        x = x * p["b"]
    return x + p["a"]


def taken_over(p, x):
    q = p
    p = {"a": x, "b": 2.0 * q["a"]}
    return p["a"] * p["b"] * q["b"]


def handed_on(p, x):
    return in_branches(p, x) * p["a"]


def whole(p, x):
    return sum(p[k] * x for k in p)


W = np.array([[0.3, -0.2], [0.5, 0.1]])
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (swing, (Spring(2.0, 1.5), 0.3)),
    (layer, (Layer(W, np.array([0.1, 0.2]), 0.7), W + 1.0)),
    (curve, (Curve(0.3, np.array([0.1, 0.2]), 3), np.array([1.0, 2.0]))),
    (network, ({"w": W, "b": np.array([0.1, 0.2])}, W + 1.0)),
    (with_numbers, ({"a": 0.3, "b": 0.2, "c": 5}, np.array([1.0, 2.0]))),
    (unread, ({"w": W, "b": np.array([0.1, 0.2])}, 0.3)),
    (in_branches, ({"a": 0.3, "b": 0.2}, 0.5)),
    (taken_over, ({"a": 0.3, "b": 0.2}, 0.5)),
    (handed_on, ({"a": 0.3, "b": 0.2}, 0.5)),
    (whole, ({"a": 0.3, "b": 0.2}, 0.5)),
]


def leaves(g: Any) -> list[Any]:
    if isinstance(g, dict):
        return list(g.values())
    return list(g) if isinstance(g, tuple) else list(vars(g).values())


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_values(fn: Any, args: tuple[Any, ...]) -> None:
    sg.check_grads(fn, args, wrt=0, order=1)
    sg.check_grads(fn, args, wrt=1, order=2)
    typed = sg.grad(fn, wrt=(0, 1))(*args)
    generic = sg.grad(fn, wrt=(0, 1), specialize=False)(*args)
    assert type(typed[0]) is type(args[0])
    for p, q in zip(leaves(typed[0]), leaves(generic[0]), strict=True):
        assert type(p) is type(q)
        if p is not None:
            np.testing.assert_allclose(p, q, rtol=1e-12)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_second_order(fn: Any, args: tuple[Any, ...]) -> None:
    sg.check_grads(fn, args, wrt=0, order=2)


def test_the_text_adds_to_fields() -> None:
    text = sg.source(swing, *CASES[0][1])
    assert "k_bar += " in text
    assert "attr_add" not in text
    text = sg.source(network, *CASES[3][1])
    assert 'return {"w": w_bar, "b": b_bar}' in text


def test_a_gradient_is_an_object_of_its_own() -> None:
    p = {"w": W.copy(), "b": np.array([0.1, 0.2])}
    g = sg.grad(network)(p, W)
    assert not any(np.shares_memory(a, b) for a in g.values() for b in (*p.values(), W))
    assert not np.shares_memory(g["w"], g["b"])
