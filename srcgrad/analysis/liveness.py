"""Which variables are read later, before and after each statement.

The adjoint of a variable can be other than zero at a point of the reverse sweep only where the
variable is live at that point of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from srcgrad.ir import nodes as ir

Live = frozenset[str]
_NOTHING: Live = frozenset()


@dataclass
class Liveness:
    """Live variables by statement; `reads` gives the variables that a statement itself reads."""

    reads: Callable[[ir.Stmt], Iterable[str]]
    before: dict[int, Live] = field(default_factory=dict)
    after: dict[int, Live] = field(default_factory=dict)
    heads: dict[int, Live] = field(default_factory=dict)  # at the head of each loop
    own: dict[int, tuple[Live, Live]] = field(default_factory=dict)  # read and bound, by statement

    def block(self, block: ir.Block, out: Live, loop: tuple[Live, Live], caught: Live) -> Live:
        """`loop` are the variables live behind the loop around and at its head; `caught` those of
        the handlers that may run at any point."""
        for stmt in reversed(block):
            out |= caught
            self.after[stmt.sid] = out
            out = self.before[stmt.sid] = self.stmt(stmt, out, loop, caught) | caught
        return out

    def stmt(self, stmt: ir.Stmt, out: Live, loop: tuple[Live, Live], caught: Live) -> Live:
        found = self.own.get(stmt.sid)
        if found is None:
            bound = frozenset(v.name for v in ir.writes(stmt))
            found = self.own[stmt.sid] = frozenset(self.reads(stmt)), bound
        own, bound = found
        if ir.is_simple(stmt) and not isinstance(stmt, ir.Exit):
            return own | (out - bound)
        match stmt:
            case ir.If():
                arms = [self.block(b, out, loop, caught) for b in (stmt.body, stmt.orelse)]
                return own | arms[0] | arms[1]
            case ir.For() | ir.While():
                return self.loop(stmt, out, own, caught)
            case ir.With():
                return own | self.block(stmt.body, out, loop, caught)
            case ir.Try():
                leaving = self.block(stmt.final, caught, loop, caught)
                end = self.block(stmt.final, out, loop, caught)
                handlers = [self.block(h.body, end, loop, caught) for h in stmt.handlers]
                inside = caught.union(leaving, *handlers)
                orelse = self.block(stmt.orelse, end, loop, caught)
                return own | self.block(stmt.body, orelse, loop, inside)
            case ir.Exit(kind="break"):
                return loop[0]
            case ir.Exit(kind="continue"):
                return loop[1]
            case ir.Exit():
                return own
            case _:
                return own | (out - bound)

    def loop(self, stmt: ir.For | ir.While, out: Live, own: Live, caught: Live) -> Live:
        target = {stmt.target.name} if isinstance(stmt, ir.For) else set()
        # A `while` test is read at each turn; the bounds of a `for` only before the first.
        head = out | own if isinstance(stmt, ir.While) else out
        head |= self.heads.get(stmt.sid, _NOTHING)  # of the last turn of a loop around
        while True:
            start = self.block(stmt.body, head, (out, head), caught)
            more = head | (start - target)
            if more == head:
                self.heads[stmt.sid] = head
                return head | own
            head = more


def liveness(body: ir.Block, reads: Callable[[ir.Stmt], Iterable[str]]) -> Liveness:
    """Find the live variables of a function's body.

    Example:
        >>> liveness((), lambda stmt: ()).before
        {}
    """
    found = Liveness(reads)
    found.block(body, _NOTHING, (_NOTHING, _NOTHING), _NOTHING)
    return found
