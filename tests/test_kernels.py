"""Random numeric kernels: the text that Numba compiles, with and without the passes over loops,
against the derivative for NumPy.  The texts run as plain Python, but for a few."""

from __future__ import annotations

import importlib.util
import sys
import types
import warnings

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops
from tests.fuzz.kernels import kernel

numba = pytest.importorskip("numba")
SHORT, LONG = 40, 1000
MODES = ("grad", "value_and_grad")


def loaded(text: str, path, name: str):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def arguments(seed: int, n: int = 5):
    rng = np.random.default_rng(seed)
    return rng.random(n), rng.random(n), rng.random((n, n)), n


def interpreted(text: str, name: str):
    """The function of a text for Numba, run by Python."""
    stand_in = types.ModuleType("numba")
    stand_in.njit = lambda *a, **k: a[0] if a else (lambda fn: fn)
    stand_in.prange = range
    kept, sys.modules["numba"] = sys.modules["numba"], stand_in
    try:
        space: dict = {}
        exec(compile(text, f"<{name}>", "exec"), space)
        return space[name]
    finally:
        sys.modules["numba"] = kept


def flat(result):
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([flat(p) if isinstance(p, tuple) else np.ravel(p) for p in parts])


def checked(seed: int, tmp_path, monkeypatch, compiled: bool = False) -> None:
    module = loaded(kernel(seed), tmp_path / f"kernel_{seed}.py", f"kernel_{seed}")
    mode = MODES[seed % 2]
    make = getattr(sg, mode)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = flat(make(module.kernel, wrt=(0, 1, 2))(*arguments(seed)))
        if not np.all(np.isfinite(expected)):
            return
        for off in (set(), {one.__name__ for one in loops.PASSES}):
            monkeypatch.setattr(loops, "skipped", off)
            df = make(module.kernel, wrt=(0, 1, 2), backend="numba")
            df.specialize(*arguments(seed))
            run = df if compiled else interpreted(df.source, f"kernel_{mode}")
            got = flat(run(*arguments(seed)))
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12, err_msg=df.source)


@pytest.mark.parametrize("start", range(0, SHORT, 10))
def test_random_kernels(start, tmp_path, monkeypatch):
    for seed in range(start, start + 10):
        checked(seed, tmp_path, monkeypatch)


def test_random_kernels_compiled(tmp_path, monkeypatch):
    for seed in (1, 2, 3):
        checked(seed, tmp_path, monkeypatch, compiled=True)


@pytest.mark.slow
def test_many_random_kernels(tmp_path, monkeypatch):
    for seed in range(1_000, 1_000 + LONG):
        checked(seed, tmp_path, monkeypatch)
