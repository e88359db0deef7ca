"""Arrays whose shape may differ from one definition of their variable to another.

The adjoint of such a variable starts at nothing, which the first contribution replaces: zeros of
the shape that the variable has by chance when its adjoint ends would be of the wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from srcgrad.analysis.record.leaving import escaping
from srcgrad.analysis.types.dims import may_vary
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir


def varies(unit: Unit, name: str) -> bool:
    """Whether the shape of a variable may differ from one definition to another."""
    defs = unit.defs.get(name, ())
    if all(not unit.loops[d.sid] for d in defs) and len(defs) + (name in unit.params) <= 1:
        return False
    return may_vary(unit.type(name))


def may_get_nothing(unit: Unit, stmt: ir.Stmt) -> bool:
    """Whether the adjoint of what a statement binds may still be nothing when the statement is
    reversed, so that its shape is asked for: nothing behind it in its block surely contributes."""
    if not isinstance(stmt, ir.Assign):
        return False
    name = stmt.target.name
    if not unit.is_active(name) or unit.kind(name) != "value" or not varies(unit, name):
        return False
    where = unit.place[stmt.sid]
    at = where[-1][1]
    # Where a branch or loop in this block binds the variable anew, that is what is read behind it.
    anew = {k for k, inner in _in_block(unit, where, unit.defs[name]) if inner}
    for later, inner in _in_block(unit, where, unit.readers.get(name, ())):
        if later <= at or (inner and not _reads_first(unit, where, later, name)):
            continue
        reader = _at(unit, where, later)
        between = range(at + 1, later)
        if not anew & set(between) and not _may_leave(unit, where, between):
            if inner or unit.differentiates(reader):
                return False
    return True


_Place = tuple[tuple[int, int], ...]


def _at(unit: Unit, where: _Place, k: int) -> ir.Stmt:
    """The statement at a place of the block of `where`."""
    return unit.by_place[*where[:-1], (where[-1][0], k)]


def _in_block(unit: Unit, where: _Place, stmts: Iterable[ir.Stmt]) -> Iterator[tuple[int, bool]]:
    """The places of statements in the block of `where`, and whether they stand deeper in it."""
    depth = len(where)
    for stmt in stmts:
        there = unit.place[stmt.sid]
        if there[: depth - 1] == where[:-1] and there[depth - 1 : depth]:
            if there[depth - 1][0] == where[-1][0]:
                yield there[depth - 1][1], len(there) > depth


def _reads_first(unit: Unit, where: _Place, k: int, name: str) -> bool:
    """Whether each round of the loop at a place reads a variable before it binds it: its adjoint
    is an array when it comes to the loop's head."""
    loop = _at(unit, where, k)
    if not isinstance(loop, ir.For | ir.While):
        return False
    for stmt in loop.body:
        if escaping(stmt):
            return False
        if ir.Var(name) in ir.reads(stmt) and unit.differentiates(stmt):
            return True
        if any(v.name == name for s in ir.walk((stmt,)) for v in ir.writes(s)):
            return False
    return False


def _may_leave(unit: Unit, where: _Place, places: range) -> bool:
    """Whether a statement at one of these places of the block of `where` may leave it."""
    return any(escaping(_at(unit, where, k)) for k in places)
