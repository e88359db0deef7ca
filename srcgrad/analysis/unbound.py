"""Reads of variables that nothing has bound by then, which Python answers with an exception.

if x > 0.0:              if x > 0.0:
    s = x          ->        s = x
    break                    break
t = s + 1.0              raise UnboundLocalError("s")
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from srcgrad.frontend.resolve import builtin
from srcgrad.ir import nodes as ir
from srcgrad.ir.rebuild import with_blocks

_ERROR = "UnboundLocalError"


def raising(body: ir.Block, unbound: Mapping[int, str]) -> ir.Block:
    """A body whose statements raise what Python does where they read such a variable.

    Arguments: the body; for each statement number the variable.
    """
    local = {v.name for s in ir.walk(body) for v in ir.writes(s)}
    given = {s.bound for s in ir.walk(body) if isinstance(s, ir.With)}
    local -= given  # `with adjoint_of(x) as x_bar` binds it

    def block(stmts: ir.Block) -> ir.Block:
        return tuple(map(one, stmts))

    def one(stmt: ir.Stmt) -> ir.Stmt:
        name = unbound.get(stmt.sid)
        if name in local:  # else an exception's name, which its handler binds
            made = ast.Call(ast.Name(_ERROR, ast.Load()), [ast.Constant(name)], [])
            known = ((_ERROR, builtin(_ERROR)),)
            return ir.Verbatim(stmt.sid, stmt.loc, ast.Raise(made, None), (), (), known)
        inner = ir.blocks(stmt)
        return with_blocks(stmt, tuple(map(block, inner))) if inner else stmt

    return block(body)
