"""Generated gradients beside those that a person would write: as short, and with the same values.

What is counted: statements, and operations (operators, calls, and places that are read or written)
of the gradient's function and of those that it is made of.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.hand_adjoints import PAIRS

STATEMENTS, OPERATIONS = 1.65, 1.5  # as many as by hand, times these, at most
ON_AVERAGE = 1.31, 1.18
# Where a person does what the compiler does not yet: a number here may only become smaller.
WIDER = {
    "huber": (2.5, 2.5),  # each arm of a `where` is masked for itself
}


def counted(text: str) -> tuple[int, int]:
    """How many statements and operations the functions of a text have."""
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    statements = operations = 0
    for fn in functions:
        inner = list(ast.walk(fn))
        statements += sum(isinstance(n, ast.stmt) for n in inner) - 1
        found = ast.BinOp | ast.UnaryOp | ast.Call | ast.Subscript | ast.Compare | ast.AugAssign
        operations += sum(isinstance(n, found) for n in inner)
    return statements, operations


def parts(gradient: Any) -> tuple[Any, ...]:
    return gradient if isinstance(gradient, tuple) else (gradient,)


def ratios(fn: Callable[..., Any]) -> tuple[float, float]:
    by_hand, args, wrt = PAIRS[fn]
    ours = counted(sg.source(fn, *args, wrt=wrt))
    theirs = counted(textwrap.dedent(inspect.getsource(by_hand)))
    return ours[0] / theirs[0], ours[1] / theirs[1]


@pytest.mark.parametrize("fn", PAIRS, ids=lambda f: f.__name__)
def test_as_short_as_by_hand(fn: Callable[..., Any]) -> None:
    by_hand, args, wrt = PAIRS[fn]
    statements, operations = ratios(fn)
    both = sg.source(fn, *args, wrt=wrt) + "\n" + inspect.getsource(by_hand)
    most = WIDER.get(fn.__name__, (STATEMENTS, OPERATIONS))
    assert statements <= most[0], f"{statements:.2f} times the statements\n{both}"
    assert operations <= most[1], f"{operations:.2f} times the operations\n{both}"


def test_as_short_as_by_hand_on_average() -> None:
    found = np.array([ratios(fn) for fn in PAIRS])
    assert np.all(np.exp(np.mean(np.log(found), axis=0)) <= ON_AVERAGE), found


@pytest.mark.parametrize("fn", PAIRS, ids=lambda f: f.__name__)
def test_values(fn: Callable[..., Any]) -> None:
    by_hand, args, wrt = PAIRS[fn]
    for specialize in (True, False):
        got = sg.grad(fn, wrt=wrt, specialize=specialize)(*args)
        for p, q in zip(parts(got), parts(by_hand(*args)), strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-12)


def test_there_are_enough() -> None:
    assert len(PAIRS) >= 12
