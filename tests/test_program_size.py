"""Programs of any size compile, or are refused where they can't be; none ends in a RecursionError,
and the work of the compiler grows as they do."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import srcgrad as sg
from srcgrad import pipeline
from srcgrad.analysis.types import probe
from tests import programs


def made(tmp_path, text, x=0.3, **options):
    f = programs.loaded(tmp_path, text).f
    return f, sg.grad(f, **options)(x)


def difference(f, x=0.3):
    return f(complex(x, 1e-20)).imag / 1e-20


@pytest.mark.parametrize(
    "text",
    [
        programs.straight_line(500),
        programs.loop_body(300),
        programs.chained_ifs(150),
        programs.early_returns(60),
        programs.sum_of(600),
        programs.call_tree(120),
    ],
    ids=["statements", "loop", "elif", "returns", "terms", "calls"],
)
def test_long_and_deep_programs_are_right(tmp_path, text):
    text = text.replace("import math\n", "import cmath as math\n").replace("if x >", "if x.real >")
    f = programs.loaded(tmp_path, text).f
    expected = difference(f)
    plain = programs.loaded(tmp_path, text.replace("import cmath as math", "import math")).f
    assert sg.grad(plain)(0.3) == pytest.approx(expected, rel=1e-12)
    assert sg.jvp(plain)(1.0, 0.3)[1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_a_tree_of_a_thousand_functions(tmp_path):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)  # which the function itself needs
    try:
        _, gradient = made(tmp_path, programs.call_tree(1000), 0.25)
    finally:
        sys.setrecursionlimit(limit)
    # f = x * x * (1 + 1/2 + 1/4 + ...)
    assert gradient == pytest.approx(1.0)


def test_blocks_that_python_could_not_read_are_refused_at_their_line(tmp_path):
    module = programs.loaded(tmp_path, programs.early_returns(130))
    with pytest.raises(sg.UnsupportedSyntax, match="blocks in one another") as caught:
        sg.grad(module.f)(0.3)
    assert caught.value.loc is not None
    assert "return y * math.sin(x) +" in str(caught.value)


def test_too_deep_for_any_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("srcgrad.runtime.depth.ROOM", 0)
    module = programs.loaded(tmp_path, programs.call_tree(200))
    with pytest.raises(sg.UnsupportedSyntax, match="nested too deeply") as caught:
        sg.grad(module.f)(0.3)
    assert caught.value.loc is not None
    assert "def f(x)" in str(caught.value)


def test_the_limit_on_recursion_is_what_it_was(tmp_path):
    before = sys.getrecursionlimit()
    texts = [programs.straight_line(20 + k) for k in range(4)]
    functions = [programs.loaded(tmp_path, text).f for text in texts]
    threads = [threading.Thread(target=sg.grad(f), args=(0.3,)) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sys.getrecursionlimit() == before


# ---- growth ----------------------------------------------------------------------------------

ARRAYS = (np.linspace(0.1, 0.5, 9), 1e-3)


def counted(work, *arguments):
    """How many calls, of Python and C functions, something takes."""
    count = 0

    def counting(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        work(*arguments)
    finally:
        sys.setprofile(None)
    return count


def calls(fn, arguments):
    """How many calls compiling a fresh derivative takes."""
    return counted(sg.grad(fn).specialize, *arguments)


def passes(fn, arguments):
    """How many calls it takes to the text that Numba compiles."""
    types = tuple(map(probe.type_of, arguments))
    name = fn.__code__.co_varnames[0]
    request = pipeline.Request(fn, "grad", (name,), types, backend="numba")
    return counted(lambda: pipeline.tree_of(pipeline.draft([request]), request))


# A program of any size, the size to start from, arguments, and how many calls one more statement
# (loop, branch, function) may cost: a number here may only become smaller.
GROWING = {
    "straight_line": (programs.straight_line, 60, (0.3,), 6_900),
    "rebound": (programs.rebound, 60, (0.3,), 11_900),
    "loop_body": (programs.loop_body, 40, (0.3,), 11_800),
    "loops": (programs.loops, 40, (0.3,), 13_900),
    "branches": (programs.branches, 40, (0.3,), 14_300),
    "stores": (programs.stores, 40, ARRAYS, 14_000),
    "sum_of": (programs.sum_of, 60, (0.3,), 3_450),
    "call_tree": (programs.call_tree, 15, (0.3,), 14_700),
    "writers": (programs.writers, 8, ARRAYS[:1], 26_000),
}


# The same, with the passes for Numba.
COMPILED = {
    "loop_body": (programs.loop_body, 20, (0.3,), 12_300),
    "stores": (programs.stores, 20, ARRAYS, 14_300),
}


def check_growth(folder, work, text, size, arguments, most):
    work(programs.loaded(folder, text(4)).f, arguments)  # tables are loaded, samples are run
    small, large = (work(programs.loaded(folder, text(n)).f, arguments) for n in (size, 4 * size))
    assert large / small < 4 * 1.1, f"{small} calls for {size}, {large} for {4 * size}"
    each = (large - small) / (3 * size)
    assert each < most, f"{each:.0f} calls for each"


@pytest.mark.parametrize("name", GROWING)
def test_the_work_per_statement_stays_the_same(tmp_path, name):
    check_growth(tmp_path, calls, *GROWING[name])


@pytest.mark.parametrize("name", COMPILED)
def test_so_does_that_of_the_passes_over_loops(tmp_path, name):
    check_growth(tmp_path, passes, *COMPILED[name])
