"""Checkpointed loops: snapshots of the state instead of tapes.

The forward sweep runs the loop without recording, keeps snapshots where the schedule says so
(`runtime/support/revolve.py`), and records its last iteration only.  The reverse sweep goes back
through each iteration after having run it again, from the latest snapshot before it:

    for t in sg.checkpointed(range(n), snapshots=4):
        u = step(u)

    snapshots = [(0, u)]                              # forward sweep
    keep = support.next_snapshot(0, n, 3)
    for t in range(n - 1):
        if t == keep:
            snapshots.append((t, u))
            keep = support.next_snapshot(t, n, 4 - len(snapshots))
        u = step(u)
    if n > 0:
        ...                                           # the last iteration, recorded
    for t in range(n - 1, -1, -1):                    # reverse sweep
        if t < n - 1:
            ...                                       # from the latest snapshot to t, as above
            ...                                       # iteration t, recorded
        ...                                           # its reverse
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from srcgrad.analysis.record.checkpoint import Kept
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.checkpoint_loop import Block, Loop

# ---- the forward sweep ---------------------------------------------------------------------


def forward(loop: Loop) -> Block:
    """The loop in the forward sweep: iterations without recording, then the last one."""
    text, stmt = loop.text, loop.stmt
    bounds = loop.bounds(text.atom)
    out = [*text.flush(stmt, force=True), *bounds]
    target = text.var(stmt.target.name)
    index = target if loop.counts else loop.name("step")
    for k, var, bar in loop.entered():
        out.append(syn.assign(var, syn.name(loop.var(k))))
        if bar is not None:
            out.append(syn.assign(bar, syn.name(loop.bar(k))))
    first = ast.List([loop.snapshot(syn.number(0))], ast.Load())
    out += [*loop.apart(), syn.assign(loop.name("snapshots"), first)]
    out.append(loop.next(syn.number(0), loop.get("steps")))
    body = [*loop.sets_target(syn.name(index)), *loop.again.plain(stmt.body, False)]
    out += loop.advance(index, syn.call("range", loop.last), loop.get("steps"), body)
    out += loop.fresh_shadows()
    last: Block = [] if target == "_" else [syn.assign(target, loop.position(loop.last))]
    last += once(loop.again.taped(stmt.body, False))
    out.append(ast.If(syn.expr("n > 0", n=loop.get("steps")), last, []))
    if loop.is_repeated:
        out.append(loop.slots.put(loop.tape(), loop.held(), True))
    return out


def once(body: Block) -> Block:
    """One iteration; a `continue` in it needs a loop to continue."""
    if not any(isinstance(n, ast.Continue) for s in body for n in _own_level(s)):
        return body
    return [ast.For(ast.Name("_", ast.Store()), syn.call("range", syn.number(1)), body, [])]


def _own_level(stmt: ast.stmt) -> list[ast.AST]:
    """The nodes of a statement outside its inner loops."""
    out: list[ast.AST] = []
    todo: list[ast.AST] = [stmt]
    while todo:
        node = todo.pop()
        out.append(node)
        if not isinstance(node, ast.For | ast.While):
            todo += ast.iter_child_nodes(node)
    return out


# ---- the reverse sweep ---------------------------------------------------------------------


def reverse(loop: Loop, print_atom: Callable[[ir.Atom], ast.expr], body: Block) -> Block:
    """The loop in the reverse sweep: each iteration run again, then gone back through."""
    text, stmt = loop.text, loop.stmt
    out: Block = []
    if loop.is_repeated:
        out.append(syn.assign(loop.held(), loop.slots.get(loop.tape(), True)))
    out += loop.bounds(print_atom)
    target = text.var(stmt.target.name)
    here = target if loop.counts else loop.name("step")
    again = loop.name(f"{target}_again" if loop.counts else "step_again")
    outer = dict(text.printed)
    if loop.counts:
        text.printed[stmt.target.name] = again
    steps = [*loop.sets_target(syn.name(again)), *loop.again.plain(stmt.body, True)]
    text.printed = outer
    set_ = loop.sets_target(syn.name(here))
    more = [*_again(loop, here, again, steps), *set_, *_recorded(loop)]
    test = syn.expr("i < n", i=syn.name(here), n=loop.last)
    inner = [ast.If(test, more, []), *loop.sets_target(syn.name(here)), *body]
    rng = syn.call("range", loop.last, syn.number(-1), syn.number(-1))
    out.append(ast.For(ast.Name(here, ast.Store()), rng, inner, []))
    return out + _at_entry(loop)


def _again(loop: Loop, here: str, again: str, steps: Block) -> Block:
    """From the latest snapshot to the state before this iteration."""
    snapshots, start = syn.name(loop.name("snapshots")), syn.name(loop.name("start"))
    late = syn.expr("s[-1][0] > i", s=snapshots, i=syn.name(here))
    stop = syn.expr("i + 1", i=syn.name(here))
    out: Block = [
        syn.Comment("the state before this iteration, from the latest snapshot on"),
        ast.If(late, [ast.Expr(syn.expr("s.pop()", s=snapshots))], []),
    ]
    for k in loop.objects:
        if loop.is_tracked(k):
            out.append(syn.assign(loop.name(f"{loop.bar(k)}_after"), syn.name(loop.bar(k))))
    out += loop.back()
    out.append(loop.next(start, stop))
    rng = syn.call("range", start, syn.name(here))
    return out + loop.advance(again, rng, stop, steps)


def _recorded(loop: Loop) -> Block:
    """The iteration with its records; what its result collected goes to the new shadows."""
    out = [*loop.fresh_shadows(), *once(loop.again.taped(loop.stmt.body, True))]
    for k in loop.objects:
        if loop.is_tracked(k):
            after = syn.name(loop.name(f"{loop.bar(k)}_after"))
            out.append(loop.collected(k, syn.name(loop.bar(k)), after))
    return out


def _at_entry(loop: Loop) -> Block:
    """What the statements before the loop read as they left it."""
    out: Block = []
    rewound = loop.found.rewound.get(loop.stmt.sid, set())
    entered = {k.name: (var, bar) for k, var, bar in loop.entered()}
    for j, k in enumerate(loop.kept, 1):
        var, bar = entered.get(k.name, (loop.var(k), None))
        if k.written and loop.found.unit.fx.root(k.name) in rewound:
            place = syn.expr("s[0][j]", s=syn.name(loop.name("snapshots")), j=syn.number(j))
            in_place = Kept(k.name, "contents", True, k.is_array)
            out.append(loop.put(in_place, syn.name(var), place))
        if bar is not None:
            out.append(loop.collected(k, syn.name(bar), syn.name(loop.bar(k))))
            out += _rebinds(loop, k, var, bar)
    rebound = {k.name for k in loop.rebound}
    for k, var, bar in loop.entered():
        if bar is not None and k.name in rebound:
            out += _rebinds(loop, k, var, bar)
    return out


def _rebinds(loop: Loop, k: Kept, var: str, bar: str) -> Block:
    """A variable and its shadow as they were before the loop."""
    return [syn.assign(loop.var(k), syn.name(var)), syn.assign(loop.bar(k), syn.name(bar))]


__all__ = ["Loop", "forward", "reverse"]
