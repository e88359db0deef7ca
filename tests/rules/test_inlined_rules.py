"""Users' rules that are one expression are written out where they are used; others are called.

A rule with a statement more than that is called, so that the two forms can be compared.
"""

from __future__ import annotations

import importlib
import itertools
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

X = np.array([0.7, -0.4, 1.3])
V = np.array([0.2, 1.1, -0.6])
_numbers = itertools.count()

HEAD = """\
import math

import numpy as np
from numpy import exp

import srcgrad as sg

SCALE = 3.0


def square(x):
    return x * x


def product(x, y):
    return x * y


def weighted(x, y):
    return x * y


def scaled(x, n):
    return x * n


def halved(x):
    x *= 0.5
    return x * 1.0
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def make(text: str) -> Any:
        name = f"inlined_{next(_numbers)}"
        (tmp_path / f"{name}.py").write_text(HEAD + textwrap.dedent(text))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return make


def source(f: Any, *args: Any, **options: Any) -> str:
    df = sg.grad(f, **options)
    df(*args)
    return str(df.source)


def is_called(text: str) -> bool:
    return "support.cotangent" in text


# ---- the text -----------------------------------------------------------------------------


def test_a_rule_is_written_out_beside_its_place(module: Any) -> None:
    m = module("""
        @sg.rule(square)
        def square_rule(g, out, x):
            return 2.0 * g * x

        def f(x):
            return np.sum(square(x) * x)
    """)
    text = source(m.f, X)
    assert f"# by the rule square_rule ({m.__name__}.py:" in text
    assert "x_bar = t1 + 2.0 * x * x" in text
    assert not is_called(text)


@pytest.mark.parametrize(
    "text",
    [
        """
        @sg.custom_gradient
        def target(x):
            def back(dy):
                return dy * np.cos(x)

            return np.sin(x), back
        """,
        """
        @sg.custom_gradient
        def target(x):
            return np.sin(x), lambda dy: (dy * np.cos(x),)
        """,
        """
        @sg.custom_vjp
        def target(x):
            return np.sin(x)

        def fwd(x):
            return target(x), (np.cos(x),)

        def bwd(saved, g):
            c, = saved
            return c * g

        target.defvjp(fwd, bwd)
        """,
        """
        @sg.custom_jvp
        def target(x):
            return np.sin(x)

        @target.defjvp
        def target_jvp(primals, tangents):
            (x,), (x_dot,) = primals, tangents
            return target(x), np.cos(x) * x_dot
        """,
    ],
    ids=["custom_gradient", "lambda", "custom_vjp", "custom_jvp"],
)
def test_decorated_functions(module: Any, text: str) -> None:
    m = module(textwrap.dedent(text) + "\n\ndef f(x):\n    return np.sum(target(x) * x)\n")
    made = source(m.f, X)
    assert "np.cos(x)" in made and "saved" not in made and not is_called(made)
    np.testing.assert_allclose(sg.grad(m.f)(X), np.sin(X) + X * np.cos(X))
    np.testing.assert_allclose(sg.jvp(m.f)(V, X)[1], V @ (np.sin(X) + X * np.cos(X)))
    by_hand = V * (2 * np.cos(X) - X * np.sin(X))
    np.testing.assert_allclose(sg.hvp(m.f)(V, X), by_hand)
    for made_by in (sg.grad(m.f, specialize=False)(X), sg.grad(m.f)(X)):
        np.testing.assert_allclose(made_by, np.sin(X) + X * np.cos(X))


def test_an_override_of_a_ufunc_reaches_operators_and_sums_what_was_broadcast(module: Any) -> None:
    m = module("""
        def rule(g, out, a, b):
            return 3.0 * g * b, g * a

        def f(x, c):
            return np.sum(x * c)
    """)
    rules = {np.multiply: m.rule}
    c = np.ones((2, 3))
    assert not is_called(source(m.f, c * 2.0, c, rules=rules))
    np.testing.assert_allclose(sg.grad(m.f, rules=rules)(X, c), 3.0 * c.sum(0))
    np.testing.assert_allclose(sg.grad(m.f, rules=rules, specialize=False)(X, c), 3.0 * c.sum(0))


# ---- the same numbers as a call -------------------------------------------------------------

RULES = [
    ("square", "x", "2.0 * g * x"),
    ("square", "x", "g * np.exp(x - out)"),
    ("square", "x", "g * exp(-x)"),
    ("square", "x", "g"),
    ("square", "x", "-g"),
    ("square", "x", "0.0 * g"),
    ("square", "np", "3.0 * g * np"),
    ("square", "support", "g * support"),
    ("product", "x, y", "(g * y, g * x)"),
    ("product", "y, x", "(g * x, 3.0 * g * y)"),
    ("product", "x, y", "(None, g * x)"),
    ("product", "x, y", "(g * np.cos(y), g / out)"),
    ("weighted", "a, b", "(g * b, np.sum(g * a))"),
    ("scaled", "x, n", "(n * g * x ** (n - 1), None)"),
]
CALLS = {
    "square": ["square(x)", "square(square(x)) * x", "np.where(x > 0.5, square(np.sin(x)), x)"],
    "product": ["product(x, np.sin(x))", "product(x, x) * x", "product(x, 2.0)"],
    "weighted": ["weighted(x, np.sum(x))", "weighted(x, 2.0) * x"],
    "scaled": ["scaled(x, 3)"],
}


@pytest.mark.parametrize(("target", "params", "expr"), RULES)
def test_numbers_are_those_of_the_rule_called(
    module: Any, target: str, params: str, expr: str
) -> None:
    for call in CALLS[target]:
        m = module(f"""
            def plain(g, out, {params}):
                return {expr}

            def longer(g, out, {params}):
                made = {expr}
                return made

            def f(x):
                return np.sum({call})
        """)
        for x, v in ((X, V), (X.astype(np.float32), V.astype(np.float32)), (0.7, 0.3)):
            found = []
            for rule in (m.plain, m.longer):
                rules = {getattr(m, target): rule}
                with np.errstate(all="ignore"):
                    found.append([
                        sg.grad(m.f, rules=rules)(x),
                        sg.jvp(m.f, rules=rules)(v, x)[1],
                        sg.hvp(m.f, rules=rules)(v, x),
                        sg.grad(m.f, rules=rules, specialize=False)(x),
                    ])  # fmt: skip
            for one, two in zip(*found, strict=True):
                assert np.asarray(one).dtype == np.asarray(two).dtype
                tol = 1e-5 if np.asarray(one).dtype == np.float32 else 1e-12
                np.testing.assert_allclose(one, two, rtol=tol, atol=tol)


def test_a_choice_that_does_not_depend_on_the_cotangent_is_linear(module: Any) -> None:
    m = module("""
        def rule(g, out, x):
            return np.where(x > 0.0, g, 0.1 * g)

        def f(x):
            return np.sum(square(x) * x)
    """)
    slope = np.where(X > 0.0, X, 0.1 * X) + X * X
    np.testing.assert_allclose(sg.grad(m.f, rules={m.square: m.rule})(X), slope)
    np.testing.assert_allclose(sg.jvp(m.f, rules={m.square: m.rule})(V, X)[1], V @ slope)


# ---- what is called -------------------------------------------------------------------------

CALLED = [
    ("square", "g, out, x", "g * x * SCALE"),  # a number that may change
    ("square", "g, out, x, k=2.0", "g * x * k"),
    ("square", "g, out, *args", "g * args[0]"),
    ("square", "g, out, x", "np.multiply(g, x, out=np.zeros(3))"),
    ("square", "g, out, x", "np.cumsum(g) * x"),  # not element by element
    ("square", "g, out, x", "(lambda c: c * x)(g)"),
    ("square", "g, out, x", "helper(g, x)"),
]


@pytest.mark.parametrize(("target", "params", "expr"), CALLED)
def test_what_is_not_that_plain_is_called(
    module: Any, target: str, params: str, expr: str
) -> None:
    m = module(f"""
        def helper(g, x):
            return g * x

        def rule({params}):
            return {expr}

        def f(x):
            return np.sum({target}(x))
    """)
    assert is_called(source(m.f, X, rules={getattr(m, target): m.rule}))


def test_captured_numbers_stay_with_their_rule(module: Any) -> None:
    m = module("""
        def made(k):
            def rule(g, out, x):
                return k * g

            return rule

        def f(x):
            return np.sum(square(x))
    """)
    for k in (2.0, 3.0):
        np.testing.assert_allclose(sg.grad(m.f, rules={m.square: m.made(k)})(X), k * np.ones(3))


# ---- what is checked when a rule is called ------------------------------------------------

WRONG = [
    ("g * np.ones(2)", "shape"),
    ("g @ x", r"shape \(\)"),
    ("1j * g * x", "complex"),
    ("g, g", "2 cotangents"),
    ("g > 0.0", "bool"),
]


@pytest.mark.parametrize(("expr", "words"), WRONG)
def test_a_wrong_rule_is_refused_as_ever(module: Any, expr: str, words: str) -> None:
    m = module(f"""
        def rule(g, out, x):
            return {expr}

        def f(x):
            return np.sum(square(x))
    """)
    x = X[:2] if "ones" not in expr else X[:1]
    with pytest.raises(sg.errors.RuleError, match=words):
        sg.grad(m.f, rules={m.square: m.rule})(x)


def test_a_function_that_writes_into_its_argument_has_no_rule(module: Any) -> None:
    m = module("""
        def rule(g, out, x):
            return 0.5 * g

        def f(x):
            return np.sum(halved(x * 1.0))
    """)
    with pytest.raises(sg.errors.UnsupportedSyntax, match="writes into its argument"):
        sg.grad(m.f, rules={m.halved: m.rule})(X)


def test_single_precision_stays(module: Any) -> None:
    m = module("""
        def rule(g, out, x):
            return g * x * np.ones(3)

        def f(x):
            return np.sum(square(x))
    """)
    found = sg.grad(m.f, rules={m.square: m.rule})(X.astype(np.float32))
    assert found.dtype == np.float32


def test_an_arm_that_is_not_taken_contributes_nothing(module: Any) -> None:
    m = module("""
        def rule(g, out, x):
            return g / x

        def f(x):
            return np.sum(np.where(x > 0.0, square(x), 1.0))
    """)
    with np.errstate(all="ignore"):
        found = sg.grad(m.f, rules={m.square: m.rule})(np.array([0.0, 2.0]))
    np.testing.assert_array_equal(found, [0.0, 0.5])


# ---- nothing stale --------------------------------------------------------------------------


def test_a_name_of_the_rule_that_means_another_function(module: Any) -> None:
    m = module("""
        @sg.rule(square)
        def rule(g, out, x):
            return g * exp(x)

        def f(x):
            return np.sum(square(x))
    """)
    df = sg.grad(m.f)
    np.testing.assert_allclose(df(X), np.exp(X))
    m.exp = np.sin
    np.testing.assert_allclose(df(X), np.sin(X))


def test_a_rule_whose_code_is_replaced(module: Any) -> None:
    m = module("""
        @sg.rule(square)
        def rule(g, out, x):
            return g * 2.0

        def other(g, out, x):
            return g * 5.0

        def f(x):
            return np.sum(square(x))
    """)
    df = sg.grad(m.f)
    assert df(X)[0] == 2.0
    m.rule.__code__ = m.other.__code__
    assert df(X)[0] == 5.0


def test_another_rule_in_a_later_process(tmp_path: Path) -> None:
    """What is cached is never used with a rule that says something else."""
    script = """
        import numpy as np
        import srcgrad as sg

        def square(x):
            return x * x

        @sg.rule(square)
        def rule(g, out, x):
            return FACTOR * g

        print(sg.grad(square)(3.0), sg.grad(square)(np.ones(())))
    """
    file = tmp_path / "model.py"
    found = []
    for factor in ("2.0", "5.0"):
        file.write_text(textwrap.dedent(script).replace("FACTOR", factor))
        done = subprocess.run(
            [sys.executable, "-B", str(file)], capture_output=True, text=True, check=True,
            env={"SRCGRAD_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path)},
        )  # fmt: skip
        found.append(done.stdout.split())
    assert found == [["2.0", "2.0"], ["5.0", "5.0"]]


def test_under_numba(module: Any) -> None:
    pytest.importorskip("numba")
    m = module("""
        @sg.rule(square)
        def rule(g, out, x):
            return 3.0 * g * x

        def f(x):
            s = 0.0
            for i in range(x.shape[0]):
                s += square(x[i])
            return s
    """)
    np.testing.assert_allclose(sg.grad(m.f, backend="numba")(X), 3.0 * X)
