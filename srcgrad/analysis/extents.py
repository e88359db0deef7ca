"""Lengths of dimensions that depend on the program: which arrays surely have one shape.

A dimension of unknown length gets the name of what it is as long as: `u[1:-1]`, `u[2:]` and
`u[:-2]` are all "?u.0-2", two less than dimension 0 of u, and `np.zeros(n)` is "?n.#-0", as long
as the int n says.  Arrays of one name have one shape, so nothing is broadcast where they meet.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from srcgrad.analysis.targets import Bound
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry

_CREATION = (np.zeros, np.ones, np.empty, np.full)
_PRODUCTS = (np.dot, np.matmul)
_LENGTH = frozenset(("?", "n", "1"))


@dataclass
class Extents:
    """The lengths in one function; `types` are what is known of its variables so far."""

    fn: ir.Function
    types: Mapping[str, ty.Type]

    # ---- results ----

    def elementwise(self, found: ty.Type, args: Iterable[ir.Atom]) -> ty.Type:
        """Element by element, arrays of one shape give an array of that shape."""
        if not isinstance(found, ty.Array):
            return found
        dims = {t.dims for a in args if isinstance(t := self.of(a), ty.Array) and t.dims}
        if len(dims) == 1 and "?" not in (only := dims.pop()) and len(only) == len(found.dims):
            return ty.Array(found.dtype, only)
        return found

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
        if len(items) > len(obj.dims):
            return found
        dims: list[str] = []
        for k, item in enumerate(items):
            if isinstance(item, ir.Slice):
                dims.append(slice_length(item, obj.dims[k], f"{name}.{k}"))
            elif self.of(item) != ty.Number(int):
                return found
        return self.better(found, (*dims, *obj.dims[len(items) :]))

    def library(
        self, found: ty.Type, entry: Entry, args: Sequence[ir.Atom], bound: Mapping[str, Bound]
    ) -> ty.Type:
        """The result of a library function, called with `args` and whatever else is `bound`."""
        if entry.kind == "elementwise" and len(args) == len(bound):
            return self.elementwise(found, args)
        if any(entry.target is fn for fn in _PRODUCTS) and len(args) == 2:
            return self.product(found, args)
        shape = args[0] if args else None
        if not any(entry.target is fn for fn in _CREATION) or not isinstance(found, ty.Array):
            return found
        if shape is None:
            return found
        return self.better(found, self.shape(shape))

    def better(self, found: ty.Array, dims: tuple[str, ...]) -> ty.Type:
        """A type with these dimensions where its own are not known."""
        if len(dims) != len(found.dims):
            return found
        new = tuple(b if a == "?" else a for a, b in zip(found.dims, dims, strict=True))
        return ty.Array(found.dtype, new)

    def kept(self, name: str, t: ty.Type) -> ty.Type:
        """What a variable may be said to be: a length that changes from one iteration to the next
        names only temporary arrays, which are read in the iteration that made them."""
        if name.startswith("%") and isinstance(t, ty.Array):
            return t
        return renamed(t, lambda d: "?" if _base(d) in self.changing else d)

    # ---- ints ----

    def shape(self, atom: ir.Atom, named: bool = False) -> tuple[str, ...]:
        """The dimensions that a shape stands for; `named` ones say whose they are."""
        if isinstance(atom, ir.Const) and isinstance(atom.value, tuple):
            return tuple(_known(n) for n in atom.value)
        made = self.definition(atom)
        match made:
            case ir.Attr(obj, "shape") if isinstance(t := self.of(obj), ty.Array):
                return self.dims(obj, t, named)
            case ir.Build("tuple", items) if not any(isinstance(i, ir.Star) for i in items):
                return tuple(self.length(ir.unstar(i)) for i in items)
            case _:
                return (self.length(atom),)

    def length(self, atom: ir.Atom, named: bool = False) -> str:
        """The dimension that an int stands for."""
        if isinstance(atom, ir.Const):
            return _known(atom.value)
        if self.of(atom) != ty.Number(int) or not isinstance(atom, ir.Var):
            return "?"
        match self.definition(atom):
            case ir.Index(shape, ir.Const(int() as k)):
                dims = self.shape(shape, named) if self.of(shape) != ty.Number(int) else ()
                return dims[k] if -len(dims) <= k < len(dims) else "?"
            case ir.Call(ir.Global(value=fn), (ir.Var() as obj,)) if fn is len:
                t = self.of(obj)
                return self.dims(obj, t, named)[0] if isinstance(t, ty.Array) and t.dims else "?"
            case ir.Op("sub", (ir.Var() as whole, ir.Const(int() as less))) if less >= 0:
                return shorter(self.length(whole, less > 0), less)
        return f"?{atom.name}.#-0" if atom.name in self.bound_once else "?"

    def dims(self, obj: ir.Atom, t: ty.Array, named: bool) -> tuple[str, ...]:
        """The dimensions of an array, named where they have no other name (or need one)."""
        if not isinstance(obj, ir.Var) or obj.name not in self.bound_once:
            return t.dims
        vague = ("?", "n") if named else ("?",)
        names = (f"?{obj.name}.{k}-0" if d in vague else d for k, d in enumerate(t.dims))
        return tuple(names)

    # ---- variables ----

    def of(self, atom: ir.Atom | ir.Key) -> ty.Type | None:
        if isinstance(atom, ir.Var):
            return self.types.get(atom.name)
        if isinstance(atom, ir.Const):
            return ty.Number(int) if type(atom.value) is int else None
        return None

    def definition(self, atom: ir.Atom) -> ir.Expr | None:
        """What a variable that is bound once is bound to."""
        if not isinstance(atom, ir.Var) or atom.name not in self.bound_once:
            return None
        return self.made.get(atom.name)

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
        if name in self.bound_once and name not in self.changing:
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


def _known(length: object) -> str:
    if type(length) is not int or length < 0:
        return "?"
    return "1" if length == 1 else "n"


def _base(dim: str) -> str:
    """The variable that a named length is told by."""
    if dim in _LENGTH:
        return ""
    return dim[1:].rpartition("-")[0].rpartition(".")[0].partition("@")[0]


def shorter(dim: str, less: int) -> str:
    """A dimension that is `less` shorter.

    Example:
        >>> shorter("?u.0-2", 1), shorter("n", 0), shorter("n", 1)
        ('?u.0-3', 'n', '?')
    """
    if less == 0:
        return dim
    if dim in _LENGTH:
        return "?"
    base, _, gone = dim[1:].rpartition("-")
    return f"?{base}-{int(gone) + less}"


def renamed(t: ty.Type, name: Callable[[str], str]) -> ty.Type:
    """A type with other names for its lengths."""
    match t:
        case ty.Array(dtype, dims):
            new = tuple(map(name, dims))
            return t if new == dims else ty.Array(dtype, new)
        case ty.Tuple(items, cls):
            return ty.Tuple(tuple(renamed(i, name) for i in items), cls)
        case ty.List(item) if item is not None:
            return ty.List(renamed(item, name))
        case ty.Dict(entries) if entries is not None:
            return ty.Dict(tuple((k, renamed(v, name)) for k, v in entries))
        case ty.ClosureType(fn, free):
            return ty.ClosureType(fn, tuple(renamed(f, name) for f in free))
        case ty.Object(cls, fields) if fields is not None:
            return ty.Object(cls, tuple((k, renamed(v, name)) for k, v in fields))
        case _:
            return t


def plain_dims(t: ty.Type) -> ty.Type:
    """A type without the names of its unknown lengths.

    Example:
        >>> plain_dims(ty.Array(np.dtype(float), ("?u.0-2", "n"))).dims
        ('?', 'n')
    """
    return renamed(t, lambda d: d[0])


def neutral(types: Iterable[ty.Type]) -> list[ty.Type]:
    """The types of arguments as the function called sees them: it knows which lengths are one,
    under names that none of its own variables has.

    Example:
        >>> u, v = (ty.Array(np.dtype(float), (d,)) for d in ("?u.0-2", "?u.0-1"))
        >>> [t.dims for t in neutral([u, v])]
        [('?%0.#-2',), ('?%0.#-1',)]
    """
    known: dict[str, str] = {}

    def name(dim: str) -> str:
        if dim in _LENGTH:
            return dim
        base, _, gone = dim[1:].rpartition("-")
        return f"?{known.setdefault(base, f'%{len(known)}.#')}-{gone}"

    return [renamed(t, name) for t in types]


def slice_length(item: ir.Slice, dim: str, name: str) -> str:
    """A name for the length of a slice with constant ends, "?" where there is none."""
    ends = []
    for a in (item.lower, item.upper, item.step):
        if a is not None and not (isinstance(a, ir.Const) and isinstance(a.value, int | None)):
            return "?"
        ends.append(None if a is None else a.value)
    lower, upper, step = ends
    if step not in (None, 1, -1):
        return "?"
    if lower is None and upper is None:
        return dim
    if step == -1 or dim == "1" or (lower or 0) < 0 or (upper is not None and upper >= 0):
        return "?"
    return shorter(dim if dim not in _LENGTH else f"?{name}-0", (lower or 0) - (upper or 0))
