"""What nobody reads is not computed: work of the forward sweep that only the value needed, and
what other passes left over."""

from __future__ import annotations

import ast
from itertools import pairwise

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform.fresh import is_fresh
from srcgrad.transform.loops.accesses import Function, does_something, summary


def dead(fn: Function) -> None:
    """`s += x[i]` goes where nobody reads s."""
    again = True
    while again:
        unread = _names(fn.node, ast.Store) - _names(fn.node, ast.Load) - _shared(fn.node)
        again = False
        for block in fn.blocks():
            again |= _cleared(fn, block, unread)
        vars(fn).pop("uses", None)  # it is of the function as it was


def _shared(fn: ast.FunctionDef) -> set[str]:
    """Names of what others may hold, too, so that adding to it in place is seen: the shadows that
    a reverse function is handed, views."""
    found = {a.arg for a in asts.walk(fn) if isinstance(a, ast.arg)}
    for node in asts.walk(fn):
        match node:
            case ast.Assign([ast.Name(name)], value) if not _is_own(value):
                found.add(name)
            case ast.Assign([ast.Tuple() as target]):
                found |= asts.names(target)
    return found


def _is_own(value: ast.expr) -> bool:
    return is_fresh(value) or isinstance(value, ast.Constant)


def _names(fn: ast.FunctionDef, context: type[ast.expr_context]) -> set[str]:
    """The names that are bound, or read for something other than their own next value."""
    found = asts.walk(fn)
    return {n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _cleared(fn: Function, block: list[ast.stmt], unread: set[str]) -> bool:
    """Drop from a block what binds names that are not read; whether there was any."""
    gone = [s for s in block if _is_dead(fn, s, unread)]
    gone += [s for s, after in pairwise(block) if isinstance(s, Comment) and _is_trial(after)]
    if not gone:
        return False
    block[:] = [s for s in block if s not in gone]
    if not any(map(does_something, block)):
        block.append(ast.Pass())
    return True


def _is_dead(fn: Function, s: ast.stmt, unread: set[str]) -> bool:
    if _is_trial(s):
        return True
    match s:
        case ast.Assign([ast.Name(name)]) | ast.AugAssign(ast.Name(name)) if name in unread:
            return summary([s]).plain or _is_allocation(s)
        case ast.Assign([ast.Name(name)]):
            return summary([s]).plain and not fn.live_after([name], s)
        case ast.For(ast.Name(), _, body, []) | ast.If(_, body, []):
            return not any(map(does_something, body)) and summary([s]).plain
    return False


def _is_trial(s: ast.stmt) -> bool:
    """Whether a statement only computes something for the errors that Python would raise; Numba
    raises none of them."""
    return isinstance(s, ast.Expr) and summary([ast.Assign([ast.Name("_")], s.value)]).plain


def _is_allocation(s: ast.stmt) -> bool:
    match s:
        case ast.Assign(_, ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros"))):
            return True
    return False


__all__ = ["dead"]
