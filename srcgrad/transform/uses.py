"""Who reads what."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.ir import nodes as ir
from srcgrad.transform.solutions import printed_reads


def uses_of(
    block: ir.Block, tangent: Callable[[ir.Var], bool] = lambda _: False
) -> dict[str, list[int]]:
    """For each variable the statements that read it (once per read; what is kept as written may
    read it more than once).

    Arguments: `tangent` tells the variables whose tangents are computed beside them."""
    out: dict[str, list[int]] = {}
    for stmt in ir.walk(block):
        for v in printed_reads(stmt, tangent):
            out.setdefault(v.name, []).append(stmt.sid)
        kept = [e for e in ir.exprs(stmt) if isinstance(e, ir.Opaque)]
        for v in (*(v for e in kept for v in e.reads), *_verbatim_reads(stmt)):
            out.setdefault(v.name, []).append(stmt.sid)
        if isinstance(stmt, ir.With) and isinstance(stmt.value, ir.Var):
            out.setdefault(stmt.value.name, []).append(stmt.sid)
    return out


def _verbatim_reads(stmt: ir.Stmt) -> tuple[ir.Var, ...]:
    return stmt.reads if isinstance(stmt, ir.Verbatim) else ()
