"""What arguments and objects hold: copies of it, and the dict of an object's attributes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error


def private(x: Any) -> Any:
    """A copy of an argument that behaves as the argument does: same strides, same structure."""
    return _private(x, {})


def _private(x: Any, seen: dict[int, Any]) -> Any:
    if isinstance(x, np.ndarray):
        if id(x) not in seen:
            seen[id(x)] = _clone(x)
        return seen[id(x)]
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(_private(v, seen) for v in x))
    if isinstance(x, tuple):
        return tuple(_private(v, seen) for v in x)
    if isinstance(x, list):
        if id(x) not in seen:
            seen[id(x)] = []
            seen[id(x)].extend(_private(v, seen) for v in x)
        return seen[id(x)]
    if isinstance(x, dict):
        if id(x) not in seen:
            seen[id(x)] = {}
            seen[id(x)].update((k, _private(v, seen)) for k, v in x.items())
        return seen[id(x)]
    if not _is_object(x):
        return x
    if id(x) not in seen:
        seen[id(x)] = object.__new__(type(x))
        for name, v in state_of(x).items():
            object.__setattr__(seen[id(x)], name, _private(v, seen))
    return seen[id(x)]


def _is_object(x: Any) -> bool:
    """Whether x is an object of a user's class, whose attributes hold what it knows."""
    cls = type(x)
    root = cls.__module__.partition(".")[0]
    names = names_of(cls)
    special = "__new__" in names or isinstance(x, type)
    return not special and root not in _LIBRARIES and bool({"__dict__", "__slots__"} & names)


def state_of(x: Any) -> dict[str, Any]:
    """The attributes of an object of a user's class; of anything else none.

    >>> state_of(2.0)
    {}
    """
    if not _is_object(x):
        return {}
    slots = (s for c in type(x).__mro__ for s in _words(c.__dict__.get("__slots__", ())))
    held = {s: getattr(x, s) for s in slots if s != "__dict__" and hasattr(x, s)}
    return {**held, **getattr(x, "__dict__", {})}


def _words(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


_LIBRARIES = frozenset(("numpy", "scipy", "numba", *sys.stdlib_module_names))


def _clone(x: np.ndarray) -> np.ndarray:
    """An array with the same elements and the same strides over fresh memory."""
    if x.flags.c_contiguous or x.flags.f_contiguous or x.dtype.hasobject:
        return x.copy(order="K")
    low, high = getattr(np.lib, "array_utils", np).byte_bounds(x)  # np.byte_bounds before 2.0
    memory = np.zeros(high - low, np.uint8)
    offset = x.__array_interface__["data"][0] - low
    if any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True)):
        return x.copy(order="K")
    out = np.ndarray(x.shape, x.dtype, memory, offset, x.strides)
    out[...] = x
    return out


def names_of(cls: type) -> set[str]:
    """The names that a class and its bases define, `object` left aside."""
    return {name for base in cls.__mro__[:-1] for name in vars(base)}


def is_plain(cls: type, name: str) -> bool:
    """Whether `obj.name = value` puts the value into `obj.__dict__` and does nothing else."""
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    if "__setattr__" in names_of(cls) or hasattr(type(found), "__set__"):
        return False  # a property, a slot or another descriptor
    return cls.__dictoffset__ != 0


def attributes(x: Any, name: str) -> dict[str, Any]:
    """The dict in which `x.name = value` puts the value.

    >>> from srcgrad.runtime.support.adjoints import Record
    >>> attributes(Record(a=1.0), "a")
    {'a': 1.0}
    """
    kind = type(x)
    if is_plain(kind, name):
        attributes: dict[str, Any] = x.__dict__
        return attributes
    raise error(
        "UnsupportedSyntax",
        f"a value with a derivative is written into the attribute {name} of an object of the "
        f"class {kind.__name__}, which does not keep it in a plain attribute",
    )
