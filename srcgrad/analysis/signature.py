"""The key by which a call finds its specialisation.

Numbers count by their exact class, never by value; arrays by dtype, rank and which dimensions are
one, never by shape or layout.  `types_of_key` recovers the types from a key.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from srcgrad.analysis.types.typeof import has_own_methods, is_namedtuple, item_type, type_of
from srcgrad.ir.types import Array, Dict, List, Literal, Number, Object, Static, Tuple, Type

Key = tuple[tuple[Any, ...], tuple[Any, ...]]

_ndarray = np.ndarray
_NUMBERS: dict[tuple[type, ...], Key] = {}  # keys of calls with numbers alone, by their classes
_SCALARS = (c for c in set(np.sctypeDict.values()) if not issubclass(c, np.flexible))
_BY_CLASS = frozenset((float, int, complex, *_SCALARS))
_BY_VALUE = frozenset((bool, str, type(None)))
_BY_IDENTITY = frozenset((types.FunctionType, types.BuiltinFunctionType, np.ufunc))


def signature_key(args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None) -> Key:
    """The key of a call with these arguments.

    Example:
        >>> signature_key((1.5, 2), {}) == signature_key((2.5, 3), {})
        True
        >>> signature_key((np.zeros(3),), {}) == signature_key((np.zeros(1),), {})
        False
    """
    if not kwargs:
        classes = tuple([a.__class__ for a in args])
        known = _NUMBERS.get(classes)
        if known is not None:
            return known
    parts: list[Any] = []
    for a in args:
        cls = a.__class__
        if cls is _ndarray:
            shape = a.shape
            parts.append((a.dtype, tuple([n == 1 for n in shape]) if 1 in shape else len(shape)))
        elif cls in _BY_CLASS:
            parts.append(cls)
        else:
            parts.append(_part(a))
    if not kwargs:
        key = tuple(parts), ()
        if _BY_CLASS.issuperset(classes):
            _NUMBERS[classes] = key
        return key
    return tuple(parts), tuple([(name, _part(kwargs[name])) for name in sorted(kwargs)])


def same_part(a: Any, name: str) -> tuple[str, ...] | None:
    """Tests that another argument of the same class has the same part of a key: in Python, where
    `name` is that argument and `name_0` what `part_to_match` gives.

    >>> same_part(1.5, "x"), same_part(True, "x"), same_part([1.5], "x")
    ((), ('x is x_0',), None)
    """
    cls = a.__class__
    if cls in _BY_CLASS:
        return ()
    if cls is str:
        return (f"{name} == {name}_0",)
    if cls in _BY_VALUE or cls in _BY_IDENTITY:
        return (f"{name} is {name}_0",)
    if cls is not _ndarray:
        return None
    ones = f"1 not in {name}.shape"
    if 1 in a.shape:
        ones = f"[n == 1 for n in {name}.shape] == {[n == 1 for n in a.shape]}"
    return f"{name}.dtype is {name}_0", f"{name}.ndim == {a.ndim}", ones


def part_to_match(a: Any) -> Any:
    """What `same_part` compares with."""
    return a.dtype if a.__class__ is _ndarray else a


def _part(a: Any) -> Any:
    """The part of a key that stands for one argument."""
    cls = a.__class__
    if cls in _BY_CLASS:
        return cls
    if cls is _ndarray:
        shape = a.shape
        return a.dtype, (tuple([n == 1 for n in shape]) if 1 in shape else len(shape))
    if cls in _BY_VALUE or cls in _BY_IDENTITY:
        return a
    if cls is types.MethodType:  # a new object at each access; equal when function and self are
        return _Method(a)
    if cls is tuple or is_namedtuple(cls):
        return _Group(cls, tuple(map(_part, a)))
    if cls is list:
        return _Group(list, tuple(dict.fromkeys(map(_part, a))))
    if cls is dict:
        return _mapping(a)
    if dataclasses.is_dataclass(a) and not has_own_methods(a):
        names = tuple(f.name for f in dataclasses.fields(a))
        return _Group(type(a), tuple(_part(getattr(a, name)) for name in names), names)
    return _Typed(type_of(a))


def _mapping(a: dict[Any, Any]) -> Any:
    t = type_of(a) if not all(type(key) is str for key in a) else None
    return _Typed(t) if t is not None else _Group(dict, tuple(map(_part, a.values())), tuple(a))


@dataclasses.dataclass(frozen=True, slots=True)
class _Group:
    """The key of a container: of each item, and the names of items that have one."""

    cls: type
    items: tuple[Any, ...]
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class _Typed:
    type: Type


@dataclasses.dataclass(frozen=True, slots=True)
class _Method:
    method: Any


def types_of_key(key: Key) -> tuple[tuple[Type, ...], dict[str, Type]]:
    """The types of the positional and of the named arguments of calls with this key.

    Example:
        >>> types_of_key(signature_key((1.5,), {"k": True}))
        ((Number(cls=<class 'float'>),), {'k': Literal(value=True)})
    """
    args, kwargs = key
    return tuple(map(_type, args)), {name: _type(part) for name, part in kwargs}


def _type(part: Any) -> Type:
    cls = part.__class__
    if cls is tuple:
        dtype, dims = part
        if isinstance(dims, int):
            return Array(dtype, ("n",) * dims)
        return Array(dtype, tuple("1" if one else "n" for one in dims))
    if cls is type:
        return Number(part)
    if cls in _BY_VALUE:
        return Literal(part)
    match part:
        case _Group():
            return _group(part)
        case _Typed(t):
            return t
        case _Method(method):
            return Static(method)
        case _:
            return Static(part)


def _group(part: _Group) -> Type:
    items = tuple(map(_type, part.items))
    if part.cls is list:
        return List(item_type(items))
    if part.cls is dict:
        return Dict(tuple(zip(part.names, items, strict=True)))
    if issubclass(part.cls, tuple):
        return Tuple(items, part.cls)
    return Object(part.cls, tuple(zip(part.names, items, strict=True)))
