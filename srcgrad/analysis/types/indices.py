"""The type of `obj[key]`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from srcgrad.analysis.types.samples import Known, is_int
from srcgrad.ir import nodes as ir
from srcgrad.ir.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Literal,
    Number,
    Other,
    Tuple,
    Type,
    Unknown,
    join,
)


class _Undecided(Exception):
    pass


def index_type(obj: Type, key: Any) -> Type:
    """The type of `obj[key]`; a key is a `Known`, a type, a `slice` of these, or a tuple of keys.

    Example:
        >>> x = Array(np.dtype(float), ("n", "1"))
        >>> index_type(x, Known(0)).dims, index_type(x, (slice(None), Known(None))).dims
        (('1',), ('n', '1', '1'))
        >>> index_type(x, (Number(int), Known(0)))
        Number(cls=<class 'numpy.float64'>)
    """
    try:
        match obj:
            case Array(dtype, dims):
                return _array(dtype, dims, _items(key))
            case Tuple(items, _):
                return _tuple(items, key)
            case List(item):
                return _list(item, key)
            case Dict(items):
                return _dict(items, key)
            case Literal(str()) | Other() if _is_text(obj):
                return Other(str)
            case Other(cls) if cls is range and _is_int(key):
                return Number(int)
            case _:
                return UNKNOWN
    except _Undecided:
        return UNKNOWN


def _is_text(obj: Type) -> bool:
    return isinstance(obj, Literal) or (isinstance(obj, Other) and obj.cls is str)


def _is_int(key: Any) -> bool:
    if isinstance(key, Known):
        return type(key.value) is int or isinstance(key.value, np.integer)
    return is_int(key) or (isinstance(key, Array) and key.dims == () and key.dtype.kind in "iu")


def _slice(key: Any) -> slice | None:
    """The key as a slice of plain values or arguments, if it is one."""
    if isinstance(key, Known):
        return key.value if isinstance(key.value, slice) else None
    return key if isinstance(key, slice) else None


def _plain(part: Any) -> Any:
    """A part of a slice: its value when known, else the argument itself."""
    if isinstance(part, Known):
        return part.value
    return None if part == Literal(None) else part


# ---- arrays ------------------------------------------------------------------


def _items(key: Any) -> tuple[Any, ...]:
    match key:
        case tuple():
            return key
        case Known(tuple() as value):
            return tuple(map(Known, value))
        case Tuple(items):
            return items
        case _:
            return (key,)


def _consumed(key: Any) -> int:
    """How many dimensions of the array one part of a key takes."""
    if _is_int(key) or _slice(key) is not None or isinstance(key, slice):
        return 1
    match key:
        case Known(None) | Literal(None):
            return 0
        case Array(dtype, dims) if dtype.kind == "b" and dims:
            return len(dims)
        case Array(dtype, _) if dtype.kind in "iu":
            return 1
        case List(Number(cls)) if issubclass(cls, int | np.integer | np.bool_):
            return 1
        case Other(cls) if cls is slice or cls is range:
            return 1
        case Known(list() as value) if value and all(type(v) is int for v in value):
            return 1
        case _:
            raise _Undecided


def _is_ellipsis(key: Any) -> bool:
    if isinstance(key, Known):
        return key.value is ...
    return isinstance(key, Other) and key.cls is type(...)


def _array(dtype: np.dtype[Any], dims: tuple[str, ...], items: tuple[Any, ...]) -> Type:
    ellipses = sum(map(_is_ellipsis, items))
    if ellipses > 1:
        raise _Undecided
    taken = sum(_consumed(k) for k in items if not _is_ellipsis(k))
    rest = len(dims) - taken
    if rest < 0:
        raise _Undecided
    expanded: list[Any] = []
    for key in items if ellipses else (*items, Known(...)):
        expanded.extend([slice(None)] * rest if _is_ellipsis(key) else [key])
    if rest == 0 and not ellipses and all(map(_is_int, items)):
        return UNKNOWN if dtype.kind in "OV" else Number(dtype.type)
    return Array(dtype, _result_dims(dims, expanded))


def _result_dims(dims: tuple[str, ...], keys: list[Any]) -> tuple[str, ...]:
    """The dimensions of an array indexed by keys that cover all its dimensions."""
    advanced: list[tuple[str, ...]] = []
    places: list[int] = []  # where integers and arrays stand, to tell whether they are adjacent
    out: list[str] = []
    at, first = 0, None
    for place, key in enumerate(keys):
        part = _slice(key)
        if part is not None:
            out.append(_sliced(dims[at], part))
        elif key in (Known(None), Literal(None)):
            out.append("1")
        elif isinstance(key, Other) and key.cls is slice:
            out.append("?")
        else:
            places.append(place)
            first = len(out) if first is None else first
            if not _is_int(key):
                advanced.append(_advanced_dims(key))
        at += _consumed(key)
    if not advanced:
        return tuple(out)
    adjacent = places[-1] - places[0] == len(places) - 1
    where = first if adjacent and first is not None else 0
    return (*out[:where], *broadcast(advanced), *out[where:])


def _sliced(dim: str, part: slice) -> str:
    lower, upper, step = map(_plain, (part.start, part.stop, part.step))
    whole = (lower is None or _is_zero(lower)) and upper is None
    if whole and (step is None or (type(step) is int and step in (1, -1) and lower is None)):
        return dim
    # A slice of one element has one or none, as has any slice: nothing is known.
    return "?"


def _is_zero(value: Any) -> bool:
    return type(value) is int and value == 0


def _advanced_dims(key: Any) -> tuple[str, ...]:
    match key:
        case Array(dtype, dims):
            return ("?",) if dtype.kind == "b" else dims
        case Known(list() as value):
            return ("1" if len(value) == 1 else "n",)
        case _:
            return ("?",)


def broadcast(shapes: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The dimensions of arrays broadcast together.

    Example:
        >>> broadcast([("n", "1"), ("?",)])
        ('n', '?')
    """
    rank = max(map(len, shapes))
    padded = [("1",) * (rank - len(s)) + s for s in shapes]
    return tuple(functools.reduce(_broadcast_dim, column) for column in zip(*padded, strict=True))


