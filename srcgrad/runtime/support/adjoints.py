"""Adjoints of values whose type is known only when the program runs.

The adjoint of a float array is an array, of a number a number, of a list or tuple a list, of a
dict a dict, of an object a `Record`; of anything else None.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

_NUMBERS = (float, complex, np.inexact)


def error(kind: str, text: str) -> Exception:
    """An exception of srcgrad's own class where srcgrad is there, else a TypeError."""
    errors = sys.modules.get("srcgrad.errors")
    cls = getattr(errors, kind, TypeError)
    made: Exception = cls(text)
    return made


def handler_entered(place: str) -> None:
    """Refuse to go on in an exception handler whose way back is not known."""
    raise error(
        "UnsupportedSyntax",
        f"{place}: an exception was handled in differentiated code, after some of what was tried "
        "had been done; test for the condition with `if` instead of catching the exception",
    )


class Record:
    """The adjoint of an object: one attribute for each field."""

    def __init__(self, /, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None  # a field that its default value fills has no adjoint

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"Record({inside})"


class Fields(list[Any]):
    """The adjoint of a namedtuple: a list that knows the names of its items."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names

    def __getattr__(self, name: str) -> Any:
        names = self.__dict__.get("names", ())
        if name not in names:
            raise AttributeError(name)
        return self[names.index(name)]


def field(g: Any, name: str) -> Any:
    """The cotangent of one field of an object."""
    if g is None:
        return None
    return g[name] if isinstance(g, dict) else getattr(g, name)


def is_number(x: Any) -> bool:
    return isinstance(x, _NUMBERS)


def is_floating(x: Any) -> bool:
    """Whether x is an array that can carry a derivative."""
    return isinstance(x, np.ndarray) and (x.dtype.kind in "fc")


# Values that nothing can be differentiated through, whatever made them.
_INERT: tuple[type, ...] = (
    int, str, bytes, slice, range, type(None), type(...), np.integer, np.bool_, np.flexible,
    np.datetime64, np.timedelta64, np.dtype, type({}.keys()), types.ModuleType,
)  # fmt: skip
_FUNCTIONS: tuple[type, ...] = (
    type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc,
    functools.partial,
)  # fmt: skip


def zeros(x: Any) -> Any:
    """The zero adjoint of a value, whose parts are values, too.

    >>> zeros([1.5, 2, (np.ones(2), "a")])
    [0.0, 0.0, [array([0., 0.]), None]]
    """
    return _checked(x, _zeros(x, _Apart()))


def bar(x: Any) -> Any:
    """The zero adjoint of what may be written into: what stands in two places has one.

    >>> a = np.ones(2)
    >>> made = bar([a, a])
    >>> made[0] is made[1]
    True
    """
    return _checked(x, _zeros(x, {}))


class _Apart(dict[int, Any]):
    """No object is known from before: by value, each place has its own adjoint."""

    def __contains__(self, key: object) -> bool:
        return False


def _checked(x: Any, made: Any) -> Any:
    if made is None and not _is_inert(x):
        raise error(
            "NotDifferentiable",
            f"a value of type {type(x).__name__} may hold what carries a derivative, and srcgrad "
            "does not know how; use a list or an array",
        )
    return made


def _is_inert(x: Any) -> bool:
    if isinstance(x, set | frozenset):
        return not any(is_number(v) for v in x)
    if isinstance(x, (np.ndarray, *_INERT, *_FUNCTIONS)):
        return True
    # What is neither Python's nor NumPy's own is of a library that sees to itself.
    module = type(x).__module__.partition(".")[0]
    return module not in ("builtins", "numpy", "collections", "itertools", "array")


def _zeros(x: Any, seen: dict[int, Any]) -> Any:
    if isinstance(x, np.inexact):
        return type(x)(0.0)  # it has the methods of an array, which views of it may be made by
    if is_number(x):
        return 0j if isinstance(x, complex) else 0.0
    if isinstance(x, int | np.integer) and not isinstance(x, bool):
        return 0.0  # where an integer stands there may be a float at other times
    if isinstance(x, np.ndarray):
        if x.dtype.kind == "O":
            raise error("NotDifferentiable", "an array of dtype object can't carry a derivative")
        if x.dtype.kind not in "fciub":
            return None
        if id(x) not in seen:
            seen[id(x)] = np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else float)
        return seen[id(x)]
    if isinstance(x, np.flatiter):
        return _zeros(x.copy(), seen)
    if isinstance(x, list | tuple):
        if id(x) not in seen:
            seen[id(x)] = Fields(x._fields) if hasattr(x, "_fields") else []
            seen[id(x)].extend(_zeros(v, seen) for v in x)
        return seen[id(x)]
    if isinstance(x, dict):
        if id(x) not in seen:
            seen[id(x)] = {}
            seen[id(x)].update((k, _zeros(v, seen)) for k, v in x.items())
        return seen[id(x)]
    return _zero_record(x, seen)


def _zero_record(x: Any, seen: dict[int, Any]) -> Any:
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [f.name for f in dataclasses.fields(x)]
    elif (
        type(x).__module__ not in ("builtins", "numpy")
        and hasattr(x, "__dict__")
        and not isinstance(x, _FUNCTIONS)
        and not hasattr(x, "__wrapped__")
    ):
        names = list(vars(x))
    elif type(x).__module__ not in ("builtins", "numpy") and hasattr(type(x), "__slots__"):
        slots = [s for c in type(x).__mro__ for s in _words(c.__dict__.get("__slots__", ()))]
        names = [s for s in slots if hasattr(x, s)]
    else:
        return None
    if id(x) not in seen:
        made = seen[id(x)] = Record()
        for n in names:
            setattr(made, n, _zeros(getattr(x, n), seen))
    return seen[id(x)]


def _words(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def add(a: Any, b: Any) -> Any:
    """The sum of two adjoints; neither is changed."""
    if b is None:
        return a
    if a is None:
        return b
    if isinstance(a, list | tuple):
        total = Fields(a.names) if isinstance(a, Fields) else []
        total.extend(add(x, y) for x, y in zip(a, b, strict=True))
        return total
    if isinstance(a, dict):
        return {k: add(v, b.get(k)) for k, v in a.items()}
    if isinstance(a, Record):
        return Record(**{k: add(v, field(b, k)) for k, v in vars(a).items()})
    return a + b


def accumulate(a: Any, b: Any) -> Any:
    """Add b to the adjoint a: into arrays and containers in place; numbers come back by value."""
    if b is None or a is None:
        return a
    if isinstance(a, np.ndarray):
        a += b
        return a
    if isinstance(a, list):
        for k, v in enumerate(b):
            a[k] = accumulate(a[k], v)
        return a
    if isinstance(a, tuple):
        return add(a, b)
    if isinstance(a, dict):
        for k, v in b.items():
            a[k] = accumulate(a[k], v)
        return a
    if isinstance(a, Record):
        for name, v in vars(a).items():
            setattr(a, name, accumulate(v, field(b, name)))
        return a
    return a + b


def of_kind(x: Any, parts: Iterable[Any]) -> Any:
    """A list, tuple, namedtuple or adjoint of one, of other parts than those of x."""
    if isinstance(x, Fields):
        made = Fields(x.names)
        made.extend(parts)
        return made
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def own(x: Any) -> Any:
    """A copy that shares no memory: of an array, a number, or a structure of them."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, list | tuple):
        return of_kind(x, map(own, x))
    if isinstance(x, dict):
        return {k: own(v) for k, v in x.items()}
    if isinstance(x, Record):
        return Record(**{k: own(v) for k, v in vars(x).items()})
    return x


def like(g: Any, x: Any) -> Any:
    """The cotangent of `list(x)`, `tuple(x)`, `x.copy()` as one of x."""
    if g is None:
        return None
    if isinstance(x, np.ndarray):
        return np.asarray(g) if not isinstance(g, np.ndarray) else g
    if isinstance(x, dict) and not isinstance(g, dict):
        # The cotangent of the list of keys: nothing flows through keys.
        return None
    return g


def part(a: Any, k: Any) -> Any:
    """One item of a cotangent that may be absent."""
    return None if a is None else a[k]


def seed(x: Any) -> Any:
    """The cotangent 1 of a function's result, which has to be one real number: of its own class,
    as a Python number beside float32 would count as float32."""
    if isinstance(x, np.floating):
        return type(x)(1.0)
    if isinstance(x, bool | int | float | np.integer | np.bool_):
        return 1.0
    if isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in "fiub":
        return x.dtype.type(1.0) if x.dtype.kind == "f" else 1.0
    kind = f"an array of shape {x.shape}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
    raise error(
        "ArgumentError",
        f"grad needs a scalar output, but the function returned {kind}; use vjp or jacobian",
    )


def gradient(g: Any, x: Any) -> Any:
    """The gradient of argument x from its adjoint: structure, shape, dtype of x, memory of its
    own.

    >>> gradient([1.0, None], (2.0, 3))
    (1.0, None)
    """
    if is_number(x):
        return _number(g, x)
    if isinstance(x, np.ndarray):
        return _array(g, x)
    if isinstance(x, list | tuple):
        return of_kind(x, (gradient(part(g, k), v) for k, v in enumerate(x)))
    if isinstance(x, dict):
        return {k: gradient(None if g is None else g.get(k), v) for k, v in x.items()}
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [f.name for f in dataclasses.fields(x)]
        parts = {n: gradient(field(g, n), getattr(x, n)) for n in names}
        made = object.__new__(type(x))
        for n, v in parts.items():
            object.__setattr__(made, n, v)
        return made
    return None


def gradient_of_fields(fields: Any, x: Any) -> Any:
    """The gradient of an object from the adjoints of its fields.

    >>> gradient_of_fields({"real": 1.0, "n": None}, {"real": 2.0, "n": 3})
    {'real': 1.0, 'n': None}
    """
    return gradient(fields, x)


def fields_of(g: Any, fields: Any) -> Any:
    """The cotangents of the fields of an object, by name where they are in a dict.

    >>> fields_of({"a": 1.0, "b": 2.0}, {"b": 0.0})
    {'b': 2.0}
    """
    if g is None or not isinstance(fields, dict):
        return g
    return {name: field(g, name) for name in fields}


def _number(g: Any, x: Any) -> Any:
    if g is None:
        g = 0.0
    if isinstance(g, np.ndarray):
        g = g.sum() if g.ndim else g[()]
    if isinstance(x, np.generic):
        return type(x)(_real_if(g, x))
    g = _real_if(g, x)
    return complex(g) if isinstance(x, complex) else float(g)


def _real_if(g: Any, x: Any) -> Any:
    return g.real if isinstance(g, complex | np.complexfloating) and not np.iscomplexobj(x) else g


def _array(g: Any, x: np.ndarray) -> Any:
    if x.dtype.kind not in "fc":
        return None
    if g is None:
        return np.zeros(x.shape, x.dtype)
    if np.iscomplexobj(g) and x.dtype.kind == "f":
        g = np.real(g)
    out = np.empty(x.shape, x.dtype)
    out[...] = g
    return out
