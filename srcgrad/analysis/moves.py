"""Names that an array gives up for another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from srcgrad.analysis.liveness import liveness
from srcgrad.ir import nodes as ir

if TYPE_CHECKING:
    from srcgrad.analysis.effects import Effects


@dataclass(frozen=True)
class Move:
    """`target = source` where nothing reads the source, or a part of it, afterwards: the object
    changes its name, and what was written into it under the older one is done."""

    sid: int
    target: str
    source: str


def settle_moves(out: Effects) -> None:
    """Join the two names of what only seems to be a move, or need not be taken for one."""
    if not out.moves:
        return
    body = out.facts.fn.body
    after = liveness(body, lambda s: [v.name for v in ir.reads(s)]).after
    params = {p.name for p in out.facts.fn.params} | set(out.facts.fn.free)

    def holds(move: Move) -> bool:
        root = out.root(move.source)
        alive = params | after[move.sid]
        return not out.stored(move.target) and not any(out.root(n) == root for n in alive)

    while True:
        false = [m for m in out.moves if not holds(m)]
        if not false:
            break
        for move in false:
            out.union(move.target, move.source)
            out.moves.remove(move)
    for move in [m for m in out.moves if not out.stored(m.source)]:
        out.union(move.target, move.source)
        out.moves.remove(move)
