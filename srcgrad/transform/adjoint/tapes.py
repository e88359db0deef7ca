"""Tapes that are arrays indexed by the loop counters, for Numba.

A number recorded inside `for` loops whose trip counts are known before the outermost one is kept
at the place of its iteration: `s_tape[i, j] = s`, read back as `s = s_tape[i, j]`.  The array is
allocated before the outermost loop.  Everything else stays on a list.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from srcgrad.analysis.record.leaving import escaping
from srcgrad.analysis.recording import Recording
from srcgrad.analysis.unit import Unit
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.text import Text

Interval = tuple[ast.expr, ast.expr]  # the least and the largest value that an atom takes


@dataclass
class Nest:
    """The loops around a record, with for each the index and the extent of its dimension."""

    outermost: int
    indices: list[ast.expr]
    extents: list[ast.expr]


@dataclass
class Tapes:
    """Decides which records of one unit go into arrays, and writes these."""

    found: Recording
    text: Text
    arrays: dict[str, Nest] = field(default_factory=dict)  # slot -> its loops
    _nests: dict[tuple[int, ...], Nest | None] = field(default_factory=dict)
    _pending: dict[int, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def unit(self) -> Unit:
        return self.found.unit

    def wants(self, sid: int, slot: str, t: ty.Type) -> bool:
        """Whether the record at a statement goes into an array; it is one from then on."""
        dtype = dtype_of(t)
        nest = self.nest(self.unit.taping[sid]) if dtype is not None else None
        if nest is None:
            return False
        self.arrays[slot] = nest
        self._pending.setdefault(nest.outermost, []).append((slot, dtype or ""))
        return True

    def element(self, slot: str) -> ast.expr:
        nest = self.arrays[slot]
        indices = [asts.copied(k) for k in nest.indices]
        key = indices[0] if len(indices) == 1 else syn.tuple_of(indices)
        return ast.Subscript(syn.name(slot), key, ast.Load())

    def allocations(self, loop: int) -> list[ast.stmt]:
        """What stands before an outermost loop."""
        out: list[ast.stmt] = []
        for slot, dtype in self._pending.get(loop, ()):
            extents = [asts.copied(e) for e in self.arrays[slot].extents]
            shape = extents[0] if len(extents) == 1 else syn.tuple_of(extents)
            kind = [] if dtype == "np.float64" else [syn.expr(dtype)]
            out.append(syn.assign(slot, self.text.module.numpy("empty", shape, *kind)))
        return out

    # ---- loops ----

    def nest(self, loops: tuple[int, ...]) -> Nest | None:
        if loops not in self._nests:
            self._nests[loops] = self._nest(loops)
        return self._nests[loops]

    def _nest(self, loops: tuple[int, ...]) -> Nest | None:
        found = [self.unit.by_sid[sid] for sid in loops]
        if not found or not all(isinstance(s, ir.For) for s in found):
            return None
        around = [s for s in found if isinstance(s, ir.For)]
        if any(s.sid in self.found.states for s in around):
            return None
        targets = [self.text.var(s.target.name) for s in around]
        if len(set(targets)) != len(targets) or "_" in targets:
            return None
        indices: list[ast.expr] = []
        extents: list[ast.expr] = []
        ranges: dict[str, Interval] = {}
        for s, target in zip(around, targets, strict=True):
            again = [d for d in self.unit.defs.get(s.target.name, ()) if d is not s]
            if any(self._is_inside(d, s) for d in again):
                return None
            if any(e.kind != "continue" for inner in s.body for e in escaping(inner)):
                return None  # it may be left long before its bound
            got = self._range(s, around[0], ranges)
            if got is None:
                return None
            low, high = got
            ranges[s.target.name] = got
            index: ast.expr = syn.name(target)
            extent = plus_one(high)
            if not _is_small(low):
                if _mentions_changing(low, self):
                    return None
                index, extent = minus(index, low), minus(extent, low)
            indices.append(index)
            extents.append(_not_negative(extent, self._lengths))
        return Nest(loops[0], indices, extents)

    @cached_property
    def _lengths(self) -> set[str]:
        """The names, as they are printed, that are only ever bound to lengths of arrays."""
        unit = self.unit
        return {
            self.text.var(name)
            for name, defs in unit.defs.items()
            if not ir.Var(name).is_temp
            and name not in unit.params
            and all(map(self._is_length, defs))
        }

    def _is_length(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Assign(value=ir.Index(ir.Var(shape), ir.Const(int()))):
                of = self.unit.defs.get(shape, ())
                return len(of) == 1 and self._is_shape(of[0])
            case ir.Assign(value=ir.Call(ir.Global(value=fn), (ir.Var(),), ())):
                return fn is len
        return False

    def _is_shape(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Assign(value=ir.Attr(ir.Var(x), "shape")):
                return isinstance(self.unit.type(x), ty.Array)
        return False

    def _range(self, s: ir.For, outer: ir.For, ranges: dict[str, Interval]) -> Interval | None:
        """The least and largest value of a loop's counter."""
        step = s.step.value if isinstance(s.step, ir.Const) else None
        start, stop = self.interval(s.start, outer, ranges), self.interval(s.stop, outer, ranges)
        if not isinstance(step, int) or step == 0 or start is None or stop is None:
            return None
        if step > 0:
            return start[0], minus(stop[1], syn.number(1))
        return plus_one(stop[0]), start[1]

    def interval(self, a: ir.Atom, outer: ir.For, ranges: dict[str, Interval]) -> Interval | None:
        """The values of an integer anywhere in the loops, in terms of what is known before
        them."""
        if isinstance(a, ir.Const):
            return (syn.number(a.value),) * 2 if type(a.value) is int else None
        if not isinstance(a, ir.Var):
            return None
        if a.name in ranges:
            return ranges[a.name]
        defs = self.unit.defs.get(a.name, [])
        if not any(self._is_inside(d, outer) for d in defs):
            return self._outside(a, outer)
        if len(defs) != 1 or not isinstance(defs[0], ir.Assign) or defs[0].inplace:
            return None
        return self._computed(defs[0].value, outer, ranges)

    def _is_inside(self, stmt: ir.Stmt, outer: ir.For) -> bool:
        here, there = self.unit.place[outer.sid], self.unit.place[stmt.sid]
        return there[: len(here)] == here

    def _outside(self, a: ir.Var, outer: ir.For) -> Interval | None:
        waiting = self.text.pending.get(a.name)
        node = asts.copied(waiting.node) if waiting is not None else None
        if node is None:
            if a.is_temp and self._folds(a.name):
                definition = self.unit.defs[a.name][0]
                assert isinstance(definition, ir.Assign)
                return self._computed(definition.value, outer, {})
            node = syn.name(self.text.var(a.name))
        return node, asts.copied(node)

    def _folds(self, name: str) -> bool:
        """Whether a temporary is printed inside the statement that uses it, not as a name."""
        defs = self.unit.defs.get(name, [])
        return (
            len(defs) == 1
            and isinstance(defs[0], ir.Assign)
            and name not in self.text.named
            and len(self.text.uses.get(name, ())) == 1
        )

    def _computed(self, e: ir.Expr, outer: ir.For, ranges: dict[str, Interval]) -> Interval | None:
        match e:
            case ir.Var() | ir.Const():
                return self.interval(e, outer, ranges)
            case ir.Op("add" | "sub" as op, (x, y)):
                a, b = self.interval(x, outer, ranges), self.interval(y, outer, ranges)
                if a is None or b is None:
                    return None
                if op == "add":
                    return plus(a[0], b[0]), plus(a[1], b[1])
                return minus(a[0], b[1]), minus(a[1], b[0])
            case ir.Op("floordiv" | "mul" as op, (x, ir.Const(k))) if type(k) is int and k > 0:
                a = self.interval(x, outer, ranges)
                kind = ast.FloorDiv() if op == "floordiv" else ast.Mult()
                if a is None:
                    return None
                return ast.BinOp(a[0], kind, syn.number(k)), ast.BinOp(a[1], kind, syn.number(k))
            case ir.Index(ir.Var() as shape, ir.Const(k)) if type(k) is int:
                inner = self._shape(shape, outer)
                if inner is None:
                    return None
                node: ast.expr = ast.Subscript(inner, syn.number(k), ast.Load())
                return node, asts.copied(node)
            case ir.Call(ir.Global(value=fn), (ir.Var() as x,), ()) if fn is len:
                if not isinstance(self.unit.type(x.name), ty.Array) or self._changes(x, outer):
                    return None
                node = syn.call("len", syn.name(self.text.var(x.name)))
                return node, asts.copied(node)
        return None

    def _shape(self, v: ir.Var, outer: ir.For) -> ast.expr | None:
        """`x.shape` in a temporary, of an array that is not bound again in the loops."""
        defs = self.unit.defs.get(v.name, [])
        if len(defs) != 1 or not isinstance(defs[0], ir.Assign):
            return None
        value = defs[0].value
        if not isinstance(value, ir.Attr) or value.name != "shape":
            return None
        x = value.obj
        if not isinstance(x, ir.Var) or not isinstance(self.unit.type(x.name), ty.Array):
            return None
        if self._changes(x, outer):
            return None
        return ast.Attribute(syn.name(self.text.var(x.name)), "shape", ast.Load())

    def _changes(self, v: ir.Var, outer: ir.For) -> bool:
        """Whether a variable is bound inside the loops, or is a temporary without a name."""
        inside = any(self._is_inside(d, outer) for d in self.unit.defs.get(v.name, []))
        return inside or (v.is_temp and self._folds(v.name))


