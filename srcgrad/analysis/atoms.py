"""The types of atoms: variables, literals, and what is read from outside the function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srcgrad.analysis import probe
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def atom_type(atom: ir.Atom, types: Mapping[str, ty.Type]) -> ty.Type | None:
    match atom:
        case ir.Var(name):
            return types.get(name)
        case ir.Const(value):
            return const_type(value)
        case ir.Global():
            return global_type(atom)


def const_type(value: Any) -> ty.Type:
    if value is None or isinstance(value, str | bool):
        return ty.Literal(value)
    if isinstance(value, int | float | complex):
        return ty.Number(type(value))
    return ty.Other(type(value))


def global_type(atom: ir.Global) -> ty.Type:
    """Containers read from outside may change between calls: of what they hold only the classes
    of objects are told, in which methods and operators are looked up."""
    value = atom.value
    if value is ir.MISSING:
        return ty.UNKNOWN
    if isinstance(value, dict | list | tuple | set):
        found = ty.generic(probe.type_of(value))
        return ty.Other(type(value)) if found == ty.UNKNOWN else found
    found = probe.type_of(value)
    if isinstance(found, ty.Object):
        return ty.Object(found.cls)
    return found
