"""Zeros between taking what an array holds and adding to it again are not written."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.boxes import Box, box, covered, disjoint
from srcgrad.transform.loops.facts.outline import statements

Block = list[ast.stmt]
_EXITS = (ast.Break, ast.Continue, ast.Return)


class _Other(Exception):
    """The array is used in another way."""


@dataclass
class _Use:
    """An addition to the elements of a box, each once, or their removal: the read and the zero."""

    box: Box
    block: Block
    addition: ast.AugAssign | None = None
    zero: ast.stmt | None = None


def anew(fn: Function) -> None:
    """In each round of a loop `a[i] += e` to zeros, then `t = a[i]; a[i] = 0.0`: the addition
    becomes `a[i] = e`, and nothing is set to zero."""
    made = {}
    for s in fn.node.body:
        match s:
            case ast.Assign([ast.Name(array)], ast.Call(ast.Attribute(_, "zeros"))) if fn.bindings[
                array
            ] == 1 and fn.is_alone(array):
                made[array] = s
    body = list(fn.node.body)
    for array in made:
        users = [s for s in body if s is not made[array] and fn.leaves.uses(s, array)]
        if users and isinstance(users[0], ast.For) and _in_the_loop(fn, users[0], array):
            if len(users) > 1:  # where it is zero, as the loop left it
                fill = ast.Attribute(syn.name(array), "fill", ast.Load())
                cleared = ast.Expr(ast.Call(fill, [ast.Constant(0.0)], []))
                fn.node.body.insert(fn.node.body.index(users[0]) + 1, cleared)


def _in_the_loop(fn: Function, loop: ast.For, array: str) -> bool:
    """Whether a loop, the first statement that uses an array of zeros, writes no zeros now."""
    if any(isinstance(s, _EXITS) for s in statements([loop])):
        return False
    bound = fn.leaves.bound(loop)
    using: Block = [loop]
    while len(using) == 1 and isinstance(using[0], ast.For):
        if _renewed(fn, using[0], array, bound):
            return True
        using = [s for s in using[0].body if _mentions(fn, s, array)]
    return False


def _renewed(fn: Function, loop: ast.For, array: str, bound: frozenset[str]) -> bool:
    """Whether the rounds of a loop leave the array zero as they found it; they don't after this.

    `bound` are the names that change while the array is in use.
    """
    using = [t for t in loop.body if _mentions(fn, t, array)]
    try:
        uses = list(_uses(fn, loop.body, array, []))
    except _Other:
        return False
    if len(uses) != len(using) - sum(u.zero in using for u in uses):
        return False  # a statement of the round that uses it more than once
    if any(names & bound for u in uses for names in u.box.names):
        return False
    groups = _groups(uses)
    if groups is None:
        return False
    for adds, takes in groups:
        place = adds[0].addition
        assert place is not None
        value = place.value if isinstance(place.op, ast.Add) else syn.negative(place.value)
        adds[0].block[adds[0].block.index(place)] = syn.assign(place.target, value)
        for u in takes:
            u.block.remove(u.zero)  # type: ignore[arg-type]
    return True


def _groups(uses: Sequence[_Use]) -> list[tuple[list[_Use], list[_Use]]] | None:
    """Additions and the removals that follow them, as often as a round has them; None when the
    removals leave something or when additions are to different elements."""
    groups: list[tuple[list[_Use], list[_Use]]] = []
    for u in uses:
        if u.addition is not None and (not groups or groups[-1][1]):
            groups.append(([], []))
        if not groups:
            return None
        groups[-1][u.addition is None].append(u)
    if not groups:
        return None
    whole = groups[0][0][0].box
    for adds, takes in groups:
        boxes = [u.box for u in takes]
        fits = adds[0].box == whole and all(covered(u.box, [whole]) for u in adds)
        if not fits or not covered(whole, boxes) or not disjoint(boxes):
            return None
    return groups


def _uses(fn: Function, body: Block, array: str, loops: list[ast.For]) -> Iterator[_Use]:
    k = 0
    while k < len(body):
        s = body[k]
        k += 1
        if not _mentions(fn, s, array):
            continue
        match s:
            case ast.For(ast.Name(counter), ast.Call(ast.Name("range"), args), inner, []) if not (
                any(_reads(fn, a, array) for a in args)
                or any(counter in fn.leaves.bound(t) for t in inner)
            ):
                yield from _uses(fn, inner, array, [*loops, s])
            case ast.AugAssign(
                ast.Subscript(ast.Name(name), key), ast.Add() | ast.Sub(), value
            ) if name == array and not _reads(fn, value, array):
                yield _Use(_box(fn, array, key, loops), body, addition=s)
            case ast.Assign([ast.Name()], ast.Subscript(ast.Name(name), key)) if name == array:
                k = next((j for j in range(k, len(body)) if _mentions(fn, body[j], array)), k)
                if k == len(body) or not _is_zeroed(body[k], array, key):
                    raise _Other
                if syn.names_in(key) & {n for t in body for n in fn.leaves.bound(t)}:
                    raise _Other
                yield _Use(_box(fn, array, key, loops), body, zero=body[k])
                k += 1
            case _:
                raise _Other


def _box(fn: Function, array: str, key: ast.expr, loops: list[ast.For]) -> Box:
    found = box(key, loops) if fn.is_number(array, key) else None
    if found is None:
        raise _Other
    return found


def _is_zeroed(s: ast.stmt, array: str, key: ast.expr) -> bool:
    match s:
        case ast.Assign([ast.Subscript(ast.Name(name), other)], value):
            same = name == array and asts.same(other, key)
            return same and _is_zero(value)
    return False


def _is_zero(e: ast.expr) -> bool:
    """Whether it is 0.0, of whichever class: `np.float32(0.0)`."""
    match e:
        case ast.Constant(value):
            return isinstance(value, int | float) and value == 0.0
        case ast.Call(
            ast.Attribute(ast.Name("np"), "float32" | "float16" | "float64"), [inner], []
        ):
            return _is_zero(inner)
    return False


def _mentions(fn: Function, s: ast.stmt, array: str) -> bool:
    """Whether more than the shape of an array is mentioned."""
    return fn.leaves.uses(s, array)


def _reads(fn: Function, e: ast.expr, array: str) -> bool:
    return array in fn.leaves.of(e).contents


__all__ = ["anew"]
