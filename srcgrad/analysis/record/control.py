"""What the reverse sweep must know of the way the forward sweep took.

Rewrites a body so that this knowledge is ordinary variables: trip counts, markers that say by
which
exit a loop iteration was left, conditions that can't be evaluated again, loop bounds that change.

    while abs(r) > tol:              trips = 0
        r = step(r)          ->      while abs(r) > tol:
                                         trips = trips + 1
                                         r = step(r)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from srcgrad.analysis.record.leaving import always_leaves, escaping
from srcgrad.analysis.record.needs import NeedsTable
from srcgrad.analysis.unit import Unit
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.ir.rebuild import with_blocks

FUNCTION = -1  # the level of a function's own body, beside the sids of loops


@dataclass
class Control:
    """How the reverse sweep finds its way; keyed by statement."""

    trips: dict[int, str] = field(default_factory=dict)  # loop -> its trip count variable
    by_test: set[int] = field(default_factory=set)  # `if` whose test says whether the rest ran
    by_marker: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    resets: dict[int, int] = field(default_factory=dict)  # assignment -> value before it, known
    markers: set[str] = field(default_factory=set)
    last: dict[int, str] = field(default_factory=dict)  # loop -> marker of its last iteration
    # `try` whose handlers may leave: as `by_marker`, for the exits in its handlers
    caught: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    tried: dict[int, str] = field(default_factory=dict)  # `try` -> did its handler run


def reversed_(unit: Unit, kept: set[int]) -> set[int]:
    """Statements, and compound statements around them, that the reverse sweep visits."""
    out: set[int] = set()

    def visit(block: ir.Block) -> bool:
        hit = False
        for stmt in block:
            inner = [visit(b) for b in ir.blocks(stmt)]
            own = unit.differentiates(stmt) or stmt.sid in kept
            if own or any(inner):
                out.add(stmt.sid)
                hit = True
        return hit

    visit(unit.body)
    return out


@dataclass
class Instrument:
    """One rewriting of one unit's body; `reversed_` are the statements with something to
    reverse."""

    unit: Unit
    needs: NeedsTable
    names: Names
    reversed_: set[int]
    needed: set[str]  # variables that the reverse sweep keeps anyway
    control: Control = field(default_factory=Control)
    marker_of: dict[int, str] = field(default_factory=dict)  # loop sid (or FUNCTION) -> marker
    site: dict[int, int] = field(default_factory=dict)  # exit sid -> its number
    sids: Any = None
    added: bool = False  # some statement

    def run(self) -> ir.Block:
        body = self.unit.body
        self.sids = count(1 + max((s.sid for s in ir.walk(body)), default=0))
        exits = [s for s in ir.walk(body) if isinstance(s, ir.Exit)]
        self.site = {s.sid: k for k, s in enumerate(exits, 1)}
        self.choose(body, FUNCTION)
        out = self.block(body, ())
        if FUNCTION in self.marker_of:
            out = (self.fresh(self.marker_of[FUNCTION], ir.Const(0), ir.Loc("", 0, 0, 0, 0)), *out)
        return out

    # ---- how each block learns whether its rest ran ----

    def choose(self, block: ir.Block, level: int) -> None:
        for k, stmt in enumerate(block):
            rest = block[k + 1 :]
            exits = escaping(stmt) if not isinstance(stmt, ir.Exit) else []
            if exits and any(s.sid in self.reversed_ for s in rest):
                if isinstance(stmt, ir.If) and self.tells(stmt, rest, exits):
                    self.control.by_test.add(stmt.sid)
                else:
                    marker = self.marker(level)
                    self.control.by_marker[stmt.sid] = (
                        marker,
                        tuple(self.site[e.sid] for e in exits),
                    )
            if isinstance(stmt, ir.Try) and stmt.sid in self.reversed_ and level == FUNCTION:
                left = exits_of([s for h in stmt.handlers for s in h.body])
                if left:
                    sites = tuple(self.site[e.sid] for e in left)
                    self.control.caught[stmt.sid] = (self.marker(level), sites)
            inner = stmt.sid if isinstance(stmt, ir.For | ir.While) else level
            for b in ir.blocks(stmt):
                self.choose(b, inner)

    def tells(self, stmt: ir.If, rest: ir.Block, exits: list[ir.Exit]) -> bool:
        """Whether the test of an `if` decides alone, and is a cheap witness."""
        clean = [not any(escaping(s) for s in arm) for arm in (stmt.body, stmt.orelse)]
        leaves = [always_leaves(arm) for arm in (stmt.body, stmt.orelse)]
        if not ((leaves[0] and clean[1]) or (leaves[1] and clean[0])):
            return False
        in_loop = bool(self.unit.loops[stmt.sid])
        if not in_loop or any(e.kind == "continue" for e in exits):
            return True
        return self.stable(stmt.test, stmt, rest)

    def marker(self, level: int) -> str:
        got = self.marker_of.get(level)
        if got is None:
            got = self.marker_of[level] = self.names.fresh(
                "exit_taken" if level == FUNCTION else "left"
            )
            self.control.markers.add(got)
            self.unit.facts.types[got] = ty.Number(int)
        return got

    # ---- tests ----

    def stable(self, test: ir.Expr, stmt: ir.Stmt, rest: ir.Block) -> bool:
        """Whether a test gives the same answer in the reverse sweep, cheaply."""
        if isinstance(test, ir.Const | ir.Global):
            return True
        if isinstance(test, ir.Opaque) and any(
            isinstance(n, ast.Call) for n in asts.walk(test.node)
        ):
            return False
        atoms = ir.operands(test)
        names, contents = self.needs.roots_of(atoms)
        direct = {a.name for a in atoms if isinstance(a, ir.Var)}
        if isinstance(test, ir.Opaque) and names != direct:
            return False
        if contents or any(self.unit.fx.stored(n) for n in names):
            return False
        written = {
            v.name
            for s in (*(x for b in ir.blocks(stmt) for x in b), *rest)
            for w in ir.walk((s,))
            for v in ir.writes(w)
        }
        if names & written:
            return False
        return all(self.kept(n, stmt) for n in names)

    def kept(self, name: str, stmt: ir.Stmt) -> bool:
        """Whether a variable has its value at `stmt` in the reverse sweep without a new
        recording."""
        loops = self.unit.loops[stmt.sid]
        defs = self.unit.defs.get(name, [])
        if not loops:
            return len(defs) <= 1 or name in self.needed
        inside = [d for d in defs if d.sid in loops or set(loops) & set(self.unit.loops[d.sid])]
        if all(d.sid in loops and isinstance(d, ir.For) for d in inside):
            return len(defs) == len(inside) or name in self.unit.params or len(defs) <= 1
        return name in self.needed

    # ---- rewriting ----

    def fresh(self, target: str, value: ir.Expr, loc: ir.Loc) -> ir.Assign:
        self.added = True
        return ir.Assign(next(self.sids), loc, ir.Var(target), value)

    def block(self, block: ir.Block, levels: tuple[int, ...]) -> ir.Block:
        out: list[ir.Stmt] = []
        for k, stmt in enumerate(block):
            out += self.stmt(stmt, block[k + 1 :], levels)
        return tuple(out)

    def stmt(self, stmt: ir.Stmt, rest: ir.Block, levels: tuple[int, ...]) -> list[ir.Stmt]:
        match stmt:
            case ir.Exit():
                return [*self.marks(stmt, levels), stmt]
            case ir.If():
                return self.branch(stmt, rest, levels)
            case ir.For() | ir.While():
                return self.loop(stmt, levels)
            case ir.Try() if stmt.sid in self.reversed_:
                return self.try_(stmt, levels)
            case _:
                inner = tuple(self.block(b, levels) for b in ir.blocks(stmt))
                return [with_blocks(stmt, inner)]

    def try_(self, stmt: ir.Try, levels: tuple[int, ...]) -> list[ir.Stmt]:
        """Say whether the handler ran, where that is all there is to know."""
        from srcgrad.analysis.record.trying import all_or_nothing

        pre: list[ir.Stmt] = []
        if all_or_nothing(self.unit, stmt, self.needed):
            name = self.control.tried[stmt.sid] = self.names.fresh("caught")
            self.unit.facts.types[name] = ty.Number(bool)
            pre.append(self.fresh(name, ir.Const(False), stmt.loc))
            handler = stmt.handlers[0]
            body = (self.fresh(name, ir.Const(True), stmt.loc), *handler.body)
            stmt = replace(stmt, handlers=(replace(handler, body=body),))
        inner = tuple(self.block(b, levels) for b in ir.blocks(stmt))
        return [*pre, with_blocks(stmt, inner)]

    def marks(self, stmt: ir.Exit, levels: tuple[int, ...]) -> list[ir.Stmt]:
        """Say in each marker that this exit was taken, out to the exit's target."""
        left = levels[-1:] if stmt.kind != "return" else (FUNCTION, *levels)
        out: list[ir.Stmt] = []
        for level in left:
            if level in self.marker_of and self.site[stmt.sid] in self.sites_of(level):
                made = self.fresh(self.marker_of[level], ir.Const(self.site[stmt.sid]), stmt.loc)
                self.control.resets[made.sid] = 0
                out.append(made)
        return out

    def sites_of(self, level: int) -> set[int]:
        """The exits that the marker of a level tells apart."""
        marker = self.marker_of.get(level)
        used = [sites for m, sites in self.control.by_marker.values() if m == marker]
        return {k for sites in used for k in sites}

    def branch(self, stmt: ir.If, rest: ir.Block, levels: tuple[int, ...]) -> list[ir.Stmt]:
        pre: list[ir.Stmt] = []
        used = stmt.sid in self.reversed_ or stmt.sid in self.control.by_test
        watched = rest if stmt.sid in self.control.by_test else ()
        if used and not self.stable(stmt.test, stmt, watched):
            name = self.names.fresh("branch")
            self.unit.facts.types[name] = ty.Number(bool)
            value: ir.Expr = stmt.test
            if not _is_bool(self.unit, value):
                truth = ir.Global(ir.Root("builtins", ""), ("bool",), bool)
                if isinstance(value, ir.Var | ir.Const | ir.Global):
                    value = ir.Call(truth, (value,))
                else:
                    temp = f"%b{next(self.sids)}"
                    self.unit.facts.types[temp] = ty.UNKNOWN
                    pre.append(self.fresh(temp, value, stmt.loc))
                    value = ir.Call(truth, (ir.Var(temp),))
            pre.append(self.fresh(name, value, stmt.loc))
            stmt = replace(stmt, test=ir.Var(name))
        inner = tuple(self.block(b, levels) for b in ir.blocks(stmt))
        return [*pre, with_blocks(stmt, inner)]

    def loop(self, stmt: ir.For | ir.While, levels: tuple[int, ...]) -> list[ir.Stmt]:
        pre: list[ir.Stmt] = []
        body = self.block(stmt.body, (*levels, stmt.sid))
        if stmt.sid in self.reversed_:
            if isinstance(stmt, ir.While) or escaping(stmt) or _breaks(stmt):
                name = self.names.fresh("trips")
                self.unit.facts.types[name] = ty.Number(int)
                self.control.trips[stmt.sid] = name
                pre.append(self.fresh(name, ir.Const(0), stmt.loc))
                more = ir.Op("add", (ir.Var(name), ir.Const(1)))
                body = (self.fresh(name, more, stmt.loc), *body)
            if isinstance(stmt, ir.For):
                captured, stmt = self.capture(stmt)
                pre += captured
        marker = self.marker_of.get(stmt.sid)
        if marker is not None:
            start = self.fresh(marker, ir.Const(0), stmt.loc)
            if self.continues(stmt):
                # A marker that is set in every iteration is recorded in every iteration.
                pre.append(start)
                body = (self.fresh(marker, ir.Const(0), stmt.loc), *body)
                for s in ir.walk(body):
                    if isinstance(s, ir.Assign) and s.target.name == marker:
                        self.control.resets.pop(s.sid, None)
            else:
                pre.append(start)
                self.control.last[stmt.sid] = marker
        return [*pre, replace(stmt, body=body)]

    def continues(self, loop: ir.For | ir.While) -> bool:
        """Whether the marker of a loop is set by a `continue`."""
        used = self.sites_of(loop.sid)
        exits = [e for s in loop.body for e in escaping(s) if e.kind == "continue"]
        return any(self.site[e.sid] in used for e in exits)

    def capture(self, stmt: ir.For) -> tuple[list[ir.Stmt], ir.For]:
        """Keep loop bounds that the body changes."""
        written = {v.name for s in ir.walk(stmt.body) for v in ir.writes(s)}
        pre: list[ir.Stmt] = []
        changes: dict[str, ir.Atom] = {}
        fields = ("start", "stop", "step", "checkpoint")
        for field_name, atom in ((f, getattr(stmt, f)) for f in fields):
            if not isinstance(atom, ir.Var):
                continue
            names, contents = self.needs.roots_of([atom])
            read = self.needs.element_roots([atom])
            stored = contents or any(self.unit.fx.stored(n) for n in read)
            if names & written or stored:
                name = self.names.fresh(f"{atom.name.split('%')[0] or field_name}_at_entry")
                self.unit.facts.types[name] = self.unit.type(atom.name)
                pre.append(self.fresh(name, atom, stmt.loc))
                changes[field_name] = ir.Var(name)
        return pre, replace(stmt, **changes) if changes else stmt  # type: ignore[arg-type]


