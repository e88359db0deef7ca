"""Elements beside one another that a loop reads are kept in one copy of their array.

A stencil reads `u[i - 1]`, `u[i]` and `u[i + 1]`; one by one, each would be kept three times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.apart import are_apart
from srcgrad.transform.loops.facts.indices import Site, counter_in
from srcgrad.transform.loops.facts.kept import Sweeps
from srcgrad.transform.loops.facts.order import runs
from srcgrad.transform.loops.facts.records import Recorded, recorded

_WIDEST = 8  # how far apart neighbours are


def neighbours(fn: Function) -> None:
    """`for i: s = u[i]; s_tape[t, i] = s; r = u[i + 1]; r_tape[t, i] = r` keeps u before the loop
    over i: `for j: u_tape[t, j] = u[j]`, and `r = r_tape[t, i]` becomes `r = u_tape[t, i + 1]`."""
    sweeps = Sweeps(fn)
    groups: dict[str, list[_Read]] = {}
    for tape in recorded(fn, sweeps):
        read = _read(fn, sweeps, tape)
        if read is not None:
            groups.setdefault(read.shown, []).append(read)
    for group in groups.values():
        work = _Group(fn, sweeps, group)
        if work.fits():
            work.change()


@dataclass
class _Read:
    """An element of an array that stays while a nest of loops runs, on a tape of its own."""

    tape: Recorded
    array: str
    key: list[ast.expr]
    nest: list[ast.For]  # the loops during which the array stays, outermost first
    at: list[ast.expr]  # the index of the tape without those of the nest
    loops: list[ast.For]  # of the nest: for each index the one whose counter it is
    offsets: list[int]

    @property
    def shown(self) -> str:
        """What it has in common with neighbours."""
        extents = ast.dump(self.tape.made.value)
        return f"{self.array} {[id(s) for s in (*self.nest, *self.loops)]} {extents}"


def _read(fn: Function, sweeps: Sweeps, tape: Recorded) -> _Read | None:
    """What a tape keeps, if that is an element that one loop at least does not change."""
    k = tape.block.index(tape.record)
    match tape.block[k - 1] if k else None, tape.record.value:
        case ast.Assign([ast.Name(v)], ast.Subscript(ast.Name(array), key)), ast.Name(kept) if (
            v == kept and fn.is_number(array, key)
        ):
            pass
        case _:
            return None
    site = Site(fn, tape.record)
    at = asts.items(tape.at)
    names = [s.target.id if isinstance(s.target, ast.Name) else "" for s in site.loops]
    if not site.plain or [n.id if isinstance(n, ast.Name) else None for n in at] != names:
        return None
    first = next((d for d, s in enumerate(site.loops) if _stays(fn, sweeps, array, s)), 0)
    nest = site.loops[first:]
    if first == 0 or site.path[-len(nest) - 1 : -1] != nest or not _have_bounds(fn, nest):
        return None
    by_name = dict(zip(names[first:], nest, strict=True))
    found = list(_places(site, asts.items(key), by_name))
    if len(found) != len(asts.items(key)) or len({id(s) for s, _ in found}) != len(found):
        return None
    loops, offsets = [s for s, _ in found], [c for _, c in found]
    return _Read(tape, array, asts.items(key), nest, at[:first], loops, offsets)


def _stays(fn: Function, sweeps: Sweeps, array: str, loop: ast.For) -> bool:
    """Whether a loop surely does not change an array."""
    got = fn.summary([loop])
    root = fn.root(array)
    if not got.plain or any(fn.root(n) == root for n in fn.leaves.bound(loop)):
        return False
    stored = {a.array for a in got.accesses if a.kind != "read" and fn.root(a.array) == root}
    return all(are_apart(fn, sweeps, array, other) for other in stored)


def _have_bounds(fn: Function, nest: list[ast.For]) -> bool:
    """Whether all loops of a nest count upwards, between bounds that are known before it."""
    changing = fn.leaves.bound(nest[0])
    return all(
        isinstance(s.iter, ast.Call) and len(s.iter.args) < 3 and not asts.names(s.iter) & changing
        for s in nest
    )


def _places(
    site: Site, key: list[ast.expr], loops: dict[str, ast.For]
) -> Iterator[tuple[ast.For, int]]:
    """For each index, as long as it is one, the loop whose counter it is, and the constant."""
    for item in key:
        term = site.term(item)
        name = next(iter(counter_in(item)), None)
        if term is None or name not in loops or term.base is not loops[name]:
            return
        if not site.is_place(term):  # it may count from the end
            return
        yield loops[name], term.offset


class _Group:
    """Elements of one array that one statement each keeps in the same rounds."""

    def __init__(self, fn: Function, sweeps: Sweeps, reads: list[_Read]) -> None:
        self.fn = fn
        self.sweeps = sweeps
        self.reads = reads
        self.one = reads[0]
        offsets = list(zip(*(r.offsets for r in reads), strict=True))
        self.low, self.high = [min(c) for c in offsets], [max(c) for c in offsets]

    def fits(self) -> bool:
        """Whether a copy holds less than the tapes do."""
        wide = max(b - a for a, b in zip(self.low, self.high, strict=True))
        several = len(self.reads) > 1 or len(self.one.loops) < len(self.one.nest)
        return several and wide <= _WIDEST

    def change(self) -> None:
        fn, one = self.fn, self.one
        name = fn.fresh(f"{one.array}_tape")
        body = fn.node.body
        body.insert(body.index(one.tape.made), self.made(name))
        block, k = self.sweeps.places[id(one.nest[0])]
        k = block.index(one.nest[0])
        block[k:k] = [self.copy(name)]
        for read in self.reads:
            tape = read.tape
            tape.block.remove(tape.record)
            body.remove(tape.made)
            for load in tape.loads:
                load.value = _element(name, [*read.at, *read.key])
                fn.leaves.forget(load)

    def made(self, name: str) -> ast.stmt:
        """The tape of the array: an extent for each loop around, and its own."""
        one = self.one
        call = asts.copied(one.tape.made.value)
        assert isinstance(call, ast.Call)
        extents = asts.items(call.args[0])
        inner = dict(zip(map(id, one.nest), extents[len(one.at) :], strict=True))
        own = [
            _plus(asts.copied(inner[id(s)]), max(c, 0))
            for s, c in zip(one.loops, self.high, strict=True)
        ]
        call.args[0] = syn.tuple_of([*extents[: len(one.at)], *own])
        return syn.assign(name, call)

    def copy(self, name: str) -> ast.stmt:
        """The loops that keep the part of the array that is read, if it is."""
        fn, one = self.fn, self.one
        counters: list[ast.expr] = [syn.name(fn.fresh(f"j{d + 1}")) for d in range(len(one.loops))]
        kept = _element(name, [*one.at, *counters])
        out = syn.assign(kept, _element(one.array, counters))
        for counter, loop, low, high in reversed(
            list(zip(counters, one.loops, self.low, self.high, strict=True))
        ):
            assert isinstance(counter, ast.Name)
            over = syn.call("range", *_range(loop, low, high))
            out = ast.For(ast.Name(counter.id, ast.Store()), over, [out], [])
        moved = [s for s, a, b in zip(one.loops, self.low, self.high, strict=True) if a or b]
        asked = [s for s in one.nest if s not in one.loops or s in moved]
        tests = [runs(s) for s in asked]
        if not tests:
            return out
        return ast.If(tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), [out], [])


def _range(loop: ast.For, low: int, high: int) -> list[ast.expr]:
    """What a counter runs through, from `low` more to `high` more."""
    assert isinstance(loop.iter, ast.Call)
    *start, stop = map(asts.copied, loop.iter.args)
    begin = _plus(start[0] if start else ast.Constant(0), low)
    return [*([] if syn.is_number(begin, 0) else [begin]), _plus(stop, high)]


def _plus(e: ast.expr, c: int) -> ast.expr:
    """An expression and a constant, in one where it ends in one."""
    match e:
        case ast.Constant(int(k)):
            return ast.Constant(k + c)
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, ast.Constant(int(k))):
            total = c + (k if isinstance(op, ast.Add) else -k)
            return _plus(left, total) if total != 0 else left
    if c == 0:
        return e
    return ast.BinOp(e, ast.Add() if c > 0 else ast.Sub(), ast.Constant(abs(c)))


def _element(array: str, items: list[ast.expr]) -> ast.expr:
    made = [asts.copied(i) for i in items]
    return ast.Subscript(
        syn.name(array), made[0] if len(made) == 1 else ast.Tuple(made, ast.Load()), ast.Load()
    )


__all__ = ["neighbours"]
