"""Branches and loops: alternatives that leave the same adjoints, loops run backwards."""

from __future__ import annotations

import ast
from functools import cached_property

from srcgrad.analysis.effects import RESULT
from srcgrad.analysis.liveness import Liveness, liveness
from srcgrad.analysis.record.leaving import always_leaves, escaping
from srcgrad.analysis.record.placement import bound_before
from srcgrad.ir import nodes as ir
from srcgrad.ir.nameset import NameSet
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import checkpoint
from srcgrad.transform.adjoint.adjoints import _literal
from srcgrad.transform.adjoint.calls import Calls
from srcgrad.transform.adjoint.state import Adj, State, copy_state
from srcgrad.transform.adjoint.tapes import minus_one, plus_one


class Branches(Calls):
    """The reverse of branches and loops."""

    def block(self, block: ir.Block) -> None:
        """Write the reverse of a block (the layer of blocks does)."""
        raise NotImplementedError

    def capture(self) -> list[ast.stmt]:
        out, self.out = self.out, []
        return out

    def sub(self, block: ir.Block) -> list[ast.stmt]:
        """The reverse of a block, as a list of its own."""
        outer = self.capture()
        self.block(block)
        inner = self.out
        self.out = outer
        return inner

    # ---- branches ---------------------------------------------------------------------------

    def branch(self, stmt: ir.If, rest: ir.Block = ()) -> None:
        body, orelse = stmt.body, stmt.orelse
        if rest:
            if always_leaves(body) and not any(escaping(s) for s in orelse):
                orelse = (*orelse, *rest)
            else:
                body = (*body, *rest)
        if not rest and stmt.sid not in self.found.reversed_:
            return
        self.arms(self.again(stmt.test), body, orelse, stmt)

    def arms(
        self, test: ast.expr, body: ir.Block, orelse: ir.Block, stmt: ir.Stmt, after: bool = False
    ) -> None:
        """Reverse two alternatives; adjoints are the same kind of thing after either."""
        self.settle_all()
        reads = [self.reads_of(body), self.reads_of(orelse)]
        written = {v.name for s in ir.walk((*body, *orelse)) for v in ir.writes(s)}
        for name in sorted(reads[0] ^ reads[1]):
            if name not in self.state and self.lives_before(name, stmt, after):
                self.start(name, name not in written, self.has_value(name, stmt))
        for name in sorted((reads[0] | reads[1]) - {RESULT}):
            if name in self.state:
                self.settle(name)
        start = copy_state(self.state)
        first = self.sub(body)
        after_first, self.state = self.state, copy_state(start)
        second = self.sub(orelse)
        after_second = self.state
        for name in sorted((set(after_first) | set(after_second)) - {RESULT}):
            a, b = after_first.get(name), after_second.get(name)
            if a is None or b is None:
                if not self.lives_before(name, stmt, after):
                    continue
            elif a.waiting is not None and a.waiting is b.waiting:
                continue  # a literal that neither arm touched
            for adj, code in ((a, first), (b, second)):
                outer, self.out = self.out, code
                self.state = after_first if adj is a else after_second
                if adj is None:
                    self.start(name, name not in written, self.has_value(name, stmt))
                else:
                    self.settle(name)
                    # What the other arm begins with is an array.
                    alike = a is not None and b is not None and a.thin == b.thin
                    self.full(name) if not alike else None
                self.out = outer
        merged: State = {}
        for name, a in after_first.items():
            b = after_second.get(name)
            if name == RESULT:
                merged[name] = a
            elif b is not None:
                same = a.waiting if a.waiting is b.waiting else None
                nothing = a.nothing or b.nothing
                merged[name] = Adj(same, a.owned and b.owned, a.thin and b.thin, nothing)
        self.state = merged
        self.out += syn.conditional(test, first, second)

    def settle_all(self) -> None:
        """Before code that runs once or never: no expression may wait across it, except
        literals."""
        for name, adj in list(self.state.items()):
            if name == RESULT:
                continue  # a literal or a name that nothing binds again
            if adj.waiting is not None and not _literal(adj.waiting):
                self.settle(name)

    def reads_of(self, block: ir.Block) -> set[str]:
        """Variables kept by value whose adjoint the reverse of a block may add to."""
        out: set[str] = set()
        seen: set[str] = set()
        for stmt in ir.walk(block):
            if not self.unit.differentiates(stmt):
                continue
            for v in ir.reads(stmt):
                if v.name in seen or not self.unit.is_active(v):
                    continue
                seen.add(v.name)
                kind = self.unit.kind(v.name)
                if kind == "memory":
                    continue
                place = self.found.needs.container(v).name
                if self.unit.kind(place) != "memory":
                    out.add(place)
                if kind == "number":  # which has an adjoint of its own, taken out again or not
                    out.add(v.name)
        return out

    def lives_before(self, name: str, stmt: ir.Stmt, after: bool = False) -> bool:
        """Whether a variable is live before a statement (so that its adjoint flows out), or behind
        it when what follows the statement is reversed."""
        if after:
            # Those that left inside the statement go on somewhere else.
            left = (self.live.before.get(e.sid, frozenset()) for e in escaping(stmt))
            live = self.live.after.get(stmt.sid, frozenset()).union(*left)
        else:
            live = self.live.before.get(stmt.sid, frozenset())
        if name not in live:
            return False
        here = self.unit.place.get(stmt.sid, ())
        paths = [self.unit.place[d.sid] for d in self.unit.defs.get(name, ())]
        around = set(self.unit.loops.get(stmt.sid, ()))
        return name in self.unit.params or any(
            after or p < here or around & set(self.unit.loops[d.sid])
            for d, p in zip(self.unit.defs.get(name, ()), paths, strict=True)
        )

    @cached_property
    def live(self) -> Liveness:
        container = self.found.needs.container
        return liveness(
            self.unit.body,
            lambda s: [n for v in ir.reads(s) for n in (v.name, container(v).name)],
        )

    # ---- loops ------------------------------------------------------------------------------

    def loop(self, stmt: ir.For | ir.While) -> None:
        if stmt.sid not in self.found.reversed_:
            return
        self.settle_all()
        carried = {n for n in self.reads_of(stmt.body) if self.is_carried(n, stmt)}
        for name in sorted(carried | (set(self.state) & self.unit.bound_in(stmt))):
            if self.unit.kind(name) == "memory":
                continue
            if name in carried and name not in self.state:
                self.start(name, True, self.has_value(name, stmt))
            elif name in carried and not self.state[name].nothing:
                self.own(name)
            elif name in self.state:
                self.settle(name)
                if not self.state[name].nothing:  # else the loop may have bound another shape
                    self.full(name)
        start = copy_state(self.state)
        body = self.turn(stmt, start)
        for name in list(self.state):
            if name not in start:
                del self.state[name]
        for name, adj in start.items():
            self.state[name] = Adj(adj.waiting, adj.owned, adj.thin, adj.nothing)
        marker = self.found.control.last.get(stmt.sid)
        if body and marker is not None:
            # Only the last iteration can have been left early.
            body.append(syn.assign(marker, syn.number(0)))
        if stmt.sid in self.found.states:
            self.out += checkpoint.reverse(self.slots.checkpointed[stmt.sid], self.primal, body)
        elif body:
            self.out.append(self.reversed_loop(stmt, body))

    def turn(self, stmt: ir.For | ir.While, start: State) -> list[ast.stmt]:
        """The reverse of one iteration, which leaves all adjoints as it found them in `start`;
        written again where one turns out to be nothing at times."""
        tries = set(self.guarded_tries)
        while True:
            body = self.sub(stmt.body)
            outer, self.out = self.out, body
            for name, adj in sorted(start.items()):
                if name != RESULT:
                    self.close(name, adj)
            self.out = outer
            ends = {n: self.state[n] for n in start if n != RESULT}
            late = [n for n, now in ends.items() if now.nothing > start[n].nothing]
            # What may be nothing is not copied, so that it may be an array of somebody else.
            lent = [n for n, now in ends.items() if now.nothing and start[n].owned > now.owned]
            if not late and not lent:
                return body
            for name in late:
                start[name].nothing = True
            for name in lent:
                start[name].owned = False
            self.state = copy_state(start)
            self.guarded_tries = set(tries)

    def close(self, name: str, adj: Adj) -> None:
        """At the end of an iteration an adjoint is the same kind of thing as at its start."""
        now = self.state.get(name)
        if now is None:
            if adj.waiting is None or not _literal(adj.waiting):
                self.start(name)
            else:
                self.state[name] = Adj(None, True, False)
            return
        if not now.nothing:
            self.full(name)
        if now.waiting is not adj.waiting:
            self.settle(name)
        if adj.owned and not now.owned and not now.nothing:
            self.own(name)

    def is_carried(self, name: str, stmt: ir.For | ir.While) -> bool:
        """Whether an adjoint goes from one iteration to the one before."""
        if self.lives_before(name, stmt):
            return True
        inside = any(stmt.sid in self.unit.loops[d.sid] for d in self.unit.defs.get(name, ()))
        return inside and name in self.live.before.get(stmt.sid, frozenset())

    def has_value(self, name: str, stmt: ir.Stmt) -> bool:
        """Whether a variable surely was bound before a statement."""
        return name in self.unit.params or name in self.values_before.get(stmt.sid, ())

    @cached_property
    def values_before(self) -> dict[int, NameSet]:
        return bound_before(self.unit)

    def reversed_loop(self, stmt: ir.For | ir.While, body: list[ast.stmt]) -> ast.stmt:
        trips = self.found.control.trips.get(stmt.sid)
        if isinstance(stmt, ir.While):
            assert trips is not None
            rng = syn.call("range", syn.name(trips))
            return ast.For(ast.Name("_", ast.Store()), rng, body, [])
        start, step = self.primal(stmt.start), self.primal(stmt.step)
        count = syn.name(trips) if trips is not None else None
        rng = backwards(start, self.primal(stmt.stop), step, count)
        target = ast.Name(self.text.var(stmt.target.name), ast.Store())
        return syn.loop(stmt, target, rng, body)


def backwards(start: ast.expr, stop: ast.expr, step: ast.expr, trips: ast.expr | None) -> ast.expr:
    """The range of a loop, backwards."""
    one = syn.is_number(step, 1)
    down = isinstance(step, ast.UnaryOp) and syn.is_number(step.operand, 1)
    if one and trips is None:
        return syn.call("range", minus_one(stop), minus_one(start), syn.number(-1))
    if down and trips is None:
        return syn.counted(plus_one(stop), plus_one(start), syn.number(1))
    if trips is None:
        trips = syn.expr("len(range(a, b, h))", a=start, b=stop, h=step)
    if one and syn.is_number(start, 0):
        return syn.call("range", minus_one(trips), syn.number(-1), syn.number(-1))
    last = syn.expr("a + (n - 1) * h", a=start, n=trips, h=step)
    end = syn.expr("a - h", a=start, h=step)
    return syn.call("range", last, end, syn.expr("-h", h=step))
