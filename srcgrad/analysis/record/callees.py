"""What a call of a user function is compiled for, what its reverse sweep reads of the caller's
arrays, and what it changes of them."""

from __future__ import annotations

from dataclasses import dataclass

from srcgrad.analysis.effects import RESULT, may_hold_memory, summary
from srcgrad.analysis.targets import Bound, Packed, User, bound_atoms
from srcgrad.analysis.unit import Spec, Unit, make_unit
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names


def slots_of(target: User) -> list[Bound]:
    """The arguments of a call by parameter; a closure stands for each variable it captures."""
    out: list[Bound] = list(target.args)
    if target.closure is not None:
        out += [target.closure] * (len(target.types) - len(out))
    return out


def spec_of_call(unit: Unit, stmt: ir.Assign | ir.Effect, target: User) -> Spec:
    """What the callee of a statement is compiled for, but for what it has to keep."""
    slots = slots_of(target)
    active = tuple(
        any(unit.is_active(a) for a in bound_atoms(b)) and ty.can_be_active(t)
        for b, t in zip(slots, target.types, strict=True)
    )
    groups = classes_of_call(unit, stmt, target)
    result_active = isinstance(stmt, ir.Assign) and unit.is_active(stmt.target)
    result_memory = result_active and unit.kind(stmt.target.name) == "memory"  # type: ignore[union-attr]
    lanes = result_active and not result_memory and stmt.target.name in unit.masked  # type: ignore[union-attr]
    return Spec(
        target.fn, target.types, active, _normal(groups), result_active, result_memory, lanes
    )


def classes_of_call(unit: Unit, stmt: ir.Stmt, target: User) -> tuple[str | None, ...]:
    """The memory class of each argument, None where its adjoint is passed by value."""
    return tuple(
        _class_of(unit, stmt, b, t) for b, t in zip(slots_of(target), target.types, strict=True)
    )


def _class_of(unit: Unit, stmt: ir.Stmt, b: Bound, t: ty.Type) -> str | None:
    if not may_hold_memory(t):
        return None
    atoms = [a for a in bound_atoms(b) if isinstance(a, ir.Var)]
    classes = {unit.fx.root(a.name) for a in atoms if unit.fx.memory(a.name) and unit.is_active(a)}
    if not classes:
        return None
    if isinstance(b, Packed):
        raise located(
            UnsupportedSyntax,
            stmt.loc,
            "arrays that are written into are passed through *args or **kwargs",
            fixes=["pass them as named parameters"],
        )
    return classes.pop()


def _normal(groups: tuple[str | None, ...]) -> tuple[int | None, ...]:
    numbers: dict[str, int] = {}
    return tuple(None if g is None else numbers.setdefault(g, len(numbers)) for g in groups)


def written_by(unit: Unit, stmt: ir.Stmt) -> list[ir.Var]:
    """The variables whose memory a call that no derivative passes through writes into: what is
    kept for it is the caller's business."""
    target = unit.facts.targets.get(stmt.sid)
    if not isinstance(target, User) or unit.differentiates(stmt):
        return []
    found = summary(unit.program, target.fn, target.types)
    out: dict[ir.Var, None] = {}
    for k, b in zip(found.params, slots_of(target), strict=True):
        if k in found.stored:
            out |= {a: None for a in bound_atoms(b) if isinstance(a, ir.Var)}
    return list(out)


# ---- what the reverse sweep of a callee reads ----------------------------------------------


def read_back(unit: Unit, stmt: ir.Assign | ir.Effect, target: User) -> set[str]:
    """The caller's memory classes whose contents after a call the reverse of the call reads."""
    handed = [a for a in (*ir.operands(stmt.value), *ir.writes(stmt)) if isinstance(a, ir.Var)]
    every = {unit.fx.root(a.name) for a in handed if unit.fx.memory(a.name)}
    if not every or target.closure is not None or not unit.differentiates(stmt):
        return every
    found = _of(unit, spec_of_call(unit, stmt, target))
    if found is None:
        return every
    out: set[str] = set()
    for k, b in enumerate(target.args):
        if k in found.read:
            out |= {unit.fx.root(a.name) for a in bound_atoms(b) if isinstance(a, ir.Var)}
    if -1 in found.read:
        out |= {unit.fx.root(v.name) for v in ir.writes(stmt)}
    return out & every


def restored_by(unit: Unit, stmt: ir.Stmt) -> set[str]:
    """The memory of the caller that the reverse of a call may bring back to older contents."""
    target = unit.facts.targets.get(stmt.sid)
    if not isinstance(stmt, ir.Assign | ir.Effect) or not isinstance(target, User):
        return set()
    if not unit.differentiates(stmt):
        return set()
    root = unit.fx.root
    slots = dict(enumerate(slots_of(target)))
    found = _of(unit, spec_of_call(unit, stmt, target))
    places = {-1, *slots} if found is None else found.restored
    out = set(unit.kept_by_call.get(stmt.sid, ()))
    for k in places:
        atoms = ir.writes(stmt) if k == -1 else bound_atoms(slots[k])
        out |= {root(a.name) for a in atoms if isinstance(a, ir.Var)}
    return out


@dataclass(frozen=True)
class _Back:
    """The parameters (-1: the result) whose contents the reverse of a callee reads, and those
    that it brings back to what they were."""

    read: frozenset[int]
    restored: frozenset[int]


def _of(unit: Unit, spec: Spec) -> _Back | None:
    """What is known of the reverse of a callee; None inside its own recursion."""
    known: dict[Spec, _Back | None] = unit.program.__dict__.setdefault("_back", {})
    if spec not in known:
        known[spec] = None  # what a recursive call is told
        known[spec] = _found(unit, spec)
    return known[spec]


def _found(unit: Unit, spec: Spec) -> _Back:
    from srcgrad.analysis.record.restoring import restores
    from srcgrad.analysis.recording import record

    callee = make_unit(unit.program, spec)
    taken = {n.split("%")[0] for n in callee.facts.types} | set(callee.params)
    found = record(callee, Names(taken - {""}))
    fx = callee.fx
    values = {fx.root(n) for n in found.values}
    read, restored = set(), set()
    returned = {RESULT}  # under other names before
    while older := {m.source for m in fx.moves if m.target in returned} - returned:
        returned |= older
    for k, name in [*enumerate(callee.params), *((-1, n) for n in sorted(returned))]:
        root = fx.root(name)
        if ("@" + root in found.at_exit) if fx.memory(name) else root in values:
            read.add(k)
        if restores(found, name):
            restored.add(k)
    return _Back(frozenset(read), frozenset(restored))


__all__ = ["classes_of_call", "read_back", "restored_by", "slots_of", "spec_of_call", "written_by"]
