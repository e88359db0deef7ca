"""Stores into numbers, which Python refuses whatever their values: code that is for numbers and
for arrays tries the one and then does the other.

try:
    x[x < 0.0] = 0.0
except TypeError:          ->   x = max(x, 0.0)      where x is a float
    x = max(x, 0.0)
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.analysis.facts import Facts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

_SAFE = frozenset(("add", "sub", "mul", "neg", "pos", "eq", "ne", "lt", "le", "gt", "ge"))


def raised(facts: Facts, stmt: ir.Stmt) -> ir.Verbatim | None:
    """The exception that a store into a number raises, as a statement."""
    t = facts.of(stmt.base) if isinstance(stmt, ir.Store) else None
    if not isinstance(t, ty.Number) or not isinstance(stmt, ir.Store):
        return None
    foreign = issubclass(t.cls, np.generic)
    if stmt.op is not None and foreign:
        return None  # reading the item fails before, with an error of NumPy's own
    name = f"numpy.{t.cls.__name__}" if foreign else t.cls.__name__
    says = "does not support item assignment" if stmt.op is None else "is not subscriptable"
    text = ast.Constant(f"'{name}' object {says}")
    node = ast.Raise(ast.Call(ast.Name("$0", ast.Load()), [text], []), None)
    error = ir.Global(ir.Root("builtins", ""), ("TypeError",), TypeError)
    return ir.Verbatim(stmt.sid, stmt.loc, node, (), (), (("$0", error),))


def handled(facts: Facts, stmt: ir.Try) -> tuple[ir.Stmt, ...] | None:
    """What a `try` does of which a store into a number is the first that may go wrong."""
    if stmt.final:
        return None
    for k, s in enumerate(stmt.body):
        if raised(facts, s) is not None:
            handler = next((h for h in stmt.handlers if _catches(facts, h)), None)
            known = (
                handler is not None
                and handler.name is None
                and all(h.type is None or _classes(h) is not None for h in stmt.handlers)
            )
            return (*stmt.body[:k], *handler.body) if known and handler is not None else None
        if not _goes_well(facts, s):
            return None
    return None


def _catches(facts: Facts, handler: ir.Handler) -> bool:
    classes = _classes(handler)
    return handler.type is None or (classes is not None and issubclass(TypeError, classes))


def _classes(handler: ir.Handler) -> Any:
    value = handler.type.value if isinstance(handler.type, ir.Global) else None
    return value if isinstance(value, type) and issubclass(value, BaseException) else None


def _goes_well(facts: Facts, stmt: ir.Stmt) -> bool:
    """Whether a statement surely raises nothing, and binds no name of the user's."""
    if not isinstance(stmt, ir.Assign) or not stmt.target.is_temp:
        return False
    numbers = all(isinstance(facts.of(a), ty.Number) for a in ir.operands(stmt.value)[-2:])
    match stmt.value:
        case ir.Op(op):
            return op in _SAFE and numbers
        case ir.Call(ir.Global(value=fn), (a,)):
            return (fn is abs or fn is np.abs) and isinstance(facts.of(ir.unstar(a)), ty.Number)
        case ir.Opaque(ast.Compare(), reads):
            return all(isinstance(facts.of(v), ty.Number) for v in reads)
        case _:
            return False
