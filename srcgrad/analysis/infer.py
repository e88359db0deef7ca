"""Types of variables and targets of calls, by running to a fixed point over the program.

The walk is optimistic: a variable has no type until an assignment gives it one; further
assignments join.  Calls of user functions are inferred for the argument types at hand.
"""

from __future__ import annotations

import dataclasses
import inspect
import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from srcgrad.analysis import probe, special_methods, user_rules
from srcgrad.analysis.atoms import atom_type
from srcgrad.analysis.binding import bind_library, bind_user, missing_parameters
from srcgrad.analysis.container_types import CONTAINER_METHODS
from srcgrad.analysis.dims import neutral, plain_dims
from srcgrad.analysis.extents import Extents
from srcgrad.analysis.object_types import ObjectTypes
from srcgrad.analysis.records import is_plain_record
from srcgrad.analysis.resolve import Program, user_source
from srcgrad.analysis.sharing import flow_back
from srcgrad.analysis.targets import (
    Bound,
    Constant,
    Container,
    Library,
    Packed,
    Target,
    Uncharted,
    User,
)
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules import sources
from srcgrad.rules.methods import INPLACE_METHODS, METHODS
from srcgrad.rules.python import OPERATORS
from srcgrad.rules.registry import Entry, for_call, name_of
from srcgrad.runtime import support

_ROUNDS = 8  # rounds of the fixed point before what still changes becomes unknown


@dataclass
class Facts:
    """What inference knows of one function for given parameter types."""

    fn: ir.Function
    params: tuple[ty.Type, ...]
    types: dict[str, ty.Type] = field(default_factory=dict)
    targets: dict[int, Target] = field(default_factory=dict)
    result: ty.Type | None = None
    base: ir.Function | None = None  # the function as lowered, which calls refer to
    # The parameters that the starred arguments of a call surely are for.
    starred: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def extents(self) -> Extents:
        """Which arrays surely have one shape."""
        return Extents(self.fn, self.types)

    @cached_property
    def readers(self) -> dict[str, list[ir.Stmt]]:
        """The statements that read each variable."""
        found: dict[str, list[ir.Stmt]] = {}
        for stmt in ir.walk(self.fn.body):
            for v in ir.reads(stmt):
                found.setdefault(v.name, []).append(stmt)
        return found

    def of(self, atom: ir.Atom) -> ty.Type:
        return atom_type(atom, self.types) or ty.UNKNOWN

    def expr_target(self, stmt: ir.Stmt) -> Target | None:
        return self.targets.get(stmt.sid)


