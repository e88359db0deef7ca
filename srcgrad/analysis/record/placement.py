"""Where each recorded value is kept: before or after an assignment, in a variable or on a tape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from srcgrad.analysis.record.needs import saved_name
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.nameset import NameSet

if TYPE_CHECKING:
    from srcgrad.analysis.recording import Recording


@dataclass
class Save:
    """One value kept at one assignment: before it (the older value) or after it (its own)."""

    sid: int
    var: str
    when: str  # "before", "after", or "again": computed again at the head of the reverse
    taped: bool
    outline: bool = False  # is its shape all that is read of it


def place(
    found: Recording,
    saved: Mapping[int, set[str]],
    valued: Mapping[int, set[str]],
    consumers: Mapping[str, set[int]],
    values: AbstractSet[str],
) -> None:
    """Decide for each value that must outlive an assignment where it is kept.

    Arguments: the recording, which gets the saves; the variables that each statement must
    not lose, and those of which it is more than the shape; the statements whose reverse reads a
    variable, and the variables of which it reads more than the shape anywhere.
    """
    unit = found.unit
    bound = bound_before(unit)
    for sid, names in sorted(saved.items()):
        for name in sorted(names):
            if found.control.resets.get(sid) is not None:
                continue
            if unit.is_active(name) and unit.kind(name) == "memory" and found.is_tracked(name):
                continue
            save = _save(found, consumers, sid, name, bound)
            # What is computed again from it names it, too.
            spared = name not in valued.get(sid, ()) and found.needs.again(name) is None
            if save.when == "after":  # which every reader sees, those at an exit too
                spared = spared and name not in values
            save.outline = spared and _has_outline(unit.type(name))
            found.saves.setdefault(sid, []).append(save)
    for sid, state in found.states.items():
        found.initial += [
            k.name for k in state.kept if k.name not in bound[sid] and k.name not in found.initial
        ]
    for stmt in ir.walk(unit.body):
        for v in ir.writes(stmt):
            if unit.is_active(v) and found.is_tracked(v.name):
                _pair(found, stmt, v.name, bound)


def _save(
    found: Recording,
    consumers: Mapping[str, set[int]],
    sid: int,
    name: str,
    bound: dict[int, NameSet],
) -> Save:
    unit = found.unit
    loops = unit.taping[sid]
    if name in bound[sid]:
        return Save(sid, name, "before", bool(loops))
    once = len(unit.defs.get(name, ())) == 1 or name.startswith("saved%")
    once = once and sid not in found.states
    if loops and once and all(_inside(unit, sid, c) for c in consumers.get(name, ())):
        cheap = computed_again(found, sid)
        return Save(sid, name, "again", False) if cheap else Save(sid, name, "after", True)
    if name not in found.initial:
        found.initial.append(name)
    return Save(sid, name, "before", bool(loops))


def _has_outline(t: ty.Type) -> bool:
    """Whether a value may be replaced by one of the same shape where nothing else is read."""
    if isinstance(t, ty.Tuple):
        return any(map(_has_outline, t.items))
    return isinstance(t, ty.Array | ty.Unknown)


_AGAIN = frozenset(["neg", "pos", "add", "sub", "mul"])
_SIMPLE = (min, max, abs, int, float, len)


def computed_again(found: Recording, sid: int) -> bool:
    """Whether the reverse sweep gets a number, or a row of an array, back by cheap arithmetic on
    what it has at hand."""
    unit = found.unit
    stmt = unit.by_sid[sid]
    if not isinstance(stmt, ir.Assign) or stmt.inplace is not None:
        return False
    t = unit.type(stmt.target.name)
    row = isinstance(t, ty.Array) and isinstance(stmt.value, ir.Index)
    if not row and not isinstance(t, ty.Number):
        return False
    return all(_at_hand(found, a, stmt) for a in ir.operands(stmt.value)) and _is_cheap(unit, stmt)


def _is_cheap(unit: Unit, stmt: ir.Assign) -> bool:
    """Whether an expression costs about what a tape does: more of them do where no compiler
    keeps numbers in registers, and a forward loop may become superfluous."""
    match stmt.value:
        case ir.Op("truediv" | "pow" as op, args) if not unit.program.reruns:
            square = op == "truediv" or args[1] in (ir.Const(2), ir.Const(2.0), ir.Const(3))
            return square and _of_numbers(unit, args)
        case ir.Op(op, args):
            return op in _AGAIN and _of_numbers(unit, args)
        case ir.Call(ir.Global(value=fn), args, ()) if not unit.program.reruns:
            return any(fn is f for f in _SIMPLE) and _of_numbers(unit, args)
        case ir.Index(obj, key):
            stored = isinstance(obj, ir.Var) and unit.fx.stored(obj.name)
            return isinstance(unit.facts.of(obj), ty.Array) and unit.basic(key) and not stored
        case _:
            return False


def _of_numbers(unit: Unit, args: Iterable[ir.Atom | ir.Star]) -> bool:
    atoms = [a for a in args if not isinstance(a, ir.Star)]
    kinds = [unit.facts.of(a) for a in atoms]
    return len(atoms) == len(kinds) and all(isinstance(t, ty.Number | ty.Literal) for t in kinds)


def _at_hand(found: Recording, a: ir.Atom, stmt: ir.Assign) -> bool:
    """Whether an operand has the value it had at `stmt` throughout the reverse of its block."""
    unit = found.unit
    if not isinstance(a, ir.Var):
        return True
    again = found.needs.again(a.name)
    if again is not None:
        return all(_at_hand(found, b, stmt) for b in ir.operands(again.value))
    defs = unit.defs.get(a.name, [])
    if unit.fx.stored(a.name):
        return False
    if a.name in unit.params:
        return not defs
    if defs and all(isinstance(d, ir.For) for d in defs):
        return any(d.sid in unit.loops[stmt.sid] for d in defs)
    if len(defs) != 1:
        return False
    if not unit.loops[defs[0].sid] or found.invariants.has(a.name):
        return True
    here, there = unit.place[stmt.sid], unit.place[defs[0].sid]
    if here[:-1] != there[:-1] or here[-1][0] != there[-1][0] or there >= here:
        return False
    kept = [s for s in found.saves.get(defs[0].sid, ()) if s.var == a.name and not s.outline]
    return any(s.when in ("again", "after") for s in kept)


def _inside(unit: Unit, sid: int, consumer: int) -> bool:
    """Whether a consumer's reverse runs after the head of the reverse of the block of `sid`."""
    here, there = unit.place[sid], unit.place[consumer]
    if not set(unit.loops[sid]) & set(unit.loops[consumer]) and consumer not in unit.loops[sid]:
        return True
    depth = len(here) - 1
    if len(there) <= depth or there[:depth] != here[:depth] or there[depth][0] != here[depth][0]:
        return False
    return there[depth][1] >= here[depth][1]


