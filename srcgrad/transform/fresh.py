"""Which expressions of the generated text surely make a new array."""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.analysis.effects import may_hold_memory
from srcgrad.ir import asts
from srcgrad.ir import types as ty
from srcgrad.rules import registry
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import Module


def is_fresh(node: ast.expr) -> bool:
    """Whether an expression surely makes a new array or number, that nobody else holds.

    Example:
        >>> is_fresh(ast.parse("g * 2.0", mode="eval").body)
        True
        >>> is_fresh(ast.parse("g[1:]", mode="eval").body)
        False
        >>> is_fresh(ast.parse("(g * 2.0)[1:]", mode="eval").body)
        True
    """
    match node:
        case ast.BinOp() | ast.UnaryOp():
            return True
        case ast.Call(ast.Attribute(ast.Name("np"), attr)):
            entry = registry.lookup(getattr(np, attr, None))
            return entry is not None and entry.view == "never"
        case ast.Subscript(inner) | ast.Attribute(inner, "T"):
            return is_fresh(inner)  # a view of what has no name
        case _:
            return False


def parts_of(node: ast.expr) -> set[str]:
    """The variables whose memory the value of an expression may share.

    Example:
        >>> text = "np.reshape(u[1:].T, n) if c else v * 2.0"
        >>> sorted(parts_of(ast.parse(text, mode="eval").body))
        ['n', 'u']
    """
    if is_fresh(node):
        return set()
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Starred(value=value):
            return parts_of(value)
        case ast.IfExp(body=body, orelse=orelse):
            return parts_of(body) | parts_of(orelse)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return {n for item in items for n in parts_of(item)}
        case ast.Call(func=fn, args=args):
            return {n for part in (fn, *args) for n in parts_of(part)} - {"np", "support"}
        case _:
            return set()


def copied(module: Module, node: ast.expr, t: ty.Type) -> ast.expr:
    """A value in memory of its own, as text."""
    if not may_hold_memory(t):
        return node
    if isinstance(t, ty.Array):
        return ast.Call(ast.Attribute(node, "copy", ast.Load()), [], [])
    return module.support("own", node)


def holders(lines: list[ast.stmt], sources: set[str]) -> set[str]:
    """The variables whose values may share memory with those of some, anywhere in a text.

    Example:
        >>> sorted(holders(ast.parse("v = u[1:]; w = v + 1.0; t = v").body, {"u"}))
        ['t', 'u', 'v']
    """
    edges = [
        (syn.names_in(target), parts_of(node.value))
        for line in lines
        for node in asts.walk(line)
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    found: set[str] = set()
    more = set(sources)
    while more - found:
        found |= more
        more = {name for targets, parts in edges if parts & found for name in targets}
    return found
