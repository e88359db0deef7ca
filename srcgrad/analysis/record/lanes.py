"""Lanes: elements whose cotangent is exactly zero because `np.where` did not choose them.

What is computed for an arm of `np.where` is used in the chosen lanes only.  In the others its
partial may be nan or inf, and `0.0 * nan` is nan; so the reverse sweep keeps, beside the cotangent
of such a value, a mask of the lanes that count, and applies it where a contribution leaves them
(SEMANTICS, finding 5).  A division does the same for a denominator that overflowed: the derivative
of `1 / (1 + exp(-x))` is zero at -1000, not nan.

Here is what does not depend on values: which variables have a mask, and whose cotangent may hold
anything in the lanes that do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.partials import Term
from srcgrad.analysis.record.lanewise import GIVEN, works_by_lanes
from srcgrad.analysis.record.leaving import escaping
from srcgrad.analysis.targets import Library, Target, User, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules import registry
from srcgrad.runtime import support

Terms = Callable[[ir.Stmt, ir.Expr, Library], list[Term]]

_OVERFLOWS = frozenset(map(id, (np.exp, np.exp2, np.expm1, np.cosh, np.sinh)))
_WHERE = frozenset(map(id, (np.where, support.masked)))
_TRIANGLES = frozenset(map(id, (np.tril, np.triu)))
# A partial of these may be infinite where the value is not.
_SINGULAR = frozenset(
    map(
        id,
        (
            np.sqrt, np.cbrt, np.log, np.log2, np.log10, np.log1p, np.power, np.float_power,
            np.divide, np.reciprocal, np.arcsin, np.arccos, np.arccosh, np.arctanh, np.hypot,
            np.arctan2,
        ),
    )
)  # fmt: skip
# The result has one lane for many of the operand.
_REDUCTIONS = frozenset(
    map(id, (np.sum, np.mean, np.prod, np.max, np.min, np.std, np.var, np.linalg.norm))
)
# Each element of the result is one of the operand.
_MOVES = frozenset(
    map(
        id,
        (
            np.transpose, np.reshape, np.ravel, np.squeeze, np.expand_dims, np.swapaxes,
            np.moveaxis, np.flip, np.flipud, np.fliplr, np.roll, np.repeat, np.tile,
            np.broadcast_to, np.take, np.diagonal, np.diag, np.copy, np.asarray, np.array,
            np.atleast_1d, np.atleast_2d, support.flatten, support.view,
        ),
    )
)  # fmt: skip


def source(term: Term) -> str | None:
    """Whether a term chooses lanes for its operand: "where", "where not", "part" or "finite"."""
    entry = term.entry
    if registry.lookup(entry.target) is not entry:
        return None
    if id(entry.target) in _WHERE:
        return "where not" if term.param == "y" else "where"
    if id(entry.target) in _TRIANGLES:
        return "part"
    return "finite" if entry.target is np.divide and term.param == "x2" else None


def _may_choose(target: Target) -> bool:
    """Whether a term of a call can be the source of a mask."""
    if not isinstance(target, Library):
        return False
    fn = target.entry.target
    return fn is np.divide or id(fn) in _WHERE or id(fn) in _TRIANGLES


def is_singular(term: Term) -> bool:
    """Whether a partial may be infinite: what it is multiplied by must not be a zero that stands
    for an element that nobody took."""
    power = term.env.get("x2") if term.entry.target in (np.power, np.float_power) else None
    if isinstance(power, ir.Const) and isinstance(power.value, int) and power.value > 0:
        return False
    return id(term.entry.target) in _SINGULAR


def takes_some(key: ir.Key, facts: Facts) -> bool:
    """Whether `obj[key]` may take some elements of all: by a mask or by arrays of indices."""
    if isinstance(key, ir.KeyTuple):
        return any(takes_some(k, facts) for k in key.items)
    if not isinstance(key, ir.Var):
        return False
    t = facts.of(key)
    kinds = t.items if isinstance(t, ty.Tuple) else (t,)
    return any(k == ty.UNKNOWN or isinstance(k, ty.Array | ty.List) for k in kinds)


def passage(term: Term) -> str | None:
    """How a mask gets from the result of a call to an operand: "same" lanes, "reduce", "move"."""
    entry = term.entry
    if not isinstance(term.operand, ir.Var):
        return None
    if entry.kind == "elementwise" or entry.lanes:
        return "same"
    if registry.lookup(entry.target) is not entry or entry.params is None:
        return None
    if id(entry.target) in _REDUCTIONS:
        given = [term.env.get(n) for n in ("axis", "keepdims") if n in entry.params.parameters]
        return "reduce" if all(isinstance(a, ir.Const) for a in given) else None
    return "move" if id(entry.target) in _MOVES else None


def reads_data(term: Term) -> bool:
    """Whether a formula does more with the cotangent than scale or move it."""
    if passage(term) == "move" or term.entry.target in (np.sum, np.mean):
        return False
    return term.reads_out() or any(not isinstance(a, ir.Const) for a in term.reads)


@dataclass
class Lanes:
    """The masked variables of a unit, each within the block that defines and uses it."""

    unit: Unit
    terms: Terms
    masked: set[str] = field(default_factory=set)
    carriers: set[str] = field(default_factory=set)  # masked, and may hold anything elsewhere
    # Masked by `np.where` or an overflow, not only by what is taken of an array.
    _chosen: set[str] = field(default_factory=set)
    _uses: dict[str, list[bool]] = field(default_factory=dict)

    def run(self) -> Lanes:
        """Find them; uses come before definitions when a block is walked backwards."""
        if not self.unit.spec.lanes and not self.may_choose():
            return self
        self.block(self.unit.body)
        # A mask is of use where a formula could make something else of a zero.
        useful: set[str] = set()
        for stmt in ir.walk(self.unit.body):
            if isinstance(stmt, ir.Assign) and stmt.target.name in self.masked:
                if self.is_useful(stmt, useful):
                    useful.add(stmt.target.name)
        self.masked = useful
        self.carriers &= useful
        return self

    def may_choose(self) -> bool:
        facts = self.unit.facts
        if any(map(_may_choose, facts.targets.values())):
            return True
        return any(
            isinstance(s, ir.Assign)
            and isinstance(s.value, ir.Index)
            and takes_some(s.value.key, facts)
            for s in ir.walk(self.unit.body)
        )

    def is_useful(self, stmt: ir.Assign, useful: set[str]) -> bool:
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, User):
            return True
        if isinstance(target, Library) and target.entry.kind in GIVEN:
            return works_by_lanes(self.unit, target)
        if isinstance(target, Library):
            harmful = reads_data if stmt.target.name in self._chosen else is_singular
            return any(
                passage(t) is not None and (harmful(t) or getattr(t.operand, "name", "") in useful)
                for t in self.terms(stmt, stmt.value, target)
            )
        source = stmt.value.obj if isinstance(stmt.value, ir.Index) else stmt.value
        return isinstance(source, ir.Var) and source.name in useful

    def block(self, block: ir.Block) -> None:
        for stmt in reversed(block):
            for inner in ir.blocks(stmt):
                self.block(inner)
                for s in ir.walk(inner):
                    self.unmask(ir.reads(s))
            if ir.blocks(stmt) and escaping(stmt):
                # What is read behind it may not be reached, so its masks may not be made.
                for uses in self._uses.values():
                    uses.append(False)
            if isinstance(stmt, ir.Assign) and self.unit.is_active(stmt.target):
                self.define(stmt)
            if self.unit.differentiates(stmt):
                self.use(stmt)

    def unmask(self, atoms: tuple[ir.Atom, ...]) -> None:
        for a in atoms:
            if isinstance(a, ir.Var):
                self._uses.setdefault(a.name, []).append(False)

    def use(self, stmt: ir.Stmt) -> None:
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(stmt, ir.Exit) and isinstance(stmt.value, ir.Var):
            self._uses.setdefault(stmt.value.name, []).append(self.unit.spec.lanes)
            return
        if isinstance(stmt, ir.Assign) and stmt.inplace is None:
            inside = stmt.target.name in self.masked
            if isinstance(target, Library):
                if target.entry.kind in GIVEN:
                    inside = inside and works_by_lanes(self.unit, target)
                    for a in (a for _, b in target.args for a in bound_atoms(b)):
                        if isinstance(a, ir.Var):
                            self._uses.setdefault(a.name, []).append(inside)
                    return
                for term in self.terms(stmt, stmt.value, target):
                    self.use_in(term, inside, stmt.target.name)
                return
            if isinstance(stmt.value, ir.Var | ir.Index):
                index = stmt.value if isinstance(stmt.value, ir.Index) else None
                takes = index is not None and takes_some(index.key, self.unit.facts)
                source = index.obj if index is not None else stmt.value
                if isinstance(source, ir.Var):
                    self._uses.setdefault(source.name, []).append(inside or takes)
                    if inside and stmt.target.name in self._chosen:
                        self._chosen.add(source.name)
                return
        self.unmask(ir.reads(stmt))

    def use_in(self, term: Term, inside: bool, target: str) -> None:
        if not isinstance(term.operand, ir.Var):
            self.unmask(bound_atoms(term.operand))
            return
        found = source(term)
        chosen = found is not None and (found != "finite" or self.overflows(term.operand.name))
        passes = inside and passage(term) is not None
        if (chosen and found != "part") or (passes and target in self._chosen):
            self._chosen.add(term.operand.name)
        ok = chosen or passes
        self._uses.setdefault(term.operand.name, []).append(ok)

    def define(self, stmt: ir.Assign) -> None:
        name = stmt.target.name
        uses = self._uses.get(name)
        if not uses or not all(uses) or stmt.inplace or not self.at_home(stmt):
            return
        if self.unit.kind(name) == "memory":
            return
        self.masked.add(name)
        target = self.unit.facts.targets.get(stmt.sid)
        if len(uses) > 1 or not isinstance(target, Library) or target.entry.kind in GIVEN:
            return
        terms = self.terms(stmt, stmt.value, target)
        if all(passage(t) == "same" for t in terms) and any(map(reads_data, terms)):
            self.carriers.add(name)

    def at_home(self, stmt: ir.Assign) -> bool:
        """Whether a variable is defined once, and read behind that in the same block only."""
        unit, name = self.unit, stmt.target.name
        if len(unit.defs.get(name, ())) != 1 or name in unit.params:
            return False
        here = unit.place[stmt.sid]
        for reader in unit.readers.get(name, ()):
            there = unit.place[reader.sid]
            if there[: len(here) - 1] != here[:-1] or len(there) < len(here):
                return False
            block, position = there[len(here) - 1]
            if block != here[-1][0] or position <= here[-1][1]:
                return False
        return True

    def overflows(self, name: str) -> bool:
        """Whether a value may be infinite because of an exponential that only it depends on."""
        defs = self.unit.defs.get(name, ())
        if len(defs) != 1 or not isinstance(defs[0], ir.Assign):
            return False
        target = self.unit.facts.targets.get(defs[0].sid)
        if not isinstance(target, Library) or target.entry.kind != "elementwise":
            return False
        if id(target.entry.target) in _OVERFLOWS:
            return True
        operands = [a for _, a in target.args if isinstance(a, ir.Var) and self.unit.is_active(a)]
        return any(
            len(self.unit.readers.get(a.name, ())) == 1 and self.overflows(a.name)
            for a in operands
        )


def is_scalar(t: ty.Type) -> bool:
    return isinstance(t, ty.Number | ty.Literal)
