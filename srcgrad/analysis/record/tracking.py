"""Where the shadow of an array is made: in the forward sweep beside the array, or in the reverse
sweep."""

from __future__ import annotations

from srcgrad.analysis.targets import Container, Library
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def tracked_classes(unit: Unit) -> dict[str, bool]:
    """For each memory class, by its root, whether shadows are made in the forward sweep.

    A class of plain arrays with one origin, each name bound once, gets its shadow in the reverse
    sweep; all others are tracked: the shadow is made where the array is."""
    classes: dict[str, list[str]] = {}
    for name in unit.facts.types:
        if unit.fx.memory(name):
            classes.setdefault(unit.fx.root(name), []).append(name)
    return {root: not _late(unit, root, sorted(names)) for root, names in classes.items()}


def _late(unit: Unit, root: str, members: list[str]) -> bool:
    origins = 0
    for name in members:
        if not isinstance(unit.type(name), ty.Array):
            return False
        defs = [d for d in unit.defs.get(name, ()) if not (isinstance(d, ir.Assign) and d.inplace)]
        if name in unit.params:
            if defs:
                return False
            origins += 1
            continue
        if len(defs) != 1 or not isinstance(defs[0], ir.Assign) or unit.user_call(defs[0]):
            return False
        if isinstance(unit.facts.targets.get(defs[0].sid), Container):
            target = unit.facts.targets[defs[0].sid]
            if not (isinstance(target, Container) and target.name == "alias"):
                return False
        entry = unit.facts.targets.get(defs[0].sid)
        if isinstance(entry, Library) and entry.entry.view == "maybe":
            return False
        expr = defs[0].value
        if isinstance(expr, ir.Index) and unit.aliases(defs[0]) and not unit.basic(expr.key):
            return False
        # The origin is at home where its members are used, a view where it is used itself.
        used = members if unit.aliases(defs[0]) is None else [name]
        origins += used is members
        if not _stays_home(unit, used, unit.place[defs[0].sid]):
            return False
    if origins != 1 or (unit.fx.root(root) == unit.fx.root("%result") and unit.spec.result_memory):
        return False
    if any(
        g is not None for g, n in zip(unit.spec.groups, unit.params, strict=False) if n in members
    ):
        return False
    return not _passed_on(unit, members)


def _stays_home(unit: Unit, members: list[str], home: tuple[tuple[int, int], ...]) -> bool:
    """Whether all uses lie in the block of a binding."""
    prefix, block = home[:-1], home[-1][0]
    for name in members:
        spots = [*unit.readers.get(name, ()), *unit.defs.get(name, ())]
        for s in spots:
            path = unit.place[s.sid]
            if path[: len(prefix)] != prefix or len(path) <= len(prefix):
                return False
            if path[len(prefix)][0] != block:
                return False
    return True


def _passed_on(unit: Unit, members: list[str]) -> bool:
    """Whether a member goes into a user function (which then shares its shadow)."""
    group = set(members)
    for stmt in ir.walk(unit.body):
        if unit.user_call(stmt) is not None and isinstance(stmt, ir.Assign | ir.Effect):
            if any(isinstance(a, ir.Var) and a.name in group for a in ir.operands(stmt.value)):
                return True
    return False


__all__ = ["tracked_classes"]
