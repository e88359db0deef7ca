"""The reverse sweep: each statement's adjoint, in reverse order (SEMANTICS, statement by
statement)."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from srcgrad.analysis.control import always_leaves, escaping
from srcgrad.analysis.effects import RESULT, surely_copies
from srcgrad.analysis.liveness import Liveness, liveness
from srcgrad.analysis.needs import must_reduce, saved_name
from srcgrad.analysis.partials import (
    HELPERS,
    Term,
    _names,
    expand_let,
    same_shape,
    stays_thin,
    takes_thin,
)
from srcgrad.analysis.recording import Recording, Save
from srcgrad.analysis.targets import (
    Bound,
    Construct,
    Container,
    Library,
    Packed,
    Uncharted,
    User,
    bound_atoms,
)
from srcgrad.analysis.unit import Unit
from srcgrad.errors import (
    InternalError,
    MissingRule,
    NotDifferentiable,
    UnsupportedSyntax,
    located,
)
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import closures, userrules
from srcgrad.transform.adjoint.callee import Callees
from srcgrad.transform.adjoint.masks import Mask, Masks
from srcgrad.transform.adjoint.slots import Slots
from srcgrad.transform.adjoint.state import Adj, State, copy_state
from srcgrad.transform.fresh import is_fresh, parts_of
from srcgrad.transform.module import Module
from srcgrad.transform.text import Text, conditional


@dataclass
class Reverse:
    """Writes the reverse sweep of one unit."""

    unit: Unit
    found: Recording
    module: Module
    text: Text
    slots: Slots
    callees: Callees
    state: State = field(default_factory=dict)
    out: list[ast.stmt] = field(default_factory=list)
    line: int = 0
    inline: dict[str, tuple[ir.Assign, ir.Var]] = field(default_factory=dict)  # views not bound
    shared: dict[str, ast.expr] = field(default_factory=dict)  # `let` names of the rule at hand
    result_seed: str | None = None
    result_lanes: str = "lanes"  # the parameter with the mask of the result
    guarded_tries: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.lanes = self.found.needs.lanes
        self.masks = Masks(self, self.lanes)

    # ---- names -------------------------------------------------------------------------

    def bar(self, name: str) -> str:
        return self.text.names.suffixed(self.text.var(name), "bar")

    def bar_node(self, name: str) -> ast.expr:
        inline = self.inline.get(name)
        if inline is not None:
            return self.view_of_shadow(*inline)
        return syn.name(self.bar(name))

    def primal(self, a: ir.Atom) -> ast.expr:
        """An atom as the reverse sweep reads it; cheap temporaries are computed again."""
        if isinstance(a, ir.Var):
            again = self.found.needs.again(a.name)
            if again is None:
                return syn.name(self.text.var(a.name))
            return self.again(again.value)
        return self.module.atom(a)

    def again(self, expr: ir.Expr) -> ast.expr:
        """An expression over atoms as the reverse sweep reads them."""
        printer = _Again(self.module, self.text.facts, self.text.names)
        printer.owner = self
        return printer.expr(expr)

    def key(self, key: ir.Key) -> ast.expr:
        printer = _Again(self.module, self.text.facts, self.text.names)
        printer.owner = self
        return printer.key(key)

    # ---- writing -------------------------------------------------------------------------

    def emit(self, *nodes: ast.stmt) -> None:
        for node in nodes:
            targets = _assigned(node)
            self.put_aside(node, targets)
            for target in targets:
                self.protect(target)
            if self.line:
                node.srcgrad_line = self.line  # type: ignore[attr-defined]
            self.out.append(node)

    def put_aside(self, node: ast.stmt, targets: set[str]) -> None:
        """Keep the value to be assigned where writing down a waiting adjoint first would change
        it."""
        if not isinstance(node, ast.Assign | ast.AugAssign):
            return
        if (self.settled_by(targets) - targets) & syn.names_in(node.value):
            kept = self.text.names.temporary() + "_bar"
            self.out.append(syn.assign(kept, node.value))
            node.value = syn.name(kept)

    def protect(self, target: str, but: str | None = None) -> None:
        """Write down waiting adjoints that mention a variable before it changes."""
        for name, adj in list(self.state.items()):
            if name != but and adj.waiting is not None and target in syn.names_in(adj.waiting):
                self.settle(name)

    def settle(self, name: str) -> None:
        """Put a waiting adjoint into its variable."""
        adj = self.state[name]
        if adj.waiting is None:
            return
        group = self.exchanged(name)
        nodes = [self.state[n].waiting for n in group]
        for n in group:
            self.state[n].waiting = None
        if len(group) == 1:
            assert nodes[0] is not None
            self.emit(syn.assign(self.bar(name), nodes[0]))
            return
        values = syn.tuple_of(n for n in nodes if n is not None)
        self.emit(syn.assign(syn.tuple_of(map(self.bar_node, group)), values))

    def exchanged(self, name: str) -> list[str]:
        """The waiting adjoints that have to be written down at once with this one, as after a
        swap:
        each needs the older value of another's variable."""
        waiting = {
            n: syn.names_in(a.waiting) for n, a in self.state.items() if a.waiting is not None
        }
        bars = {n: self.bar(n) for n in waiting}

        def reach(forward: bool) -> set[str]:
            found, todo = {name}, [name]
            while todo:
                n = todo.pop()
                for m in waiting:
                    hit = bars[n] in waiting[m] if forward else bars[m] in waiting[n]
                    if hit and m not in found:
                        found.add(m)
                        todo.append(m)
            return found

        both = reach(True) & reach(False)
        return [name, *(n for n in waiting if n in both and n != name)]

    def comment(self, stmt: ir.Stmt) -> None:
        """The primal statement that the following lines come from."""
        loc = stmt.loc
        self.line = loc.line
        if not loc.line:
            return
        source = linecache.getline(loc.file, loc.line).strip()
        file = loc.file.replace("\\", "/").rsplit("/", 1)[-1]
        if file.startswith("<"):
            file = "cell"
        text = f"{file}:{loc.line}  {source}"
        limit = 90
        shown = text if len(text) <= limit else text[: limit - 3] + "..."
        last = next((s for s in reversed(self.out) if isinstance(s, syn.Comment)), None)
        if last is None or last.text != shown:
            self.out.append(syn.Comment(shown))

    # ---- adjoints of variables ---------------------------------------------------------------

    def present(self, name: str) -> bool:
        return self.unit.kind(name) == "memory" or name in self.state

    def value(self, name: str) -> ast.expr:
        """The adjoint of a variable as an expression (a waiting one stays waiting)."""
        adj = self.state.get(name)
        if adj is not None and adj.waiting is not None:
            return adj.waiting
        return self.bar_node(name)

    def zero(self, name: str) -> ast.expr:
        t = self.unit.type(name)
        if isinstance(t, ty.Number):
            return _zero_number(t)
        node = self.primal(ir.Var(name))
        if isinstance(t, ty.Array):
            return zeros_of(self.module, node)
        return self.module.support("zeros", node)

    def full(self, name: str) -> None:
        """Make a thin adjoint an array of the variable's shape."""
        adj = self.state.get(name)
        if adj is None or not adj.thin:
            return
        node = self.primal(ir.Var(name))
        made = full_of(self.module, node, self.value(name), self.unit.type(name))
        adj.waiting, adj.thin, adj.owned = None, False, True
        self.emit(syn.assign(self.bar(name), made))

    def add(self, name: str, node: ast.expr, owned: bool, thin: bool = False) -> None:
        """Accumulate a contribution into the adjoint of a variable."""
        kind = self.unit.kind(name)
        node = syn.simplify(node)
        if kind == "memory":
            self.add_memory(name, node)
            return
        adj = self.state.get(name)
        t = self.unit.type(name)
        if adj is None:
            if not owned and not thin and not isinstance(t, ty.Number) and self.in_shadow(node):
                # The shadow is written in place later on.
                copied = syn.expr("a.copy()", a=node) if isinstance(t, ty.Array) else None
                node = copied or self.module.support("own", node)
                owned = True
            self.first(name, node, owned, thin)
            return
        if isinstance(t, ty.Number):
            if adj.waiting is None:
                self.emit(syn.augment(self.bar(name), ast.Add(), node))
                return
            # One statement: the contribution may read the variable that is about to be bound.
            adj.waiting = syn.add(adj.waiting, node)
            self.settle(name)
            return
        if not isinstance(t, ty.Array):
            adj.waiting = self.module.support("add", self.value(name), node)
            adj.owned = False
            self.settle(name)
            return
        if adj.owned and not adj.thin and adj.waiting is None:
            self.emit(syn.augment(self.bar(name), ast.Add(), node))
            return
        adj.waiting = syn.add(self.value(name), node)
        self.settle(name)
        adj.thin = adj.thin and thin
        adj.owned = not adj.thin

    def in_shadow(self, node: ast.expr) -> bool:
        """Whether an expression may be a part of an array that the reverse sweep writes into."""
        return bool(parts_of(node) & (self.shadows | self.restored_arrays))

    @cached_property
    def changing(self) -> set[str]:
        """The names that get older values or elements while the reverse sweep runs."""
        saves = [s for found in self.found.saves.values() for s in found if s.when == "before"]
        pairs = list(self.found.pairs.values())
        return self.restored_arrays | {self.text.var(s.var) for s in (*saves, *pairs)}

    @cached_property
    def restored_arrays(self) -> set[str]:
        """The names of arrays whose elements the reverse sweep brings back."""
        unit, roots = self.unit, set()
        for sid in self.found.undone:
            stmt = unit.by_sid[sid]
            roots |= {unit.fx.root(v.name) for v in (*ir.reads(stmt), *ir.writes(stmt))}
        return {
            self.text.var(n)
            for n in unit.facts.types
            if unit.fx.memory(n) and unit.fx.root(n) in roots
        }

    @cached_property
    def shadows(self) -> set[str]:
        """The names of shadows, which statements of the reverse sweep write into."""
        return {
            self.bar(n)
            for n in self.unit.act.active
            if n in self.unit.facts.types and self.unit.kind(n) == "memory"
        }

    def first(self, name: str, node: ast.expr, owned: bool, thin: bool) -> None:
        adj = self.state[name] = Adj(node, owned, thin)
        plain = isinstance(node, ast.Name) or _literal(node)
        if isinstance(node, ast.Name) and node.id == self.bar(name):
            adj.waiting = None
            return
        if name.startswith("%") or plain:
            return
        self.settle(name)

    def add_memory(self, name: str, node: ast.expr) -> None:
        """Accumulate into a shadow, in place."""
        if isinstance(self.unit.type(name), ty.Array):
            self.emit(syn.augment(self.bar_node(name), ast.Add(), node))
            return
        made = self.module.support("accumulate", self.bar_node(name), node)
        self.emit(syn.assign(self.bar(name), made))

    def contribute(self, a: ir.Atom, node: ast.expr, owned: bool, thin: bool = False) -> None:
        if isinstance(a, ir.Var) and self.unit.is_active(a):
            node = syn.simplify(node)
            if isinstance(node, ast.Constant) and node.value is None:
                return  # an auxiliary part of the result
            self.add(a.name, node, owned, thin)

    def own(self, name: str) -> None:
        """Make the adjoint of an array its own writable buffer, held in its variable."""
        if name not in self.state:
            self.state[name] = Adj(None, True, False)
            self.emit(syn.assign(self.bar(name), self.zero(name)))
            return
        adj = self.state[name]
        self.full(name)
        t = self.unit.type(name)
        if isinstance(t, ty.Number):
            self.settle(name)
        elif not adj.owned:
            node = self.value(name)
            if isinstance(t, ty.Array):
                adj.waiting = ast.Call(ast.Attribute(node, "copy", ast.Load()), [], [])
            else:
                adj.waiting = self.module.support("own", node)
            adj.owned = True
            self.settle(name)
        else:
            self.settle(name)

    def take(self, name: str, uses: int = 2) -> ast.expr:
        """The cotangent of a variable whose definition is being reversed; it is absent
        afterwards."""
        adj = self.state.get(name)
        if adj is not None and adj.waiting is not None and uses > 1:
            if not isinstance(adj.waiting, ast.Name | ast.Constant) and not _literal(adj.waiting):
                self.settle(name)
        node = self.value(name)
        self.state.pop(name, None)
        return node

    # ---- blocks ------------------------------------------------------------------------------

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

    def block(self, block: ir.Block) -> None:
        cut = next(
            (
                k
                for k, s in enumerate(block)
                if s.sid in self.found.control.by_test
                or s.sid in self.found.control.by_marker
                or (s.sid in self.found.control.caught and s.sid not in self.guarded_tries)
            ),
            None,
        )
        head = block if cut is None else block[: cut + 1]
        self.enter(head)
        if cut is not None:
            stmt, rest = block[cut], block[cut + 1 :]
            if stmt.sid in self.found.control.by_test:
                assert isinstance(stmt, ir.If)
                self.branch(stmt, rest)
                head = head[:-1]
            elif stmt.sid in self.found.control.caught and stmt.sid not in self.guarded_tries:
                # A handler that leaves: neither what was tried nor the rest is gone back through.
                self.guarded_tries.add(stmt.sid)
                self.arms(_not_left(*self.found.control.caught[stmt.sid]), block[cut:], (), stmt)
                head = head[:-1]
            elif self.all_caught(stmt):
                self.block(rest)
            else:
                self.guarded(stmt, rest)
        groups = _groups(head)
        for group in reversed(groups):
            self.group(group)

    def group(self, group: list[ir.Stmt]) -> None:
        """The statements of one source statement, under one comment."""
        if len(group) == 1 and not isinstance(
            group[0], ir.Assign | ir.Store | ir.StoreAttr | ir.Effect | ir.Exit
        ):
            self.stmt(group[0])
            return
        outer = self.capture()
        self.line = group[-1].loc.line
        for stmt in reversed(group):
            self.stmt(stmt)
        inner = self.out
        self.out = outer
        real = [s for s in inner if not isinstance(s, syn.Comment)]
        if real:
            if any(self.unit.differentiates(s) for s in group):
                self.comment(group[-1])
            self.out += inner
        self.line = 0

    def enter(self, head: ir.Block) -> None:
        """At the head of the reverse of a segment: values recorded once per execution of it, and
        the
        shadows of arrays made in it."""
        for stmt in reversed(head):
            for save in self.found.saves.get(stmt.sid, ()):
                if save.when == "after":
                    self.emit(*self.slots.restore(save))
        for stmt in head:
            if not isinstance(stmt, ir.Assign):
                continue
            rerun = stmt.target.name in self.found.needs.reran
            if rerun or any(s.when == "again" for s in self.found.saves.get(stmt.sid, ())):
                self.emit(syn.assign(self.text.var(stmt.target.name), self.again(stmt.value)))
            self.bind_late(stmt)

    def bind_late(self, stmt: ir.Assign) -> None:
        """`v = u[1:-1]` gives `v_bar = u_bar[1:-1]`; a fresh array a shadow of zeros."""
        name = stmt.target.name
        if not self.unit.is_active(name) or self.unit.kind(name) != "memory":
            return
        if self.found.needs.is_place(name):
            alias = self.unit.aliases(stmt)
            assert alias is not None
            self.inline[name] = (stmt, alias)  # `u_bar[1:-1]` itself where it is used
            return
        if self.found.is_tracked(name) or stmt.inplace:
            return
        self.line = stmt.loc.line
        alias = self.unit.aliases(stmt)
        if alias is None:
            self.emit(syn.assign(self.bar(name), self.zero(name)))
        else:
            self.emit(syn.assign(self.bar(name), self.view_of_shadow(stmt, alias)))
        self.line = 0

    def view_of_shadow(self, stmt: ir.Assign, alias: ir.Var) -> ast.expr:
        """The expression of a view with the shadow in place of the array."""
        printer = _Again(self.module, self.text.facts, self.text.names)
        printer.owner, printer.swap = self, {alias.name: self.bar_node(alias.name)}
        return printer.expr(stmt.value)

    def all_caught(self, stmt: ir.Stmt) -> bool:
        """Whether all exits in a statement are in handlers, which were asked about already."""
        control = self.found.control
        return control.caught.get(stmt.sid) == control.by_marker.get(stmt.sid)

    def guarded(self, stmt: ir.Stmt, rest: ir.Block) -> None:
        """`rest` ran unless one of the exits inside `stmt` was taken."""
        self.arms(_not_left(*self.found.control.by_marker[stmt.sid]), rest, (), stmt, after=True)

    # ---- compound statements -------------------------------------------------------------------

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
        for name in sorted(reads[0] ^ reads[1]):
            if name not in self.state and self.lives_before(name, stmt, after):
                self.state[name] = Adj(None, True, False)
                self.emit(syn.assign(self.bar(name), self.zero(name)))
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
            for adj, code in ((a, first), (b, second)):
                outer, self.out = self.out, code
                self.state = after_first if adj is a else after_second
                if adj is None:
                    self.state[name] = Adj(None, True, False)
                    self.emit(syn.assign(self.bar(name), self.zero(name)))
                else:
                    self.settle(name)
                    self.full(name) if (a and b and a.thin != b.thin) else None
                self.out = outer
        merged: State = {}
        for name, a in after_first.items():
            b = after_second.get(name)
            if name == RESULT:
                merged[name] = a
            elif b is not None:
                merged[name] = Adj(None, a.owned and b.owned, a.thin and b.thin)
        self.state = merged
        self.out += conditional(test, first, second)

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
        for stmt in ir.walk(block):
            if not self.unit.differentiates(stmt):
                continue
            for v in ir.reads(stmt):
                if self.unit.is_active(v) and self.unit.kind(v.name) != "memory":
                    place = self.found.needs.container(v).name
                    if self.unit.kind(place) != "memory":
                        out.add(place)
        return out

    def lives_before(self, name: str, stmt: ir.Stmt, after: bool = False) -> bool:
        """Whether a variable is live before a statement (so that its adjoint flows out), or behind
        it when what follows the statement is reversed."""
        table = self.live.after if after else self.live.before
        if name not in table.get(stmt.sid, ()):
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

    def comes_around(self, name: str, definition: ir.Stmt, stmt: ir.Stmt) -> bool:
        """Whether a later definition reaches a statement in the next iteration of a loop."""
        both = set(self.unit.loops[definition.sid]) & set(self.unit.loops[stmt.sid])
        return any(self.is_carried(name, self.unit.by_sid[sid]) for sid in both)

    def loop(self, stmt: ir.For | ir.While) -> None:
        if stmt.sid not in self.found.reversed_:
            return
        self.settle_all()
        reads = self.reads_of(stmt.body)
        carried = {n for n in reads if self.lives_before(n, stmt)}
        for name in sorted(carried | (set(self.state) & self.written_in(stmt))):
            if self.unit.kind(name) == "memory":
                continue
            if name in carried:
                self.own(name)
            elif name in self.state:
                self.settle(name)
                self.full(name)
        start = copy_state(self.state)
        body = self.sub(stmt.body)
        outer, self.out = self.out, body
        for name, adj in sorted(start.items()):
            if name == RESULT:
                continue
            now = self.state.get(name)
            if now is None:
                self.state[name] = Adj(None, True, False)
                if adj.waiting is None or not _literal(adj.waiting):
                    self.emit(syn.assign(self.bar(name), self.zero(name)))
            else:
                self.full(name)
                if now.waiting is not adj.waiting:
                    self.settle(name)
                if adj.owned and not now.owned:
                    self.own(name)
        self.out = outer
        for name in list(self.state):
            if name not in start:
                del self.state[name]
        for name, adj in start.items():
            self.state[name] = Adj(adj.waiting, adj.owned, adj.thin)
        marker = self.found.control.last.get(stmt.sid)
        if body and marker is not None:
            # Only the last iteration can have been left early.
            body.append(syn.assign(marker, syn.number(0)))
        if body:
            self.out.append(self.reversed_loop(stmt, body))

    def written_in(self, stmt: ir.For | ir.While) -> set[str]:
        return {v.name for s in ir.walk(stmt.body) for v in ir.writes(s)}

    def reversed_loop(self, stmt: ir.For | ir.While, body: list[ast.stmt]) -> ast.stmt:
        trips = self.found.control.trips.get(stmt.sid)
        if isinstance(stmt, ir.While):
            assert trips is not None
            rng = syn.call("range", syn.name(trips))
            return ast.For(ast.Name("_", ast.Store()), rng, body, [])
        start, step = self.primal(stmt.start), self.primal(stmt.step)
        count = syn.name(trips) if trips is not None else None
        rng = backwards(start, self.primal(stmt.stop), step, count)
        return ast.For(ast.Name(self.text.var(stmt.target.name), ast.Store()), rng, body, [])

    # ---- statements
    # ------------------------------------------------------------------------------

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.If():
                self.branch(stmt)
            case ir.For() | ir.While():
                self.loop(stmt)
                for save in self.found.saves.get(stmt.sid, ()):
                    self.emit(*self.slots.restore(save))
            case ir.With(special="adjoint_of"):
                self.user_code(stmt)
            case ir.With():
                self.with_(stmt)
            case ir.Try():
                self.try_(stmt)
            case ir.Exit():
                self.seed(stmt)
            case ir.Assign() | ir.Store() | ir.StoreAttr() | ir.Effect() | ir.Verbatim():
                self.simple(stmt)

    def simple(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.Assign) and self.unit.differentiates(stmt):
            self.assign(stmt)
        elif isinstance(stmt, ir.Store) and self.unit.differentiates(stmt):
            self.store(stmt)
        elif isinstance(stmt, ir.StoreAttr) and self.unit.differentiates(stmt):
            self.store_attr(stmt)
        elif isinstance(stmt, ir.Effect) and self.unit.differentiates(stmt):
            self.effect(stmt)
        else:
            self.undo(stmt)

    def undo(self, stmt: ir.Stmt) -> None:
        """Bring variables and elements back to what they were before a statement."""
        if stmt.sid in self.found.control.resets:
            return
        if stmt.sid in self.found.undone:
            self.emit(*self.slots.restore_contents(stmt))
        pair = self.found.pairs.get(stmt.sid)
        if pair is not None:
            self.emit(*self.slots.restore(pair))
        for save in self.found.saves.get(stmt.sid, ()):
            if save.when == "before":
                self.emit(*self.slots.restore(save))

    def seed(self, stmt: ir.Exit) -> None:
        """`return e`: the cotangent of the result is that of e."""
        if stmt.kind != "return" or not self.unit.differentiates(stmt):
            return
        assert isinstance(stmt.value, ir.Var)
        name = stmt.value.name
        adj = self.state.get(RESULT)
        if self.unit.kind(name) == "memory":
            if self.unit.spec.result_memory or self.result_is_shadow():
                self.alias_back(name, syn.name(self.bar(RESULT)))
            else:
                self.add(name, self.value(RESULT), False)
            return
        if adj is None:
            return
        node = adj.waiting if adj.waiting is not None else self.bar_node(RESULT)
        if self.unit.spec.lanes:
            self.masks.put(name, Mask(syn.name(self.result_lanes), ty.UNKNOWN))
        self.add(name, node, owned=False, thin=False)

    def result_is_shadow(self) -> bool:
        return self.unit.spec.result_memory

    def alias_back(self, name: str, node: ast.expr) -> None:
        """An alias of unknown type was a number after all: its adjoint comes back by value."""
        if isinstance(self.unit.type(name), ty.Array):
            return
        made = self.module.support("alias_back", self.bar_node(name), node)
        self.emit(syn.assign(self.bar(name), made))

    def with_(self, stmt: ir.With) -> None:
        inner = self.sub(stmt.body)
        if stmt.special is not None or not inner:
            self.out += inner
            return
        items = [ast.withitem(self.again(c), None) for c in stmt.contexts]
        if all(_is_errstate(c) for c in stmt.contexts):
            self.out.append(ast.With(items, inner))
        else:
            self.out += inner

    def user_code(self, stmt: ir.With) -> None:
        """`with sg.adjoint_of(x) as x_bar`: the user's statements, run here."""
        assert isinstance(stmt.value, ir.Var) and stmt.bound is not None
        name = stmt.value.name
        if not self.unit.is_active(name):
            raise located(
                NotDifferentiable,
                stmt.loc,
                f"{name} carries no derivative to the result, so it has no adjoint to change",
                fixes=["remove the block, or name a variable that the result depends on"],
            )
        self.comment(stmt)
        if self.unit.kind(name) != "memory":
            self.own(name)
        bound = stmt.bound
        self.emit(syn.assign(bound, self.bar_node(name)))
        for inner in stmt.body:
            assert isinstance(inner, ir.Verbatim)
            self.emit(self.text.verbatim(inner))
        if self.unit.kind(name) == "memory":
            if isinstance(self.unit.type(name), ty.Array):
                whole = syn.expr("a[...]", a=self.bar_node(name))
                self.emit(syn.assign(whole, syn.name(bound)))
            else:
                raise located(
                    UnsupportedSyntax,
                    stmt.loc,
                    f"adjoint_of({name}): the type of {name} is not known",
                )
        elif bound != self.bar(name):
            self.emit(syn.assign(self.bar(name), syn.name(bound)))
            self.state[name] = Adj(None, False, False)
        self.line = 0

    def try_(self, stmt: ir.Try) -> None:
        """What was tried, or the handler; any other handler refused when it was entered."""
        self.block(stmt.final)
        caught = self.found.control.tried.get(stmt.sid)
        if caught is not None and (stmt.sid, 0) not in self.found.closed:
            self.arms(syn.name(caught), stmt.handlers[0].body, (*stmt.body, *stmt.orelse), stmt)
            return
        self.block(stmt.orelse)
        self.block(stmt.body)

    # ---- assignments
    # -------------------------------------------------------------------------------

    def assign(self, stmt: ir.Assign) -> None:
        name, unit = stmt.target.name, self.unit
        target = unit.facts.targets.get(stmt.sid)
        if stmt.inplace is not None:
            self.inplace(stmt, target)
            return
        if isinstance(target, User):
            self.call(stmt, target)
            return
        kind = unit.kind(name) if unit.is_active(name) else "number"
        if kind != "memory" and self.takes_from_list(stmt):
            self.put_back(stmt)
            return
        if kind == "memory":
            self.assign_memory(stmt, target)
            return
        if name not in self.state:
            self.undo(stmt)
            return
        self.value_rule(stmt, stmt.value, target)

    def takes_from_list(self, stmt: ir.Assign) -> bool:
        """`s = tape.pop()` of a number, from a list with a shadow."""
        target, expr = self.unit.facts.targets.get(stmt.sid), stmt.value
        return (
            isinstance(target, Container)
            and target.name == "pop"
            and isinstance(expr, ir.Method)
            and isinstance(expr.obj, ir.Var)
            and self.unit.is_active(expr.obj)
        )

    def put_back(self, stmt: ir.Assign) -> None:
        """The reverse of `s = tape.pop()`: s and its adjoint return to their places."""
        name, expr = stmt.target.name, stmt.value
        assert isinstance(expr, ir.Method)
        g = self.take_full(name) if name in self.state else syn.number(0.0)
        key = self.primal(ir.unstar(expr.args[0])) if expr.args else syn.number(-1)
        popped = syn.tuple_of([syn.name(self.text.var(name))])
        obj, bar = self.primal(expr.obj), self.shadow(expr.obj)
        self.emit(ast.Expr(self.module.support("pop_back", obj, bar, key, popped, g)))
        self.undo(stmt)

    def value_rule(self, stmt: ir.Assign, expr: ir.Expr, target: object) -> None:
        """The target's adjoint is a value: take it, undo the binding, contribute."""
        name = stmt.target.name
        match expr:
            case ir.Const() | ir.Global() | ir.Opaque():
                self.take(name, 0)
                self.undo(stmt)
            case ir.Var():
                adj = self.state[name]
                thin, owned = adj.thin, adj.owned
                g = self.after_undo(stmt, self.take(name, 1))
                if self.found.needs.decides_kind(stmt):
                    g, owned = self.module.support("gradient", g, self.primal(expr)), True
                self.masks.put(expr.name, self.masks.take(name))
                self.contribute(expr, g, owned, thin)
            case ir.Index(obj, key):
                g = self.take_full(name)
                g = self.apart(self.after_undo(stmt, g), obj)
                mask = self.masks.take(name)
                if isinstance(obj, ir.Var) and obj.name in self.lanes.masked:
                    self.masks.put(obj.name, self.masks.of_item(obj, self.key_value(key), mask))
                self.add_item(stmt, obj, key, g)
            case ir.Build():
                g = self.take_full(name)
                g = self.hold(self.after_undo(stmt, g), expr.items)
                self.unpack(expr, g)
            case ir.Closure(_, free):
                g = self.take_full(name)
                g = self.hold(self.after_undo(stmt, g), [a for _, a in free])
                for k, (_, a) in enumerate(free):
                    self.contribute(a, syn.expr("g[k]", g=g, k=syn.number(k)), False)
            case ir.Attr(obj, attr) if target is None:
                g = self.take_full(name)
                g = self.apart(self.after_undo(stmt, g), obj)
                self.add_attr(obj, attr, g)
            case _:
                self.library_rule(stmt, expr, target)

    def apart(self, g: ast.expr, obj: ir.Atom) -> ast.expr:
        """A cotangent under another name if it goes into the adjoint that it is: `x = x[1:]`."""
        if not isinstance(obj, ir.Var):
            return g
        root = self.found.needs.container(obj) if self.unit.kind(obj.name) == "value" else obj
        if self.bar(root.name) not in syn.names_in(g):
            return g
        kept = syn.name(self.text.names.temporary() + "_bar")
        self.emit(syn.assign(kept, g))
        return kept

    def take_full(self, name: str) -> ast.expr:
        self.full(name)
        return self.take(name)

    def after_undo(self, stmt: ir.Stmt, g: ast.expr) -> ast.expr:
        """Undo a statement; the cotangent is kept if the undoing changes what it reads."""
        if syn.names_in(g) & self.restored(stmt):
            kept = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept, g))
            g = kept
        self.undo(stmt)
        return g

    def restored(self, stmt: ir.Stmt) -> set[str]:
        """The names that undoing a statement changes."""
        out: set[str] = set()
        for save in self.found.saves.get(stmt.sid, ()):
            if save.when == "before":
                out.add(self.text.var(save.var))
        pair = self.found.pairs.get(stmt.sid)
        if pair is not None:
            out |= {self.text.var(pair.var), self.bar(pair.var)}
        if stmt.sid in self.found.undone:
            for v in (*ir.reads(stmt), *ir.writes(stmt)):
                root = self.unit.fx.root(v.name)
                out |= {
                    self.text.var(n)
                    for n in self.unit.facts.types
                    if self.unit.fx.memory(n) and self.unit.fx.root(n) == root
                }
        return out

    def unpack(self, expr: ir.Build, g: ast.expr) -> None:
        if expr.kind == "dict":
            for key, item in zip(expr.keys, expr.items, strict=True):
                if key is not None and not isinstance(item, ir.Star):
                    self.contribute(item, syn.expr("g[k]", g=g, k=self.primal(key)), False)
                elif self.unit.is_active(ir.unstar(item)):
                    raise self.unsupported(expr, "`**` of an active dict in a display")
            return
        for k, item in enumerate(expr.items):
            if isinstance(item, ir.Star):
                if self.unit.is_active(item.value):
                    raise self.unsupported(expr, "`*` of an active sequence of unknown length")
                continue
            self.contribute(item, syn.expr("g[k]", g=g, k=syn.number(k)), False)

    def unsupported(self, where: object, what: str) -> Exception:
        loc = getattr(where, "loc", None)
        return located(
            UnsupportedSyntax,
            loc,
            f"{what} is not supported in differentiated code",
            fixes=["write the items out one by one"],
        )

    # ---- places
    # ----------------------------------------------------------------------------------

    def add_item(self, stmt: ir.Stmt, obj: ir.Atom, key: ir.Key, g: ast.expr) -> None:
        """`v = a[k]`: add the cotangent at k of a's adjoint."""
        if not isinstance(obj, ir.Var) or not self.unit.is_active(obj):
            return
        root = self.found.needs.container(obj) if self.unit.kind(obj.name) == "value" else obj
        if self.unit.kind(root.name) != "memory":
            self.own_container(root.name)
        place = self.place_of(obj, root)
        t = self.unit.facts.of(obj)
        if isinstance(t, ty.Array):
            self.add_element(stmt, place, key, g)
        elif isinstance(t, ty.Unknown) or not self.simple_key(key):
            made = self.module.support("item_add", place, self.key_value(key), g)
            self.emit(ast.Expr(made))
        elif self.leaf_is_container(stmt):
            self.emit(ast.Expr(self.module.support("item_add", place, self.key_value(key), g)))
        else:
            node = ast.Subscript(place, self.key(key), ast.Load())
            self.emit(syn.augment(node, ast.Add(), g))

    def leaf_is_container(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Assign):
            return True
        return not isinstance(self.unit.type(stmt.target.name), ty.Number | ty.Array)

    def simple_key(self, key: ir.Key) -> bool:
        return not isinstance(key, ir.Slice | ir.KeyTuple)

    def own_container(self, name: str) -> None:
        t = self.unit.type(name)
        if isinstance(t, ty.Array) or name not in self.state:
            self.own(name)
            return
        adj = self.state[name]
        node = self.value(name)
        if not adj.owned:
            adj.waiting, adj.owned = None, True
            self.emit(syn.assign(self.bar(name), self.module.support("own", node)))
        else:
            self.settle(name)

    def place_of(self, obj: ir.Var, root: ir.Var) -> ast.expr:
        """The place of `obj` inside the adjoint of its container `root`: `p_bar["a"]`."""
        if obj == root:
            return self.bar_node(root.name)
        again = self.found.needs.again(obj.name)
        assert again is not None
        value = again.value
        assert isinstance(value, ir.Index | ir.Attr) and isinstance(value.obj, ir.Var)
        inner = self.place_of(value.obj, root)
        if isinstance(value, ir.Attr):
            t = self.unit.facts.of(value.obj)
            names = getattr(t.cls, "_fields", ()) if isinstance(t, ty.Tuple) else ()
            if value.name in names:
                return ast.Subscript(inner, syn.number(names.index(value.name)), ast.Load())
            return ast.Attribute(inner, value.name, ast.Load())
        return ast.Subscript(inner, self.key(value.key), ast.Load())

    def key_value(self, key: ir.Key) -> ast.expr:
        """A key as a value: slices are written as calls."""
        match key:
            case ir.KeyTuple(items):
                return syn.tuple_of(self.key_value(i) for i in items)
            case ir.Slice(lower, upper, step):
                parts = [
                    syn.number(None) if a is None else self.primal(a) for a in (lower, upper, step)
                ]
                return syn.call("slice", *parts)
            case _:
                return self.primal(key)

    def add_element(self, stmt: ir.Stmt, place: ast.expr, key: ir.Key, g: ast.expr) -> None:
        if self.unit.basic(key) or self.is_mask(key):
            node = ast.Subscript(place, self.key(key), ast.Load())
            self.emit(syn.augment(node, ast.Add(), g))
        elif surely_copies(self.unit.facts, key):
            node = self.module.numpy("add.at", place, self.key_value(key), g)
            self.emit(ast.Expr(node))
        else:
            self.emit(ast.Expr(self.module.support("item_add", place, self.key_value(key), g)))

    def is_mask(self, key: ir.Key) -> bool:
        if isinstance(key, ir.Slice | ir.KeyTuple):
            return False
        t = self.unit.facts.of(key)
        return isinstance(t, ty.Array) and t.dtype == bool

    def add_attr(self, obj: ir.Atom, attr: str, g: ast.expr) -> None:
        if not isinstance(obj, ir.Var) or not self.unit.is_active(obj):
            return
        root = self.found.needs.container(obj) if self.unit.kind(obj.name) == "value" else obj
        if self.unit.kind(root.name) != "memory":
            self.own_container(root.name)
        place = self.place_of(obj, root)
        self.emit(ast.Expr(self.module.support("attr_add", place, ast.Constant(attr), g)))

    # ---- library functions ---------------------------------------------------------------------

    def library_rule(self, stmt: ir.Assign, expr: ir.Expr, target: object) -> None:
        name = stmt.target.name
        if isinstance(target, Container):
            self.container_rule(stmt, expr, target)
            return
        if isinstance(target, Construct):
            g = self.take_full(name)
            g = self.hold(
                self.after_undo(stmt, g), [a for b in target.args for a in bound_atoms(b)]
            )
            for f, b in zip(target.fields, target.args, strict=True):
                assert not isinstance(b, Packed)
                got = (
                    self.module.support("field", g, ast.Constant(f))
                    if not issubclass(target.cls, tuple)
                    else syn.expr(
                        "g[k]",
                        g=g,
                        k=syn.number(target.cls._fields.index(f)),  # type: ignore[attr-defined]
                    )
                )
                self.contribute(b, got, False)
            return
        if not isinstance(target, Library):
            raise self.no_rule(stmt, expr, target)
        if userrules.is_rule(target):
            userrules.reverse_value(self, stmt, target)
            return
        terms = self.terms(stmt, expr, target)
        self.apply(stmt, terms, name)

    def terms(self, stmt: ir.Stmt, expr: ir.Expr, target: Library) -> list[Term]:
        """The terms of a call; an active argument without one is refused."""
        if target.entry.kind == "refuse":
            for a in ir.operands(expr):
                if isinstance(a, ir.Var) and self.unit.is_active(a):
                    raise self.refused(stmt, target, a)
        terms = self.found.needs.library_terms(stmt, expr, target)
        have = {t.param for t in terms}
        for param, b in target.args:
            if param in have or target.entry.kind == "nondiff" or param in target.entry.zero:
                continue
            for a in bound_atoms(b):
                if self.unit.is_active(a):
                    assert isinstance(a, ir.Var)
                    if target.entry.kind == "parallel":
                        raise self.refused(stmt, target, a)
                    shown = a.name.split("%")[0] or "this argument"
                    raise located(
                        NotDifferentiable,
                        stmt.loc,
                        f"{target.entry.name} has no derivative with respect to {param}",
                        chain=self.chain(a.name),
                        fixes=[
                            f"give a rule with @srcgrad.rule({target.entry.name})",
                            f"mark the value constant with srcgrad.stop_gradient({shown})",
                        ],
                    )
        return terms

    def refused(self, stmt: ir.Stmt, target: Library, a: ir.Var) -> Exception:
        """The entry says why its function has no derivative."""
        return located(
            MissingRule,
            stmt.loc,
            f"{target.entry.name} can't be differentiated: {target.entry.note}",
            chain=self.chain(a.name),
            fixes=["mark the value constant with srcgrad.stop_gradient(...)"],
        )

    def chain(self, name: str) -> list[tuple[str, int]]:
        return self.unit.act.chain(name)

    def no_rule(self, stmt: ir.Stmt, expr: ir.Expr, target: object) -> Exception:
        atoms = [a for a in ir.operands(expr) if isinstance(a, ir.Var) and self.unit.is_active(a)]
        what = target.what if isinstance(target, Uncharted) else "this operation"
        why = f": {target.why}" if isinstance(target, Uncharted) and target.why else ""
        return located(
            MissingRule,
            stmt.loc,
            f"no derivative rule for {what}{why}",
            chain=self.chain(atoms[0].name) if atoms else (),
            fixes=[
                f"give a rule with @srcgrad.rule({what})",
                "mark the value constant with srcgrad.stop_gradient(...)",
            ],
        )

    def apply(self, stmt: ir.Assign, terms: list[Term], name: str) -> None:
        """Contributions of a value: the cotangent, then undoing, then each term."""
        adj = self.state[name]
        mentions = sum(t.cotangents() for t in terms)
        if adj.thin and not all(self.takes_thin(t, name) for t in terms):
            self.full(name)
        thin = self.state[name].thin
        early = self.reads_result(terms, name) and self.overwritten(stmt)
        g = self.take(name, mentions)
        if early:
            kept = self.text.names.temporary()
            self.emit(syn.assign(kept, syn.name(self.text.var(name))))
            out: ast.expr = syn.name(kept)
        else:
            out = syn.name(self.text.var(name))
        g = self.after_undo(stmt, g)
        terms, g = self.in_order(terms, g)
        self.share(terms, g, out)
        mask = self.masks.take(name)
        for term in terms:
            self.term(term, g, out, thin, name, mask)

    def share(self, terms: list[Term], g: ast.expr, out: ast.expr) -> None:
        """Bind what several formulas of a rule have in common (its `let`) to names."""
        self.shared = {}
        if len(terms) < 2 or not terms[0].entry.let:
            return
        used = [set(_names(t.raw)) for t in terms if t.raw is not None]
        for n, f in terms[0].entry.let.items():
            if sum(n in u for u in used) < 2:
                continue
            kept = self.text.names.temporary()
            whole = replace(terms[0], formula=expand_let(f.node, terms[0].entry), raw=None)
            self.emit(syn.assign(kept, syn.simplify(self.formula(whole, g, out))))
            self.shared[n] = syn.name(kept)

    def in_order(self, terms: list[Term], g: ast.expr) -> tuple[list[Term], ast.expr]:
        """A term that changes an adjoint which the cotangent is made of comes last; where several
        do, the cotangent is put aside first: `s = s * s` with the cotangent `s_bar`."""
        mentioned = syn.names_in(g)
        changing = [
            t
            for t in terms
            if isinstance(t.operand, ir.Var)
            and self.unit.is_active(t.operand)
            and self.disturbed(t.operand.name) & mentioned
        ]
        packed = any(isinstance(t.operand, Packed) for t in terms)
        if len(changing) > 1 or (packed and mentioned):
            kept = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept, g))
            return terms, kept
        return [t for t in terms if t not in changing] + changing, g

    def disturbed(self, name: str) -> set[str]:
        """The variables that change when a contribution to an adjoint is written down."""
        return self.settled_by({self.bar(name)})

    def settled_by(self, targets: set[str]) -> set[str]:
        """Variables that are about to change, and those of adjoints that must be written
        before."""
        out = set(targets)
        waiting = {n: a.waiting for n, a in self.state.items() if a.waiting is not None}
        while waiting:
            hit = [n for n, node in waiting.items() if syn.names_in(node) & out]
            if not hit:
                break
            out |= {self.bar(n) for n in hit}
            waiting = {n: node for n, node in waiting.items() if n not in hit}
        return out

    def hold(self, g: ast.expr, operands: Iterable[ir.Atom | ir.Star]) -> ast.expr:
        """A cotangent that several contributions read: put aside when one of them changes it."""
        active = [
            a for a in map(ir.unstar, operands) if isinstance(a, ir.Var) and self.unit.is_active(a)
        ]
        mentioned = syn.names_in(g)
        if len(active) > 1 and any(self.disturbed(a.name) & mentioned for a in active):
            kept = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept, g))
            return kept
        return g

    def reads_result(self, terms: list[Term], name: str) -> bool:
        del name
        return any(t.reads_out() for t in terms)

    def overwritten(self, stmt: ir.Assign) -> bool:
        return any(
            s.when == "before" and s.var == stmt.target.name
            for s in self.found.saves.get(stmt.sid, ())
        )

    def takes_thin(self, term: Term, name: str) -> bool:
        if isinstance(term.operand, Packed):
            return False
        return takes_thin(term, self.unit.facts.of(term.operand), self.unit.type(name))

    def term(
        self,
        term: Term,
        g: ast.expr,
        out: ast.expr,
        thin: bool,
        name: str,
        mask: Mask | None = None,
    ) -> None:
        node = self.formula(term, g, out)
        if _literal(node) and syn.is_number(node, 0):
            return
        if isinstance(term.operand, Packed):
            self.spread(term, node)
            return
        operand = term.operand
        assert isinstance(operand, ir.Var)
        result = self.unit.type(name)
        still_thin = thin and stays_thin(self.unit.facts, term, result)
        formula = node
        node, mask = self.masks.contribution(term, mask, node, g, result)
        if node is g and formula is not g:
            still_thin = thin
        elif node is not formula:
            still_thin = still_thin and not (mask is not None and same_shape(mask.type, result))
        self.masks.put(operand.name, mask)
        if term.fills and self.unit.kind(operand.name) != "memory":
            self.contribute(operand, node, False, True)
            return
        fresh = is_fresh(syn.simplify(node))
        if term.reduces:
            node, fresh = self.reduce(term, operand, node, name, fresh)
        self.contribute(operand, node, fresh and not still_thin, still_thin)

    def reduce(
        self, term: Term, operand: ir.Var, node: ast.expr, name: str, fresh: bool
    ) -> tuple[ast.expr, bool]:
        """Sum a contribution down to the shape of its operand."""
        t, result = self.unit.facts.of(operand), self.unit.type(name)
        if isinstance(t, ty.Number) and isinstance(result, ty.Array):
            total = self.module.numpy("sum", node)
            real = _complex(result) and not issubclass(t.cls, complex | np.complexfloating)
            return ast.Attribute(total, "real", ast.Load()) if real else total, True
        if isinstance(t, ty.Number) and isinstance(result, ty.Number):
            return ast.Attribute(node, "real", ast.Load()), True
        if isinstance(t, ty.Number):
            return self.module.support("unbroadcast", node, _zero_number(t)), False
        axes = summed_axes(t, result)
        if axes is not None:
            return self.module.numpy("sum", node, **axes), True
        return self.module.support("unbroadcast", node, self.shape_of(operand)), False

    def shape_of(self, operand: ir.Var) -> ast.expr:
        """Something of the operand's shape: its shadow where it has one."""
        if self.found.needs.has_shadow(operand.name):
            return self.bar_node(operand.name)
        return self.primal(operand)

    def formula(self, term: Term, g: ast.expr, out: ast.expr) -> ast.expr:
        """The term's formula with the call's own operands."""
        if not self.is_float_formula(term):
            g = syn.deciding(g)
        parts: dict[str, ast.expr] = {"g": g, "out": out}
        formula = term.formula
        if self.shared and term.raw is not None and set(_names(term.raw)) & set(self.shared):
            rest = {n: f for n, f in term.entry.let.items() if n not in self.shared}
            formula = expand_let(term.raw, replace(term.entry, let=rest))
            parts |= self.shared
        for n in _names(formula):
            if n in HELPERS or n in parts or n not in term.env:
                continue
            parts[n] = self.bound(term.env[n])
        self.module.formula(formula)
        return syn.substitute(formula, parts)

    def is_float_formula(self, term: Term) -> bool:
        """Whether a formula without its cotangent surely has a floating value."""
        if any(isinstance(n, ast.Compare | ast.BoolOp) for n in ast.walk(term.formula)):
            return False
        types = [self.unit.facts.of(a) for a in term.reads()]
        return all(
            ty.can_be_active(t) and not isinstance(t, ty.Unknown)
            for t in types
            if isinstance(t, ty.Number | ty.Array | ty.Unknown)
        )

    def bound(self, b: Bound | ast.expr) -> ast.expr:
        if isinstance(b, ast.expr):
            return b
        if isinstance(b, Packed):
            items = [self.primal(ir.unstar(i)) for i in b.items]
            return syn.tuple_of(items)
        return self.primal(b)

    def spread(self, term: Term, node: ast.expr) -> None:
        """Several operands at once (`np.maximum.reduce`, `max(a, b, c)`): a tuple of
        contributions."""
        assert isinstance(term.operand, Packed)
        active = [
            (k, i) for k, i in enumerate(term.operand.items) if self.unit.is_active(ir.unstar(i))
        ]
        if len(active) > 1:
            kept = self.text.names.temporary()
            self.emit(syn.assign(kept, node))
            node = syn.name(kept)
        for k, item in active:
            self.contribute(ir.unstar(item), syn.expr("t[k]", t=node, k=syn.number(k)), False)

    def container_rule(self, stmt: ir.Assign, expr: ir.Expr, target: Container) -> None:
        """Containers kept by value: copies and reads of them."""
        g = self.take_full(stmt.target.name)
        g = self.after_undo(stmt, g)
        match target.name:
            case "concat":
                assert isinstance(expr, ir.Op)
                first, second = expr.args
                cut = syn.call("len", self.primal(first))
                self.contribute(first, syn.expr("g[:n]", g=g, n=cut), False)
                self.contribute(second, syn.expr("g[n:]", g=g, n=cut), False)
            case "alias" | "list" | "tuple" | "dict" | "copy":
                source = ir.operands(expr)[1 if isinstance(expr, ir.Call) else 0]
                self.contribute(source, self.module.support("like", g, self.primal(source)), False)
            case "get":
                assert isinstance(expr, ir.Method)
                self.get_rule(expr, g)
            case "values" | "items":
                raise self.unsupported(stmt, f"dict.{target.name}() outside a for loop")
            case _:
                raise self.no_rule(stmt, expr, Uncharted(f"the method {target.name}", ""))

    def get_rule(self, expr: ir.Method, g: ast.expr) -> None:
        """`d.get(k, default)`: the item when it is there."""
        if isinstance(expr.obj, ir.Var) and self.unit.is_active(expr.obj):
            if self.unit.kind(expr.obj.name) != "memory":
                self.own_container(expr.obj.name)
            key = self.primal(ir.unstar(expr.args[0]))
            self.emit(
                ast.Expr(self.module.support("get_add", self.bar_node(expr.obj.name), key, g))
            )
        if len(expr.args) > 1:
            default = ir.unstar(expr.args[1])
            if self.unit.is_active(default):
                key, obj = self.primal(ir.unstar(expr.args[0])), self.primal(expr.obj)
                node = ast.IfExp(ast.Compare(key, [ast.In()], [obj]), syn.number(0.0), g)
                self.contribute(default, node, False)

    # ---- memory
    # ----------------------------------------------------------------------------------

    def assign_memory(self, stmt: ir.Assign, target: object) -> None:
        """The target has a shadow: it is the cotangent, complete, of the fresh array."""
        name = stmt.target.name
        alias = self.unit.aliases(stmt)
        g: ast.expr = self.bar_node(name)
        pair = self.found.pairs.get(stmt.sid)
        if pair is not None:
            kept = self.text.names.temporary() + "_bar"
            self.emit(syn.assign(kept, g))
            g = syn.name(kept)
        if isinstance(target, Library) and userrules.is_rule(target):
            userrules.reverse_memory(self, stmt, target, g)
            return
        if alias is not None and not self.decides_at_run_time(stmt):
            self.undo(stmt)
            return
        if alias is not None:
            self.undo_view(stmt, alias, g)
            return
        expr = stmt.value
        if isinstance(target, Library):
            terms = self.terms(stmt, expr, target)
            early = any(t.reads_out() for t in terms) and (pair is not None)
            out: ast.expr = syn.name(self.text.var(name))
            if early:
                kept = self.text.names.temporary()
                self.emit(syn.assign(kept, out))
                out = syn.name(kept)
            self.undo(stmt)
            for term in terms:
                self.term(term, g, out, False, name)
            return
        self.undo(stmt)
        match expr:
            case ir.Var():
                self.part_back(expr, g)
            case ir.Build():
                self.unpack_memory(expr, g)
            case ir.Closure(_, free):
                for k, (_, a) in enumerate(free):
                    self.part_back(a, syn.expr("g[k]", g=g, k=syn.number(k)))
            case ir.Index(obj, key):
                self.add_item(stmt, obj, key, g)
            case ir.Const() | ir.Global() | ir.Opaque():
                return
            case _ if isinstance(target, Container | Construct):
                self.container_memory(stmt, expr, target, g)
            case _:
                raise self.no_rule(stmt, expr, target)

    def decides_at_run_time(self, stmt: ir.Assign) -> bool:
        """Whether it is not known if an alias shares memory (unknown types, `reshape`)."""
        name = stmt.target.name
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, Library) and target.entry.view == "maybe":
            return True
        if isinstance(stmt.value, ir.Index) and not self.unit.basic(stmt.value.key):
            return True
        alias = self.unit.aliases(stmt)
        assert alias is not None
        known = isinstance(self.unit.type(name), ty.Array) and isinstance(
            self.unit.type(alias.name), ty.Array
        )
        return not known and self.found.is_tracked(name)

    def undo_view(self, stmt: ir.Assign, alias: ir.Var, g: ast.expr) -> None:
        """A value of unknown type that may be a part of `alias`, or a number or copy taken from
        it."""
        self.undo(stmt)
        target = self.unit.facts.targets.get(stmt.sid)
        name = stmt.target.name
        if isinstance(stmt.value, ir.Index):
            place = self.bar_node(alias.name)
            node = self.module.support("part_back", place, self.key_value(stmt.value.key), g)
            self.emit(ast.Expr(node))
            return
        if isinstance(target, Library):
            terms = self.terms(stmt, stmt.value, target)
            body: list[ast.stmt] = []
            outer, self.out = self.out, body
            for term in terms:
                self.term(term, g, syn.name(self.text.var(name)), False, name)
            self.out = outer
            test = ast.UnaryOp(
                ast.Not(), self.module.support("is_part", g, self.bar_node(alias.name))
            )
            self.out += conditional(test, body, [])
            return
        if isinstance(stmt.value, ir.Attr):
            node = self.module.support(
                "attr_back", self.bar_node(alias.name), ast.Constant(stmt.value.name), g
            )
            self.emit(ast.Expr(node))
            return
        self.part_back(alias, g)

    def part_back(self, a: ir.Atom, g: ast.expr) -> None:
        """The shadow of a part is shared; the adjoint of a number comes back by value."""
        if not isinstance(a, ir.Var) or not self.unit.is_active(a):
            return
        t = self.unit.type(a.name)
        if isinstance(t, ty.Number) or self.unit.kind(a.name) != "memory":
            self.add(a.name, g, False)
        elif not isinstance(t, ty.Array):
            made = self.module.support("alias_back", self.bar_node(a.name), g)
            self.emit(syn.assign(self.bar(a.name), made))

    def unpack_memory(self, expr: ir.Build, g: ast.expr) -> None:
        if expr.kind == "dict":
            for key, item in zip(expr.keys, expr.items, strict=True):
                if key is not None:
                    self.part_back(ir.unstar(item), syn.expr("g[k]", g=g, k=self.primal(key)))
                elif self.unit.is_active(ir.unstar(item)):
                    raise self.unsupported(expr, "`**` of an active dict in a display")
            return
        for k, item in enumerate(expr.items):
            if isinstance(item, ir.Star):
                if self.unit.is_active(item.value):
                    raise self.unsupported(expr, "`*` of an active sequence of unknown length")
                continue
            self.part_back(item, syn.expr("g[k]", g=g, k=syn.number(k)))

    def container_memory(
        self, stmt: ir.Assign, expr: ir.Expr, target: Container | Construct, g: ast.expr
    ) -> None:
        if isinstance(target, Container) and isinstance(expr, ir.Op):
            cut = syn.call("len", self.primal(expr.args[0]))
            for a, part in zip(expr.args, ("g[:n]", "g[n:]"), strict=True):
                if (
                    isinstance(a, ir.Var)
                    and self.unit.is_active(a)
                    and self.unit.kind(a.name) == "memory"
                ):
                    back = self.module.support(
                        "copy_back", self.shadow(a), syn.expr(part, g=g, n=cut)
                    )
                    self.emit(ast.Expr(back))
                else:
                    self.contribute(a, syn.expr(part, g=g, n=cut), False)
            return
        if isinstance(target, Container) and isinstance(expr, ir.Call):
            source = ir.operands(expr)[-1]
            if isinstance(source, ir.Var) and self.unit.is_active(source):
                self.emit(ast.Expr(self.module.support("copy_back", self.shadow(source), g)))
            return
        if isinstance(target, Container) and target.name == "pop" and isinstance(expr, ir.Method):
            key = self.primal(ir.unstar(expr.args[0])) if expr.args else syn.number(-1)
            obj, bar = self.primal(expr.obj), self.shadow(expr.obj)
            item = syn.name(self.text.var(stmt.target.name))
            del item
            self.emit(
                ast.Expr(
                    self.module.support("pop_back", obj, bar, key, self.slots.popped(stmt), g)
                )
            )
            return
        if isinstance(target, Container) and target.name == "copy":
            assert isinstance(expr, ir.Method)
            self.emit(ast.Expr(self.module.support("copy_back", self.shadow(expr.obj), g)))
            return
        raise self.no_rule(stmt, expr, Uncharted("this container method", ""))

    def shadow(self, a: ir.Atom) -> ast.expr:
        assert isinstance(a, ir.Var)
        return self.bar_node(a.name)

    def inplace(self, stmt: ir.Assign, target: object) -> None:
        """`u op= e` on an array: a store of the operation's result into u[...]."""
        name = stmt.target.name
        if not isinstance(stmt.value, ir.Op) or not isinstance(target, Library):
            raise self.no_rule(stmt, stmt.value, target)
        operand = stmt.value.args[1]
        if isinstance(self.unit.type(name), ty.Array):
            self.inplace_array(stmt, target, operand)
            return
        pair = self.slots.inplace_slot(stmt)
        g = syn.name(self.text.names.temporary() + "_bar")
        u, u_bar = self.text.var(name), self.bar(name)
        terms = self.terms(stmt, stmt.value, target)
        out: ast.expr = syn.name(u)
        if any(t.reads_out() for t in terms):
            out = syn.name(self.text.names.temporary())
            self.emit(syn.assign(out, self.module.support("own", syn.name(u))))
        undo = self.module.support("inplace_undo", syn.name(u), syn.name(u_bar), pair)
        target_node = syn.tuple_of([g, syn.name(u), syn.name(u_bar)])
        self.emit(syn.assign(target_node, undo))
        for term in terms:
            self.term(term, g, out, False, name)

    def inplace_array(self, stmt: ir.Assign, target: Library, operand: ir.Atom) -> None:
        name, op = stmt.target.name, stmt.inplace
        shares = isinstance(operand, ir.Var) and (
            self.unit.fx.memory(operand.name)
            and self.unit.fx.root(operand.name) == self.unit.fx.root(name)
        )
        bar = self.bar_node(name)
        active = self.unit.is_active(operand)
        if op in ("add", "sub") and not shares:
            self.undo(stmt)
            if active:
                node = bar if op == "add" else syn.negative(bar)
                self.store_contribution(operand, node, self.unit.type(name), False)
            return
        if op in ("mul", "truediv") and not active and not shares:
            self.undo(stmt)
            kind = ast.Mult() if op == "mul" else ast.Div()
            self.emit(
                ast.AugAssign(ast.Name(self.bar(name), ast.Store()), kind, self.primal(operand))
            )
            return
        g = syn.name(self.text.names.temporary() + "_bar")
        self.emit(syn.assign(g, syn.expr("u.copy()", u=bar)))
        self.emit(syn.assign(syn.expr("u[...]", u=bar), syn.number(0.0)))
        kept: ast.expr = syn.name(self.text.var(name))
        terms = self.terms(stmt, stmt.value, target)
        if any(t.reads_out() for t in terms):
            held = self.text.names.temporary()
            self.emit(syn.assign(held, syn.expr("u.copy()", u=kept)))
            kept = syn.name(held)
        self.undo(stmt)
        for term in terms:
            self.term(term, g, kept, False, name)

    def store_contribution(self, e: ir.Atom, node: ast.expr, place: ty.Type, fresh: bool) -> None:
        """The cotangent of a stored value, summed to its shape."""
        if not isinstance(e, ir.Var) or not self.unit.is_active(e):
            return
        t = self.unit.facts.of(e)
        if isinstance(t, ty.Number) and isinstance(place, ty.Array) and not _complex(place):
            node, fresh = self.module.numpy("sum", node), True
        elif isinstance(t, ty.Number) and isinstance(place, ty.Unknown):
            node = self.module.support("unbroadcast", node, _zero_number(t))
        elif must_reduce(t, place):
            node = self.module.support("unbroadcast", node, self.shape_of(e))
        self.contribute(e, node, fresh)

    def store(self, stmt: ir.Store) -> None:
        """`u[k] = e`: take the cotangent there, zero it, restore, then pass it on (finding 1)."""
        if not isinstance(stmt.base, ir.Var):
            raise self.global_store(stmt)
        base = self.unit.type(stmt.base.name)
        if not isinstance(base, ty.Array):
            self.store_unknown(stmt)
            return
        if not ty.can_be_active(base) and self.unit.is_active(stmt.value):
            raise self.integer_store(stmt)
        place = self.unit.place_type(stmt)
        whole = ast.Subscript(self.bar_node(stmt.base.name), self.key(stmt.key), ast.Load())
        scalar = isinstance(place, ty.Number)
        distinct = self.unit.basic(stmt.key) or self.is_mask(stmt.key)
        if stmt.op is None:
            self.plain_store(stmt, whole, place, scalar, distinct)
        else:
            self.augmented_store(stmt, whole, place, scalar, distinct)

    def plain_store(
        self, stmt: ir.Store, whole: ast.expr, place: ty.Type, scalar: bool, distinct: bool
    ) -> None:
        active = self.unit.is_active(stmt.value)
        g: ast.expr | None = None
        if active:
            g = syn.name(self.text.names.temporary() + "_bar")
            if not distinct:
                node: ast.expr = self.module.support(
                    "last_written",
                    self.bar_node(stmt.base.name),
                    self.key_value(stmt.key),  # type: ignore[union-attr]
                )
            elif scalar or not self.unit.basic(stmt.key):
                node = whole
            else:
                node = syn.expr("a.copy()", a=whole)
            self.emit(syn.assign(g, node))
        self.emit(syn.assign(whole, syn.number(0.0)))
        self.undo(stmt)
        if g is not None:
            self.store_contribution(stmt.value, g, place, True)

    def augmented_store(
        self, stmt: ir.Store, whole: ast.expr, place: ty.Type, scalar: bool, distinct: bool
    ) -> None:
        """`u[k] op= e`."""
        op, e = stmt.op, stmt.value
        assert isinstance(stmt.base, ir.Var) and op is not None
        shares = (
            isinstance(e, ir.Var)
            and self.unit.fx.memory(e.name)
            and (self.unit.fx.root(e.name) == self.unit.fx.root(stmt.base.name))
        )
        old = ast.Subscript(
            syn.name(self.text.var(stmt.base.name)), self.key(stmt.key), ast.Load()
        )
        active = self.unit.is_active(e)
        if op in ir.AT_OPERATORS:
            self.undo(stmt)
            if active:
                got = (
                    syn.expr("a.copy()", a=whole)
                    if self.unit.basic(stmt.key) and not scalar
                    else whole
                )
                node = got if op == "add_at" else syn.negative(got)
                self.store_contribution(e, node, place, True)
            return
        if distinct and op in ("add", "sub"):
            self.undo(stmt)
            if active:
                node = whole
                if shares and not scalar:
                    node = syn.expr("a.copy()", a=whole)
                self.store_contribution(
                    e, node if op == "add" else syn.negative(node), place, shares
                )
            return
        if distinct and op in ("mul", "truediv") and not shares:
            self.undo(stmt)
            factor = self.primal(e)
            if active:
                if op == "mul":
                    node = syn.expr("g * u", g=whole, u=old)
                else:
                    node = syn.expr("-g * u / (e * e)", g=whole, u=old, e=factor)
                self.store_contribution(e, node, place, True)
            kind = ast.Mult() if op == "mul" else ast.Div()
            self.emit(ast.AugAssign(syn._as_store(whole), kind, factor))  # type: ignore[arg-type]
            return
        self.general_augmented(stmt, whole, old, place)

    def general_augmented(
        self, stmt: ir.Store, whole: ast.expr, old: ast.expr, place: ty.Type
    ) -> None:
        """Any operator and index: gather, apply the operator's own rule, scatter."""
        from srcgrad.analysis.partials import vjp_term
        from srcgrad.rules.python import OPERATORS

        assert stmt.op is not None and isinstance(stmt.base, ir.Var)
        entry = self.unit.program.rule(OPERATORS[stmt.op])
        if entry is None or entry.params is None:
            raise self.no_rule(stmt, stmt.value, Uncharted(f"the operator {stmt.op}", ""))
        one, two = list(entry.params.parameters)[:2]
        held = f"%held{stmt.sid}"
        self.unit.facts.types[held] = place if not isinstance(place, ty.Unknown) else ty.UNKNOWN
        call = Library(entry, ((one, ir.Var(held)), (two, stmt.value)))
        bar = self.bar_node(stmt.base.name)
        g = syn.name(self.text.names.temporary() + "_bar")
        key = self.key_value(stmt.key)
        self.emit(syn.assign(g, self.module.support("last_written", bar, key)))
        self.emit(syn.assign(whole, syn.number(0.0)))
        self.undo(stmt)
        gathered = self.text.names.temporary()
        self.emit(syn.assign(gathered, syn.expr("a + 0.0", a=old)))
        self.text.printed[held] = gathered
        for param, operand in ((two, stmt.value), (one, ir.Var(held))):
            if param == two and not self.unit.is_active(stmt.value):
                continue
            term = vjp_term(self.unit.facts, call, param, operand, ty.UNKNOWN)
            if term is None:
                raise self.no_rule(stmt, stmt.value, Uncharted(f"the operator {stmt.op}", ""))
            out = self.text.operator(stmt.op, [syn.name(gathered), self.primal(stmt.value)])
            node = self.formula(term, g, out)
            if param == two:
                self.store_contribution(stmt.value, node, ty.UNKNOWN, False)
            else:
                node = self.module.support("unbroadcast", node, syn.name(gathered))
                self.emit(ast.Expr(self.module.support("item_add", bar, key, node)))

    def store_unknown(self, stmt: ir.Store) -> None:
        """A store into something of unknown type, or into a container."""
        assert isinstance(stmt.base, ir.Var)
        slot = self.slots.item_slot(stmt)
        obj, bar = syn.name(self.text.var(stmt.base.name)), self.bar_node(stmt.base.name)
        g = syn.name(self.text.names.temporary() + "_bar")
        undo = "add_at_back" if stmt.op in ir.AT_OPERATORS else "store_back"
        back = self.module.support(undo, obj, bar, self.key_value(stmt.key), slot)
        self.emit(syn.assign(g, back))
        if self.unit.is_active(stmt.value):
            self.value_back(stmt.value, syn.negative(g) if stmt.op == "sub_at" else g)

    def value_back(self, e: ir.Atom, g: ast.expr) -> None:
        """What comes back for a stored value: its adjoint, or None where its shadow was shared."""
        assert isinstance(e, ir.Var)
        if self.unit.kind(e.name) == "memory" and not isinstance(self.unit.type(e.name), ty.Array):
            made = self.module.support("stored_back", self.bar_node(e.name), g, self.primal(e))
            self.emit(syn.assign(self.bar(e.name), made))
        elif self.unit.kind(e.name) == "memory":
            self.emit(
                ast.Expr(
                    self.module.support("stored_back", self.bar_node(e.name), g, self.primal(e))
                )
            )
        elif isinstance(t := self.unit.type(e.name), ty.Number):
            self.add(e.name, self.module.support("unbroadcast", g, _zero_number(t)), False)
        else:
            self.add(e.name, self.module.support("unbroadcast", g, self.primal(e)), False)

    def integer_store(self, stmt: ir.Store) -> Exception:
        assert isinstance(stmt.base, ir.Var) and isinstance(stmt.value, ir.Var)
        dtype = getattr(self.unit.type(stmt.base.name), "dtype", "int")
        return located(
            NotDifferentiable,
            stmt.loc,
            f"a value with a derivative is stored into {stmt.base.name}, "
            f"whose dtype {dtype} truncates it",
            chain=self.chain(stmt.value.name),
            fixes=["make the array of floats, for instance np.zeros(n)", "or stop_gradient(...)"],
        )

    def global_store(self, stmt: ir.Stmt) -> Exception:
        return located(
            UnsupportedSyntax,
            stmt.loc,
            "a value with a derivative is written into an object from outside the function "
            "(a global or captured buffer)",
            fixes=["make the buffer inside the function, or pass it as an argument"],
        )

    def store_attr(self, stmt: ir.StoreAttr) -> None:
        raise located(
            UnsupportedSyntax,
            stmt.loc,
            f"a value with a derivative is written into the attribute {stmt.name} of an object",
            fixes=["keep it in a local variable or an array"],
        )

    # ---- calls for their effects
    # -----------------------------------------------------------------

    def effect(self, stmt: ir.Effect) -> None:
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, User):
            self.call(stmt, target)
        elif isinstance(target, Container) and isinstance(stmt.value, ir.Method):
            self.container_effect(stmt, stmt.value, target.name)
        elif isinstance(target, Library):
            self.library_effect(stmt, target)
        else:
            raise self.no_rule(stmt, stmt.value, target)

    def container_effect(self, stmt: ir.Effect, expr: ir.Method, name: str) -> None:
        obj, bar = self.primal(expr.obj), self.shadow(expr.obj)
        args = [ir.unstar(a) for a in expr.args]
        match name:
            case "append" | "extend" | "insert":
                more: list[ast.expr] = []
                if name == "insert":
                    more = [self.primal(args[0])]
                elif name == "extend":
                    more = [syn.call("len", self.primal(args[0]))]
                g: ast.expr = self.module.support(f"list_{name}_back", obj, bar, *more)
                if not self.unit.is_active(args[-1]):
                    self.emit(ast.Expr(g))
                elif name == "extend":
                    kept = syn.name(self.text.names.temporary() + "_bar")
                    self.emit(syn.assign(kept, g))
                    self.emit(
                        ast.Expr(self.module.support("copy_back", self.shadow(args[-1]), kept))
                    )
                else:
                    self.part_back_named(args[-1], g)
            case "sort" | "fill":
                from srcgrad.transform.adjoint.arrays import array_effect

                array_effect(self, stmt, expr, name)
            case _:
                raise located(
                    UnsupportedSyntax,
                    stmt.loc,
                    f"the method {name} changes a container that carries a derivative",
                    fixes=["build a new container instead"],
                )

    def part_back_named(self, a: ir.Atom, g: ast.expr) -> None:
        kept = syn.name(self.text.names.temporary() + "_bar")
        self.emit(syn.assign(kept, g))
        self.part_back(a, kept)

    def library_effect(self, stmt: ir.Effect, target: Library) -> None:
        from srcgrad.transform.adjoint.arrays import library_effect

        library_effect(self, stmt, target)

    # ---- user functions
    # -----------------------------------------------------------------------------

    def call(self, stmt: ir.Assign | ir.Effect, target: User) -> None:
        """`v = f(a)`: the callee's own reverse sweep."""
        found = self.callees.of(self.unit, stmt, target)
        if found is None:
            if isinstance(stmt, ir.Assign):
                self.state.pop(stmt.target.name, None)
            self.undo(stmt)
            return
        cotangent: ast.expr = syn.number(None)
        if isinstance(stmt, ir.Assign) and found.result == "value":
            name = stmt.target.name
            if name not in self.state and not found.memory:
                self.undo(stmt)
                return
            if name not in self.state:
                cotangent = self.zero(name)
            else:
                cotangent = self.take_full(name)
        elif isinstance(stmt, ir.Assign) and found.result == "memory":
            cotangent = self.bar_node(stmt.target.name)
            if stmt.sid in self.found.pairs:
                kept = self.text.names.temporary() + "_bar"
                self.emit(syn.assign(kept, cotangent))
                cotangent = syn.name(kept)
        saved = syn.name(self.slots.saved(stmt))
        if syn.names_in(cotangent) & self.restored(stmt):
            kept_bar = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept_bar, cotangent))
            cotangent = kept_bar
        mask: list[ast.expr] = []
        if found.lanes and isinstance(stmt, ir.Assign):
            given = self.masks.take(stmt.target.name)
            mask = [syn.number(True) if given is None else self.masks.positive(given)]
        made = syn.call(found.reverse, cotangent, saved, *mask)
        targets = found.returned
        self.undo_after_call(stmt, made, targets, found)

    def undo_after_call(
        self, stmt: ir.Stmt, made: ast.expr, targets: list[ir.Atom], found: object
    ) -> None:
        if not targets:
            self.emit(ast.Expr(made))
            self.undo(stmt)
            return
        parts: list[tuple[ir.Atom, ast.expr]] = []
        if len(targets) == 1:
            got = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(got, made))
            parts = [(targets[0], got)]
        else:
            kept = [syn.name(self.text.names.temporary() + "_bar") for _ in targets]
            self.emit(syn.assign(syn.tuple_of(kept), made))
            parts = list(zip(targets, kept, strict=True))
        self.undo(stmt)
        for a, node in parts:
            if isinstance(a, closures.Part):
                closures.add_part(self, a, node)
            elif isinstance(a, Packed):
                self.unpack_arguments(a, node)
            elif (
                isinstance(a, ir.Var)
                and self.unit.is_active(a)
                and self.unit.kind(a.name) == "memory"
            ):
                self.part_back(a, node)
            else:
                self.contribute(a, node, owned=False)

    def unpack_arguments(self, packed: Packed, g: ast.expr) -> None:
        """What comes back for `*args` or `**kwargs` goes to the arguments gathered there."""
        keys = packed.keys if packed.kind == "dict" else range(len(packed.items))
        for k, item in zip(keys, packed.items, strict=True):
            if not self.unit.is_active(ir.unstar(item)):
                continue
            if isinstance(item, ir.Star) or k is None:
                assert isinstance(ir.unstar(item), ir.Var)
                if len(packed.items) == 1:
                    self.contribute(ir.unstar(item), g, owned=False)
                    continue
                raise self.unsupported(
                    packed, "`*` among other arguments of a differentiated call"
                )
            self.contribute(item, syn.expr("g[k]", g=g, k=syn.number(k)), owned=False)


