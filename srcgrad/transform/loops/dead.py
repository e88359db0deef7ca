"""What nobody reads is not computed: work of the forward sweep that only the value needed, and
what other passes left over."""

from __future__ import annotations

import ast
from itertools import pairwise

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform.fresh import is_fresh
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.summaries import does_something


def dead(fn: Function) -> None:
    """`s += x[i]` goes where nobody reads s."""
    again = True
    while again:
        fn = fn.again()
        unread, filled = _unread(fn), _only_filled(fn)
        again = False
        for block in fn.blocks():
            again |= _cleared(fn, block, unread, filled)


def _unread(fn: Function) -> set[str]:
    """The names that are bound, but read for nothing other than their own next value."""
    stores = loads = 0
    for leaf in fn.every_leaf:
        stores |= leaf.stores
        loads |= leaf.loads
    only = stores & ~loads & ~fn.leaves.some(_shared(fn)) if stores & ~loads else 0
    return fn.leaves.names_of(only)


def _only_filled(fn: Function) -> set[str]:
    """The arrays that are made here and stored to, and of which no element is read."""
    made = {leaf.made[0] for leaf in fn.assignments if leaf.made is not None}
    made = {name for name in made if fn.bindings[name] == 1}
    for leaf in fn.every_leaf if made else ():
        for name in leaf.contents & made:
            match leaf.node:
                case ast.Assign([ast.Name(bound)]) if bound == name:
                    continue
                case ast.Assign([ast.Subscript(ast.Name(stored))]) | ast.AugAssign(
                    ast.Subscript(ast.Name(stored))
                ) if stored == name:
                    if sum(isinstance(n, ast.Name) and n.id == name for n in leaf.nodes) == 1:
                        continue
            made.discard(name)
    return made


def _shared(fn: Function) -> set[str]:
    """Names of what others may hold, too, so that adding to it in place is seen: the shadows that
    a reverse function is handed, views."""
    found = set(fn.arguments)
    for node in fn.statements:
        match node:
            case ast.Assign([ast.Name(name)], value) if not _is_own(value):
                found.add(name)
            case ast.Assign([ast.Tuple() as target]):
                found |= asts.names(target)
    return found


def _is_own(value: ast.expr) -> bool:
    return is_fresh(value) or isinstance(value, ast.Constant)


def _cleared(fn: Function, block: list[ast.stmt], unread: set[str], filled: set[str]) -> bool:
    """Drop from a block what binds names that are not read; whether there was any."""
    gone = [s for s in block if _is_dead(fn, s, unread, filled)]
    gone += [s for s, after in pairwise(block) if isinstance(s, Comment) and _is_trial(fn, after)]
    if not gone:
        return False
    block[:] = [s for s in block if s not in gone]
    if not any(map(does_something, block)):
        block.append(ast.Pass())
    return True


def _is_dead(fn: Function, s: ast.stmt, unread: set[str], filled: set[str]) -> bool:
    if _is_trial(fn, s):
        return True
    match s:
        case ast.Assign([ast.Name(name)]) | ast.AugAssign(ast.Name(name)) if name in unread:
            return fn.is_plain([s]) or _is_allocation(s)
        case ast.Assign([ast.Subscript(ast.Name(name))]) | ast.AugAssign(
            ast.Subscript(ast.Name(name))
        ) if name in filled:
            return fn.is_plain([s])
        case ast.Assign([ast.Name(name)]):
            return not fn.live_after([name], s) and fn.is_plain([s])
        case ast.For(ast.Name(), _, body, []) | ast.If(_, body, []):
            return not any(map(does_something, body)) and fn.is_plain([s])
    return False


def _is_trial(fn: Function, s: ast.stmt) -> bool:
    """Whether a statement only computes something for the errors that Python would raise; Numba
    raises none of them."""
    return isinstance(s, ast.Expr) and fn.leaves.of(s.value).summary.plain


def _is_allocation(s: ast.stmt) -> bool:
    match s:
        case ast.Assign(_, ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros"))):
            return True
    return False


__all__ = ["dead"]
