"""Tapes that one statement of the forward sweep fills, and only the reverse sweep reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.kept import Sweeps
from srcgrad.transform.loops.facts.outline import statements


@dataclass
class Recorded:
    """A tape that one statement fills; the block of that, and what reads the tape."""

    made: ast.Assign
    record: ast.Assign
    block: list[ast.stmt]
    loads: list[ast.Assign] = field(default_factory=list)

    @property
    def at(self) -> ast.expr:
        """The index of what it keeps."""
        place = self.record.targets[0]
        assert isinstance(place, ast.Subscript)
        return place.slice


def recorded(fn: Function, sweeps: Sweeps) -> Iterator[Recorded]:
    """The tapes that have one record in the forward sweep, and loads in the reverse one only."""
    found: dict[str, Recorded] = {}
    made = {name: s for s in sweeps.ahead for name in [_made(s)] if name}
    for s in statements(sweeps.ahead):
        match s:
            case ast.Assign([ast.Subscript(ast.Name(tape), _)], ast.Name()) if tape in made:
                whole = made[tape]
                assert isinstance(whole, ast.Assign)
                found[tape] = Recorded(whole, s, sweeps.places[id(s)][0])
    for s in statements(sweeps.back):
        match s:
            case ast.Assign([ast.Name()], ast.Subscript(ast.Name(name), key)) if name in found:
                if asts.same(key, found[name].at):
                    found[name].loads.append(s)
    for name, tape_of in found.items():
        if tape_of.loads and fn.mentions[name] == 2 + len(tape_of.loads):
            yield tape_of


def _made(s: ast.stmt) -> str:
    match s:
        case ast.Assign([ast.Name(tape)], ast.Call(ast.Attribute(ast.Name("np"), "empty"))):
            return tape
    return ""


__all__ = ["Recorded", "recorded"]
