"""Numbers that are made again at the head of the reverse of their block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

if TYPE_CHECKING:
    from srcgrad.analysis.record.again import Again


def runs_again(table: Again, name: str) -> ir.Assign | None:
    """The definition of a number in a loop that reads nothing the loop changes."""
    unit = table.unit
    defs = unit.defs.get(name, [])
    if len(defs) != 1 or not isinstance(defs[0], ir.Assign) or name in unit.params:
        return None
    stmt = defs[0]
    if not unit.loops[stmt.sid] or stmt.inplace or not table.is_cheap(stmt):
        return None
    if not isinstance(unit.type(name), ty.Number) or isinstance(stmt.value, ir.Var | ir.Const):
        return None
    here = unit.place[stmt.sid]
    for reader in unit.readers.get(name, ()):
        there = unit.place[reader.sid]
        if there[: len(here) - 1] != here[:-1] or there[len(here) - 1][0] != here[-1][0]:
            return None
    roots, _ = table.roots_of(ir.operands(stmt.value))
    loop = unit.by_sid[unit.loops[stmt.sid][-1]]
    if name in roots or not isinstance(loop, ir.For):
        return None
    return None if roots & unit.bound_in(loop) else stmt
