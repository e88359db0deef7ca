"""Dead code of generated texts: what goes, and what has to stay."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform.dead import eliminate
from tests.numeric import check

X = np.array([0.3, 0.8, 0.5])
Y = np.array([1.0, 0.0, 1.0])


def cleaned(text: str) -> str:
    fn = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(fn, ast.FunctionDef)
    eliminate(fn)
    return ast.unparse(fn)


def same(text: str) -> str:
    return ast.unparse(ast.parse(textwrap.dedent(text)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A chain of dead values goes at once, its last use first.
        ("def f(x):\n a = x + 1\n b = a * 2\n return x", "def f(x):\n return x"),
        # Faint variables: read by themselves alone, around a loop.
        (
            "def f(x):\n a = 0.0\n for i in range(3):\n  a = a + x\n  x = x * 2\n return x",
            "def f(x):\n for i in range(3):\n  x = x * 2\n return x",
        ),
        # A value that the next iteration reads is live.
        (
            "def f(x):\n a = 0.0\n for i in range(3):\n  x = x + a\n  a = x * 2\n return x",
            "def f(x):\n a = 0.0\n for i in range(3):\n  x = x + a\n  a = x * 2\n return x",
        ),
        # A tape of dead values goes: its declaration, what is put on it and taken from it.
        (
            """
            def f(x, n):
                a_tape, b_tape = [], []
                for i in range(n):
                    a_tape.append(x)
                    b_tape.append(x)
                    x = x * 2.0
                for i in range(n):
                    a = a_tape.pop()
                    x = x + b_tape.pop()
                return x
            """,
            """
            def f(x, n):
                b_tape = []
                for i in range(n):
                    b_tape.append(x)
                    x = x * 2.0
                for i in range(n):
                    x = x + b_tape.pop()
                return x
            """,
        ),
        # One that writes into an array when it is popped is needed.
        (
            """
            def f(x, n):
                a_tape = []
                for i in range(n):
                    a_tape.append(x[i].copy())
                for i in range(n):
                    x[i] = a_tape.pop()
                return x
            """,
            """
            def f(x, n):
                a_tape = []
                for i in range(n):
                    a_tape.append(x[i].copy())
                for i in range(n):
                    x[i] = a_tape.pop()
                return x
            """,
        ),
        # Nothing runs behind a return.
        ("def f(x):\n a = x\n return x\n g(a)", "def f(x):\n return x"),
        # An empty arm goes, and its test with it where that is silent.
        ("def f(x):\n if x is None:\n  a = 1\n return x", "def f(x):\n return x"),
        (
            "def f(x):\n if x is None:\n  a = 1\n else:\n  x = 2\n return x",
            "def f(x):\n if not x is None:\n  x = 2\n return x",
        ),
        # Calls of unknown effect stay, without the name that nobody reads.
        ("def f(x):\n a = g(x)\n return x", "def f(x):\n g(x)\n return x"),
        # A handler may read what was bound anywhere in the body.
        (
            "def f(x):\n a = 1\n try:\n  a = 2\n  g(x)\n except E:\n  return a\n return x",
            "def f(x):\n a = 1\n try:\n  a = 2\n  g(x)\n except E:\n  return a\n return x",
        ),
        # What a nested function reads may be read at any time.
        (
            "def f(x):\n a = 1\n def g():\n  return a\n a = 2\n return g()",
            "def f(x):\n a = 1\n def g():\n  return a\n a = 2\n return g()",
        ),
        # break and continue carry values past the statements behind them.
        (
            """
            def f(x):
                a = 1
                while g(x):
                    if x:
                        a = 2
                        break
                    a = 3
                    x = a + x
                return a
            """,
            """
            def f(x):
                a = 1
                while g(x):
                    if x:
                        a = 2
                        break
                    a = 3
                    x = a + x
                return a
            """,
        ),
    ],
)
def test_elimination(before: str, after: str) -> None:
    assert cleaned(before) == same(after)


def cross_entropy(x: Any, y: Any) -> Any:
    p = 1.0 / (1.0 + np.exp(-x))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


def average(x: Any, n: int) -> Any:
    return sum(v * v for v in x) / n


def squares(x: Any) -> Any:
    return np.sum((x - np.mean(x)) ** 2) + np.sum(np.abs(x))


@pytest.mark.parametrize(
    ("fn", "args"), [(cross_entropy, (X, Y)), (average, ([0.5, 2.0], 4)), (squares, (X,))]
)
@pytest.mark.parametrize("mode", ["grad", "jvp", "vjp", "value_and_grad"])
def test_no_value_is_computed_in_vain(
    fn: Callable[..., Any], args: tuple[Any, ...], mode: str
) -> None:
    tree = ast.parse(sg.source(fn, *args, mode=mode))
    for f in ast.walk(tree):
        if isinstance(f, ast.FunctionDef):
            read = {n.id for n in ast.walk(f) if isinstance(n, ast.Name) and _is_read(n)}
            bound = {n.id for n in ast.walk(f) if isinstance(n, ast.Name) and not _is_read(n)}
            assert bound - {"_"} <= read, ast.unparse(f)
            assert not [s for s in f.body if isinstance(s, ast.Expr)], ast.unparse(f)
    check(fn, *args, wrt=0)


def _is_read(n: ast.Name) -> bool:
    return isinstance(n.ctx, ast.Load)


CALLS: list[float] = []


def noted(v: Any) -> Any:
    CALLS.append(float(v))
    return v


def with_effect(x: Any) -> Any:
    noted(x[0])
    unused = noted(x[1])
    print("seen", x[2])
    return np.sum(x)


def test_effects_stay(capsys: pytest.CaptureFixture[str]) -> None:
    for specialize in (True, False):
        CALLS.clear()
        sg.grad(with_effect, specialize=specialize)(X)
        assert CALLS == [X[0], X[1]]
        assert capsys.readouterr().out == "seen 0.5\n"


def drawing(x: Any, rng: Any) -> Any:
    unused = rng.normal()
    return np.sum(x * rng.normal())


def test_random_numbers_are_drawn() -> None:
    rng = np.random.default_rng(0)
    rng.normal()
    expected = rng.normal()
    assert np.allclose(sg.grad(drawing)(X, np.random.default_rng(0)), expected)


def added(x: Any, y: Any) -> Any:
    return np.sum(x + y)


def multiplied(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def inner(x: Any, y: Any) -> Any:
    return x @ y


def logged(x: Any, y: Any) -> Any:
    return np.sum(y * np.log(x))


def twice_added(x: Any, y: Any) -> Any:
    a = x + y
    b = x * y
    return np.sum(a) + np.sum(b)


def divided(x: Any, n: Any) -> Any:
    return sum(v for v in x) / n


@pytest.mark.parametrize("fn", [added, multiplied, inner, logged, twice_added])
@pytest.mark.parametrize("wrt", [0, 1, (0, 1)])
@pytest.mark.parametrize("specialize", [True, False])
def test_errors_of_shapes_surface(fn: Callable[..., Any], wrt: Any, specialize: bool) -> None:
    """Also where nothing but the error would come of a statement."""
    with pytest.raises(ValueError, match=r"shape|dimension|size"):
        fn(X, Y[:2])
    with pytest.raises(ValueError, match=r"shape|dimension|size"):
        sg.grad(fn, wrt=wrt, specialize=specialize)(X, Y[:2])


def indexed(x: Any, k: int) -> Any:
    unused = x[k] * 2.0
    return np.sum(x)


@pytest.mark.parametrize("specialize", [True, False])
def test_errors_of_indices_surface(specialize: bool) -> None:
    with pytest.raises(IndexError):
        sg.grad(indexed, specialize=specialize)(X, 7)
    assert np.all(sg.grad(indexed, specialize=specialize)(X, 2) == 1.0)


@pytest.mark.parametrize("specialize", [True, False])
def test_divisions_by_zero_surface(specialize: bool) -> None:
    with pytest.raises(ZeroDivisionError):
        sg.grad(divided, specialize=specialize)([1.0, 2.0], 0)


def paired(v, s):
    return v * s, v


def nothing_to_reverse(x, s):
    for _ in range(3):
        x = x[:]
        v, w = paired(x, s)
        np.copyto(w.copy(), v)
    return np.sin(x).sum()


def test_loops_of_which_nothing_is_left_go():
    x = np.ones(3)
    df = sg.value_and_grad(nothing_to_reverse)
    value, x_bar = df(x, 0.5)
    assert value == nothing_to_reverse(x, 0.5)
    np.testing.assert_allclose(x_bar, np.cos(x))
    assert "for _ in" not in df.source.partition("# ---- reverse")[2]
