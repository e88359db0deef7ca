"""Does the result of a rule depend on the cotangent it is given?

A rule that returns `2 * x` for `g * 2 * x` breaks the chain rule, and nothing else shows it while
the rule is used once, at the end.  Decided from the syntax alone and with care: a rule is said to
ignore its cotangent only when nothing that it returns can depend on it, and something that it
returns is not zero.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from types import CodeType
from typing import Any

_Definition = ast.FunctionDef | ast.Lambda
_ZEROS = frozenset(("zeros", "zeros_like"))


def ignores_cotangent(fn: Any) -> bool:
    """Whether a rule `(g, out, *args)` surely returns something that `g` has no part in.

    >>> ignores_cotangent(lambda g, out, x: 2 * x)
    True
    >>> ignores_cotangent(lambda g, out, x: 0.0 * x)
    False
    """
    code = getattr(fn, "__code__", None)
    return isinstance(code, CodeType) and code.co_argcount > 0 and _of_code(code)


def gradient_ignores_cotangent(fn: Any) -> bool:
    """The same of the gradient function that a function decorated by `custom_gradient` returns."""
    code = getattr(fn, "__code__", None)
    return isinstance(code, CodeType) and _of_inner(code)


@lru_cache(maxsize=512)
def _of_code(code: CodeType) -> bool:
    found = _definitions(code)
    return bool(found) and all(_ignores(node) for node in found)


@lru_cache(maxsize=512)
def _of_inner(code: CodeType) -> bool:
    found = _definitions(code)
    return len(found) == 1 and any(_ignores(node) for node in _gradients(found[0]))


def _definitions(code: CodeType) -> list[_Definition]:
    """The definitions in the file that may be the one that compiled to a code object."""
    lines = linecache.getlines(code.co_filename)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return []
    kind = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    names = code.co_varnames[: code.co_argcount]
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, kind) and _first_line(node) == code.co_firstlineno
        if tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args)) == names
    ]


def _first_line(node: _Definition) -> int:
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno


def _gradients(node: _Definition) -> list[_Definition]:
    """The functions that stand second in the pairs that a function returns."""
    out: list[_Definition] = []
    inner = {n.name: n for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node}
    for value in _returned(node):
        if isinstance(value, ast.Tuple) and len(value.elts) == 2:
            second = value.elts[1]
            if isinstance(second, ast.Lambda):
                out.append(second)
            elif isinstance(second, ast.Name) and second.id in inner:
                out.append(inner[second.id])
    return out


def _returned(node: _Definition) -> list[ast.expr]:
    """What a function returns, nested functions left out."""
    if isinstance(node, ast.Lambda):
        return [node.body]
    out: list[ast.expr] = []
    todo: list[ast.AST] = list(node.body)
    while todo:
        part = todo.pop()
        if isinstance(part, ast.Return) and part.value is not None:
            out.append(part.value)
        if not isinstance(part, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            todo.extend(ast.iter_child_nodes(part))
    return out


def _ignores(node: _Definition) -> bool:
    args = [*node.args.posonlyargs, *node.args.args]
    if not args:
        return False
    tainted = _tainted(node, args[0].arg)
    returned = _returned(node)
    if tainted is None or any(_names(value) & tainted for value in returned):
        return False
    zeros = _zero_names(node)
    return any(not _is_zero(value, zeros) for value in returned)


def _tainted(node: _Definition, first: str) -> set[str] | None:
    """The names that may depend on the first parameter; None when that can't be told."""
    tainted = {first}
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    parts = [part for stmt in body for part in ast.walk(stmt)]
    while True:
        before = len(tainted)
        for part in parts:
            if not _names(part) & tainted:
                continue
            if isinstance(part, ast.If | ast.While | ast.IfExp | ast.Assert | ast.Match):
                test = getattr(part, "test", None) or getattr(part, "subject", None)
                if test is not None and _names(test) & tainted:
                    return None
            if isinstance(part, ast.Expr | ast.Try | ast.Raise):
                return None  # a call that may write into what is returned
            tainted |= _bound(part)
        if len(tainted) == before:
            return tainted


def _bound(part: ast.AST) -> set[str]:
    """The names that a statement which mentions the cotangent gives a value."""
    match part:
        case ast.Assign(targets=targets):
            return {n for t in targets for n in _names(t)}
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return _names(target)
        case ast.For(target=target) | ast.NamedExpr(target=target):
            return _names(target)
        case ast.comprehension(target=target):
            return _names(target)
        case ast.FunctionDef(name=name):
            return {name}
        case ast.withitem(optional_vars=ast.expr() as target):
            return _names(target)
        case _:
            return set()


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _zero_names(node: _Definition) -> set[str]:
    """Names whose every value is zero."""
    good: set[str] = set()
    bad: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and len(part.targets) == 1:
            target = part.targets[0]
            if isinstance(target, ast.Name) and _is_zero(part.value, set()):
                good.add(target.id)
                continue
        bad |= _bound(part)
    return good - bad


def _is_zero(node: ast.expr, zeros: set[str]) -> bool:
    match node:
        case ast.Constant(value):
            return value is None or (isinstance(value, int | float | complex) and value == 0)
        case ast.Name(name):
            return name in zeros
        case ast.Tuple(items) | ast.List(items):
            return all(_is_zero(i, zeros) for i in items)
        case ast.UnaryOp(ast.USub(), operand):
            return _is_zero(operand, zeros)
        case ast.BinOp(left, ast.Mult(), right):
            return _is_zero(left, zeros) or _is_zero(right, zeros)
        case ast.Call(ast.Attribute(attr=name) | ast.Name(name)):
            return name in _ZEROS
        case _:
            return False
