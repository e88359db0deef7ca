"""The tangents of what is written in place: `u op= e` and `u[k] = e`."""

from __future__ import annotations

import ast

from srcgrad.analysis.partials import HELPERS, _names, jvp_terms
from srcgrad.analysis.refused.outside import written_outside
from srcgrad.analysis.targets import Library
from srcgrad.errors import MissingRule, NotDifferentiable, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.python import OPERATORS
from srcgrad.transform import syntax as syn
from srcgrad.transform.keys import attributes_of, key_value
from srcgrad.transform.operators import operation
from srcgrad.transform.tangent.containers import Containers


class Memory(Containers):
    """Stores of tangents beside the stores of values."""

    def operator_tangent(
        self, op: str, left: tuple[ast.expr, ast.expr], e: ir.Atom, place: ty.Type
    ) -> ast.expr:
        """The tangent of `left op e`; left is (primal, tangent)."""
        entry = self.unit.program.rule(OPERATORS[op])
        assert entry is not None
        if entry.kind == "nondiff":
            return syn.number(0.0)
        assert entry.params is not None
        one, two = list(entry.params.parameters)[:2]
        held = ir.Var("%held")
        self.unit.facts.types[held.name] = place
        call = Library(entry, ((one, held), (two, e)))
        total: ast.expr | None = None
        out = operation(op, [left[0], self.primal(e)])
        for param in (one, two):
            if param == two and not self.active(e):
                continue
            found = jvp_terms(self.unit.facts, call, param)
            if found is None:
                continue
            formula, env = found
            tangent = left[1] if param == one else self.dot(e)
            parts: dict[str, ast.expr] = {"g": tangent, f"{param}_dot": tangent, "out": out}
            for n in _names(formula):
                if n in HELPERS or n in parts or n not in env:
                    continue
                parts[n] = left[0] if n == one else self.bound(env[n])
            node = syn.simplify(syn.substitute(self.module.formula(formula), parts))
            total = node if total is None else syn.add(total, node)
        assert total is not None
        return total

    def inplace(self, stmt: ir.Assign) -> None:
        """`u op= e` on an array or something of unknown type."""
        name, op = stmt.target.name, stmt.inplace
        if op is None or not isinstance(stmt.value, ir.Op):
            raise located(
                MissingRule,
                stmt.loc,
                "no derivative rule for this in-place operation: its types are not known",
                fixes=["write it as an assignment of a new value"],
            )
        e, t = stmt.value.args[1], self.unit.type(name)
        u, dot = self.primal_name(stmt.target), syn.name(self.dot_name(name))
        if isinstance(t, ty.Array):
            if op in ("add", "sub"):
                if self.active(e):
                    kind = ast.Add() if op == "add" else ast.Sub()
                    self.emit(ast.AugAssign(ast.Name(dot.id, ast.Store()), kind, self.dot(e, 1)))
                return
            node = self.operator_tangent(op, (u, dot), e, t)
            self.emit(syn.assign(syn.expr("a[...]", a=dot), node))
            return
        if self.list_extend(stmt, e):
            return
        node = self.operator_tangent(op, (u, dot), e, ty.UNKNOWN)
        made, old = self.text.names.temporary(), self.text.names.temporary()
        self.emit(syn.assign(made, node))
        self.emit(syn.assign(old, u))
        back = self.support("inplace_dot", u, syn.name(old), dot, syn.name(made))
        self.late.setdefault(stmt.sid, []).append(syn.assign(self.dot_name(name), back))

    def list_extend(self, stmt: ir.Assign, e: ir.Atom) -> bool:
        if not isinstance(self.unit.type(stmt.target.name), ty.List) or stmt.inplace != "add":
            return False
        self.emit(
            ast.AugAssign(
                ast.Name(self.dot_name(stmt.target.name), ast.Store()), ast.Add(), self.dot(e)
            )
        )
        return True

    def store(self, stmt: ir.Store) -> None:
        """`u[k] = e`: the same store of tangents."""
        if not isinstance(stmt.base, ir.Var):
            raise written_outside(stmt)
        t = self.unit.type(stmt.base.name)
        if isinstance(t, ty.Array) and not ty.can_be_active(t) and self.active(stmt.value):
            raise located(
                NotDifferentiable, stmt.loc,
                f"a value with a derivative is stored into {stmt.base.name}, "
                f"whose dtype {t.dtype} "
                "truncates it",
                fixes=["make the array of floats, for instance np.zeros(n)"],
            )  # fmt: skip
        key = self.printer({}).key(stmt.key)
        dot = self.dot(stmt.base)
        place = ast.Subscript(dot, key, ast.Load())
        if stmt.op is None:
            if isinstance(t, ty.Array):
                value = self.dot(stmt.value, 1) if self.active(stmt.value) else syn.number(0.0)
                self.emit(syn.assign(place, value))
                return
            value = self.dot(stmt.value)
            if not self.active(stmt.value):
                value = self.support("bar", self.primal(stmt.value))
            made = self.support(
                "store_dot", self.primal(stmt.base), dot, self.key_value(stmt.key), value
            )
            self.emit(ast.Expr(made))
            return
        if stmt.op in ir.AT_OPERATORS:
            if self.active(stmt.value):
                fn = f"{ir.AT_OPERATORS[stmt.op]}.at"
                node = self.module.numpy(fn, dot, self.key_value(stmt.key), self.dot(stmt.value))
                self.emit(ast.Expr(node))
            return
        if stmt.op in ("add", "sub"):
            if self.active(stmt.value):
                kind = ast.Add() if stmt.op == "add" else ast.Sub()
                self.emit(ast.AugAssign(syn._as_store(place), kind, self.dot(stmt.value, 1)))  # type: ignore[arg-type]
            return
        old = ast.Subscript(self.primal(stmt.base), key, ast.Load())
        node = self.operator_tangent(stmt.op, (old, place), stmt.value, self.unit.place_type(stmt))
        self.emit(syn.assign(place, node))

    def store_attr(self, stmt: ir.StoreAttr) -> None:
        """`obj.name = e`: the same attribute of the tangent."""
        if not isinstance(stmt.base, ir.Var):
            raise written_outside(stmt)
        value = self.dot(stmt.value)
        if not self.active(stmt.value):
            value = self.support("bar", self.primal(stmt.value))
        held, dots = (
            attributes_of(self.unit, self.module, stmt, obj)
            for obj in (self.primal(stmt.base), self.dot(stmt.base))
        )
        self.emit(ast.Expr(self.support("store_dot", held, dots, ast.Constant(stmt.name), value)))

    def key_value(self, key: ir.Key) -> ast.expr:
        return key_value(key, self.primal)
