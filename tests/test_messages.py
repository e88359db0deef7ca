"""The whole text of an error of each class, as a user meets it."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad import errors
from srcgrad.check import GradientCheckError

MODEL = """\
import numpy as np
from time import ctime

def parts(x):
    for v in x:
        yield v * v


def days(x, scale):
    a = x * scale
    b = np.sin(a)
    n = ctime(b)
    return n * a


def quantile(x, q):
    p = q * 0.5
    return np.quantile(x, p)


def as_objects(x):
    a = np.array([x, None], dtype=object)
    return a[0] * 2.0


def doubled(x):
    return x * 2.0


def both(x, y):
    return x * y, y


def writes(x, y):
    x *= y
    return np.sum(x)


def square(x):
    return x * x


def uses_square(x):
    return square(x) + 1.0


def mismatch(x):
    y = x * 2.0
    return np.sum(y @ np.ones((4, 2)))


def divides(x, n):
    for k in range(n):
        x = x + 1 / k
    return x


def looks_up(x, table):
    return x * table["w"]


def hides(np):
    import numpy

    return numpy.sum(numpy.tanh(np))
"""
V = np.array([0.5, -1.2, 2.0])


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """The programs as `model.py` in the current directory."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    importlib.invalidate_caches()
    yield importlib.import_module("model")
    sys.modules.pop("model", None)


def text(cls: type[Exception], call: Any) -> str:
    with pytest.raises(cls) as caught:
        call()
    assert type(caught.value) is cls
    assert isinstance(caught.value, sg.SrcgradError)
    return str(caught.value)


def line_of(model: types.ModuleType, code: str) -> int:
    return MODEL[: MODEL.index(code)].count("\n") + 1


# ---- one for each class ----


def test_unsupported_syntax(model: types.ModuleType) -> None:
    found = text(errors.UnsupportedSyntax, lambda: sg.grad(model.parts)(V))
    assert found == (
        "model.py:6:8: yield: a generator or coroutine runs in pieces and has no single result\n"
        "    yield v * v\n"
        "    ^^^^^^^^^^^\n"
        "Fixes: collect the values in a list and return it."
    )


def test_missing_rule(model: types.ModuleType) -> None:
    found = text(errors.MissingRule, lambda: sg.grad(model.days)(1.5, 2.0))
    assert found == (
        "model.py:12:4: no derivative rule for time.ctime: it has no rule and no Python "
        "source\n"
        "    n = ctime(b)\n"
        "    ^^^^^^^^^^^^\n"
        "It is needed: x -> a (line 10) -> b (line 11)\n"
        "Fixes: give a rule with @srcgrad.rule(time.ctime); or mark the value constant "
        "with srcgrad.stop_gradient(...)."
    )


def test_not_differentiable(model: types.ModuleType) -> None:
    found = text(errors.NotDifferentiable, lambda: sg.grad(model.quantile, "q")(V, 0.3))
    assert found == (
        "model.py:18:11: numpy.quantile has no derivative with respect to q\n"
        "    return np.quantile(x, p)\n"
        "           ^^^^^^^^^^^^^^^^^\n"
        "It is needed: q -> p (line 17)\n"
        "Fixes: give a rule with @srcgrad.rule(numpy.quantile); or mark the value constant with "
        "srcgrad.stop_gradient(p)."
    )


def test_source_unavailable() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x * x\n", namespace)
    found = text(errors.SourceUnavailable, lambda: sg.grad(namespace["f"]))
    assert found == (
        "the source of f can't be read: there is no <string>:1\n"
        "Fixes: define it in a file or a notebook cell; or give it a derivative with "
        "@srcgrad.rule."
    )


def test_argument_error_of_a_result(model: types.ModuleType) -> None:
    found = text(errors.ArgumentError, lambda: sg.grad(model.doubled)(V))
    assert found == (
        "model.py:26:0: grad needs a scalar output, but doubled returns an array with 1 "
        "dimension\n"
        "    def doubled(x):\n"
        "    ^^^^^^^^^^^\n"
        "Fixes: use vjp with a cotangent of the result's structure; or use jacobian for an array "
        "result."
    )


def test_argument_error_of_an_argument(model: types.ModuleType) -> None:
    found = text(errors.ArgumentError, lambda: sg.grad(model.square)(3))
    assert found == (
        "square: can't differentiate with respect to x, which is an integer (int): pass 3.0 "
        "instead of 3, a float dtype is needed"
    )
    found = text(errors.ArgumentError, lambda: sg.grad(model.square)(np.arange(3)))
    assert found == (
        "square: can't differentiate with respect to x, which is an array of dtype int64: pass an "
        "array of a floating dtype, x.astype(float)"
    )


