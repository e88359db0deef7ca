"""Values that Numba freezes when it compiles, described so that another value is told apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np

# What says all of its value when it is printed.
_SHOWN = (bool, int, float, complex, str, bytes, tuple, slice, range, Enum, np.generic, np.dtype)


def holds_array(value: Any) -> bool:
    """Whether Numba, which freezes a value, would miss that an array in it is written to."""
    if isinstance(value, tuple):
        return any(map(holds_array, value))
    return isinstance(value, np.ndarray)


def describe(value: Any) -> str:
    """A frozen value: the value where it is short, else a digest of it."""
    if isinstance(value, tuple) and holds_array(value):
        return f"({', '.join(map(describe, value))})"
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16]
        return f"array {value.dtype}{list(value.shape)} {digest}"
    if isinstance(value, FunctionType) or hasattr(value, "py_func"):
        code = getattr(value, "py_func", value).__code__
        parts = [code.co_code.hex(), repr(code.co_names), *map(repr, _constants(code))]
        return f"function {hashlib.sha256(''.join(parts).encode()).hexdigest()[:16]}"
    if isinstance(value, _SHOWN) or value is None:
        text = repr(value)
        return text if len(text) < 60 else hashlib.sha256(text.encode()).hexdigest()[:16]
    return getattr(value, "__qualname__", type(value).__qualname__)


def _constants(code: Any) -> list[Any]:
    return [c for c in code.co_consts if not hasattr(c, "co_code")]


def digests(values: Iterable[Any]) -> dict[int, str]:
    """Of values with contents, by identity, what these are now."""
    return {id(v): describe(v) for v in values if holds_array(v)}
