"""Checkpointed loops: snapshots of the state instead of tapes.

The forward sweep runs the loop without recording, keeps snapshots where the schedule says so
(`runtime/support/revolve.py`), and records its last iteration only.  The reverse sweep goes back
through each iteration after having run it again, from the latest snapshot before it:

    for t in sg.checkpointed(range(n), snapshots=4):
        u = step(u)

    snapshots = [(0, u)]                              # forward sweep
    keep = support.next_snapshot(0, n, 3)
    for t in range(n - 1):
        if t == keep:
            snapshots.append((t, u))
            keep = support.next_snapshot(t, n, 4 - len(snapshots))
        u = step(u)
    if n > 0:
        ...                                           # the last iteration, recorded
    for t in range(n - 1, -1, -1):                    # reverse sweep
        if t < n - 1:
            ...                                       # from the latest snapshot to t, as above
            ...                                       # iteration t, recorded
        ...                                           # its reverse
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from srcgrad.analysis.record.checkpoint import Kept
from srcgrad.analysis.recording import Recording
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.again import Again
from srcgrad.transform.adjoint.slots import Slots
from srcgrad.transform.text import Text

Block = list[ast.stmt]


@dataclass
class Loop:
    """The names and the texts that both sweeps of one checkpointed loop share."""

    stmt: ir.For
    found: Recording
    slots: Slots
    again: Again  # prints iterations
    names: dict[str, str] = field(default_factory=dict)
    parts: dict[str, ast.expr] = field(default_factory=dict)  # the range and the limit

    @property
    def text(self) -> Text:
        return self.slots.text

    @property
    def kept(self) -> list[Kept]:
        """The state, but for variables that the sweeps do without."""
        unit, inside = self.found.unit, {s.sid for s in ir.walk(self.stmt.body)}
        out = []
        for k in self.found.states[self.stmt.sid].kept:
            bound = [d.sid for d in unit.defs.get(k.name, ()) if d.sid in inside]
            if k.how == "contents" or not all(sid in self.text.dead for sid in bound):
                out.append(k)
        return out

    @property
    def objects(self) -> list[Kept]:
        return [k for k in self.kept if k.how == "object"]

    def name(self, want: str) -> str:
        got = self.names.get(want)
        if got is None:
            got = self.names[want] = self.text.names.fresh(want)
        return got

    def var(self, k: Kept) -> str:
        return self.text.var(k.name)

    def bar(self, k: Kept) -> str:
        return self.text.names.suffixed(self.var(k), "bar")

    def is_tracked(self, k: Kept) -> bool:
        """Whether a variable has a shadow that the forward sweep makes."""
        unit = self.found.unit
        active = unit.is_active(k.name) and unit.kind(k.name) == "memory"
        return active and k.how == "object" and self.found.is_tracked(k.name)

    @property
    def counts(self) -> bool:
        """Whether the loop's own variable counts its iterations from 0."""
        plain = self.stmt.start == ir.Const(0) and self.stmt.step == ir.Const(1)
        return plain and self.text.var(self.stmt.target.name) != "_"

    def bounds(self, print_atom: Callable[[ir.Atom], ast.expr]) -> Block:
        """Names for what the range and the number of snapshots are, where these are not names."""
        stmt, out = self.stmt, []  # type: ir.For, Block
        start, stop, step = (print_atom(a) for a in (stmt.start, stmt.stop, stmt.step))
        if stmt.start != ir.Const(0) or stmt.step != ir.Const(1):
            for want, node in (("first", start), ("stride", step)):
                out += self.part(want, node)
            stop = syn.expr(
                "len(range(a, b, h))", a=self.get("first"), b=stop, h=self.get("stride")
            )
        out += self.part("steps", stop)
        wanted = stmt.checkpoint
        assert wanted is not None
        limit = print_atom(wanted)
        if not isinstance(wanted, ir.Const) or wanted.value is None:
            limit = self.text.module.support("snapshot_limit", limit, self.get("steps"))
        return out + self.part("limit", limit)

    def part(self, want: str, node: ast.expr) -> Block:
        self.parts[want] = node
        if isinstance(node, ast.Constant | ast.Name) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        ):
            return []
        self.parts[want] = syn.name(self.name(want))
        return [syn.assign(self.name(want), node)]

    def get(self, part: str) -> ast.expr:
        return copy.deepcopy(self.parts[part])

    @property
    def last(self) -> ast.expr:
        """The number of the last iteration."""
        steps = self.get("steps")
        if isinstance(steps, ast.Constant):
            return syn.number(steps.value - 1)  # type: ignore[operator]
        return ast.BinOp(steps, ast.Sub(), syn.number(1))

    def position(self, index: ast.expr) -> ast.expr:
        """The value of the loop's variable in an iteration."""
        if "first" not in self.parts:
            return index
        return syn.add(self.get("first"), syn.mul(index, self.get("stride")))

    def sets_target(self, index: ast.expr) -> Block:
        """The loop's variable, where another one counts its iterations."""
        target = self.text.var(self.stmt.target.name)
        if self.counts or target == "_":
            return []
        return [syn.assign(target, self.position(index))]

    # ---- a loop that is executed more often than it is reversed ----

    @property
    def is_repeated(self) -> bool:
        return bool(self.found.unit.taping[self.stmt.sid])

    def tape(self) -> str:
        new = "snapshots_tape" not in self.names
        got = self.name("snapshots_tape")
        if new:
            self.slots.tapes.append(got)
        return got

    def held(self) -> ast.expr:
        """All that the reverse sweep of one execution takes up."""
        names = [self.name("snapshots")]
        names += [n for _, var, bar in self.entered() for n in (var, bar) if n is not None]
        return syn.name(names[0]) if len(names) == 1 else syn.tuple_of(map(syn.name, names))

    # ---- snapshots ----

    def copied(self, k: Kept) -> ast.expr:
        node = syn.name(self.var(k))
        if not k.written:
            return node
        return (
            syn.expr("a.copy()", a=node)
            if k.is_array
            else self.text.module.support("own_state", node)
        )

    def snapshot(self, index: ast.expr) -> ast.expr:
        return ast.Tuple([index, *map(self.copied, self.kept)], ast.Load())

    def next(self, at: ast.expr, stop: ast.expr) -> ast.stmt:
        free = syn.expr("k - len(s)", k=self.get("limit"), s=syn.name(self.name("snapshots")))
        made = self.text.module.support("next_snapshot", at, stop, free)
        return syn.assign(self.name("keep"), made)

    def keeping(self, index: str, stop: ast.expr) -> ast.stmt:
        """`if t == keep:` keep a snapshot, and say where the next one comes."""
        append = syn.expr(
            "s.append(v)", s=syn.name(self.name("snapshots")), v=self.snapshot(syn.name(index))
        )
        test = syn.expr("i == k", i=syn.name(index), k=syn.name(self.name("keep")))
        body = [*self.apart(), ast.Expr(append), self.next(syn.name(index), stop)]
        return ast.If(test, body, [])

    def apart(self) -> Block:
        """Arrays that come back as copies must not have shared memory."""
        unit = self.found.unit
        classes: dict[str, list[Kept]] = {}
        for k in self.objects:
            if k.written:
                classes.setdefault(unit.fx.root(k.name), []).append(k)
        out: Block = []
        for group in classes.values():
            if len(group) > 1:
                values = syn.tuple_of(syn.name(self.var(k)) for k in group)
                shown = syn.tuple_of(ast.Constant(k.name.split("%")[0]) for k in group)
                made = self.text.module.support("state_apart", values, shown)
                out.append(ast.Expr(made))
        return out

    def advance(self, index: str, rng: ast.expr, stop: ast.expr, body: Block) -> Block:
        """Run iterations without recording, with snapshots on the way."""
        inner = [self.keeping(index, stop), *body]
        return [ast.For(ast.Name(index, ast.Store()), rng, inner, [])]

    def back(self) -> Block:
        """The state of the latest snapshot, and where it was taken."""
        targets: list[ast.expr] = [syn.name(self.name("start"))]
        after: Block = []
        for k in self.kept:
            if not k.written:
                targets.append(syn.name(self.var(k)))
                continue
            kept = syn.name(self.name(f"{self.var(k)}_kept"))
            targets.append(kept)
            after.append(self.put(k, syn.name(self.var(k)), kept))
        latest = syn.expr("s[-1]", s=syn.name(self.name("snapshots")))
        return [syn.assign(ast.Tuple(targets, ast.Load()), latest), *after]

    def put(self, k: Kept, var: ast.expr, kept: ast.expr) -> ast.stmt:
        support = self.text.module.support
        if k.how == "object":
            copy = syn.expr("a.copy()", a=kept) if k.is_array else support("own_state", kept)
            return syn.assign(var, copy)
        if k.is_array:
            return syn.assign(syn.expr("a[...]", a=var), kept)
        return syn.assign(var, support("put_state", var, kept))

    # ---- shadows ----

    def fresh_shadows(self) -> Block:
        """Shadows for the arrays that an iteration is about to be recorded with."""
        out: Block = []
        for k in self.objects:
            if self.is_tracked(k):
                out.append(syn.assign(self.bar(k), self.zero(k)))
        return [*self.apart(), *out] if out else []

    def zero(self, k: Kept) -> ast.expr:
        var = syn.name(self.var(k))
        if k.is_array:
            return self.text.module.numpy(
                "zeros", syn.expr("a.shape", a=var), syn.expr("a.dtype", a=var)
            )
        return self.text.module.support("bar", var)

    def collected(self, k: Kept, into: ast.expr, more: ast.expr) -> ast.stmt:
        if k.is_array:
            return syn.augment(into, ast.Add(), more)
        return syn.assign(into, self.text.module.support("accumulate", into, more))

    # ---- what was there before the loop ----

    def entered(self) -> list[tuple[Kept, str, str | None]]:
        """Arrays that the loop binds again whose contents or shadows are asked for before it."""
        out: list[tuple[Kept, str, str | None]] = []
        rewound = self.found.rewound.get(self.stmt.sid, set())
        for k in self.objects:
            tracked = self.is_tracked(k)
            if not tracked and not (k.written and self.found.unit.fx.root(k.name) in rewound):
                continue
            bar = self.name(f"{self.bar(k)}_at_entry") if tracked else None
            out.append((k, self.name(f"{self.var(k)}_at_entry"), bar))
        return out


