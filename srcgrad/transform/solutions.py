"""Roots that were found, in text: the root itself, of which only the derivative knows more."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from srcgrad.analysis.rewrites.solvers import is_solution
from srcgrad.ir import nodes as ir
from srcgrad.runtime import support

if TYPE_CHECKING:
    from srcgrad.transform.text import Text


def root_found(text: Text, expr: ir.Expr) -> ast.expr | None:
    """`support.solution(y, ...)` is `y`, and `support.solutions` an array of its own."""
    if not is_solution(expr):
        return None
    assert isinstance(expr, ir.Call) and isinstance(expr.fn, ir.Global)
    found = text.arg(expr.args[0])
    is_number = expr.fn.value is support.solution
    return found if is_number else text.module.numpy("copy", found)


def printed_reads(stmt: ir.Stmt, tangent: Callable[[ir.Var], bool]) -> tuple[ir.Var, ...]:
    """What is read where a statement is printed; `tangent` tells for which variables a tangent is
    printed beside it."""
    if isinstance(stmt, ir.Assign) and is_solution(stmt.value) and not tangent(stmt.target):
        first = ir.operands(stmt.value)[0]
        return (first,) if isinstance(first, ir.Var) else ()
    return tuple(ir.reads(stmt))
