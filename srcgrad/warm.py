"""Derivatives of an earlier process: whether one in the cache is what the compiler would make now.

A *question* is all that is known before compiling: the function with its source, mode, types,
options, versions.  The *answer* is the text, and a description of all else that the compiler
looked at: functions called, with their sources and default values, and what names from outside
meant.  An answer is taken only when each description still holds: then only the compiler is
skipped.  What can't be described for another process (closures, methods, users' rules, functions
as arguments, derivatives of derivatives) is compiled as ever.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache as cached
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad._version import __version__
from srcgrad.analysis.typeof import value_type
from srcgrad.debug import debugging
from srcgrad.dependencies import (
    MISSING,
    Dependency,
    Place,
    is_of_function,
    of_function,
    read,
)
from srcgrad.errors import SourceUnavailable, shown_file
from srcgrad.frontend import source
from srcgrad.frontend.namespace import Namespace, held
from srcgrad.ir import types as ty
from srcgrad.rules import custom
from srcgrad.runtime import cache

if TYPE_CHECKING:
    from srcgrad.compiled import Compiled, Request

# A question, and its answer: the module's label and text, and what it was made from.
Kept = tuple[str, str, str, dict[str, Any]]
_received: dict[str, tuple[str, str, dict[str, Any]]] = {}
_MOST_RECEIVED = 1024
Described = list[Any]  # what JSON can hold
_LIBRARIES = frozenset(
    ("builtins", "cmath", "functools", "itertools", "math", "numpy", "operator", "scipy")
)
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class _Indescribable(Exception):
    """Something that means nothing to another process."""


@dataclass(frozen=True)
class Answer:
    """A derivative from the cache."""

    kept: Kept
    label: str  # of the module, as people read it
    text: str
    name: str  # of the function in it
    known: list[Dependency]
    lines: dict[int, int]  # of the text, and those of the primal behind them
    file: str  # of the primal


def question(request: Request, scopes: Sequence[Mapping[Any, Any]]) -> str | None:
    """The digest of what is known before compiling; None when it can't be said."""
    # Registered rules are live objects, and whoever debugs wants to see the compiler at work.
    plain = request.backend == "numpy" and not any(scopes) and custom.version() == 0
    if not plain or debugging() or not isinstance(request.fn, FunctionType):
        return None
    try:
        parts = [
            _environment(), getattr(sys.modules.get("scipy"), "__version__", ""),
            _function(request.fn),
            [_type(t) for t in request.types],
            # Numbers, strings, tuples of them: whatever a request has besides.
            [repr(v) for name, v in sorted(vars(request).items()) if name not in ("fn", "types")],
        ]  # fmt: skip
    except (_Indescribable, SourceUnavailable):
        return None
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def find(asked: str, target: FunctionType) -> Answer | None:
    """The answer to a question, if there is one and everything is as it was."""
    record = _received.get(asked) or cache.lookup(asked)
    if record is None:
        return None
    label, text, meta = record
    try:
        functions = [target, *(_reached(*names) for names, _ in meta["functions"][1:])]
        same = {id(target): meta["functions"][0][1]}  # the question describes it
        for fn, (_, described) in zip(functions[1:], meta["functions"][1:], strict=True):
            if same.setdefault(id(fn), _function(fn)) != described:
                return None
        known = [_of_function(fn, path) for fn in functions for path in of_function(fn)]
        for number, module, path, described in meta["places"]:
            place = _place(functions, number, module, tuple(path))
            now = same.get(id(place.value))
            now = ["function", *now] if now else _described(place.value, _type_of(place.value))
            if now != described:
                return None
            known.append((place, _type_of(place.value)))
    except (_Indescribable, SourceUnavailable, KeyError, TypeError, ValueError):
        return None
    lines = {int(ours): primal for ours, primal in meta["lines"]}
    file = target.__code__.co_filename
    return Answer((asked, *record), label, text, meta["name"], known, lines, file)


def keep(asked: str, target: FunctionType, made: Compiled) -> Kept | None:
    """Have a derivative answer the question in later processes, where that is possible."""
    try:
        meta = _meta(target, made)
    except (_Indescribable, SourceUnavailable):
        return None
    cache.remember(asked, made.label, made.text, meta)
    return asked, made.label, made.text, meta


def receive(records: Iterable[Kept]) -> None:
    """Take in answers that came with a pickled derivative; they are checked as those of the cache
    are, and go when there are too many."""
    for asked, label, text, meta in records:
        _received[asked] = label, text, meta
        while len(_received) > _MOST_RECEIVED:
            del _received[next(iter(_received))]


