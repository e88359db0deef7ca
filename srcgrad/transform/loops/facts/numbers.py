"""Which names of a function surely hold numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function

_ELEMENTWISE = frozenset(("abs", "sqrt", "exp", "log", "sin", "cos", "tanh"))


def numbers(fn: Function) -> set[str]:
    """The names that hold a number wherever they are bound; a sum that starts as a number is one,
    for Numba lets no variable change its type.

    >>> text = "def f(a):\\n s = 0.0\\n t = s * 2.0\\n u = a\\n for i in range(3): s += a[i]"
    >>> sorted(numbers(Function(ast.parse(text).body[0])))
    ['i', 's', 't']
    """
    if fn.numbers is None:
        fn.numbers = _found(fn)
    return fn.numbers


def _found(fn: Function) -> set[str]:
    bound: dict[str, list[ast.expr | None]] = {}
    shapes = {
        s.targets[0].id
        for s in fn.statements
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and _is_shape(s.value)
    }
    for s in fn.statements:
        for name, value in _bindings(s, shapes):
            bound.setdefault(name, []).append(value)
    for leaf in fn.every_leaf:
        for name in leaf.named:
            bound.setdefault(name, []).append(None)
    return _closed(fn, bound)


def _closed(fn: Function, bound: dict[str, list[ast.expr | None]]) -> set[str]:
    """The names all of whose values are numbers if other such names are: who needs one that is
    none is none."""
    found = set(bound) - fn.arguments
    users: dict[str, list[str]] = {}
    none: list[str] = []
    for name in found:
        for value in bound[name]:
            needs = None if value is None else _needs(fn, value)
            if needs is None:
                none.append(name)
                break
            for other in needs:
                if other in found:
                    users.setdefault(other, []).append(name)
                else:
                    none.append(name)
    while none:
        name = none.pop()
        if name in found:
            found.remove(name)
            none += users.get(name, ())
    return found


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


def _needs(fn: Function, e: ast.expr) -> tuple[str, ...] | None:
    """The names that have to hold numbers for an expression to be one; None where it isn't."""
    match e:
        case ast.Constant(value):
            return () if isinstance(value, int | float) else None
        case ast.Name(name):
            return (name,)
        case ast.BinOp(left, _, right):
            one, other = _needs(fn, left), _needs(fn, right)
            return None if one is None or other is None else one + other
        case ast.UnaryOp(_, operand):
            return _needs(fn, operand)
        case ast.Compare() | ast.Call(ast.Name("len" | "float" | "int")):
            return ()
        case ast.Call(ast.Attribute(ast.Name("math"), _)):
            return ()
        case ast.Call(ast.Attribute(ast.Name("np"), name), [inner], []) if name in _ELEMENTWISE:
            return _needs(fn, inner)
        case ast.Subscript(ast.Attribute(_, "shape"), _):
            return ()
        case ast.Subscript(ast.Name(array), key):
            return () if fn.is_number(array, key) else None
        case ast.Attribute(ast.Name("np" | "math"), "inf" | "pi" | "nan" | "e"):
            return ()
    return None


__all__ = ["numbers"]
