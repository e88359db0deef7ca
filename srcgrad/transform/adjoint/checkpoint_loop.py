"""What both sweeps of one checkpointed loop share: names, bounds, snapshots, shadows."""

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
        for k in self.rebound:
            bar = self.name(f"{self.bar(k)}_at_entry")
            out.append((k, self.name(f"{self.var(k)}_at_entry"), bar))
        return out

    @property
    def rebound(self) -> list[Kept]:
        """Variables with shadows that are no state, for each iteration binds them before it reads
        them, and that may have an older value."""
        unit, pairs = self.found.unit, self.found.pairs
        inside = {s.sid for s in ir.walk(self.stmt.body)}
        bound = {pairs[sid].var for sid in inside - self.text.dead if sid in pairs}
        older = {
            name
            for name in bound - {k.name for k in self.found.states[self.stmt.sid].kept}
            if self.is_repeated
            or name in unit.params
            or any(d.sid not in inside for d in unit.defs[name])
        }
        return [Kept(name, "object", False, False) for name in sorted(older)]


__all__ = ["Block", "Loop"]
