"""Functions that call one another in circles: right, and in time that grows with their number."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.analysis.infer import Inference


def circle(path: Path, n: int) -> ModuleType:
    """n functions; each calls the one behind it, the one before it and the first."""
    text = ["import numpy as np", "", ""]
    for k in range(n):
        text += [
            f"def f{k}(x, n, scale=None):",
            "    if scale is None:",
            f"        scale = 1.0 + {k} / {n}",
            "    if n < 1:",
            "        return scale * np.sin(x)",
            f"    y = f{(k + 1) % n}(x, n - 1) * scale",
            f"    if n % 3 == {k % 3}:",
            f"        y = y + f{k - 1 if k else n - 1}(x * y, n - 2, y)",
            "    return np.tanh(y) + 0.1 * f0(x, n - 3)",
            "",
            "",
        ]
    file = path / f"circle_{n}.py"
    file.write_text("\n".join(text[:-2]) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def derivative(f: Callable[..., Any], x: float, *rest: Any) -> float:
    return float(np.imag(f(x + 1e-30j, *rest)) / 1e-30)


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_right(tmp_path: Path, n: int, typed: bool) -> None:
    module = circle(tmp_path, n)
    for f in (module.f0, getattr(module, f"f{n - 1}")):
        wanted = derivative(f, 0.7, 7)
        assert sg.grad(f, specialize=typed)(0.7, 7) == pytest.approx(wanted, rel=1e-12)
        assert sg.jvp(f, specialize=typed)(1.0, 0.7, 7)[1] == pytest.approx(wanted, rel=1e-12)


def test_the_work_grows_with_the_number_of_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = 0
    run = Inference.run

    def counted(work: Inference) -> Any:
        nonlocal runs
        runs += 1
        return run(work)

    monkeypatch.setattr(Inference, "run", counted)
    counts = []
    for n in (4, 8, 16):
        runs = 0
        module = circle(tmp_path, n)
        assert np.isfinite(sg.grad(module.f0)(0.7, 5))
        counts.append(runs)
    assert counts[2] < 2.5 * counts[1] < 6.5 * counts[0], counts


def lists_first(x, n, out):
    if n > 0:
        out.append(x * n)
        return lists_second(x, n - 1, out)
    return out


def lists_second(x, n, out):
    if n > 0:
        out.append(np.array([x, x * x]).sum() * n)
        return lists_first(np.sin(x), n - 1, out)
    return out


def through_lists(x):
    return sum(lists_first(x, 5, [1.0])) + sum(lists_second(x, 2, []))


def pairs_first(x, n):
    if n == 0:
        return x, 1.0
    a, b = pairs_second(x, n - 1)
    return a * b, b


def pairs_second(x, n):
    if n == 0:
        return np.ones(2) * x, x
    a, b = pairs_first(np.cos(x), n - 1)
    return np.sum(a) * x, b + a


def through_pairs(x):
    a, b = pairs_first(x, 4)
    c, d = pairs_second(x, 3)
    return np.sum(a) * np.sum(b) + np.sum(c) * np.sum(d)


def picked(f, x, n):
    return f(x) if n == 0 else picked(lambda v: f(v) * v, x, n - 1)


def through_functions(x):
    return picked(np.sin, x, 3)


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("f", [through_lists, through_pairs])
def test_types_that_grow_in_a_circle(f: Callable[[float], Any], typed: bool) -> None:
    wanted = derivative(f, 0.6)
    assert sg.grad(f, specialize=typed)(0.6) == pytest.approx(wanted, rel=1e-12)
    assert sg.jvp(f, specialize=typed)(1.0, 0.6)[1] == pytest.approx(wanted, rel=1e-12)


def nested(t, n):
    return t[0] if n == 0 else nested((t[0] * 0.5, t), n - 1)


def through_tuples(x):
    return nested((x, 1.0), 3)


REFUSED = """\
tests/analysis/test_recursion.py:{line}:0: {name} calls itself with other types each time, such \
as a tuple or function that grows: there is no end to what would have to be compiled"""


@pytest.mark.parametrize(
    ("f", "name"), [(through_functions, "picked"), (through_tuples, "nested")]
)
def test_types_without_end_are_refused(f: Callable[[float], Any], name: str) -> None:
    line = globals()[name].__code__.co_firstlineno
    for derivative_of in (lambda: sg.grad(f)(0.6), lambda: sg.jvp(f)(1.0, 0.6)):
        with pytest.raises(sg.UnsupportedSyntax) as refusal:
            derivative_of()
        assert str(refusal.value).startswith(REFUSED.format(line=line, name=name))
