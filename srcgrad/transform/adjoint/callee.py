"""User functions called by a differentiated function: each is compiled once for each use it is put
to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from srcgrad.analysis.effects import RESULT, may_hold_memory, summary
from srcgrad.analysis.targets import Bound, Packed, User, bound_atoms
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
        if not unit.differentiates(stmt) and not only_compiled(stmt, target):
            return None
        slots = [bound_atoms(b) for b in target.args]
        bounds: list[Bound] = list(target.args)
        if target.closure is not None:
            n = len(target.types) - len(slots)
            slots += [(target.closure,)] * n
            bounds += [target.closure] * n
        active = tuple(
            any(unit.is_active(a) for a in atoms) and ty.can_be_active(t)
            for atoms, t in zip(slots, target.types, strict=True)
        )
        groups = tuple(
            self._group(unit, stmt, b, t, target)
            for b, t in zip(bounds, target.types, strict=True)
        )
        result_active = isinstance(stmt, ir.Assign) and unit.is_active(stmt.target)
        result_memory = result_active and unit.kind(stmt.target.name) == "memory"  # type: ignore[union-attr]
        lanes = result_active and not result_memory and stmt.target.name in unit.masked  # type: ignore[union-attr]
        spec = Spec(
            target.fn, target.types, active, _normal(groups), result_active, result_memory, lanes
        )
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
        result = "none" if not result_active else "memory" if result_memory else "value"
        memory = any(g is not None and a for g, a in zip(groups, active, strict=True))
        return CompiledCallee(forward, reverse, result, memory, shadows, returned, lanes)

    def _group(self, unit: Unit, stmt: ir.Stmt, b: Bound, t: ty.Type, target: User) -> str | None:
        """The memory class of an argument, None when its adjoint is passed by value."""
        if not may_hold_memory(t):
            return None
        atoms = [a for a in bound_atoms(b) if isinstance(a, ir.Var)]
        classes = {
            unit.fx.root(a.name) for a in atoms if unit.fx.memory(a.name) and unit.is_active(a)
        }
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


def only_compiled(stmt: ir.Assign | ir.Effect, target: User) -> bool:
    """Whether a call can't be written as the user did: nested functions are not values there."""
    fn = stmt.value.fn if isinstance(stmt.value, ir.Call) else None
    nested = isinstance(fn, ir.Global) and fn.root.key == "<nested>"
    return nested or target.closure is not None or any(map(_holds_closure, target.types))


def _holds_closure(t: ty.Type) -> bool:
    match t:
        case ty.ClosureType():
            return True
        case ty.Tuple(items):
            return any(map(_holds_closure, items))
        case ty.List(item):
            return item is not None and _holds_closure(item)
        case ty.Dict(items):
            return items is not None and any(_holds_closure(v) for _, v in items)
        case _:
            return False


def _normal(groups: tuple[str | None, ...]) -> tuple[int | None, ...]:
    numbers: dict[str, int] = {}
    return tuple(None if g is None else numbers.setdefault(g, len(numbers)) for g in groups)


__all__ = ["RESULT", "Callees", "CompiledCallee", "summary"]
