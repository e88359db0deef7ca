"""Functions, classes and types as another process can tell whether it has the same.

A description is what JSON can hold.  What means nothing to another process has none.
"""

from __future__ import annotations

import hashlib
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcgrad.analysis.types.typeof import value_type
from srcgrad.dependencies import is_library, is_library_class
from srcgrad.errors import shown_file
from srcgrad.frontend import source
from srcgrad.frontend.parsed import lines_of
from srcgrad.ir import types as ty
from srcgrad.ir.outside import MISSING
from srcgrad.runtime.loader import untagged

Described = list[Any]
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Indescribable(Exception):
    """Something that means nothing to another process."""


def reached(module: str, qualname: str) -> Any:
    """What a name of a module holds; MISSING when there is none."""
    found: Any = sys.modules.get(module, MISSING)
    for part in qualname.split("."):
        found = getattr(found, part, MISSING)
    return found


def function(fn: Any) -> Described:
    """A function by its place and source: the source is believed only when it compiles to the
    code that runs, so it stands for the code."""
    if not isinstance(fn, FunctionType) or fn.__dict__:
        raise Indescribable
    found = source.read(fn)
    defaults = [fn.__defaults__ or (), sorted((fn.__kwdefaults__ or {}).items())]
    return [
        untagged(fn.__module__ or ""), fn.__qualname__, shown_file(found.file),
        fn.__code__.co_firstlineno, found.digest, repr(_plain(defaults)), repr(fn.__annotations__),
        list(fn.__code__.co_freevars),
    ]  # fmt: skip


def of_class(cls: type) -> Described:
    """A class by its place, the names that it and its bases have, and the files they are in: what
    is looked up in a class is more than the methods that are found."""
    bases = [base for base in cls.__mro__ if not is_library(base.__module__)]
    if any(reached(base.__module__, base.__qualname__) is not base for base in bases):
        raise Indescribable
    return [
        cls.__module__, cls.__qualname__, [str(base) for base in cls.__mro__],
        [[sorted(vars(base)), _file_of(base)] for base in bases],
    ]  # fmt: skip


def _file_of(cls: type) -> str:
    file = getattr(sys.modules[cls.__module__], "__file__", None)
    lines = lines_of(file) if file else []
    if not lines:
        raise Indescribable
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """A value whose repr says all of it."""
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if type(value) in _PLAIN:
        return value
    raise Indescribable


def known_type(value: Any) -> ty.Type:
    return ty.UNKNOWN if value is MISSING else value_type(value)


def described(value: Any, known: ty.Type) -> Described:
    """What a name from outside means: a function by its name and source, a derivative by what it
    is of, the rest by its type."""
    if value is MISSING:
        return ["missing"]
    if isinstance(known, ty.Object) and is_library_class(known.cls):
        return _derivative(value)
    return _static(value) if isinstance(known, ty.Static) else ["type", of_type(known)]


def _static(value: Any) -> Described:
    if isinstance(value, ModuleType):
        return ["module", value.__name__]
    found = _library(value)
    if found is not None:
        return found
    if isinstance(value, FunctionType):
        return ["function", *function(value)]
    if isinstance(value, type):
        return ["class", *of_class(value)]
    raise Indescribable


def _derivative(value: Any) -> Described:
    """A derivative by its function and how it was asked for; other objects of libraries have
    no description."""
    parts = getattr(type(value), "__srcgrad_parts__", None)
    if parts is None:
        raise Indescribable
    fn, *options = parts(value)
    of = _static(fn) if isinstance(fn, FunctionType) else _derivative(fn)
    return ["derivative", *of, repr(_plain(options))]


def _library(value: Any) -> Described | None:
    """An object of a library by its place there, or by the object whose method it is."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    home = str(getattr(value, "__module__", None)).removeprefix("_")  # `_operator`
    for module, found in ((home, name), *_usual_places(value)):
        if is_library(module) and reached(module, str(found)) is value:
            return ["library", module, found]
    if isinstance(value, BuiltinFunctionType | MethodType):
        of = _library(value.__self__)  # `np.add.at`, `scipy.stats.norm.logpdf`
        return None if of is None else ["method", *of, value.__name__]
    return None


def _usual_places(value: Any) -> list[tuple[str, Any]]:
    """Where objects are found that don't say in which module they are."""
    if isinstance(value, np.ufunc):
        return [("numpy", value.__name__), ("scipy.special", value.__name__)]
    distribution = getattr(value, "name", None)
    return [("scipy.stats", distribution)] if isinstance(distribution, str) else []


def of_type(t: ty.Type) -> Described:
    match t:
        case ty.Number(cls) | ty.Other(cls) if cls.__module__ in ("builtins", "numpy"):
            return [type(t).__name__, cls.__module__, cls.__qualname__]
        case ty.Array(dtype, dims) if dtype.kind in "biufc":
            return ["Array", dtype.str, list(dims)]
        case ty.Tuple(items, cls) if cls is tuple:
            return ["Tuple", [of_type(item) for item in items]]
        case ty.List(item):
            return ["List", None if item is None else of_type(item)]
        case ty.Dict(items):
            known = None if items is None else [[repr(_plain(k)), of_type(v)] for k, v in items]
            return ["Dict", known]
        case ty.Object(cls, fields):
            known = None if fields is None else [[name, of_type(v)] for name, v in fields]
            return ["Object", of_class(cls), known]
        case ty.Literal(value):
            return ["Literal", repr(_plain(value))]
        case ty.Unknown():
            return ["Unknown"]
        case _:
            raise Indescribable
