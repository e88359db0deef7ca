"""Arguments that are objects of the program's own classes, and the numbers in any argument."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Made:
    """An object that a program's class makes of these fields."""

    name: str
    fields: tuple[Any, ...]


def made(value: Any, module: ModuleType) -> Any:
    """An argument as the program takes it, all its own."""
    match value:
        case Made(name, fields):
            return getattr(module, name)(*(made(v, module) for v in fields))
        case list() | tuple():
            return type(value)(made(v, module) for v in value)
        case dict():
            return {k: made(v, module) for k, v in value.items()}
        case np.ndarray():
            return value.copy()
    return value


def mapped(function: Any, *trees: Any) -> Any:
    """The first tree with each leaf replaced by what the function makes of the trees' leaves."""
    first = trees[0]
    if isinstance(first, list | tuple):
        return type(first)(mapped(function, *items) for items in zip(*trees, strict=True))
    if isinstance(first, dict):
        return {k: mapped(function, *(t[k] for t in trees)) for k in first}
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        names = [f.name for f in dataclasses.fields(first)]
        parts = [mapped(function, *(getattr(t, n) for t in trees)) for n in names]
        return type(first)(*parts)
    return function(*trees)


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves of a tree, in order."""
    found: list[Any] = []
    mapped(found.append, tree)
    yield from found
