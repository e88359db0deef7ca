"""Which statements leave the block they stand in."""

from __future__ import annotations

import ast

from srcgrad.ir import nodes as ir

_LOOPS = (ir.For, ir.While)


def escaping(stmt: ir.Stmt) -> list[ir.Exit]:
    """The exits inside a statement that leave it."""
    out: list[ir.Exit] = []
    if ir.is_simple(stmt) and not isinstance(stmt, ir.Exit):
        return out

    def visit(s: ir.Stmt, in_loop: bool) -> None:
        if isinstance(s, ir.Exit):
            if s.kind == "return" or not in_loop:
                out.append(s)
            return
        inside = in_loop or s.__class__ in _LOOPS
        for b in ir.blocks(s):
            for inner in b:
                if inner.__class__ is not ir.Assign:
                    visit(inner, inside)

    visit(stmt, False)
    return out


def always_leaves(block: ir.Block) -> bool:
    """Whether control never falls off the end of a block."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ir.Exit):
        return True
    if isinstance(last, ir.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, ir.Verbatim):
        return isinstance(last.node, ast.Raise)
    if isinstance(last, ir.With):
        return always_leaves(last.body)
    return False
