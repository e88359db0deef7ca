"""Where the indices of two accesses in loops can be told apart, and which access comes later."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from srcgrad.ir import asts
from srcgrad.transform.adjoint.tapes import plus_one
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import descends, plain_number

Base = ast.For | str | None  # the counter of a loop, a name that stays, or nothing


@dataclass(frozen=True)
class Term:
    """A number that is a base and a constant."""

    base: Base
    offset: int = 0

    def moved(self, by: int) -> Term:
        return Term(self.base, self.offset + by)


class Site:
    """A place in a function, and the loops around it."""

    def __init__(self, fn: Function, s: ast.stmt) -> None:
        owners = list(fn.owners(s))
        self.fn = fn
        self.statement = s
        self.path = [*owners[::-1], s]  # from the outermost statement in
        self.loops = [o for o in self.path if isinstance(o, ast.For)]
        self.plain = not any(isinstance(o, ast.While) for o in owners)

    def term(self, e: ast.expr) -> Term | None:
        """An index, when it is a counter or a name that stays, and a constant."""
        match plain_number(e):
            case ast.Constant(int(k)):
                return Term(None, k)
            case ast.Name(name):
                return self._name(name)
            case ast.BinOp(left, ast.Add() | ast.Sub() as op, ast.Constant(int(k))):
                base = self.term(left)
                return base and base.moved(k if isinstance(op, ast.Add) else -k)
        return None

    def _name(self, name: str) -> Term | None:
        for loop in reversed(self.loops):
            if isinstance(loop.target, ast.Name) and loop.target.id == name:
                return Term(loop) if name in self.fn.counters else None
        return Term(name) if self.fn.bindings[name] == 1 else None

    def bounds(self, loop: ast.For) -> tuple[Term | None, Term | None]:
        """The least and the greatest number of a counter."""
        match loop.iter:
            case ast.Call(ast.Name("range"), [stop], []):
                low: ast.expr = ast.Constant(0)
            case ast.Call(ast.Name("range"), [low, stop], []):
                pass
            case ast.Call(ast.Name("range"), [high, last, _], []) if descends(loop):
                low, stop = plus_one(plain_number(last)), plus_one(high)
            case _:
                return None, None
        end = self.outside(loop).term(stop)
        return self.outside(loop).term(low), end and end.moved(-1)

    def outside(self, loop: ast.For) -> Site:
        return Site(self.fn, loop)

    def most(self, e: Term | None, base: Base) -> int | None:
        """A constant c with e <= base + c."""
        return self._bound(e, base, 1)

    def least(self, e: Term | None, base: Base) -> int | None:
        """A constant c with e >= base + c."""
        return self._bound(e, base, 0)

    def _bound(self, e: Term | None, base: Base, side: int) -> int | None:
        if e is None:
            return None
        if e.base is base or (isinstance(base, str) and e.base == base):
            return e.offset
        if isinstance(e.base, ast.For):
            end = self.bounds(e.base)[side]
            return self._bound(end and end.moved(e.offset), base, side)
        if isinstance(base, ast.For) and e.base is None:  # a constant beside a counter
            other = self._bound(self.bounds(base)[1 - side], None, 1 - side)
            return None if other is None else e.offset - other
        return None

    def is_place(self, e: Term | None) -> bool:
        """Whether an index surely does not count from the end."""
        least = self.least(e, None)
        return least is not None and least >= 0


def is_untouched(
    read: Site, key: ast.expr, store: Site, other: ast.expr, *, other_rounds: bool = False
) -> bool:
    """Whether a store after a read never reaches what was read; only those in `other_rounds` of
    the loops around both, if so it is asked.

    >>> text = "def f(a):\\n for i in range(1, 9):\\n  t = a[i - 1]\\n  a[i] = t"
    >>> fn = Function(ast.parse(text).body[0])
    >>> read, store = fn.node.body[0].body
    >>> is_untouched(Site(fn, read), read.value.slice, Site(fn, store), store.targets[0].slice)
    True
    """
    if not read.plain or not store.plain:
        return False
    mine = [(read, t) for t in map(read.term, asts.items(key))]
    theirs = [(store, t) for t in map(store.term, asts.items(other))]
    pairs = [
        (r, s)
        for (_, r), (_, s) in zip(mine, theirs, strict=False)
        if read.is_place(r) and store.is_place(s)
    ]
    common = [a for a, b in zip(read.path, store.path, strict=False) if a is b]
    if not common and _position(read) > _position(store):
        return True
    loops = [s for s in common if isinstance(s, ast.For)]
    for p, loop in enumerate(loops):
        same = loops[:p]
        if not any(_grows(read, r, s, loop) or _differ(read, r, store, s, same) for r, s in pairs):
            return False
    if common and (other_rounds or _comes_first(store, read, len(common))):
        return True
    return any(_differ(read, r, store, s, loops) for r, s in pairs)


def counter_in(e: ast.expr) -> set[str]:
    """The counter that an index is, up to a constant: another number, another index.

    >>> counter_in(ast.parse("i - 1", mode="eval").body), counter_in(ast.Constant(1))
    ({'i'}, set())
    """
    match e:
        case ast.Name(n):
            return {n}
        case ast.BinOp(ast.Name(n), ast.Add() | ast.Sub(), ast.Constant()):
            return {n}
    return set()


def _position(site: Site) -> int:
    return site.fn.node.body.index(site.path[0])


def _grows(read: Site, r: Term | None, s: Term | None, loop: ast.For) -> bool:
    """Whether later rounds of a loop store behind all that this one reads."""
    if s is None or s.base is not loop:
        return False
    if descends(loop):
        least = read.least(r, loop)
        return least is not None and least >= s.offset
    most = read.most(r, loop)
    return _ascends(loop) and most is not None and most <= s.offset


def _ascends(loop: ast.For) -> bool:
    match loop.iter:
        case ast.Call(ast.Name("range"), [_] | [_, _], []):
            return True
    return False


def _differ(
    read: Site, r: Term | None, store: Site, s: Term | None, same: Iterable[ast.For]
) -> bool:
    """Whether two indices are never equal while the counters of some loops are."""
    names = [t.base for t in (r, s) if t is not None and isinstance(t.base, str)]
    for base in (*same, *names, None):
        low, high = store.least(s, base), store.most(s, base)
        first, last = read.least(r, base), read.most(r, base)
        if low is not None and last is not None and low > last:
            return True
        if high is not None and first is not None and high < first:
            return True
    return False


def _comes_first(a: Site, b: Site, depth: int) -> bool:
    """Whether one statement stands before another in the block that both are in."""
    outer = a.path[depth - 1]
    if depth >= min(len(a.path), len(b.path)):
        return False
    for name in ("body", "orelse"):
        block = getattr(outer, name, None) or []
        if a.path[depth] in block and b.path[depth] in block:
            return bool(block.index(a.path[depth]) < block.index(b.path[depth]))
    return isinstance(outer, ast.If)  # in different arms: never both in one round


__all__ = ["Site", "Term", "is_untouched"]
