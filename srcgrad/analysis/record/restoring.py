"""What the reverse sweep brings back to older contents: a result that is, is copied before."""

from __future__ import annotations

from srcgrad.analysis.effects import may_hold_memory
from srcgrad.analysis.record.callees import restored_by
from srcgrad.analysis.recording import Recording
from srcgrad.analysis.targets import Container
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def restores(found: Recording, name: str) -> bool:
    """Whether the reverse sweep may bring back older contents of a variable's memory."""
    unit = found.unit
    if not may_hold_memory(unit.type(name)):
        return False
    root = unit.fx.root
    roots = {root(name)}
    for _ in unit.fx.moves:
        roots |= {root(m.source) for m in unit.fx.moves if root(m.target) in roots}
    items = _holds_containers(unit.type(name))
    for stmt in ir.walk(unit.body):
        if (items and _undoes_items(unit, stmt)) or roots & restored_by(unit, stmt):
            return True
    return any(map(unit.fx.stored, roots)) and _undoes_stores(found)


def _undoes_stores(found: Recording) -> bool:
    """Whether elements of arrays that were overwritten are put back."""
    if found.undone:
        return True
    unit = found.unit
    for stmt in ir.walk(unit.body):
        if isinstance(stmt, ir.Store) and isinstance(stmt.base, ir.Var):
            written = stmt.base.name
        elif isinstance(stmt, ir.Assign) and stmt.inplace:
            written = stmt.target.name
        else:
            continue
        # What is not known to be an array is restored in any case.
        if not isinstance(unit.type(written), ty.Array) and unit.is_active(written):
            return True
    return False


def _undoes_items(unit: Unit, stmt: ir.Stmt) -> bool:
    """Whether the reverse of a statement takes items out of a container or puts them back:
    `xs.append(x)` is undone by `xs.pop()`."""
    return isinstance(unit.facts.targets.get(stmt.sid), Container) and unit.differentiates(stmt)


def _holds_containers(t: ty.Type) -> bool:
    match t:
        case ty.Tuple(items):
            return any(map(_holds_containers, items))
        case ty.Number() | ty.Array() | ty.Literal():
            return False
        case _:
            return True
