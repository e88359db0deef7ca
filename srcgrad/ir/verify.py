"""Whether a function is well-formed: what every pass may rely on, and has to leave so.

Run after each pass under SRCGRAD_DEBUG=1, and by tests over many programs.  A fault found here is
one of the compiler's, named where it was made rather than where it shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from srcgrad.debug import debugging
from srcgrad.errors import InternalError
from srcgrad.ir import nodes as ir


def checked(fn: ir.Function, what: str) -> ir.Function:
    """The function as a pass made it; verified when debugging.

    Raises: InternalError, with the name of the pass and what is wrong.
    """
    if debugging():
        problem = next(problems(fn), None)
        if problem is not None:
            raise InternalError(f"after {what}, {fn.name} is not well-formed: {problem}")
    return fn


def problems(fn: ir.Function) -> Iterator[str]:
    """What is wrong with a function, each in a sentence.

    >>> here = ir.Loc("f.py", 1, 0, 1, 0)
    >>> body = (ir.Exit(0, here, "return", ir.Var("y")), ir.Exit(0, here, "break"))
    >>> list(problems(ir.Function("f", (), body, (), here, None)))
    ['two statements have the number 0', 'y is read and never bound', 'break outside of a loop']
    """
    stmts = list(ir.walk(fn.body))
    seen: set[int] = set()
    for stmt in stmts:
        if stmt.sid in seen:
            yield f"two statements have the number {stmt.sid}"
        seen.add(stmt.sid)
    bound = {p.name for p in fn.params} | set(fn.free) | _bound(stmts)
    for name in dict.fromkeys(v.name for s in stmts for v in ir.reads(s)):
        if name not in bound:
            yield f"{name} is read and never bound"
    yield from _jumps(fn.body, in_loop=False)
    for stmt in stmts:
        for e in ir.exprs(stmt):
            if isinstance(e, ir.Closure):
                yield from problems(e.fn)
                missing = [n for n in e.fn.free if n not in dict(e.free)]
                if missing:
                    yield f"{e.fn.name} captures {missing[0]} and is not given it"


def _bound(stmts: list[ir.Stmt]) -> set[str]:
    names = {v.name for s in stmts for v in ir.writes(s)}
    for s in stmts:
        if isinstance(s, ir.Try):
            names |= {h.name for h in s.handlers if h.name is not None}
        if isinstance(s, ir.With) and s.bound is not None:
            names.add(s.bound)
    return names


def _jumps(block: ir.Block, in_loop: bool) -> Iterator[str]:
    for stmt in block:
        if isinstance(stmt, ir.Exit) and stmt.kind != "return" and not in_loop:
            yield f"{stmt.kind} outside of a loop"
        inside = in_loop or isinstance(stmt, ir.For | ir.While)
        for inner in ir.blocks(stmt):
            yield from _jumps(inner, inside)


__all__ = ["checked", "problems"]
