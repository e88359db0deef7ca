"""Rewrite library calls that write into an array as stores, and some others as simpler ones.

np.multiply(a, b, out=u)         u[...] = np.multiply(a, b)
u.fill(e); np.copyto(u, e)       u[...] = e
u.sort()                  ->     u[...] = np.sort(u)
np.fill_diagonal(u, e)           u[support.diagonal_index(u)] = e
np.r_[a, b]                      np.hstack((a, b))
np.select([p, q], [a, b], c)     np.where(p, a, np.where(q, b, c))
np.add.at(u, k, e)               a store with operator add_at: every writer counts
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from srcgrad.analysis import webs
from srcgrad.analysis.facts import Facts
from srcgrad.analysis.rewrites import builders
from srcgrad.analysis.rewrites.inplace_calls import (
    DRAWS,
    FUNCTIONS,
    METHODS,
    NONE,
    TRUE,
    WHOLE,
    Args,
    bind_call,
)
from srcgrad.analysis.targets import Library
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.rebuild import with_blocks
from srcgrad.runtime import support


def desugar(facts: Facts) -> ir.Function | None:
    """The function without calls that write into arrays, or None when it has none."""
    work = Desugar(facts, count(1 + max((s.sid for s in ir.walk(facts.fn.body)), default=0)))
    body = work.block(facts.fn.body)
    return webs.split(replace(facts.fn, body=body)) if work.changed else None


@dataclass
class Desugar:
    facts: Facts
    sids: Any
    changed: bool = False
    out: list[ir.Stmt] = field(default_factory=list)
    result: ir.Atom = NONE  # what the call at hand gives
    loc: ir.Loc = field(default_factory=lambda: ir.Loc("", 0, 0, 0, 0))

    def block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Stmt] = []
        for stmt in block:
            stmt = with_blocks(stmt, tuple(self.block(b) for b in ir.blocks(stmt)))
            outer, self.out, self.loc = self.out, [], stmt.loc
            done = self.flat(stmt) or builders.joined(self, stmt)
            done = done or (isinstance(stmt, ir.Assign | ir.Effect) and self.call(stmt))
            new, self.out = self.out, outer
            made += new if done else [stmt]
            self.changed = self.changed or done
        return tuple(made)

    # ---- writing ----

    def bind(self, value: ir.Expr) -> ir.Var:
        sid = next(self.sids)
        self.out.append(ir.Assign(sid, self.loc, ir.Var(f"%w{sid}"), value))
        return ir.Var(f"%w{sid}")

    def numpy(self, name: str, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Var:
        fn = ir.Global(ir.Root("module", "numpy"), tuple(name.split(".")), getattr(np, name))
        return self.bind(ir.Call(fn, args, tuple(kwargs.items())))

    def support(self, name: str, *args: ir.Atom) -> ir.Var:
        return self.bind(ir.Call(self.helper(name), args))

    def helper(self, name: str) -> ir.Global:
        root = ir.Root("module", "srcgrad.runtime.support")
        return ir.Global(root, (name,), getattr(support, name))

    def store(self, base: ir.Atom, key: ir.Key, value: ir.Atom, op: str | None = None) -> None:
        self.out.append(ir.Store(next(self.sids), self.loc, base, key, value, op))

    def is_number(self, a: ir.Atom) -> bool:
        return isinstance(self.facts.of(a), ty.Number)

    def repeated(self, values: ir.Atom, index: ir.Atom) -> ir.Atom:
        """NumPy repeats values that are too few for the places, and drops what is too much."""
        return values if self.is_number(values) else self.support("cycled", values, index)

    # ---- a.flat ----

    @cached_property
    def flats(self) -> dict[str, ir.Atom]:
        """Temporaries that are `a.flat`, used only for its elements: the array of each."""
        body = self.facts.fn.body
        found: dict[str, ir.Atom] = {}
        for s in ir.walk(body):
            if isinstance(s, ir.Assign) and s.target.is_temp and isinstance(s.value, ir.Attr):
                known = isinstance(self.facts.of(s.value.obj), ty.Array | ty.Unknown)
                if known and s.value.name == "flat":
                    found[s.target.name] = s.value.obj
        for s in ir.walk(body):
            own = [a for a in ir.reads(s) if a.name in found]
            place: ir.Atom | None = None
            if isinstance(s, ir.Assign) and isinstance(s.value, ir.Index):
                place = s.value.obj
            elif isinstance(s, ir.Store) and s.op is None:
                place = s.base
            if own and own != [place]:
                for a in own:
                    found.pop(a.name, None)
        return found

    def flat(self, stmt: ir.Stmt) -> bool:
        """`a.flat[k] = e` is a store into `a`, `a.flat[k]` reads it."""
        match stmt:
            case ir.Assign(value=ir.Attr(obj, "flat")):
                if stmt.target.name in self.flats:
                    return True
                if not self.reads_only(obj):
                    return False
                ravel = ir.Global(ir.Root("module", "numpy"), ("ravel",), np.ravel)
                self.out.append(replace(stmt, value=ir.Call(ravel, (obj,))))
            case ir.StoreAttr(base=base, name="flat", value=e, op=None):
                if not isinstance(self.facts.of(base), ty.Array):
                    return False
                values = e if self.is_number(e) else self.support("cycled_like", e, base)
                self.store(base, WHOLE, values)
            case ir.Store(base=ir.Var(name), key=key) if name in self.flats:
                k = self.support("flat_place", self.flats[name], self.as_atom(key))
                self.store(self.flats[name], k, self.repeated(stmt.value, k))
            case ir.Assign(value=ir.Index(ir.Var(name), key)) if name in self.flats:
                k = self.support("flat_place", self.flats[name], self.as_atom(key))
                self.out.append(replace(stmt, value=ir.Index(self.flats[name], k)))
            case _:
                return False
        return True

    def reads_only(self, obj: ir.Atom) -> bool:
        """Whether an array is never bound or written here, so that `a.flat` is its elements."""
        body = self.facts.fn.body
        changed = {s.base for s in ir.walk(body) if isinstance(s, ir.Store | ir.StoreAttr)}
        changed |= {v for s in ir.walk(body) if getattr(s, "inplace", None) for v in ir.writes(s)}
        return isinstance(self.facts.of(obj), ty.Array) and obj not in changed

    def as_atom(self, key: ir.Key) -> ir.Atom:
        if isinstance(key, ir.KeyTuple):
            return self.bind(ir.Build("tuple", tuple(map(self.as_atom, key.items))))
        if isinstance(key, ir.Slice):
            parts = tuple(NONE if a is None else a for a in (key.lower, key.upper, key.step))
            builtin = ir.Global(ir.Root("builtins", ""), ("slice",), slice)
            return self.bind(ir.Call(builtin, parts))
        return key

    # ---- which call it is ----

    def call(self, stmt: ir.Assign | ir.Effect) -> bool:
        """Write the statements that a call stands for; False when it is to stay."""
        expr = stmt.value
        if isinstance(expr, ir.Method):
            made = self.method(expr) or self.function(expr)
        elif isinstance(expr, ir.Call):
            made = self.function(expr)
        else:
            return False
        if made:
            if isinstance(stmt, ir.Assign):
                self.out.append(replace(stmt, value=self.result))
            self.result = NONE
            return True
        return self.with_out(stmt)

    def callee(self, expr: ir.Expr) -> Any:
        """The library function that a call surely calls, if it is known."""
        if isinstance(expr, ir.Method):
            owner = self.value(expr.obj)
            owner = np.random.Generator if isinstance(owner, np.random.Generator) else owner
            return None if owner is ir.MISSING else getattr(owner, expr.name, None)
        if not isinstance(expr, ir.Call):
            return None
        value = self.value(expr.fn)
        return None if value is ir.MISSING else value

    def value(self, a: ir.Atom) -> Any:
        if isinstance(a, ir.Global):
            return a.value
        t = self.facts.of(a)
        if isinstance(t, ty.Object):
            return t.cls
        return t.value if isinstance(t, ty.Static) else ir.MISSING

    def function(self, expr: ir.Call | ir.Method) -> bool:
        fn = self.callee(expr)
        owner = getattr(fn, "__self__", None)
        if isinstance(owner, np.ufunc) and getattr(fn, "__name__", "") == "at":
            args = bind_call("a, indices, b", expr.args, expr.kwargs)
            return args is not None and self.at(owner.__name__, args)
        found = FUNCTIONS.get(id(fn))
        if found is None:
            return False
        signature, write = found
        args = bind_call(signature, expr.args, expr.kwargs)
        return args is not None and write(self, args)

    def method(self, expr: ir.Method) -> bool:
        t = self.facts.of(expr.obj)
        if not isinstance(t, ty.Array | ty.Unknown) or expr.name not in METHODS:
            return False
        signature, write = METHODS[expr.name]
        args = bind_call(signature, (expr.obj, *expr.args), expr.kwargs)
        return args is not None and write(self, args)

    def items(self, a: ir.Atom) -> tuple[ir.Atom, ...] | None:
        """The items of a list or tuple that is written out for the call at hand."""
        defs, readers = self.places.get(a.name, ([], [])) if isinstance(a, ir.Var) else ([], [])
        if len(defs) != 1 or len(readers) != 1 or not isinstance(defs[0], ir.Assign):
            return None
        made = defs[0].value
        if not isinstance(made, ir.Build) or made.kind not in ("list", "tuple"):
            return None
        if any(isinstance(i, ir.Star) for i in made.items):
            return None
        names = {i.name for i in made.items if isinstance(i, ir.Var)}
        bound = [s for n in names for s in self.places.get(n, ([], []))[0]]
        if any(defs[0].sid < s.sid < readers[0].sid for s in bound):
            return None  # bound again in between
        return tuple(ir.unstar(i) for i in made.items)

    @cached_property
    def places(self) -> dict[str, tuple[list[ir.Stmt], list[ir.Stmt]]]:
        """For each variable the statements that bind it and those that read it."""
        out: dict[str, tuple[list[ir.Stmt], list[ir.Stmt]]] = {}
        for s in ir.walk(self.facts.fn.body):
            for v in ir.writes(s):
                out.setdefault(v.name, ([], []))[0].append(s)
            for v in ir.reads(s):
                out.setdefault(v.name, ([], []))[1].append(s)
        return out

    # ---- ufunc.at ----

    def at(self, name: str, args: Args) -> bool:
        a, k, b = args["a"], args["indices"], args["b"]
        if name in ("add", "subtract"):
            self.store(a, k, b, "add_at" if name == "add" else "sub_at")
        elif name in ("multiply", "divide", "power"):
            op = {"multiply": "mul", "divide": "truediv", "power": "pow"}[name]
            self.store(a, self.support("distinct_index", k, a), b, op)
        elif name in ("maximum", "minimum"):
            self.store(a, WHOLE, self.support(f"{name}_at", a, k, b))
        else:
            return False
        return True

    # ---- out= ----

    def with_out(self, stmt: ir.Assign | ir.Effect) -> bool:
        """A call that is given the array for its result."""
        expr = stmt.value
        assert isinstance(expr, ir.Call | ir.Method)
        found = self.find_out(stmt, expr)
        if found is None:
            return False
        out, expr = found
        t = self.facts.of(out)
        if isinstance(t, ty.Tuple):
            if len(t.items) != 1:
                return False
            out = self.bind(ir.Index(out, ir.Const(0)))
        where = dict(expr.kwargs).get("where", TRUE)
        if isinstance(self.callee(expr), np.ufunc) and where != TRUE:
            self.masked(expr, where, out)
        else:
            self.store(out, WHOLE, self.bind(expr))
        if isinstance(stmt, ir.Assign) and stmt.target != out:
            self.out.append(replace(stmt, value=out))
        return True

    def masked(self, expr: ir.Call | ir.Method, where: ir.Atom, out: ir.Atom) -> None:
        """`out` keeps its elements where the mask is False; what is computed there is not seen."""
        rest = tuple((k, v) for k, v in expr.kwargs if k != "where")
        outer, self.out = self.out, []
        value = self.bind(replace(expr, kwargs=rest))
        self.store(out, WHOLE, self.numpy("where", where, value, out))
        inner, self.out = tuple(self.out), outer
        errstate = ir.Global(ir.Root("module", "numpy"), ("errstate",), np.errstate)
        quiet = ir.Call(errstate, (), (("all", ir.Const("ignore")),))
        self.out.append(ir.With(next(self.sids), self.loc, (quiet,), inner))

    def find_out(
        self, stmt: ir.Stmt, expr: ir.Call | ir.Method
    ) -> tuple[ir.Atom, ir.Call | ir.Method] | None:
        """The array given for the result, and the call without it."""
        target, fn = self.facts.targets.get(stmt.sid), self.callee(expr)
        draws = fn in DRAWS
        if not isinstance(target, Library) and not isinstance(fn, np.ufunc) and not draws:
            return None
        starred = any(isinstance(a, ir.Star) for a in expr.args)
        if starred or any(k is None for k, _ in expr.kwargs):
            return None
        kwargs = dict(expr.kwargs)
        if kwargs.get("out", NONE) != NONE:
            # `casting` is about the way into `out`.
            dropped = ("out", "casting") if isinstance(fn, np.ufunc) else ("out",)
            rest = tuple((k, v) for k, v in expr.kwargs if k not in dropped)
            if draws and not expr.args and "size" not in kwargs:
                rest = (("size", self.numpy("shape", kwargs["out"])), *rest)
            elif isinstance(target, Library) and not target.entry.pure:
                return None
            return kwargs["out"], replace(expr, kwargs=rest)
        place = _place_of_out(target, fn, isinstance(expr, ir.Method))
        if place is None or place >= len(expr.args):
            return None
        out = expr.args[place]
        if out == NONE or isinstance(out, ir.Star):
            return None
        last = place == len(expr.args) - 1
        after = () if last else (NONE, *expr.args[place + 1 :])
        return out, replace(expr, args=(*expr.args[:place], *after))


def _place_of_out(target: object, fn: Any, method: bool) -> int | None:
    """The position of the parameter `out` among the positional arguments."""
    if isinstance(target, Library) and target.entry.params is not None:
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [p.name for p in target.entry.params.parameters.values() if p.kind in positional]
        return names.index("out") - method if "out" in names else None
    return fn.nin if isinstance(fn, np.ufunc) and fn.nout == 1 else None


__all__ = ["desugar"]
