"""Every public function of NumPy's numeric namespaces and of `math` is accounted for.

It has a rule, has derivative zero, is refused with a reason, or is listed here as one whose own
Python source is differentiated, with arguments at which that is checked.
"""

from __future__ import annotations

import cmath
import inspect
import math
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.polynomial as npoly
import pytest
import scipy.fft
import scipy.linalg
import scipy.special

import srcgrad as sg
from srcgrad.errors import MissingRule
from srcgrad.rules import registry, tables

tables.load()

X = np.array([0.3, -0.5, 0.7])
C = np.array([1.1, 2.0, -0.3, 0.5])
D = np.array([0.3, -1.0, 2.0])
M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])

NAMESPACES = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.lib.stride_tricks": np.lib.stride_tricks,
    "numpy.lib.scimath": np.lib.scimath,
    "math": math,
    "cmath": cmath,
    "scipy.fft": scipy.fft,
    "scipy.special": scipy.special,
    "scipy.linalg": scipy.linalg,
} | {
    f"numpy.polynomial.{name}": getattr(npoly, name)
    for name in "polynomial chebyshev legendre hermite hermite_e laguerre".split()
}

# NumPy's own source is differentiated: functions on coefficients, written in Python.
FAMILIES = {
    "polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm",
    "hermite_e": "herme", "laguerre": "lag",
}  # fmt: skip


# Compiling NumPy's source takes a while: of the other families the source is alike.
QUICK = ("polynomial", "chebyshev")


def _sources() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    for module, p in FAMILIES.items():
        samples: dict[str, tuple[Any, ...]] = {
            f"{p}mul": (C, D), f"{p}mulx": (C,), f"{p}pow": (D, 2), f"{p}add": (C, D),
            f"{p}sub": (C, D), f"{p}fromroots": (D,), f"{p}companion": (C,),
            f"{p}line": (0.3, 0.4),
            f"{p}fit": (np.arange(4.0), C, 2), f"{p}roots": (C,), f"{p}trim": (C,),
            f"{p}div": (C, D), f"{p}2poly": (C,), f"poly2{p}": (C,), f"{p}weight": (X,),
            f"{p}valfromroots": (X, D),
        }  # fmt: skip
        for name, args in samples.items():
            function = getattr(getattr(npoly, module), name, None)
            if function is not None:
                yield f"numpy.polynomial.{module}.{name}", function, args
    yield "numpy.require", np.require, (M,)


SOURCES = list(_sources())


def _parameters() -> Iterator[Any]:
    for name, *rest in SOURCES:
        quick = name == "numpy.require" or name.split(".")[2] in QUICK
        yield pytest.param(*rest, id=name, marks=() if quick else pytest.mark.slow)


# Stores into an array, which the compiler writes as such; and a loop.
def _copyto(x: Any) -> Any:
    u = x * 2.0
    np.copyto(u, x * x)
    return np.sum(u**3)


def _put(x: Any) -> Any:
    u = x * 2.0
    np.put(u, [0, 2], x[:2] ** 2)
    return np.sum(u**3)


def _place(x: Any) -> Any:
    u = x * 2.0
    np.place(u, u > 0.5, x**2)
    return np.sum(u**3)


def _putmask(x: Any) -> Any:
    u = x * 2.0
    np.putmask(u, u > 0.5, x**2)
    return np.sum(u**3)


def _put_along_axis(x: Any) -> Any:
    u = x * 2.0
    np.put_along_axis(u, np.array([2, 0]), x[:2] ** 2, 0)
    return np.sum(u**3)


def _fill_diagonal(x: Any) -> Any:
    u = np.outer(x, x)
    np.fill_diagonal(u, x[0] ** 2)
    return np.sum(u**3)


STORES = {
    np.copyto: _copyto, np.put: _put, np.place: _place, np.putmask: _putmask,
    np.put_along_axis: _put_along_axis, np.fill_diagonal: _fill_diagonal,
}  # fmt: skip
LOOPS = (np.ndenumerate,)


