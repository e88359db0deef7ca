"""Compiled gradients beside their functions and adjoints written by hand, calls from Python, and
how time grows with the length of a loop: `pytest -n 0 tests/benchmarks --benchmark-enable`.

The table of docs/numba.md comes from `python docs/speed.py`, which has the functions."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

numba = pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore:Benchmarks are automatically disabled")


def _speed() -> Any:
    path = Path(__file__).parents[2] / "docs" / "speed.py"
    spec = importlib.util.spec_from_file_location("speed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["speed"] = module
    spec.loader.exec_module(module)
    return module


speed = _speed()


@pytest.mark.parametrize("form", ["function", "gradient", "by hand"])
@pytest.mark.parametrize("name", list(speed.kernels()))
def test_kernel(benchmark: Any, name: str, form: str) -> None:
    fn, by_hand, args = speed.kernels()[name]
    primal, adjoint = numba.njit(error_model="numpy")(fn), numba.njit(error_model="numpy")(by_hand)
    gradient = sg.grad(primal)
    np.testing.assert_allclose(gradient(*args), adjoint(*args), rtol=1e-9, atol=1e-12)
    run = {"function": primal, "gradient": gradient, "by hand": adjoint}[form]
    run(*args)
    benchmark.group = name
    benchmark(run, *args)


@pytest.mark.parametrize("steps", [1_000, 10_000, 100_000])
def test_length_of_a_loop(benchmark: Any, steps: int) -> None:
    gradient = sg.grad(numba.njit(error_model="numpy")(speed.iterate))
    r = np.full(steps, 3.2)
    expected = speed.iterate_by_hand(r, 0.3)
    np.testing.assert_allclose(benchmark(gradient, r, 0.3), expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("form", ["derivative", "generated function"])
def test_call_from_python(benchmark: Any, form: str) -> None:
    df = sg.grad(numba.njit(lambda x, y: x * y * y), wrt=(0, 1))
    assert df(2.0, 3.0) == (9.0, 12.0)
    benchmark(df if form == "derivative" else df.njit, 2.0, 3.0)


def test_load_in_a_second_process(benchmark: Any, tmp_path: Path) -> None:
    code = f"""
import sys, time; sys.path.insert(0, {str(Path(speed.__file__).parent)!r})
import numba, srcgrad as sg, speed
start = time.perf_counter()
fn, _, args = speed.kernels()["softmax in each row"]
sg.grad(numba.njit(error_model="numpy")(fn)).specialize(*args)
print(time.perf_counter() - start)
"""

    def second() -> float:
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return float(run.stdout)

    second()
    benchmark.extra_info["seconds after imports"] = benchmark.pedantic(second, rounds=2)
