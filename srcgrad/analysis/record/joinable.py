"""Returns that stand at the end of a body, or can be put there."""

from __future__ import annotations

from dataclasses import replace

from srcgrad.analysis.record.leaving import always_leaves, escaping
from srcgrad.ir import nodes as ir


def joinable(block: ir.Block) -> ir.Block | None:
    """A body whose returns all stand at the end, or None; a few guards are put into else arms."""
    return _tail(block, 3)


def _tail(block: ir.Block, guards: int) -> ir.Block | None:
    if not block:
        return block
    for k, stmt in enumerate(block[:-1]):
        exits = [e for e in escaping(stmt) if e.kind == "return"]
        if isinstance(stmt, ir.Exit):
            return block[: k + 1]
        if not exits:
            continue
        if not isinstance(stmt, ir.If) or guards == 0:
            return None
        rest = block[k + 1 :]
        clean = [not any(escaping(s) for s in arm) for arm in (stmt.body, stmt.orelse)]
        if always_leaves(stmt.body) and clean[1]:
            new = replace(stmt, orelse=(*stmt.orelse, *rest))
        elif always_leaves(stmt.orelse) and clean[0]:
            new = replace(stmt, body=(*stmt.body, *rest))
        else:
            return None
        return _tail((*block[:k], new), guards - 1)
    last = block[-1]
    if isinstance(last, ir.If):
        body, orelse = _tail(last.body, guards), _tail(last.orelse, guards)
        if body is None or orelse is None:
            return None
        return (*block[:-1], replace(last, body=body, orelse=orelse))
    if isinstance(last, ir.Exit):
        return block
    if any(e.kind == "return" for e in escaping(last)):
        return None
    return block
