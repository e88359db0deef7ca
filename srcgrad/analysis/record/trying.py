"""Exceptions that differentiated code catches: which handlers the reverse sweep can go through.

An exception may leave half of what was tried done.  Where it can't (what was tried is one
statement that is done or not), a variable says whether the handler ran, and the reverse sweep
goes back through one or the other.  A handler that leaves the function with a constant is gone
back through by leaving out what was tried and what follows.  Any other is *closed*: the generated
function refuses when it is entered (SEMANTICS, finding 14).
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from srcgrad.analysis.record.control import exits_of
from srcgrad.analysis.record.leaving import always_leaves
from srcgrad.analysis.unit import Unit
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir

if TYPE_CHECKING:
    from srcgrad.analysis.recording import Recording


def all_or_nothing(unit: Unit, stmt: ir.Try, kept: Set[str]) -> bool:
    """Whether an exception in what is tried leaves no trace in variables with derivatives, or in
    those that the reverse sweep reads (`kept`); and there is one handler, which stays."""
    if len(stmt.handlers) != 1 or not stmt.body:
        return False
    if exits_of((*stmt.body, *stmt.orelse, *stmt.handlers[0].body)):
        return False
    last = stmt.body[-1]
    if ir.blocks(last) or _writes_memory_by_call(unit, last):
        return False
    for s in ir.walk(stmt.body[:-1]):
        if isinstance(s, ir.Store | ir.StoreAttr) or _writes_memory_by_call(unit, s):
            return False
        bound = [v for v in ir.writes(s) if not v.is_temp]
        if any(unit.is_active(v) or v.name in kept for v in bound):
            return False
    return True


def _writes_memory_by_call(unit: Unit, stmt: ir.Stmt) -> bool:
    if isinstance(stmt, ir.Assign) and stmt.inplace is None and unit.user_call(stmt) is None:
        return False
    if isinstance(stmt, ir.Effect) or unit.user_call(stmt) is not None:
        return any(unit.fx.memory(v.name) for v in ir.reads(stmt))
    return False


def close_handlers(found: Recording) -> None:
    """A handler may run only if the reverse sweep knows what to leave out then (finding 14)."""
    resets = found.control.resets

    def reversed_in(block: ir.Block) -> bool:
        return any(s.sid in found.reversed_ and s.sid not in resets for s in ir.walk(block))

    for stmt in ir.walk(found.unit.body):
        if not isinstance(stmt, ir.Try):
            continue
        _check_final(found, stmt, reversed_in(stmt.final))
        tried = (*stmt.body, *stmt.orelse, *stmt.final)
        active = reversed_in(tried)
        plain = not reversed_in(stmt.final) and _leaves_no_trace(found, stmt)
        for k, handler in enumerate(stmt.handlers):
            raises = always_leaves(handler.body) and not exits_of(handler.body)
            leaves = always_leaves(handler.body) and plain
            if stmt.sid in found.control.tried and _in_step(found, stmt):
                continue
            if reversed_in(handler.body) or (active and not raises and not leaves):
                found.closed.add((stmt.sid, k))


def _check_final(found: Recording, stmt: ir.Try, reversed_: bool) -> None:
    """What a `return` hands to the reverse sweep is gathered before the `finally` block runs."""
    kept = any(s.sid in found.saves or s.sid in found.pairs for s in ir.walk(stmt.final))
    left = exits_of((*stmt.body, *stmt.orelse, *(s for h in stmt.handlers for s in h.body)))
    returns = [e for e in left if e.kind == "return"]
    if returns and (reversed_ or kept):
        raise located(
            UnsupportedSyntax,
            returns[0].loc,
            "this return leaves a try whose finally block changes what carries a derivative",
            fixes=["keep the result in a variable and return it behind the try statement"],
        )


def _leaves_no_trace(found: Recording, stmt: ir.Try) -> bool:
    """Whether the reverse sweep may skip what a `try` did until an exception ended it."""
    if found.unit.loops[stmt.sid]:
        return False
    for s in ir.walk((*stmt.body, *stmt.orelse)):
        if s.sid in found.undone or s.sid in found.pairs:
            return False
        if any(save.when == "before" for save in found.saves.get(s.sid, ())):
            return False
        written = found.unit.differentiates(s) and not isinstance(s, ir.Assign | ir.Exit)
        inplace = isinstance(s, ir.Assign) and s.inplace is not None
        if written or inplace or found.unit.user_call(s) is not None:
            return False
    return True


def _in_step(found: Recording, stmt: ir.Try) -> bool:
    """Whether no list of a loop gets an item for what was not done."""
    if not found.unit.loops[stmt.sid]:
        return True
    last = stmt.body[-1]
    for s in stmt.body:
        kinds = [save.when for save in found.saves.get(s.sid, ())]
        if s.sid in found.undone or s.sid in found.pairs or "before" in kinds:
            return False
        if s is not last and kinds:
            return False
    return True
