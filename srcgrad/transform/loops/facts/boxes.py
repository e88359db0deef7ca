"""The parts of arrays that loops run through, as far as they can be told from the text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import plus
from srcgrad.transform.loops.facts.order import descends, plain_number


@dataclass(frozen=True)
class Bound:
    """A number: an expression, by its text, and a constant."""

    base: str  # "" for none
    more: int
    names: frozenset[str] = frozenset()

    def reaches(self, other: Bound) -> bool:
        """Whether it is surely not less than another."""
        return self.base == other.base and self.more >= other.more


@dataclass(frozen=True)
class Box:
    """From one number up to another, without it, in each dimension."""

    sides: tuple[tuple[Bound, Bound], ...]

    @property
    def names(self) -> list[frozenset[str]]:
        """The names that the numbers are computed from."""
        return [b.names for side in self.sides for b in side]


def box(key: ast.expr, loops: Sequence[ast.For]) -> Box | None:
    """The elements that a key names in nested loops, each in one round; None when it may be more
    than one, or an index from the end.

    >>> loop = ast.parse("for i in range(1, n): a[i - 1, 0]").body[0]
    >>> found = box(loop.body[0].value.slice, [loop])
    >>> [(low.more, high.more, sorted(high.names)) for low, high in found.sides]
    [(0, -1, ['n']), (0, 1, [])]
    """
    counters = {s.target.id: s for s in loops if isinstance(s.target, ast.Name)}
    if len(counters) != len(loops):
        return None
    left = dict(counters)
    sides = []
    for index in asts.items(key):
        name, more = _split(index)
        loop = left.pop(name.id, None) if isinstance(name, ast.Name) else None
        if loop is not None:
            ends = _range(loop)
            if ends is None:
                return None
            side = _bound(ends[0], more), _bound(ends[1], more)
        else:
            side = _bound(index, 0), _bound(index, 1)
        if side[0].base == "" and side[0].more < 0:
            return None
        if any(names & set(counters) for names in (side[0].names, side[1].names)):
            return None
        sides.append(side)
    return None if left else Box(tuple(sides))


def _split(e: ast.expr) -> tuple[ast.expr | None, int]:
    """An expression without the constant that is added to it, and the constant."""
    match plain_number(e):
        case ast.Constant(int(k)):
            return None, k
        case ast.BinOp(left, ast.Add(), ast.Constant(int(k))):
            inner, more = _split(left)
            return inner, more + k
        case ast.BinOp(left, ast.Sub(), ast.Constant(int(k))):
            inner, more = _split(left)
            return inner, more - k
    return e, 0


def _bound(e: ast.expr, more: int) -> Bound:
    base, k = _split(e)
    if base is None:
        return Bound("", k + more)
    return Bound(ast.dump(base), k + more, frozenset(syn.names_in(base)))


def _range(loop: ast.For) -> tuple[ast.expr, ast.expr] | None:
    """The least number of a range with steps of one, up or down, and the one above the largest."""
    match loop.iter:
        case ast.Call(ast.Name("range"), [stop], []):
            return syn.number(0), stop
        case ast.Call(ast.Name("range"), [start, stop], []):
            return start, stop
        case ast.Call(ast.Name("range"), [high, last, _], []) if descends(loop):
            return plus(plain_number(last), syn.number(1)), plus(high, syn.number(1))
    return None


def covered(whole: Box, parts: Sequence[Box]) -> bool:
    """Whether every element of a box is surely in one of the others."""
    if any(_holds(p, whole) for p in parts):
        return True
    if len(whole.sides) != 1:
        return False
    (low, high), rest = whole.sides[0], [p.sides[0] for p in parts if len(p.sides) == 1]
    while not low.reaches(high):
        further = [side for side in rest if low.reaches(side[0])]
        if not further:
            return False
        rest.remove(further[0])
        low = further[0][1]
    return True


def _holds(outer: Box, inner: Box) -> bool:
    return len(outer.sides) == len(inner.sides) and all(
        a.reaches(c) and d.reaches(b)
        for (c, d), (a, b) in zip(outer.sides, inner.sides, strict=True)
    )


def disjoint(boxes: Sequence[Box]) -> bool:
    """Whether no element is in two boxes, surely."""
    return all(
        any(
            a.reaches(d) or c.reaches(b)
            for (a, b), (c, d) in zip(one.sides, other.sides, strict=False)
        )
        for one, other in combinations(boxes, 2)
    )


__all__ = ["Bound", "Box", "box", "covered", "disjoint"]
