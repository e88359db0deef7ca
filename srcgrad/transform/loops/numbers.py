"""Which names of a function surely hold numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.accesses import Function

_ELEMENTWISE = frozenset(("abs", "sqrt", "exp", "log", "sin", "cos", "tanh"))


def numbers(fn: Function) -> set[str]:
    """The names that hold a number wherever they are bound; a sum that starts as a number is one,
    for Numba lets no variable change its type.

    >>> text = "def f(a):\\n s = 0.0\\n t = s * 2.0\\n u = a\\n for i in range(3): s += a[i]"
    >>> sorted(numbers(Function(ast.parse(text).body[0])))
    ['i', 's', 't']
    """
    bound: dict[str, list[ast.expr | None]] = {}
    shapes = {
        s.targets[0].id
        for s in fn.statements
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and _is_shape(s.value)
    }
    for s in fn.statements:
        for name, value in _bindings(s, shapes):
            bound.setdefault(name, []).append(value)
    for leaf in fn.leaves.of_block(fn.node.body):
        for name in leaf.named:
            bound.setdefault(name, []).append(None)
    found = set(bound) - fn.arguments
    while True:
        kept = {n for n in found if all(v is not None and _is(fn, v, found) for v in bound[n])}
        if kept == found:
            return found
        found = kept


def _is_shape(e: ast.expr) -> bool:
    return isinstance(e, ast.Attribute) and e.attr == "shape"


def _bindings(s: ast.stmt, shapes: set[str]) -> Iterator[tuple[str, ast.expr | None]]:
    match s:
        case ast.Assign([ast.Name(name)], value):
            yield name, value
        case ast.For(ast.Name(name), ast.Call(ast.Name("range"))):
            yield name, ast.Constant(0)
        case ast.Assign([ast.Tuple(names)], ast.Name(shape)) if shape in shapes:
            for n in names:
                if isinstance(n, ast.Name):
                    yield n.id, ast.Constant(0)
        case ast.Assign(targets):
            for t in targets:
                for name in syn.names_bound(t):
                    yield name, None
        case ast.For(target):
            for name in syn.names_bound(target):
                yield name, None


def _is(fn: Function, e: ast.expr, known: set[str]) -> bool:
    match e:
        case ast.Constant(value):
            return isinstance(value, int | float)
        case ast.Name(name):
            return name in known
        case ast.BinOp(left, _, right):
            return _is(fn, left, known) and _is(fn, right, known)
        case ast.UnaryOp(_, operand):
            return _is(fn, operand, known)
        case ast.Compare() | ast.Call(ast.Name("len" | "float" | "int")):
            return True
        case ast.Call(ast.Attribute(ast.Name("math"), _)):
            return True
        case ast.Call(ast.Attribute(ast.Name("np"), name), [inner], []) if name in _ELEMENTWISE:
            return _is(fn, inner, known)
        case ast.Subscript(ast.Attribute(_, "shape"), _):
            return True
        case ast.Subscript(ast.Name(array), key):
            return fn.is_number(array, key)
        case ast.Attribute(ast.Name("np" | "math"), "inf" | "pi" | "nan" | "e"):
            return True
    return False


__all__ = ["numbers"]
