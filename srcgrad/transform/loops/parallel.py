"""Loops that the user runs in parallel run in parallel in both sweeps, where that is right.

That is where the rounds of a loop store to different elements: the counter is an index of each
store.  Sums are taken in a variable of each round, which is added to the whole at its end.
"""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.numbers import numbers
from srcgrad.transform.loops.facts.order import apart, descends, never_negative
from srcgrad.transform.loops.facts.summaries import Access


def parallel(fn: Function) -> None:
    """`for i in range(n)` of a `prange` loop becomes `prange` again, or a comment says why not."""
    if not any(_is_on(k) for d in fn.node.decorator_list for k in getattr(d, "keywords", ())):
        return
    for block in list(fn.blocks()):
        for s in [s for s in block if getattr(s, "srcgrad_parallel", False)]:
            assert isinstance(s, ast.For)
            if any(getattr(o, "srcgrad_parallel", False) for o in fn.owners(s)):
                continue
            why = _obstacle(fn, s)
            if why:
                block.insert(block.index(s), Comment(f"In order: {why}."))
            else:
                _run_in_parallel(fn, s)
                fn = fn.again()


def _is_on(k: ast.keyword) -> bool:
    off = isinstance(k.value, ast.Constant) and not k.value.value
    return k.arg == "parallel" and not off


def _obstacle(fn: Function, loop: ast.For) -> str:
    """Why the rounds of a loop can't run at once; nothing when they can."""
    got = fn.summary(loop.body)
    if not got.plain or not isinstance(loop.target, ast.Name):
        return "it does more than store numbers"
    if descends(loop):
        return "a round needs what another one leaves"
    counter = loop.target.id
    carried = got.added - got.assigned
    if carried & got.read or not carried <= numbers(fn):
        return f"a round reads {', '.join(sorted(carried & got.read)) or 'a sum'} of another"
    first = fn.uses.in_block(loop.body)
    shared = [n for n in sorted(got.assigned) if (first.reads | first.unsure) & fn.uses.some([n])]
    if shared or fn.live_after(got.assigned | {counter}, loop):
        return f"a round needs {', '.join(shared) or 'what another one leaves'} of another"
    arrays: dict[str, list[Access]] = {}
    for a in got.accesses:
        arrays.setdefault(fn.root(a.array), []).append(a)
    for uses in arrays.values():
        if all(a.kind == "read" for a in uses):
            continue
        if not apart(uses, counter) or not never_negative(fn, loop):
            return f"rounds store to the same elements of {uses[0].array}"
    return ""


def _run_in_parallel(fn: Function, loop: ast.For) -> None:
    got = fn.summary(loop.body)
    assert isinstance(loop.iter, ast.Call)
    loop.iter = ast.Call(syn.name("prange"), loop.iter.args, [])
    for total in sorted(got.added - got.assigned):
        part = fn.fresh(f"{total}_part")
        if total in fn.adjoints:
            fn.adjoints.add(part)
        for s in asts.walk(loop):
            if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
                if s.target.id == total:
                    s.target = ast.Name(part, ast.Store())
                    fn.leaves.forget(s)
        loop.body.insert(0, syn.assign(part, ast.Constant(0.0)))
        loop.body.append(ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), syn.name(part)))


__all__ = ["parallel"]
