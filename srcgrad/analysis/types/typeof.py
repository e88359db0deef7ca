"""From values and annotations to types."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types
import typing
from typing import Any

import numpy as np

from srcgrad.ir.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Literal,
    Number,
    Object,
    Other,
    Static,
    Tuple,
    Type,
    generic,
    join,
)

_STATIC = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ModuleType,
    type,
    np.ufunc,
    functools.partial,
)
NUMBERS = (float, int, complex)
_OTHERS = (slice, range, bytes, type(...), np.finfo, np.iinfo)
_KEYS = (str, int, bool, type(None), float)


def is_static(value: Any) -> bool:
    """Functions in any disguise, classes and modules."""
    return isinstance(value, _STATIC) or callable(
        getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
    )


def type_of(value: Any) -> Type:
    """The type of a value given as an argument.

    Example:
        >>> type_of((np.zeros((3, 1)), "a")).items
        (Array(dtype=dtype('float64'), dims=('n', '1')), Literal(value='a'))
    """
    cls = type(value)
    if cls is np.ndarray:
        return Array(value.dtype, tuple("1" if n == 1 else "n" for n in value.shape))
    if cls in NUMBERS:
        return Number(cls)
    if cls is bool or cls is str or value is None:
        return Literal(value)
    if isinstance(value, np.generic):
        return Other(cls) if isinstance(value, np.flexible) else Number(cls)
    if cls is tuple or is_namedtuple(cls):
        return Tuple(tuple(map(type_of, value)), cls)
    if cls is list:
        return List(item_type(map(type_of, value)))
    if cls is dict:
        simple = all(type(key) in _KEYS for key in value)
        return Dict(tuple((k, type_of(v)) for k, v in value.items()) if simple else None)
    return _instance(value, cls)


def _instance(value: Any, cls: type) -> Type:
    if is_static(value):
        return Static(value)
    if cls in _OTHERS:
        return Other(cls)
    if isinstance(value, enum.IntEnum) and _computes_as_int(cls):
        return Number(int)
    if isinstance(value, np.dtype):
        return Other(np.dtype)
    if isinstance(value, set | frozenset) or has_own_methods(value):
        return UNKNOWN
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return Object(cls, tuple((f.name, type_of(getattr(value, f.name))) for f in fields))
    return Object(cls)


def _computes_as_int(cls: type) -> bool:
    """Whether the operators of a class are those of integers."""
    own = ("new", "repr", "str", "format", "hash", "doc", "getattribute", "getnewargs")
    names = {n for n in vars(int) if n.startswith("__")} - {f"__{n}__" for n in own}
    return all(getattr(cls, n) == getattr(int, n) for n in names)


def has_own_methods(value: Any) -> bool:
    """Whether attributes of an object hide methods of its class, which then tells nothing of them.

    Example:
        >>> from types import SimpleNamespace
        >>> model = type("Model", (), {"energy": lambda self, x: x})()
        >>> has_own_methods(model)
        False
        >>> model.energy = abs
        >>> has_own_methods(model)
        True
    """
    own = getattr(value, "__dict__", None)
    if not own:
        return False
    return any(
        inspect.isroutine(vars(base)[name])
        for base in type(value).__mro__[:-1]
        for name in own.keys() & vars(base).keys()
    )


def value_type(value: Any) -> Type:
    """Containers read from outside may change between calls: of what they hold only the classes
    of objects are told, in which methods and operators are looked up, and functions where there
    is nothing else."""
    if dataclasses.is_dataclass(value) and not is_static(value):  # whose fields need no look
        return UNKNOWN if has_own_methods(value) else Object(type(value))
    found = type_of(value)
    if type(value) is tuple and all(type(v) in (int, float) for v in value):
        return found  # it can't change, and another in its place has another type or length
    if isinstance(value, dict | list | tuple | set):
        if _holds_functions(value):
            return found
        inside = generic(found)
        return Other(type(value)) if inside == UNKNOWN else inside
    return found


def _holds_functions(value: Any) -> bool:
    """Whether a list, tuple or dict holds functions and nothing else."""
    if type(value) not in (dict, list, tuple) or not value:
        return False
    items = value.values() if isinstance(value, dict) else value
    return all(inspect.isroutine(v) or isinstance(v, np.ufunc) for v in items)


def is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def item_type(items: Any) -> Type | None:
    """The type of a list's items: known flags and strings become any flag, any string."""
    wide = [widen(item) for item in items]
    return functools.reduce(join, wide) if wide else None


