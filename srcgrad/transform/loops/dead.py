"""What nobody reads is not computed: work of the forward sweep that only the value needed, and
what other passes left over."""

from __future__ import annotations

import ast
from itertools import pairwise

from srcgrad.ir.comments import Comment, Place
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.summaries import does_something


def dead(fn: Function) -> None:
    """`s += x[i]` goes where nobody reads s."""
    fn = fn.again()
    while fn.has_dead:
        unread, filled = _unread(fn), _only_filled(fn)
        again = False
        for block in fn.blocks():
            again |= _cleared(fn, block, unread, filled)
        fn.has_dead = again
        fn = fn.again()


def _unread(fn: Function) -> int:
    """The names that are bound, but read for nothing other than their own next value."""
    stores = loads = 0
    for leaf in fn.every_leaf:
        stores |= leaf.stores
        loads |= leaf.loads
    only = stores & ~loads
    return only & ~fn.leaves.some(_shared(fn)) if only else 0


def _only_filled(fn: Function) -> set[str]:
    """The arrays that are made here and stored to, and of which no element is read."""
    made = {leaf.made[0] for leaf in fn.assignments if leaf.made is not None}
    made = {name for name in made if fn.bindings[name] == 1}
    looked_at = 0
    for leaf in fn.every_leaf if made else ():
        looked_at |= leaf.looked_at
    return made - fn.leaves.names_of(looked_at & fn.leaves.some(made))


def _shared(fn: Function) -> set[str]:
    """Names of what others may hold, too, so that adding to it in place is seen: the shadows that
    a reverse function is handed, views."""
    return fn.arguments.union(*(leaf.given for leaf in fn.assignments))


def _cleared(fn: Function, block: list[ast.stmt], unread: int, filled: set[str]) -> bool:
    """Drop from a block what binds names that are not read; whether there was any."""
    gone = [s for s in block if s.__class__ is not Place and _is_dead(fn, s, unread, filled)]
    kept = _only_their_values(fn, block, unread, gone)
    if not gone:
        return kept
    gone += [s for s, after in pairwise(block) if isinstance(s, Comment) and _is_trial(fn, after)]
    block[:] = [s for s in block if s not in gone]
    if not any(map(does_something, block)):
        block.append(ast.Pass())
    return True


def _only_their_values(
    fn: Function, block: list[ast.stmt], unread: int, gone: list[ast.stmt]
) -> bool:
    """Additions to names that nobody reads whose values have to be computed all the same lose the
    names, as what they add to goes; whether there was any."""
    found = False
    for k, s in enumerate(block):
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) and s not in gone:
            if fn.leaves.bits[s.target.id] & unread:
                block[k], found = ast.copy_location(ast.Expr(s.value), s), True
    return found


def _is_dead(fn: Function, s: ast.stmt, unread: int, filled: set[str]) -> bool:
    if s.__class__ is ast.Assign or s.__class__ is ast.AugAssign:
        return _is_dead_store(fn, s, unread, filled)
    match s:
        case ast.Expr():
            return _is_trial(fn, s)
        case ast.For(ast.Name(), _, body, []) | ast.If(_, body, []):
            return not any(map(does_something, body)) and fn.is_plain([s])
    return False


def _is_dead_store(fn: Function, s: ast.stmt, unread: int, filled: set[str]) -> bool:
    """Whether nobody reads what an assignment or addition binds."""
    leaf = fn.leaves.of(s)
    match s:
        case ast.Assign([ast.Name(name)]):
            bit = fn.leaves.bits[name]
            if bit & unread:
                return leaf.summary.plain or _is_allocation(s)
            return not bit & fn.after(s) and leaf.summary.plain
        case ast.AugAssign(ast.Name(name)):
            return bool(fn.leaves.bits[name] & unread) and leaf.summary.plain
        case ast.Assign([ast.Subscript(ast.Name(name))]) | ast.AugAssign(
            ast.Subscript(ast.Name(name))
        ) if name in filled:
            return leaf.summary.plain
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
