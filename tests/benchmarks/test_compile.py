"""How long it takes to make a derivative: run with `pytest tests/benchmarks --benchmark-only`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import srcgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore:Benchmarks are automatically disabled")


def loaded(folder: Path, name: str, text: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def straight_line(n: int) -> str:
    lines = "".join(f"    y{k + 1} = np.sin(y{k}) * 0.5 + x\n" for k in range(n))
    return f"import numpy as np\n\n\ndef f(x):\n    y0 = x\n{lines}    return y{n}\n"


def call_tree(n: int) -> str:
    functions = "".join(
        f"def g{k}(x):\n    return 0.5 * g{k - 1}(x) + x * x\n\n\n" for k in range(1, n)
    )
    return f"def g0(x):\n    return x * x\n\n\n{functions}def f(x):\n    return g{n - 1}(x)\n"


@pytest.mark.parametrize("statements", [30, 60, 120])
def test_straight_line_program(benchmark: Any, tmp_path: Path, statements: int) -> None:
    module = loaded(tmp_path, f"line_{statements}", straight_line(statements))
    sg.grad(module.f)(0.3)  # tables are loaded, the file is parsed
    result = benchmark.pedantic(lambda: sg.grad(module.f)(0.3), rounds=3, iterations=1)
    assert result == pytest.approx(sg.jvp(module.f)(1.0, 0.3)[1])


@pytest.mark.parametrize("functions", [10, 20, 40])
def test_call_tree(benchmark: Any, tmp_path: Path, functions: int) -> None:
    module = loaded(tmp_path, f"tree_{functions}", call_tree(functions))
    sg.grad(module.f)(0.3)
    result = benchmark.pedantic(lambda: sg.grad(module.f)(0.3), rounds=3, iterations=1)
    assert result == pytest.approx(sg.jvp(module.f)(1.0, 0.3)[1])
