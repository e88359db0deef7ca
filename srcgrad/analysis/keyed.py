"""Values with a derivative as keys of dicts and members of sets: `{x: 1.0}`, `{x, x * x}`.

A key is compared, not computed with: what is looked up by it has a derivative, it itself has none
once it is taken out again (`for k in table`).  That is refused where it reaches the result.
"""

from __future__ import annotations

from srcgrad.analysis.targets import Container, Library
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
        for a in ir.operands(stmt.value):
            source = keyed.get(unit.fx.root(a.name)) if isinstance(a, ir.Var) else None
            if source is None or not isinstance(a, ir.Var):
                continue
            if not _only_looks(unit, stmt, a):
                raise located(
                    NotDifferentiable,
                    stmt.loc,
                    "the keys of a dict or the members of a set carry a derivative here, which is "
                    "lost when they are read",
                    chain=unit.act.chain(source),
                    fixes=["keep them in a list beside it", "or in the values of the dict"],
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
                parts = [] if _is_own_key(unit, base, key) else [key]
            case ir.Assign(target=target, value=ir.Method(ir.Var(name), "keys")):
                if unit.fx.root(name) in out:
                    out.setdefault(unit.fx.root(target.name), out[unit.fx.root(name)])
                continue
            case _:
                continue
        for a in parts:
            if isinstance(a, ir.Var) and a.name in unit.act.varied:
                out.setdefault(unit.fx.root(base.name), a.name)
    return out


def _is_own_key(unit: Unit, base: ir.Var, key: ir.Var) -> bool:
    """Whether a loop over a table's keys gives the key, which is there already, as in
    `for k in table: table[k] = ...`; of a list of unknown type it would be no index."""
    table = [unit.fx.root(base.name)]
    for d in unit.defs.get(key.name, ()):
        match d:
            case ir.Assign(value=ir.Index(ir.Var(name), _)):
                made = [unit.facts.targets.get(m.sid) for m in unit.defs.get(name, ())]
                looped = bool(made) and all(m == Container("alias") for m in made)
                if not looped or unit.fx.root(name) not in table:
                    return False
            case _:
                return False
    return key.name not in unit.params


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
