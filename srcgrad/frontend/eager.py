"""Generators and iterators where Python runs them at once: unpacking, and starred items."""

from __future__ import annotations

import ast

from srcgrad.frontend.resolve import builtin, callee
from srcgrad.frontend.scope import Scope, ref

_ITERATORS = (map, filter, reversed, zip, enumerate)


def eager(scope: Scope, node: ast.expr) -> ast.expr:
    """Where Python runs a generator or an iterator at once, it is a list; `map(f, [x, y])` is the
    tuple `f(x), f(y)`."""
    if isinstance(node, ast.GeneratorExp):
        return ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    called = callee(scope, node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or all(called is not made for made in _ITERATORS):
        return node
    function, *items = node.args if called is map else (None,)
    if function is not None and items and not node.keywords and all(map(_is_plain_display, items)):
        rows = zip(*(i.elts for i in items), strict=False)  # type: ignore[attr-defined]
        calls: list[ast.expr] = [ast.Call(function, list(row), []) for row in rows]
        made = ast.Tuple([ast.copy_location(c, node) for c in calls], ast.Load())
        return ast.copy_location(made, node)
    return ast.copy_location(ast.Call(ref(builtin("list"), node), [node], []), node)


def _is_plain_display(node: ast.expr) -> bool:
    if not isinstance(node, ast.Tuple | ast.List):
        return False
    return all(isinstance(e, ast.Name | ast.Constant) for e in node.elts)
