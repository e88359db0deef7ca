"""Of rounds that end at the last one in which a branch was taken, that one's number is kept."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import same_range
from srcgrad.transform.loops.facts.summaries import does_something

Block = list[ast.stmt]


@dataclass
class _Search:
    """A reverse loop that looks for the last round in which a branch was taken."""

    loop: ast.For
    counter: str
    tape: str
    key: ast.expr  # on the tape, whose last index is the counter
    first: Block  # what a round does before it looks
    branch: ast.If


def last(fn: Function) -> None:
    """`b_tape[i] = b; if b: ...` with `for i in ...: b = b_tape[i]; if b: ...; break` backwards:
    the number of the last round that took the branch is kept, and the tape and the loop go."""
    mentions = fn.mentions
    blocks = list(fn.blocks())
    for block in blocks:
        for s in list(block):
            found = _search(fn, s)
            if found is None or mentions[found.tape] != 3:
                continue
            made = next((m for m in fn.node.body if _makes(m, found.tape)), None)
            places = ((b, a) for b in blocks for a in b if _fills(a, found))
            at, ahead = next(places, (block, None))
            if not isinstance(ahead, ast.For) or not isinstance(made, ast.Assign):
                continue
            tape = None
            if at is not block:
                tape = _tape_of_numbers(fn, made, found)
                if tape is None:
                    continue
            elif at.index(ahead) > block.index(s):
                continue
            _keep_the_number(fn, block, at, ahead, found, tape)
            fn.node.body.remove(made)


def _tape_of_numbers(fn: Function, made: ast.Assign, search: _Search) -> ast.Subscript | None:
    """The place of a number, on a tape that has one for each time that the loop runs."""
    match made.value, search.key:
        case ast.Call(func, [ast.Tuple(extents), *_], []), ast.Tuple(indices) if len(
            extents
        ) == len(indices):
            pass
        case _:
            return None
    name = fn.fresh(f"{search.counter}_last_tape")
    kind = ast.Attribute(syn.name("np"), "int64", ast.Load())
    shape = ast.Tuple([asts.copied(e) for e in extents[:-1]], ast.Load())
    top = fn.node.body
    top.insert(top.index(made), syn.assign(name, ast.Call(func, [shape, kind], [])))
    outer = [asts.copied(i) for i in indices[:-1]]
    return ast.Subscript(syn.name(name), ast.Tuple(outer, ast.Load()), ast.Load())


def _search(fn: Function, s: ast.stmt) -> _Search | None:
    if not isinstance(s, ast.For) or s.orelse or not isinstance(s.target, ast.Name):
        return None
    match [t for t in s.body if does_something(t)]:
        case [
            ast.Assign([ast.Name(b)], ast.Subscript(ast.Name(tape), key)),
            *first,
            ast.If(ast.Name(test), [*_, ast.Break()], []) as branch,
        ] if b == test and _ends_with(key, s.target.id):
            at = s.target.id
        case _:
            return None
    exits = [n for n in asts.walk(s) if isinstance(n, ast.Break | ast.Continue | ast.Return)]
    plain = all(isinstance(t, ast.Assign) and isinstance(t.targets[0], ast.Name) for t in first)
    got = fn.summary(first)
    own = {b, at, *got.assigned}
    if len(exits) != 1 or not plain or not got.plain or fn.live_after(own, s):
        return None
    if got.read & {b, *got.assigned} or b in fn.leaves.reads(branch.body):
        return None
    if fn.leaves.bound(branch) & {b, at}:
        return None
    return _Search(s, at, tape, key, first, branch)


def _ends_with(key: ast.expr, counter: str) -> bool:
    """Whether the last index is the counter, and no other has to do with it."""
    indices = asts.items(key)
    *outer, own = indices
    plain = all(isinstance(i, ast.Name) and i.id != counter for i in outer)
    return plain and isinstance(own, ast.Name) and own.id == counter


def _fills(s: ast.stmt, search: _Search) -> bool:
    """Whether a loop that counts up, from zero or more, stores to the tape in each round."""
    if not isinstance(s, ast.For) or not same_range(s, search.loop) or s.orelse:
        return False
    assert isinstance(s.iter, ast.Call)
    start = s.iter.args[0] if len(s.iter.args) == 2 else ast.Constant(0)
    if not isinstance(start, ast.Constant):
        return False
    exits = ast.Break | ast.Continue | ast.Return
    return _store(s, search) is not None and not any(isinstance(n, exits) for n in asts.walk(s))


def _store(loop: ast.For, search: _Search) -> ast.Assign | None:
    for s in loop.body:
        match s:
            case ast.Assign([ast.Subscript(ast.Name(tape), key)], ast.Name()):
                if tape == search.tape and asts.same(key, search.key):
                    return s
    return None


def _makes(s: ast.stmt, tape: str) -> bool:
    match s:
        case ast.Assign([ast.Name(n)], ast.Call(ast.Attribute(ast.Name("np"), "empty"))):
            return n == tape
    return False


def _keep_the_number(
    fn: Function,
    block: Block,
    at: Block,
    ahead: ast.For,
    search: _Search,
    tape: ast.Subscript | None,
) -> None:
    store = _store(ahead, search)
    assert store is not None and isinstance(store.value, ast.Name)
    number = fn.fresh(f"{search.counter}_last")
    k = ahead.body.index(store)
    taken = syn.assign(number, syn.name(search.counter))
    then = _branch_after(ahead.body[k + 1 :], store.value.id)
    if then is not None:
        then.body.append(taken)
        del ahead.body[k]
    else:
        ahead.body[k] = ast.If(syn.name(store.value.id), [taken], [])
    at.insert(at.index(ahead), syn.assign(number, syn.number(-1)))
    body = [syn.assign(search.counter, syn.name(number)), *search.first, *search.branch.body[:-1]]
    found = ast.Compare(syn.name(number), [ast.GtE()], [ast.Constant(0)])
    block[block.index(search.loop)] = looked = ast.If(found, body, [])
    if tape is not None:
        at.insert(at.index(ahead) + 1, syn.assign(asts.copied(tape), syn.name(number)))
        block.insert(block.index(looked), syn.assign(number, tape))


def _branch_after(rest: Sequence[ast.stmt], name: str) -> ast.If | None:
    """The branch that a value decides, next to where it is kept."""
    match [s for s in rest if does_something(s)]:
        case [ast.If(ast.Name(test), _) as branch, *_] if test == name:
            return branch
    return None


__all__ = ["last"]
