"""Rules for functions without Python source: made by Numba or ctypes, or written in C."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.rules import registry

numba = pytest.importorskip("numba")

_HIDDEN: dict[str, Any] = {}
exec("def square(v):\n    return v * v\n", _HIDDEN)  # without a file

vectorized = numba.vectorize(["float64(float64)"])(_HIDDEN["square"])
lazy = numba.vectorize(_HIDDEN["square"])
jitted = numba.njit(_HIDDEN["square"])
callback = numba.cfunc("float64(float64)")(_HIDDEN["square"])

_library = ctypes.util.find_library("m")
_MATH: Any = ctypes.CDLL(_library) if _library else None
if _MATH is not None:
    _MATH.cosh.restype = ctypes.c_double
    _MATH.cosh.argtypes = [ctypes.c_double]
c_cosh = _MATH.cosh if _MATH is not None else None


def doubled(g: Any, out: Any, v: Any) -> Any:
    return g * 2.0 * v


def sinh(g: Any, out: Any, v: Any) -> Any:
    return g * np.sinh(v)


def calls_vectorized(x):
    return vectorized(x) * x


def calls_lazy(x):
    return lazy(x) * x


def calls_jitted(x):
    return jitted(x) * x


def calls_ctypes(x):
    return c_cosh(x) * x


CASES: dict[str, tuple[Any, Any, Any, Callable[[float], float], Callable[[float], float]]] = {
    "vectorize": (vectorized, doubled, calls_vectorized, lambda x: 3 * x * x, lambda x: 6 * x),
    "lazy vectorize": (lazy, doubled, calls_lazy, lambda x: 3 * x * x, lambda x: 6 * x),
    "njit": (jitted, doubled, calls_jitted, lambda x: 3 * x * x, lambda x: 6 * x),
}
if c_cosh is not None:
    CASES["ctypes"] = (
        c_cosh,
        sinh,
        calls_ctypes,
        lambda x: np.sinh(x) * x + np.cosh(x),
        lambda x: np.cosh(x) * x + 2 * np.sinh(x),
    )


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> Iterator[Any]:
    target, rule, *rest = request.param
    sg.rule(target)(rule)
    yield rest
    registry._ENTRIES.pop(registry.key_of(target))


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
def test_all_modes(case: Any, typed: bool) -> None:
    fn, slope, curvature = case
    assert sg.grad(fn, specialize=typed)(0.7) == pytest.approx(slope(0.7), rel=1e-14)
    assert sg.jvp(fn, specialize=typed)(2.0, 0.7)[1] == pytest.approx(2 * slope(0.7), rel=1e-14)
    assert sg.hvp(fn, specialize=typed)(2.0, 0.7) == pytest.approx(2 * curvature(0.7), rel=1e-14)


def test_a_compiled_callback_is_its_rules() -> None:
    sg.rule(callback)(doubled)

    def calls(x):
        return callback(x) * x

    try:
        assert sg.grad(calls)(0.7) == pytest.approx(3 * 0.7**2, rel=1e-14)
    finally:
        registry._ENTRIES.pop(registry.key_of(callback))


def test_without_a_rule_they_are_refused() -> None:
    for fn in (calls_vectorized, calls_lazy, calls_jitted):
        with pytest.raises(sg.SrcgradError, match="no derivative rule"):
            sg.grad(fn)(0.7)
