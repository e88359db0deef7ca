"""What can't be known before is asked when the derivative runs, where the answer may be that it is
refused."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn

if TYPE_CHECKING:
    from srcgrad.transform.text import Text


def truncation(unit: Unit, text: Text, stmt: ir.Stmt) -> list[ast.stmt]:
    """Whether an array of a dtype that is not known truncates a value with a derivative."""
    if not unit.may_truncate(stmt):
        return []
    assert isinstance(stmt, ir.Store) and isinstance(stmt.value, ir.Var)
    made = text.module.support("refuse_truncation", syn.name(text.var(stmt.value.name)))
    return [ast.Expr(made)]


def indexed(text: Text, obj: ir.Atom) -> ast.expr:
    """What is indexed, unless its class computes with a key that carries a derivative."""
    node = text.atom(obj)
    if text.unit is None or text.current is None:
        return node
    keys = [syn.name(text.var(k.name)) for k in text.unit.may_compute(text.current)]
    return text.module.support("keyed", node, *keys) if keys else node


def chosen(text: Text, made: ast.expr) -> ast.expr:
    """What max or min gives, unless it is an array, which something writes into."""
    if text.unit is None or text.current is None:
        return made
    may_be = text.unit.may_choose_array(text.current)
    return text.module.support("chosen", made) if may_be else made
