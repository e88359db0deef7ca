"""What a derivative relies on outside of its own text, and whether all of it is as it was.

These are the names from outside that lowering looked up, the functions reached (their code can be
replaced: IPython's autoreload does that) with their default values, and the methods that classes
have.  Numbers and arrays are read live by the generated text, so of them only the type counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from srcgrad.analysis.typeof import value_type
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


def watch(known: Sequence[Dependency]) -> tuple[Callable[[], bool], list[Dependency]]:
    """A function that says at once whether every name is bound to what it was, and the
    dependencies that this doesn't settle: containers and arrays, whose contents count.

    >>> import math
    >>> place = Place("math", None, ("pi",), math.pi)
    >>> unchanged, rest = watch([(place, value_type(math.pi))])
    >>> unchanged(), rest
    (True, [])
    """
    tests: dict[str, None] = {}
    values: dict[str, Any] = {"modules": sys.modules, "MISSING": MISSING}
    rest: list[Dependency] = []
    for k, (place, known_type) in enumerate(known):
        if isinstance(known_type, ty.List | ty.Dict | ty.Tuple | ty.Array) or not all(
            part.isidentifier() for part in place.path
        ):
            rest.append((place, known_type))
            continue
        holder = f"h{k}"
        values[holder] = place.obj
        if place.module:
            values[holder] = sys.modules.get(place.module)
            tests[f"modules.get({place.module!r}) is {holder}"] = None
        *outer, last = place.path
        before = ".".join((holder, *outer))
        if place.value is MISSING:  # a builtin's name, that no global hides
            tests[f"getattr({before}, {last!r}, MISSING) is MISSING"] = None
        else:
            values[f"v{k}"] = place.value
            tests[f"{before}.{last} is v{k}"] = None
    exec(f"def unchanged():\n    return {' and '.join(tests) or True}", values)
    return values["unchanged"], rest


__all__ = ["MISSING", "OF_FUNCTIONS", "Dependency", "Place", "is_current", "read", "watch"]