def _meta(target: FunctionType, made: Compiled) -> dict[str, Any]:
    if made.injected or made.requires or made.rules or made.used_rules():
        raise _Indescribable
    lowered = [fn.fn for fn in made.program.lowered]
    functions = list({id(fn): fn for fn in (target, *lowered)}.values())
    places = []
    for place, known in made.globals:
        if is_of_function(place) and place.obj in functions:
            continue  # the functions themselves are described
        number, module = _where(functions, place)
        places.append([number, module, list(place.path), _described(place.value, known)])
    return {
        "name": made.name,
        "functions": [[[fn.__module__, fn.__qualname__], _function(fn)] for fn in functions],
        "places": places,
        "lines": sorted(made.origins().items()),
    }


# ---- places --------------------------------------------------------------------


def _where(functions: list[Any], place: Place) -> tuple[int, str]:
    """A place by its module, or by the function whose globals it is in."""
    if place.module:
        return -1, place.module
    if isinstance(place.obj, Namespace):
        for number, fn in enumerate(functions):
            if held(place.obj) is fn.__globals__:
                return number, ""
    raise _Indescribable


def _place(functions: list[Any], number: int, module: str, path: tuple[str, ...]) -> Place:
    holder = None if module else Namespace(functions[number].__globals__)
    empty = Place(module, holder, path, MISSING)
    return Place(module, holder, path, read(empty))


def _of_function(fn: FunctionType, path: tuple[str, ...]) -> Dependency:
    value = read(Place("", fn, path, MISSING))
    return Place("", fn, path, value), ty.Static(value)


def _reached(module: str, qualname: str) -> Any:
    found: Any = sys.modules.get(module, MISSING)
    for part in qualname.split("."):
        found = getattr(found, part, MISSING)
    return found


# ---- descriptions --------------------------------------------------------------


@cached
def _environment() -> str:
    """Versions; and the compiler's own files, where they are not of an installed package: whoever
    works on it has no version for each edit."""
    files = [] if "site-packages" in __file__ else list(_files())
    parts = [__version__, files, sys.version_info[:3], np.__version__]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _files() -> Iterator[tuple[str, int, int]]:
    root = os.path.dirname(os.path.abspath(__file__))
    todo = [root]
    while todo:
        folder = todo.pop()
        for entry in sorted(os.scandir(folder), key=lambda e: e.name):
            if entry.is_dir() and entry.name != "__pycache__":
                todo.append(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield os.path.relpath(entry.path, root), status.st_size, status.st_mtime_ns


def _function(fn: Any) -> Described:
    """A function by its place and source: the source is believed only when it compiles to the
    code that runs, so it stands for the code."""
    if not isinstance(fn, FunctionType) or fn.__closure__ or fn.__dict__:
        raise _Indescribable
    found = source.read(fn)
    defaults = [fn.__defaults__ or (), sorted((fn.__kwdefaults__ or {}).items())]
    return [
        fn.__module__, fn.__qualname__, shown_file(found.file), fn.__code__.co_firstlineno,
        found.digest, repr(_plain(defaults)), repr(fn.__annotations__),
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    """A value whose repr says all of it."""
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if type(value) in _PLAIN:
        return value
    raise _Indescribable


def _type_of(value: Any) -> ty.Type:
    return ty.UNKNOWN if value is MISSING else value_type(value)


def _described(value: Any, known: ty.Type) -> Described:
    """What a name from outside means: a function by its name and source, the rest by its type."""
    if value is MISSING:
        return ["missing"]
    return _static(value) if isinstance(known, ty.Static) else ["type", _type(known)]


def _static(value: Any) -> Described:
    if isinstance(value, ModuleType):
        return ["module", value.__name__]
    found = _library(value)
    if found is not None:
        return found
    if isinstance(value, FunctionType):
        return ["function", *_function(value)]
    raise _Indescribable


def _library(value: Any) -> Described | None:
    """An object of a library by its place there, or by the object whose method it is."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    home = str(getattr(value, "__module__", None)).removeprefix("_")  # `_operator`
    for module, found in ((home, name), *_usual_places(value)):
        if module.partition(".")[0] in _LIBRARIES and _reached(module, str(found)) is value:
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


def _type(t: ty.Type) -> Described:
    match t:
        case ty.Number(cls) | ty.Other(cls) if cls.__module__ in ("builtins", "numpy"):
            return [type(t).__name__, cls.__module__, cls.__qualname__]
        case ty.Array(dtype, dims) if dtype.kind in "biufc":
            return ["Array", dtype.str, list(dims)]
        case ty.Tuple(items, cls) if cls is tuple:
            return ["Tuple", [_type(item) for item in items]]
        case ty.List(item):
            return ["List", None if item is None else _type(item)]
        case ty.Dict(items):
            known = None if items is None else [[repr(_plain(k)), _type(v)] for k, v in items]
            return ["Dict", known]
        case ty.Literal(value):
            return ["Literal", repr(_plain(value))]
        case ty.Unknown():
            return ["Unknown"]
        case _:
            raise _Indescribable


__all__ = ["Answer", "Kept", "find", "keep", "question", "receive"]