# ---- the forward sweep ---------------------------------------------------------------------


def forward(loop: Loop) -> Block:
    """The loop in the forward sweep: iterations without recording, then the last one."""
    text, stmt = loop.text, loop.stmt
    bounds = loop.bounds(text.atom)
    out = [*text.flush(stmt, force=True), *bounds]
    target = text.var(stmt.target.name)
    index = target if loop.counts else loop.name("step")
    for k, var, bar in loop.entered():
        out.append(syn.assign(var, syn.name(loop.var(k))))
        if bar is not None:
            out.append(syn.assign(bar, syn.name(loop.bar(k))))
    first = ast.List([loop.snapshot(syn.number(0))], ast.Load())
    out += [*loop.apart(), syn.assign(loop.name("snapshots"), first)]
    out.append(loop.next(syn.number(0), loop.get("steps")))
    body = [*loop.sets_target(syn.name(index)), *loop.again.plain(stmt.body, False)]
    out += loop.advance(index, syn.call("range", loop.last), loop.get("steps"), body)
    out += loop.fresh_shadows()
    last: Block = [] if target == "_" else [syn.assign(target, loop.position(loop.last))]
    last += once(loop.again.taped(stmt.body, False))
    out.append(ast.If(syn.expr("n > 0", n=loop.get("steps")), last, []))
    if loop.is_repeated:
        out.append(loop.slots.put(loop.tape(), loop.held(), True))
    return out


