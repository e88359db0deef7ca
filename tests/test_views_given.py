"""What library functions give may be the memory of what they are given: stores go both ways."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numeric import check

import srcgrad as sg
import srcgrad.rules
from srcgrad.rules import registry
from srcgrad.rules.registry import Entry

for _module in pkgutil.iter_modules(srcgrad.rules.__path__):
    importlib.import_module(f"srcgrad.rules.{_module.name}")

X = np.array([0.7, 1.3, 0.4, 1.9])
BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])


def einsum_transposed(a):
    return np.einsum("ij->ji", a)


def einsum_diagonal(a):
    return np.einsum("ii->i", a)


def conjugate(a):
    return a.conj()


def trimmed(a):
    return np.trim_zeros(a[1])


def first_power(a):
    return np.linalg.matrix_power(a, 1)


def split_item(a):
    return np.split(a, 2)[1]


def split_columns(a):
    left, right = np.hsplit(a, 2)
    left *= right
    return right


def uneven_parts(a):
    return np.array_split(a, 2, axis=1)[1]


def rows_of_one(a):
    return np.broadcast_arrays(a)[0]


WRITTEN_THROUGH = [
    einsum_transposed, einsum_diagonal, conjugate, trimmed, first_power, split_item,
    split_columns, uneven_parts, rows_of_one,
]  # fmt: skip


OTHER_LAYOUT = [einsum_transposed, einsum_diagonal, first_power]
SAME_LAYOUT = [v for v in WRITTEN_THROUGH if v not in OTHER_LAYOUT]


def stored_through(view: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x):
        a = np.zeros((2, 2))
        a[:] = x.reshape(2, 2)
        w = view(a)
        w[...] = w * 2.0 * x[0] + x[1]
        return np.sum(a**2) * np.sum(w)

    return f


@pytest.mark.parametrize("view", WRITTEN_THROUGH, ids=lambda f: f.__name__)
def test_stores_through_the_result_reach_the_argument(view: Callable[[Any], Any]) -> None:
    check(stored_through(view), X, modes=("grad", "vjp"))


@pytest.mark.parametrize("view", SAME_LAYOUT, ids=lambda f: f.__name__)
def test_in_forward_mode(view: Callable[[Any], Any]) -> None:
    check(stored_through(view), X, modes=("jvp",))


@BOTH
@pytest.mark.parametrize("view", OTHER_LAYOUT, ids=lambda f: f.__name__)
def test_another_layout_is_refused_in_forward_mode(
    view: Callable[[Any], Any], typed: bool
) -> None:
    with pytest.raises(sg.SrcgradError, match="laid out differently"):
        sg.jvp(stored_through(view), specialize=typed)(X, X)


def of_two_arrays(x):
    a, b = x[:2] * 1.0, x[2:] * 1.0
    left, right = np.broadcast_arrays(a, b)
    a[0] = x[3] ** 2
    return np.sum(left * right)


def grid_of_views(x):
    a, b = x[:2] * 1.0, x[2:] * 1.0
    left, right = np.meshgrid(a, b, copy=False)
    a[0] = x[3] ** 2
    return np.sum(left * right)


def reshaped_both(x):
    a, b = x[:2] * 1.0, x[2:] * 1.0
    left, right = np.atleast_2d(a, b)
    left[0, 0] = x[3] ** 2
    return np.sum(a * right)


@BOTH
@pytest.mark.parametrize("fn", [of_two_arrays, grid_of_views, reshaped_both])
def test_views_of_several_arrays_are_refused(fn: Callable[[Any], Any], typed: bool) -> None:
    for mode in (sg.grad(fn, specialize=typed), lambda x: sg.jvp(fn, specialize=typed)(x, x)):
        with pytest.raises(sg.SrcgradError, match="views of several arrays"):
            mode(X)


def median_of_its_own(x):
    a = x * 1.0
    a[0] *= x[1]
    np.median(a, overwrite_input=True)
    return np.sum(a * np.arange(4.0))


def filled_through_strides(x):
    a = x * 1.0
    np.lib.stride_tricks.as_strided(a, (3,), (8,)).fill(x[0])
    return np.sum(a**2)


def sorted_line_by_line(x):
    a = x.reshape(2, 2) * x[0]
    np.apply_along_axis(lambda r: r.sort(), 0, a)
    return np.sum(a * np.arange(4.0).reshape(2, 2))


@BOTH
@pytest.mark.parametrize("fn", [median_of_its_own, filled_through_strides])
def test_hidden_writes_are_refused(fn: Callable[[Any], Any], typed: bool) -> None:
    for mode in (sg.grad(fn, specialize=typed), lambda x: sg.jvp(fn, specialize=typed)(x, x)):
        with pytest.raises(sg.SrcgradError, match=r"overwrite_input|as_strided"):
            mode(X)


def test_lines_of_an_array_are_its_memory() -> None:
    check(sorted_line_by_line, np.array([1.3, 0.7, 0.4, 1.9]))


def _said_to_be_fresh() -> Iterator[Any]:
    for entry in registry.entries():
        for each in (entry, *entry.variants.values()):
            ours = each.name.startswith("srcgrad.") and not hasattr(
                np.ndarray, each.target.__name__
            )
            if each.view == "never" and each.kind not in ("source", "refuse") and not ours:
                for k, point in enumerate(each.at):
                    yield pytest.param(each, point, id=f"{each.name}-{k}")


def _arrays(x: Any) -> list[np.ndarray]:
    if isinstance(x, np.ndarray):
        return [x]
    return [a for v in x for a in _arrays(v)] if isinstance(x, list | tuple) else []


def test_what_is_said_to_be_fresh_is_fresh() -> None:
    """No rule of a library function misses that its result is the memory of an argument."""
    shared = []
    for param in _said_to_be_fresh():
        entry: Entry = param.values[0]
        point = param.values[1]
        named = isinstance(point[-1], dict) and isinstance(point[0], tuple) and len(point) == 2
        args, kwargs = point if named else (point, {})
        if "out" in kwargs or not callable(entry.target):
            continue
        try:
            result = entry.target(*args, **kwargs)
        except (TypeError, ValueError):  # of a method, which the table names by its function
            continue
        given = [a for a in _arrays(list(args)) if a.size]
        if any(np.may_share_memory(a, b) for a in _arrays(result) for b in given):
            shared.append(param.id)
    assert shared == ["numpy.einsum-5", "numpy.einsum-11"]  # see `variants` there