def _pair(found: Recording, stmt: ir.Stmt, name: str, bound: dict[int, NameSet]) -> None:
    """A tracked variable that is bound again keeps its older array and shadow."""
    unit = found.unit
    if (
        isinstance(stmt, ir.Assign)
        and stmt.inplace
        and not isinstance(unit.type(name), ty.Unknown)
    ):
        return
    loops = unit.taping[stmt.sid]
    defs = unit.defs.get(name, ())
    if not unit.loops[stmt.sid] and len(defs) == 1 and name not in unit.params:
        return
    if name not in bound[stmt.sid] and name not in found.initial:
        found.initial.append(name)
    found.pairs[stmt.sid] = Save(stmt.sid, name, "before", bool(loops))


def bound_before(unit: Unit) -> dict[int, NameSet]:
    """For each statement the variables that surely have a value before it."""
    out: dict[int, NameSet] = {}

    def visit(block: ir.Block, have: NameSet) -> NameSet | None:
        now: NameSet | None = have
        for stmt in block:
            if now is None:
                out[stmt.sid] = have
                for b in ir.blocks(stmt):
                    visit(b, have)
                continue
            out[stmt.sid] = now
            match stmt:
                case ir.If():
                    arms = [visit(stmt.body, now), visit(stmt.orelse, now)]
                    alive = [a for a in arms if a is not None]
                    now = reduce(and_, alive) if alive else None
                case ir.For():
                    visit(stmt.body, now | [stmt.target.name])
                case ir.While():
                    visit(stmt.body, now)
                case ir.With():
                    now = visit(stmt.body, now)
                case ir.Try():
                    visit(stmt.body, now)
                    for h in stmt.handlers:
                        visit(h.body, now)
                    visit(stmt.orelse, now)
                    last = visit(stmt.final, now)
                    now = now if last is None else last
                case ir.Exit():
                    now = None
                case _:
                    now = now | [v.name for v in ir.writes(stmt)]
                    if unit.leaves_saved(stmt):
                        now = now | [saved_name(stmt)]
        return now

    visit(unit.body, NameSet() | unit.params)
    return out


__all__ = ["Save", "bound_before", "computed_again", "place"]
