"""Cotangents that are used once stand where they are used; nothing moves over what changes it."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.rules import tables
from srcgrad.transform.fold import fold
from tests.numeric import check


def folded(body: str) -> str:
    text = "def f(a, b, g, i, x_bar, a_tape):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    fn = ast.parse(text).body[0]
    assert isinstance(fn, ast.FunctionDef)
    tables.load()
    fold(fn)
    return "\n".join(map(ast.unparse, fn.body))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t1_bar = g * a\nx_bar[i] += t1_bar", "x_bar[i] += g * a"),
        ("t1_bar = -g\nx_bar[i] += t1_bar", "x_bar[i] -= g"),
        ("t1_bar = g * a\nb_bar = t1_bar * b\nreturn b_bar", "b_bar = g * a * b\nreturn b_bar"),
        ("b_bar = 1.0 / g\nb_bar = np.full(b.shape, b_bar)\nreturn b_bar",
         "b_bar = np.full(b.shape, 1.0 / g)\nreturn b_bar"),
        ("s_bar = 1.0\nfor k in range(3):\n    x_bar[k] += s_bar * a",
         "for k in range(3):\n    x_bar[k] += a"),
        ("s_bar = 1.0\nx_bar += s_bar", "x_bar += 1.0"),
        ("t1_bar = x_bar[i].copy()\nx_bar[i] = 0.0\nx_bar[i] += t1_bar\nreturn t1_bar",
         "t1_bar = x_bar[i].copy()\nreturn t1_bar"),
        ("s_bar = 0.5\nx_bar += 2.0 * s_bar * a", "x_bar += a"),
        ("s_bar = 1.0\nfor k in range(3):\n    x_bar[k] += s_bar * -0.5 * a",
         "for k in range(3):\n    x_bar[k] -= 0.5 * a"),
        ("x_bar += g * a * -0.5 * 2.0 * b", "x_bar += -g * a * b"),
        ("x_bar += g * 2.0 * a * 3.0 * b", "x_bar += g * a * 6.0 * b"),
        ("x_bar += g * 2.0 * a * -3.0", "x_bar += g * a * -6.0"),
        ("x_bar += g * 3.0 * a * 2.0 * b", "x_bar += g * 6.0 * a * b"),
        ("t1_bar = np.outer(g, a)\nx_bar += t1_bar.T", "x_bar += np.outer(a, g)"),
        ("t1_bar = a.T @ g\nx_bar += t1_bar.T", "x_bar += g.T @ a"),
        ("t1_bar = g @ a.T\nx_bar += t1_bar.T", "x_bar += a @ g.T"),
        ("t1_bar = a.b * g\nb_bar = t1_bar\nreturn b_bar", "b_bar = a.b * g\nreturn b_bar"),
        ("x_bar = np.zeros(x.shape, x.dtype)\nx_bar[2] += g\ny_bar = g * b\nx_bar[0] -= g * a",
         "x_bar = np.zeros(x.shape, x.dtype)\nx_bar[2] = g\ny_bar = g * b\nx_bar[0] = -g * a"),
        ("x_bar = np.zeros(x.shape, x.dtype)\nx_bar[:-1] += g\nx_bar[1:] += g",
         "x_bar = np.zeros(x.shape, x.dtype)\nx_bar[:-1] = g\nx_bar[1:] += g"),
    ],
)  # fmt: skip
def test_folded(before: str, after: str) -> None:
    assert folded(before) == after


@pytest.mark.parametrize(
    "body",
    [
        "t1_bar = g * a\nx_bar[i] += t1_bar\nx_bar[0] += t1_bar",  # used twice
        "t1_bar = g * a\na = a_tape.pop()\nx_bar[i] += t1_bar",  # a changes
        "t1_bar = g * a\na[i] = 0.0\nx_bar[i] += t1_bar",
        "t1_bar = g * a\nx_bar += b\nx_bar[i] += t1_bar",  # which may be memory of a
        "t1_bar = x_bar[i]\nx_bar[i] = 0.0\nx_bar[0] += t1_bar",
        "t1_bar = a[1:]\nb_bar = t1_bar\nreturn b_bar",  # another name for a view
        "t1_bar = f_reverse(g, a)\nx_bar[i] += t1_bar",  # writes who knows what
        "u_bar = g * a\nx_bar[i] += u_bar",  # the adjoint of a variable of the user's
        "s_bar = 1.0\nb_bar = s_bar * a\nreturn b_bar",  # an array of its own, of floats
        "s_bar = 1.0\ns_bar += g\nx_bar[i] += s_bar",
        "t1_bar = x_bar[i].copy()\nx_bar[i] = 0.0\nx_bar[0] += t1_bar\nreturn t1_bar",
        "s_bar = 1.0\nreturn s_bar",
        "x_bar += g * 3.0 * a * 5.0",  # rounded twice
        "x_bar += (g @ a).T",
        "x_bar = np.zeros(n)\nx_bar[0] = g\nx_bar[0] += g",
        "x_bar = np.zeros(n)\nx_bar[0] += x_bar[1]",
        "x_bar = np.zeros(n)\nv = x_bar[1:]\nx_bar[0] += g",  # which may be the same element
        "x_bar = np.zeros(n)\nfor k in range(2):\n    x_bar[0] += g",
        "x_bar = np.zeros(n)\nif g:\n    x_bar[0] += g",
        "s_bar = 1.0\nif g:\n    s_bar = 2.0\nx_bar[i] += s_bar",
    ],
)
def test_left_as_it_is(body: str) -> None:
    assert folded(body) == "\n".join(map(ast.unparse, ast.parse(body).body))


def square(x: Any) -> Any:
    return np.sum(x * x) + x @ x + np.sum(x + x)


def test_both_places_of_a_variable_contribute_at_once() -> None:
    x = np.array([0.5, -2.0])
    text = sg.source(square, x)
    assert text.count("x_bar") <= 5, text
    check(square, x, wrt=0)
    check(square, np.array([0.5 + 0.2j, -2.0]).real, wrt=0)


def weighted(x: Any, n: Any) -> Any:
    return np.sum(x * n)


def test_gradients_stay_floats() -> None:
    """The seed says that the product by an array of ints is one of floats."""
    for mode in (True, False):
        grad = sg.grad(weighted, specialize=mode)(np.array([0.5, 1.5]), np.array([1, 2]))
        assert grad.dtype == float
