"""Calls of nested functions, or with them, which are no values in the generated text."""

from __future__ import annotations

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.targets import User
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def is_nested(expr: ir.Call | ir.Method, facts: Facts, stmt: ir.Stmt | None) -> bool:
    """Whether a nested function is called, or handed to a function, by (the expression of) a
    statement."""
    fn = expr.fn if isinstance(expr, ir.Call) else None
    if isinstance(fn, ir.Var) and isinstance(facts.of(fn), ty.ClosureType):
        return True
    if isinstance(fn, ir.Global) and fn.root.key in ("<nested>", "<self>"):
        return True
    target = None if stmt is None else facts.targets.get(stmt.sid)
    if not isinstance(target, User):
        return False
    return target.fn.fn is None or any(map(ty.holds_closure, target.types))
