"""The types of values: what is known of them when a program is compiled.

Types sharpen the generated text; they never decide whether it is right: where nothing is known
the type is `Unknown` and helpers decide when the program runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number (`float`, weak under NEP 50) or NumPy scalar (`np.float64`); `cls` is its
    class."""

    cls: type


@dataclass(frozen=True, slots=True)
class Array:
    """An ndarray.  Each of `dims` is "1" (length one), "n" (not one) or "?"; () is 0-d.  Within a
    function the latter two may go on with a name for the length: see `analysis.extents`."""

    dtype: np.dtype[Any]
    dims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple[Type, ...]
    cls: type = tuple  # or a namedtuple class


@dataclass(frozen=True, slots=True)
class List:
    """A list whose items all have type `item` (None: nothing is in it yet)."""

    item: Type | None


@dataclass(frozen=True, slots=True)
class Dict:
    """A dict with these keys in this order; `items` is None when the keys are not known."""

    items: tuple[tuple[Any, Type], ...] | None


@dataclass(frozen=True, slots=True)
class Literal:
    """A value known when compiling that picks branches: None, a bool or a string."""

    value: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """A function that is chosen when the program runs, among ones known when compiling."""

    options: tuple[Static, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A function, class or module known when compiling, by identity."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True, slots=True)
class ClosureType:
    """A nested function with the types of what it captures; its value is a tuple of these."""

    fn: Any  # ir.nodes.Function, compared by identity
    free: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Object:
    """An instance of a user's class; `fields` are known for dataclasses given as arguments."""

    cls: type
    fields: tuple[tuple[str, Type], ...] | None = None


@dataclass(frozen=True, slots=True)
class Other:
    """A value through which no derivative passes and whose class is known: str, slice, range,
    dtype."""

    cls: type


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known; in particular it may be a number, an array or a container of them."""


Type = (
    Number
    | Array
    | Tuple
    | List
    | Dict
    | Literal
    | Static
    | OneOf
    | ClosureType
    | Object
    | Other
    | Unknown
)
UNKNOWN = Unknown()


def is_float(dtype: Any) -> bool:
    return np.issubdtype(dtype, np.floating) or np.issubdtype(dtype, np.complexfloating)


# What is made of numbers that are no longer followed: text, keys, dtypes.  A value of any other
# class may hold what it was made of (`x.flat`, `iter(x)`, `memoryview(x)`).
_INERT: tuple[type, ...] = (
    str, bytes, slice, range, type(...), type, np.dtype, np.finfo, np.iinfo, np.str_, np.bytes_,
    type({}.keys()),
)  # fmt: skip


def can_be_active(t: Type) -> bool:
    """Whether a value of this type can carry a derivative."""
    match t:
        case Number(cls):
            return issubclass(cls, float | complex | np.inexact)
        case Array(dtype, _):
            return is_float(dtype) or dtype == np.dtype(object)
        case Tuple(items):
            return any(map(can_be_active, items))
        case List(item):
            return item is None or can_be_active(item)
        case Dict(items):
            return items is None or any(can_be_active(v) for _, v in items)
        case ClosureType(_, free):
            return any(map(can_be_active, free))
        case Object(_, fields):
            return fields is None or any(can_be_active(v) for _, v in fields)
        case Other(cls):
            return not issubclass(cls, _INERT)
        case Literal() | Static() | OneOf():
            return False
        case Unknown():
            return True


def _join_dim(a: str, b: str) -> str:
    if a == b:
        return a
    return "n" if a[0] == b[0] == "n" else "?"


def join(a: Type, b: Type) -> Type:
    """The type of a value that has type a on one path and b on another."""
    if a == b:
        return a
    match a, b:
        case Number(p), Number(q):
            return Number(_promote(p, q))
        case (Literal(bool()), Number()) | (Number(), Literal(bool())):
            return a if isinstance(a, Number) else b
        case Literal(bool()), Literal(bool()):
            return Number(bool)
        case Array(d, m), Array(e, n) if d == e and len(m) == len(n):
            return Array(d, tuple(map(_join_dim, m, n)))
        case Tuple(m, c), Tuple(n, d) if len(m) == len(n) and c is d:
            return Tuple(tuple(map(join, m, n)), c)
        case List(None), List():
            return b
        case List(), List(None):
            return a
        case List(m), List(n) if m is not None and n is not None:
            return List(join(m, n))
        case Dict(m), Dict(n) if (
            m is not None and n is not None and [k for k, _ in m] == [k for k, _ in n]
        ):
            return Dict(tuple((k, join(v, w)) for (k, v), (_, w) in zip(m, n, strict=True)))
        case Dict(), Dict():
            return Dict(None)
        case ClosureType(f, m), ClosureType(g, n) if f is g:
            return ClosureType(f, tuple(map(join, m, n)))
        case Object(c, m), Object(d, n) if (
            c is d and m and n and [k for k, _ in m] == [k for k, _ in n]
        ):
            return Object(c, tuple((k, join(v, w)) for (k, v), (_, w) in zip(m, n, strict=True)))
        case Object(c, _), Object(d, _):
            return Object(c if c is d else object)  # of two classes: no method is known
        case (Static() | OneOf(), Static() | OneOf()):
            return _one_of(a, b)
        case (Literal(str()) | Other(), Literal(str()) | Other()):
            p = str if isinstance(a, Literal) else a.cls
            q = str if isinstance(b, Literal) else b.cls
            return Other(p) if p is q else UNKNOWN
        case _:
            return UNKNOWN


MOST_OPTIONS = 16


def _one_of(a: Static | OneOf, b: Static | OneOf) -> Type:
    """One function or another."""
    several = [x.options if isinstance(x, OneOf) else (x,) for x in (a, b)]
    found = tuple(dict.fromkeys((*several[0], *several[1])))
    same = all(_is_one_object(f.value) for f in found)
    return OneOf(found) if same and len(found) <= MOST_OPTIONS else UNKNOWN


def _is_one_object(value: Any) -> bool:
    """Whether a function is the same object each time it is read, as no method is."""
    owner = getattr(value, "__self__", None)
    plain = callable(value) and not isinstance(value, type)
    return plain and (owner is None or isinstance(owner, ModuleType))


def _promote(p: type, q: type) -> type:
    order = (bool, int, float, complex)
    if p in order and q in order:
        return max(p, q, key=order.index)
    if p in order or q in order:
        strong, weak = (q, p) if p in order else (p, q)
        if weak is complex and not issubclass(strong, np.complexfloating):
            return np.complex128
        if weak is float and not issubclass(strong, np.inexact):
            return np.float64
        return strong
    return np.result_type(p, q).type


def holds_closure(t: Type) -> bool:
    """Whether a value of this type is or contains a nested function."""
    match t:
        case ClosureType():
            return True
        case Tuple(items):
            return any(map(holds_closure, items))
        case List(item):
            return item is not None and holds_closure(item)
        case Dict(items):
            return items is not None and any(holds_closure(v) for _, v in items)
        case _:
            return False


def generic(t: Type) -> Type:
    """What generic mode knows of an argument: functions, strings, None, bools and the classes that
    methods and operators are looked up in; nothing numeric.

    Example:
        >>> generic(Tuple((Number(float), Literal("a")))), generic(List(Object(type)))
        (Unknown(), List(item=Object(cls=<class 'type'>, fields=None)))
    """
    match t:
        case Number() | Array():
            return UNKNOWN
        case Tuple(items, cls):
            inner: Type = Tuple(tuple(map(generic, items)), cls)
        case List(item):
            inner = List(None if item is None else generic(item))
        case Dict(items):
            inner = Dict(items and tuple((k, generic(v)) for k, v in items))
        case Object(cls, fields):
            known = fields is not None and any(_has_methods(v) for _, v in fields)
            return Object(cls, tuple((k, generic(v)) for k, v in fields) if known else None)  # type: ignore[union-attr]
        case _:
            return t
    return inner if _has_methods(inner) else UNKNOWN


def generic_rest(t: Type) -> Type:
    """What generic mode knows of `*args` and `**kwargs`: how many there are, and their names.

    Example:
        >>> generic_rest(Tuple((Number(float), Literal("a"))))
        Tuple(items=(Unknown(), Literal(value='a')), cls=<class 'tuple'>)
    """
    match t:
        case Tuple(items, cls):
            return Tuple(tuple(map(generic, items)), cls)
        case Dict(items) if items is not None:
            return Dict(tuple((k, generic(v)) for k, v in items))
        case _:
            return generic(t)


def _has_methods(t: Type) -> bool:
    """Whether a value has methods of a user's own, or holds something that has."""
    match t:
        case Object() | Static():
            return True
        case Tuple(items, cls):
            return cls is not tuple or any(map(_has_methods, items))
        case List(item):
            return item is not None and _has_methods(item)
        case Dict(items):
            return any(_has_methods(v) for _, v in items or ())
        case _:
            return False
