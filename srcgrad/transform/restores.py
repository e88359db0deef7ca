"""Lists that the reverse sweep would bring back, and that nobody reads from there on.

The reverse of `out.append(v)` takes v off again, for what stood before it may read the list.
Where nothing does, it is left as it is:

    out.pop()                                  v_bar = out_bar.pop()
    v_bar = out_bar.pop()             ->       x_bar += v_bar
    x_bar += v_bar
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform import syntax as syn
from srcgrad.transform.silent import is_silent

_READERS = frozenset(("len", "sum", "max", "min", "sorted", "float", "tuple"))
_METHODS = frozenset(("append", "pop"))
_BLOCKS = frozenset(("body", "orelse", "finalbody", "handlers"))


def drop_restores(function: ast.FunctionDef) -> None:
    """Leave lists that only the restoring itself mentions as they are, in place."""
    reverse = _reverse(function)
    back = list(_all(reverse))
    restored = {name for s in back if (name := _restored(s)) is not None}
    begun: set[str] = set()  # those that are not what they were any more
    for s in reverse if restored else ():
        inner = list(_all([s]))
        begun |= {name for one in inner if (name := _restored(one)) is not None}
        for one in inner:
            if _restored(one) not in begun:
                restored -= _own_names(one) & begun
    if not restored:
        return
    ids = set(map(id, back))
    forward = getattr(function, "srcgrad_forward", None) or function
    restored = _alone([s for s in _all(forward.body) if id(s) not in ids], restored)
    for block in syn.blocks(function.body):
        kept = [s for s in block if id(s) not in ids or _restored(s) not in restored]
        if len(kept) < len(block):
            block[:] = kept or [ast.Pass()]


def _reverse(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of the reverse sweep."""
    body = function.body
    if getattr(function, "srcgrad_forward", None) is not None:
        return body[1:] if _takes_saved(body) else []
    for k, s in enumerate(body):
        if isinstance(s, Comment) and s.text == "---- reverse sweep ----":
            return body[k + 1 :]
    return []


def _takes_saved(body: list[ast.stmt]) -> bool:
    match body[0]:
        case ast.Assign([ast.Tuple()], ast.Name("saved")):
            return True
    return False


def _all(block: list[ast.stmt]) -> Iterable[ast.stmt]:
    return (s for inner in syn.blocks(block) for s in inner)


def _restored(s: ast.stmt) -> str | None:
    """The list that a statement takes the last item off, or puts one back into."""
    match s:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "pop"), [], [])):
            return name
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [value], [])):
            return name if is_silent(value, False) else None
    return None


def _own_parts(s: ast.stmt) -> list[ast.AST]:
    """The expressions of a statement, without those in its blocks."""
    parts = [v for f, v in ast.iter_fields(s) if f not in _BLOCKS]
    nodes = [n for v in parts for n in (v if isinstance(v, list) else [v])]
    return [n for n in nodes if isinstance(n, ast.AST)]


def _own_names(s: ast.stmt) -> set[str]:
    return {name for n in _own_parts(s) for name in asts.names(n)}


def _alone(forward: list[ast.stmt], names: set[str]) -> set[str]:
    """Those lists which the forward sweep makes itself and knows under one name alone."""
    made: set[str] = set()
    for s in forward:
        match s:
            case ast.Assign([ast.Name(name)], ast.List()):
                made.add(name)
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                pairs = zip(targets, values, strict=False)
                made |= {
                    t.id for t, v in pairs if isinstance(t, ast.Name) and isinstance(v, ast.List)
                }
    names = names & made
    for s in forward if names else ():
        names = names - _shared(s)
    return names


def _shared(s: ast.stmt) -> set[str]:
    """The names of the objects that a statement may hand on."""
    if isinstance(s, ast.Return) and isinstance(s.value, ast.Tuple) and s.value.elts:
        *parts, last = s.value.elts  # what the reverse function gets is last
        if isinstance(last, ast.Tuple):
            return {n for p in parts for n in asts.names(p)}
    return {n for node in _own_parts(s) for n in _handed(node)}


def _handed(node: ast.AST) -> list[str]:
    """Names in an expression that stand for whole objects which something may keep."""
    match node:
        case ast.Name(name, ast.Load()):
            return [name]
        case ast.Name():
            return []
        case ast.Call(ast.Attribute(ast.Name(_), method), args, []) if method in _METHODS:
            return [n for a in args for n in _handed(a)]
        case ast.Call(ast.Name(fn), args, []) if fn in _READERS:
            return [n for a in args if not isinstance(a, ast.Name) for n in _handed(a)]
        case ast.Call(ast.Attribute(ast.Name("np"), "array" | "asarray"), [ast.Name()], _):
            return []
        case ast.Subscript(ast.Name(), key):
            return _handed(key)
    return [n for inner in ast.iter_child_nodes(node) for n in _handed(inner)]


__all__ = ["drop_restores"]
