"""Arrays whose shape may differ from one definition of their variable to another.

The adjoint of such a variable starts at nothing, which the first contribution replaces: zeros of
the shape that the variable has by chance when its adjoint ends would be of the wrong one.
"""

from __future__ import annotations

from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def varies(unit: Unit, name: str) -> bool:
    """Whether the shape of a variable may differ from one definition to another."""
    defs = unit.defs.get(name, ())
    if all(not unit.loops[d.sid] for d in defs) and len(defs) + (name in unit.params) <= 1:
        return False
    return _may_vary(unit.type(name))


def _may_vary(t: ty.Type) -> bool:
    """Whether two values of a type may have different shapes, or be of different kinds."""
    match t:
        case ty.Array(_, dims):
            return any(d in ("?", "n") for d in dims)  # no name says how long they are
        case ty.Unknown():
            return True
        case ty.Tuple(items):
            return any(map(_may_vary, items))
        case _:
            return False


def may_get_nothing(unit: Unit, stmt: ir.Stmt) -> bool:
    """Whether the adjoint of what a statement binds may still be nothing when the statement is
    reversed, so that its shape is asked for: nothing behind it in its block surely contributes."""
    if not isinstance(stmt, ir.Assign):
        return False
    name = stmt.target.name
    if not unit.is_active(name) or unit.kind(name) != "value" or not varies(unit, name):
        return False
    where = unit.place[stmt.sid]
    block, at = where[-1]
    inner = [unit.place[d.sid] for d in unit.defs[name] if len(unit.place[d.sid]) > len(where)]
    if not unit.loops[stmt.sid] and all(unit.loops[d.sid] for d in unit.defs[name] if d != stmt):
        return False  # what goes around a loop is an array when it comes to its head
    # Where a branch or loop in this block binds the variable anew, that is what is read behind it.
    anew = [p[len(where) - 1][1] for p in inner if p[: len(where) - 1] == where[:-1]]
    for reader in unit.readers.get(name, ()):
        there, later = unit.place[reader.sid][-1]
        if there == block and later > at and unit.differentiates(reader):
            if not any(at < k < later for k in anew):
                return False
    return True
