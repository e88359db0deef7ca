"""Small arrays of which only single elements are used become that many numbers.

    v = np.array([a, b])               v_0 = a; v_1 = b
    w = np.zeros(2)                    w_0 = 0.0; w_1 = 0.0
    w[1] = v[0] * c             ->     w_1 = v_0 * c
    s += w[1] * v[1]                   s += w_1 * v_1

Numba then makes no array for them, and neither do their adjoints and tapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from srcgrad.analysis import webs
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.rebuild import with_blocks

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts
    from srcgrad.analysis.resolve import Program

LARGEST = 16  # elements of an array that becomes numbers
_FILLED = {np.zeros: 0.0, np.empty: 0.0, np.ones: 1.0}
_DISPLAYS = (np.array, np.asarray)
_FLOAT = ir.Global(ir.Root("builtins", ""), ("float",), float)

Place = tuple[int, ...]
Elements = dict[Place, ir.Atom]


def elements(program: Program, facts: Facts) -> ir.Function | None:
    """The function with numbers for the elements of small arrays, or None when it has none."""
    last = max((s.sid for s in ir.walk(facts.fn.body)), default=0)
    work = _Elements(program, facts, count(1 + last))
    if not work.shapes:
        return None
    return webs.split(replace(facts.fn, body=work.block(facts.fn.body)))


@dataclass
class _Elements:
    program: Program
    facts: Facts
    sids: Iterator[int]

    def block(self, block: ir.Block) -> ir.Block:
        return tuple(s for stmt in block for s in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        match stmt:
            case ir.Assign(target=ir.Var(name)) if name in self.shapes:
                made = self.made(stmt) or {}
                return [
                    ir.Assign(next(self.sids), stmt.loc, self.names[name][k], self.number(a))
                    for k, a in made.items()
                ]
            case ir.Assign(value=ir.Index(ir.Var(name), key)) if name in self.shapes:
                return [replace(stmt, value=self.element(name, key))]
            case ir.Store(sid, loc, ir.Var(name), key, value, op) if name in self.shapes:
                element = self.element(name, key)
                new = self.number(value) if op is None else ir.Op(op, (element, value))
                return [ir.Assign(sid, loc, element, new)]
        return [with_blocks(stmt, tuple(map(self.block, ir.blocks(stmt))))]

    def number(self, atom: ir.Atom) -> ir.Expr:
        """What an array of floats holds when something is stored into it."""
        if self.facts.of(atom) in (ty.Number(float), ty.Number(np.float64)):
            return atom
        if isinstance(atom, ir.Const):
            return ir.Const(float(atom.value))
        return ir.Call(_FLOAT, (atom,))

    def element(self, name: str, key: ir.Key) -> ir.Var:
        place = _place(key, self.shapes[name])
        assert place is not None
        return self.names[name][place]

    # ---- which arrays ----

    @cached_property
    def shapes(self) -> dict[str, Place]:
        """The variables that become numbers, and the shapes of the arrays that they are now."""
        bound: dict[str, list[ir.Stmt]] = {}
        for stmt in ir.walk(self.facts.fn.body):
            for v in ir.writes(stmt):
                bound.setdefault(v.name, []).append(stmt)
        found = {n: s for n, stmts in bound.items() if (s := self.shape(n, stmts)) is not None}
        return {
            n: shape
            for n, shape in found.items()
            if n not in self.named
            and all(self.is_single(s, n, shape) for s in self.facts.readers.get(n, ()))
        }

    def shape(self, name: str, stmts: Sequence[ir.Stmt]) -> Place | None:
        """The one shape of all arrays that a variable is bound to."""
        t = self.facts.types.get(name)
        if not isinstance(t, ty.Array) or t.dtype != np.float64 or not t.dims:
            return None
        shapes = {_shape(self.made(stmt)) for stmt in stmts}
        return shapes.pop() if len(shapes) == 1 else None

    @cached_property
    def named(self) -> set[str]:
        """Variables that are given from outside, or whose adjoint a block of the user names."""
        fn = self.facts.fn
        blocks = [s for s in ir.walk(fn.body) if isinstance(s, ir.With) and s.special is not None]
        named = {s.value for s in blocks if isinstance(s.value, str)}
        return named | {p.name for p in fn.params} | set(fn.free)

    def is_single(self, stmt: ir.Stmt, name: str, shape: Place) -> bool:
        """Whether all that a statement does with an array is to read or write one element."""
        match stmt:
            case ir.Assign(value=ir.Index(ir.Var(base), key)):
                used = key
            case ir.Store(base=ir.Var(base), key=used, value=value):
                if value == ir.Var(name) or not _is_real(self.facts.of(value)):
                    return False
            case _:
                return False
        return base == name and _place(used, shape) is not None

    def made(self, stmt: ir.Stmt) -> Elements | None:
        """The elements of the array that a statement makes."""
        if not isinstance(stmt, ir.Assign) or stmt.inplace is not None:
            return None
        match stmt.value:
            case ir.Call(ir.Global(value=fn), (ir.Var() as rows,), ()) if fn in _DISPLAYS:
                return self.listed(rows, ())
            case ir.Call(ir.Global(value=fn), (given,), ()) if fn in _FILLED:
                return self.filled(given, _FILLED[fn])
        return None

    def listed(self, atom: ir.Atom, at: Place) -> Elements | None:
        """The elements of a display: `[[a, b], [c, d]]`."""
        if not isinstance(atom, ir.Var) or not atom.is_temp:
            return None
        rows = self.facts.extents.definition(atom)
        if not isinstance(rows, ir.Build) or rows.kind not in ("list", "tuple"):
            return None
        if len(self.facts.readers[atom.name]) != 1 or len(rows.items) > LARGEST:
            return None
        out: Elements = {}
        for k, item in enumerate(rows.items):
            if isinstance(item, ir.Star):
                return None
            place = (*at, k)
            inner = {place: item} if self.is_number(item) else self.listed(item, place)
            if inner is None:
                return None
            out |= inner
        return out

    def is_number(self, atom: ir.Atom) -> bool:
        return _is_real(self.facts.of(atom))

    def filled(self, given: ir.Atom | ir.Star, value: float) -> Elements | None:
        """The elements of `np.zeros(3)` and `np.ones((2, 2))`."""
        atom = ir.unstar(given)
        constant = self.program.constant_of(atom, self.facts.fn) or atom
        value_of = constant.value if isinstance(constant, ir.Const) else None
        shape = value_of if isinstance(value_of, tuple) else (value_of,)
        if not shape or not all(type(n) is int and n > 0 for n in shape) or prod(shape) > LARGEST:
            return None
        return {place: ir.Const(value) for place in product(*map(range, shape))}

    # ---- their names ----

    @cached_property
    def names(self) -> dict[str, dict[Place, ir.Var]]:
        fn = self.facts.fn
        taken = {v.name for s in ir.walk(fn.body) for v in (*ir.reads(s), *ir.writes(s))}
        taken |= {p.name for p in fn.params} | {name for pair in fn.webs for name in pair}
        taken |= {g.path[-1] for g in fn.meanings if g.path}
        shown = dict(fn.webs)
        out: dict[str, dict[Place, ir.Var]] = {}
        for name, shape in self.shapes.items():
            base = shown.get(name, name).strip("%") or "element"
            base = base if base.isidentifier() else f"element{base}"
            out[name] = {}
            for place in product(*map(range, shape)):
                want = made = "_".join([base, *map(str, place)])
                k = 1
                while made in taken:
                    k += 1
                    made = f"{want}_{k}"
                taken.add(made)
                out[name][place] = ir.Var(made)
        return out


def _shape(made: Elements | None) -> Place | None:
    """The shape of an array with these elements."""
    if not made or len(made) > LARGEST:
        return None
    shape = tuple(k + 1 for k in max(made))
    return shape if set(made) == set(product(*map(range, shape))) else None


def _is_real(t: ty.Type) -> bool:
    return isinstance(t, ty.Number) and not issubclass(t.cls, complex | np.complexfloating)


def _place(key: ir.Key, shape: Place) -> Place | None:
    """The element that constants name, counted from the front; None where it isn't one."""
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    if len(items) != len(shape):
        return None
    out = []
    for item, length in zip(items, shape, strict=True):
        k = item.value if isinstance(item, ir.Const) else None
        if type(k) is not int or not -length <= k < length:
            return None
        out.append(k % length)
    return tuple(out)


__all__ = ["elements"]
