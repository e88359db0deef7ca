"""SRCGRAD_DEBUG=1: the IR is verified after each pass, and a nan is traced to its line."""

from __future__ import annotations

import importlib
import inspect
import io
import pdb
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.analysis import resolve
from srcgrad.ir import nodes as ir
from srcgrad.rules import custom


def root(x):
    y = np.sqrt(x)
    return np.sum(y * y)


def power(x, p):
    return x**p


def called(x):
    total = 0.0
    for i in range(3):
        total = total + power(x[i], 0.5)
    return total


def stored(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.log(x[i])
    return np.sum(y * y)


def masked(x):
    best = np.inf
    for v in x:
        best = min(best, v)
    return np.sum(np.where(x > best, np.log(x - best), 0.0)) + best


def invalid(x):
    y = np.log(x)
    return 2.0 * y


def line_of(fn: Any, text: str) -> str:
    lines, start = inspect.getsourcelines(fn)
    k = next(k for k, row in enumerate(lines) if text in row)
    return f"tests/test_debug.py:{start + k}"


BAD = np.array([4.0, 0.0, 3.0])


@pytest.mark.parametrize(
    ("df", "args", "sweep", "fn", "line"),
    [
        (sg.grad(root), (BAD,), "reverse", root, "np.sqrt"),
        (sg.value_and_grad(root), (BAD,), "reverse", root, "np.sqrt"),
        (sg.vjp(root), (2.0, BAD), "reverse", root, "np.sqrt"),
        (sg.grad(root, specialize=False), (BAD,), "reverse", root, "np.sqrt"),
        (sg.grad(root, backend="numba"), (BAD,), "reverse", root, "np.sqrt"),
        (sg.grad(called), (BAD,), "reverse", power, "x**p"),
        (sg.jvp(root), (np.ones(3), BAD), "reverse", root, "np.sqrt"),
        (sg.grad(stored), (BAD,), "forward", stored, "np.log"),
        (sg.hvp(stored), (np.ones(3), BAD), "forward", stored, "np.log"),
        (sg.value_and_grad(invalid), (-1.0,), "forward", invalid, "np.log"),
    ],
)  # fmt: skip
def test_the_line_that_made_it(df: Any, args: Any, sweep: str, fn: Any, line: str) -> None:
    if getattr(df, "_backend", "") == "numba":
        pytest.importorskip("numba")
    with np.errstate(all="ignore"):
        found = sg.trace_nan(df, *args)
    origin = getattr(found, sweep)
    assert origin.place == line_of(fn, line)
    assert line in origin.line
    assert " is not finite: result" in str(found).splitlines()[0]


def test_what_is_finite_is_no_matter() -> None:
    """An infinite start value, and the logarithm of zero behind a mask."""
    with np.errstate(all="ignore"):
        assert sg.trace_nan(sg.grad(masked), BAD) is None
    assert sg.trace_nan(sg.grad(invalid), -1.0) is None  # the gradient 2 / x is finite


def test_what_came_in() -> None:
    found = sg.trace_nan(sg.grad(stored), np.array([1.0, np.nan, 1.0]))
    assert (found.reverse, found.forward) == (None, None)
    assert "it came in with the arguments" in str(found)


def test_the_whole_report() -> None:
    with np.errstate(all="ignore"):
        said = str(sg.trace_nan(sg.grad(root), np.array([4.0, 0.0])))
    assert said == (
        "root_grad is not finite: result has nan\n"
        f"first in the derivative, at {line_of(root, 'np.sqrt')}  y = np.sqrt(x)\n"
        "    generated line 13: x_bar = y_bar * 0.5 / y\n"
        "    made x_bar = array of shape (2,) from 1 to 1, 1 nan of\n"
        "      y_bar = array of shape (2,) from 0 to 4, 1 zero\n"
        "      y = array of shape (2,) from 0 to 2, 1 zero"
    )


def test_only_derivatives_are_traced() -> None:
    with pytest.raises(sg.ArgumentError, match="trace_nan takes a derivative"):
        sg.trace_nan(root, BAD)


# ---- the environment variable --------------------------------------------------


def test_debugging_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRCGRAD_DEBUG", "1")
    df = sg.grad(root)
    assert df(np.array([4.0, 1.0])).tolist() == [1.0, 1.0]
    with (
        pytest.raises(sg.NonFiniteDerivative, match=r"test_debug\.py:\d+  y = np\.sqrt\(x\)"),
        np.errstate(all="ignore"),
    ):
        df(BAD)
    with np.errstate(all="ignore"):
        assert sg.grad(masked)(BAD).shape == (3,)
        monkeypatch.setenv("SRCGRAD_DEBUG", "0")
        assert np.isnan(sg.grad(root)(BAD)[1])


def test_a_pass_that_breaks_the_ir_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(fn: ir.Function) -> ir.Function:
        return replace(fn, body=fn.body[1:])

    def fresh(x):
        y = x * x
        return y + x

    monkeypatch.setattr(resolve.webs, "split", broken)
    monkeypatch.setenv("SRCGRAD_DEBUG", "1")
    with pytest.raises(sg.InternalError, match=r"after telling webs apart, fresh .* never bound"):
        sg.grad(fresh)(1.0)


# ---- the tools people know -----------------------------------------------------


def test_pdb_breaks_and_steps_in_a_derivative() -> None:
    df = sg.grad(root)
    df.specialize(np.ones(2))
    rows = df.source.splitlines()
    at = next(k for k, row in enumerate(rows, 1) if row.strip().startswith("x_bar ="))
    said = io.StringIO()
    commands = f"break {df.path}:{at}\ncontinue\np y.tolist()\nnext\np x_bar.tolist()\ncontinue\n"
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=said, nosigint=True, readrc=False)
    before = sys.gettrace()
    try:
        found = debugger.runcall(df, np.array([4.0, 9.0]))
    finally:
        sys.settrace(before)
        debugger.clear_all_breaks()
    assert found.tolist() == [1.0, 1.0]
    assert f"({at})root_grad()" in said.getvalue()
    assert f"-> {rows[at - 1].strip()}" in said.getvalue()
    assert "[2.0, 3.0]" in said.getvalue()
    assert "[1.0, 1.0]" in said.getvalue()


