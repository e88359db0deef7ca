"""What a derivative relies on outside of its own text, and whether all of it is as it was.

These are the names from outside that lowering looked up, the functions reached (their code can be
replaced: IPython's autoreload does that) with their default values, and the methods that classes
have.  Numbers and arrays are read live by the generated text, so of them only the type counts.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any

from srcgrad.analysis import special_methods
from srcgrad.analysis.atoms import global_type
from srcgrad.analysis.resolve import Program
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

Dependency = tuple[ir.Global, ty.Type]
_OWN = "srcgrad"
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")


def of(program: Program, target: Any) -> list[Dependency]:
    """All that the derivative of `target` relies on, each once."""
    found: dict[Any, Dependency] = {}
    for place, known in _all(program, target):
        key = (place.root.kind, place.root.key, id(place.root.obj), place.path)
        if key not in found and read(place) is place.value:
            found[key] = place, known
    return list(found.values())


def _all(program: Program, target: Any) -> Iterator[Dependency]:
    for fn in program.lowered:
        yield from ((a, global_type(a)) for a in fn.meanings if _can_change(a))
        for name in _OF_FUNCTIONS:
            yield _attribute(fn.fn, name)
    if not isinstance(target, FunctionType | MethodType):
        yield from _method(type(target), "__call__")
    for facts in list(program._facts.values()):
        classes = {t.cls for t in facts.types.values() if isinstance(t, ty.Object)}
        names = {"__call__", *special_methods.NAMES}
        for e in (e for stmt in ir.walk(facts.fn.body) for e in ir.exprs(stmt)):
            for a in ir.operands(e):
                if isinstance(a, ir.Global) and _can_change(a):  # some are found by their types
                    yield a, global_type(a)
                    if isinstance(global_type(a), ty.Object):
                        classes.add(type(a.value))
            if isinstance(e, ir.Method | ir.Attr):
                names.add(e.name)
        for cls in sorted(classes, key=lambda c: (c.__module__, c.__qualname__)):
            for name in sorted(names):
                yield from _method(cls, name)


def _can_change(place: ir.Global) -> bool:
    return place.root.key.partition(".")[0] != _OWN and (
        place.root.kind == "module" or place.root.obj is not None
    )


def _attribute(holder: Any, *path: str) -> Dependency:
    value = holder
    for name in path:
        value = getattr(value, name, ir.MISSING)
    label = getattr(holder, "__qualname__", type(holder).__name__)
    return ir.Global(ir.Root("namespace", label, holder), path, value), ty.Static(value)


def _method(cls: type, name: str) -> Iterator[Dependency]:
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, classmethod):
        yield _attribute(cls, name, "__func__")
    elif isinstance(found, FunctionType | staticmethod | property):
        yield _attribute(cls, name)


def read(place: ir.Global) -> Any:
    """What a place holds now."""
    match place.root.kind:
        case "builtins":
            return place.value
        case "module":
            found: Any = sys.modules.get(place.root.key, ir.MISSING)
        case _:
            found = place.root.obj
    for part in place.path:
        found = getattr(found, part, ir.MISSING)
    return found


def is_current(place: ir.Global, known: ty.Type, now: Any) -> bool:
    """Whether what a place holds now can stand where its value was when compiling."""
    # A container tells the classes of its items, and may hold others by now.
    if now is place.value and not isinstance(known, ty.List | ty.Dict | ty.Tuple):
        return True
    if isinstance(known, ty.Static) or place.value is ir.MISSING:
        return False
    return global_type(ir.Global(place.root, place.path, now)) == known


def watch(known: Sequence[Dependency]) -> tuple[Callable[[], bool], list[Dependency]]:
    """A function that says at once whether every name is bound to what it was, and the
    dependencies that this doesn't settle: containers and arrays, whose contents count.

    >>> import math
    >>> place = ir.Global(ir.Root("module", "math", math), ("pi",), math.pi)
    >>> unchanged, rest = watch([(place, global_type(place))])
    >>> unchanged(), rest
    (True, [])
    """
    tests: dict[str, None] = {}
    values: dict[str, Any] = {"modules": sys.modules}
    rest: list[Dependency] = []
    for k, (place, known_type) in enumerate(known):
        if place.root.kind == "builtins":
            continue
        if isinstance(known_type, ty.List | ty.Dict | ty.Tuple | ty.Array) or not all(
            part.isidentifier() for part in place.path
        ):
            rest.append((place, known_type))
            continue
        holder = f"h{k}"
        values[holder] = place.root.obj
        if place.root.kind == "module":
            values[holder] = sys.modules.get(place.root.key)
            tests[f"modules.get({place.root.key!r}) is {holder}"] = None
        values[f"v{k}"] = place.value
        tests[f"{'.'.join((holder, *place.path))} is v{k}"] = None
    exec(f"def unchanged():\n    return {' and '.join(tests) or True}", values)
    return values["unchanged"], rest


__all__ = ["Dependency", "is_current", "of", "read", "watch"]
