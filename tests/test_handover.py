"""Shadows that are handed on at the end, and those that must be copied."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform.handover import hand_over

HEAD = "def f(n, g, w_bar):\n u_bar = np.zeros(n)\n"
COPY = "a_bar = u_bar.copy()"


def last(text: str) -> str:
    fn = ast.parse(HEAD + "".join(f" {line}\n" for line in (*text.split("; "), COPY))).body[0]
    assert isinstance(fn, ast.FunctionDef)
    hand_over(fn)
    return ast.unparse(fn.body[-1])


@pytest.mark.parametrize(
    "text", ["u_bar[0] += g", "np.add.at(u_bar, n, g)", "t = u_bar[1:].copy() * g", "u_bar += g"]
)
def test_handed_on(text: str) -> None:
    assert last(text) == "a_bar = u_bar"


@pytest.mark.parametrize(
    "text",
    [
        "v_bar = u_bar[1:]",  # another name
        "tape.append(u_bar)",
        "both = (u_bar, g)",
        "u_bar = np.zeros(n)",  # bound twice
        "u_bar = w_bar",
        "g_reverse(u_bar)",
        "h = support.own(u_bar)",
    ],
)
def test_copied(text: str) -> None:
    assert last(text) == COPY


def test_copied_where_it_is_read_again() -> None:
    fn = ast.parse(f"{HEAD} {COPY}\n b_bar = a_bar + u_bar\n").body[0]
    assert isinstance(fn, ast.FunctionDef)
    hand_over(fn)
    assert ast.unparse(fn.body[-2]) == COPY


def test_gradients_are_arrays_of_their_own() -> None:
    def both(x, y):
        u = x.copy()
        v = y.copy()
        u[0] = v[1] * u[1]
        v[0] = u[0] * 2.0
        return np.sum(u * u) + np.sum(v)

    first, second = sg.grad(both, (0, 1))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert not np.shares_memory(first, second)
    # u = (y1 x1, x1), v = (2 y1 x1, y1)
    assert first.tolist() == [0.0, 2 * 8.0 * 4.0 + 2 * 2.0 + 2 * 4.0]
    assert second.tolist() == [0.0, 2 * 8.0 * 2.0 + 2 * 2.0 + 1.0]
