"""Additions to several places of one array get loops of their own."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TypeGuard

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.accesses import Function, summary
from srcgrad.transform.loops.order import commutes


def distribute(fn: Function) -> None:
    """`b[i - 1] += t; b[i + 1] += t` in one loop: t goes into a buffer, each addition into a
    loop."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            made = _distributed(fn, s) if isinstance(s, ast.For) else None
            if made is not None:
                k = block.index(s, k)  # a buffer may have come before it
                block[k : k + 1] = made
                k += len(made) - 1
            k += 1


def _distributed(fn: Function, loop: ast.For) -> list[ast.stmt] | None:
    match loop:
        case ast.For(ast.Name(counter), ast.Call(ast.Name("range"), args, []), body, []):
            pass
        case _:
            return None
    if len(args) > 2 or any(isinstance(s, ast.For | ast.If) for s in body):
        return None
    start = args[0] if len(args) == 2 else ast.Constant(0)
    if not _is_a_start(start) or not commutes(fn, loop):
        return None
    got = summary(body)
    adds = [s for s in body if _is_addition(s)]
    groups: dict[str, list[ast.AugAssign]] = {}
    for s in adds:
        groups.setdefault(fn.root(_place(s)[0]), []).append(s)
    chosen = [g for g in groups.values() if len({ast.dump(_place(s)[1]) for s in g}) > 1]
    moved = [s for g in chosen for s in g]
    if not all(fn.is_number(*_place(s)) for s in moved):
        return None
    if not moved or any(syn.names_in(_place(s)[1]) & got.assigned for s in moved):
        return None
    added_to = {fn.root(_place(s)[0]) for s in moved}
    if any(a.kind != "add" and fn.root(a.array) in added_to for a in got.accesses):
        return None
    bindings = Counter(n for s in body for n in syn.names_bound(s))
    for s in moved:  # the buffer holds what the name is at the end of the iteration
        assert isinstance(s.value, ast.Name)
        name = s.value.id
        if name in got.added or bindings[name] != 1:
            return None
    outer = _outermost(fn, loop)
    if syn.names_in(args[-1]) & syn.names_bound(outer):
        return None
    return _split(fn, loop, counter, args, moved, outer)


def _is_a_start(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and isinstance(e.value, int | float) and e.value >= 0


def _is_addition(s: ast.stmt) -> TypeGuard[ast.AugAssign]:
    match s:
        case ast.AugAssign(ast.Subscript(ast.Name(), _), ast.Add() | ast.Sub(), ast.Name()):
            return True
    return False


def _place(s: ast.AugAssign) -> tuple[str, ast.expr]:
    """The array and the key of an addition."""
    assert isinstance(s.target, ast.Subscript) and isinstance(s.target.value, ast.Name)
    return s.target.value.id, s.target.slice


def _outermost(fn: Function, loop: ast.stmt) -> ast.stmt:
    return [loop, *fn.owners(loop)][-1]


def _split(
    fn: Function,
    loop: ast.For,
    counter: str,
    args: list[ast.expr],
    moved: list[ast.AugAssign],
    outer: ast.stmt,
) -> list[ast.stmt]:
    buffers: dict[str, str] = {}
    for s in moved:
        assert isinstance(s.value, ast.Name)
        if s.value.id not in buffers:
            buffers[s.value.id] = fn.fresh(f"{s.value.id}_row")
            made = syn.assign(
                buffers[s.value.id],
                syn.call("np.empty", syn.call("max", asts.copied(args[-1]), ast.Constant(0))),
            )
            top = fn.node.body
            top.insert(top.index(outer), made)
    index = syn.name(counter)
    rest = [s for s in loop.body if s not in moved]
    for value, buffer in buffers.items():
        place = ast.Subscript(syn.name(buffer), index, ast.Load())
        rest.append(syn.assign(place, syn.name(value)))
    out: list[ast.stmt] = [ast.For(loop.target, loop.iter, rest, [])]
    for s in moved:
        assert isinstance(s.value, ast.Name)
        s.value = ast.Subscript(syn.name(buffers[s.value.id]), syn.name(counter), ast.Load())
        out.append(ast.For(asts.copied(loop.target), asts.copied(loop.iter), [s], []))
    return out
