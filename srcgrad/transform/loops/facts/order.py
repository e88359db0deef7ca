"""Whether the iterations of a loop may run in another order."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import plus_one
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.outline import statements
from srcgrad.transform.loops.facts.summaries import Access, Summary

_LOOPS = (ast.For, ast.While)


def plain_number(e: ast.expr) -> ast.expr:
    match e:
        case ast.UnaryOp(ast.USub(), ast.Constant(int(k))):
            return ast.Constant(-k)
    return e


def descends(s: ast.For) -> bool:
    match s:
        case ast.For(ast.Name(), ast.Call(ast.Name("range"), [_, _, step], []), _, []):
            return syn.is_number(plain_number(step), -1)
    return False


def is_innermost(loop: ast.For) -> bool:
    """Whether a loop has no loop in it."""
    return not any(s.__class__ in _LOOPS for s in statements(loop.body))


def runs(loop: ast.For) -> ast.expr:
    """Whether a loop has an iteration: without one the place need not be in the array."""
    args = [asts.copied(a) for a in loop.iter.args]  # type: ignore[attr-defined]
    if len(args) == 1:
        return ast.Compare(args[0], [ast.Gt()], [ast.Constant(0)])
    if len(args) == 2:
        return ast.Compare(args[0], [ast.Lt()], [args[1]])
    return ast.Compare(args[0], [ast.Gt()], [args[1]])


def same_range(ahead: ast.For, backward: ast.For) -> bool:
    """Whether a loop runs through what another one counts up, backwards."""
    match ahead, backward:
        case (
            ast.For(ast.Name(a), ast.Call(ast.Name("range"), [*low, stop], []), _, []),
            ast.For(ast.Name(b), ast.Call(ast.Name("range"), [high, last, _], []), _, []),
        ) if a == b and len(low) < 2 and descends(backward):
            start = low[0] if low else ast.Constant(0)
            begins = asts.same(plus_one(plain_number(last)), start)
            return begins and asts.same(plus_one(high), stop)
    return False


def commutes(fn: Function, loop: ast.For) -> bool:
    """Whether the iterations of a loop may run in any order."""
    got = fn.summary(loop.body)
    if not got.plain or not isinstance(loop.target, ast.Name):
        return False
    counter = loop.target.id
    if counter in got.assigned or counter in got.added or fn.live_after([counter], loop):
        return False
    return _numbers_commute(fn, loop, got) and _arrays_commute(fn, loop, got)


def _numbers_commute(fn: Function, loop: ast.For, got: Summary) -> bool:
    touched = {fn.root(a.array) for a in got.accesses}
    if any(fn.root(n) in touched for n in got.added | got.assigned):
        return False  # the name of an array that is changed in other ways, too
    for name in got.added - got.assigned:
        if name in got.read:
            return False
    if fn.live_after(got.assigned, loop):
        return False
    first = fn.uses.in_block(loop.body)
    return not (first.reads | first.unsure) & fn.uses.some(got.assigned)


def _arrays_commute(fn: Function, loop: ast.For, got: Summary) -> bool:
    assert isinstance(loop.target, ast.Name)
    counter = loop.target.id
    classes: dict[str, list[Access]] = {}
    for a in got.accesses:
        if a.array in got.assigned:
            return False  # another array in each iteration
        classes.setdefault(fn.root(a.array), []).append(a)
    for uses in classes.values():
        kinds = {a.kind for a in uses}
        if kinds <= {"read"} or kinds <= {"add"}:
            continue
        if not apart(uses, counter) or not never_negative(fn, loop):
            return False
    return True


def never_negative(fn: Function, loop: ast.For) -> bool:
    """Whether a counter stays away from indices that count from the end."""
    match loop.iter:
        case ast.Call(ast.Name("range"), [_], []):
            return True
        case ast.Call(ast.Name("range"), [start, _], []):
            return _not_negative(fn, loop, start)
        case ast.Call(ast.Name("range"), [_, low, _], []):
            return _not_negative(fn, loop, plus_one(plain_number(low)))
    return False


def _not_negative(fn: Function, loop: ast.stmt, e: ast.expr) -> bool:
    match e:
        case ast.Constant(int(k)):
            return k >= 0
        case ast.BinOp(left, ast.Add(), right):
            return _not_negative(fn, loop, left) and _not_negative(fn, loop, right)
        case ast.Name(name):
            for s in fn.owners(loop):
                if (
                    isinstance(s, ast.For)
                    and isinstance(s.target, ast.Name)
                    and s.target.id == name
                ):
                    return never_negative(fn, s)
    return False


def apart(uses: list[Access], counter: str) -> bool:
    """Whether different iterations use different elements: the counter is an index in each."""
    if len({a.array for a in uses}) > 1:
        return False
    items = [a.key.elts if isinstance(a.key, ast.Tuple) else [a.key] for a in uses]
    for p in range(min(map(len, items))):
        first = items[0][p]
        if _is_counter(first, counter) and all(asts.same(k[p], first) for k in items[1:]):
            return True
    return False


def _is_counter(e: ast.expr, counter: str) -> bool:
    match e:
        case ast.Name(n):
            return n == counter
        case ast.BinOp(ast.Name(n), ast.Add(), ast.Constant(int())):
            return n == counter
    return False
