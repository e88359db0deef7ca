"""A number that each round makes for itself is kept at its end, not before the next overwrites it.

The latter makes each round of the reverse sweep put back what the one before it needs, so that
they run in order; and the number that a round ends with is what its own reverse begins with.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.kept import Sweeps
from srcgrad.transform.loops.facts.order import same_range
from srcgrad.transform.loops.facts.outline import statements


def settle(fn: Function) -> None:
    """`s_tape[i] = s; s = 0.0; s += e` becomes `s = 0.0; s += e; s_tape[i] = s`, and
    `s = s_tape[i]` begins the reverse of a round instead of ending it."""
    sweeps = Sweeps(fn)
    for one in _records(fn, sweeps):
        if one.fits(fn):
            one.move(fn)
            fn = fn.again()


@dataclass
class _Record:
    """A number that is kept before a round binds it, and put back by its reverse."""

    name: str
    ahead: ast.For
    record: ast.Assign
    backward: ast.For
    restore: ast.Assign

    def fits(self, fn: Function) -> bool:
        """Whether a round binds the number at once, and its reverse puts it back at the end."""
        if not same_range(self.ahead, self.backward):
            return False
        body, back = self.ahead.body, self.backward.body
        k = body.index(self.record)
        match body[k + 1] if k + 1 < len(body) else None:
            case ast.Assign([ast.Name(name)], value) if name == self.name:
                if name in fn.leaves.of(value).names:
                    return False
            case _:
                return False
        before, after = body[:k], back[back.index(self.restore) + 1 :]
        bit = fn.leaves.some([self.name])
        if any(fn.leaves.mentioned(s) & bit for s in (*before, *after)):
            return False
        binding = [s for s in back if fn.leaves.binds(s, self.name)]
        return binding == [self.restore] and fn.is_plain([self.ahead, self.backward])

    def move(self, fn: Function) -> None:
        """Keep the number at the end of the round, unless its older value is needed, too."""
        body, back = self.ahead.body, self.backward.body
        places = body.index(self.record), back.index(self.restore)
        body.remove(self.record)
        back.remove(self.restore)
        body.append(self.record)
        back.insert(0, self.restore)
        if fn.again().live_after([self.name], self.backward):
            body.remove(self.record)
            back.remove(self.restore)
            body.insert(places[0], self.record)
            back.insert(places[1], self.restore)


def _records(fn: Function, sweeps: Sweeps) -> list[_Record]:
    """The numbers that one statement keeps and one puts back, each in a loop."""
    kept: dict[str, ast.Assign] = {}
    for s in statements(sweeps.ahead):
        match s:
            case ast.Assign([ast.Subscript(ast.Name(tape), _)], ast.Name()) if (
                fn.mentions[tape] == 3
            ):
                kept[tape] = s
    out: list[_Record] = []
    for s in statements(sweeps.back):
        match s:
            case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(tape), key)) if tape in kept:
                record = kept[tape]
                ahead, backward = (next(iter(fn.owners(x)), None) for x in (record, s))
                place, value = record.targets[0], record.value
                assert isinstance(place, ast.Subscript) and isinstance(value, ast.Name)
                if not isinstance(ahead, ast.For) or not isinstance(backward, ast.For):
                    continue
                if value.id == name and asts.same(place.slice, key):
                    out.append(_Record(name, ahead, record, backward, s))
    return out


__all__ = ["settle"]