def dtype_of(t: ty.Type) -> str | None:
    """The dtype, as text, of a tape for values of a type; None when they are not numbers."""
    match t:
        case ty.Literal(bool()):
            return "np.bool_"
        case ty.Number(cls):
            plain = {
                float: "np.float64",
                int: "np.int64",
                bool: "np.bool_",
                complex: "np.complex128",
            }
            if cls in plain:
                return plain[cls]
            if issubclass(cls, np.bool_):
                return "np.bool_"
            if cls is np.longdouble or cls is np.float16:
                return None
            return f"np.{np.dtype(cls).name}"
        case _:
            return None


def _constant(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value) if type(value) is int:
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(value)) if type(value) is int:
            return -value
    return None


def plus(a: ast.expr, b: ast.expr) -> ast.expr:
    p, q = _constant(a), _constant(b)
    if p is not None and q is not None:
        return syn.number(p + q)
    if p == 0:
        return b
    if q == 0:
        return a
    if q is not None and isinstance(a, ast.BinOp) and isinstance(a.op, ast.Add | ast.Sub):
        inner = _constant(a.right)
        if inner is not None:
            total = (inner if isinstance(a.op, ast.Add) else -inner) + q
            return (
                plus(a.left, syn.number(total))
                if total >= 0
                else minus(a.left, syn.number(-total))
            )
    return ast.BinOp(a, ast.Add(), b)


