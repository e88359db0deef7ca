"""Zeros that the first additions would be made to are not written."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.shapes import Shapes
from srcgrad.transform.loops.facts.summaries import does_something


def first(fn: Function) -> None:
    """`a = np.zeros(n); for i in range(n): a[i] += e` becomes `np.empty` and `a[i] = e`."""
    body = fn.node.body
    if not any(leaf.made for leaf in fn.assignments):
        return
    shapes = Shapes(fn)
    for k, s in enumerate(body):
        match s:
            case ast.Assign(
                [ast.Name(array)],
                ast.Call(ast.Attribute(ast.Name("np"), "zeros"), [_, *_]) as made,
            ) if shapes.times[array] == 1 and fn.is_alone(array):
                found = _First(fn, shapes, array)
                if found.block(body[k + 1 :], []) and found.place is not None:
                    assert isinstance(made.func, ast.Attribute)
                    made.func.attr = "empty"
                    fn.leaves.forget(s)
                    place = found.place
                    value = place.value
                    if isinstance(place.op, ast.Sub):
                        value = syn.negative(value)
                    found.owner[found.owner.index(place)] = syn.assign(place.target, value)


@dataclass
class _First:
    """Looks for the addition that is the first thing that happens to every element."""

    fn: Function
    shapes: Shapes
    array: str
    place: ast.AugAssign | None = None
    owner: list[ast.stmt] = field(default_factory=list)

    def block(self, body: list[ast.stmt], counters: list[str]) -> bool:
        """Whether the first mention in a block is it; `counters` are those of the loops around."""
        for k, s in enumerate(body):
            if not self.mentions(s):
                continue
            rest = body[k + 1 :]
            match s:
                case ast.For(ast.Name(counter), _, inner, []) if self.fn.summary([s]).plain:
                    found = self.block(inner, [*counters, counter])
                    found = found and self.covered(s, counter)
                case ast.AugAssign(
                    ast.Subscript(ast.Name(array), key), ast.Add() | ast.Sub(), value
                ) if array == self.array and self.array not in self.fn.leaves.of(value).contents:
                    found = self.is_whole_key(key, counters)
                    self.place, self.owner = s, body
                case _:
                    return False
            return found and (not counters or self.stays(rest, counters))
        return False

    def mentions(self, s: ast.stmt) -> bool:
        """Whether a statement does more with the array than ask for its shape."""
        return self.fn.leaves.uses(s, self.array)

    def is_whole_key(self, key: ast.expr, counters: list[str]) -> bool:
        """Whether each loop around is the counter of one dimension."""
        names = [i.id if isinstance(i, ast.Name) else "" for i in asts.items(key)]
        if not self.fn.is_number(self.array, key):
            return False
        return len(set(names)) == len(names) and sorted(names) == sorted(counters)

    def covered(self, loop: ast.For, counter: str) -> bool:
        assert self.place is not None and isinstance(self.place.target, ast.Subscript)
        names = [i.id for i in asts.items(self.place.target.slice) if isinstance(i, ast.Name)]
        bound = {n for s in loop.body for n in syn.names_bound(s)}
        if counter in bound or counter not in names:
            return False
        return self.shapes.covers(self.array, names.index(counter), loop)

    def stays(self, rest: list[ast.stmt], counters: list[str]) -> bool:
        """Whether what follows in a loop keeps to the part that this round has filled."""
        assert self.place is not None and isinstance(self.place.target, ast.Subscript)
        names = [i.id for i in asts.items(self.place.target.slice) if isinstance(i, ast.Name)]
        got = self.fn.summary([s for s in rest if does_something(s)])
        if not got.plain:
            return False
        for a in got.accesses:
            if self.fn.root(a.array) == self.fn.root(self.array):
                items = asts.items(a.key)
                for c in counters:
                    d = names.index(c)
                    if d >= len(items) or not asts.same(items[d], syn.name(c)):
                        return False
        return True


__all__ = ["first"]
