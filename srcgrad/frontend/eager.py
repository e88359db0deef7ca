"""Generators and iterators where Python runs them at once: unpacking, and starred items.

a, b = map(f, [x, y])             ->  a, b = f(x), f(y)
a, b = (g(v) for v in (x, y))     ->  a, b = g(x), g(y)
a, *b = map(f, xs)                ->  a, *b = list(map(f, xs))
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from srcgrad.frontend.resolve import builtin, callee
from srcgrad.frontend.scope import Scope, ref

_ITERATORS = (map, filter, reversed, zip, enumerate)
_OWN_NAMES = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr,
)  # fmt: skip


def eager(scope: Scope, node: ast.expr) -> ast.expr:
    """What an expression is when all of its items are taken where it stands."""
    items = _items(scope, node)
    if items is not None:
        made = ast.Tuple([ast.copy_location(i, node) for i in items], ast.Load())
        return ast.copy_location(made, node)
    if isinstance(node, ast.GeneratorExp):
        return ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    if isinstance(node, ast.Call) and _is_one_of(callee(scope, node.func), _ITERATORS):
        return ast.copy_location(ast.Call(ref(builtin("list"), node), [node], []), node)
    return node


def _items(scope: Scope, node: ast.expr) -> list[ast.expr] | None:
    """The items themselves, where they are as many as a display of plain names has."""
    match node:
        case ast.ListComp(elt, [loop]) | ast.GeneratorExp(elt, [loop]):
            return _substituted(elt, loop)
        case ast.Call(args=[inner], keywords=[]):
            if _is_one_of(callee(scope, node.func), (list, tuple)):
                return _items(scope, inner)
        case ast.Call(args=[function, *displays], keywords=[]) if displays:
            if callee(scope, node.func) is map and all(map(_is_plain_display, displays)):
                rows = zip(*(d.elts for d in displays), strict=False)  # type: ignore[attr-defined]
                return [ast.Call(function, list(row), []) for row in rows]
    return None


def _substituted(elt: ast.expr, loop: ast.comprehension) -> list[ast.expr] | None:
    if loop.ifs or not isinstance(loop.target, ast.Name) or not _is_plain_display(loop.iter):
        return None
    if loop.is_async or any(isinstance(part, _OWN_NAMES) for part in ast.walk(elt)):
        return None
    assert isinstance(loop.iter, ast.Tuple | ast.List)
    return [_Put({loop.target.id: item}).visit(copy.deepcopy(elt)) for item in loop.iter.elts]


class _Put(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.values.get(node.id)
        return node if found is None else ast.copy_location(copy.copy(found), node)


def _is_plain_display(node: ast.expr) -> bool:
    if not isinstance(node, ast.Tuple | ast.List):
        return False
    return all(isinstance(e, ast.Name | ast.Constant) for e in node.elts)


def _is_one_of(found: object, several: tuple[object, ...]) -> bool:
    return any(found is one for one in several)