def minus(a: ast.expr, b: ast.expr) -> ast.expr:
    p, q = _constant(a), _constant(b)
    if p is not None and q is not None:
        return syn.number(p - q)
    if q == 0:
        return a
    if q is not None and isinstance(a, ast.BinOp) and isinstance(a.op, ast.Add | ast.Sub):
        inner = _constant(a.right)
        if inner is not None:
            total = (inner if isinstance(a.op, ast.Add) else -inner) - q
            return (
                plus(a.left, syn.number(total))
                if total >= 0
                else minus(a.left, syn.number(-total))
            )
    return ast.BinOp(a, ast.Sub(), b)


def plus_one(a: ast.expr) -> ast.expr:
    return plus(a, syn.number(1))


def minus_one(a: ast.expr) -> ast.expr:
    return minus(a, syn.number(1))


def _is_small(low: ast.expr) -> bool:
    """Whether a range starts so near to zero that its places need no shift."""
    if not isinstance(low, ast.Constant) or not isinstance(low.value, int | float):
        return False
    return 0 <= low.value <= 2


def _not_negative(extent: ast.expr, lengths: set[str]) -> ast.expr:
    """Lengths and literals are never negative; anything else may be."""
    match extent:
        case ast.Name(name) if name in lengths:
            return extent
        case ast.Constant(int(k)):
            return syn.number(max(k, 0))
        case ast.Subscript(ast.Attribute(_, "shape")) | ast.Call(ast.Name("len")):
            return extent
    return syn.call("max", extent, syn.number(0))


def _mentions_changing(low: ast.expr, tapes: Tapes) -> bool:
    """Whether the least value of a counter may be another one in the reverse sweep."""
    names = syn.names_in(low)
    for name in names:
        if len(tapes.unit.defs.get(name, ())) + (name in tapes.unit.params) > 1:
            return True
        if "%" in name or name not in {*tapes.unit.defs, *tapes.unit.params, "len"}:
            return True
    return False


__all__ = ["Nest", "Tapes", "dtype_of"]