def _is_bool(unit: Unit, test: ir.Expr) -> bool:
    if isinstance(test, ir.Opaque):
        node = test.node
        return isinstance(node, ast.Compare) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )
    if isinstance(test, ir.Var | ir.Const | ir.Global):
        return unit.facts.of(test) in (ty.Number(bool), ty.Literal(True), ty.Literal(False))
    return isinstance(test, ir.Op) and test.op == "not"


def _breaks(loop: ir.For | ir.While) -> bool:
    return any(e.kind == "break" for s in loop.body for e in escaping(s))


def exits_of(block: Sequence[ir.Stmt]) -> list[ir.Exit]:
    return [e for s in block for e in escaping(s)]


def upward_exposed(block: ir.Block) -> set[str]:
    """Variables that a block may read before it binds them."""
    exposed: set[str] = set()

    def visit(b: ir.Block, bound: set[str]) -> set[str]:
        for s in b:
            exposed.update(v.name for v in ir.reads(s) if v.name not in bound)
            match s:
                case ir.If():
                    arms = [visit(s.body, set(bound)), visit(s.orelse, set(bound))]
                    bound = arms[0] & arms[1]
                case ir.For():
                    visit(s.body, bound | {s.target.name})
                case ir.While() | ir.Try():
                    for inner in ir.blocks(s):
                        visit(inner, set(bound))
                case ir.With():
                    bound = visit(s.body, bound)
                case _:
                    bound.update(v.name for v in ir.writes(s))
        return bound

    visit(block, set())
    return exposed
