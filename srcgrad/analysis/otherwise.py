"""Calls whose rule has no formula for an argument that turns out to be active.

np.diff(x, append=y)      ->      sampled.diff_ended(x, append=y)      where y is active

The function that takes the place is Python source that computes the same; where the argument is
constant, the formulas stay, which are shorter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.targets import Library, bound_atoms
from srcgrad.ir import nodes as ir
from srcgrad.ir.rebuild import with_blocks


def with_sources(facts: Facts, active: frozenset[str]) -> ir.Function | None:
    """The function with such calls replaced, or None when it has none."""
    fns = {s.sid: fn for s in ir.walk(facts.fn.body) if (fn := _source(facts, s, active))}
    return replace(facts.fn, body=_block(facts.fn.body, fns)) if fns else None


def _source(facts: Facts, stmt: ir.Stmt, active: frozenset[str]) -> Any:
    """The Python function to differentiate in place of the one that a statement calls."""
    call = facts.targets.get(stmt.sid)
    if not isinstance(stmt, ir.Assign) or stmt.target.name not in active:
        return None
    if not isinstance(stmt.value, ir.Call) or not isinstance(call, Library):
        return None
    entry = call.entry
    if entry.otherwise is None:
        return None
    for param, bound in call.args:
        if param in entry.zero or entry.vjps.get(param) is not None:
            continue
        if any(isinstance(a, ir.Var) and a.name in active for a in bound_atoms(bound)):
            return entry.otherwise.fn
    return None


def _block(block: ir.Block, fns: dict[int, Any]) -> ir.Block:
    return tuple(_stmt(s, fns) for s in block)


def _stmt(stmt: ir.Stmt, fns: dict[int, Any]) -> ir.Stmt:
    stmt = with_blocks(stmt, tuple(_block(b, fns) for b in ir.blocks(stmt)))
    fn = fns.get(stmt.sid)
    if fn is None:
        return stmt
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Call)
    named = ir.Global(ir.Root("module", fn.__module__), (fn.__name__,), fn)
    return replace(stmt, value=replace(stmt.value, fn=named))
