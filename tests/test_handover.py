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
    "text",
    [
        "u_bar[0] += g",
        "np.add.at(u_bar, n, g)",
        "t = u_bar[1:].copy() * g",
        "u_bar += g",
        "v_bar = u_bar[1:]",  # which nobody reads behind the copy
        "u_bar = g * 2.0",  # another new array
    ],
)
def test_handed_on(text: str) -> None:
    assert last(text) == "a_bar = u_bar"


@pytest.mark.parametrize(
    "text",
    [
        "tape.append(u_bar)",
        "tape += [u_bar]",
        "both = g_reverse((u_bar, g))",
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


@pytest.mark.parametrize("held", ["v_bar = u_bar[1:]", "v_bar = (u_bar, g)", "v_bar = u_bar"])
def test_copied_where_another_name_is_read_again(held: str) -> None:
    fn = ast.parse(f"{HEAD} {held}\n {COPY}\n b_bar = a_bar + v_bar[0]\n").body[0]
    assert isinstance(fn, ast.FunctionDef)
    hand_over(fn)
    assert ast.unparse(fn.body[-2]) == COPY


@pytest.mark.parametrize(
    ("bound", "kept"),
    [
        ("u_bar = u_bar * g", False),
        ("u_bar = w_bar", True),
        ("u_bar = u_bar + g; t = u_bar", True),
        ("u_bar += support.f(u_bar)", True),
    ],
)
def test_copied_in_a_loop_where_others_may_hold_it(bound: str, kept: bool) -> None:
    loop = f" for i in range(n):\n  {bound}\n  u_bar = u_bar.copy()\n"
    fn = ast.parse(f"{HEAD}{loop} return u_bar\n").body[0]
    assert isinstance(fn, ast.FunctionDef)
    hand_over(fn)
    assert ("u_bar.copy()" in ast.unparse(fn)) == kept


def test_returned_twice_once_as_a_copy() -> None:
    fn = ast.parse(f"{HEAD} u_bar = u_bar * g\n return u_bar, u_bar.copy()\n").body[0]
    assert isinstance(fn, ast.FunctionDef)
    hand_over(fn)
    assert ast.unparse(fn.body[-1]) == "return (u_bar, u_bar.copy())"
    fn.body[-1] = ast.parse("return u_bar.copy()").body[0]
    hand_over(fn)
    assert ast.unparse(fn.body[-1]) == "return u_bar"


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
