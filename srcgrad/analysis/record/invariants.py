"""Numbers that every round of a loop computes anew, and that are the same each time."""

from __future__ import annotations

from dataclasses import dataclass, field

from srcgrad.analysis.targets import Library, writes_argument
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


@dataclass
class Invariants:
    """Answers for one unit: what the reverse sweep finds in a variable, `t = math.sqrt(2.0)`, is
    what each round had in it."""

    unit: Unit
    apart: frozenset[int] = frozenset()  # loops whose rounds do not follow one another
    _known: dict[str, bool] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether a variable that a loop binds holds one number whenever it is bound."""
        got = self._known.get(name)
        if got is None:
            self._known[name] = False  # of what depends on itself
            got = self._known[name] = self._is_one(name)
        return got

    def _is_one(self, name: str) -> bool:
        unit = self.unit
        defs = unit.defs.get(name, [])
        if len(defs) != 1 or name in unit.params or not isinstance(unit.type(name), ty.Number):
            return False
        stmt = defs[0]
        if not isinstance(stmt, ir.Assign) or stmt.inplace is not None:
            return False
        if not unit.loops[stmt.sid] or self.apart.intersection(unit.loops[stmt.sid]):
            return False
        if not isinstance(stmt.value, ir.Op | ir.Call):
            return False
        target = unit.facts.targets.get(stmt.sid)
        if not isinstance(target, Library) or not target.entry.pure or writes_argument(target):
            return False
        return all(self._is_same(a, stmt) for a in ir.operands(stmt.value))

    def _is_same(self, a: ir.Atom, stmt: ir.Assign) -> bool:
        """Whether an operand is the same number in all rounds of the loops around a statement."""
        unit = self.unit
        if not isinstance(a, ir.Var):
            return True
        if not isinstance(unit.facts.of(a), ty.Number | ty.Literal):
            return False
        defs = unit.defs.get(a.name, [])
        if a.name in unit.params or not defs:
            return a.name in unit.params and not defs
        if len(defs) != 1 or isinstance(defs[0], ir.For):
            return False
        around = set(unit.loops[stmt.sid])
        return not around.intersection(unit.loops[defs[0].sid]) or self.has(a.name)


__all__ = ["Invariants"]
