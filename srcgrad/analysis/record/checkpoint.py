"""The state of a checkpointed loop: what must be kept so that its iterations can be run again.

State is every variable that an iteration may read as an earlier one left it, and every array from
outside the loop that the body writes.  A variable that holds a number, a tuple of numbers or an
array that nothing writes is kept by name; other arrays are kept as copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from srcgrad.analysis.effects import may_hold_memory, written_in
from srcgrad.analysis.liveness import liveness
from srcgrad.analysis.record.leaving import escaping
from srcgrad.analysis.targets import Library, Uncharted, User
from srcgrad.analysis.unit import Unit
from srcgrad.errors import NotDifferentiable, UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


@dataclass(frozen=True)
class Kept:
    """One variable of the state.  `how`: "value" (by name), "contents" (the loop writes into the
    array and never binds the name again), or "object" (the loop also binds the name)."""

    name: str
    how: str
    written: bool  # does the loop write into what the variable holds
    is_array: bool


@dataclass(frozen=True)
class State:
    kept: tuple[Kept, ...]
    written: frozenset[str]  # memory classes that the loop writes and the snapshots restore

    @property
    def objects(self) -> tuple[Kept, ...]:
        return tuple(k for k in self.kept if k.how == "object")


def states_of(unit: Unit) -> dict[int, State]:
    """The states of a function's checkpointed loops."""
    return {
        s.sid: state_of(unit, s)
        for s in ir.walk(unit.body)
        if isinstance(s, ir.For) and unit.checkpointed(s)
    }


def state_of(unit: Unit, stmt: ir.For) -> State:
    """Find the state of a checkpointed loop, and refuse a loop that can't be run again.

    Raises: UnsupportedSyntax, NotDifferentiable.
    """
    _refuse_exits(stmt)
    _refuse_impure(unit, stmt.body)
    live = liveness(unit.body, lambda s: [v.name for v in ir.reads(s)])
    head = live.before[stmt.body[0].sid] - {stmt.target.name}
    bound = {v.name for s in ir.walk(stmt.body) for v in ir.writes(s) if not _stays(unit, s)}
    stored = written_in(unit.program, unit.fx, stmt.body)
    kept: list[Kept] = []
    for name in sorted(head):
        holds = may_hold_memory(unit.type(name))
        written = holds and unit.fx.root(name) in stored
        if name not in bound and not written:
            continue
        kept.append(_kept(unit, stmt, name, name in bound, written))
    for k in kept:
        if k.how == "contents":
            _refuse_mixture(unit, stmt, k, kept)
    roots = {unit.fx.root(k.name) for k in kept if k.written}
    return State(tuple(kept), frozenset(roots))


def given_to(unit: Unit, stmt: ir.For, state: State) -> tuple[set[str], set[str]]:
    """What the iterations of a checkpointed loop read when they are run again and no snapshot
    holds: variables that they don't bind, and memory classes that they don't write."""
    bound = {v.name for s in (stmt, *ir.walk(stmt.body)) for v in ir.writes(s)}
    read = {v.name for s in ir.walk(stmt.body) for v in ir.reads(s)}
    outside = {name for name in read - bound if name in unit.defs or name in unit.params}
    classes = {unit.fx.root(name) for name in read if unit.fx.memory(name)}
    return outside - {k.name for k in state.kept}, classes - state.written


def _stays(unit: Unit, stmt: ir.Stmt) -> bool:
    """Whether a statement that binds a name surely leaves it with the same array."""
    return (
        isinstance(stmt, ir.Assign)
        and stmt.inplace is not None
        and isinstance(unit.type(stmt.target.name), ty.Array)
    )


def _kept(unit: Unit, stmt: ir.For, name: str, bound: bool, written: bool) -> Kept:
    t = unit.type(name)
    is_array = isinstance(t, ty.Array)
    shown = name.split("%")[0] or "a value"
    if isinstance(t, ty.List | ty.Dict | ty.Object | ty.ClosureType) and (written or bound):
        kind = {ty.List: "a list", ty.Dict: "a dict"}.get(type(t), "an object")
        raise located(
            UnsupportedSyntax,
            stmt.loc,
            f"the checkpointed loop changes {shown}, which is {kind}: the state of such a loop "
            "may hold numbers, arrays and tuples of them",
            fixes=["store into an array that is made before the loop"],
        )
    if not unit.fx.memory(name):
        return Kept(name, "value", False, is_array)
    return Kept(name, "object" if bound else "contents", written, is_array)


def _refuse_mixture(unit: Unit, stmt: ir.For, one: Kept, kept: list[Kept]) -> None:
    """Arrays that are bound again come back as copies: no other name may reach the same memory."""
    root = unit.fx.root(one.name)
    for k in kept:
        if k.how == "object" and unit.fx.root(k.name) == root:
            raise located(
                UnsupportedSyntax,
                stmt.loc,
                f"{one.name.split('%')[0]} may share memory with {k.name.split('%')[0]}, which "
                "the checkpointed loop binds again",
                fixes=[f"make {k.name.split('%')[0]} a copy before the loop"],
            )


def _refuse_exits(stmt: ir.For) -> None:
    for inner in stmt.body:
        for e in [inner] if isinstance(inner, ir.Exit) else escaping(inner):
            if e.kind != "continue":
                raise located(
                    UnsupportedSyntax,
                    e.loc,
                    f"{e.kind} inside a checkpointed loop: its schedule needs the number of "
                    "iterations beforehand",
                    fixes=["let a condition skip the rest of the work instead"],
                )


# ---- what can't be run again ---------------------------------------------------------------


def _refuse_impure(unit: Unit, block: ir.Block) -> None:
    for stmt in ir.walk(block):
        what = impure_call(unit, stmt)
        if what is not None and not is_message(unit, stmt):
            raise located(
                NotDifferentiable,
                stmt.loc,
                f"{what} may do something else when it is called again, as checkpointed loops do",
                fixes=["call it before the loop and store what it gives"],
            )


def is_message(unit: Unit, stmt: ir.Stmt) -> bool:
    """Whether a statement only prints or logs: it is left out where an iteration is run again."""
    target = unit.facts.targets.get(stmt.sid)
    if not isinstance(stmt, ir.Effect) or not isinstance(target, Library):
        return False
    fn = target.entry.target
    return fn is print or (getattr(fn, "__module__", "") or "").split(".")[0] in (
        "logging",
        "warnings",
    )


def impure_call(unit: Unit, stmt: ir.Stmt) -> str | None:
    """What a statement calls that may do something else the second time."""
    return next(_impure(unit, unit.facts.targets.get(stmt.sid), set()), None)


def _impure(unit: Unit, target: object, seen: set[object]) -> Iterator[str]:
    match target:
        case Library(entry):
            if entry.kind == "nondiff" and not entry.pure and not entry.given:
                if not entry.writes:
                    yield entry.name
        case Uncharted(what):
            yield what
        case User(fn, _, _, types):
            if (fn, types) in seen:
                return
            seen.add((fn, types))
            facts = unit.program.facts(fn, types)
            for stmt in ir.walk(facts.fn.body):
                yield from _impure(unit, facts.targets.get(stmt.sid), seen)


__all__ = ["Kept", "State", "given_to", "impure_call", "is_message", "states_of"]
