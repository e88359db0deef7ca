"""One function to differentiate, with everything known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from srcgrad.analysis.activity import Activity, activity
from srcgrad.analysis.effects import (
    RESULT,
    Effects,
    effects,
    may_hold_memory,
    surely_basic,
    surely_copies,
)
from srcgrad.analysis.facts import Facts
from srcgrad.analysis.inlined import rules_written_out
from srcgrad.analysis.otherwise import with_sources
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Container, Library, User, bound_atoms, chooses
from srcgrad.analysis.views import may_view
from srcgrad.errors import InternalError, NotDifferentiable, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


@dataclass(frozen=True)
class Spec:
    """What a callee is compiled for: argument types, which are active, and which share written
    memory.

    `groups` gives each parameter (captured variables last) the number of its memory class in the
    caller, None where its adjoint is passed by value; `lanes` says that a mask of the lanes that
    count comes with the cotangent of the result (`analysis/record/lanes.py`)."""

    fn: ir.Function
    types: tuple[ty.Type, ...]
    active: tuple[bool, ...]
    groups: tuple[int | None, ...] = ()
    result_active: bool = True
    result_memory: bool = False
    lanes: bool = False
    kept: frozenset[int] = frozenset()  # groups that the caller reads again as they were before


@dataclass
class Unit:
    """A function with its facts; the questions that both sweeps ask are answered here."""

    program: Program
    spec: Spec
    facts: Facts
    fx: Effects
    act: Activity
    body: ir.Block = ()
    kinds: dict[str, str] = field(default_factory=dict)
    masked: set[str] = field(default_factory=set)  # variables with a mask of lanes
    # call -> memory classes that it must leave in the reverse sweep as they were before it
    kept_by_call: dict[int, set[str]] = field(default_factory=dict)
    _bound_in: dict[int, set[str]] = field(default_factory=dict)

    @cached_property
    def params(self) -> list[str]:
        return [p.name for p in self.facts.fn.params] + list(self.facts.fn.free)

    def type(self, name: str) -> ty.Type:
        return self.fx.type(name)

    def is_active(self, a: ir.Atom | str) -> bool:
        name = a if isinstance(a, str) else a.name if isinstance(a, ir.Var) else None
        return name is not None and name in self.act.active

    def kind(self, name: str) -> str:
        """How the adjoint of an active variable is kept: number, value, or memory."""
        got = self.kinds.get(name)
        if got is None:
            if isinstance(self.type(name), ty.Number):
                got = "number"
            else:
                got = "memory" if self.fx.memory(name) else "value"
            self.kinds[name] = got
        return got

    @cached_property
    def defs(self) -> dict[str, list[ir.Stmt]]:
        out: dict[str, list[ir.Stmt]] = {}
        for stmt in ir.walk(self.body):
            for v in ir.writes(stmt):
                out.setdefault(v.name, []).append(stmt)
        return out

    @cached_property
    def place(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """For each statement the path to it: (block number, position) from the outermost block
        in."""
        out: dict[int, tuple[tuple[int, int], ...]] = {}
        counter = [0]

        def visit(block: ir.Block, path: tuple[tuple[int, int], ...]) -> None:
            number = counter[0]
            counter[0] += 1
            for k, stmt in enumerate(block):
                here = (*path, (number, k))
                out[stmt.sid] = here
                for inner in ir.blocks(stmt):
                    visit(inner, here)

        visit(self.body, ())
        return out

    @cached_property
    def by_place(self) -> dict[tuple[tuple[int, int], ...], ir.Stmt]:
        return {self.place[s.sid]: s for s in ir.walk(self.body)}

    @cached_property
    def by_sid(self) -> dict[int, ir.Stmt]:
        return {s.sid: s for s in ir.walk(self.body)}

    @cached_property
    def loops(self) -> dict[int, tuple[int, ...]]:
        """For each statement the loops around it, outermost first."""
        out: dict[int, tuple[int, ...]] = {}

        def visit(block: ir.Block, around: tuple[int, ...]) -> None:
            for stmt in block:
                out[stmt.sid] = around
                deeper = (*around, stmt.sid) if isinstance(stmt, ir.For | ir.While) else around
                for inner in ir.blocks(stmt):
                    visit(inner, deeper)

        visit(self.body, ())
        return out

    def checkpointed(self, stmt: ir.Stmt) -> bool:
        """Whether a loop is run again from snapshots in the reverse sweep, instead of taped."""
        if not isinstance(stmt, ir.For) or stmt.checkpoint is None:
            return False
        return self.program.checkpoints and any(map(self.differentiates, ir.walk(stmt.body)))

    @cached_property
    def taping(self) -> dict[int, tuple[int, ...]]:
        """For each statement the loops that it is executed in more often than it is reversed: all
        around it but leading checkpointed ones, of which one iteration is on record at a time."""
        out: dict[int, tuple[int, ...]] = {}
        for sid, around in self.loops.items():
            k = 0
            while k < len(around) and self.checkpointed(self.by_sid[around[k]]):
                k += 1
            out[sid] = around[k:]
        return out

    def refresh(self, body: ir.Block) -> None:
        """Take a rewritten body."""
        self.body = body
        self._bound_in.clear()
        for name in ("defs", "place", "by_place", "by_sid", "loops", "taping", "readers"):
            self.__dict__.pop(name, None)

    def bound_in(self, loop: ir.For | ir.While) -> set[str]:
        """The variables that the rounds of a loop bind."""
        found = self._bound_in.get(loop.sid)
        if found is None:
            found = {v.name for s in ir.walk(loop.body) for v in ir.writes(s)}
            self._bound_in[loop.sid] = found
        return found

    @cached_property
    def readers(self) -> dict[str, list[ir.Stmt]]:
        out: dict[str, list[ir.Stmt]] = {}
        for stmt in ir.walk(self.body):
            for v in ir.reads(stmt):
                out.setdefault(v.name, []).append(stmt)
        return out

    # ---- what a statement is ----

    def aliases(self, stmt: ir.Assign) -> ir.Var | None:
        """The variable that the target of a statement is another name, view or part of."""
        expr, target = stmt.value, self.facts.targets.get(stmt.sid)
        if not may_hold_memory(self.type(stmt.target.name)):
            return None
        match expr:
            case ir.Var():
                same = self.fx.root(expr.name) == self.fx.root(stmt.target.name)
                return expr if same and may_hold_memory(self.type(expr.name)) else None
            case ir.Index(ir.Var() as obj, key):
                same = self.fx.root(obj.name) == self.fx.root(stmt.target.name)
                if isinstance(self.type(obj.name), ty.Array) and surely_copies(self.facts, key):
                    return None
                return obj if same else None
            case ir.Attr(ir.Var() as obj, _) if target is None:
                return obj
        if isinstance(target, Container) and target.name == "alias":
            arg = ir.operands(expr)[1]
            return arg if isinstance(arg, ir.Var) else None
        if isinstance(target, Library):
            viewed = self.viewed(stmt, target)
            return viewed[0] if len(viewed) == 1 else None
        return None

    def viewed(self, stmt: ir.Assign, call: Library) -> list[ir.Var]:
        """The arrays that the result of a call of a library function may be views of."""
        if call.entry.view == "never" or not call.args:
            return []
        root = self.fx.root(stmt.target.name)
        found = [a for a in may_view(self.facts, call) if isinstance(a, ir.Var)]
        return list(dict.fromkeys(a for a in found if self.fx.root(a.name) == root))

    def user_call(self, stmt: ir.Stmt) -> User | None:
        found = self.facts.targets.get(stmt.sid)
        return found if isinstance(found, User) else None

    def leaves_saved(self, stmt: ir.Stmt) -> bool:
        """Whether a call in the forward sweep returns something for its reverse besides its
        value."""
        found = self.facts.targets.get(stmt.sid)
        if isinstance(found, Library):
            return found.entry.kind == "custom" and self.differentiates(stmt)
        return isinstance(found, User)

    def differentiates(self, stmt: ir.Stmt) -> bool:
        """Whether the reverse sweep has something to do for the statement itself."""
        match stmt:
            case ir.Assign():
                if self.is_active(stmt.target):
                    return True
                found = self.facts.targets.get(stmt.sid)
                if isinstance(found, Container) and found.name == "pop":
                    return self.call_is_active(stmt)
                return self.user_call(stmt) is not None and self.call_is_active(stmt)
            case ir.Store() | ir.StoreAttr():
                return self.is_active(stmt.base)
            case ir.Effect(value=ir.Index() | ir.Attr() | ir.Var()):
                return False  # it is there for its errors alone
            case ir.Effect():
                return self.call_is_active(stmt)
            case ir.Exit(kind="return"):
                return (
                    self.is_active(RESULT)
                    and isinstance(stmt.value, ir.Var)
                    and self.is_active(stmt.value)
                )
            case ir.With(special="adjoint_of"):
                return True
            case _:
                return False

    def call_is_active(self, stmt: ir.Assign | ir.Effect) -> bool:
        """Whether a call made for its effects changes or passes on active values."""
        target = self.facts.targets.get(stmt.sid)
        atoms = [a for a in ir.operands(stmt.value) if self.is_active(a)]
        if isinstance(target, User):
            return any(self.kind(a.name) == "memory" for a in atoms if isinstance(a, ir.Var)) or (
                isinstance(stmt, ir.Assign) and self.is_active(stmt.target)
            )
        if isinstance(target, Container) and isinstance(stmt.value, ir.Method):
            return self.is_active(stmt.value.obj) and self.fx.stored(
                getattr(stmt.value.obj, "name", "")
            )
        if isinstance(target, Library):
            return any(n in (*target.entry.writes, "out") for n, _ in target.args) and bool(atoms)
        return bool(atoms)

    def place_type(self, stmt: ir.Store) -> ty.Type:
        """The type of what a store overwrites."""
        from srcgrad.analysis.infer import Inference

        found = Inference(self.program, self.facts).index(ir.Index(stmt.base, stmt.key), stmt)
        return found or ty.UNKNOWN

    def truncates(self, stmt: ir.Stmt) -> bool:
        """Whether a value that may have a derivative goes into an array of integers."""
        if not isinstance(stmt, ir.Store) or not isinstance(stmt.value, ir.Var):
            return False
        base = self.facts.of(stmt.base)
        if not isinstance(base, ty.Array) or ty.can_be_active(base):
            return False
        return ty.can_be_active(self.type(stmt.value.name)) and stmt.value.name in self.act.varied

    def may_truncate(self, stmt: ir.Stmt) -> bool:
        """The same, where only the types at run time can tell."""
        if not isinstance(stmt, ir.Store) or not self.truncates(stmt):
            return False
        return isinstance(self.facts.of(stmt.value), ty.Unknown)

    def may_compute(self, stmt: ir.Stmt) -> tuple[ir.Var, ...]:
        """What of the key of `t = u[k]` carries a derivative that u, of a class known only at run
        time, may make use of."""
        if not isinstance(stmt, ir.Assign) or stmt.target.name not in self.act.useful:
            return ()
        expr = stmt.value
        if not isinstance(expr, ir.Index) or not isinstance(self.facts.of(expr.obj), ty.Unknown):
            return ()
        found = [a for a in ir.key_atoms(expr.key) if isinstance(a, ir.Var)]
        return tuple(a for a in found if a.name in self.act.varied)

    def may_choose_array(self, stmt: ir.Stmt) -> bool:
        """Whether max or min may give an array, which is written into, for all that is known."""
        if not isinstance(stmt, ir.Assign) or not chooses(self.facts.targets.get(stmt.sid)):
            return False
        unknown = isinstance(self.type(stmt.target.name), ty.Unknown)
        return unknown and self.fx.stored(stmt.target.name)

    def basic(self, key: ir.Key) -> bool:
        return surely_basic(self.facts, key)


def make_unit(program: Program, spec: Spec) -> Unit:
    """Analyse a function for a specification."""
    from srcgrad.analysis.refused.keyed import refuse_numbers_from_keys
    from srcgrad.analysis.refused.outside import check
    from srcgrad.analysis.refused.texts import refuse_numbers_from_text

    fn = spec.fn
    while True:
        facts = program.facts(fn, spec.types)
        fx, act = _flow(program, spec, facts)
        better = with_sources(facts, act.active)
        if better is None:
            break
        fn = better
    made = Unit(program, spec, facts, fx, act, facts.fn.body)
    made.facts = rules_written_out(made)
    _check_reads(made)
    refuse_truncation(made)
    refuse_numbers_from_text(made)
    refuse_numbers_from_keys(made)
    check(made)
    return made


def _check_reads(unit: Unit) -> None:
    """What a call hands over is among what its statement reads, as all analyses take it to be."""
    for stmt in ir.walk(unit.body):
        target = unit.facts.targets.get(stmt.sid)
        if isinstance(target, User):
            given = {a for b in target.args for a in bound_atoms(b) if isinstance(a, ir.Var)}
            missing = given - set(ir.reads(stmt))
            if missing:
                names = ", ".join(sorted(v.name for v in missing))
                raise located(
                    InternalError, stmt.loc, f"a call is given {names}, which it does not name"
                )


def _flow(program: Program, spec: Spec, facts: Facts) -> tuple[Effects, Activity]:
    """What a function reads and writes, and what in it depends on active arguments."""
    names = [p.name for p in facts.fn.params] + list(facts.fn.free)
    marks = [n for n, g in zip(names, spec.groups, strict=False) if g is not None]
    fx = effects(program, facts, [*marks, RESULT] if spec.result_memory else marks)
    first: dict[int, str] = {}
    for name, group in zip(names, spec.groups or (None,) * len(names), strict=True):
        if group is not None and may_hold_memory(fx.type(name)):
            fx.union(first.setdefault(group, name), name)
    wrt = [n for n, a in zip(names, spec.active, strict=True) if a]
    memory = [n for n in names if fx.memory(n)]
    return fx, activity(program, facts, fx, wrt, memory)


def refuse_truncation(unit: Unit) -> None:
    """A value with a derivative must not go into an array of integers, which truncates it."""
    for stmt in ir.walk(unit.body):
        if isinstance(stmt, ir.Assign) and stmt.target.name in unit.act.varied:
            t = unit.type(stmt.target.name)
            if isinstance(t, ty.Array) and t.dtype == object:
                shown = stmt.target.name.split("%")[0] or "this value"
                raise located(
                    NotDifferentiable,
                    stmt.loc,
                    f"{shown} is an array of dtype object, which can't carry a derivative",
                    chain=unit.act.chain(stmt.target.name),
                    fixes=["make an array of floats"],
                )
        if not isinstance(stmt, ir.Store) or not isinstance(stmt.value, ir.Var):
            continue
        if unit.truncates(stmt) and isinstance(unit.facts.of(stmt.value), ty.Number | ty.Array):
            base = unit.facts.of(stmt.base)
            assert isinstance(base, ty.Array)
            shown = stmt.base.name if isinstance(stmt.base, ir.Var) else "an array"
            raise located(
                NotDifferentiable,
                stmt.loc,
                f"a value with a derivative is stored into {shown}, "
                f"whose dtype {base.dtype} truncates it",
                chain=unit.act.chain(stmt.value.name),
                fixes=[
                    "make the array of floats, for instance np.zeros(n)",
                    "use int(...) if that is meant",
                ],
            )
