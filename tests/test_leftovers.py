"""What forward functions hand to their reverse functions."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform.leftovers import drop_unread


def pair(forward: str, reverse: str) -> tuple[str, str]:
    first, second = (ast.parse(text).body[0] for text in (forward, reverse))
    assert isinstance(first, ast.FunctionDef) and isinstance(second, ast.FunctionDef)
    second.srcgrad_forward = first  # type: ignore[attr-defined]
    drop_unread(second)
    return ast.unparse(first), ast.unparse(second)


FORWARD = """
def f_forward(x):
    if x > 0:
        return (x, (x, k, t, n))
    return (x * 2, (x, k, t, n))
"""


@pytest.mark.parametrize(
    ("body", "handed"),
    [
        ("return y_bar * x", "(x,)"),
        ("return y_bar * k * n", "(k, n)"),
        ("for k in range(n):\n        y_bar = y_bar * x\n    return y_bar", "(x, n)"),
        ("for k in range(n):\n        y_bar = y_bar * x\n    return y_bar * k", "(x, k, n)"),
        ("for i in range(n):\n        t = i\n        y_bar += t\n    return y_bar", "(n,)"),
        ("for i in range(n):\n        y_bar += t\n        t = i\n    return y_bar", "(t, n)"),
        ("if y_bar > 0:\n        t = 1\n    return y_bar * t", "(t,)"),
        ("t += 1\n    return y_bar", "(t,)"),
        ("return y_bar", "(x,)"),
    ],
)
def test_only_what_is_read_is_handed(body: str, handed: str) -> None:
    reverse = f"def f_reverse(y_bar, saved):\n    x, k, t, n = saved\n    {body}\n"
    first, second = pair(FORWARD, reverse)
    assert first.count(handed) == 2
    assert f"{handed} = saved" in second or f"{handed[1:-1]} = saved" in second


def rates(h: Any, p: Any, g: Any) -> Any:
    return h * (g - p), p * (g * h - 1.0)


def simulated(x: Any, n: int) -> Any:
    h, p = x[0], x[1]
    out = np.zeros((n, 2))
    for k in range(n):
        out[k, 0] = h
        out[k, 1] = p
        a, b = rates(h, p, x[2])
        h = h + a
        p = p + b
    return out


def misfit(x: Any) -> Any:
    return np.sum(simulated(x, 3) ** 2)


def test_a_tuple_of_numbers_is_not_kept_for_its_adjoint() -> None:
    x = np.array([0.1, 0.2, 0.3])
    sg.check_grads(misfit, (x,))
    df = sg.grad(misfit)
    df(x)
    assert "x, n, saved_tape = saved" in df.source