@dataclass
class Inference(ObjectTypes):
    program: Program
    facts: Facts
    changed: bool = False
    widen: bool = False
    scopes: list[Mapping[Hashable, Entry]] = field(default_factory=list)

    @cached_property
    def closures(self) -> dict[str, ir.Closure]:
        """Nested functions that a variable surely is."""
        return closures_of(self.facts.fn)

    # ---- walking ----

    def run(self) -> Facts:
        fn, facts = self.facts.fn, self.facts
        names = [p.name for p in fn.params] + list(fn.free)
        facts.types |= facts.extents.arguments(names, facts.params)
        for k in range(_ROUNDS + 3):
            self.changed, self.widen = False, k >= _ROUNDS
            self.block(fn.body)
            if not self.changed:
                break
        return facts

    def block(self, block: ir.Block) -> None:
        for stmt in block:
            self.stmt(stmt)

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign():
                self.bind(stmt.target.name, self.expr(stmt.value, stmt))
                flow_back(self, stmt)
            case ir.Effect():
                self.expr(stmt.value, stmt)
                self.grow(stmt)
                flow_back(self, stmt)
            case ir.Store():
                self.store(stmt)
                flow_back(self, stmt)
            case ir.StoreAttr(base=ir.Var(base)):
                obj = self.atom(stmt.base)
                if isinstance(obj, ty.Object) and obj.fields is not None:
                    self.bind(base, ty.Object(obj.cls))
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
        if new != old:
            self.facts.types[name], self.changed = new, True

    def atom(self, a: ir.Atom) -> ty.Type | None:
        return atom_type(a, self.facts.types)

    # ---- expressions ----

    def expr(self, expr: ir.Expr, stmt: ir.Stmt) -> ty.Type | None:
        parts = [self.atom(a) for a in ir.operands(expr)]
        if any(p is None for p in parts) and not isinstance(expr, ir.Opaque):
            return None
        match expr:
            case ir.Var() | ir.Const() | ir.Global():
                return self.atom(expr)
            case ir.Op(op, args):
                return self.operator(op, args, stmt)
            case ir.Call():
                return self.call(expr, stmt)
            case ir.Method():
                return self.method(expr, stmt)
            case ir.Attr():
                return self.attribute(expr, stmt)
            case ir.Index(obj, key):
                if special_methods.is_users(self.atom(obj)):
                    found = special_methods.of_index(obj, self.atom(obj), key)
                    return self.special(found, "index", stmt)
                return self.index(expr, stmt)
            case ir.Build():
                return self.display(expr)
            case ir.Opaque():
                text = type(expr.node).__name__ == "JoinedStr"
                return ty.Other(str) if text else ty.Number(bool)
            case ir.Closure(fn, free):
                return ty.ClosureType(
                    fn, tuple(plain_dims(self.atom(a) or ty.UNKNOWN) for _, a in free)
                )

    def known(self, a: ir.Atom) -> Any:
        """An argument for the prober: the constant itself where it is one."""
        if isinstance(a, ir.Const):
            return probe.Known(a.value)
        found = self.atom(a)
        t = None if found is None else plain_dims(found)
        if isinstance(t, ty.Literal | ty.Static):
            return probe.Known(t.value)
        shape = self.program.constant_of(a, self.facts.fn) or self.facts.extents.dtype(a)
        return t if shape is None else probe.Known(shape.value)

    def operator(self, op: str, args: tuple[ir.Atom, ...], stmt: ir.Stmt) -> ty.Type | None:
        kinds = [self.atom(a) for a in args]
        if any(map(special_methods.is_users, kinds)):
            return self.special(special_methods.of_operator(op, args, kinds), op, stmt)
        if any(isinstance(t, ty.Tuple | ty.List) for t in kinds) and op in ("add", "mul"):
            both = op == "add" and all(isinstance(t, ty.Tuple | ty.List) for t in kinds)
            if op == "mul" and any(isinstance(t, ty.List) for t in kinds):
                items, times = args if isinstance(kinds[0], ty.List) else args[::-1]
                return self.invoke_object(stmt, support.list_repeat, (items, times), (), items)
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
        found = probe.op_type(op, list(map(self.known, args)))
        return self.facts.extents.operator(found, op, args)

    def rule(self, value: Any) -> Entry | None:
        return self.program.rule(value, reversed(self.scopes))

    def call(self, expr: ir.Call, stmt: ir.Stmt) -> ty.Type | None:
        fn = self.atom(expr.fn)
        if isinstance(fn, ty.ClosureType) and isinstance(expr.fn, ir.Var):
            made = self.closures.get(expr.fn.name)
            if made is not None:
                defaults = self.program.defaults(fn.fn)
                free = dict(made.free)
                given = {
                    k: free.get(v.name, v) if isinstance(v, ir.Var) else v
                    for k, v in defaults.items()
                }
                bound = self.bound(stmt, fn.fn, expr.args, expr.kwargs, given)
                if bound is None:
                    return ty.UNKNOWN
                if fn.fn.decorated is not None:
                    return user_rules.nested(self, stmt, made, bound)
                return self.invoke_bound(stmt, fn.fn, (*bound, *(a for _, a in made.free)), None)
            if fn.fn.decorated is not None:
                self.target(
                    stmt,
                    Uncharted(
                        fn.fn.name,
                        f"{fn.fn.decorated} decorates it, and it is called through a variable",
                    ),
                )
                return ty.UNKNOWN
            return self.invoke(stmt, fn.fn, expr.args, expr.kwargs, closure=expr.fn)
        if isinstance(fn, ty.Object) and not hasattr(fn.cls, "for_types"):
            method = getattr(fn.cls, "__call__", None)  # noqa: B004 - the method itself is meant
            if inspect.isfunction(method):
                args = (expr.fn, *expr.args)
                return self.invoke_object(stmt, method, args, expr.kwargs, expr.fn)
        if isinstance(expr.fn, ir.Global) and isinstance(expr.fn.value, ir.Function):
            return self.invoke_bound(stmt, expr.fn.value, tuple(map(ir.unstar, expr.args)), None)
        if isinstance(expr.fn, ir.Global):
            from srcgrad.frontend.lower import RecursiveRef

            if isinstance(expr.fn.value, RecursiveRef):
                return self.recurse(stmt, expr)
        if fn == ty.Literal(None):
            self.target(stmt, Uncharted("None", "a NoneType object is not callable"))
            return ty.UNKNOWN
        value = fn.value if isinstance(fn, ty.Static) else None
        if isinstance(expr.fn, ir.Global) and expr.fn.value is not ir.MISSING:
            value = expr.fn.value
        if value is None:
            self.target(stmt, Uncharted("a function that is not known when compiling", ""))
            return ty.UNKNOWN
        return self.call_value(stmt, value, expr.args, expr.kwargs, expr.fn)

    def recurse(self, stmt: ir.Stmt, expr: ir.Call) -> ty.Type | None:
        """A nested function calls itself: what it captured is passed on."""
        fn = self.facts.base or self.facts.fn
        if fn.free and not expr.kwargs and len(expr.args) == len(fn.params) + len(fn.free):
            return self.invoke_bound(stmt, fn, tuple(map(ir.unstar, expr.args)), None)
        bound = bind_user(fn, expr.args, expr.kwargs, self.program.defaults(fn))
        args = (*bound, *(ir.Var(n) for n in fn.free))
        return self.invoke_bound(stmt, fn, args, None)

    def call_value(
        self,
        stmt: ir.Stmt,
        value: Any,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
        where: ir.Atom,
    ) -> ty.Type | None:
        special = getattr(value, "__srcgrad_special__", None)
        if special in ("alias", "same") and args:
            self.target(stmt, Container("alias"))
            first = self.atom(ir.unstar(args[0]))
            return first if special == "same" else self.same(first)
        if value is logging.getLogger:
            self.target(stmt, Constant(ty.Object(logging.Logger)))
            return ty.Object(logging.Logger)
        if len(args) == 1 and not kwargs and not isinstance(args[0], ir.Star):
            found = special_methods.of_function(value, args, self.atom(args[0]))
            if found is not None:
                return self.call_value(stmt, found[0], found[1], (), args[0])
        if value is dataclasses.replace and args and not isinstance(args[0], ir.Star):
            t = self.atom(args[0])
            if isinstance(t, ty.Object) and is_plain_record(t.cls) is not None:
                self.target(stmt, Uncharted("dataclasses.replace", "its object is not known"))
                return t  # the next round has a new object in its place
        if value is support.instance:
            return self.instance(stmt, args, kwargs)
        entry = self.rule(value)
        if entry is not None and entry.given and entry.builtin is None and not entry.pure:
            return user_rules.call(self, stmt, entry, value, args, kwargs, where)
        if entry is not None:
            entry = for_call(entry, len(args), [k for k, _ in kwargs])
            if entry.kind == "source":
                return self.invoke_object(stmt, entry.fn, args, kwargs, where)
            return self.library(stmt, entry, args, kwargs)
        value = getattr(value, "__srcgrad_primal__", value)
        if getattr(value, "__srcgrad_special__", None) == "derivative":
            return self.make_derivative(stmt, value, args, kwargs)
        if hasattr(value, "for_types") and not isinstance(value, type):
            return self.derivative(stmt, value, args, kwargs)
        table = sources.ITERATORS if self.is_used_up(stmt) else sources.FUNCTIONS
        value = sources.instead_of(table, value) or value
        if isinstance(value, type):
            return self.construct(stmt, value, args, kwargs)
        source = user_source(value)
        if source is None:
            self.target(stmt, Uncharted(name_of(value), "it has no rule and no Python source"))
            return ty.UNKNOWN
        inner = self.rule(source.fn) if source.fn is not value else None
        if inner is not None:  # the rule of a partial's function, of a method, of what @njit wraps
            return user_rules.call(self, stmt, inner, value, args, kwargs, where)
        return self.invoke_object(stmt, value, args, kwargs, where)

    def make_derivative(
        self,
        stmt: ir.Stmt,
        value: Any,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
    ) -> ty.Type:
        """`sg.grad(h)` inside a differentiated function, for an h known when compiling."""
        given = [self.fixed(ir.unstar(a)) for a in args]
        named = {k: self.fixed(v) for k, v in kwargs}
        known = not any(isinstance(v, probe.Known) is False for v in (*given, *named.values()))
        if not known or any(isinstance(a, ir.Star) for a in args) or None in named:
            self.target(
                stmt, Uncharted(name_of(value), "its function is not known when compiling")
            )
            return ty.UNKNOWN
        key = (
            id(value),
            tuple(repr(g) for g in given),
            tuple(sorted((str(k), repr(v)) for k, v in named.items())),
        )
        table = self.program.__dict__.setdefault("_derivatives", {})
        if key not in table:
            table[key] = value(
                *(g.value for g in given), **{str(k): v.value for k, v in named.items()}
            )
        self.target(stmt, Constant(ty.Static(table[key])))
        return ty.Static(table[key])

    def fixed(self, a: ir.Atom) -> Any:
        """What is known of an argument when compiling: a literal, a tuple of literals, a
        function."""
        t = self.atom(a)
        if isinstance(a, ir.Const):
            return probe.Known(a.value)
        if isinstance(t, ty.Static | ty.Literal):
            return probe.Known(t.value)
        found = self.program.constant_of(a, self.facts.fn)
        return None if found is None else probe.Known(found.value)

    def derivative(
        self,
        stmt: ir.Stmt,
        value: Any,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
    ) -> ty.Type | None:
        """A call of a derivative inside a differentiated function: its generated function is
        called."""
        atoms = self.program.derivative_arguments(value, args, kwargs)
        types = tuple(plain_dims(self.atom(a) or ty.UNKNOWN) for a in atoms)
        made = value.for_types(types)
        self.program.requires.append(made)
        return self.invoke_object(stmt, made.function, atoms, (), atoms[0])

    def library(
        self,
        stmt: ir.Stmt,
        entry: Entry,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
    ) -> ty.Type | None:
        bound = bind_library(entry, args, kwargs)
        if bound is None:
            other = sources.instead_of(sources.OTHERWISE, entry.target)
            if other is not None and len(args) == 1 and not isinstance(args[0], ir.Star):
                return self.invoke_object(stmt, other, args, kwargs, args[0])
            self.target(stmt, Uncharted(entry.name, "its arguments can't be told apart here"))
            return ty.UNKNOWN
        if self.counts(bound):
            self.target(stmt, Constant(ty.UNKNOWN))
            return probe.result_type(
                entry.target,
                [self.known(ir.unstar(a)) for a in args],
                {k: self.known(v) for k, v in kwargs if k is not None},
            )
        self.target(stmt, Library(entry, bound))
        if not entry.pure or any(isinstance(a, ir.Star) for a in args):
            return ty.UNKNOWN
        if any(k is None for k, _ in kwargs):
            return ty.UNKNOWN
        given = [self.known(ir.unstar(a)) for a in args]
        named = {k: self.known(v) for k, v in kwargs if k is not None}
        found = probe.result_type(entry.target, given, named)
        return self.facts.extents.library(found, entry, [ir.unstar(a) for a in args], dict(bound))

    # ---- user functions ----

    def invoke_object(
        self,
        stmt: ir.Stmt,
        value: Any,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
        where: ir.Atom,
    ) -> ty.Type | None:
        fn, before, named = self.program.function(value, where)
        given = dict(named)
        given.update({k: v for k, v in kwargs if k is not None})
        rest = [(None, v) for k, v in kwargs if k is None]
        return self.invoke(stmt, fn, (*before, *args), (*given.items(), *rest))

    def invoke(
        self,
        stmt: ir.Stmt,
        fn: ir.Function,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
        closure: ir.Atom | None = None,
    ) -> ty.Type | None:
        bound = self.bound(stmt, fn, args, kwargs, self.program.defaults(fn))
        if bound is None:
            return ty.UNKNOWN
        if closure is not None:
            fn, bound = self.program.leaving_out(fn, bound)
        return self.invoke_bound(stmt, fn, bound, closure)

    def bound(
        self,
        stmt: ir.Stmt,
        fn: ir.Function,
        args: Sequence[ir.Atom | ir.Star],
        kwargs: Sequence[tuple[str | None, ir.Atom]],
        defaults: Mapping[str, ir.Atom],
    ) -> tuple[Bound, ...] | None:
        """The arguments of a call by parameter; None when what is starred is taken apart first."""
        spread = [a.value for a in args if isinstance(a, ir.Star)]
        spread += [v for k, v in kwargs if k is None]
        try:
            return bind_user(fn, args, kwargs, defaults)
        except UnsupportedSyntax:
            wanted = missing_parameters(fn, args, kwargs, defaults)
            known = any(isinstance(self.atom(a), ty.Tuple | ty.List | ty.Dict) for a in spread)
            if not known and wanted is None:
                raise
            # The next round has the items of what is starred one by one.
            self.target(stmt, Uncharted(fn.name, "a starred argument has an unknown length"))
            if wanted is not None:
                self.facts.starred[stmt.sid] = wanted
            return None

    def invoke_bound(
        self, stmt: ir.Stmt, fn: ir.Function, bound: tuple[Bound, ...], closure: ir.Atom | None
    ) -> ty.Type | None:
        types = neutral(map(self.bound_type, bound))
        if closure is not None:
            t = self.atom(closure)
            assert isinstance(t, ty.ClosureType)
            types += list(t.free)
        self.target(stmt, User(fn, bound, closure, tuple(types)))
        return self.program.returns(fn, tuple(types))

    def bound_type(self, b: Bound) -> ty.Type:
        if not isinstance(b, Packed):
            return self.atom(b) or ty.UNKNOWN
        if any(isinstance(i, ir.Star) for i in b.items) or None in b.keys:
            return ty.UNKNOWN if b.kind == "tuple" else ty.Dict(None)
        items = tuple(self.atom(ir.unstar(i)) or ty.UNKNOWN for i in b.items)
        if b.kind == "tuple":
            return ty.Tuple(items)
        return ty.Dict(tuple(zip(b.keys, items, strict=True)))

    def target(self, stmt: ir.Stmt, target: Target) -> None:
        self.facts.targets[stmt.sid] = target

    # ---- methods, attributes, items ----

    def method(self, expr: ir.Method, stmt: ir.Stmt) -> ty.Type | None:
        obj = self.atom(expr.obj)
        assert obj is not None
        if isinstance(obj, ty.Object):
            found = inspect.getattr_static(obj.cls, expr.name, None)
            if isinstance(found, staticmethod | classmethod):
                value = getattr(obj.cls, expr.name)
                return self.call_value(stmt, value, expr.args, expr.kwargs, expr.obj)
            if isinstance(expr.obj, ir.Global) and inspect.isroutine(found):
                bound = getattr(expr.obj.value, expr.name, None)
                if self.rule(bound) is not None:  # a rule for the method of this object
                    return self.call_value(stmt, bound, expr.args, expr.kwargs, expr.obj)
            if inspect.isfunction(found):
                args = (expr.obj, *expr.args)
                return self.call_value(stmt, found, args, expr.kwargs, expr.obj)
        if isinstance(obj, ty.Static):
            value = getattr(obj.value, expr.name, None)
            if value is not None:
                return self.call_value(stmt, value, expr.args, expr.kwargs, expr.obj)
        if isinstance(obj, ty.Tuple) and obj.cls is not tuple:
            found = inspect.getattr_static(obj.cls, expr.name, None)
            if expr.name == "_replace":  # the next round has a new tuple in its place
                self.target(stmt, Uncharted("_replace", "its object is not known"))
                return obj
            if inspect.isfunction(found) and not expr.name.startswith("_"):
                return self.call_value(stmt, found, (expr.obj, *expr.args), expr.kwargs, expr.obj)
        source = self.source_of_method(obj, expr, stmt)
        if source is support.table_update and expr.kwargs:
            self.target(stmt, Uncharted("the method update", "it has keyword arguments"))
            return ty.Literal(None)  # the next round has stores in their place
        if source is not None:
            args = (expr.obj, *expr.args)
            return self.invoke_object(stmt, source, args, expr.kwargs, expr.obj)
        if isinstance(obj, ty.List | ty.Dict | ty.Tuple) and expr.name in CONTAINER_METHODS:
            self.target(stmt, Container(expr.name))
            return self.container_result(obj, expr)
        if isinstance(obj, ty.Array | ty.Number | ty.Unknown):
            if isinstance(obj, ty.Unknown) and expr.name in CONTAINER_METHODS - {"copy", "sort"}:
                self.target(stmt, Container(expr.name))
                return ty.UNKNOWN
            if expr.name in INPLACE_METHODS:
                self.target(stmt, Container(expr.name))
                return ty.Literal(None)
            info = METHODS.get(expr.name)
            if info is not None and not info.attr:
                return self.array_method(expr, stmt)
        self.target(stmt, Uncharted(f"the method {expr.name}", "its object is not known"))
        return ty.UNKNOWN

    def array_method(self, expr: ir.Method, stmt: ir.Stmt) -> ty.Type | None:
        info = METHODS[expr.name]
        entry = self.rule(info.target)
        if entry is None:
            self.target(stmt, Uncharted(f"the method {expr.name}", "it has no rule"))
            return ty.UNKNOWN
        entry = for_call(entry, 1 + len(expr.args))
        args: tuple[ir.Atom | ir.Star | Packed, ...] = expr.args
        if info.pack and len(args) > 1:
            args = (Packed("tuple", tuple(expr.args)),)
        bound = bind_library(entry, (expr.obj, *args), expr.kwargs)
        if bound is None:
            self.target(
                stmt, Uncharted(f"the method {expr.name}", "its arguments are not understood")
            )
            return ty.UNKNOWN
        self.target(stmt, Constant(ty.UNKNOWN) if self.counts(bound) else Library(entry, bound))
        given = [self.known(ir.unstar(a)) for a in expr.args]
        named = {k: self.known(v) for k, v in expr.kwargs if k is not None}
        found = probe.method_type(plain_dims(self.facts.of(expr.obj)), expr.name, given, named)
        plain = [expr.obj, *map(ir.unstar, expr.args)]
        return self.facts.extents.library(found, entry, plain, dict(bound))

    def counts(self, bound: tuple[tuple[str, Bound], ...]) -> bool:
        """Whether a call is asked for integers (`x.astype(int)`): no derivative goes through."""
        given = dict(bound).get("dtype")
        if not isinstance(given, ir.Const | ir.Global) or "out" in dict(bound):
            return False
        try:
            return given.value is not None and np.dtype(given.value).kind in "iub"
        except TypeError:
            return False

    def attribute(self, expr: ir.Attr, stmt: ir.Stmt) -> ty.Type | None:
        obj = self.atom(expr.obj)
        assert obj is not None
        if isinstance(obj, ty.Object):
            if obj.fields is not None and expr.name in dict(obj.fields):
                return dict(obj.fields)[expr.name]
            found = inspect.getattr_static(obj.cls, expr.name, None)
            if isinstance(found, property) and found.fget is not None:
                return self.invoke_object(stmt, found.fget, (expr.obj,), (), expr.obj)
            if obj.fields is not None and found is not None and not callable(found):
                t = ty.generic(probe.type_of(found))  # of the class
                self.target(stmt, Constant(t))
                return t
            return ty.UNKNOWN
        if isinstance(obj, ty.Tuple) and expr.name in getattr(obj.cls, "_fields", ()):
            return obj.items[obj.cls._fields.index(expr.name)]  # type: ignore[attr-defined]
        if isinstance(obj, ty.Static):
            value = getattr(obj.value, expr.name, ir.MISSING)
            return ty.UNKNOWN if value is ir.MISSING else probe.type_of(value)
        info = METHODS.get(expr.name)
        if isinstance(obj, ty.Array | ty.Number | ty.Unknown) and info is not None and info.attr:
            entry = self.rule(info.target)
            if entry is not None and entry.params is not None:
                first = next(iter(entry.params.parameters))
                self.target(stmt, Library(entry, ((first, expr.obj),)))
            elif entry is not None:
                self.target(stmt, Library(entry, ()))
        return self.facts.extents.attribute(obj, expr.name)

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
                if all(isinstance(k, ir.Const) for k in expr.keys):
                    keys = [k.value for k in expr.keys if isinstance(k, ir.Const)]
                    return ty.Dict(tuple(zip(keys, items, strict=True)))
                return ty.Dict(None)
            case _:
                return ty.Other(set)


def closures_of(fn: ir.Function) -> dict[str, ir.Closure]:
    """Temporaries that hold a nested function; it is called where it was just made."""
    defs: dict[str, list[ir.Stmt]] = {}
    for stmt in ir.walk(fn.body):
        for v in ir.writes(stmt):
            defs.setdefault(v.name, []).append(stmt)
    return {
        name: found[0].value
        for name, found in defs.items()
        if len(found) == 1
        and name.startswith("%")
        and isinstance(found[0], ir.Assign)
        and isinstance(found[0].value, ir.Closure)
    }
