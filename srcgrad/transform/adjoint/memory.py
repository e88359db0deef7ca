"""Assignments whose target has a shadow: fresh arrays, views, and operations in place."""

from __future__ import annotations

import ast

from srcgrad.analysis.partials import is_imaginary_part
from srcgrad.analysis.targets import Construct, Container, Library
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import userrules
from srcgrad.transform.adjoint.stores import Stores


class Memory(Stores):
    """The reverse of assignments of memory."""

    def assign_memory(self, stmt: ir.Assign, target: object) -> None:
        """The target has a shadow: it is the cotangent, complete, of the fresh array."""
        name = stmt.target.name
        alias = self.unit.aliases(stmt)
        if alias is not None and not self.unit.is_active(alias):
            alias = None  # of integers, where there are floats at other times
        if (
            alias is not None
            and not self.unit.readers.get(name)
            and stmt.sid not in self.found.pairs
        ):
            self.undo(stmt)  # made for its errors alone: it has no shadow
            return
        if is_imaginary_part(self.unit.facts, stmt):
            raise self.unsupported(
                stmt,
                "taking the imaginary part of an array that is written (its adjoint is no view of "
                "the array's adjoint)",
                "store whole complex numbers, z[k] = a + 1j * b, and read z.copy().imag",
            )
        g: ast.expr = self.bar_node(name)
        pair = self.found.pairs.get(stmt.sid)
        if pair is not None:
            kept = self.text.names.temporary() + "_bar"
            self.emit(syn.assign(kept, g))
            g = syn.name(kept)
        if isinstance(target, Library) and userrules.is_rule(target):
            userrules.reverse_memory(self, stmt, target, g)
            return
        if alias is not None and not self.decides_at_run_time(stmt):
            self.undo(stmt)
            return
        if alias is not None:
            self.undo_view(stmt, alias, g)
            return
        expr = stmt.value
        if isinstance(target, Library):
            terms = self.terms(stmt, expr, target)
            goes = pair is not None or self.overwritten(stmt)
            early = goes and any(t.reads_out() for t in terms)
            out: ast.expr = syn.name(self.text.var(name))
            if early:
                kept = self.text.names.temporary()
                self.emit(syn.assign(kept, out))
                out = syn.name(kept)
            self.undo(stmt)
            for term in terms:
                self.term(term, g, out, False, name)
            return
        self.undo(stmt)
        match expr:
            case ir.Var():
                self.part_back(expr, g)
            case ir.Build():
                self.unpack_memory(expr, g)
            case ir.Closure(_, free):
                for k, (_, a) in enumerate(free):
                    self.part_back(a, syn.expr("g[k]", g=g, k=syn.number(k)))
            case ir.Index(obj, key) if target is None:
                self.add_item(stmt, obj, key, g)
            case ir.Const() | ir.Global() | ir.Opaque():
                return
            case _ if isinstance(target, Container | Construct):
                if not self.begins_anew(stmt):
                    self.container_memory(stmt, expr, target, g)
            case _:
                raise self.no_rule(stmt, expr, target)

    def decides_at_run_time(self, stmt: ir.Assign) -> bool:
        """Whether it is not known if an alias shares memory (unknown types, `reshape`)."""
        name = stmt.target.name
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, Library) and target.entry.view == "maybe":
            return True
        if isinstance(stmt.value, ir.Index) and not self.unit.basic(stmt.value.key):
            return True
        alias = self.unit.aliases(stmt)
        assert alias is not None
        known = isinstance(self.unit.type(name), ty.Array) and isinstance(
            self.unit.type(alias.name), ty.Array
        )
        return not known and self.found.is_tracked(name)

    def undo_view(self, stmt: ir.Assign, alias: ir.Var, g: ast.expr) -> None:
        """A value of unknown type that may be a part of `alias`, or a number or copy taken from
        it."""
        self.undo(stmt)
        target = self.unit.facts.targets.get(stmt.sid)
        name = stmt.target.name
        if isinstance(stmt.value, ir.Index):
            place = self.bar_node(alias.name)
            node = self.module.support("part_back", place, self.key_value(stmt.value.key), g)
            self.emit(ast.Expr(node))
            return
        if isinstance(target, Library):
            terms = self.terms(stmt, stmt.value, target)
            body: list[ast.stmt] = []
            outer, self.out = self.out, body
            for term in terms:
                self.term(term, g, syn.name(self.text.var(name)), False, name)
            self.out = outer
            test = ast.UnaryOp(
                ast.Not(), self.module.support("is_part", g, self.bar_node(alias.name))
            )
            self.out += syn.conditional(test, body, [])
            return
        if isinstance(stmt.value, ir.Attr):
            node = self.module.support(
                "attr_back", self.bar_node(alias.name), ast.Constant(stmt.value.name), g
            )
            self.emit(ast.Expr(node))
            return
        self.part_back(alias, g)

    def inplace(self, stmt: ir.Assign, target: object) -> None:
        """`u op= e` on an array: a store of the operation's result into u[...]."""
        name = stmt.target.name
        if not isinstance(stmt.value, ir.Op) or not isinstance(target, Library):
            raise self.no_rule(stmt, stmt.value, target)
        operand = stmt.value.args[1]
        if isinstance(self.unit.type(name), ty.Array):
            self.inplace_array(stmt, target, operand)
            return
        pair = self.slots.inplace_slot(stmt)
        g = syn.name(self.text.names.temporary() + "_bar")
        u, u_bar = self.text.var(name), self.bar(name)
        terms = self.terms(stmt, stmt.value, target)
        out: ast.expr = syn.name(u)
        if any(t.reads_out() for t in terms):
            out = syn.name(self.text.names.temporary())
            self.emit(syn.assign(out, self.module.support("own", syn.name(u))))
        undo = self.module.support("inplace_undo", syn.name(u), syn.name(u_bar), pair)
        target_node = syn.tuple_of([g, syn.name(u), syn.name(u_bar)])
        self.emit(syn.assign(target_node, undo))
        for term in terms:
            self.term(term, g, out, False, name)

    def inplace_array(self, stmt: ir.Assign, target: Library, operand: ir.Atom) -> None:
        name, op = stmt.target.name, stmt.inplace
        shares = isinstance(operand, ir.Var) and (
            self.unit.fx.memory(operand.name)
            and self.unit.fx.root(operand.name) == self.unit.fx.root(name)
        )
        bar = self.bar_node(name)
        active = self.unit.is_active(operand)
        if op in ("add", "sub") and not shares:
            self.undo(stmt)
            if active:
                node = bar if op == "add" else syn.negative(bar)
                self.store_contribution(operand, node, self.unit.type(name), False)
            return
        if op in ("mul", "truediv") and not active and not shares:
            self.undo(stmt)
            kind = ast.Mult() if op == "mul" else ast.Div()
            self.emit(
                ast.AugAssign(ast.Name(self.bar(name), ast.Store()), kind, self.primal(operand))
            )
            return
        g = syn.name(self.text.names.temporary() + "_bar")
        self.emit(syn.assign(g, syn.expr("u.copy()", u=bar)))
        self.emit(syn.assign(syn.expr("u[...]", u=bar), syn.number(0.0)))
        kept: ast.expr = syn.name(self.text.var(name))
        terms = self.terms(stmt, stmt.value, target)
        if any(t.reads_out() for t in terms):
            held = self.text.names.temporary()
            self.emit(syn.assign(held, syn.expr("u.copy()", u=kept)))
            kept = syn.name(held)
        self.undo(stmt)
        for term in terms:
            self.term(term, g, kept, False, name)