def widen(t: Type) -> Type:
    match t:
        case Literal(bool()):
            return Number(bool)
        case Literal(str()):
            return Other(str)
        case _:
            return t


# ---- annotations -------------------------------------------------------------

_SCALARS: dict[Any, Type] = {
    float: Number(float),
    int: Number(int),
    complex: Number(complex),
    bool: Number(bool),
    str: Other(str),
    None: Literal(None),
    type(None): Literal(None),
}


def of_parameter(param: inspect.Parameter, annotation: Any) -> Type | None:
    """The type that the annotation of a parameter promises; of `*args` it is that of each item."""
    several = param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD)
    return None if several or annotation is param.empty else from_annotation(annotation)


def from_annotation(annotation: Any) -> Type | None:
    """The type that an annotation promises; None when it promises too little.

    Example:
        >>> from_annotation(tuple[float, np.float32]).items
        (Number(cls=<class 'float'>), Number(cls=<class 'numpy.float32'>))
        >>> from_annotation(np.ndarray) is None
        True
    """
    try:
        scalar = _SCALARS.get(annotation)
    except TypeError:  # not hashable
        return None
    if scalar is not None:
        return scalar
    if hasattr(annotation, "dim_str") and hasattr(annotation, "dtypes"):
        return _shaped(annotation)
    origin = typing.get_origin(annotation)
    if origin is not None:
        return _generic(origin, typing.get_args(annotation))
    return _class(annotation) if isinstance(annotation, type) else None


def _generic(origin: Any, args: tuple[Any, ...]) -> Type | None:
    if origin is typing.Annotated:
        return from_annotation(args[0])
    if origin is typing.Literal and len(args) == 1 and isinstance(args[0], str | bool):
        return Literal(args[0])
    if origin is tuple and Ellipsis not in args:
        items = _all(args)
        return None if items is None else Tuple(items)
    if origin is list and len(args) == 1:
        item = from_annotation(args[0])
        return None if item is None else List(item)
    return Dict(None) if origin is dict else None


def _class(cls: type) -> Type | None:
    if issubclass(cls, np.generic):
        concrete = cls in np.sctypeDict.values() and not issubclass(cls, np.flexible)
        return Number(cls) if concrete else None
    if not (is_namedtuple(cls) or dataclasses.is_dataclass(cls)):
        return None
    try:
        hints = typing.get_type_hints(cls)
    except Exception:  # names that only a type checker can see
        return None
    if is_namedtuple(cls):
        items = _all(hints.get(name) for name in cls._fields)  # type: ignore[attr-defined]
        return None if items is None else Tuple(items, cls)
    names = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
    items = _all(hints.get(name) for name in names)
    return None if items is None else Object(cls, tuple(zip(names, items, strict=True)))


def _all(annotations: Any) -> tuple[Type, ...] | None:
    found = []
    for annotation in annotations:
        t = from_annotation(annotation)
        if t is None:
            return None
        found.append(t)
    return tuple(found)


def _shaped(annotation: Any) -> Type | None:
    """jaxtyping's `Float[np.ndarray, "n 3"]`, known by its attributes."""
    dtypes = list(annotation.dtypes)
    name = "float64" if "float64" in dtypes else dtypes[0] if len(dtypes) == 1 else None
    dims = annotation.dim_str.split()
    if name is None or any(d == "..." or d[0] in "*#_?" for d in dims):
        return None
    try:
        return Array(np.dtype(name), tuple("1" if d == "1" else "n" for d in dims))
    except TypeError:
        return None


def is_users(t: Type | None) -> bool:
    """Whether a value is an object of a class that NumPy knows nothing of."""
    if not isinstance(t, Object):
        return False
    ufunc = getattr(t.cls, "__array_ufunc__", None)
    return ufunc is None and not hasattr(t.cls, "__array_function__")
