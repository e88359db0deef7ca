"""Derivatives of derivatives by lists, tuples and dicts: their gradients keep their structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad as sg

V = np.array([1.0, 2.0, 3.0])


def product(xs: Any) -> Any:
    return xs[0] * xs[1]


def stacked(xs: Any) -> Any:
    return np.stack(xs)


def uneven(xs: Any) -> Any:
    return xs[0] * xs[1][1]


def fallbacks(d: Any) -> Any:
    return d.get("a", 2.0) * 2 + d.get("b", d["c"]) ** 2 * d["c"]


def rounded(x: Any) -> Any:
    return 3.0 * np.sign(x)


CASES: list[tuple[Any, Any]] = [
    (product, [V, V * V]),
    (product, (V, V * V)),
    (stacked, [V, V * V]),
    (uneven, [2.0, V]),
    (uneven, (2.0, V)),
    (uneven, (2.0, [1.0, 3.0])),
    (fallbacks, {"a": 2.0, "c": 3.0}),
    (fallbacks, {"a": 2.0, "b": 1.5, "c": 3.0}),
    (rounded, 1.5),
    (np.floor, V + 0.5),
]


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize(("fn", "x"), CASES)
def test_second_order_by_structures(fn: Any, x: Any, specialize: bool) -> None:
    sg.check_grads(fn, (x,), specialize=specialize)


def test_the_value_of_a_derivative_differentiated_again_is_the_derivative() -> None:
    first = sg.vjp(product)
    xs = [V, V * V]
    value, (cotangent_bar, xs_bar) = sg.vjp(first, wrt=(0, 1))((V, [V, V]), V, xs)
    assert isinstance(value[1], list) and isinstance(xs_bar, list)
    np.testing.assert_allclose(value[1], first(V, xs)[1])
    np.testing.assert_allclose(cotangent_bar, V * V * V + V * V)


def named(x: Any) -> Any:
    d = dict({"b": 1.0}, b=x * x)
    return d["b"] ** 2


def copied(x: Any) -> Any:
    given, more = {"a": x * 2}, {"c": x}
    d = dict(given, b=x * x, **more)
    given["a"] = 0.0
    return d["b"] ** 2 * d["a"] * d["c"]


def of_pairs(x: Any) -> Any:
    d = dict([("a", x)], b=x * x)
    d.update(zip("cd", (x, 2.0 * x), strict=True), e=x)
    d.update((k, x * len(k)) for k in ("ff", "ggg"))
    return d["a"] * d["b"] * d["c"] * d["d"] * d["e"] * d["ff"] * d["ggg"]


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize("fn", [named, copied, of_pairs])
def test_dicts_of_items_and_names(fn: Any, specialize: bool) -> None:
    sg.check_grads(fn, (1.3,), order=1, specialize=specialize)


def default_of(d: Any, x: Any) -> Any:
    return d.get("a", x) ** 2


def default_by_name(d: Any, x: Any, key: str) -> Any:
    return d.get(key, x) * x


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize(
    ("fn", "args", "wrt"),
    [
        (default_of, ({}, 2.0), (0, 1)),
        (default_of, ({"b": 2}, 2.0), 1),
        (default_of, ({"b": 2.0}, 2.0), 1),
        (default_of, ({"a": 2.0}, 2.0), (0, 1)),
        (default_by_name, ({}, 3.0, "r"), (0, 1)),
        (default_by_name, ({"r": 2}, 3.0, "s"), 1),
        (default_by_name, ({"r": 2}, 3.0, "r"), 1),
        (default_by_name, ({"r": 2.0}, 3.0, "s"), (0, 1)),
    ],
)
def test_defaults_of_what_is_not_in_a_dict(fn: Any, args: Any, wrt: Any, specialize: bool) -> None:
    sg.check_grads(fn, args, wrt=wrt, specialize=specialize, order=1)


def test_get_with_a_key_that_is_known_is_the_item() -> None:
    df = sg.grad(default_of, wrt=(0, 1))
    assert df({"a": 3.0}, 2.0) == ({"a": 6.0}, 0.0)
    assert 'a_bar = 2.0 * d["a"]\n' in df.source


def deleted(x: Any) -> Any:
    d = {"a": x, "b": x * x}
    del d["a"]
    return d.get("a", 3.0 * x) * d["b"]


def deleted_by_a_callee(x: Any) -> Any:
    d = {"a": x, "b": x * x}
    drop(d)
    return d.get("a", 3.0 * x) * d["b"]


def drop(d: Any) -> None:
    del d["a"]


def taken_by_a_closure(x: Any) -> Any:
    d = {"b": x * x}
    take = lambda: d.pop("b")  # noqa: E731
    y = take()
    return d.get("b", 3.0 * x) * y


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize("fn", [deleted, deleted_by_a_callee])
def test_keys_that_are_gone(fn: Any, specialize: bool) -> None:
    sg.check_grads(fn, (2.0,), order=1, specialize=specialize)


def test_keys_that_a_closure_takes() -> None:
    sg.check_grads(taken_by_a_closure, (2.0,), order=1)
