"""A shadow that nobody reads any more is handed on, not copied."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform.fresh import parts_of

_ADDS = frozenset(("np.add.at", "support.item_add"))  # write into an argument and forget it


def hand_over(function: ast.FunctionDef) -> None:
    """`a_bar = u_bar.copy()` becomes `a_bar = u_bar` where u_bar is used no more; in place.

    Example:
        >>> text = "def f(n, g):\\n u_bar = np.zeros(n)\\n u_bar[0] += g\\n a_bar = u_bar.copy()"
        >>> fn = ast.parse(text).body[0]
        >>> hand_over(fn)
        >>> print(ast.unparse(fn.body[-1]))
        a_bar = u_bar
    """
    body = function.body
    for k, s in enumerate(body):
        match s:
            case ast.Assign([ast.Name()], ast.Call(ast.Attribute(ast.Name(u), "copy"), [], [])):
                last = not any(u in asts.names(later) for later in body[k + 1 :])
                if last and _is_own(function, u, s):
                    s.value = ast.Name(u, ast.Load())


def _is_own(function: ast.FunctionDef, name: str, copied: ast.stmt) -> bool:
    """Whether a name is bound once, at the top, to zeros that no other name shares."""
    made = 0
    for s in asts.walk(function):
        match s:
            case ast.arg(other) if other == name:
                return False
            case ast.Assign(targets, value):
                if s is not copied and name in _shared(value):
                    return False
                if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                    made += 1
                    if s not in function.body or not _is_zeros(value):
                        return False
            case ast.Call(func, args, keywords) if ast.unparse(func) not in _ADDS:
                given = [*args, *(k.value for k in keywords)]
                if any(isinstance(a, ast.Name) and a.id == name for a in given):
                    return False
            case ast.Return(ast.expr() as value) if name in parts_of(value):
                return False
            case ast.For(target) | ast.NamedExpr(target) if name in asts.names(target):
                return False
            case ast.With() | ast.Try() | ast.FunctionDef() if s is not function:
                if name in asts.names(s):
                    return False
    return made == 1


def _shared(value: ast.expr) -> set[str]:
    """The names whose memory a value may share."""
    match value:
        case ast.Call(ast.Attribute(_, "copy"), [], []):
            return set()
    return parts_of(value)


def _is_zeros(value: ast.expr) -> bool:
    match value:
        case ast.Call(ast.Attribute(ast.Name("np"), "zeros" | "zeros_like")):
            return True
    return False
