"""What a derivative relies on outside of its own text, and whether all of it is as it was.

These are the names from outside that lowering looked up, the functions reached (their code can be
replaced: IPython's autoreload does that) with their default values, and the methods that classes
have.  Numbers and arrays are read live by the generated text, so of them only the type counts.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.analysis.types.typeof import has_own_methods, value_type
from srcgrad.frontend.namespace import Namespace, held
from srcgrad.ir import types as ty
from srcgrad.ir.outside import MISSING, NAMES, member

_LIBRARIES = frozenset(
    (
        "builtins",
        "cmath",
        "functools",
        "itertools",
        "math",
        "numpy",
        "operator",
        "scipy",
        "srcgrad",
    )
)
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a value is found: in a module by its name, or in the attributes of an object."""

    module: str  # "" for an object's
    obj: Any
    path: tuple[str, ...]
    value: Any  # what it held when the derivative was made


Dependency = tuple[Place, ty.Type]
_DICTIONARIES = ("__dict__", "__kwdefaults__", "keywords")


def read(place: Place) -> Any:
    """What a place holds now."""
    found: Any = sys.modules.get(place.module, MISSING) if place.module else place.obj
    for part in place.path:
        found = member(found, part)
    return found


def of_function(fn: Any) -> Iterator[tuple[str, ...]]:
    """The paths to what makes a function what it is: its code and its default values.

    >>> def f(x, *, k=2.0): ...
    >>> list(of_function(f))[2:]
    [('__kwdefaults__',), ('__kwdefaults__', 'k')]
    """
    yield from ((name,) for name in _OF_FUNCTIONS)
    # A dictionary that can be written to; the tuple of the others can't.
    yield from (("__kwdefaults__", name) for name in getattr(fn, "__kwdefaults__", None) or ())


def of_partial(fn: functools.partial[Any]) -> Iterator[tuple[str, ...]]:
    """The paths to what a `functools.partial` calls, and with what.

    >>> list(of_partial(functools.partial(print, end="")))
    [('func',), ('args',), ('keywords', '%names'), ('keywords', 'end')]
    """
    yield from (("func",), ("args",), ("keywords", NAMES))
    yield from (("keywords", name) for name in fn.keywords)


def is_of_function(place: Place) -> bool:
    """Whether it is one of `of_function`."""
    return place.path[0] in _OF_FUNCTIONS


def is_current(place: Place, known: ty.Type, now: Any) -> bool:
    """Whether what a place holds now can stand where its value was when compiling."""
    # A container tells the classes of its items, and may hold others by now; an object may have
    # got another class, or methods of its own.
    if now is place.value and not isinstance(known, ty.List | ty.Dict | ty.Tuple | ty.Object):
        return True
    if isinstance(known, ty.Static) or place.value is MISSING or now is MISSING:
        return False
    if now is not place.value and isinstance(known, ty.Object) and counts_by_itself(known.cls):
        return False
    return value_type(now) == known


def counts_by_itself(cls: type) -> bool:
    """Whether more of an object counts than its class: it can be called, and may have a rule; or
    it is a library's (a frozen distribution, a derivative), which the compiler knows how to read.

    >>> from fractions import Fraction
    >>> counts_by_itself(Fraction), counts_by_itself(np.poly1d)
    (False, True)
    """
    return any("__call__" in vars(base) for base in cls.__mro__) or is_library_class(cls)


def is_library_class(cls: type) -> bool:
    """Whether a class, or one that it is derived from, is srcgrad's or of a library it knows."""
    return any(is_library(base.__module__) for base in cls.__mro__ if base is not object)


def is_library(module: str) -> bool:
    """Whether a module is of a library that srcgrad has rules for, or its own."""
    return module.partition(".")[0] in _LIBRARIES


