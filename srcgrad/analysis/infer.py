"""Types of variables and targets of calls, by running to a fixed point over the program.

The walk is optimistic: a variable has no type until an assignment gives it one; further
assignments join.  Calls of user functions are inferred for the argument types at hand.  Another
round is made only where a type changed after it had been read.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.rewrites.array_likes import is_list, makes_array
from srcgrad.analysis.rewrites.decided import decided
from srcgrad.analysis.targets import Container, Library, Uncharted, User
from srcgrad.analysis.types import loose, odd_arrays, probe, special_methods, typeof
from srcgrad.analysis.types.atoms import atom_type
from srcgrad.analysis.types.dims import plain_dims
from srcgrad.analysis.types.members import MemberTypes
from srcgrad.analysis.types.sharing import flow_back
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.python import OPERATORS
from srcgrad.rules.registry import Entry
from srcgrad.runtime import support

_TOLD = (ty.Literal, ty.Static)  # types with a value
_ROUNDS = 8  # rounds of the fixed point before what still changes becomes unknown


@dataclass
class Inference(MemberTypes):
    program: Program
    facts: Facts
    changed: bool = False
    early: bool = False  # some type was read before it was final
    widen: bool = False
    scopes: list[Mapping[Hashable, Entry]] = field(default_factory=list)

    # ---- walking ----

    def run(self) -> Facts:
        fn, facts = self.facts.fn, self.facts
        names = [p.name for p in fn.params] + list(fn.free)
        for name, t in facts.extents.arguments(names, facts.params).items():
            old = facts.types.get(name)
            facts.types[name] = t if old is None else ty.join(old, t)
        for k in range(_ROUNDS + 3):
            self.changed, self.early, self.widen = False, False, k >= _ROUNDS
            facts.extents.missed.clear()
            self.program.again(facts)
            self.block(fn.body)
            settled = not self.changed or not (self.early or self.program.is_recursive)
            if settled and not self.program.moved(facts) and not self.goes_on():
                break
        return facts

    def goes_on(self) -> bool:
        """A function of which no return was seen may return for all that: what it gives is of no
        known type then, so that nothing that follows the call is left out."""
        if self.program.is_recursive:
            return False
        before = len(self.facts.types)
        for stmt in ir.walk(self.facts.fn.body):
            if isinstance(stmt, ir.Assign) and isinstance(self.facts.targets.get(stmt.sid), User):
                if stmt.target.name not in self.facts.types:
                    self.bind(stmt.target.name, ty.UNKNOWN)
        return len(self.facts.types) != before

    def block(self, block: ir.Block) -> None:
        for stmt in block:
            self.stmt(stmt)

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign():
                found = self.expr(stmt.value, stmt)
                if not self.program.unifies and loose.joins(self.facts, stmt, found):
                    self.loosen(stmt)
                self.bind(stmt.target.name, found)
                flow_back(self, stmt)
            case ir.Effect():
                self.expr(stmt.value, stmt)
                self.grow(stmt)
                flow_back(self, stmt)
            case ir.Store():
                self.store(stmt)
                flow_back(self, stmt)
            case ir.StoreAttr(base=ir.Var(base)):
                self.bind(base, self.with_attribute(stmt))
                flow_back(self, stmt)
            case ir.For():
                self.bind(stmt.target.name, ty.Number(int))
                self.block(stmt.body)
            case ir.Exit(kind="return"):
                found = self.atom(stmt.value) if stmt.value is not None else None
                if found is not None:
                    old = self.facts.result
                    new = found if old is None else ty.join(old, found)
                    if new != old:
                        self.facts.result, self.changed = new, True
                        self.early |= old is not None
            case ir.Verbatim():
                for v in stmt.writes:
                    self.bind(v.name, ty.UNKNOWN)
            case ir.With(bound=str() as name, special=None):
                self.bind(name, ty.UNKNOWN)
                self.block(stmt.body)
            case ir.With(special="override"):
                self.scopes.append(self.program.lexical(stmt))
                self.block(stmt.body)
                self.scopes.pop()
            case _:
                for inner in ir.blocks(stmt):
                    self.block(inner)

    def bind(self, name: str, t: ty.Type | None) -> None:
        if t is None:
            return
        t = self.facts.extents.kept(name, t)
        old = self.facts.types.get(name)
        new = t if old is None else ty.join(old, t)
        if self.widen and old is not None and new != old:
            new = ty.UNKNOWN
        if new is not old and new != old:
            self.facts.types[name], self.changed = new, True
            self.early |= old is not None or name in self.facts.extents.missed

    def loosen(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.Assign) and stmt.target.name not in self.facts.loose:
            self.facts.loose.add(stmt.target.name)
            self.changed = self.early = True

    def atom(self, a: ir.Atom) -> ty.Type | None:
        found = atom_type(a, self.facts.types)
        if found is None and isinstance(a, ir.Var):
            self.facts.extents.missed.add(a.name)
        return found

    # ---- expressions ----

    def expr(self, expr: ir.Expr, stmt: ir.Stmt) -> ty.Type | None:
        parts = [self.atom(a) for a in ir.operands(expr)]
        if any(p is None for p in parts) and not isinstance(expr, ir.Opaque):
            return None
        match expr:
            case ir.Var() | ir.Const() | ir.Global():
                return self.atom(expr)
            case ir.Op(op, args):
                return self.flag(expr, self.operator(op, args, stmt))
            case ir.Call():
                return self.call(expr, stmt)
            case ir.Method():
                return self.method(expr, stmt)
            case ir.Attr():
                return self.attribute(expr, stmt)
            case ir.Index(obj, key):
                if typeof.is_users(self.atom(obj)):
                    found = special_methods.of_index(obj, self.atom(obj), key)
                    return self.special(found, "index", stmt)
                return self.index(expr, stmt)
            case ir.Build():
                return self.display(expr)
            case ir.Opaque():
                text = type(expr.node).__name__ in ("JoinedStr", "BinOp")
                return ty.Other(str) if text else self.flag(expr, ty.Number(bool))
            case ir.Closure(fn, free):
                return ty.ClosureType(
                    fn, tuple(plain_dims(self.atom(a) or ty.UNKNOWN) for _, a in free)
                )

    def flag(self, test: ir.Expr, found: ty.Type | None) -> ty.Type | None:
        """`has_mask = mask is not None` picks branches where the types decide it."""
        known = decided(test, self.facts)
        return found if known is None else ty.Literal(known)

    def known(self, a: ir.Atom) -> Any:
        """An argument for the prober: the constant itself where it is one."""
        if isinstance(a, ir.Const):
            return probe.Known(a.value)
        found = self.atom(a)
        t = None if found is None else plain_dims(found)
        if isinstance(t, _TOLD):
            return probe.Known(t.value)
        shape = self.program.constant_of(a, self.facts.fn) or self.facts.extents.dtype(a)
        return t if shape is None else probe.Known(shape.value)

    def operator(self, op: str, args: tuple[ir.Atom, ...], stmt: ir.Stmt) -> ty.Type | None:
        kinds = [self.atom(a) for a in args]
        odd = odd_arrays.refusal(kinds, op)
        if odd is not None:
            self.target(stmt, odd[0])
            return odd[1]
        if isinstance(stmt, ir.Assign) and stmt.inplace is not None:
            name = special_methods.in_place(kinds[0], op)
            if name is not None:  # the next round has the call in its place
                return self.method(ir.Method(args[0], name, args[1:]), stmt)
        if any(map(typeof.is_users, kinds)):
            return self.special(special_methods.of_operator(op, args, kinds), op, stmt)
        listed = any(isinstance(t, ty.Tuple | ty.List) for t in kinds)
        if listed and op in ("add", "mul") and not makes_array(kinds):
            both = op == "add" and all(isinstance(t, ty.Tuple | ty.List) for t in kinds)
            rebinds = not isinstance(stmt, ir.Assign) or stmt.inplace is None
            if op == "mul" and rebinds:
                items, times = args if isinstance(kinds[0], ty.Tuple | ty.List) else args[::-1]
                return self.invoke_object(stmt, support.list_repeat, (items, times), (), items)
            if op == "add" and not both and ty.UNKNOWN in kinds and rebinds:
                return self.invoke_object(stmt, support.list_add, args, (), args[0])
            what = Uncharted(f"{op} of a list or tuple", "write the items out, or use append")
            self.target(stmt, Container("concat") if both else what)
            if all(isinstance(t, ty.List) for t in kinds):
                return ty.join(kinds[0], kinds[1])  # type: ignore[arg-type]
            return probe.op_type(op, [self.known(a) for a in args])
        entry = self.rule(OPERATORS.get(op))
        if entry is not None and entry.params is not None:
            names = list(entry.params.parameters)[: len(args)]
            self.facts.targets[stmt.sid] = Library(entry, tuple(zip(names, args, strict=True)))
        elif entry is not None:
            self.facts.targets[stmt.sid] = Library(entry, ())
        given = [self.known(a) for a in args]
        if listed:  # the next round has arrays in the place of lists
            given = [
                probe.result_type(np.asarray, (g,)) if is_list(t) else g
                for g, t in zip(given, kinds, strict=True)
            ]
        found = probe.op_type(op, given)
        if any(loose.is_loose(self.facts, a) for a in args):
            found = self.either(stmt, found, probe.op_type(op, self.as_ints(args, given)))
        return self.facts.extents.operator(found, op, args)

    def index(self, expr: ir.Index, stmt: ir.Stmt) -> ty.Type | None:
        obj = self.atom(expr.obj)
        assert obj is not None
        found = probe.index_type(plain_dims(obj), self.key(expr.key))
        return self.facts.extents.sliced(stmt, expr, found)

    def key(self, key: ir.Key) -> Any:
        """A key for the prober, with constants kept."""
        match key:
            case ir.KeyTuple(items):
                return tuple(self.key(i) for i in items)
            case ir.Slice(lower, upper, step):
                return slice(*(None if a is None else self.known(a) for a in (lower, upper, step)))
            case _:
                return self.known(key)

    def display(self, expr: ir.Build) -> ty.Type:
        starred = any(isinstance(i, ir.Star) for i in expr.items)
        items = [self.atom(ir.unstar(i)) or ty.UNKNOWN for i in expr.items]
        match expr.kind:
            case "tuple":
                return ty.UNKNOWN if starred else ty.Tuple(tuple(items))
            case "list":
                if starred:
                    return ty.List(ty.UNKNOWN)
                item: ty.Type | None = None
                for i in items:
                    item = i if item is None else ty.join(item, i)
                return ty.List(item)
            case "dict":
                return self.dict_of(expr.keys, items)
            case _:
                return ty.Other(set)
