"""Every operator in place, through every kind of key, view and container, against differences."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.numeric import Point

OPERATORS = ("+=", "-=", "*=", "/=", "**=", "%=", "//=")
KEYS = ("1", "1:", "::-2", "np.arange(4) % 2 == 0", "[0, 2]", "[0, 2, 2]", "...", "y > 0.95")
PLACES = {
    "y": "",
    "v": "v = y[::-1]",
    "t": "t = y.reshape(2, 2).T",
    "w[0]": "w = y.reshape(2, 2)",
    "r": "r = y.reshape(2, 2).ravel()",
    "rows[0]": "rows = [y]",
    "table['a']": "table = {'a': y}",
    "pair[0][1:]": "pair = (y, 1)",
}
VALUES = ("2.0", "x", "y[0]", "np.exp({place})")


def made(place: str, before: str, operator: str, value: str) -> Callable[[Any], Any]:
    """A program that updates a place twice and reads it in between."""
    statement = f"{place} {operator} {value.format(place=place)}"
    lines = [
        "def program(x):",
        "    y = np.array([0.5, 0.9, 1.1, 0.7]) * x",
        "    z = y * y",
        f"    {before or 'pass'}",
        f"    {statement}",
        "    z = z * y",
        f"    {statement}",
        "    return (y * z).sum() + y[0] * y[3]",
    ]
    text = "\n".join(lines) + "\n"
    name = f"<{before} {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    program: Callable[[Any], Any] = namespace["program"]
    return program


def check(fn: Callable[[Any], Any]) -> None:
    with np.errstate(all="ignore"):
        point = Point(fn, (1.3,), {}, 0)
        if not np.isfinite(fn(1.3)):
            pytest.skip("the program itself has no value")
        for mode, typed in (("grad", True), ("grad", False), ("jvp", True)):
            assert point.problem(mode, typed, 1e-6) is None, (mode, typed)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("key", KEYS)
def test_stores(key: str, operator: str) -> None:
    for value in VALUES[:3]:
        if not (operator == "/=" and value == "x" and key.startswith("y >")):  # y > 0.95 may turn
            check(made(f"y[{key}]", "", operator, value))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("place", PLACES)
def test_names_views_and_parts(place: str, operator: str) -> None:
    for value in VALUES:
        check(made(place, PLACES[place], operator, value))