@dataclass(frozen=True)
class Watch:
    """Tests in Python that say that every name is bound to what it was, with the objects that they
    name, and the dependencies that no such test settles: containers, whose items count."""

    tests: tuple[str, ...]
    values: dict[str, Any]
    rest: list[Dependency]

    @functools.cached_property
    def unchanged(self) -> Callable[[], bool]:
        """All tests as one function; a name that is gone makes it raise AttributeError."""
        made = dict(self.values)
        exec(f"def unchanged():\n    return {' and '.join(self.tests) or True}", made)
        found: Callable[[], bool] = made["unchanged"]
        return found


def watch(known: Sequence[Dependency], contents: Container[int] = ()) -> Watch:
    """What says at once whether every name is bound to what it was.

    >>> import math
    >>> place = Place("math", None, ("pi",), math.pi)
    >>> watched = watch([(place, value_type(math.pi))])
    >>> watched.unchanged(), watched.rest
    (True, [])

    Arguments: the dependencies; the ids of objects whose contents count, which no test settles.
    """
    tests: dict[str, None] = {}
    values: dict[str, Any] = {"modules": sys.modules, "MISSING": MISSING}
    rest: list[Dependency] = []
    for k, (place, known_type) in enumerate(known):
        settled = not isinstance(known_type, ty.List | ty.Dict | ty.Tuple)
        settled = settled and id(place.value) not in contents
        if isinstance(known_type, ty.Array):
            settled = settled and _is_as_known(place.value, known_type)
        if not settled or not all(part.isidentifier() for part in place.path):
            rest.append((place, known_type))
            continue
        tests.update(dict.fromkeys(_tests(k, place, values)))
        if isinstance(known_type, ty.Object):
            tests.update(dict.fromkeys(_of_object(k, place.value, known_type, values)))
    return Watch(tuple(tests), values, rest)


def _is_as_known(value: Any, known: ty.Type) -> bool:
    """Whether an array has the type that it had when the derivative was made."""
    return type(value) is np.ndarray and value_type(value) == known


def _tests(k: int, place: Place, values: dict[str, Any]) -> Iterator[str]:
    """The tests of one place; what they name goes to `values`."""
    holder, wanted = _named(values, f"h{k}", place.obj), place.value
    if place.module:
        module = sys.modules.get(place.module)
        holder = _named(values, f"h{k}", module)
        yield f"modules.get({place.module!r}) is {holder}"
    *outer, last = place.path
    before = ".".join((holder, *outer))
    if not outer and isinstance(place.obj, Namespace):
        names = _named(values, f"n{k}", held(place.obj))
        yield f"{names}.get({last!r}, MISSING) is {_named(values, f'v{k}', wanted)}"
    elif outer and outer[-1] in _DICTIONARIES:
        yield f"{before}.get({last!r}, MISSING) is {_named(values, f'v{k}', wanted)}"
    elif wanted is MISSING:  # a builtin's name, that no global hides
        yield f"getattr({before}, {last!r}, MISSING) is MISSING"
    else:
        yield f"{before}.{last} is {_named(values, f'v{k}', wanted)}"
    if type(wanted) is np.ndarray:
        value = _named(values, f"v{k}", wanted)
        yield f"{value}.dtype is {_named(values, f'd{k}', wanted.dtype)}"
        yield f"{value}.shape == {wanted.shape!r}"


def _of_object(k: int, obj: Any, known: ty.Object, values: dict[str, Any]) -> Iterator[str]:
    """The tests that methods are still those of the class."""
    name = _named(values, f"v{k}", obj)
    yield f"{name}.__class__ is {_named(values, f'c{k}', known.cls)}"
    yield f"not {_named(values, 'has_own_methods', has_own_methods)}({name})"


def _named(values: dict[str, Any], name: str, value: Any) -> str:
    """The name of an object, which tests that name it share."""
    for known, other in values.items():
        if other is value:
            return known
    values[name] = value
    return name


__all__ = [
    "MISSING",
    "Dependency",
    "Place",
    "Watch",
    "is_current",
    "is_of_function",
    "of_function",
    "of_partial",
    "read",
    "watch",
]
