"""Numbers that are ints on some paths and floats on others: `k = 2 if x > 1.0 else x`.

For arithmetic such a number is as good as a float, but an array made of it may be one of integers,
into which nothing with a derivative goes: `np.full(3, k)`.  What depends on that has no known
type.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from srcgrad.analysis.facts import Facts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def is_loose(facts: Facts, a: ir.Atom | ir.Star) -> bool:
    return isinstance(a, ir.Var) and a.name in facts.loose


def joins(facts: Facts, stmt: ir.Assign, found: ty.Type | None) -> bool:
    """Whether the variable that an assignment binds is such a number, or holds one."""
    old = facts.types.get(stmt.target.name)
    if old is not None and found is not None and _differ(old, found):
        return True
    match stmt.value:
        case ir.Var() as source:
            return is_loose(facts, source)
        case ir.Build(kind, items, _):
            kinds = [facts.types.get(i.name) if isinstance(i, ir.Var) else _of(i) for i in items]
            mixed = kind != "tuple" and _mixed(kinds)
            return mixed or any(is_loose(facts, i) for i in items)
        case ir.Index(obj, key):
            t = facts.of(obj)
            if isinstance(t, ty.Tuple) and not isinstance(key, ir.Const) and _mixed(t.items):
                return True
            return is_loose(facts, obj)
        case _:
            return False


def as_ints(t: object) -> object:
    """The type of such a value where it is an int."""
    match t:
        case ty.Number(cls) if issubclass(cls, float):
            return ty.Number(int)
        case ty.List(item) if item is not None:
            return ty.List(as_ints(item))  # type: ignore[arg-type]
        case ty.Tuple(items, cls):
            return ty.Tuple(tuple(map(as_ints, items)), cls)  # type: ignore[arg-type]
        case _:
            return t


def _of(item: ir.Atom | ir.Star) -> ty.Type | None:
    value = item.value if isinstance(item, ir.Const) else None
    return ty.Number(type(value)) if isinstance(value, int | float) else None


def _mixed(kinds: Iterable[ty.Type | None]) -> bool:
    kinds = list(kinds)
    return any(_is_int(t) for t in kinds) and any(_is_float(t) for t in kinds)


def _differ(a: ty.Type, b: ty.Type) -> bool:
    match a, b:
        case ty.List(p), ty.List(q):
            return p is not None and q is not None and _differ(p, q)
        case ty.Tuple(ps), ty.Tuple(qs) if len(ps) == len(qs):
            return any(map(_differ, ps, qs))
        case _:
            return (_is_int(a) and _is_float(b)) or (_is_float(a) and _is_int(b))


def _is_int(t: ty.Type | None) -> bool:
    return isinstance(t, ty.Number) and issubclass(t.cls, int | np.integer)


def _is_float(t: ty.Type | None) -> bool:
    return isinstance(t, ty.Number) and issubclass(t.cls, float | np.floating)
