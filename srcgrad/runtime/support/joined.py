"""Operators on lists and tuples, written in Python: what differentiated code calls for them where
the types of their operands are not known."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_joinable", "list_add", "list_repeat"]


def check_joinable(a: Any, b: Any) -> None:
    """Raise what `a + b` raises where the two are no lists, no tuples."""
    if not isinstance(b, tuple if isinstance(a, tuple) else list):
        raise TypeError(f"can't add {type(a).__name__} and {type(b).__name__}")


def list_add(a, b):
    """`a + b` of which one is a list or tuple: joined to another one, added to an array."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.add(a, b)
    check_joinable(a, b)
    result = []
    for item in a:
        result.append(item)
    for item in b:
        result.append(item)
    if isinstance(a, tuple):
        return tuple(result)
    return result


def list_repeat(items, count):
    """`items * count` of a list or tuple: repeated, or multiplied by an array."""
    if isinstance(count, np.ndarray):
        return np.multiply(items, count)
    result = []
    for _ in range(count):
        for item in items:
            result.append(item)
    if isinstance(items, tuple):
        return tuple(result)
    return result
