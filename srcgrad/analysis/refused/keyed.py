"""Values with a derivative as keys of dicts and members of sets: `{x: 1.0}`, `{x, x * x}`.

A key is compared, not computed with: what is looked up by it has a derivative, it itself has none
once it is taken out again (`for k in table`).  That is refused where it reaches the result.
"""

from __future__ import annotations

import numpy as np

from srcgrad.analysis.targets import Library
from srcgrad.analysis.unit import Unit
from srcgrad.errors import NotDifferentiable, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

# What is done with a table or set without taking keys out of it.
_LOOKS = frozenset(("get", "pop", "setdefault", "values", "add", "discard", "remove", "clear"))
_TESTS = frozenset(("in", "not_in", "contains", "is", "is_not", "not", "eq", "ne"))


def refuse_numbers_from_keys(unit: Unit) -> None:
    """Raise where keys or members that carry a derivative are read for the result.

    The tables in the text of a derivative are those of its primal, which was asked before."""
    made_here = getattr(unit.spec.fn.fn, "__module__", None) or ""
    if made_here.startswith("srcgrad.generated."):
        return
    keyed = _keyed(unit)
    if not keyed:
        return
    for stmt in ir.walk(unit.body):
        if not isinstance(stmt, ir.Assign) or stmt.target.name not in unit.act.useful:
            continue
        for a in (a for a in ir.operands(stmt.value) if isinstance(a, ir.Var)):
            source = keyed.get(unit.fx.root(a.name))
            if source is not None and not _only_looks(unit, stmt, a):
                raise located(
                    NotDifferentiable,
                    stmt.loc,
                    "the keys of a dict or the members of a set carry a derivative here, which is "
                    "lost when they are read",
                    chain=unit.act.chain(source),
                    fixes=["keep them in a list beside it", "keep them in the values of the dict"],
                )


def _keyed(unit: Unit) -> dict[str, str]:
    """The memory classes of such tables and sets, each with one of the values."""
    out: dict[str, str] = {}
    for stmt in ir.walk(unit.body):
        match stmt:
            case ir.Assign(target=target, value=ir.Build("dict", _, keys)):
                base, parts = target, [k for k in keys if k is not None]
            case ir.Assign(target=target, value=ir.Build("set", items)):
                base, parts = target, [ir.unstar(i) for i in items]
            case ir.Store(base=ir.Var() as base, key=ir.Var() as key) if _is_table(unit, base):
                parts = [key]
            case ir.Assign(target=target, value=ir.Method(ir.Var(name), "keys")):
                if unit.fx.root(name) in out:
                    out.setdefault(unit.fx.root(target.name), out[unit.fx.root(name)])
                continue
            case _:
                continue
        for a in parts:
            if isinstance(a, ir.Var) and a.name in unit.act.varied and _is_number(unit, a):
                out.setdefault(unit.fx.root(base.name), a.name)
    return out


def _is_number(unit: Unit, a: ir.Var, part: bool = False, seen: tuple[str, ...] = ()) -> bool:
    """Whether a key is a number that was computed, rather than one that names something: keys
    that `table.items()` or a loop over a table gives are constants as long as the table's are.

    `part` says that an item of `a` is asked for."""
    t = unit.facts.of(a)
    if isinstance(t, ty.Number) and not part:
        return issubclass(t.cls, float | complex | np.inexact)
    if isinstance(t, ty.Array):
        return ty.can_be_active(t)
    if not isinstance(t, ty.Unknown | ty.List | ty.Tuple) or a.name in seen:
        return False
    made = [d.value for d in unit.defs.get(a.name, ()) if isinstance(d, ir.Assign)]
    if not made:
        return not part  # an argument
    for value in made:
        match value:
            case ir.Var() | ir.Index(ir.Var(), _) | ir.Attr(ir.Var(), _):
                inner = value if isinstance(value, ir.Var) else value.obj
                assert isinstance(inner, ir.Var)
                below = part or isinstance(value, ir.Index)
                if _is_number(unit, inner, below, (*seen, a.name)):
                    return True
            case ir.Op():
                return True
            case ir.Call() | ir.Method() if not part:
                return True
            case ir.Build(_, items):
                parts = [i for i in map(ir.unstar, items) if isinstance(i, ir.Var)]
                if part and any(_is_number(unit, i, False, (*seen, a.name)) for i in parts):
                    return True
    return False


def _is_table(unit: Unit, a: ir.Var) -> bool:
    """Whether a variable surely is a dict; of anything else the key may be an index."""
    return isinstance(unit.facts.of(a), ty.Dict)


def _only_looks(unit: Unit, stmt: ir.Assign, a: ir.Var) -> bool:
    match stmt.value:
        case ir.Index(obj, _):
            return obj == a
        case ir.Method(obj, name):
            return obj == a and name in _LOOKS
        case ir.Op(op, _):
            return op in _TESTS
        case ir.Var() | ir.Build() | ir.Attr() | ir.Opaque() | ir.Closure():
            return True  # of the same memory class, whose reads are seen as well
        case _:
            target = unit.facts.targets.get(stmt.sid)
            return isinstance(target, Library) and target.entry.kind == "nondiff"