def _public(space: Any) -> Iterator[tuple[str, Any]]:
    # NumPy 1 leaves helpers in its namespaces, which `__all__` does not list.
    for name in sorted(getattr(space, "__all__", None) or dir(space)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(space, name, None)
        hidden = name.startswith("_") or isinstance(value, types.ModuleType) or value is None
        error = isinstance(value, type) and issubclass(value, BaseException)
        if callable(value) and not hidden and not error:
            yield name, value


# Made once and for all when called with numbers: no argument has a derivative.
_CONSTANT = frozenset(
    f"{p}{what}" for p in FAMILIES.values() for what in ("gauss", "pts1", "pts2")
) | {"ABCPolyBase"} | {f"{p}interpolate" for p in FAMILIES.values()}  # fmt: skip


@pytest.mark.parametrize("space", sorted(NAMESPACES))
def test_every_public_name_is_accounted_for(space: str) -> None:
    from_source = {id(f) for _, f, _ in SOURCES} | {id(f) for f in (*STORES, *LOOPS)}
    missing = []
    for name, value in _public(NAMESPACES[space]):
        entry = registry.lookup(value)
        known = entry is not None or id(value) in from_source or name in _CONSTANT
        if space.startswith("scipy."):  # its Python is read: a refusal says where it ends
            known = known or inspect.isfunction(value) or isinstance(value, type)
        if not known:
            missing.append(name)
        if entry is not None and entry.kind == "refuse":
            assert entry.note, f"{space}.{name} is refused without a reason"
    assert missing == []


def test_the_walk_would_notice_a_new_function() -> None:
    """A namespace with a function that no table knows."""
    space = types.SimpleNamespace(sin=np.sin, brand_new=lambda x: x)
    unknown = [n for n, v in _public(space) if registry.lookup(v) is None]
    assert unknown == ["brand_new"]


def _slope(f: Any, args: tuple[Any, ...], direction: list[Any]) -> Any:
    def at(step: float) -> Any:
        moved = [a if d is None else a + step * d for a, d in zip(args, direction, strict=True)]
        return _flat(f(*moved))

    h = 1e-3
    one = (at(h) - at(-h)) / (2 * h)
    two = (at(h / 2) - at(-h / 2)) / h
    return (4.0 * two - one) / 3.0


def _flat(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return np.concatenate([np.ravel(v) for v in value])
    return np.ravel(value)


@pytest.mark.parametrize(("function", "args"), list(_parameters()))
def test_numpys_own_source_is_differentiated(function: Any, args: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(3)
    active = [k for k, a in enumerate(args) if isinstance(a, float | np.ndarray)]
    tangents = [
        rng.standard_normal(np.shape(a)) if k in active else None for k, a in enumerate(args)
    ]
    expected = _slope(function, args, tangents)
    wrt = tuple(active)
    given = tuple(
        float(t) if isinstance(args[k], float) else t
        for k, t in enumerate(tangents)
        if k in active
    )
    value, ahead = sg.jvp(function, wrt=wrt)(given, *args)
    np.testing.assert_allclose(_flat(ahead), expected, rtol=1e-7, atol=1e-7)
    weight = _weights(value)
    _, back = sg.vjp(function, wrt=wrt)(weight, *args)
    paired = sum(np.sum(np.real(b * t)) for b, t in zip(back, given, strict=True))
    np.testing.assert_allclose(paired, np.real(np.sum(_flat(weight) * expected)), rtol=1e-7)


def _weights(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_weights, value))
    found = np.cos(np.arange(np.size(value)) + 0.3).reshape(np.shape(value))
    return found if isinstance(value, np.ndarray) else float(found)


@pytest.mark.parametrize("program", STORES.values(), ids=[f.__name__ for f in STORES])
def test_a_function_that_stores_is_differentiated(program: Any) -> None:
    sg.check_grads(program, (np.array([0.6, 0.2, 0.9]),), order=1)


def _enumerated(x: Any) -> Any:
    return sum(v * v * k[0] for k, v in np.ndenumerate(x))


def test_ndenumerate_is_a_loop() -> None:
    sg.check_grads(_enumerated, (X,), order=1)


def _unity(x: Any) -> Any:
    return np.sum(np.unique_values(x))


@pytest.mark.skipif(not hasattr(np, "unique_values"), reason="NumPy 1")
def test_a_refusal_says_why() -> None:
    with pytest.raises(MissingRule, match=r"the order of its values is not fixed; use np\.unique"):
        sg.grad(_unity)(X)


def test_refused_names_are_functions_of_the_namespaces() -> None:
    """A reason for something that is not there helps nobody."""
    for entry in registry.entries():
        if entry.kind == "refuse":
            assert entry.target is not None
            assert inspect.isroutine(entry.target) or callable(entry.target)