# ---- helpers
# ---------------------------------------------------------------------------------------


class _Again(Text):
    """Prints expressions over atoms as the reverse sweep reads them."""

    owner: Reverse
    swap: dict[str, ast.expr]

    def atom(self, a: ir.Atom) -> ast.expr:
        swap = getattr(self, "swap", {})
        if isinstance(a, ir.Var) and a.name in swap:
            return swap[a.name]
        return self.owner.primal(a)

    def var(self, name: str) -> str:
        return self.owner.text.var(name)


def _not_left(marker: str, sites: tuple[int, ...]) -> ast.expr:
    """Whether none of these exits was taken."""
    node = syn.name(marker)
    if len(sites) == 1:
        return ast.Compare(node, [ast.NotEq()], [syn.number(sites[0])])
    return ast.Compare(node, [ast.NotIn()], [syn.tuple_of(map(syn.number, sites))])


def _literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(isinstance(e, ast.Name | ast.Subscript) or _literal(e) for e in node.elts)
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _groups(block: ir.Block) -> list[list[ir.Stmt]]:
    """Statements that came from one source statement: temporaries with the statement they
    serve."""
    out: list[list[ir.Stmt]] = []
    group: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, ir.Assign) and stmt.target.is_temp:
            group.append(stmt)
            continue
        if isinstance(stmt, ir.Assign | ir.Store | ir.StoreAttr | ir.Effect | ir.Exit):
            out.append([*group, stmt])
        else:
            if group:
                out.append(group)
            out.append([stmt])
        group = []
    if group:
        out.append(group)
    return out


