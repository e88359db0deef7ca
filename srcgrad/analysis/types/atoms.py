"""The types of atoms: variables, literals, and what is read from outside the function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srcgrad.analysis.types.typeof import value_type
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def atom_type(atom: ir.Atom, types: Mapping[str, ty.Type]) -> ty.Type | None:
    if isinstance(atom, ir.Var):
        return types.get(atom.name)
    return const_type(atom.value) if isinstance(atom, ir.Const) else global_type(atom)


def const_type(value: Any) -> ty.Type:
    if value is None or isinstance(value, str | bool):
        return ty.Literal(value)
    if isinstance(value, int | float | complex):
        return ty.Number(type(value))
    return ty.Other(type(value))


def global_type(atom: ir.Global) -> ty.Type:
    """The type of what is read from outside."""
    return ty.UNKNOWN if atom.value is ir.MISSING else value_type(atom.value)
