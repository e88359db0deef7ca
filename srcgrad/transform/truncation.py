"""Values with a derivative that go into an array of a dtype known only at run time."""

from __future__ import annotations

import ast

from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn
from srcgrad.transform.text import Text


def truncation(unit: Unit, text: Text, stmt: ir.Stmt) -> list[ast.stmt]:
    """Where it is known only at run time whether an array of integers truncates a value: ask."""
    if not unit.may_truncate(stmt):
        return []
    assert isinstance(stmt, ir.Store) and isinstance(stmt.value, ir.Var)
    made = text.module.support("refuse_truncation", syn.name(text.var(stmt.value.name)))
    return [ast.Expr(made)]
