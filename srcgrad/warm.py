"""Derivatives of an earlier process: whether one in the cache is what the compiler would make now.

A *question* is all that is known before compiling: the function with its source, mode, types,
options, versions.  The *answer* is the text, and a description of all else that the compiler
looked at: functions called, with their sources and default values, and what names from outside
meant, in modules, classes and closures.  An answer is taken only when each description still
holds: then only the compiler is skipped.  What can't be described for another process (users'
rules, functions as arguments, derivatives of derivatives) is compiled as ever.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache as cached
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad._version import __version__
from srcgrad.debug import debugging
from srcgrad.dependencies import (
    MISSING,
    Dependency,
    Place,
    is_of_function,
    of_function,
    read,
)
from srcgrad.descriptions import (
    Described,
    Indescribable,
    described,
    function,
    known_type,
    of_type,
    reached,
)
from srcgrad.errors import SourceUnavailable
from srcgrad.frontend.namespace import Cells, Handed, Namespace, around, cells_by_name, held
from srcgrad.ir import frozen
from srcgrad.ir import types as ty
from srcgrad.rules import custom
from srcgrad.runtime import cache, dispatchers

if TYPE_CHECKING:
    from srcgrad.compiled import Compiled, Request

# A question, and its answer: the module's label and text, and what it was made from.
Kept = tuple[str, str, str, dict[str, Any]]
_received: dict[str, tuple[str, str, dict[str, Any]]] = {}
_MOST_RECEIVED = 1024


@dataclass(frozen=True)
class Answer:
    """A derivative from the cache."""

    kept: Kept
    label: str  # of the module, as people read it
    text: str
    name: str  # of the function in it
    known: list[Dependency]
    objects: dict[str, Any]  # that the module is handed
    functions: list[Any]  # that it was made from
    lines: dict[int, tuple[str, int]]  # of the text, and files and lines behind them
    file: str  # of the primal


def question(request: Request, scopes: Sequence[Mapping[Any, Any]]) -> str | None:
    """The digest of what is known before compiling; None when it can't be said."""
    # Registered rules are live objects, and whoever debugs wants to see the compiler at work.
    plain = not any(scopes) and custom.version() == 0
    target = _target(request)
    if not plain or debugging() or target is None:
        return None
    try:
        parts = [
            _environment(), *map(_version_of, ("scipy", "numba")), _turned_off(),
            type(request.fn).__name__, function(target),
            [_of_argument(t) for t in request.types],
            # Numbers, strings, tuples of them: whatever a request has besides.
            [repr(v) for name, v in sorted(vars(request).items()) if name not in ("fn", "types")],
        ]  # fmt: skip
    except (Indescribable, SourceUnavailable):
        return None
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _target(request: Request) -> FunctionType | None:
    """The function that is differentiated: that of a bound method, of a Numba dispatcher."""
    fn = dispatchers.dispatcher_of(request.fn) or request.fn
    fn = getattr(fn, "py_func", fn)
    fn = fn.__func__ if isinstance(fn, MethodType) else fn
    return fn if isinstance(fn, FunctionType) else None


def _of_argument(t: ty.Type) -> Described:
    return described(t.value, t) if isinstance(t, ty.Static) else of_type(t)


def _asked_of(request: Request) -> list[Any]:
    """The functions that the question describes: the one that is differentiated, and arguments."""
    given = [t.value for t in request.types if isinstance(t, ty.Static)]
    return [_target(request), *(fn for fn in given if isinstance(fn, FunctionType))]


def _version_of(library: str) -> str:
    return getattr(sys.modules.get(library), "__version__", "")


def _turned_off() -> list[str]:
    """The passes over loops that are turned off, which only who has loaded the compiler does."""
    loops = sys.modules.get("srcgrad.transform.loops")
    return sorted(getattr(loops, "skipped", ()))


