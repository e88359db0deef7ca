"""The whole text of an error of each class, as a user meets it."""

from __future__ import annotations

import ast
import doctest
import importlib
import linecache
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad import errors, locate, pipeline
from srcgrad.build import config
from srcgrad.build.compiled import needs
from srcgrad.build.errors import BuildError, ConfigError
from srcgrad.check import GradientCheckError
from srcgrad.codegen import writer
from srcgrad.runtime import cache

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


def unwrapped(x, period):
    p = period * 0.5
    return np.unwrap(x, period=p)


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


def root(x):
    y = np.sqrt(x)
    return np.sum(y)


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
    found = text(errors.NotDifferentiable, lambda: sg.vjp(model.unwrapped, "period")(V, V, 6.0))
    assert found == (
        "model.py:18:11: numpy.unwrap has no derivative with respect to period\n"
        "    return np.unwrap(x, period=p)\n"
        "           ^^^^^^^^^^^^^^^^^^^^^^\n"
        "It is needed: period -> p (line 17)\n"
        "Fixes: give a rule with @srcgrad.rule(numpy.unwrap); or mark the value constant with "
        "srcgrad.stop_gradient(p)."
    )


def test_source_unavailable() -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x * x\n", "<made>", "exec"), namespace)
    found = text(errors.SourceUnavailable, lambda: sg.grad(namespace["f"]))
    assert found == (
        "the source of f can't be read: there is no <made>:1\n"
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
    """A table names the argument and the entry that is off, with what each mode says of it."""
    check = lambda: sg.check_grads(model.uses_square, (3.0,), rules={model.square: wrong}, order=1)  # noqa: E731
    assert text(GradientCheckError, check) == (
        "the derivatives of uses_square are off\n"
        "  argument  entry  reverse  forward  complex step  relative error\n"
        "  x                9        9        6             3.3e-01"
    )
    scaled = {np.sqrt: lambda g, out, x: g * np.array([0.5, 0.5, 0.4]) / out}
    x = np.array([0.25, 1.0, 4.0])
    check = lambda: sg.check_grads(model.root, (x,), rules=scaled, order=1)  # noqa: E731
    assert text(GradientCheckError, check) == (
        "the derivatives of root are off\n"
        "  argument  entry  reverse  forward  complex step  relative error\n"
        "  x         [2]    0.2      0.2      0.25          2.0e-01"
    )


def test_cache_error(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    found = text(errors.CacheError, lambda: cache.verify(folder))
    assert found.replace(str(folder), "DIR") == (
        "the cache directory DIR isn't used, for other users can write in it: code from it would "
        "run\n"
        "Fixes: chmod go-w DIR; or set SRCGRAD_CACHE_DIR to a directory of your own."
    )


def test_internal_error() -> None:
    value = np.float64(2.0)
    tree = ast.Module([ast.Assign([ast.Name("y")], ast.Constant(value))], [])
    assert text(errors.InternalError, lambda: writer.write(tree)) == (
        f"{value!r} was made a literal without `number`\n"
        "This is a fault of srcgrad, not of your program.  Please report it, with this text and "
        "the function it happened in."
    )


def test_non_finite_derivative(model: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRCGRAD_DEBUG", "1")
    with np.errstate(all="ignore"):
        found = text(sg.NonFiniteDerivative, lambda: sg.grad(model.root)(np.array([4.0, 0.0])))
    assert found == (
        "root_grad is not finite: result has inf\n"
        "first in the derivative, at model.py:63  y = np.sqrt(x)\n"
        "    generated line 11: x_bar = 0.5 / y\n"
        "    made x_bar = array of shape (2,) from 0.25 to 0.25, 1 inf of\n"
        "      y = array of shape (2,) from 0 to 2, 1 zero"
    )


def test_target_not_found(model: types.ModuleType) -> None:
    found = text(locate.TargetNotFound, lambda: locate.find("model:squared"))
    assert found == ("model has no squared\nFixes: perhaps you mean square or uses_square.")


def test_config_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    found = text(ConfigError, lambda: config.read(tmp_path))
    assert found.replace(str(tmp_path), "DIR") == (
        "DIR/pyproject.toml has no table [tool.srcgrad]\nFixes: name the function to build."
    )


def test_build_error(model: types.ModuleType) -> None:
    fn, _ = pipeline.function_of(model.root)
    assert str(needs(fn, ["jit.plus", "jit.dot"])) == (
        "model.py:62:0: the derivative of root needs jit.dot, jit.plus, which srcgrad compiles "
        "for Numba; a standalone module can't hold that\n"
        "    def root(x):\n"
        "    ^^^^^^^^\n"
        "Fixes: set standalone = false; or set jit = false."
    )


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


# ---- where the source is no file ----


def test_the_caret_in_a_notebook() -> None:
    name, code = "<ipython-input-4-aa>", "def f(x):\n    y = x * 2.0\n    yield y\n"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(code, name, "exec"), namespace)
    assert text(errors.UnsupportedSyntax, lambda: sg.grad(namespace["f"])(V)) == (
        "<ipython-input-4-aa>:3:4: yield: a generator or coroutine runs in pieces and has no "
        "single result\n"
        "    yield y\n"
        "    ^^^^^^^\n"
        "Fixes: collect the values in a list and return it."
    )


def test_the_caret_in_a_doctest() -> None:
    example = """
    >>> def f(x):
    ...     y = x * 2.0
    ...     yield y
    >>> found = text(errors.UnsupportedSyntax, lambda: sg.grad(f)(V))
    >>> print(found)
    <doctest guide[0]>:3:4: yield: a generator or coroutine runs in pieces and has no single result
        yield y
        ^^^^^^^
    Fixes: collect the values in a list and return it.
    """
    test = doctest.DocTestParser().get_doctest(example, dict(globals()), "guide", "guide.txt", 0)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


# ---- none is without ----

WHOLE = {
    errors.UnsupportedSyntax: test_unsupported_syntax,
    errors.MissingRule: test_missing_rule,
    errors.NotDifferentiable: test_not_differentiable,
    errors.SourceUnavailable: test_source_unavailable,
    errors.ArgumentError: test_argument_error_of_a_result,
    errors.AliasError: test_alias_error,
    errors.RuleError: test_rule_error,
    errors.CacheError: test_cache_error,
    errors.InternalError: test_internal_error,
    errors.RuleIgnoresCotangent: test_warnings,
    errors.UnusedOverride: test_warnings,
    GradientCheckError: test_gradient_check_error,
    sg.NonFiniteDerivative: test_non_finite_derivative,
    locate.TargetNotFound: test_target_not_found,
    ConfigError: test_config_error,
    BuildError: test_build_error,
}


def test_each_class_has_a_test_of_its_whole_text() -> None:
    """The classes are read from the source, so that one in a module nobody loads counts, too."""
    package = Path(sg.__file__).parent
    bases: dict[str, set[str]] = {}
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(b).rsplit(".", 1)[-1] for b in node.bases}
    found = {"SrcgradError", "SrcgradWarning"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    assert found - {"SrcgradError", "SrcgradWarning"} == {cls.__name__ for cls in WHOLE}
