"""Types of calls: of functions of users, of library functions, of derivatives."""

from __future__ import annotations

import dataclasses
import inspect
import logging
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from srcgrad.analysis.handed import made_for_nested
from srcgrad.analysis.resolve import user_source
from srcgrad.analysis.rewrites.frozen import is_distribution
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
from srcgrad.analysis.types import (
    dispatch,
    loose,
    odd_arrays,
    probe,
    solvers,
    special_methods,
    user_rules,
)
from srcgrad.analysis.types.binding import bind_library, bind_user, missing_parameters, unbound
from srcgrad.analysis.types.derivatives import DerivativeTypes
from srcgrad.analysis.types.dims import neutral
from srcgrad.analysis.types.objects import Args, Kwargs
from srcgrad.analysis.types.records import is_plain_record, parts_of
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules import sources
from srcgrad.rules.registry import Entry, for_call, name_of
from srcgrad.runtime import support

_WITHOUT = dict.fromkeys(
    (iter, next), "iterators are used up; take items of a list by their index"
)
_ROUNDS = 8  # rounds of the fixed point before what still changes becomes unknown


class CallTypes(DerivativeTypes):
    """The part of inference that sees to calls."""

    scopes: list[Mapping[Hashable, Entry]]

    @cached_property
    def closures(self) -> dict[str, ir.Closure]:
        """Nested functions that a variable surely is."""
        return closures_of(self.facts.fn)

    @abstractmethod
    def known(self, a: ir.Atom) -> Any:
        """An argument for the prober: the constant itself where it is one."""

    @abstractmethod
    def loosen(self, stmt: ir.Stmt) -> None:
        """What a statement binds is an int on some paths and a float on others."""

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
        if is_distribution(expr.fn):
            self.target(stmt, Uncharted("a frozen distribution", "its method has no rule"))
            return ty.UNKNOWN
        derives = isinstance(fn, ty.Object) and hasattr(fn.cls, "__srcgrad_derivative__")
        if isinstance(fn, ty.Object) and not derives and not self.is_ruled(expr.fn):
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

    def is_ruled(self, fn: ir.Atom) -> bool:
        """Whether an object from outside has a rule of a user's, which stands for its call."""
        entry = self.rule(fn.value) if isinstance(fn, ir.Global) else None
        return entry is not None and entry.given

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
        args: Args,
        kwargs: Kwargs,
        where: ir.Atom,
    ) -> ty.Type | None:
        special = getattr(value, "__srcgrad_special__", None)
        if value is support.sequence and len(args) == 1:
            items = special_methods.of_loop(args[0], self.atom(ir.unstar(args[0])))
            if items is not None:
                return self.call_value(stmt, items[0], items[1], (), items[1][0])
        if special in ("alias", "same") and args:
            self.target(stmt, Container("alias"))
            first = self.atom(ir.unstar(args[0]))
            return first if special == "same" else self.same(first)
        if value is type and len(args) == 1:
            self.target(stmt, Constant(ty.Object(type)))
            return ty.Object(type)
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
                self.target(stmt, Uncharted("dataclasses.replace", "a new one is made", True))
                return t  # the next round has a new object in its place
        if value in (dataclasses.asdict, dataclasses.astuple) and len(args) == 1:
            parts = parts_of(self.atom(ir.unstar(args[0])) or ty.UNKNOWN, value)
            if parts is not None and not kwargs:  # the next round has a display in its place
                self.target(stmt, Uncharted(value.__name__, "a new one is made", True))
                is_dict = value is dataclasses.asdict
                return ty.Dict(parts) if is_dict else ty.Tuple(tuple(t for _, t in parts))
        if value is support.instance:
            return self.instance(stmt, args, kwargs)
        entry = self.rule(value)
        if entry is not None and entry.given and entry.builtin is None and not entry.pure:
            return user_rules.call(self, stmt, entry, value, args, kwargs, where)
        if entry is not None:
            solver = solvers.followed(self, entry, args, kwargs)
            if solver is not None:
                self.facts.solvers[stmt.sid] = solver
            replay = solvers.replayed(self, entry, args, kwargs)
            if replay is not None:
                self.facts.replayed.add(stmt.sid)
                return self.invoke_object(stmt, replay.fn, args, kwargs, where)
            entry = for_call(entry, len(args), [k for k, _ in kwargs])
            if "complex" in entry.variants and args and not self.is_real(ir.unstar(args[0])):
                entry = entry.variants["complex"]
            if "not text" in entry.variants and not _starts_with_text(args):
                entry = entry.variants["not text"]
            if entry.kind == "source":
                return self.invoke_object(stmt, entry.fn, args, kwargs, where)
            if entry.kind == "parallel" and self.program.reverses:
                return self.invoke_object(stmt, entry.fn, args, kwargs, where)
            return self.library(stmt, entry, args, kwargs)
        value = getattr(value, "__srcgrad_primal__", value)
        if getattr(value, "__srcgrad_special__", None) == "derivative":
            return self.make_derivative(stmt, value, args, kwargs)
        if hasattr(value, "for_types") and not isinstance(value, type):
            return self.derivative(stmt, value, args, kwargs)
        if hasattr(type(value), "__srcgrad_derivative__"):
            value = value.__srcgrad_source__  # of a Jacobian: it calls derivatives
        used_up = sources.ITERATORS if self.is_used_up(stmt) else {}
        value = (
            sources.instead_of(used_up, value)
            or sources.instead_of(sources.FUNCTIONS, value)
            or value
        )
        if isinstance(value, type):
            return self.construct(stmt, value, args, kwargs)
        if dispatch.is_dispatched(value):
            first = None if not args or isinstance(args[0], ir.Star) else self.atom(args[0])
            made = dispatch.chosen_for(value, first)
            if made is None:
                why = "the class of its first argument is not known when compiling"
                self.target(stmt, Uncharted(name_of(value), why))
                return ty.UNKNOWN
            value = made
        source = user_source(value)
        if source is None:
            self.target(stmt, Uncharted(name_of(value), "it has no rule and no Python source"))
            return ty.UNKNOWN
        inner = self.rule(source.fn) if source.fn is not value else None
        if inner is not None:  # the rule of a partial's function, of a method, of what @njit wraps
            return user_rules.call(self, stmt, inner, value, args, kwargs, where)
        return self.invoke_object(stmt, value, args, kwargs, where)

    def is_real(self, a: ir.Atom) -> bool:
        """Whether a value is surely no complex number."""
        t = self.atom(a)
        if isinstance(t, ty.Array):
            return t.dtype.kind != "c"
        return isinstance(t, ty.Number) and not issubclass(t.cls, complex | np.complexfloating)

    def library(
        self,
        stmt: ir.Stmt,
        entry: Entry,
        args: Args,
        kwargs: Kwargs,
    ) -> ty.Type | None:
        bound = bind_library(entry, args, kwargs)
        if bound is None:
            other = sources.instead_of(sources.OTHERWISE, entry.target)
            if other is not None and len(args) == 1 and not isinstance(args[0], ir.Star):
                return self.invoke_object(stmt, other, args, kwargs, args[0])
            why = unbound(entry, args, [k for k, _ in kwargs])
            self.target(stmt, Uncharted(entry.name, why, self.taken_apart(args, kwargs)))
            return ty.UNKNOWN
        atoms = [ir.unstar(a) for a in args]
        given = list(map(self.known, atoms))
        named = {k: self.known(v) for k, v in kwargs if k is not None}
        if counts(bound):
            self.target(stmt, Constant(ty.UNKNOWN))
            return probe.result_type(entry.target, given, named)
        odd = odd_arrays.refusal(map(self.atom, atoms), entry.name)
        self.target(stmt, odd[0] if odd else Library(entry, bound))
        starred = any(isinstance(a, ir.Star) for a in args) or any(k is None for k, _ in kwargs)
        if odd or not entry.pure or starred:
            return ty.UNKNOWN
        found = probe.result_type(entry.target, given, named)
        if any(loose.is_loose(self.facts, a) for a in atoms):
            ints = self.as_ints(atoms, given)
            found = self.either(stmt, found, probe.result_type(entry.target, ints, named))
        return self.facts.extents.library(found, entry, atoms, dict(bound))

    def as_ints(self, atoms: Sequence[ir.Atom], given: Sequence[Any]) -> list[Any]:
        """What a call is given where the numbers that may be ints are."""
        pairs = zip(atoms, given, strict=True)
        return [loose.as_ints(t) if loose.is_loose(self.facts, a) else t for a, t in pairs]

    def either(self, stmt: ir.Stmt, found: ty.Type, other: ty.Type) -> ty.Type:
        """The type of what a call gives for floats or for ints."""
        if found != other and isinstance(found, ty.Number | ty.List | ty.Tuple):
            self.loosen(stmt)
        return ty.join(found, other)

    # ---- user functions ----

    def invoke_object(
        self,
        stmt: ir.Stmt,
        value: Any,
        args: Args,
        kwargs: Kwargs,
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
        args: Args,
        kwargs: Kwargs,
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
        args: Args,
        kwargs: Kwargs,
        defaults: Mapping[str, ir.Atom],
    ) -> tuple[Bound, ...] | None:
        """The arguments of a call by parameter; None when what is starred is taken apart first."""
        try:
            return bind_user(fn, args, kwargs, defaults)
        except UnsupportedSyntax:
            wanted = missing_parameters(fn, args, kwargs, defaults)
            if not self.taken_apart(args, kwargs) and wanted is None:
                raise
            # The next round has the items of what is starred one by one.
            self.target(stmt, Uncharted(fn.name, "a starred argument has an unknown length", True))
            if wanted is not None:
                self.facts.starred[stmt.sid] = wanted
            return None

    def invoke_bound(
        self, stmt: ir.Stmt, fn: ir.Function, bound: tuple[Bound, ...], closure: ir.Atom | None
    ) -> ty.Type | None:
        if closure is None and stmt.sid not in self.facts.replayed:
            fn, bound = made_for_nested(self.program.for_nested, fn, bound, self.closures)
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


def _starts_with_text(args: Args) -> bool:
    return bool(args) and isinstance(args[0], ir.Const) and isinstance(args[0].value, str)


def counts(bound: tuple[tuple[str, Bound], ...]) -> bool:
    """Whether a call is asked for integers (`x.astype(int)`): no derivative goes through."""
    given = dict(bound).get("dtype")
    if not isinstance(given, ir.Const | ir.Global) or "out" in dict(bound):
        return False
    try:
        return given.value is not None and np.dtype(given.value).kind in "iub"
    except TypeError:
        return False