def find(asked: str, request: Request) -> Answer | None:
    """The answer to a question, if there is one and everything is as it was."""
    record = _received.get(asked) or cache.lookup(asked)
    if record is None:
        return None
    label, text, meta = record
    try:
        functions = _functions(_asked_of(request), meta["functions"])
        known = [_of_function(fn, path) for fn in functions for path in of_function(fn)]
        for root, path, as_it_was in meta["places"]:
            place = _place(functions, root, tuple(path))
            if _meaning(place, known_type(place.value), functions, request.backend) != as_it_was:
                return None
            known.append((place, known_type(place.value)))
        objects = {name: _held_at(functions, where) for name, where in meta["objects"]}
    except (Indescribable, SourceUnavailable, KeyError, TypeError, ValueError):
        return None
    files = [fn.__code__.co_filename for fn in functions]
    lines = {ours: (files[k], line) for ours, k, line in meta["lines"]}
    kept = (asked, *record)
    return Answer(kept, label, text, meta["name"], known, objects, functions, lines, files[0])


def keep(asked: str, request: Request, made: Compiled) -> Kept | None:
    """Have a derivative answer the question in later processes, where that is possible."""
    try:
        meta = _meta(request, made)
    except (Indescribable, SourceUnavailable):
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


def _meta(request: Request, made: Compiled) -> dict[str, Any]:
    parts = list(_with_required(made))
    if any(part.rules or part.used_rules() for part in parts):
        raise Indescribable
    asked = _asked_of(request)
    functions = _written(asked, parts)
    places = []
    for place, known in (dependency for part in parts for dependency in part.globals):
        if not _follows(place, functions, parts):
            meaning = _meaning(place, known, functions, request.backend)
            places.append([_root(functions, place), list(place.path), meaning])
    return {
        "name": made.name,
        "functions": [
            [_where(functions, k), function(functions[k])]
            for k in range(len(asked), len(functions))
        ],
        "places": places,
        "objects": [[name, _handed(functions, v)] for name, v in made.injected.items()],
        "lines": _lines(functions, made),
    }


def _with_required(made: Compiled) -> Iterator[Compiled]:
    """A derivative and those that it was seen through to: their texts follow from the sources and
    meanings that they were made from, so they are described by these alone."""
    yield made
    for inner in made.requires:
        yield from _with_required(inner)


def _written(asked: list[Any], parts: Sequence[Compiled]) -> list[Any]:
    """The functions that stand in a file, those that the question describes first.

    Raises: Indescribable for one written inside a function that is not among them.
    """
    every = {id(fn): fn for part in parts for fn in part.functions}
    others = [fn for fn in every.values() if fn not in asked]
    for fn in others:
        outer = around(fn)
        if outer is not None and outer not in asked and id(outer) not in every:
            raise Indescribable
    return asked + [
        fn for fn in others if around(fn) is None and not _is_generated(fn.__module__, parts)
    ]


def _is_generated(module: str, parts: Sequence[Compiled]) -> bool:
    return any(module == part.module.__name__ for part in parts[1:])


def _follows(place: Place, functions: Sequence[Any], parts: Sequence[Compiled]) -> bool:
    """Whether what a place holds follows from what is described already."""
    if _is_generated(place.module, parts):
        return True
    if is_of_function(place):
        fn = place.obj
        own = isinstance(fn, FunctionType)
        return own and (fn in functions or _is_generated(fn.__module__, parts) or bool(around(fn)))
    made = (d for part in parts if part.program for d in part.program.derivatives.values())
    return isinstance(place.obj, Handed) and any(place.value is d for d in made)


def _lines(functions: list[Any], made: Compiled) -> list[tuple[int, int, int]]:
    """Lines of the text, and those behind them of functions, whose files are asked for anew."""
    files = {fn.__code__.co_filename: k for k, fn in reversed(list(enumerate(functions)))}
    return [(n, files[file], line) for n, (file, line) in made.places().items() if file in files]


