"""Functions in whose place another function's source is differentiated, at their sample points."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.stats  # noqa: F401
from formulas import copied, differences, is_active, moved, pairing, random_like

import srcgrad as sg
from srcgrad.frontend.standin import stand_in
from srcgrad.rules import registry, tables
from srcgrad.rules.registry import Entry

tables.load()

ALIKE = ("legendre", "hermite", "hermite_e", "laguerre")  # as the other families


def _samples() -> Iterator[Any]:
    seen: set[int] = set()
    for entry in registry.entries():
        for each in (entry, entry.otherwise, *entry.variants.values()):
            if each is not None and each.kind == "source" and id(each) not in seen:
                seen.add(id(each))
                for k, point in enumerate(each.at):
                    rest = any(f".{family}." in each.name for family in ALIKE)
                    marks = pytest.mark.slow if rest else ()
                    yield pytest.param(each, point, id=f"{each.name}-{k}", marks=marks)


def _split(point: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    pair = len(point) == 2 and isinstance(point[0], tuple) and isinstance(point[1], dict)
    return point if pair else (point, {})


@pytest.mark.parametrize(("entry", "point"), list(_samples()))
def test_source(entry: Entry, point: Any) -> None:
    args, kwargs = _split(point)
    rng = np.random.default_rng(zlib.crc32(entry.name.encode()))
    wrt = tuple(k for k, a in enumerate(args) if is_active(a))
    target = entry.target
    assert entry.fn is not None
    np.testing.assert_allclose(
        _flat(entry.fn(*copied(args), **kwargs)), _flat(target(*copied(args), **kwargs))
    )
    tangents = tuple(_direction(args[k], rng) for k in wrt)

    def at(step: float) -> Any:
        near = list(args)
        for k, d in zip(wrt, tangents, strict=True):
            near[k] = moved(args[k], step, d)
        return target(*near, **kwargs)

    run = _program(target, len(args), kwargs)
    slope = differences(at)
    value, ahead = sg.jvp(run, wrt=wrt)(tangents, *args)
    np.testing.assert_allclose(_flat(ahead), _flat(slope), rtol=1e-6, atol=1e-7)
    weight = random_like(value, rng)
    _, back = sg.vjp(run, wrt=wrt)(weight, *args)
    paired = sum(pairing(b, t) for b, t in zip(back, tangents, strict=True))
    np.testing.assert_allclose(paired, pairing(weight, slope), rtol=1e-6, atol=1e-7)
    for b, k in zip(back, wrt, strict=True):
        assert np.shape(b) == np.shape(args[k])
        assert np.iscomplexobj(args[k]) or not np.iscomplexobj(b)


def _direction(x: Any, rng: np.random.Generator) -> Any:
    """A direction; of symmetric matrices a symmetric one."""
    d = random_like(x, rng)
    square = np.ndim(x) == 2 and np.shape(x) == np.shape(np.transpose(x))
    return d + d.T if square and np.array_equal(x, x.T) else d


def _flat(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return np.concatenate([np.ravel(v) for v in value])
    return np.ravel(value)


def _program(target: Any, count: int, kwargs: dict[str, Any]) -> Any:
    """A function of Python that calls the target with so many arguments, and these by name."""
    kinds = inspect.Parameter
    params = [kinds(f"x{k}", kinds.POSITIONAL_OR_KEYWORD) for k in range(count)]
    params += [kinds(name, kinds.KEYWORD_ONLY, default=v) for name, v in kwargs.items()]
    return stand_in(target, inspect.Signature(params))


def test_values_in_both_sets_share_the_cotangent() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.intersect1d(x, y) ** 2)

    back = sg.grad(f, wrt=(0, 1))(np.array([0.3, 2.0, 0.7]), np.array([0.7, 5.0]))
    np.testing.assert_allclose(back[0], [0.0, 0.0, 0.7])
    np.testing.assert_allclose(back[1], [0.7, 0.0])
