"""The whole text of each kind of error."""

from __future__ import annotations

import copy
import pickle
import traceback
from pathlib import Path

import pytest

from srcgrad import errors
from srcgrad.errors import located, rule_error
from srcgrad.ir.nodes import Loc

PROGRAM = """import numpy as np


def f(x):
    a = x * 2
    r = brentq(f, a, b)
\ts = {"\u00e9": g(x)}
    t = long_call(
        x,
    )
    \u5b57 = h(x)
"""
CALL = (6, 8, 6, 14)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(PROGRAM, encoding="utf-8")
    return str(tmp_path / "model.py")


def at(file: str, line: int, col: int, end_line: int, end_col: int) -> Loc:
    return Loc(file, line, col, end_line, end_col)


def test_whole_text(model: str) -> None:
    error = located(
        errors.MissingRule,
        at(model, *CALL),
        "no derivative rule for scipy.optimize.brentq",
        chain=[("x", 4), ("a", 5), ("r", 6), ("result", 12)],
        fixes=["give a rule with @srcgrad.rule(brentq)", "use srcgrad.stop_gradient(r)"],
    )
    assert str(error) == (
        "model.py:6:8: no derivative rule for scipy.optimize.brentq\n"
        "    r = brentq(f, a, b)\n"
        "        ^^^^^^\n"
        "It is needed: x (line 4) -> a (line 5) -> r (line 6) -> result (line 12)\n"
        "Fixes: give a rule with @srcgrad.rule(brentq); or use srcgrad.stop_gradient(r)."
    )


PLAIN = [
    (errors.MissingRule, NotImplementedError),
    (errors.NotDifferentiable, errors.SrcgradError),
    (errors.SourceUnavailable, errors.SrcgradError),
    (errors.ArgumentError, TypeError),
    (errors.AliasError, ValueError),
    (errors.RuleError, errors.SrcgradError),
    (errors.CacheError, errors.SrcgradError),
    (errors.UnsupportedSyntax, SyntaxError),
]


@pytest.mark.parametrize(("cls", "base"), PLAIN)
def test_classes(cls: type[errors.SrcgradError], base: type[Exception], model: str) -> None:
    error = located(cls, at(model, *CALL), "what", fixes=["do this."])
    assert isinstance(error, base)
    assert isinstance(error, errors.SrcgradError)
    assert str(error) == (
        "model.py:6:8: what\n    r = brentq(f, a, b)\n        ^^^^^^\nFixes: do this."
    )
    assert str(cls("bare")) == "bare"


def test_internal_error_asks_for_a_report() -> None:
    assert str(errors.InternalError("no such web")) == (
        "no such web\n"
        "This is a fault of srcgrad, not of your program.  "
        "Please report it, with this text and the function it happened in."
    )


def test_python_prints_the_caret_of_unsupported_syntax(model: str) -> None:
    error = located(errors.UnsupportedSyntax, at(model, *CALL), "no", fixes=["write yes"])
    assert "".join(traceback.format_exception_only(error)) == (
        f'  File "{model}", line 6\n'
        "    r = brentq(f, a, b)\n"
        "        ^^^^^^\n"
        "srcgrad.errors.UnsupportedSyntax: no\n"
        "Fixes: write yes.\n"
    )
    fields = (error.filename, error.lineno, error.offset, error.end_lineno, error.end_offset)
    assert fields == (model, 6, 9, 6, 15)
    assert error.text == "    r = brentq(f, a, b)"


def test_columns_count_bytes(model: str) -> None:
    error = located(errors.NotDifferentiable, at(model, 7, 12, 7, 16), "here")
    row, caret = str(error).split("\n")[1:]
    assert row == '    s = {"\u00e9": g(x)}'
    assert caret == " " * (4 + row.strip().index("g(x)")) + "^^^^"


def test_wide_characters_take_two_columns(model: str) -> None:
    error = located(errors.NotDifferentiable, at(model, 11, 10, 11, 14), "here")
    assert str(error) == "model.py:11:10: here\n    \u5b57 = h(x)\n    " + " " * 5 + "^^^^"


def test_expression_of_several_lines(model: str) -> None:
    error = located(errors.NotDifferentiable, at(model, 8, 8, 10, 5), "here")
    assert str(error) == "model.py:8:8: here\n    t = long_call(\n        ^^^^^^^^^^"
    python = located(errors.UnsupportedSyntax, at(model, 8, 8, 10, 5), "here")
    assert "^^^^^^^^^^" in "".join(traceback.format_exception_only(python))


@pytest.mark.parametrize("file", ["gone.py", "<stdin>", "nul\0.py"])
def test_unreadable_line(file: str) -> None:
    for cls in (errors.MissingRule, errors.UnsupportedSyntax):
        assert str(located(cls, at(file, 3, 4, 3, 9), "what")) == f"{file}:3:4: what"
        traceback.format_exception_only(located(cls, at(file, 3, 4, 3, 9), "what"))


def test_line_beyond_the_end_and_columns_beyond_the_line(model: str) -> None:
    assert str(located(errors.MissingRule, at(model, 99, 0, 99, 1), "x")) == "model.py:99:0: x"
    text = str(located(errors.MissingRule, at(model, 1, 90, 1, 95), "x"))
    assert text.startswith("model.py:1:90: x\n    import numpy as np\n")


def test_no_place() -> None:
    error = located(errors.ArgumentError, None, "the gradient of an int", fixes=["pass 3.0"])
    assert str(error) == "the gradient of an int\nFixes: pass 3.0."


def test_files_are_shown_from_where_the_user_is(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert errors.shown_file(model) == "model.py"
    (tmp_path / "sub").mkdir()
    assert errors.shown_file(str(tmp_path / "sub" / "a.py")).replace("\\", "/") == "sub/a.py"
    monkeypatch.chdir(tmp_path / "sub")
    assert errors.shown_file(model) == "model.py"


def test_no_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert errors.shown_file(str(tmp_path / "a.py")) == "a.py"


def test_long_chains_are_cut() -> None:
    chain = [(f"v{i}", i) for i in range(1, 13)] + [("result", 0)]
    text = str(located(errors.MissingRule, None, "m", chain=chain))
    assert text == (
        "m\nIt is needed: v1 (line 1) -> v2 (line 2) -> v3 (line 3) -> v4 (line 4) -> ... -> "
        "v11 (line 11) -> v12 (line 12) -> result"
    )


@pytest.mark.parametrize("cls", [c for c, _ in PLAIN] + [errors.InternalError])
def test_errors_travel(cls: type[errors.SrcgradError], model: str) -> None:
    error = located(cls, at(model, *CALL), "what", chain=[("x", 1)], fixes=["do"])
    error.add_note("a note")
    text = str(error)
    Path(model).unlink()
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is cls
        assert str(other) == text
        assert other.__notes__ == ["a note"]
        assert (other.loc, other.chain, other.fixes) == (error.loc, error.chain, error.fixes)


def test_rule_errors_name_rule_and_target(model: str) -> None:
    namespace: dict[str, object] = {}
    exec(compile("\n\ndef bad(g, out, x): ...", model, "exec"), namespace)
    assert str(rule_error(len, namespace["bad"], "it returned 2 cotangents for 1 argument")) == (
        "rule bad (model.py:3) for len: it returned 2 cotangents for 1 argument"
    )
    assert str(rule_error("numpy.sin", "Mine", "no")) == "rule Mine for numpy.sin: no"


def test_warnings_are_user_warnings() -> None:
    for cls in (errors.RuleIgnoresCotangent, errors.UnusedOverride):
        assert issubclass(cls, errors.SrcgradWarning)
        assert issubclass(cls, UserWarning)
