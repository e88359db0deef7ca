"""What the forward sweep must keep for the reverse sweep (the "to be recorded" analysis).

A value is kept only when the reverse of a statement already executed reads it and an assignment
is about to overwrite it (Hascoet, Naumann, Pascual, "To be recorded" analysis in reverse-mode
automatic differentiation, 2005); a store keeps the elements it overwrites, never the array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from srcgrad.analysis.effects import WRITES, may_hold_memory
from srcgrad.analysis.record.again import SHAPE
from srcgrad.analysis.record.callees import written_by
from srcgrad.analysis.record.checkpoint import State, given_to, states_of
from srcgrad.analysis.record.control import Control, Instrument, reversed_, upward_exposed
from srcgrad.analysis.record.invariants import Invariants
from srcgrad.analysis.record.needs import Needs, NeedsTable, saved_name
from srcgrad.analysis.record.placement import Save, place
from srcgrad.analysis.record.tracking import tracked_classes
from srcgrad.analysis.record.trying import close_handlers
from srcgrad.analysis.targets import Container, Library, User, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names

Live = frozenset[str]  # variables, and "@root" for the contents of a memory class


@dataclass
class Recording:
    unit: Unit
    needs: NeedsTable
    control: Control
    saves: dict[int, list[Save]] = field(default_factory=dict)
    undone: set[int] = field(default_factory=set)  # stores whose overwritten elements are kept
    tracked: dict[str, bool] = field(default_factory=dict)  # class root -> shadows made forward
    pairs: dict[int, Save] = field(default_factory=dict)  # bindings of tracked variables
    initial: list[str] = field(default_factory=list)  # variables bound before anything else
    reversed_: set[int] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)  # every variable that the reverse sweep reads
    values: set[str] = field(default_factory=set)  # those of which it reads more than the shape
    at_exit: set[str] = field(default_factory=set)  # what is needed where the function ends
    # handlers (of which `try`, the how manieth) that the reverse sweep can't go back through
    closed: set[tuple[int, int]] = field(default_factory=set)
    states: dict[int, State] = field(default_factory=dict)  # of checkpointed loops
    # checkpointed loop -> memory classes whose contents at its entry are read before it
    rewound: dict[int, set[str]] = field(default_factory=dict)
    invariants: Invariants = field(init=False)  # numbers that loops bind, the same each time

    def is_tracked(self, name: str) -> bool:
        """Whether a memory variable's shadow is made in the forward sweep, where the array is."""
        if self.unit.kind(name) != "memory" or self.needs.is_place(name):
            return False
        return self.tracked.get(self.unit.fx.root(name), True)


def record(unit: Unit, names: Names) -> Recording:
    """Decide what is kept, and rewrite the unit's body so that the way taken is known."""
    needs = NeedsTable(unit)
    unit.masked = needs.lanes.masked
    found = Recording(unit, needs, Control())
    found.states = states_of(unit)
    found.tracked = tracked_classes(unit)
    flow = _Flow(found)
    flow.run()
    found.reversed_ = reversed_(unit, {*flow.undone, *flow.saved})
    work = Instrument(unit, needs, names, found.reversed_, flow.needed_anywhere())
    body = work.run()
    found.control = work.control
    if work.added:
        unit.refresh(body)
        found.states = states_of(unit)
        needs.forget()
    if work.added or not all(map(ir.is_simple, unit.body)):
        # Once more, with what the reverse sweep asks of branches and loops.
        same = () if work.added else [k for k in flow.cache if ir.is_simple(unit.by_sid[k])]
        known = {k: flow.cache[k] for k in same}
        flow = _Flow(found, known)
        flow.run()
        found.reversed_ = reversed_(unit, {*flow.undone, *flow.saved})
    found.undone = flow.undone
    found.rewound = flow.rewound
    found.values, found.at_exit = flow.values, flow.at_exit
    unit.kept_by_call = flow.kept_by_call
    found.needed = flow.needed_anywhere()
    place(found, flow.saved, flow.valued, flow.consumers, flow.values)
    close_handlers(found)
    return found


# ---- the flow of needs -----------------------------------------------------------------


class _Writes(NamedTuple):
    """What a statement changes: the variables that it binds, the memory classes that it writes,
    and whether it calls a user's function."""

    names: list[str]
    classes: list[str]
    calls: bool


