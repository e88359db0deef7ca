"""Which expressions of the generated text surely make a new array."""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.rules import registry


def is_fresh(node: ast.expr) -> bool:
    """Whether an expression surely makes a new array or number, that nobody else holds.

    Example:
        >>> is_fresh(ast.parse("g * 2.0", mode="eval").body)
        True
        >>> is_fresh(ast.parse("g[1:]", mode="eval").body)
        False
    """
    match node:
        case ast.BinOp() | ast.UnaryOp():
            return True
        case ast.Call(ast.Attribute(ast.Name("np"), attr)):
            entry = registry.lookup(getattr(np, attr, None))
            return entry is not None and entry.view == "never"
        case _:
            return False
