"""The tangents of library functions, from the partials of their rules."""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.analysis.partials import HELPERS, _names, jvp_terms
from srcgrad.analysis.targets import Bound, Library, Packed, bound_atoms
from srcgrad.errors import MissingRule, NotDifferentiable, located
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import function_text
from srcgrad.transform.tangent import userrules
from srcgrad.transform.tangent.base import RESULT_HERE
from srcgrad.transform.tangent.binding import Binding

# Parameters that say where, and those besides adjoints whose values are moved.
_PLACES = ("key", "k", "name", "count")
_MOVED = ("b", "ct", "made")


class Libraries(Binding):
    """Sums of partials, and linear functions, which are their own tangents."""

    def library(self, stmt: ir.Assign, call: Library) -> None:
        if call.called is not None and call.entry.kind == "structured":
            call = call.called  # no forward formulas
        entry = call.entry
        if entry.kind in ("function", "custom", "jvp"):
            userrules.tangent(self, stmt, call)
            return
        if call.called is not None:
            userrules.note_rule(self.module, self.out, call)
        if entry.kind == "nondiff":
            self.bind_zero(stmt)
            return
        if entry.kind == "parallel":
            self.bind(stmt, self.moved(call))
            return
        active = [
            (p, b) for p, b in call.args
            if p not in entry.zero and any(self.active(a) for a in bound_atoms(b))
        ]  # fmt: skip
        if entry.kind == "refuse" and any(self.active(a) for a in ir.operands(stmt.value)):
            raise located(
                MissingRule, stmt.loc, f"{entry.name} can't be differentiated: {entry.note}",
                fixes=["mark the value constant with srcgrad.stop_gradient(...)"],
            )  # fmt: skip
        if not active:
            self.bind_zero(stmt)
            return
        if entry.kind == "linear":
            self.linear(stmt, call, active)
            return
        total: ast.expr | None = None
        late = False
        for param, b in active:
            node, reads = self.term(stmt, call, param, b)
            late = late or reads
            if total is None:
                total = node
            elif self.is_twice(stmt, call, total, node):
                total = _doubled(total)
            else:
                total = userrules.sum_of(self, stmt, entry, total, node)
        assert total is not None
        self.finish(stmt, call, total, late)

    def is_twice(self, stmt: ir.Assign, call: Library, one: ast.expr, two: ast.expr) -> bool:
        """Whether both operands, of `x * x` or of `v @ v`, contribute the same floats."""
        t = self.unit.type(stmt.target.name)
        if isinstance(t, ty.Array):
            plain = t.dtype == np.float64
        else:
            plain = isinstance(t, ty.Number) and issubclass(t.cls, float)
        if not plain:
            return False
        if call.entry.target in (np.matmul, np.dot) and isinstance(t, ty.Number):
            (_, a), (_, b) = call.args[:2]
            v = self.unit.facts.of(a) if isinstance(a, ir.Var) and a == b else None
            return isinstance(v, ty.Array) and v.dtype == np.float64 and len(v.dims) == 1
        return ast.dump(one) == ast.dump(two)

    def moved(self, call: Library) -> ast.expr:
        """The same move of tangents: each active argument is replaced by its tangent, and what is
        added or put somewhere by zero where it has none; the others say where, and of what shape.
        """
        args = []
        for p, b in call.args:
            assert not isinstance(b, Packed)
            if p == "t":  # itself a tangent
                args.append(self.dot(b) if self.active(b) else syn.number(None))
            elif p in _PLACES:
                args.append(self.primal(b))
            else:
                moves = p.endswith("_bar") or p in _MOVED
                args.append(self.dot(b) if moves or self.active(b) else self.primal(b))
        return ast.Call(function_text(self.module, call.entry.target), args, [])

    def term(self, stmt: ir.Assign, call: Library, param: str, b: Bound) -> tuple[ast.expr, bool]:
        """One argument's share of the tangent, and whether it reads the result."""
        found = jvp_terms(self.unit.facts, call, param)
        if found is None:
            raise self.not_differentiable(stmt, call, param, b)
        formula, env = found
        parts: dict[str, ast.expr] = {"out": syn.name(RESULT_HERE)}
        dots = f"{param}_dot"
        mentions = sum(isinstance(n, ast.Name) and n.id in ("g", dots) for n in asts.walk(formula))
        tangent = self.tangent_of_bound(b, mentions)
        parts[dots] = tangent
        if call.entry.kind == "elementwise":
            parts["g"] = tangent
        for n in _names(formula):
            if n in HELPERS or n in parts or n not in env:
                continue
            parts[n] = self.bound(env[n])
        made = syn.substitute(self.module.formula(formula), parts)
        return syn.simplify(made), "out" in _names(formula)

    def tangent_of_bound(self, b: Bound, mentions: int) -> ast.expr:
        if isinstance(b, Packed):
            return syn.tuple_of(self.starred(i, self.dot(ir.unstar(i))) for i in b.items)
        return self.dot(b, mentions)

    def bound(self, b: Bound | ast.expr) -> ast.expr:
        if isinstance(b, ast.expr):
            return b
        if isinstance(b, Packed):
            return syn.tuple_of(self.starred(i, self.primal(ir.unstar(i))) for i in b.items)
        return self.primal(b)

    def not_differentiable(self, stmt: ir.Stmt, call: Library, param: str, b: Bound) -> Exception:
        atoms = [a.name for a in bound_atoms(b) if isinstance(a, ir.Var) and self.active(a)]
        return located(
            NotDifferentiable,
            stmt.loc,
            f"{call.entry.name} has no derivative with respect to {param}",
            chain=self.unit.act.chain(atoms[0]) if atoms else (),
            fixes=[f"give a rule with @srcgrad.rule({call.entry.name})"],
        )

    def linear(self, stmt: ir.Assign, call: Library, active: list[tuple[str, Bound]]) -> None:
        """A function that is linear in its arguments is its own tangent."""
        entry = call.entry
        formulas = {p for p in entry.vjps if entry.vjps[p] is not None}
        for p, b in active:
            if p not in formulas:
                raise self.not_differentiable(stmt, call, p, b)
        args: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        positional = True
        assert entry.params is not None
        kinds = entry.params.parameters
        order = list(kinds)
        for k, (p, b) in enumerate(call.args):
            node = self.linear_argument(b, p in formulas)
            kind = kinds[p].kind if p in kinds else None
            if kind is not None and kind.name == "VAR_POSITIONAL":
                assert isinstance(node, ast.Tuple)
                args += node.elts
                continue
            positional = positional and k < len(order) and order[k] == p
            if positional and kind is not None and kind.name != "KEYWORD_ONLY":
                args.append(node)
            else:
                keywords.append(ast.keyword(p, node))
        value = stmt.value
        if isinstance(value, ir.Attr) and isinstance(self.unit.facts.of(value.obj), ty.Array):
            made: ast.expr = ast.Attribute(args[0], value.name, ast.Load())  # `a.T` as it is
        else:
            made = ast.Call(self.function(stmt, call), args, keywords)
        self.finish_linear(stmt, call, made)

    def function(self, stmt: ir.Assign, call: Library) -> ast.expr:
        """The function called, as text: an operator or method becomes its function."""
        if isinstance(stmt.value, ir.Call) and isinstance(stmt.value.fn, ir.Global):
            return self.module.atom(stmt.value.fn)
        return function_text(self.module, call.entry.target)

    def linear_argument(self, b: Bound, linear: bool) -> ast.expr:
        if isinstance(b, Packed):
            which = self.dot if linear else self.primal
            items = [self.starred(i, which(ir.unstar(i))) for i in b.items]
            return ast.Tuple(items, ast.Load())
        if not linear:
            return self.primal(b)
        t, row = self.unit.facts.of(b), self.unit.facts.is_row(b)
        if isinstance(t, ty.List | ty.Tuple | ty.Unknown) and self.active(b) and not row:
            return self.support("filled", self.dot(b, 1), self.primal(b))
        return self.dot(b, 1)


def _doubled(node: ast.expr) -> ast.expr:
    two = syn.number(2.0)
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            return ast.BinOp(ast.BinOp(two, ast.Mult(), left), ast.Mult(), right)
    return ast.BinOp(two, ast.Mult(), node)
