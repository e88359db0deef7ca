"""A reverse loop ends where the cotangent that it carries has gone to its only taker.

The reverse of `for x in ...: if x > most: most = x` gives the cotangent of `most` to the last one
that was taken; the rounds before it have nothing left to give.  The cotangent is structurally
zero then, not by its value.
"""

from __future__ import annotations

import ast

from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.summaries import does_something
from srcgrad.transform.loops.facts.zero import adds_nothing


def stop(fn: Function) -> None:
    """`for ...: if b: a_bar[i] += z; z = 0.0` leaves the loop there."""
    for block in fn.blocks():
        for s in block:
            if isinstance(s, ast.For) and not s.orelse:
                _merge(s.body)
                last = _last(s.body)
                if isinstance(last, ast.If) and not last.orelse and _may_end(fn, s, last):
                    last.body.append(ast.Break())
                else:
                    _sink(fn, s)


def _merge(body: list[ast.stmt]) -> None:
    """`if b: P; if b: Q` becomes `if b: P; Q` where P leaves b as it is."""
    k = 1
    while k < len(body):
        match body[k - 1], body[k]:
            case ast.If(ast.Name(a), first, []), ast.If(ast.Name(b), second, []) if a == b:
                if not any(a in syn.names_bound(s) for s in first):
                    first.extend(second)
                    del body[k]
                    continue
        k += 1


def _sink(fn: Function, loop: ast.For) -> None:
    """`v = 0.0; if b: v += z; z = 0.0` and then `a_bar[i] += v`: the addition is made in the
    branch, which leaves the loop, if the loop may end there."""
    k = next((k for k, s in enumerate(loop.body) if isinstance(s, ast.If)), None)
    if k is None:
        return
    branch, rest = loop.body[k], loop.body[k + 1 :]
    assert isinstance(branch, ast.If)
    bound = {n for s in rest for n in fn.leaves.bound(s)}
    zero = {
        s.targets[0].id
        for s in loop.body[:k]
        if isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and syn.is_number(s.value, 0.0)
    }
    if branch.orelse or not zero or not adds_nothing(rest, zero) or fn.live_after(bound, loop):
        return
    if any(fn.uses.is_read_first(loop.body, n) for n in bound):
        return
    if sum(n in zero for s in loop.body[:k] for n in fn.leaves.bound(s)) != len(zero):
        return
    sunk = ast.If(branch.test, [*branch.body, *rest], [])
    loop.body[k:] = [sunk]
    if _may_end(fn, loop, sunk):
        sunk.body.append(ast.Break())
    else:
        loop.body[k:] = [branch, *rest]


def _last(body: list[ast.stmt]) -> ast.stmt | None:
    found = [s for s in body if does_something(s)]
    return found[-1] if found else None


def _may_end(fn: Function, loop: ast.For, last: ast.If) -> bool:
    """Whether, once the branch ran, the rounds that follow add only zeros."""
    got = fn.summary([loop])
    if not got.plain or not isinstance(loop.target, ast.Name):
        return False
    gone = {
        s.targets[0].id
        for s in last.body
        if isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and syn.is_number(s.value, 0.0)
    }
    carried = {
        n for n in gone if n in fn.leaves.names(loop) and fn.uses.is_read_first(loop.body, n)
    }
    if not carried or not adds_nothing(loop.body, carried, rounds=True):
        return False
    private = (got.assigned | {loop.target.id}) - carried
    return not fn.live_after(private, loop)


__all__ = ["stop"]