def test_tracebacks_name_the_users_line() -> None:
    with pytest.raises(TypeError) as caught:
        sg.grad(power)(2.0, None)
    shown = "".join(traceback.format_exception(caught.value))
    assert "in power_grad" in shown
    assert f"in the derivative of {line_of(power, 'x**p')}  return x**p" in shown


@pytest.mark.parametrize("times", [1, 2])  # compiled, then from the cache
def test_notes_name_the_file_that_fails(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both sweeps, the function and one of another file that it calls."""
    (tmp_path / "notes_inner.py").write_text(
        "import numpy as np\n\n\n\ndef inner(x, k):\n    y = np.sin(x)\n    return np.sum(y * k)\n"
    )
    (tmp_path / "notes_outer.py").write_text(
        "from notes_inner import inner\n\n\ndef outer(x, k, m):\n    y = x * 2.0\n"
        "    # not to blame\n    # nor this\n    z = y + m\n    return inner(z, k)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    notes = []
    for _ in range(times):
        monkeypatch.delitem(sys.modules, "notes_outer", raising=False)
        monkeypatch.delitem(sys.modules, "notes_inner", raising=False)
        importlib.invalidate_caches()
        df = sg.grad(importlib.import_module("notes_outer").outer)
        df(np.ones(3), np.ones(3), np.ones(3))
        for arguments in (
            [np.ones(3), np.ones(2), np.ones(3)],
            [np.ones(3), np.ones(3), np.ones(2)],
        ):
            with pytest.raises(ValueError, match="broadcast") as caught:
                df(*arguments)
            notes += caught.value.__notes__
    assert notes == times * [
        "srcgrad: in the derivative of notes_inner.py:7  return np.sum(y * k)",
        "srcgrad: in the derivative of notes_outer.py:8  z = y + m",
    ]


def stops(x):
    y = np.sin(x)
    for _ in range(2):
        breakpoint()
        y = y * x
    return np.sum(y)


@pytest.mark.parametrize("specialize", [True, False])
def test_a_breakpoint_in_the_function_stops_in_its_derivative(
    monkeypatch: pytest.MonkeyPatch, specialize: bool
) -> None:
    seen = []

    def hook() -> None:
        frame = sys._getframe(1)
        seen.append((frame.f_code.co_name, frame.f_locals["y"].tolist()))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    found = sg.grad(stops, specialize=specialize)(np.array([2.0]))
    assert found == pytest.approx(np.cos(2.0) * 4.0 + np.sin(2.0) * 4.0)
    assert seen == [("stops_grad", [np.sin(2.0)]), ("stops_grad", [2.0 * np.sin(2.0)])]


INSIDE = """
import numpy as np
import srcgrad as sg


def inner(w, a):
    r = np.sqrt((w - a) ** 2)
    return np.sum(np.log(r + a))


def of_module(a):
    return np.sum(sg.grad(inner)(np.array([1.0, 2.0]), a))


def nested(a):
    def loss(w):
        size = np.sqrt(w * a)
        return np.sum(size)

    return np.sum(sg.grad(loss)(np.array([1.0, 0.0])))
"""


@pytest.mark.parametrize(
    ("name", "line", "text"),
    [("of_module", 7, "r = np.sqrt((w - a) ** 2)"), ("nested", 17, "size = np.sqrt(w * a)")],
)
def test_places_behind_derivatives_inside_are_those_that_a_person_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: int, text: str
) -> None:
    """When it is made, and when it comes from the cache."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SRCGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(custom, "_version", 0)  # other tests registered rules
    (tmp_path / "inside_model.py").write_text(INSIDE)
    for _ in range(2):
        sys.modules.pop("inside_model", None)
        df = sg.grad(getattr(importlib.import_module("inside_model"), name))
        with np.errstate(all="ignore"):
            assert f"inside_model.py:{line}  {text}" in str(sg.trace_nan(df, 1.0))
        with pytest.raises(ValueError, match="broadcast") as caught:
            df(np.ones(3))
        assert caught.value.__notes__[-1].endswith(f"inside_model.py:{line}  {text}")
    sys.modules.pop("inside_model", None)
