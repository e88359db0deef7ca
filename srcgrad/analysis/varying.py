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
    match unit.type(name):
        case ty.Array(_, dims):
            return any(d in ("?", "n") for d in dims)  # no name says how long they are
        case ty.Unknown():
            return True
        case _:
            return False


def may_get_nothing(unit: Unit, stmt: ir.Stmt) -> bool:
    """Whether the adjoint of what a statement in a loop binds may still be nothing when the
    statement is reversed, so that its shape is asked for: nothing behind it in its block surely
    contributes."""
    if not isinstance(stmt, ir.Assign) or not unit.loops[stmt.sid]:
        return False
    name = stmt.target.name
    if not unit.is_active(name) or unit.kind(name) != "value" or not varies(unit, name):
        return False
    block, at = unit.place[stmt.sid][-1]
    for reader in unit.readers.get(name, ()):
        there, later = unit.place[reader.sid][-1]
        if there == block and later > at and unit.differentiates(reader):
            return False
    return True
