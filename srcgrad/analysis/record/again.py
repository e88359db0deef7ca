"""What the reverse sweep makes again instead of keeping it.

A temporary that is cheap to compute stands for what it is computed from; a number may be run again
at the head of the reverse of its block; a view that is used at once is a place in its array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from srcgrad.analysis.effects import WRITES, may_hold_memory
from srcgrad.analysis.record.rerun import runs_again
from srcgrad.analysis.targets import Container, Library, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

_CHEAP = frozenset(
    ("neg", "pos", "add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne", "is",
     "is_not", "not", "invert", "and", "or")
)  # fmt: skip

# Functions whose result stores into an array leave as it is.
_OF_SHAPE = (len, np.ndim, np.shape, np.size)

SHAPE = "~"  # before a variable of which only the shape is read


@dataclass
class Again:
    """Answers for one unit."""

    unit: Unit
    _again: dict[str, ir.Assign | None] = field(default_factory=dict)
    _places: dict[str, bool] = field(default_factory=dict)
    _writers: dict[str, list[ir.Stmt]] = field(default_factory=dict)
    _rerun: dict[str, ir.Assign | None] = field(default_factory=dict)
    _roots: dict[str, tuple[set[str], set[str]]] = field(default_factory=dict)
    reran: set[str] = field(default_factory=set)  # variables that the reverse sweep makes again

    def forget(self) -> None:
        """The unit has another body."""
        for table in (self._again, self._places, self._writers, self._rerun, self._roots):
            table.clear()
        self.reran.clear()

    # ---- running a definition again ----

    def rerun(self, name: str) -> ir.Assign | None:
        """The definition of a number that is run again at the head of the reverse of its block,
        where that is cheaper than a tape (under Numba)."""
        if name not in self._rerun:
            self._rerun[name] = None
            if self.unit.program.reruns:
                self._rerun[name] = runs_again(self, name)
        return self._rerun[name]

    # ---- computing a temporary again ----

    def again(self, name: str) -> ir.Assign | None:
        """The definition of a temporary that the reverse sweep computes again where it reads
        it."""
        if name not in self._again:
            self._again[name] = None  # a cycle is impossible, but cheap to guard
            self._again[name] = self._recomputable(name)
        return self._again[name]

    def is_place(self, name: str) -> bool:
        """Whether a temporary is a view that is used at once, so that its shadow needs no name: it
        is
        a place in the shadow of the array, `u_bar[1:-1]`."""
        got = self._places.get(name)
        if got is None:
            got = self._places[name] = self._used_at_once(name)
        return got

    def _used_at_once(self, name: str) -> bool:
        unit = self.unit
        defs = unit.defs.get(name, [])
        if not name.startswith("%") or len(defs) != 1 or not isinstance(defs[0], ir.Assign):
            return False
        stmt = defs[0]
        if not isinstance(stmt.value, ir.Index) or stmt.inplace or not unit.basic(stmt.value.key):
            return False
        alias = unit.aliases(stmt)
        if alias is None or not all(
            isinstance(unit.type(n), ty.Array) for n in (name, alias.name)
        ):
            return False
        here = unit.place[stmt.sid]
        last = here[-1][1]
        for reader in unit.readers.get(name, ()):
            there = unit.place[reader.sid]
            if (
                isinstance(reader, ir.Exit)
                or there[:-1] != here[:-1]
                or there[-1][0] != here[-1][0]
            ):
                return False
            if not self._reads_elements(reader):
                return False
            last = max(last, there[-1][1])
        return self._undisturbed(stmt, here[-1][1], last)

    def _reads_elements(self, reader: ir.Stmt) -> bool:
        """Whether a statement takes elements of an array and keeps no hold of the array itself."""
        unit = self.unit
        if isinstance(reader, ir.Store):
            return isinstance(unit.facts.of(reader.base), ty.Array)
        if not isinstance(reader, ir.Assign) or unit.aliases(reader) is not None:
            return False
        if isinstance(reader.value, ir.Index):
            return True
        target = unit.facts.targets.get(reader.sid)
        return isinstance(target, Library) and target.entry.kind in (
            "elementwise", "linear", "structured", "nondiff",
        )  # fmt: skip

    def _recomputable(self, name: str) -> ir.Assign | None:
        unit = self.unit
        if not name.startswith("%"):
            return None
        defs = unit.defs.get(name, [])
        if len(defs) != 1 or not isinstance(defs[0], ir.Assign):
            return None
        stmt = defs[0]
        if not self.is_cheap(stmt):
            return None
        here = unit.place[stmt.sid]
        last = here[-1][1]
        for reader in unit.readers.get(name, ()):
            there = unit.place[reader.sid]
            if there[: len(here) - 1] != here[:-1] or there[len(here) - 1][0] != here[-1][0]:
                return None
            last = max(last, there[len(here) - 1][1])
        return stmt if self._undisturbed(stmt, here[-1][1], last) else None

    def _varies(self, stmt: ir.Assign, by: ir.Atom) -> bool:
        """Whether a compiled loop divides by a number that it makes: that costs more than to
        keep the quotient, for the quotient alone is kept then."""
        unit = self.unit
        if not unit.program.reruns or not unit.loops[stmt.sid] or not isinstance(by, ir.Var):
            return False
        loop = unit.by_sid[unit.loops[stmt.sid][0]]
        return isinstance(loop, ir.For | ir.While) and any(
            v.name == by.name for s in ir.walk(loop.body) for v in ir.writes(s)
        )

    def is_cheap(self, stmt: ir.Assign) -> bool:
        """Whether the value of a definition costs less to compute again than to keep."""
        unit, t = self.unit, self.unit.type(stmt.target.name)
        match stmt.value:
            case ir.Op("truediv", [_, by]) if self._varies(stmt, by):
                return False
            case ir.Op(op, _):
                return op in _CHEAP and isinstance(t, ty.Number | ty.Literal)
            case ir.Index(obj, key):
                if isinstance(obj, ir.Var) and unit.fx.memory(obj.name):
                    if not isinstance(t, ty.Number) or not isinstance(
                        unit.type(obj.name), ty.Array
                    ):
                        return False
                    return unit.basic(key) and self.settled(stmt, obj.name)
                return unit.basic(key) or self._names_item(key)
            case ir.Attr():
                if self._is_shape(stmt.value):
                    return True
                obj = stmt.value.obj
                return not (isinstance(obj, ir.Var) and unit.fx.memory(obj.name))
            case ir.Build(kind, _, _):
                return kind == "tuple" and not may_hold_memory(t)
            case ir.Var() | ir.Const() | ir.Global():
                return not may_hold_memory(t)
            case ir.Call(fn, args):
                target = unit.facts.targets.get(stmt.sid)
                if self._converts(fn, args) and isinstance(t, ty.Number):
                    return isinstance(target, Library) and not target.entry.given
                return (
                    isinstance(target, Library)
                    and target.entry.kind == "nondiff"
                    and (target.entry.pure and isinstance(t, ty.Number))
                    and self._reads_settled(stmt, target.entry.target in _OF_SHAPE)
                )
            case _:
                return False

    def _converts(self, fn: ir.Atom, args: tuple[ir.Atom | ir.Star, ...]) -> bool:
        """Whether a call makes a number of another class: `np.float32(4.0)`."""
        if not isinstance(fn, ir.Global) or not isinstance(fn.value, type):
            return False
        kinds = [self.unit.facts.of(ir.unstar(a)) for a in args]
        of_numbers = all(isinstance(k, ty.Number | ty.Literal) for k in kinds)
        return of_numbers and issubclass(fn.value, float | int | np.number)

    def element_roots(self, atoms: Iterable[ir.Atom]) -> set[str]:
        """The variables whose own value or elements are read, not only their shapes."""
        out: set[str] = set()
        for a in atoms:
            if not isinstance(a, ir.Var):
                continue
            again = self.again(a.name) or self.rerun(a.name)
            if again is None:
                out.add(a.name)
            elif not self._is_shape(again.value):
                out |= self.element_roots(ir.operands(again.value))
        return out

    def _is_shape(self, e: ir.Expr) -> bool:
        """Whether an expression reads of an array what stores into it leave as it is."""
        match e:
            case ir.Attr(ir.Var(name), "shape" | "ndim" | "size" | "dtype"):
                return isinstance(self.unit.type(name), ty.Array)
            case ir.Call(ir.Global(value=fn), (ir.Var(name),), ()) if fn is len:
                return isinstance(self.unit.type(name), ty.Array)
        return False

    def _reads_settled(self, stmt: ir.Assign, shape: bool) -> bool:
        """Whether the arrays and containers that a statement reads stay as they are after it;
        `shape`: of arrays it reads no more than that."""
        for v in ir.reads(stmt):
            if shape and isinstance(self.unit.type(v.name), ty.Array):
                continue
            if self.unit.fx.memory(v.name) and not self.settled(stmt, v.name):
                return False
        return True

    def settled(self, stmt: ir.Stmt, array: str) -> bool:
        """Whether nothing that runs after a statement writes into an array or what shares its
        memory, so that the reverse sweep finds its elements as the statement found them."""
        unit, root = self.unit, self.unit.fx.root(array)
        for p, g in zip(unit.params, unit.spec.groups or (None,) * len(unit.params), strict=False):
            if g is not None and unit.fx.root(p) == root:
                return False  # the caller may write
        here, around = unit.place[stmt.sid], set(unit.loops[stmt.sid])
        for s in self._touching(root):
            if unit.place[s.sid] > here or around & set(unit.loops[s.sid]):
                return False
        return True

    def _touching(self, root: str) -> list[ir.Stmt]:
        """Statements that may write into a memory class."""
        got = self._writers.get(root)
        if got is None:
            got = self._writers[root] = [
                s for s in ir.walk(self.unit.body) if self._may_write(s, root)
            ]
        return got

    def _may_write(self, s: ir.Stmt, root: str) -> bool:
        fx = self.unit.fx

        def is_one(a: object) -> bool:
            return (
                isinstance(a, ir.Var)
                and a.name in self.unit.facts.types
                and fx.root(a.name) == root
            )

        match s:
            case ir.Store(base=base) | ir.StoreAttr(base=base):
                return is_one(base)
            case ir.Assign() if s.inplace is not None and is_one(s.target):
                return True
            case ir.Assign() | ir.Effect() if isinstance(s.value, ir.Call | ir.Method | ir.Opaque):
                target = self.unit.facts.targets.get(s.sid)
                if isinstance(target, Library) and target.entry.pure and not target.entry.writes:
                    return any(
                        n == "out" and is_one(a) for n, b in target.args for a in bound_atoms(b)
                    )
                if isinstance(target, Container) and target.name not in WRITES:
                    return False
                return any(map(is_one, ir.reads(s)))
            case ir.Verbatim():
                return any(map(is_one, (*ir.reads(s), *ir.writes(s))))
            case ir.With():
                return s.special is not None and is_one(s.value)
            case _:
                return False

    def _names_item(self, key: ir.Key) -> bool:
        """Whether a key surely is a string, as of a dict."""
        if isinstance(key, ir.Slice | ir.KeyTuple):
            return False
        t = self.unit.facts.of(key)
        return t == ty.Other(str) or (isinstance(t, ty.Literal) and isinstance(t.value, str))

    def _undisturbed(self, stmt: ir.Assign, first: int, last: int) -> bool:
        """Whether nothing between definition and last use binds what the definition reads; nor
        what is inside the last, a loop or branch that may bind it before it comes to the use."""
        block = self._block_of(stmt)
        simple = last > first and not ir.blocks(block[last])
        if simple and last == first + 1:
            return True
        roots, _ = self.roots_of(ir.operands(stmt.value))
        for s in block[first + 1 : last + (not simple)]:
            for inner in ir.walk((s,)):
                if any(v.name in roots for v in ir.writes(inner)):
                    return False
        return True

    def _block_of(self, stmt: ir.Stmt) -> ir.Block:
        path = self.unit.place[stmt.sid]
        if len(path) == 1:
            return self.unit.body
        owner = self.unit.by_place[path[:-1]]
        k = path[-1][1]
        return next(b for b in ir.blocks(owner) if k < len(b) and b[k] is stmt)

    def roots_of(self, atoms: Iterable[ir.Atom]) -> tuple[set[str], set[str]]:
        """The variables (and memory classes) that reading these atoms in the reverse sweep
        reads."""
        names: set[str] = set()
        contents: set[str] = set()
        for a in atoms:
            if not isinstance(a, ir.Var):
                continue
            again = self.again(a.name)
            if again is None:
                again = self.rerun(a.name)
                if again is not None:
                    self.reran.add(a.name)
            if again is not None:
                n, c = self._roots_below(again)
                names |= n
                contents |= set() if self._is_shape(again.value) else c
                continue
            names.add(a.name)
            if self.unit.fx.memory(a.name):
                contents.add(self.unit.fx.root(a.name))
        return names, contents

    def _roots_below(self, again: ir.Assign) -> tuple[set[str], set[str]]:
        """`roots_of` what a definition reads: once for each of a chain of them, where all that is
        asked on the way stands already (what is run again is still being decided)."""
        if self.unit.program.reruns:
            return self.roots_of(ir.operands(again.value))
        name = again.target.name
        if name not in self._roots:
            self._roots[name] = self.roots_of(ir.operands(again.value))
        return self._roots[name]

    def shapes_of(self, atoms: Iterable[ir.Atom]) -> set[str]:
        """What is read where only shapes are: of arrays their shapes, of indices the values."""
        out: set[str] = set()
        for a in atoms:
            if not isinstance(a, ir.Var):
                continue
            again = self.again(a.name) or self.rerun(a.name)
            if again is None:
                out.add(SHAPE + a.name)
            elif isinstance(again.value, ir.Index):
                out |= self.shapes_of([again.value.obj])
                out |= self.roots_of(ir.key_atoms(again.value.key))[0]
            elif self._is_shape(again.value):
                out |= self.shapes_of(ir.operands(again.value))
            else:
                out |= self.roots_of([a])[0]
        return out