def test_argument_error_of_wrt(model: types.ModuleType) -> None:
    found = text(errors.ArgumentError, lambda: sg.grad(model.square, wrt=1))
    assert found == "wrt: square has no argument at position 1 (it has 1)"
    found = text(errors.ArgumentError, lambda: sg.grad(model.square, wrt="z"))
    assert found == "wrt: square has no parameter 'z' (it has x)"
    found = text(errors.ArgumentError, lambda: sg.grad(model.square, wrt=1.5))
    assert found == "wrt must be a position, a parameter name, or a tuple of them, got 1.5"


def test_alias_error(model: types.ModuleType) -> None:
    found = text(errors.AliasError, lambda: sg.grad(model.writes, (0, 1))(V[:2], V[1:]))
    assert found == (
        "the arguments x and y share memory and the function writes into x: pass a copy of one "
        "of them"
    )


def two_cotangents(g, out, x):
    return g, g


def test_rule_error(model: types.ModuleType) -> None:
    gradient = sg.grad(model.uses_square, rules={model.square: two_cotangents})
    found = text(errors.RuleError, lambda: gradient(3.0))
    place = two_cotangents.__code__.co_firstlineno
    assert found == (
        f"rule two_cotangents (test_messages.py:{place}) for model.square(x): it returned 2 "
        "cotangents for 1 argument"
    )


def raises(g, out, x):
    return g / (x - x)


def test_exceptions_of_rules_say_where_they_are_from(model: types.ModuleType) -> None:
    gradient = sg.grad(model.uses_square, rules={model.square: raises})
    with pytest.raises(ZeroDivisionError) as caught:
        gradient(3.0)
    place = raises.__code__.co_firstlineno
    note = f"raised in the rule raises (test_messages.py:{place}) for model.square(x)"
    assert caught.value.__notes__ == [note]


def wrong(g, out, x):
    return 3.0 * g * x


def test_gradient_check_error(model: types.ModuleType) -> None:
    check = lambda: sg.check_grads(model.uses_square, (3.0,), rules={model.square: wrong}, order=1)  # noqa: E731
    found = text(GradientCheckError, check)
    assert "x" in found
    assert "9" in found
    assert "6" in found


def constant(g, out, x):
    return 1.0


def test_warnings(model: types.ModuleType) -> None:
    with pytest.warns(errors.RuleIgnoresCotangent) as caught:
        sg.grad(model.uses_square, rules={model.square: constant})
    place = constant.__code__.co_firstlineno
    assert str(caught[0].message) == (
        f"rule constant (test_messages.py:{place}) for square: nothing it returns depends on the "
        "cotangent g, which breaks the chain rule: multiply by g"
    )
    with pytest.warns(errors.UnusedOverride) as caught:
        sg.grad(model.doubled, rules={model.square: wrong})(3.0)
    assert str(caught[0].message) == (
        "a rule was given for model.square, which the differentiated program never calls"
    )


# ---- errors at run time name the user's line ----


def test_objects(model: types.ModuleType) -> None:
    found = text(errors.NotDifferentiable, lambda: sg.grad(model.as_objects)(1.5))
    assert "dtype object" in found


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_exceptions_of_the_user_surface_with_the_line(
    model: types.ModuleType, mode: str, typed: bool
) -> None:
    """The exception is the user's own, and a note says where in the user's code it came from."""
    first = (1.0,) if mode == "jvp" else ()

    def notes(cls: type[Exception], fn: Any, *args: Any, seed: Any = first) -> str:
        derivative = getattr(sg, mode)(fn, specialize=typed)
        with pytest.raises(cls) as caught:
            derivative(*seed, *args)
        assert not isinstance(caught.value, sg.SrcgradError)
        return "\n".join(getattr(caught.value, "__notes__", []))

    place = line_of(model, "return np.sum(y @")
    assert f"model.py:{place}" in notes(
        ValueError, model.mismatch, V, seed=(V,) if mode == "jvp" else ()
    )
    place = line_of(model, "x = x + 1 / k")
    assert f"model.py:{place}" in notes(ZeroDivisionError, model.divides, 1.0, 3)
    place = line_of(model, 'return x * table["w"]')
    assert f"model.py:{place}" in notes(KeyError, model.looks_up, 1.0, {})


def test_a_variable_named_as_the_module_that_the_text_calls(model: types.ModuleType) -> None:
    found = text(errors.UnsupportedSyntax, lambda: sg.grad(model.hides)(V))
    assert found == (
        "a variable is named np, as is the module that hides_grad calls functions of\n"
        "Fixes: give the variable another name."
    )
