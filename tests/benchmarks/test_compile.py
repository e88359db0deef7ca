"""How long it takes to make a derivative: `pytest -n 0 tests/benchmarks --benchmark-enable`.

What is timed is the compiler: from the function to the text of its derivative, with tables loaded
and types of library functions known, and nothing taken from a cache.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from srcgrad import pipeline
from srcgrad.analysis.types import probe
from srcgrad.codegen import writer
from tests import programs

pytestmark = pytest.mark.filterwarnings("ignore:Benchmarks are automatically disabled")
ROUNDS = 3


def transformed(fn: Any, *arguments: Any) -> str:
    """The text of the gradient with respect to the first argument."""
    name = fn.__code__.co_varnames[0]
    types = tuple(map(probe.type_of, arguments))
    request = pipeline.Request(fn, "grad", (name,), types)
    return writer.write(pipeline.tree_of(pipeline.draft([request]), request))


def timed(benchmark: Any, folder: Path, text: str, *arguments: Any) -> str:
    """Each round has a function of its own: nothing is known of it."""
    transformed(programs.loaded(folder, text).f, *arguments)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (programs.loaded(folder, text).f, *arguments), {}

    made: str = benchmark.pedantic(transformed, setup=fresh, rounds=ROUNDS)
    return made


def test_realistic_function(benchmark: Any, tmp_path: Path) -> None:
    arguments = np.array([-1.0, -2.0, -1.0, 0.3, 0.1]), np.linspace(0.0, 3.0, 20)
    assert "theta_bar" in timed(benchmark, tmp_path, programs.KALMAN, *arguments)


@pytest.mark.parametrize("statements", [30, 500, 2000])
def test_straight_line_program(benchmark: Any, tmp_path: Path, statements: int) -> None:
    text = timed(benchmark, tmp_path, programs.straight_line(statements), 0.3)
    assert text.count("np.cos(") == statements


@pytest.mark.parametrize("functions", [10, 50, 200])
def test_call_tree(benchmark: Any, tmp_path: Path, functions: int) -> None:
    text = timed(benchmark, tmp_path, programs.call_tree(functions), 0.3)
    assert text.count("def ") > functions


@pytest.mark.parametrize("statements", [30, 300])
def test_arrays_changed_in_a_loop(benchmark: Any, tmp_path: Path, statements: int) -> None:
    arguments = np.linspace(0.1, 0.5, 9), 1e-3
    assert "x_bar" in timed(benchmark, tmp_path, programs.stores(statements), *arguments)


FIRST = """
import time
import numpy
start = time.perf_counter()
import srcgrad
print(time.perf_counter() - start)
from tests import programs
import pathlib, sys
f = programs.loaded(pathlib.Path(sys.argv[1]), programs.straight_line(1)).f
start = time.perf_counter()
srcgrad.grad(f)(0.3)
print(time.perf_counter() - start)
"""


@pytest.mark.parametrize("what", ["import", "first call"])
def test_once_in_a_process(benchmark: Any, tmp_path: Path, what: str) -> None:
    """What a process pays once: the import, and the tables of rules at the first derivative."""

    def once() -> float:
        done = subprocess.run(
            [sys.executable, "-c", FIRST, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout.split()[what == "first call"])

    seconds = benchmark.pedantic(once, rounds=ROUNDS)
    benchmark.extra_info["seconds in the process"] = seconds
    assert seconds < 30.0
