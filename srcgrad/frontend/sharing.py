"""Which variables may share memory, as far as the text of a function says it.

A view, an item of a list or a closure can be written through under another name than the array's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from srcgrad.frontend.bindings import names_in
from srcgrad.frontend.purity import is_pure, is_pure_function
from srcgrad.frontend.resolve import fold
from srcgrad.frontend.scope import Scope
from srcgrad.rules import registry

_NUMBERS = (abs, bool, complex, divmod, float, int, len, pow, range, round, str)


def reaches(scope: Scope, names: Iterable[str]) -> frozenset[str]:
    """The variables of a function that may share memory with one of these, and these."""
    found = set(names)
    groups = [g for g in _groups(scope) if len(g) > 1]
    while True:
        hit = [g for g in groups if g & found]
        if not hit:
            return frozenset(found)
        found.update(*hit)
        groups = [g for g in groups if not g & found]


def _groups(scope: Scope) -> Iterator[frozenset[str]]:
    """Variables that one statement of the function may let share memory."""
    outer = scope
    while outer.parent is not None:
        outer = outer.parent
    nodes = list(ast.walk(outer.node))
    params = {n.arg for n in nodes if isinstance(n, ast.arg)}
    local = params.union(*map(_bound, nodes))
    yield frozenset(params)  # a caller may pass one array twice
    for node in nodes:
        if node is not outer.node:
            yield frozenset(_shared(scope, node)) & local


def _bound(node: ast.AST) -> frozenset[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.FunctionDef(name=name):
            return frozenset([name])
        case _:
            return frozenset()


def _shared(scope: Scope, node: ast.AST) -> frozenset[str]:
    match node:
        case ast.Assign(targets=targets, value=value):
            return names_in(*targets) | _held(scope, value)
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            return names_in(target) | _held(scope, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return names_in(target) | _held(scope, value)
        case ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items):
            return names_in(target) | _held(scope, items)
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            return names_in(target) | _held(scope, value)
        case ast.FunctionDef(name=name):
            return names_in(node) | {name}
        case ast.Call() if not is_pure(scope, node):  # it may keep one in another
            return names_in(node)
        case _:
            return frozenset()


def _held(scope: Scope, node: ast.AST) -> frozenset[str]:
    """The variables whose memory the value of an expression may be, or hold."""
    match node:
        case ast.Name(id=name):
            return frozenset([name])
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
            return _held(scope, value)
        case ast.BinOp(op=ast.Add(), left=left, right=right):  # of two lists
            return _held(scope, left) | _held(scope, right)
        case ast.Call() if _is_fresh(scope, node):
            return frozenset()
        case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Constant() | ast.JoinedStr():
            return frozenset()
        case _:
            return names_in(node)


def _is_fresh(scope: Scope, node: ast.Call) -> bool:
    """Whether a call surely gives a number or an array of its own."""
    found = fold(scope, node.func)
    if found is None or not is_pure_function(found.value) or not is_pure(scope, node):
        return False
    entry = registry.lookup(found.value)
    if entry is None:
        return found.value in _NUMBERS or getattr(found.value, "__module__", "") == "math"
    return entry.view == "never" and not entry.of_parts
