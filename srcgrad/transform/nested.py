"""Calls of nested functions, or with them, which are no values in the generated text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.targets import Packed, User
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn

if TYPE_CHECKING:
    from srcgrad.transform.text import Text


def is_nested(expr: ir.Call | ir.Method, facts: Facts, stmt: ir.Stmt | None) -> bool:
    """Whether a nested function is called, or handed to a function, by (the expression of) a
    statement."""
    fn = expr.fn if isinstance(expr, ir.Call) else None
    if isinstance(fn, ir.Var) and isinstance(facts.of(fn), ty.ClosureType):
        return True
    if isinstance(fn, ir.Global) and fn.root.key in ("<nested>", "<self>"):
        return True
    target = None if stmt is None else facts.targets.get(stmt.sid)
    if not isinstance(target, User) or (stmt is not None and stmt.sid in facts.replayed):
        return False
    return target.fn.fn is None or any(map(ty.holds_closure, target.types))


def written_out(text: Text) -> ast.expr:
    """A call of a nested function, or with one, through which no derivative passes: it is
    written out plainly."""
    from srcgrad.transform.adjoint.closures import parts
    from srcgrad.transform.plain import plain_function

    assert text.current is not None
    target = text.facts.targets[text.current.sid]
    assert isinstance(target, User)
    name = plain_function(text.module, text.program, target.fn, target.types)
    args: list[ast.expr] = []
    for b in target.args:
        if isinstance(b, Packed):
            items = [text.arg(i) for i in b.items]
            args.append(ast.Tuple(items, ast.Load()))
        else:
            args.append(text.atom(b))
    if target.closure is not None:
        args += parts(text.module, text.facts, target, text.atom(target.closure))
    return syn.call(name, *args)
