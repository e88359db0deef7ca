"""A package may have a function under the name of the module that it comes from:
`from .simulate import simulate` in its `__init__`. `import package.simulate as simulate` then
gives the function."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.analysis.resolve import Program
from srcgrad.frontend.source import read
from srcgrad.ir import types as ty

MODULE = """\
import numpy as np

RATE = np.array([0.5, 2.0])


def weight(i):
    return 0.1 * i + 1.0


def scaled(x):
    return x * RATE


def simulate(x):
    total = 0.0
    for i in range(len(x)):
        total += weight(i) * x[i] ** 2
    return total + np.sum(np.sin(scaled(x)))
"""


@pytest.fixture
def simulate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    package = tmp_path / "hides_its_modules"
    package.mkdir()
    (package / "__init__.py").write_text("from .simulate import simulate\n")
    (package / "simulate.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [n for n in sys.modules if n.startswith(package.name)]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("hides_its_modules.simulate")


X = np.array([0.3, -0.7])
EXPECTED = 2.0 * (0.1 * np.arange(2) + 1.0) * X + np.array([0.5, 2.0]) * np.cos(X * [0.5, 2.0])


@pytest.mark.parametrize("typed", [True, False])
def test_its_names_are_found(simulate: ModuleType, typed: bool) -> None:
    derivative = sg.grad(simulate.simulate, specialize=typed)
    np.testing.assert_allclose(derivative(X), EXPECTED)
    assert 'simulate = importlib.import_module("hides_its_modules.simulate")' in derivative.source
    again = sg.hvp(simulate.simulate, specialize=typed)
    assert np.all(np.isfinite(again(X, X)))


def test_with_numba(simulate: ModuleType) -> None:
    pytest.importorskip("numba")
    derivative = sg.grad(simulate.simulate, backend="numba")
    np.testing.assert_allclose(derivative(X), EXPECTED)


def test_in_another_process(simulate: ModuleType, tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import numpy as np, srcgrad as sg\n"
        "from hides_its_modules import simulate\n"
        f"print(*sg.grad(simulate)(np.array({X.tolist()})))\n"
    )
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        np.testing.assert_allclose([float(v) for v in ran.stdout.split()], EXPECTED)


def test_built(simulate: ModuleType, tmp_path: Path) -> None:
    out = tmp_path / "built.py"
    command = ["-m", "srcgrad", "build", "hides_its_modules.simulate:simulate", "--wrt", "x"]
    command += ["--types", "x=float64[:]", "--output", str(out)]
    ran = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    built = importlib.import_module("built")
    np.testing.assert_allclose(built.simulate_grad(X), EXPECTED)


class Late:
    """What a package puts in the place of its module so that its parts load when they are read."""

    __name__ = "loads_its_parts_late"

    def __getattr__(self, name: str) -> float:
        if name != "RATE":
            raise AttributeError(name)
        return 2.5


def imports_a_part(x):
    from loads_its_parts_late import RATE

    return RATE * x * x


def reads_a_part(x):
    import loads_its_parts_late

    return loads_its_parts_late.RATE * x * x


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("f", [imports_a_part, reads_a_part])
def test_objects_in_the_place_of_modules(f, typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "loads_its_parts_late", Late())
    assert sg.grad(f, specialize=typed)(1.5) == 7.5


def never_returns(x):
    raise ValueError(x)


def goes_on(x):
    y = never_returns(x)
    z = y * x
    return z * z


def test_what_follows_a_call_that_returns_nothing_is_not_left_out() -> None:
    program = Program()
    facts = program.facts(program.reached(read(goes_on)), (ty.Number(float),))
    assert facts.types["y"] == facts.types["z"] == ty.UNKNOWN
    assert len(facts.targets) == 3
