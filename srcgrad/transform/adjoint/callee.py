"""User functions called by a differentiated function: each is compiled once for each use it is put
to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from srcgrad.analysis.record.callees import classes_of_call, slots_of, spec_of_call
from srcgrad.analysis.targets import Bound, Packed, User
from srcgrad.analysis.unit import Spec, Unit
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform.adjoint.closures import Part, Plain


@dataclass
class CompiledCallee:
    """The two functions of a callee, and how a call site talks to them."""

    forward: str
    reverse: str
    result: str  # "value", "memory" or "none"
    memory: bool  # it writes or passes on memory of its arguments
    shadows: list[ir.Atom]  # arguments whose shadows follow the arguments of forward
    returned: list[Bound | Part]  # arguments whose adjoints reverse returns, in order
    lanes: bool = False  # reverse takes a mask of the lanes of the result that count


@dataclass
class Callees:
    """Specialisations of callees by what they are compiled for."""

    compile: Callable[[Spec], tuple[str, str]]
    plain: Plain
    names: dict[Spec, tuple[str, str]] = field(default_factory=dict)
    _sites: dict[tuple[int, int], CompiledCallee | None] = field(default_factory=dict)

    def of(self, unit: Unit, stmt: ir.Assign | ir.Effect, target: User) -> CompiledCallee | None:
        """The callee of a statement, compiled; None when no derivative passes through the call."""
        key = (id(unit), stmt.sid)
        if key not in self._sites:
            self._sites[key] = self._of(unit, stmt, target)
        return self._sites[key]

    def _of(self, unit: Unit, stmt: ir.Assign | ir.Effect, target: User) -> CompiledCallee | None:
        is_given = only_compiled(target) and stmt.sid not in unit.facts.replayed
        if not unit.differentiates(stmt) and not is_given:
            return None
        bounds, groups = slots_of(target), classes_of_call(unit, stmt, target)
        spec = spec_of_call(unit, stmt, target)
        kept = unit.kept_by_call.get(stmt.sid, set())
        spec = replace(
            spec,
            kept=frozenset(
                k for k, g in zip(spec.groups, groups, strict=True) if k is not None and g in kept
            ),
        )
        active = spec.active
        forward, reverse = self.compile(spec)
        shadows = [
            b
            for b, g, a in zip(bounds, groups, active, strict=True)
            if g is not None and a and not isinstance(b, Packed)
        ]
        receivers: list[Bound | Part] = list(bounds[: len(target.args)])
        if isinstance(target.closure, ir.Var):
            receivers += [Part(target.closure, k) for k in range(len(bounds) - len(receivers))]
        returned = [
            b
            for b, g, a, t in zip(receivers, groups, active, target.types, strict=True)
            if a and (g is None or not isinstance(t, ty.Array))
        ]
        if target.closure is not None and any(g is not None for g in groups[len(target.args) :]):
            raise located(
                UnsupportedSyntax,
                stmt.loc,
                "a nested function that captures arrays which are written into is called "
                "through a "
                "variable",
                fixes=["pass what it captures as arguments"],
            )
        shared = "memory" if spec.result_memory else "value"
        result = shared if spec.result_active else "none"
        memory = any(g is not None and a for g, a in zip(groups, active, strict=True))
        return CompiledCallee(forward, reverse, result, memory, shadows, returned, spec.lanes)


def only_compiled(target: User) -> bool:
    """Whether a call can't be written as the user did: nested functions are not values there."""
    return target.closure is not None or any(map(ty.holds_closure, target.types))


__all__ = ["Callees", "CompiledCallee"]