class _Flow:
    """Needs at each point, forward through the program, loops to a fixed point."""

    def __init__(self, found: Recording, known: dict[int, Needs] | None = None) -> None:
        self.found = found
        self.unit = found.unit
        self.saved: dict[int, set[str]] = {}
        self.valued: dict[int, set[str]] = {}  # those of which more than the shape is read
        self.undone: set[int] = set()
        self.rewound: dict[int, set[str]] = {}
        self.kept_by_call: dict[int, set[str]] = {}
        self.values: set[str] = set()
        self.at_exit: set[str] = set()
        self.consumers: dict[str, set[int]] = {}
        self.contents: set[str] = set()
        self.breaks: list[list[Live]] = []
        self.continues: list[list[Live]] = []
        self.cache: dict[int, Needs] = known or {}
        self.writes: dict[int, _Writes] = {}
        self.heads: dict[int, Live] = {}  # what is live at the head of each loop
        self.used: set[int] = set()  # statements whose needs are among `consumers`
        self.exposed: dict[int, set[str]] = {}  # what an iteration reads of earlier ones
        found.invariants = Invariants(found.unit, frozenset(found.states))

    def run(self) -> None:
        start: Live = frozenset()
        unit = self.unit
        for name, group in zip(unit.params, unit.spec.groups, strict=False):
            if group in unit.spec.kept and unit.fx.memory(name):
                # The caller reads these elements again: leave them as they were.
                start |= {"@" + unit.fx.root(name)}
        self.at_exit |= self.block(unit.body, start) or set()

    def needed_anywhere(self) -> set[str]:
        return {n.removeprefix(SHAPE) for n in self.consumers}

    def of(self, stmt: ir.Stmt) -> Needs:
        got = self.cache.get(stmt.sid)
        if got is None:
            got = self.cache[stmt.sid] = self.found.needs.of(stmt)
            self._control(stmt, got)
        return got

    def _control(self, stmt: ir.Stmt, out: Needs) -> None:
        """Tests, bounds and zeros that the reverse of a compound statement reads."""
        found, control = self.found, self.found.control
        if isinstance(stmt, ir.If) and (
            stmt.sid in found.reversed_ or stmt.sid in control.by_test
        ):
            names, contents = found.needs.roots_of(ir.operands(stmt.test))
            out.after |= names
            out.contents |= contents
        for table in (control.by_marker, control.caught):
            if stmt.sid in table:
                out.after.add(table[stmt.sid][0])
        if stmt.sid in control.tried:
            out.after.add(control.tried[stmt.sid])
        if isinstance(stmt, ir.For | ir.While) and stmt.sid in found.reversed_:
            if stmt.sid in control.trips:
                out.after.add(control.trips[stmt.sid])
            if isinstance(stmt, ir.For):
                atoms = [stmt.start, stmt.step]
                if stmt.sid not in control.trips:
                    atoms.append(stmt.stop)
                if stmt.sid in found.states and stmt.checkpoint is not None:
                    atoms.append(stmt.checkpoint)
                names, _ = found.needs.roots_of(atoms)
                out.after |= names
        if isinstance(stmt, ir.For | ir.While | ir.If | ir.Try) and stmt.sid in found.reversed_:
            out.after |= self._zeros(stmt)
        if isinstance(stmt, ir.For) and stmt.sid in found.states:
            read, contents = given_to(self.unit, stmt, found.states[stmt.sid])
            out.after |= read
            out.contents |= contents

    def _zeros(self, stmt: ir.Stmt) -> set[str]:
        """Arrays read inside a compound statement may need zeros of their shape behind it."""
        unit = self.unit
        out: set[str] = set()
        for inner in ir.walk(tuple(s for b in ir.blocks(stmt) for s in b)):
            if not unit.differentiates(inner):
                continue
            for v in ir.reads(inner):
                if unit.is_active(v) and unit.kind(v.name) == "value":
                    v = self.found.needs.container(v)
                    if not self._outlives(v.name, stmt):
                        continue
                    out |= self.found.needs.shapes_of([v])
        return out

    def _outlives(self, name: str, stmt: ir.Stmt) -> bool:
        """Whether a variable may have its value from outside a compound statement, or from an
        earlier iteration of it."""
        unit = self.unit
        if name in unit.params:
            return True
        here = unit.place[stmt.sid]
        defs = [unit.place[d.sid] for d in unit.defs.get(name, ())]
        if any(p[: len(here)] != here for p in defs):
            return True
        if not isinstance(stmt, ir.For | ir.While):
            return False
        if stmt.sid not in self.exposed:
            self.exposed[stmt.sid] = upward_exposed(stmt.body)
        return name in self.exposed[stmt.sid]

    def use(self, stmt: ir.Stmt, needs: Needs) -> None:
        for n in () if stmt.sid in self.used else (*needs.before, *needs.after):
            self.consumers.setdefault(n.removeprefix(SHAPE), set()).add(stmt.sid)
            if not n.startswith(SHAPE):
                self.values.add(n)
        self.used.add(stmt.sid)

    def block(self, block: ir.Block, live: Live | None) -> Live | None:
        for stmt in block:
            if live is None:
                return None
            live = self.stmt(stmt, live)
        return live

    def stmt(self, stmt: ir.Stmt, live: Live) -> Live | None:
        needs = self.of(stmt)
        self.use(stmt, needs)
        match stmt:
            case ir.If():
                arms = [self.block(stmt.body, live), self.block(stmt.orelse, live)]
                alive = [a for a in arms if a is not None]
                return frozenset().union(*alive) | needs.after if alive else None
            case ir.For() if stmt.sid in self.found.states:
                return self.checkpointed(stmt, live, needs)
            case ir.For() | ir.While():
                return self.loop(stmt, live, needs)
            case ir.With():
                inner = self.block(stmt.body, live)
                extra = needs.before | {"@" + c for c in needs.contents}
                return None if inner is None else inner | extra
            case ir.Try():
                tried = self.try_(stmt, live)
                return None if tried is None else tried | needs.after
            case ir.Exit(kind="break"):
                self.breaks[-1].append(live)
                return None
            case ir.Exit(kind="continue"):
                self.continues[-1].append(live)
                return None
            case ir.Exit():
                self.at_exit |= live
                return None
        return self.simple(stmt, live, needs)

    def simple(self, stmt: ir.Stmt, live: Live, needs: Needs) -> Live:
        live = _joined(live, needs.before)
        writes = self.writes.get(stmt.sid)
        if writes is None:
            writes = self.writes[stmt.sid] = self.writes_of(stmt)
        if writes.calls:
            written = {n.removeprefix("@") for n in live if n.startswith("@")}
            self.kept_by_call.setdefault(stmt.sid, set()).update(written)
        for root in writes.classes:
            if "@" + root in live or root in needs.contents:
                self.undone.add(stmt.sid)
        if stmt.sid in self.undone:
            undo = self.to_undo(stmt)
            self.use(stmt, undo)
            live = live | undo.before | {"@" + c for c in undo.contents}
        if needs.contents:
            live = _joined(live, {"@" + c for c in needs.contents})
        live = self.overwritten(stmt, writes.names, live)
        if stmt.sid in self.found.control.resets:
            live = live.union(writes.names)  # which exit was taken is asked in the reverse sweep
        return _joined(live, needs.after)

    def writes_of(self, stmt: ir.Stmt) -> _Writes:
        """What a statement that holds no others binds and writes."""
        names = [v.name for v in ir.writes(stmt)]
        if isinstance(stmt, ir.Assign) and stmt.inplace and self.unit.fx.memory(stmt.target.name):
            # The array stays: only its contents change.
            if not isinstance(self.unit.type(stmt.target.name), ty.Unknown):
                names = []
        if self.unit.leaves_saved(stmt):
            names.append(saved_name(stmt))
        return _Writes(names, self.stores(stmt), self.unit.user_call(stmt) is not None)

    def overwritten(self, stmt: ir.Stmt, names: Iterable[str], live: Live) -> Live:
        """Keep what is still needed of variables that a statement binds."""
        for name in names:
            if name in live and self.found.invariants.has(name):
                continue
            if name in live:
                self.valued.setdefault(stmt.sid, set()).add(name)
            if name in live or SHAPE + name in live:
                self.saved.setdefault(stmt.sid, set()).add(name)
                live = live - {name, SHAPE + name}
        return live

    def to_undo(self, stmt: ir.Stmt) -> Needs:
        """What is read where a write is undone: the array and the index, not the elements."""
        if isinstance(stmt, ir.Assign) and stmt.inplace:
            if isinstance(self.unit.type(stmt.target.name), ty.Unknown):
                return Needs()  # bound anew or written to: both are kept
        keys = ir.key_atoms(stmt.key) if isinstance(stmt, ir.Store) else []
        names, contents = self.found.needs.roots_of(keys)
        return Needs(names | self.found.needs.roots_of(self.written(stmt))[0], set(), contents)

    def stores(self, stmt: ir.Stmt) -> list[str]:
        """The memory classes that a statement writes."""
        return [self.unit.fx.root(v.name) for v in self.written(stmt)]

    def written(self, stmt: ir.Stmt) -> list[ir.Var]:
        """The variables through which a statement writes memory."""
        match stmt:
            case ir.Assign() if stmt.inplace and self.unit.fx.memory(stmt.target.name):
                return [stmt.target]
            case ir.Store(base=ir.Var() as base) | ir.StoreAttr(base=ir.Var() as base):
                return [base]
            case ir.Assign() | ir.Effect():
                return [a for a in self._written_by_call(stmt) if isinstance(a, ir.Var)]
            case _:
                return []

    def _written_by_call(self, stmt: ir.Assign | ir.Effect) -> list[ir.Atom]:
        match self.unit.facts.targets.get(stmt.sid):
            case Container(name) if isinstance(stmt.value, ir.Method) and name in WRITES:
                return [stmt.value.obj]
            case Library(entry, args, _):
                hit = [b for n, b in args if n in (*entry.writes, "out")]
                return [a for b in hit for a in bound_atoms(b)]
            case User():
                # A callee that has a reverse sweep keeps what it overwrites.
                return list(written_by(self.unit, stmt))
            case _:
                return []

    def loop(self, stmt: ir.For | ir.While, live: Live, needs: Needs) -> Live | None:
        target = stmt.target.name if isinstance(stmt, ir.For) else None
        head = live if target is None else self.overwritten(stmt, [target], live)
        # Where a loop around comes here again, it starts from what was found the last time.
        head |= self.heads.get(stmt.sid, frozenset())
        while True:
            self.breaks.append([])
            self.continues.append([])
            end = self.block(stmt.body, head)
            back = [x for x in (end, *self.continues.pop()) if x is not None]
            out = self.breaks.pop()
            merged: Live = head.union(*back)
            if target:
                merged -= {target}
            if merged == head:
                break
            head = merged
        self.heads[stmt.sid] = head
        forever = isinstance(stmt, ir.While) and stmt.test == ir.Const(True)
        ends = out if forever else [head, *out]
        if not ends:
            return None
        after: Live = frozenset().union(*ends)
        return (after - {target} if target else after) | needs.after

    def checkpointed(self, stmt: ir.For, live: Live, needs: Needs) -> Live:
        """Its iterations need nothing of each other, and the state at its entry comes back from
        the first snapshot."""
        state = self.found.states[stmt.sid]
        bound = {stmt.target.name}
        for s in ir.walk(stmt.body):
            bound |= {v.name for v in ir.writes(s)}
            if self.unit.leaves_saved(s):
                bound.add(saved_name(s))
        # Before the loop, for most iterations run without records.
        rest = self.overwritten(stmt, sorted(bound), live)
        self.rewound.setdefault(stmt.sid, set()).update(
            root for root in state.written if "@" + root in live
        )
        self.continues.append([])
        end = self.block(stmt.body, frozenset())
        ends = [x for x in (end, *self.continues.pop()) if x is not None]
        kept = rest - {"@" + r for r in state.written}
        kept = kept.union(*ends) - {stmt.target.name}
        return kept | needs.after | {"@" + c for c in needs.contents}

    def try_(self, stmt: ir.Try, live: Live) -> Live | None:
        body = self.block(stmt.body, live)
        inside = live if body is None else live | body
        ends = [self.block(stmt.orelse, body)]
        ends += [self.block(h.body, inside) for h in stmt.handlers]
        alive = [e for e in ends if e is not None]
        merged: Live = frozenset().union(inside, *alive)
        return self.block(stmt.final, merged)


def _joined(live: Live, names: set[str]) -> Live:
    return live if live.issuperset(names) else live | names


__all__ = ["Recording", "Save", "may_hold_memory", "record"]
