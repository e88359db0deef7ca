"""Lengths of dimensions that depend on the program: which arrays surely have one shape.

A dimension may carry the name of what it is as long as: `u[1:-1]`, `u[2:]` and `u[:-2]` are all
"?u^.0-2", two less than dimension 0 of the argument u, and `np.zeros(n)` is "?n.#-0", as long as
the int n says.  One that surely isn't of length one starts with "n": "nu^.0-0".  Arrays of one
name have one shape, so nothing is broadcast where they meet.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from srcgrad.analysis.targets import Bound
from srcgrad.analysis.types import probe
from srcgrad.analysis.types.dims import (
    base_of,
    columns,
    known,
    met,
    named,
    plain_dims,
    reduced,
    renamed,
    shorter,
    slice_length,
)
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry

_CREATION = (np.zeros, np.ones, np.empty, np.full)
_PRODUCTS = (np.dot, np.matmul)
_SAME = (
    np.copy, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.sort, np.flip, np.roll,
    np.absolute, np.linalg.inv, np.linalg.cholesky,
)  # fmt: skip
_OF_DISPLAYS = (np.array, np.asarray)
_REDUCTIONS = (np.sum, np.prod, np.mean, np.std, np.var, np.max, np.min, np.any, np.all)


@dataclass
class Extents:
    """The lengths in one function; `types` are what is known of its variables so far."""

    fn: ir.Function
    types: Mapping[str, ty.Type]
    missed: set[str] = field(default_factory=set)  # variables that were read without a type

    # ---- results ----

    def arguments(self, names: Sequence[str], types: Sequence[ty.Type]) -> dict[str, ty.Type]:
        """The types of arguments, their lengths at entry named."""
        return {n: self.argument(n, t) for n, t in zip(names, types, strict=True)}

    def argument(self, name: str, t: ty.Type) -> ty.Type:
        """The type of an argument, its lengths at entry named."""
        match t:
            case ty.Array(dtype, dims):
                return ty.Array(
                    dtype, tuple(f"n{name}^.{k}-0" if d == "n" else d for k, d in enumerate(dims))
                )
            case ty.Tuple(items, cls):
                inner = enumerate(items)
                return ty.Tuple(tuple(self.argument(f"{name}/{k}", i) for k, i in inner), cls)
            case ty.Dict(entries) if entries is not None:
                return ty.Dict(tuple((k, self.argument(f"{name}/{k}", v)) for k, v in entries))
            case ty.Object(cls, fields) if fields is not None:
                named = tuple((k, self.argument(f"{name}/{k}", v)) for k, v in fields)
                return ty.Object(cls, named)
            case _:
                return t

    def attribute(self, obj: ty.Type, name: str) -> ty.Type:
        """The type of an attribute; the transpose has the dimensions in reverse order."""
        found = probe.attr_type(plain_dims(obj), name)
        if name == "T" and isinstance(obj, ty.Array) and isinstance(found, ty.Array):
            return self.better(found, obj.dims[::-1])
        return found

    def operator(self, found: ty.Type, op: str, args: Sequence[ir.Atom]) -> ty.Type:
        return self.product(found, args) if op == "matmul" else self.elementwise(found, args)

    def elementwise(self, found: ty.Type, args: Iterable[ir.Atom]) -> ty.Type:
        """Element by element, arrays of one shape give an array of that shape."""
        if not isinstance(found, ty.Array):
            return found
        shapes = [t.dims for a in args if isinstance(t := self.of(a), ty.Array)]
        return self.better(found, tuple(map(met, columns(shapes))))

    def product(self, found: ty.Type, args: Sequence[ir.Atom]) -> ty.Type:
        """A product of matrices and vectors has the outer dimensions of both."""
        dims = [t.dims if isinstance(t := self.of(a), ty.Array) else () for a in args]
        if not isinstance(found, ty.Array) or not all(0 < len(d) <= 2 for d in dims):
            return found
        outer = (*dims[0][:-1], *(dims[1][1:] if len(dims[1]) == 2 else ()))
        return self.better(found, outer)

    def sliced(self, stmt: ir.Stmt, expr: ir.Index, found: ty.Type) -> ty.Type:
        """Slices with constant ends: `u[1:-1]`, `u[2:]` and `u[:-2]` have one length, "?u.0-2"."""
        obj = self.of(expr.obj)
        if not isinstance(obj, ty.Array) or not isinstance(found, ty.Array):
            return found
        if not isinstance(expr.obj, ir.Var):
            return found
        name = self.version(expr.obj.name, stmt)
        items = expr.key.items if isinstance(expr.key, ir.KeyTuple) else (expr.key,)
        if sum(item != ir.Const(None) for item in items) > len(obj.dims):
            return found
        whole = named(name, obj.dims)
        dims: list[str] = []
        at = 0
        for item in items:
            if isinstance(item, ir.Slice):
                dims.append(slice_length(item, whole[at]))
            elif item == ir.Const(None):
                dims.append("1")
                continue
            elif self.of(item) != ty.Number(int):
                return found
            at += 1
        return self.better(found, (*dims, *whole[at:]))

    def library(
        self, found: ty.Type, entry: Entry, args: Sequence[ir.Atom], bound: Mapping[str, Bound]
    ) -> ty.Type:
        """The result of a library function, called with `args` and whatever else is `bound`."""
        if not isinstance(found, ty.Array) or not args:
            return found
        if entry.kind == "elementwise":
            return self.elementwise(found, args) if len(args) == len(bound) else found
        fn, first = entry.target, self.of(args[0])
        if any(fn is f for f in _CREATION):
            return self.better(found, self.shape(args[0]))
        if (fn is np.eye and len(args) == 1) or fn is np.identity:
            return self.better(found, self.shape(args[0]) * 2)
        if any(fn is f for f in _PRODUCTS):
            return self.product(found, args) if len(args) == 2 else found
        if any(fn is f for f in _OF_DISPLAYS):
            return self.better(found, self.display(args[0]))
        if not isinstance(first, ty.Array):
            return found
        if any(fn is f for f in _SAME):
            return self.better(found, first.dims)
        if fn is np.linalg.solve and isinstance(second := self.of(args[-1]), ty.Array):
            return self.better(found, second.dims)
        if fn is np.diff and len(bound) == 1 and first.dims:
            return self.better(found, (*first.dims[:-1], shorter(first.dims[-1], 1)))
        if fn is np.transpose and len(args) == 1:
            return self.better(found, first.dims[::-1])
        if any(fn is f for f in _REDUCTIONS):
            return self.better(found, reduced(first.dims, bound))
        return found

    def display(self, atom: ir.Atom) -> tuple[str, ...]:
        """The dimensions of the array that is made of a list or tuple which is written down where
        it is used: `np.array([a, b])`."""
        made = self.definition(atom)
        if not isinstance(made, ir.Build) or made.kind not in ("list", "tuple") or not made.items:
            return ()
        assert isinstance(atom, ir.Var)
        if not atom.is_temp or self.reads[atom.name] != 1:
            return ()  # it may grow
        inner = {self.item(i) for i in made.items}
        if len(inner) != 1 or None in inner:
            return ()
        (dims,) = inner
        return (known(len(made.items)), *(dims or ()))

    def item(self, item: ir.Atom | ir.Star) -> tuple[str, ...] | None:
        """The dimensions of one item of a display; None where they are not known."""
        if isinstance(item, ir.Star):
            return None
        match self.of(item):
            case ty.Array(_, dims):
                return dims
            case ty.List() | ty.Tuple():
                return self.display(item) or None
            case ty.Number() | ty.Literal():
                return ()
        return () if isinstance(item, ir.Const) and isinstance(item.value, int | float) else None

    @cached_property
    def reads(self) -> Counter[str]:
        """How often each variable is read."""
        return Counter(v.name for s in ir.walk(self.fn.body) for v in ir.reads(s))

    def better(self, found: ty.Array, dims: tuple[str, ...]) -> ty.Array:
        """A type with these dimensions where its own are known no better."""
        if len(dims) != len(found.dims):
            return found
        new = tuple(
            b if a == "?" or (a == "n" and b[0] == "n") else a
            for a, b in zip(found.dims, dims, strict=True)
        )
        return ty.Array(found.dtype, new)

    def meeting(self, args: Iterable[ir.Atom]) -> list[set[str]]:
        """The dimensions that have to be of one length for arrays to fit, element by element."""
        arrays = {a: t.dims for a in args if isinstance(t := self.of(a), ty.Array)}
        meeting = [[d for d in column if d != "1"] for column in columns(list(arrays.values()))]
        return [set(dims) for dims in meeting if len(dims) > 1]

    def multiplying(self, a: ir.Atom, b: ir.Atom) -> list[set[str]] | None:
        """The dimensions that have to be of one length for two arrays to have a product; None
        where that can't be said."""
        s, t = self.of(a), self.of(b)
        if not isinstance(s, ty.Array) or not isinstance(t, ty.Array):
            return None
        if not 1 <= len(s.dims) <= 2 or not 1 <= len(t.dims) <= 2:
            return None
        return [] if a == b and len(s.dims) == 1 else [{s.dims[-1], t.dims[0]}]

    def kept(self, name: str, t: ty.Type) -> ty.Type:
        """What a variable may be said to be: a length that changes from one iteration to the next
        names only temporary arrays, which are read in the iteration that made them."""
        if name.startswith("%") and isinstance(t, ty.Array):
            return t
        return renamed(t, lambda d: d[0] if base_of(d) in self.changing else d)

    # ---- ints ----

    def shape(self, atom: ir.Atom) -> tuple[str, ...]:
        """The dimensions that a shape stands for."""
        if isinstance(atom, ir.Const) and isinstance(atom.value, tuple):
            return tuple(known(n) for n in atom.value)
        match self.definition(atom):
            case ir.Attr(obj, "shape") if isinstance(t := self.of(obj), ty.Array):
                return self.dims(obj, t)
            case ir.Build("tuple", items) if not any(isinstance(i, ir.Star) for i in items):
                return tuple(self.length(ir.unstar(i)) for i in items)
            case _:
                return (self.length(atom),)

    def length(self, atom: ir.Atom) -> str:
        """The dimension that an int stands for."""
        if isinstance(atom, ir.Const):
            return known(atom.value)
        if self.of(atom) != ty.Number(int) or not isinstance(atom, ir.Var):
            return "?"
        match self.definition(atom):
            case ir.Index(shape, ir.Const(int() as k)) if self.of(shape) != ty.Number(int):
                dims = self.shape(shape)
                return dims[k] if -len(dims) <= k < len(dims) else "?"
            case ir.Call(ir.Global(value=fn), (ir.Var() as obj,)) if fn is len:
                t = self.of(obj)
                return self.dims(obj, t)[0] if isinstance(t, ty.Array) and t.dims else "?"
            case ir.Op("sub", (ir.Var() as whole, ir.Const(int() as less))) if less >= 0:
                return shorter(self.length(whole), less)
        return f"?{atom.name}.#-0" if self.is_fixed(atom) else "?"

    def dims(self, obj: ir.Atom, t: ty.Array) -> tuple[str, ...]:
        """The dimensions of an array, named where they have no other name."""
        if not self.is_fixed(obj):
            return t.dims
        assert isinstance(obj, ir.Var)
        return named(obj.name, t.dims)

    # ---- variables ----

    def of(self, atom: ir.Atom | ir.Key) -> ty.Type | None:
        if isinstance(atom, ir.Var):
            found = self.types.get(atom.name)
            if found is None:
                self.missed.add(atom.name)
            return found
        if isinstance(atom, ir.Const):
            return ty.Number(int) if type(atom.value) is int else None
        return None

    def dtype(self, atom: ir.Atom) -> ir.Const | None:
        """The dtype that a variable bound to `u.dtype` holds, where that of u is known."""
        match self.definition(atom):
            case ir.Attr(ir.Var() as array, "dtype") if isinstance(t := self.of(array), ty.Array):
                return ir.Const(t.dtype)
        return None

    def definition(self, atom: ir.Atom) -> ir.Expr | None:
        """What a variable that is bound once is bound to."""
        if not isinstance(atom, ir.Var) or atom.name not in self.bound_once:
            return None
        return self.made.get(atom.name)

    def is_fixed(self, atom: ir.Atom) -> bool:
        """Whether a variable is bound once, and in no loop."""
        if not isinstance(atom, ir.Var):
            return False
        return atom.name in self.bound_once and atom.name not in self.changing

    @cached_property
    def made(self) -> dict[str, ir.Expr]:
        return {s.target.name: s.value for s in ir.walk(self.fn.body) if isinstance(s, ir.Assign)}

    @cached_property
    def bound_once(self) -> set[str]:
        """Variables that hold one value for the whole run of a loop iteration or function."""
        counts: dict[str, int] = {}
        for s in ir.walk(self.fn.body):
            for v in ir.writes(s):
                counts[v.name] = counts.get(v.name, 0) + (0 if getattr(s, "inplace", None) else 1)
        names = [p.name for p in self.fn.params] + list(self.fn.free)
        once = {n for n, k in counts.items() if k == 1 and n not in names}
        return once | {n for n in names if counts.get(n, 0) == 0}

    def version(self, name: str, stmt: ir.Stmt) -> str:
        """A name for what a variable holds at a statement: the variable itself where it is bound
        once, otherwise with the block and how often it was bound there before."""
        if self.is_fixed(ir.Var(name)):
            return name
        block, at = self.places.get(stmt.sid, (-1 - stmt.sid, 0))
        return f"{name}@{block}@{bisect(self.bindings.get((block, name), ()), at)}"

    @cached_property
    def places(self) -> dict[int, tuple[int, int]]:
        """Each statement's block and place in it."""
        out: dict[int, tuple[int, int]] = {}
        todo = [self.fn.body]
        for number, block in enumerate(todo):
            for at, s in enumerate(block):
                out[s.sid] = number, at
                todo += ir.blocks(s)
        return out

    @cached_property
    def bindings(self) -> dict[tuple[int, str], list[int]]:
        """The places in a block where statements, or those within them, bind a variable."""
        out: dict[tuple[int, str], list[int]] = {}
        todo = [self.fn.body]
        for number, block in enumerate(todo):
            for at, s in enumerate(block):
                bound = (s for s in ir.walk((s,)) if not getattr(s, "inplace", None))
                for name in {v.name for inner in bound for v in ir.writes(inner)}:
                    out.setdefault((number, name), []).append(at)
                todo += ir.blocks(s)
        return out

    @cached_property
    def changing(self) -> set[str]:
        """Variables that loops bind."""
        loops = [s for s in ir.walk(self.fn.body) if isinstance(s, ir.For | ir.While)]
        inside = {v.name for loop in loops for s in ir.walk((loop,)) for v in ir.writes(s)}
        return inside | {s.target.name for s in loops if isinstance(s, ir.For)}
