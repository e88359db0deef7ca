"""Assignments whose target's adjoint is a value: the rules of library functions."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from srcgrad.analysis.effects import surely_copies
from srcgrad.analysis.partials import (
    HELPERS,
    Term,
    _names,
    expand_let,
    keeps_length,
    same_shape,
    stays_thin,
    takes_thin,
)
from srcgrad.analysis.targets import Bound, Construct, Container, Library, Packed, bound_atoms
from srcgrad.analysis.types.indices import is_whole
from srcgrad.errors import MissingRule, NotDifferentiable, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.trim import spread_alone
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import userrules
from srcgrad.transform.adjoint.adjoints import _literal, is_complex
from srcgrad.transform.adjoint.containers import Containers
from srcgrad.transform.adjoint.displays import zero_number
from srcgrad.transform.adjoint.masks import Mask, Masks
from srcgrad.transform.fresh import is_fresh


class Values(Containers):
    """Contributions of a value to what it was made of."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.masks = Masks(self, self.lanes)

    def value_rule(self, stmt: ir.Assign, expr: ir.Expr, target: object) -> None:
        """The target's adjoint is a value: take it, undo the binding, contribute."""
        name = stmt.target.name
        match expr:
            case _ if self.begins_anew(stmt):
                self.take(name, 0)
                self.undo(stmt)
            case ir.Var():
                adj = self.state[name]
                g = self.take(name, 1)  # which may fill the adjoint by a view of a zero
                thin, owned = adj.thin, adj.owned
                g = self.after_undo(stmt, g)
                if self.found.needs.decides_kind(stmt):
                    g, owned = self.module.support("gradient", g, self.primal(expr)), True
                self.masks.put(expr.name, self.masks.take(name))
                self.contribute(expr, g, owned, thin)
            case ir.Index(obj, key) if is_whole(self.unit.facts.of(obj), key):
                g = self.after_undo(stmt, self.take_full(name))
                if not isinstance(self.unit.facts.of(obj), ty.Number):
                    g = self.module.support("whole", g, self.primal(obj))
                self.contribute(obj, g, False)
            case ir.Index(obj, key) if target is None:
                one = self.state[name].thin and self.spreads(obj, key)
                g = self.take(name, 1) if one else self.take_full(name)
                g = self.apart(self.after_undo(stmt, g), obj)
                mask = self.masks.take(name)
                if isinstance(obj, ir.Var) and obj.name in self.lanes.masked:
                    self.masks.put(obj.name, self.masks.of_item(obj, self.key_value(key), mask))
                self.add_item(stmt, obj, key, g, one)
            case ir.Build():
                g = self.take_full(name)
                g = self.hold(self.after_undo(stmt, g), expr.items)
                self.unpack(expr, g)
            case ir.Closure(_, free):
                g = self.take_full(name)
                g = self.hold(self.after_undo(stmt, g), [a for _, a in free])
                for k, (_, a) in enumerate(free):
                    self.contribute(a, syn.expr("g[k]", g=g, k=syn.number(k)), False)
            case ir.Attr(obj, attr) if target is None:
                g = self.take_full(name)
                g = self.apart(self.after_undo(stmt, g), obj)
                self.add_attr(obj, attr, g, stmt)
            case _:
                self.library_rule(stmt, expr, target)

    def library_rule(self, stmt: ir.Assign, expr: ir.Expr, target: object) -> None:
        name = stmt.target.name
        if isinstance(target, Container):
            self.container_rule(stmt, expr, target)
            return
        if isinstance(target, Construct):
            g = self.take_full(name)
            g = self.hold(
                self.after_undo(stmt, g), [a for b in target.args for a in bound_atoms(b)]
            )
            for f, b in zip(target.fields, target.args, strict=True):
                assert not isinstance(b, Packed)
                got = (
                    self.module.support("field", g, ast.Constant(f))
                    if not issubclass(target.cls, tuple)
                    else syn.expr(
                        "g[k]",
                        g=g,
                        k=syn.number(target.cls._fields.index(f)),  # type: ignore[attr-defined]
                    )
                )
                self.contribute(b, got, False)
            return
        if not isinstance(target, Library):
            raise self.no_rule(stmt, expr, target)
        if userrules.is_rule(target):
            userrules.reverse_value(self, stmt, target)
            return
        terms = self.terms(stmt, expr, target)
        if target.called is not None:
            userrules.note_rule(self.module, self.out, target)
        self.apply(stmt, terms, name)

    # ---- rules ------------------------------------------------------------------------------

    def terms(self, stmt: ir.Stmt, expr: ir.Expr, target: Library) -> list[Term]:
        """The terms of a call; an active argument without one is refused."""
        if target.entry.kind == "refuse":
            for a in ir.operands(expr):
                if isinstance(a, ir.Var) and self.unit.is_active(a):
                    raise self.refused(stmt, target, a)
        terms = self.found.needs.library_terms(stmt, expr, target)
        have = {t.param for t in terms}
        for param, b in target.args:
            if param in have or target.entry.kind == "nondiff" or param in target.entry.zero:
                continue
            if any(t.operand == b for t in terms):
                continue  # one term stands for both places
            for a in bound_atoms(b):
                if self.unit.is_active(a):
                    assert isinstance(a, ir.Var)
                    if target.entry.kind == "parallel":
                        raise self.refused(stmt, target, a)
                    shown = a.name.split("%")[0] or "this argument"
                    raise located(
                        NotDifferentiable,
                        stmt.loc,
                        f"{target.entry.name} has no derivative with respect to {param}",
                        chain=self.chain(a.name),
                        fixes=[
                            f"give a rule with @srcgrad.rule({target.entry.name})",
                            f"mark the value constant with srcgrad.stop_gradient({shown})",
                        ],
                    )
        return terms

    def refused(self, stmt: ir.Stmt, target: Library, a: ir.Var) -> Exception:
        """The entry says why its function has no derivative."""
        return located(
            MissingRule,
            stmt.loc,
            f"{target.entry.name} can't be differentiated: {target.entry.note}",
            chain=self.chain(a.name),
            fixes=["mark the value constant with srcgrad.stop_gradient(...)"],
        )

    def spreads(self, obj: ir.Atom, key: ir.Key) -> bool:
        """Whether adding one number at a key of an array adds it to each of the elements."""
        array = isinstance(self.unit.facts.of(obj), ty.Array)
        if not self.unit.basic(key):  # which the helpers of compiled code take arrays for
            chosen = self.is_mask(key) or surely_copies(self.unit.facts, key)
            array = array and chosen and self.module.backend != "numba"
        return array and not (isinstance(obj, ir.Var) and obj.name in self.lanes.masked)

    def apply(self, stmt: ir.Assign, terms: list[Term], name: str) -> None:
        """Contributions of a value: the cotangent, then undoing, then each term."""
        adj = self.state[name]
        mentions = sum(t.cotangents() for t in terms)
        if adj.thin and not all(self.takes_thin(t, name) for t in terms):
            self.full(name)
        thin = self.state[name].thin
        early = self.reads_result(terms, name) and self.overwritten(stmt)
        g = self.take(name, mentions)
        # What is handed on as it is, to one operand alone, is that operand's own.
        handed = g.id if adj.owned and mentions == 1 and isinstance(g, ast.Name) else None
        if early:
            kept = self.text.names.temporary()
            self.emit(syn.assign(kept, syn.name(self.text.var(name))))
            out: ast.expr = syn.name(kept)
        else:
            out = syn.name(self.text.var(name))
        g = self.after_undo(stmt, g)
        terms, g = self.in_order(terms, g)
        self.share(terms, g, out)
        mask = self.masks.take(name)
        for term in terms:
            self.term(term, g, out, thin, name, mask, handed)
        self.shared = {}  # they are this statement's alone

    def share(self, terms: list[Term], g: ast.expr, out: ast.expr) -> None:
        """Bind what several formulas of a rule have in common (its `let`) to names."""
        self.shared = {}
        if len(terms) < 2 or not terms[0].let:
            return
        used = [set(_names(t.raw)) for t in terms if t.raw is not None]
        for n, f in terms[0].let.items():
            if sum(n in u for u in used) < 2:
                continue
            kept = self.text.names.temporary()
            whole = replace(terms[0], formula=expand_let(f.node, terms[0].let), raw=None)
            self.emit(syn.assign(kept, syn.simplify(self.formula(whole, g, out))))
            self.shared[n] = syn.name(kept)

    def in_order(self, terms: list[Term], g: ast.expr) -> tuple[list[Term], ast.expr]:
        """A term that changes an adjoint which the cotangent is made of comes last; where several
        do, the cotangent is put aside first: `s = s * s` with the cotangent `s_bar`."""
        mentioned = syn.names_in(g)
        changing = [
            t
            for t in terms
            if isinstance(t.operand, ir.Var)
            and self.unit.is_active(t.operand)
            and self.disturbed(t.operand.name) & mentioned
        ]
        packed = any(isinstance(t.operand, Packed) for t in terms)
        if len(changing) > 1 or (packed and mentioned):
            kept = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept, g))
            return terms, kept
        return [t for t in terms if t not in changing] + changing, g

    def reads_result(self, terms: list[Term], name: str) -> bool:
        del name
        return any(t.reads_out() for t in terms)

    def overwritten(self, stmt: ir.Assign) -> bool:
        return any(
            s.when == "before" and s.var == stmt.target.name
            for s in self.found.saves.get(stmt.sid, ())
        )

    def takes_thin(self, term: Term, name: str) -> bool:
        if isinstance(term.operand, Packed):
            return False
        return takes_thin(term, self.unit.facts.of(term.operand), self.unit.type(name))

    # ---- terms ------------------------------------------------------------------------------

    def term(
        self,
        term: Term,
        g: ast.expr,
        out: ast.expr,
        thin: bool,
        name: str,
        mask: Mask | None = None,
        handed: str | None = None,
    ) -> None:
        g = self.spread_by_itself(term, g, name)
        node = self.formula(term, g, out)
        if _literal(node) and syn.is_number(node, 0):
            return
        if isinstance(term.operand, Packed):
            self.spread(term, node)
            return
        operand = term.operand
        assert isinstance(operand, ir.Var)
        result = self.unit.type(name)
        still_thin = thin and stays_thin(self.unit.facts, term, result)
        formula = node
        node, mask = self.masks.contribution(term, mask, node, g, result)
        if node is g and formula is not g:
            still_thin = thin
        elif node is not formula:
            still_thin = still_thin and not (mask is not None and same_shape(mask.type, result))
        self.masks.put(operand.name, mask)
        if term.fills:
            self.contribute(operand, node, False, True)
            return
        fresh = is_fresh(syn.simplify(node))
        fresh |= isinstance(node, ast.Name) and node.id == handed
        if term.reduces:
            node, fresh = self.reduce(term, operand, node, name, fresh)
        self.contribute(operand, node, fresh and not still_thin, still_thin)

    def spread_by_itself(self, term: Term, g: ast.expr, name: str) -> ast.expr:
        """A cotangent that a sum over an axis spreads, as it is where the formula spreads it: what
        else is in it has all the elements."""
        t = self.unit.type(name)
        if term.entry.kind != "elementwise" or not isinstance(t, ty.Array):
            return g
        whole = [a for a in term.values if same_shape(self.unit.facts.of(a), t)]
        return spread_alone(g, len(t.dims), {}) if whole or term.reads_out() else g

    def reduce(
        self, term: Term, operand: ir.Var, node: ast.expr, name: str, fresh: bool
    ) -> tuple[ast.expr, bool]:
        """Sum a contribution down to the shape of its operand."""
        t, result = self.unit.facts.of(operand), self.unit.type(name)
        if term.entry.of_parts:
            return self.module.support("match_parts", node, self.shape_of(operand)), fresh
        if isinstance(t, ty.Number) and isinstance(result, ty.Array):
            total = self.module.numpy("sum", node)
            real = is_complex(result) and not issubclass(t.cls, complex | np.complexfloating)
            return ast.Attribute(total, "real", ast.Load()) if real else total, True
        if isinstance(t, ty.Number) and isinstance(result, ty.Number):
            return ast.Attribute(node, "real", ast.Load()), True
        if isinstance(t, ty.Number):
            return self.module.support("unbroadcast", node, zero_number(t)), False
        axes = summed_axes(t, result)
        if axes is not None:
            return self.module.numpy("sum", node, **axes), True
        return self.module.support("unbroadcast", node, self.shape_of(operand)), False

    def shape_of(self, operand: ir.Var) -> ast.expr:
        """Something of the operand's shape: its shadow where it has one."""
        if self.found.needs.has_shadow(operand):
            return self.bar_node(operand.name)
        return self.primal(operand)

    def formula(self, term: Term, g: ast.expr, out: ast.expr) -> ast.expr:
        """The term's formula with the call's own operands."""
        if not self.is_float_formula(term):
            g = syn.deciding(g)
        parts: dict[str, ast.expr] = {"g": g, "out": out}
        formula = term.formula
        if self.shared and term.raw is not None and set(_names(term.raw)) & set(self.shared):
            rest = {n: f for n, f in term.let.items() if n not in self.shared}
            formula = expand_let(term.raw, rest)
            parts |= self.shared
        for n in _names(formula):
            if n in HELPERS or n in parts or n not in term.env:
                continue
            parts[n] = self.bound(term.env[n])
        return syn.substitute(self.module.formula(formula), parts)

    def is_float_formula(self, term: Term) -> bool:
        """Whether a formula without its cotangent surely has a floating value."""
        if term.compares():
            return False
        types = [self.unit.facts.of(a) for a in term.reads]
        return all(
            ty.can_be_active(t) and not isinstance(t, ty.Unknown)
            for t in types
            if isinstance(t, ty.Number | ty.Array | ty.Unknown)
        )

    def bound(self, b: Bound | ast.expr) -> ast.expr:
        if isinstance(b, ast.expr):
            return b
        if isinstance(b, Packed):
            items = [self.primal(ir.unstar(i)) for i in b.items]
            return syn.tuple_of(items)
        return self.primal(b)

    def spread(self, term: Term, node: ast.expr) -> None:
        """Several operands at once (`np.maximum.reduce`, `max(a, b, c)`): a tuple of
        contributions."""
        assert isinstance(term.operand, Packed)
        active = [
            (k, i) for k, i in enumerate(term.operand.items) if self.unit.is_active(ir.unstar(i))
        ]
        if len(active) > 1:
            kept = self.text.names.temporary()
            self.emit(syn.assign(kept, node))
            node = syn.name(kept)
        for k, item in active:
            self.contribute(ir.unstar(item), syn.expr("t[k]", t=node, k=syn.number(k)), False)


def summed_axes(operand: ty.Type, result: ty.Type) -> dict[str, ast.expr] | None:
    """The arguments of `np.sum` that take a cotangent to the operand's shape, where they are
    known."""
    if not isinstance(operand, ty.Array) or not isinstance(result, ty.Array):
        return None
    m, n = operand.dims, result.dims
    lead = len(n) - len(m)
    if not m or lead < 0 or is_complex(result) != is_complex(operand):
        return None
    tail = n[lead:]
    ones = [
        lead + k for k, (a, b) in enumerate(zip(m, tail, strict=True)) if a == "1" and b != "1"
    ]
    same = all(keeps_length(a, b) for a, b in zip(m, tail, strict=True) if a != "1")
    if not same or (lead and ones):
        return None
    axes = list(range(lead)) or ones
    axis = syn.number(axes[0] if len(axes) == 1 else tuple(axes))
    return {"axis": axis} if lead else {"axis": axis, "keepdims": syn.number(True)}