def once(body: Block) -> Block:
    """One iteration; a `continue` in it needs a loop to continue."""
    if not any(isinstance(n, ast.Continue) for s in body for n in _own_level(s)):
        return body
    return [ast.For(ast.Name("_", ast.Store()), syn.call("range", syn.number(1)), body, [])]


def _own_level(stmt: ast.stmt) -> list[ast.AST]:
    """The nodes of a statement outside its inner loops."""
    out: list[ast.AST] = []
    todo: list[ast.AST] = [stmt]
    while todo:
        node = todo.pop()
        out.append(node)
        if not isinstance(node, ast.For | ast.While):
            todo += ast.iter_child_nodes(node)
    return out


# ---- the reverse sweep ---------------------------------------------------------------------


def reverse(loop: Loop, print_atom: Callable[[ir.Atom], ast.expr], body: Block) -> Block:
    """The loop in the reverse sweep: each iteration run again, then gone back through."""
    text, stmt = loop.text, loop.stmt
    out: Block = []
    if loop.is_repeated:
        out.append(syn.assign(loop.held(), loop.slots.get(loop.tape(), True)))
    out += loop.bounds(print_atom)
    target = text.var(stmt.target.name)
    here = target if loop.counts else loop.name("step")
    again = loop.name(f"{target}_again" if loop.counts else "step_again")
    outer = dict(text.printed)
    if loop.counts:
        text.printed[stmt.target.name] = again
    steps = [*loop.sets_target(syn.name(again)), *loop.again.plain(stmt.body, True)]
    text.printed = outer
    set_ = loop.sets_target(syn.name(here))
    more = [*_again(loop, here, again, steps), *set_, *_recorded(loop)]
    test = syn.expr("i < n", i=syn.name(here), n=loop.last)
    inner = [ast.If(test, more, []), *loop.sets_target(syn.name(here)), *body]
    rng = syn.call("range", loop.last, syn.number(-1), syn.number(-1))
    out.append(ast.For(ast.Name(here, ast.Store()), rng, inner, []))
    return out + _at_entry(loop)


