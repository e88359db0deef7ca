"""What type checkers know: a derivative has the signature of its function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """
import srcgrad as sg


def loss(x: float, n: int = 2, *, scale: float = 1.0) -> float:
    return scale * x**n


reveal_type(sg.grad(loss).__call__)
reveal_type(sg.vjp(loss).__call__)
reveal_type(sg.hessian(loss).__call__)
reveal_type(sg.grad(sg.grad(loss)).__call__)
sg.value_and_grad(loss, wrt=("x",))(1.0, n=3)
sg.grad(loss)("text")
sg.grad(loss)(1.0, m=3)
sg.hvp(loss)(1.0, 1.0, scale=2.0)
"""


@pytest.mark.slow
def test_mypy_sees_the_parameters(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
         "--cache-dir", str(tmp_path / "cache"), "program.py"],
        capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(ROOT)}, timeout=300,
    )  # fmt: skip
    said = done.stdout.splitlines()
    plain = 'note: Revealed type is "def (x: float, n: int =, *, scale: float =) -> Any"'
    behind = 'note: Revealed type is "def (Any, x: float, n: int =, *, scale: float =) -> Any"'
    expected = [(9, plain), (10, behind), (11, plain), (12, plain)]
    for line, text in expected:
        assert any(s.startswith(f"program.py:{line}: ") and normal(s).endswith(text) for s in said)
    errors = [s for s in said if ": error: " in s]
    assert [int(s.split(":")[1]) for s in errors] == [14, 15], done.stdout


def normal(said: str) -> str:
    return said.replace("builtins.", "")