def _assigned(node: ast.stmt) -> set[str]:
    """Names that a statement binds or writes into."""
    out: set[str] = set()
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    for t in targets:
        parts = t.elts if isinstance(t, ast.Tuple) else [t]
        for p in parts:
            while isinstance(p, ast.Subscript | ast.Attribute):
                p = p.value
            if isinstance(p, ast.Name):
                out.add(p.id)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        # np.add.at(x_bar, ...) and support.item_add(x_bar, ...) write into their first argument.
        for a in node.value.args[:2]:
            while isinstance(a, ast.Subscript | ast.Attribute):
                a = a.value
            if isinstance(a, ast.Name):
                out.add(a.id)
    return out


def _is_errstate(context: ir.Expr) -> bool:
    """Whether the context of a `with` only says what floating-point errors do."""
    fn = context.fn if isinstance(context, ir.Call) else None
    return isinstance(fn, ir.Global) and fn.value is np.errstate


def summed_axes(operand: ty.Type, result: ty.Type) -> dict[str, ast.expr] | None:
    """The arguments of `np.sum` that take a cotangent to the operand's shape, where they are
    known."""
    if not isinstance(operand, ty.Array) or not isinstance(result, ty.Array):
        return None
    m, n = operand.dims, result.dims
    lead = len(n) - len(m)
    if not m or lead < 0 or _complex(result) != _complex(operand):
        return None
    tail = n[lead:]
    ones = [
        lead + k for k, (a, b) in enumerate(zip(m, tail, strict=True)) if a == "1" and b != "1"
    ]
    same = all(a == b and a != "?" for a, b in zip(m, tail, strict=True) if a != "1")
    if not same or (lead and ones) or any(n[k] == "?" for k in ones):
        return None
    axes = list(range(lead)) or ones
    axis = syn.number(axes[0] if len(axes) == 1 else tuple(axes))
    return {"axis": axis} if lead else {"axis": axis, "keepdims": syn.number(True)}


