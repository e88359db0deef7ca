"""Functions that return nothing and write their results into arguments.

`sg.vjp(kernel, out="B")` differentiates the contents that the argument B has at the end.

    def kernel(A, B):                def kernel(A, B):
        B[:] = np.sin(A)       ->        B[:] = np.sin(A)
                                         return B
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from srcgrad.errors import ArgumentError, located
from srcgrad.ir import nodes as ir
from srcgrad.ir.rebuild import with_blocks


def with_result(fn: ir.Function, out: Sequence[str], single: bool) -> ir.Function:
    """The function, with the arguments `out` as its result (a tuple of them unless `single`)."""
    sids = count(1 + max((s.sid for s in ir.walk(fn.body)), default=0))
    bound = {v.name for s in ir.walk(fn.body) for v in ir.writes(s)}
    # An argument whose name gets another value is remembered by another name.
    named = {n: ir.Var(f"{n}%given") if n in bound else ir.Var(n) for n in out}
    first = [ir.Assign(next(sids), fn.loc, v, ir.Var(n)) for n, v in named.items() if v.name != n]

    def leave(loc: ir.Loc) -> list[ir.Stmt]:
        values = tuple(named[n] for n in out)
        if single:
            return [ir.Exit(next(sids), loc, "return", values[0])]
        temp = ir.Var(f"%out{next(sids)}")
        made = ir.Assign(next(sids), loc, temp, ir.Build("tuple", values))
        return [made, ir.Exit(next(sids), loc, "return", temp)]

    def rewrite(block: ir.Block) -> ir.Block:
        made: list[ir.Stmt] = []
        for stmt in block:
            if isinstance(stmt, ir.Exit) and stmt.kind == "return":
                if stmt.value not in (None, ir.Const(None)):
                    raise located(
                        ArgumentError, stmt.loc,
                        f"out= names arguments as the result of {fn.name}, but it returns a value",
                        fixes=["leave out= away", "return nothing"],
                    )  # fmt: skip
                made += leave(stmt.loc)
            else:
                made.append(with_blocks(stmt, tuple(map(rewrite, ir.blocks(stmt)))))
        return tuple(made)

    body = (*first, *rewrite(fn.body))
    if not (body and isinstance(body[-1], ir.Exit)):
        body = (*body, *leave(fn.loc))
    return replace(fn, body=body)