# ---- functions -----------------------------------------------------------------


def _where(functions: list[Any], k: int) -> Described:
    """How another process finds a function: by its name, as what a closure captured, or as a
    global that a function before it reads."""
    fn = functions[k]
    if reached(fn.__module__, fn.__qualname__) is fn:
        return [fn.__module__, fn.__qualname__]
    for n, other in enumerate(functions[:k]):
        for name, cell in cells_by_name(other).items():
            if cell.cell_contents is fn:
                return ["cell", n, name]
        for name in other.__code__.co_names:
            if other.__globals__.get(name) is fn:
                return ["global", n, name]
    raise Indescribable


def _functions(asked: list[Any], known: list[Any]) -> list[Any]:
    """The functions of an answer; the question describes the first.

    Raises: Indescribable when one is not what it was.
    """
    found = list(asked)
    for where, as_it_was in known:
        match where:
            case ["cell", n, name]:
                fn = cells_by_name(found[n])[name].cell_contents
            case ["global", n, name]:
                fn = found[n].__globals__[name]
            case [module, name]:
                fn = reached(module, name)
        if function(fn) != as_it_was:
            raise Indescribable
        found.append(fn)
    return found


# ---- places --------------------------------------------------------------------


def _root(functions: list[Any], place: Place) -> Described:
    """Where a place starts: in a module, in the globals or cells of a function, in a class."""
    if place.module:
        return ["module", place.module]
    if isinstance(place.obj, type):
        return ["class", place.obj.__module__, place.obj.__qualname__]
    return _handed(functions, place.obj)


def _of_cells(functions: list[Any], value: Any) -> Described:
    """The function whose captured variables are meant; and the name under which it has them, where
    it is one of a generated module that was handed those of another."""
    for k, fn in enumerate(functions):
        if isinstance(value, Cells) and value == Cells(cells_by_name(fn)):
            return [k]
        for name in fn.__code__.co_names if isinstance(value, Cells | Namespace) else ():
            if fn.__globals__.get(name) is value:
                return [k, name]
    raise Indescribable


def _handed(functions: list[Any], value: Any) -> Described:
    """Where an object is found that a module is handed: the globals of a function whose module
    can't be imported by name, or captured variables."""
    if isinstance(value, Namespace):
        for k, fn in enumerate(functions):
            if held(value) is fn.__globals__:
                return ["globals", k]
    return ["cells", _of_cells(functions, value)]


def _held_at(functions: list[Any], where: Described) -> Any:
    """The globals or captured variables that `_handed` found."""
    match where:
        case ["globals", k]:
            return Namespace(functions[k].__globals__)
        case [_, [k, name]]:
            return functions[k].__globals__[name]
        case [_, [k]]:
            return Cells(cells_by_name(functions[k]))
    raise Indescribable


def _place(functions: list[Any], root: Described, path: tuple[str, ...]) -> Place:
    holder: Any = None
    match root:
        case ["class", module, name]:
            holder = reached(module, name)
        case ["globals" | "cells", _]:
            holder = _held_at(functions, root)
    module = root[1] if root[0] == "module" else ""
    return Place(module, holder, path, read(Place(module, holder, path, MISSING)))


def _meaning(place: Place, known: ty.Type, functions: list[Any], backend: str) -> Described:
    """What a name stands for; under Numba its value as well, which is frozen."""
    value = place.value
    if any(value is fn for fn in functions):
        return ["function", *function(value)]
    meaning = described(value, known)
    return [*meaning, frozen.describe(value)] if backend == "numba" else meaning


def _of_function(fn: FunctionType, path: tuple[str, ...]) -> Dependency:
    value = read(Place("", fn, path, MISSING))
    return Place("", fn, path, value), ty.Static(value)


# ---- versions --------------------------------------------------------------------


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


__all__ = ["Answer", "Kept", "find", "keep", "question", "receive"]
