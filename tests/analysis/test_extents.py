"""Which arrays have one shape: no reduction where they do, and one wherever they may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.3, -0.7, 1.1, 0.4, 0.9])
W = np.array([[0.5, -0.2, 0.3], [0.1, 0.4, -0.6], [0.7, 0.2, 0.1]])


def leapfrog(u: Any, c: Any) -> Any:
    before, now = u.copy(), u.copy()
    for _ in range(3):
        after = now.copy()
        after[1:-1] = 2.0 * now[1:-1] - before[1:-1] + c * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        before, now = now, after
    return np.sum(now * now)


def recurrent(W: Any, x: Any) -> Any:
    h = np.zeros(W.shape[0])
    for _ in range(3):
        h = np.tanh(W @ h + x[:3])
    return np.sum(h * h)


def by_length(x: Any) -> Any:
    out = np.zeros(len(x) - 2)
    out = out + x[1:-1] * x[2:]
    return np.sum(out**2)


def by_int(x: Any, n: int) -> Any:
    u, v = np.zeros(n) + x[0], np.ones(n) * x[1]
    return np.sum(u * v)


@pytest.mark.parametrize(
    ("fn", "args"), [(recurrent, (W, X)), (by_length, (X,)), (by_int, (X, 4))]
)
def test_arrays_of_one_shape_need_no_reduction(
    fn: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    text = sg.source(fn, *args)
    assert "unbroadcast" not in text, text
    check(fn, *args, wrt=0)


def previous_iteration(x: Any) -> Any:
    """w is a slice of what u was before."""
    s = 0.0
    w = x[1:2] * 1.0
    for i in range(2):
        u = x[: i + 2] * 2.0
        if i > 0:
            t = w * u[1:]
            s = s + np.sum(t * t)
        w = u[1:] * 1.0
    return s


def previous_iteration_of_a_list(x: Any) -> Any:
    parts = []
    for i in range(2):
        u = x[: i + 2] * 2.0
        parts.append(u[1:])
    return np.sum((parts[0] * parts[1]) ** 2)


def inner(v: Any, u: Any) -> Any:
    """u is not the caller's u."""
    return np.sum((v * u[1:-1]) ** 2)


def caller(u: Any, w: Any) -> Any:
    return inner(u[1:-1], w)


def returned(u: Any) -> Any:
    return u[1:-1] * 2.0


def called_twice(u: Any, x: Any) -> Any:
    v = returned(x)
    return np.sum((v * u[1:-1]) ** 2)


def rebound(x: Any) -> Any:
    u = x[:3] * 1.0
    a = u[1:-1]
    u = x * 2.0
    b = u[1:-1]
    return np.sum((a * b) ** 2)


def rebound_in_branch(x: Any, flag: bool) -> Any:
    u = x * 1.0
    a = u[1:-1]
    if flag:
        u = x[:3] * 2.0
    return np.sum((a * u[1:-1]) ** 2)


def wider_out(x: Any) -> Any:
    c = np.empty(3)
    np.add(x[2:-2], x[2:-2], out=c)
    return np.sum(c**2)


def of_length_one(x: Any, n: int) -> Any:
    return np.sum((np.ones(n) * x[0] * x) ** 2)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (leapfrog, (X, 0.3)),
        (previous_iteration, (X,)),
        (previous_iteration_of_a_list, (X,)),
        (caller, (X, X[:3])),
        (called_twice, (X, X[:3])),
        (rebound, (X,)),
        (rebound_in_branch, (X, True)),
        (wider_out, (X,)),
        (of_length_one, (X, 1)),
    ],
)
def test_arrays_of_names_alike_may_have_other_shapes(
    fn: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    check(fn, *args, wrt=0)
    if len(args) > 1 and isinstance(args[1], np.ndarray):
        check(fn, *args, wrt=(0, 1))
