"""What a compilation relied on, gathered from the program when it is done."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

from srcgrad.analysis.resolve import Program
from srcgrad.analysis.types import special_methods
from srcgrad.analysis.types.atoms import global_type
from srcgrad.analysis.types.dispatch import is_dispatched
from srcgrad.dependencies import Dependency, Place, of_function, of_partial, read
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.outside import CHOICES, member

_OWN = "srcgrad"


def of(program: Program, target: Any) -> list[Dependency]:
    """All that the derivative of `target` relies on, each once."""
    found: dict[Any, Dependency] = {}
    for at, known in _all(program, target):
        key = (at.root.kind, at.root.key, id(at.root.obj), at.path)
        if key in found:
            continue
        value = at.value
        module = at.root.key if at.root.kind == "module" else ""
        place = Place(module, at.root.obj, at.path, value)
        if read(place) is value or known == ty.Literal(read(place)):
            found[key] = place, known
    return list(found.values())


def _all(program: Program, target: Any) -> Iterator[tuple[ir.Global, ty.Type]]:
    for fn in program.lowered:
        for at in filter(_can_change, fn.meanings):
            yield at, global_type(at)
            if isinstance(at.value, MethodType):  # that of a class is made anew by each look-up
                yield _below(at, "__func__")
            if isinstance(at.value, FunctionType) and is_dispatched(at.value):
                yield _below(at, CHOICES)
            if isinstance(at.value, functools.partial):
                yield from (_below(at, *path) for path in of_partial(at.value))
        for path in of_function(fn.fn):
            yield _attribute(fn.fn, *path)
    if isinstance(target, functools.partial):
        yield from (_attribute(target, *path) for path in of_partial(target))
    if not isinstance(target, FunctionType | MethodType):
        yield from _method(type(target), "__call__")
    for facts in program.known():
        classes = {t.cls for t in facts.types.values() if isinstance(t, ty.Object)}
        names = {"__call__", *special_methods.NAMES}
        for e in (e for stmt in ir.walk(facts.fn.body) for e in ir.exprs(stmt)):
            for a in ir.operands(e):
                if isinstance(a, ir.Global) and a.path and _can_change(a):  # found by types, too
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


def _attribute(holder: Any, *path: str) -> tuple[ir.Global, ty.Type]:
    label = getattr(holder, "__qualname__", type(holder).__name__)
    return _below(ir.Global(ir.Root("namespace", label, holder), (), holder), *path)


def _below(holder: ir.Global, *path: str) -> tuple[ir.Global, ty.Type]:
    value = holder.value
    for name in path:
        value = member(value, name)
    known = ty.Literal(value) if isinstance(value, str) else ty.Static(value)
    return ir.Global(holder.root, (*holder.path, *path), value), known


def _method(cls: type, name: str) -> Iterator[tuple[ir.Global, ty.Type]]:
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, classmethod):
        yield _attribute(cls, name, "__func__")
    elif isinstance(found, FunctionType | staticmethod | property):
        yield _attribute(cls, name)
