"""Rewrite a function with what its types say, until nothing more follows.

* an augmented assignment to a number makes a new number: `s += x` is `s = s + x`;
* branches whose test is decided by the types go: `if mask is not None` for an array `mask`;
* `f(*pair)` for a tuple of known length becomes `f(pair[0], pair[1])`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING

from srcgrad.analysis import webs
from srcgrad.analysis.rewrites import impossible
from srcgrad.analysis.rewrites.array_likes import ArrayLikes
from srcgrad.analysis.rewrites.chosen import Choices
from srcgrad.analysis.rewrites.coalesce import coalesce
from srcgrad.analysis.rewrites.containers import ContainerRewrites
from srcgrad.analysis.rewrites.decided import decided
from srcgrad.analysis.rewrites.derived import Derived
from srcgrad.analysis.rewrites.frozen import FrozenDistributions
from srcgrad.analysis.rewrites.objects import ObjectRewrites
from srcgrad.analysis.rewrites.solvers import Solvers
from srcgrad.analysis.targets import Container, Library, Packed, User
from srcgrad.analysis.types.dims import may_vary
from srcgrad.frontend.resolve import module_path
from srcgrad.frontend.scope import RecursiveRef
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.rebuild import map_own, with_blocks
from srcgrad.rules.python import OPERATORS

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts


def sharpen(facts: Facts) -> ir.Function | None:
    """A better form of the function, or None when there is none."""
    work = _Sharpen(facts, count(1 + max((s.sid for s in ir.walk(facts.fn.body)), default=0)))
    body = work.keep_params(work.propagate(work.block(facts.fn.body)))
    if not work.changed:
        return coalesce(facts)
    return webs.split(replace(facts.fn, body=body))


@dataclass
class _Sharpen(
    ContainerRewrites, ObjectRewrites, ArrayLikes, Choices, FrozenDistributions, Derived, Solvers
):
    def keep_params(self, body: ir.Block) -> ir.Block:
        """A parameter of unknown type or shape that is bound again gets a second variable: what it
        was given is read at the end, for the structure of its gradient."""
        sure = ty.Number | ty.Array | ty.Literal | ty.Static | ty.Other
        types = [(p.name, self.facts.types.get(p.name, ty.UNKNOWN)) for p in self.facts.fn.params]
        unsure = [name for name, t in types if not isinstance(t, sure) or may_vary(t)]
        if not unsure:
            return body
        written = {v.name: s.loc for s in ir.walk(body) if not _updates(s) for v in ir.writes(s)}
        out: list[ir.Stmt] = []
        for name in unsure:
            if name in written:
                var = ir.Var(name)
                out.append(ir.Assign(next(self.sids), written[name], var, var))
                self.changed = True
        return (*out, *body)

    def propagate(self, body: ir.Block) -> ir.Block:
        """Read through other names that the compiler made: `support.sequence(x)` of an array is
        x."""
        others = [
            (stmt.target.name, source)
            for stmt in ir.walk(body)
            if isinstance(stmt, ir.Assign) and (source := self.same_object(stmt)) is not None
        ]
        if not others:
            return body
        once = self.bound_once()
        stay = once | set(self.params())
        names: dict[str, ir.Atom] = {
            name: source
            for name, source in others
            if name in once and (not isinstance(source, ir.Var) or source.name in stay)
        }
        if not names:
            return body

        def through(a: ir.Atom) -> ir.Atom:
            while isinstance(a, ir.Var) and a.name in names:
                a = names[a.name]
            return a

        def rewrite(block: ir.Block) -> ir.Block:
            out = []
            for stmt in block:
                if isinstance(stmt, ir.Assign) and stmt.target.name in names:
                    if not self.checks_length(stmt):
                        self.changed = True
                        continue
                new = stmt
                if any(v.name in names for v in ir.reads(stmt)):
                    new = map_own(stmt, through, lambda a: a)
                    self.changed = True
                out.append(with_blocks(new, tuple(rewrite(b) for b in ir.blocks(stmt))))
            return tuple(out)

        return rewrite(body)

    def params(self) -> list[str]:
        """Parameters that are never bound again."""
        bound = {v.name for s in ir.walk(self.facts.fn.body) for v in ir.writes(s)}
        names = [p.name for p in self.facts.fn.params] + list(self.facts.fn.free)
        return [n for n in names if n not in bound]

    def bound_once(self) -> set[str]:
        counts: dict[str, int] = {}
        for s in ir.walk(self.facts.fn.body):
            for v in ir.writes(s):
                counts[v.name] = counts.get(v.name, 0) + 1
        given = {p.name for p in self.facts.fn.params} | set(self.facts.fn.free)
        return {n for n, k in counts.items() if k == 1 and n not in given}

    def same_object(self, stmt: ir.Assign) -> ir.Atom | None:
        """What a temporary is another name for."""
        if not stmt.target.is_temp or not isinstance(stmt.value, ir.Call):
            return None
        target = self.facts.targets.get(stmt.sid)
        if not (isinstance(target, Container) and target.name == "alias"):
            return None
        source = ir.unstar(stmt.value.args[0])
        known = ty.Array | ty.List | ty.Tuple
        return source if isinstance(self.facts.of(source), known) else None

    def checks_length(self, stmt: ir.Assign) -> bool:
        """Whether unpacking may find the wrong number of items when it runs."""
        assert isinstance(stmt.value, ir.Call)
        args = stmt.value.args
        t = self.facts.of(ir.unstar(args[0]))
        if len(args) == 1:
            return False
        if isinstance(t, ty.Tuple) and isinstance(args[1], ir.Const):
            return len(args) != 2 or len(t.items) != args[1].value
        return True

    def block(self, block: ir.Block) -> ir.Block:
        return tuple(s for stmt in block for s in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if isinstance(stmt, ir.If):
            known = decided(stmt.test, self.facts)
            if known is not None:
                self.changed = True
                return list(self.block(stmt.body if known else stmt.orelse))
        if isinstance(stmt, ir.Try):
            done = impossible.handled(self.facts, stmt)
            if done is not None:
                self.changed = True
                return list(self.block(done))
        fails = impossible.raised(self.facts, stmt)
        if fails is not None:
            self.changed = True
            return [fails]
        inner = tuple(self.block(b) for b in ir.blocks(stmt))
        stmt = with_blocks(stmt, inner)
        overridden = self.overridden(stmt)
        if overridden is not None:
            return overridden
        made = self.updated(stmt) if isinstance(stmt, ir.Assign) else None
        if made is not None:
            return made
        if isinstance(stmt, ir.Assign) and stmt.inplace == "add":
            if isinstance(self.facts.of(stmt.target), ty.List) and isinstance(stmt.value, ir.Op):
                self.changed = True
                more = ir.Method(stmt.target, "extend", (stmt.value.args[1],))
                return [ir.Effect(stmt.sid, stmt.loc, more)]
        if isinstance(stmt, ir.Assign) and stmt.inplace == "or":
            if isinstance(self.facts.of(stmt.target), ty.Dict) and isinstance(stmt.value, ir.Op):
                self.changed = True
                more = ir.Method(stmt.target, "update", (stmt.value.args[1],))
                return [ir.Effect(stmt.sid, stmt.loc, more)]
        if isinstance(stmt, ir.Assign) and stmt.inplace:
            t = self.facts.types.get(stmt.target.name)
            if isinstance(t, ty.Number | ty.Tuple) or (isinstance(t, ty.Other) and t.cls is str):
                self.changed = True
                stmt = replace(stmt, inplace=None)
        if isinstance(stmt, ir.StoreAttr):
            return self.property_set(stmt) or self.by_protocol(stmt)
        if isinstance(stmt, ir.Store) and stmt.op is not None and stmt.op not in ir.AT_OPERATORS:
            return self.by_protocol(stmt)
        if isinstance(stmt, ir.Store):
            return self.item_set(stmt) or self.list_slice(stmt)
        if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Op | ir.Build):
            merged = self.merged(stmt)
            if merged is not None:
                return merged
        if isinstance(stmt, ir.Assign | ir.Effect):
            if not isinstance(stmt.value, _RESHAPED):
                return self.of_arrays(stmt) or [stmt]
            return (
                self.chosen(stmt)
                or self.of_closure(stmt)
                or self.of_distribution(stmt)
                or self.of_solver(stmt)
                or self.of_module(stmt)
                or self.of_container(stmt)
                or self.of_table(stmt)
                or self.of_known(stmt)
                or self.stored_by_call(stmt)
                or self.read_by_call(stmt)
                or self.changed_copy(stmt)
                or self.taken_apart(stmt)
                or self.direct(stmt)
                or self.of_arrays(stmt)
                or self.unstar(stmt)
            )
        return [stmt]

    def of_module(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`xp.sin(x)` for a variable that is surely NumPy is `np.sin(x)`."""
        value = stmt.value
        if not isinstance(value, ir.Method | ir.Attr):
            return None
        t = self.facts.of(value.obj)
        if not isinstance(t, ty.Static) or not isinstance(t.value, ModuleType):
            return None
        module = module_path(t.value)
        if module is None or not hasattr(t.value, value.name):
            return None
        path, inner = (*module.path, value.name), getattr(t.value, value.name)
        found = module_path(inner) if isinstance(inner, ModuleType) else None
        found = found or ir.Global(module.root, path, inner)
        self.changed = True
        if isinstance(value, ir.Attr):
            return [replace(stmt, value=found)]
        return [replace(stmt, value=ir.Call(found, value.args, value.kwargs))]

    def overridden(self, stmt: ir.Stmt) -> list[ir.Stmt] | None:
        """`u *= e` and `u[k] *= e` where `*` has a user's rule: the product, and then the
        store."""
        target = self.facts.targets.get(stmt.sid)
        if not (isinstance(target, Library) and target.entry.given):
            return None
        if isinstance(stmt, ir.Store) and stmt.op is not None and stmt.op in OPERATORS:
            old, new = (ir.Var(f"%o{next(self.sids)}") for _ in range(2))
            first: list[ir.Stmt] = [
                ir.Assign(next(self.sids), stmt.loc, old, ir.Index(stmt.base, stmt.key)),
                ir.Assign(next(self.sids), stmt.loc, new, ir.Op(stmt.op, (old, stmt.value))),
            ]
            store: ir.Stmt = replace(stmt, value=new, op=None)
        elif isinstance(stmt, ir.Assign) and stmt.inplace is not None:
            if not isinstance(self.facts.types.get(stmt.target.name), ty.Array):
                return None
            new = ir.Var(f"%o{next(self.sids)}")
            first = [ir.Assign(next(self.sids), stmt.loc, new, stmt.value)]
            store = ir.Store(stmt.sid, stmt.loc, stmt.target, ir.Const(Ellipsis), new)
        else:
            return None
        self.changed = True
        return [*first, store]

    def direct(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """A call of a nested function names what it captures: `inner(v)` is `inner(v, k, c)`; so
        does a call of a function that is handed one: `solve(inner, v)` is `solve(v, k, c)`."""
        target = self.facts.targets.get(stmt.sid)
        if not isinstance(target, User) or target.closure is not None:
            return None
        if not isinstance(stmt.value, ir.Call | ir.Method):
            return None
        fn = stmt.value.fn if isinstance(stmt.value, ir.Call) else None
        itself = isinstance(fn, ir.Global) and isinstance(fn.value, RecursiveRef)
        if itself and (not target.fn.free or len(stmt.value.args) == len(target.args)):
            return None
        named = target.fn.fn is not None or getattr(fn, "value", None) is target.fn
        if not itself and not isinstance(fn, ir.Var) and named:
            return None
        before: list[ir.Stmt] = []
        args: list[ir.Atom] = []
        for b in target.args:
            if isinstance(b, Packed):
                sid = next(self.sids)
                temp = ir.Var(f"%p{sid}")
                keys = tuple(None if k is None else ir.Const(k) for k in b.keys)
                before.append(ir.Assign(sid, stmt.loc, temp, ir.Build(b.kind, b.items, keys)))
                args.append(temp)
            else:
                args.append(b)
        self.changed = True
        name = ir.Global(ir.Root("namespace", "<nested>"), (target.fn.name,), target.fn)
        if itself:
            assert isinstance(fn, ir.Global)
            name = fn
        return [*before, replace(stmt, value=ir.Call(name, tuple(args)))]


# Expressions that stand for others, by the types of what they are given.
_RESHAPED = ir.Call | ir.Method | ir.Attr | ir.Build


def _updates(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Assign) and stmt.inplace is not None
