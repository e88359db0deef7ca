"""Which functions can stand where they are called: their statements mean the same there.

They leave by one `return` at the end, call nothing but library functions, and read no variable
that may not be bound yet: in a loop it would have the value that an earlier call has left behind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from srcgrad.analysis.targets import Library, writes_argument
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts

LONGEST = 100  # statements of a function that is small
_NONE = ir.Const(None)
_BINDING = (ast.comprehension, ast.Lambda, ast.NamedExpr)  # expressions with names of their own
_PLAIN = (
    ir.Var | ir.Const | ir.Global | ir.Op | ir.Call | ir.Method | ir.Index | ir.Attr | ir.Build
)


def statements_of(facts: Facts, gives: bool) -> list[ir.Stmt] | None:
    """The statements of a function that can stand where it is called, or None; `gives`: its
    result is used."""
    body = facts.fn.body
    last = body[-1] if body else None
    returns = isinstance(last, ir.Exit) and last.kind == "return"
    value = last.value if isinstance(last, ir.Exit) else None
    if gives and (not returns or value in (None, _NONE)):
        return None
    found = ir.walk(body[:-1] if returns else body)
    if len(found) > LONGEST or not all(_is_plain(s, facts) for s in found):
        return None
    bound = {p.name for p in facts.fn.params}
    return found if _binds_first(body, bound) else None


def _is_plain(stmt: ir.Stmt, facts: Facts) -> bool:
    """Whether a statement computes or stores a value, by a library's function or operator if by
    any."""
    match stmt:
        case ir.Assign():
            kept = stmt.inplace is None or isinstance(facts.of(stmt.target), ty.Array)
            return kept and _is_plain_expr(stmt.value) and _is_library(stmt, facts)
        case ir.Store():
            return isinstance(stmt.base, ir.Var) and isinstance(facts.of(stmt.base), ty.Array)
        case ir.If() | ir.While():
            return _is_plain_expr(stmt.test) and _is_library(stmt, facts)
        case ir.For():
            return stmt.checkpoint is None
        case ir.Exit():
            return stmt.kind != "return"
    return False


def _is_plain_expr(expr: ir.Expr) -> bool:
    if isinstance(expr, ir.Opaque):
        return not any(isinstance(n, _BINDING) for n in ast.walk(expr.node))
    return isinstance(expr, _PLAIN)


def _is_library(stmt: ir.Stmt, facts: Facts) -> bool:
    """Whether a statement calls nothing, or a library's function that writes into nothing."""
    target = facts.targets.get(stmt.sid)
    if isinstance(target, Library):
        return not writes_argument(target) and target.source is None
    return target is None


def _binds_first(block: ir.Block, bound: set[str]) -> bool:
    """Whether every variable is surely bound where it is read; adds what a block surely binds."""
    for stmt in block:
        if not _names(ir.reads(stmt)) <= bound:
            return False
        inner = [bound | _names(ir.writes(stmt)) for _ in ir.blocks(stmt)]
        if not all(map(_binds_first, ir.blocks(stmt), inner)):
            return False
        if isinstance(stmt, ir.If):
            arms = zip(ir.blocks(stmt), inner, strict=True)
            alive = [names for arm, names in arms if not _leaves(arm)]
            bound |= set.intersection(*alive) if alive else set()
        elif not isinstance(stmt, ir.For):  # one of no rounds leaves its target unbound
            bound |= _names(ir.writes(stmt))
    return True


def _leaves(block: ir.Block) -> bool:
    return bool(block) and isinstance(block[-1], ir.Exit)


def _names(found: Iterable[ir.Var]) -> set[str]:
    return {v.name for v in found}
