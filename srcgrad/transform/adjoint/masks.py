"""Masks of lanes (`analysis/record/lanes.py`): made, combined, moved and applied."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from srcgrad.analysis.partials import Term, same_shape
from srcgrad.analysis.record import lanes
from srcgrad.analysis.record.lanes import Lanes
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.values import Values


@dataclass(frozen=True)
class Mask:
    """The lanes of a cotangent that count; `dirty`: the others may hold anything, else zero."""

    node: ast.expr
    type: ty.Type
    negated: bool = False
    dirty: bool = False


@dataclass
class Masks:
    """The masks of the adjoints at hand, while one block is reversed."""

    owner: Values
    static: Lanes
    table: dict[str, Mask | None] = field(default_factory=dict)

    def take(self, name: str) -> Mask | None:
        """The mask of a variable whose definition is being reversed."""
        return self.table.pop(name, None)

    def put(self, name: str, mask: Mask | None) -> None:
        """One more contribution to a variable; None: all lanes of it count."""
        if name not in self.static.masked:
            return
        if name not in self.table:
            self.table[name] = mask
            return
        old = self.table[name]
        if old is not None:
            self.table[name] = None if mask is None else self.combine("logical_or", old, mask)

    # ---- one contribution ----

    def contribution(
        self, term: Term, mask: Mask | None, node: ast.expr, g: ast.expr, result: ty.Type
    ) -> tuple[ast.expr, Mask | None]:
        """A contribution, masked where it has to be, and the lanes of it that count."""
        operand = term.operand
        assert isinstance(operand, ir.Var)
        t, keeps = self.owner.unit.facts.of(operand), operand.name in self.static.masked
        source = lanes.source(term) if keeps else None
        if source == "finite" and not self.static.overflows(operand.name):
            source = None
        dirty = mask is not None and (mask.dirty or (source is None and lanes.reads_data(term)))
        carries = operand.name in self.static.carriers and not term.reduces
        passage = lanes.passage(term)
        if passage in ("reduce", "move") and mask is not None and (keeps or dirty):
            # The contribution has the operand's shape before and after.
            mask = replace(self.moved(term, mask, g, result), dirty=dirty)
            if dirty and not carries:
                node, mask = self.select(mask, node, t), replace(mask, dirty=False)
            return node, mask
        if source == "part" and passage is None:
            mask = self.of_part(term, mask, g)
        elif source is not None:
            if source != "finite" and carries:
                node, dirty = g, True  # the choice is made where the contribution leaves the lanes
            mask = self.both(mask, self.chosen(source, term))
        elif passage is None:
            mask = None
        if mask is None:
            return node, None
        if dirty and not carries:
            node, dirty = self.select(mask, node, result), False
        mask = replace(mask, dirty=dirty)
        return node, self.narrowed(mask, operand, term) if keeps else mask

    def chosen(self, source: str, term: Term) -> Mask:
        if source == "finite":
            place = term.env["x2"]
            node = self.owner.module.numpy("isfinite", self.owner.bound(place))
        else:
            place = term.env[next(iter(term.entry.params.parameters))]  # type: ignore[union-attr]
            node = self.owner.bound(place)
        t = self.owner.unit.facts.of(place)  # type: ignore[arg-type]
        return self.steady(Mask(node, t, source == "where not"))

    def steady(self, mask: Mask) -> Mask:
        """A mask that keeps its value while the sweep goes on."""
        owner = self.owner
        if isinstance(mask.node, ast.Name) and mask.node.id not in owner.changing:
            return mask
        if isinstance(mask.node, ast.Constant):
            return mask
        kept = owner.text.names.fresh("lanes")
        node = mask.node
        if isinstance(node, ast.Name) and node.id in owner.restored_arrays:
            node = owner.module.numpy("array", node)
        owner.emit(syn.assign(kept, node))
        return replace(mask, node=syn.name(kept))

    # ---- combining ----

    def positive(self, mask: Mask) -> ast.expr:
        if not mask.negated:
            return mask.node
        if isinstance(mask.type, ty.Array) and mask.type.dtype == bool:
            return ast.UnaryOp(ast.Invert(), mask.node)
        return self.owner.module.numpy("logical_not", mask.node)

    def both(self, outer: Mask | None, inner: Mask) -> Mask:
        return inner if outer is None else self.combine("logical_and", outer, inner)

    def combine(self, fn: str, a: Mask, b: Mask) -> Mask:
        if ast.dump(a.node) == ast.dump(b.node) and a.negated == b.negated:
            return replace(a, dirty=a.dirty or b.dirty)
        node = self.owner.module.numpy(fn, self.positive(a), self.positive(b))
        t: ty.Type = ty.UNKNOWN
        if lanes.is_scalar(a.type) and lanes.is_scalar(b.type):
            t = ty.Number(np.bool_)
        elif isinstance(a.type, ty.Array) and same_shape(a.type, b.type):
            t = ty.Array(np.dtype(bool), a.type.dims)
        return self.steady(Mask(node, t, False, a.dirty or b.dirty))

    # ---- moving and applying ----

    def narrowed(self, mask: Mask, operand: ir.Var, term: Term) -> Mask:
        """The lanes of an operand of an elementwise call, which may have been broadcast."""
        t, owner = self.owner.unit.facts.of(operand), self.owner
        if lanes.is_scalar(mask.type) or not term.reduces:
            return mask
        if isinstance(t, ty.Number):
            node = owner.module.numpy("any", self.positive(mask))
            return self.steady(Mask(node, ty.Number(np.bool_), False, mask.dirty))
        node = owner.module.support("any_lane", self.positive(mask), owner.shape_of(operand))
        return self.steady(Mask(node, ty.UNKNOWN, False, mask.dirty))

    def moved(self, term: Term, mask: Mask, g: ast.expr, result: ty.Type) -> Mask:
        """The lanes of an operand that a call reduced or rearranged."""
        owner, operand = self.owner, term.operand
        assert isinstance(operand, ir.Var)
        if lanes.is_scalar(mask.type):
            return mask
        whole = self.positive(mask)
        if not (isinstance(mask.type, ty.Array) and same_shape(mask.type, result)):
            shape = owner.module.numpy("shape", g)
            whole = owner.module.numpy("broadcast_to", whole, shape)
        if lanes.passage(term) == "reduce":
            how = [term.env.get(n, ir.Const(None)) for n in ("axis", "keepdims")]
            axis, keep = map(owner.bound, how)
            given = term.env.get(term.param)
            shaped = given if isinstance(given, ir.Var) else operand  # what the formula reads
            node = owner.module.support("sum_back", whole, owner.shape_of(shaped), axis, keep)
        else:
            node = owner.formula(term, whole, syn.number(None))
        node = ast.Compare(node, [ast.NotEq()], [syn.number(0)])
        t = owner.unit.facts.of(operand)
        known = ty.Array(np.dtype(bool), t.dims) if isinstance(t, ty.Array) else ty.UNKNOWN
        return self.steady(Mask(node, known, False, mask.dirty))

    def of_item(self, obj: ir.Var, key: ast.expr, mask: Mask | None) -> Mask | None:
        """The lanes of `obj` that those of `obj[key]` come from."""
        if obj.name not in self.static.masked:
            return None
        owner = self.owner
        taken = ast.Constant(True) if mask is None else self.positive(mask)
        node = owner.module.support("lanes_at", owner.primal(obj), key, taken)
        t = owner.unit.facts.of(obj)
        known = ty.Array(np.dtype(bool), t.dims) if isinstance(t, ty.Array) else ty.UNKNOWN
        return self.steady(Mask(node, known))

    def of_part(self, term: Term, mask: Mask | None, g: ast.expr) -> Mask:
        """The lanes of a matrix of which a triangle was taken."""
        owner, operand = self.owner, term.operand
        assert isinstance(operand, ir.Var)
        ones: ast.expr = owner.module.numpy("full_like", g, ast.Constant(True))
        ones.keywords.append(ast.keyword("dtype", syn.name("bool")))  # type: ignore[attr-defined]
        if mask is not None:
            ones = owner.module.numpy("logical_and", ones, self.positive(mask))
        node = owner.formula(term, ones, syn.number(None))
        t = owner.unit.facts.of(operand)
        known = ty.Array(np.dtype(bool), t.dims) if isinstance(t, ty.Array) else ty.UNKNOWN
        return self.steady(Mask(node, known))

    def of_operand(self, mask: Mask, operand: ir.Var) -> Mask | None:
        """The lanes of an operand of a call of a rule that works lane by lane."""
        t = self.owner.unit.facts.of(operand)
        if operand.name not in self.static.masked:
            return None
        alike = isinstance(mask.type, ty.Array) and same_shape(mask.type, t)
        if alike or (lanes.is_scalar(mask.type) and lanes.is_scalar(t)):
            return mask
        shape = self.owner.shape_of(operand)
        node = self.owner.module.support("any_lane", self.positive(mask), shape)
        return self.steady(Mask(node, ty.UNKNOWN, False, mask.dirty))

    def select(self, mask: Mask, node: ast.expr, result: ty.Type, exact: bool = True) -> ast.expr:
        """Zero in the lanes that do not count.

        Not `exact`: the mask may be of another shape, as where the rule sums over lanes."""
        zero = syn.number(0.0)
        arms = (zero, node) if mask.negated else (node, zero)
        if lanes.is_scalar(mask.type) and lanes.is_scalar(result):
            return ast.IfExp(mask.node, *arms)
        if not exact and not (isinstance(mask.type, ty.Array) and same_shape(mask.type, result)):
            return self.owner.module.support("masked_alike", self.positive(mask), node)
        if isinstance(mask.type, ty.Array) or isinstance(result, ty.Array):
            return self.owner.module.numpy("where", mask.node, *arms)
        return self.owner.module.support("masked", self.positive(mask), node)
