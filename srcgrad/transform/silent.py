"""Which expressions of the generated text can be left out without anybody noticing."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from srcgrad.rules import registry

_FIELDS = frozenset(("shape", "dtype", "size", "ndim", "T", "real", "imag"))
_METHODS = frozenset(
    ("copy", "sum", "mean", "reshape", "ravel", "transpose", "conj", "astype", "swapaxes", "dot")
)
_BUILTINS = frozenset(("len", "float", "int", "abs", "range", "complex", "slice", "min", "max"))


def is_silent(node: ast.expr, primal: bool) -> bool:
    """Whether leaving an expression out can't be noticed but by its value; `primal` ones are the
    user's, whose errors count."""
    match node:
        case ast.Name() | ast.Constant() | ast.Lambda():
            return True
        case ast.Attribute(value=value, attr=attr):
            return attr in _FIELDS and is_silent(value, primal)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return all(is_silent(i, primal) for i in items)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_silent(operand, primal)
        case ast.Starred() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
            return False
        case ast.Call(func=fn, args=args, keywords=keywords):
            parts = [*args, *(k.value for k in keywords)]
            pure = is_pure(fn) or _writes_nothing(fn, len(args), {k.arg for k in keywords})
            return not primal and pure and all(is_silent(p, primal) for p in parts)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
            return is_silent(left, primal) and is_silent(right, primal)
    inner = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    return not primal and all(is_silent(n, primal) for n in inner)


def is_pure(fn: ast.expr) -> bool:
    """Whether a function that the generated text calls surely has no effect."""
    match fn:
        case ast.Name(name):
            return name in _BUILTINS
        case ast.Attribute(ast.Name("np"), attr):
            entry = registry.lookup(getattr(np, attr, None))
            return entry is not None and entry.pure and not entry.writes
        case ast.Attribute(ast.Attribute(ast.Name("np"), "linalg"), attr):
            return registry.lookup(getattr(np.linalg, attr, None)) is not None
        case ast.Attribute(ast.Name("support"), attr):
            entry = registry.lookup(_support(attr))
            return entry is not None and entry.pure and not entry.writes
        case ast.Attribute(ast.Name("math")):
            return True
        case ast.Attribute(value=value, attr=attr):
            return attr in _METHODS and is_silent(value, False)
    return False


def _writes_nothing(fn: ast.expr, count: int, given: set[str | None]) -> bool:
    """Whether a call of a function that may write into `out` gives it none."""
    match fn:
        case ast.Attribute(ast.Name("np"), attr):
            entry = registry.lookup(getattr(np, attr, None))
        case _:
            return False
    if entry is None or not entry.pure or entry.params is None or None in given:
        return False
    places = list(entry.params.parameters)
    return all(w not in given and w in places[count:] for w in entry.writes)


def _support(attr: str) -> Any:
    from srcgrad.runtime import support

    return getattr(support, attr, None)


__all__ = ["is_pure", "is_silent"]