def _complex(t: ty.Type) -> bool:
    import numpy as np

    return isinstance(t, ty.Array) and bool(np.issubdtype(t.dtype, np.complexfloating))


def _zero_number(t: ty.Number) -> ast.expr:
    import numpy as np

    return syn.number(0j if issubclass(t.cls, complex | np.complexfloating) else 0.0)


def zeros_of(module: Module, node: ast.expr) -> ast.expr:
    shape = ast.Attribute(node, "shape", ast.Load())
    return module.numpy("zeros", shape, ast.Attribute(node, "dtype", ast.Load()))


def full_of(module: Module, node: ast.expr, value: ast.expr, t: ty.Type) -> ast.expr:
    import numpy as np

    shape = ast.Attribute(node, "shape", ast.Load())
    if isinstance(t, ty.Array) and t.dtype == np.float64:
        return module.numpy("full", shape, value)
    return module.numpy("full", shape, value, dtype=ast.Attribute(node, "dtype", ast.Load()))


def backwards(start: ast.expr, stop: ast.expr, step: ast.expr, trips: ast.expr | None) -> ast.expr:
    """The range of a loop, backwards."""
    one = syn.is_number(step, 1)
    minus = isinstance(step, ast.UnaryOp) and syn.is_number(step.operand, 1)
    if one and trips is None:
        return syn.call("range", _minus_one(stop), _minus_one(start), syn.number(-1))
    if minus and trips is None:
        first = _plus_one(stop)
        return syn.call("range", first, _plus_one(start))
    if trips is None:
        trips = syn.expr("len(range(a, b, h))", a=start, b=stop, h=step)
    if one and syn.is_number(start, 0):
        return syn.call("range", _minus_one(trips), syn.number(-1), syn.number(-1))
    last = syn.expr("a + (n - 1) * h", a=start, n=trips, h=step)
    end = syn.expr("a - h", a=start, h=step)
    return syn.call("range", last, end, syn.expr("-h", h=step))


def _minus_one(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return syn.number(node.value - 1)
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and syn.is_number(node.right, 1)
    ):
        return node.left
    return ast.BinOp(node, ast.Sub(), syn.number(1))


def _plus_one(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return syn.number(node.value + 1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return syn.number(-node.operand.value + 1)  # type: ignore[operator]
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and syn.is_number(node.right, 1)
    ):
        return node.left
    return ast.BinOp(node, ast.Add(), syn.number(1))


__all__ = ["InternalError", "Reverse", "Save", "backwards", "saved_name"]
