"""What a derivative relies on outside of its own text, and whether all of it is as it was.

These are the names from outside that lowering looked up, the functions reached (their code can be
replaced: IPython's autoreload does that) with their default values, and the methods that classes
have.  Numbers and arrays are read live by the generated text, so of them only the type counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from srcgrad.analysis.typeof import value_type
from srcgrad.frontend.namespace import Namespace, held
from srcgrad.ir import types as ty


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()  # what a name holds that nothing was bound to
OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a value is found: in a module by its name, or in the attributes of an object."""

    module: str  # "" for an object's
    obj: Any
    path: tuple[str, ...]
    value: Any  # what it held when the derivative was made


Dependency = tuple[Place, ty.Type]


def read(place: Place) -> Any:
    """What a place holds now."""
    found: Any = sys.modules.get(place.module, MISSING) if place.module else place.obj
    for part in place.path:
        found = getattr(found, part, MISSING)
    return found


def is_current(place: Place, known: ty.Type, now: Any) -> bool:
    """Whether what a place holds now can stand where its value was when compiling."""
    # A container tells the classes of its items, and may hold others by now.
    if now is place.value and not isinstance(known, ty.List | ty.Dict | ty.Tuple):
        return True
    if isinstance(known, ty.Static) or place.value is MISSING or now is MISSING:
        return False
    return value_type(now) == known


@dataclass(frozen=True)
class Watch:
    """Tests in Python that say that every name is bound to what it was, with the objects that they
    name, and the dependencies that no such test settles: containers, whose items count."""

    tests: tuple[str, ...]
    values: dict[str, Any]
    rest: list[Dependency]

    @cached_property
    def unchanged(self) -> Callable[[], bool]:
        """All tests as one function; a name that is gone makes it raise AttributeError."""
        made = dict(self.values)
        exec(f"def unchanged():\n    return {' and '.join(self.tests) or True}", made)
        found: Callable[[], bool] = made["unchanged"]
        return found


def watch(known: Sequence[Dependency], contents: bool = False) -> Watch:
    """What says at once whether every name is bound to what it was.

    >>> import math
    >>> place = Place("math", None, ("pi",), math.pi)
    >>> watched = watch([(place, value_type(math.pi))])
    >>> watched.unchanged(), watched.rest
    (True, [])

    Arguments: the dependencies; whether the contents of arrays count, which no test settles then.
    """
    tests: dict[str, None] = {}
    values: dict[str, Any] = {"modules": sys.modules, "MISSING": MISSING}
    rest: list[Dependency] = []
    for k, (place, known_type) in enumerate(known):
        settled = not isinstance(known_type, ty.List | ty.Dict | ty.Tuple)
        if isinstance(known_type, ty.Array):
            value = place.value
            settled = (
                not contents and type(value) is np.ndarray and value_type(value) == known_type
            )
        if not settled or not all(part.isidentifier() for part in place.path):
            rest.append((place, known_type))
            continue
        tests.update(dict.fromkeys(_tests(k, place, values)))
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
    if not outer and isinstance(place.obj, Namespace):
        names = _named(values, f"n{k}", held(place.obj))
        yield f"{names}.get({last!r}, MISSING) is {_named(values, f'v{k}', wanted)}"
    elif wanted is MISSING:  # a builtin's name, that no global hides
        yield f"getattr({'.'.join((holder, *outer))}, {last!r}, MISSING) is MISSING"
    else:
        yield f"{'.'.join((holder, *outer, last))} is {_named(values, f'v{k}', wanted)}"
    if type(wanted) is np.ndarray:
        value = _named(values, f"v{k}", wanted)
        yield f"{value}.dtype is {_named(values, f'd{k}', wanted.dtype)}"
        yield f"{value}.shape == {wanted.shape!r}"


def _named(values: dict[str, Any], name: str, value: Any) -> str:
    """The name of an object, which tests that name it share."""
    for known, other in values.items():
        if other is value:
            return known
    values[name] = value
    return name


__all__ = [
    "MISSING",
    "OF_FUNCTIONS",
    "Dependency",
    "Place",
    "Watch",
    "is_current",
    "read",
    "watch",
]