def _broadcast_dim(a: str, b: str) -> str:
    if "n" in (a, b):
        return "n"
    return "?" if "?" in (a, b) else "1"


# ---- containers --------------------------------------------------------------


def _tuple(items: tuple[Type, ...], key: Any) -> Type:
    part = _slice(key)
    if part is not None:
        bounds = tuple(map(_plain, (part.start, part.stop, part.step)))
        if all(b is None or type(b) is int for b in bounds):
            return Tuple(items[slice(*bounds)])
        raise _Undecided
    if isinstance(key, Known) and type(key.value) in (int, bool):
        if not -len(items) <= key.value < len(items):
            raise _Undecided
        found: Type = items[key.value]
        return found
    if _is_int(key) and items:
        return functools.reduce(join, items)
    raise _Undecided


def _list(item: Type | None, key: Any) -> Type:
    if _slice(key) is not None or key == Other(slice):
        return List(item)
    if _is_int(key) and item is not None:
        return item
    raise _Undecided


def _dict(items: tuple[tuple[Any, Type], ...] | None, key: Any) -> Type:
    if not items:
        raise _Undecided
    if isinstance(key, Known | Literal):
        for name, item in items:
            if type(name) is type(key.value) and name == key.value:
                return item
        raise _Undecided
    return functools.reduce(join, [item for _, item in items])


def is_whole(obj: Type, key: ir.Key) -> bool:
    """Whether an index takes the whole of what may be a number, as `x[()]` does.

    >>> is_whole(Number(float), ir.KeyTuple(()))
    True
    """
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    return isinstance(obj, Number | Unknown) and items in ((), (ir.Const(...),))