def _again(loop: Loop, here: str, again: str, steps: Block) -> Block:
    """From the latest snapshot to the state before this iteration."""
    snapshots, start = syn.name(loop.name("snapshots")), syn.name(loop.name("start"))
    late = syn.expr("s[-1][0] > i", s=snapshots, i=syn.name(here))
    stop = syn.expr("i + 1", i=syn.name(here))
    out: Block = [
        syn.Comment("the state before this iteration, from the latest snapshot on"),
        ast.If(late, [ast.Expr(syn.expr("s.pop()", s=snapshots))], []),
    ]
    for k in loop.objects:
        if loop.is_tracked(k):
            out.append(syn.assign(loop.name(f"{loop.bar(k)}_after"), syn.name(loop.bar(k))))
    out += loop.back()
    out.append(loop.next(start, stop))
    rng = syn.call("range", start, syn.name(here))
    return out + loop.advance(again, rng, stop, steps)


def _recorded(loop: Loop) -> Block:
    """The iteration with its records; what its result collected goes to the new shadows."""
    out = [*loop.fresh_shadows(), *once(loop.again.taped(loop.stmt.body, True))]
    for k in loop.objects:
        if loop.is_tracked(k):
            after = syn.name(loop.name(f"{loop.bar(k)}_after"))
            out.append(loop.collected(k, syn.name(loop.bar(k)), after))
    return out


def _at_entry(loop: Loop) -> Block:
    """What the statements before the loop read as they left it."""
    out: Block = []
    rewound = loop.found.rewound.get(loop.stmt.sid, set())
    entered = {k.name: (var, bar) for k, var, bar in loop.entered()}
    for j, k in enumerate(loop.kept, 1):
        var, bar = entered.get(k.name, (loop.var(k), None))
        if k.written and loop.found.unit.fx.root(k.name) in rewound:
            place = syn.expr("s[0][j]", s=syn.name(loop.name("snapshots")), j=syn.number(j))
            in_place = Kept(k.name, "contents", True, k.is_array)
            out.append(loop.put(in_place, syn.name(var), place))
        if bar is not None:
            out.append(loop.collected(k, syn.name(bar), syn.name(loop.bar(k))))
            out.append(syn.assign(loop.var(k), syn.name(var)))
            out.append(syn.assign(loop.bar(k), syn.name(bar)))
    return out


__all__ = ["Loop", "forward", "reverse"]
