"""How the tangent of an assignment's target is bound: at once, folded into its use, or behind the
statement."""

from __future__ import annotations

import ast

from srcgrad.analysis.targets import Library
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.fresh import copied, is_fresh, parts_of
from srcgrad.transform.tangent.base import RESULT_HERE, Base


class Binding(Base):
    """Tangents get their names, their shapes and memory of their own."""

    def bind(self, stmt: ir.Assign, node: ast.expr, late: bool = False) -> None:
        """Bind the tangent of a statement's target."""
        name = stmt.target.name
        node = syn.simplify(node)
        if late:
            made = syn.assign(self.dot_name(name), node)
            self.late.setdefault(stmt.sid, []).append(made)
            return
        if self.may_wait(stmt):
            self.waiting[name] = node
            return
        if isinstance(node, ast.Name) and node.id == self.dot_name(name):
            return
        self.emit(self.bound_to(stmt, node))

    def bound_to(self, stmt: ir.Assign, node: ast.expr) -> ast.stmt:
        """`s_dot += e` where s is a number, as `s += e` is its primal; else an assignment."""
        dot = self.dot_name(stmt.target.name)
        match node:
            case ast.BinOp(ast.Name(again), op, e) if again == dot:
                if isinstance(self.unit.type(stmt.target.name), ty.Number):
                    return ast.AugAssign(ast.Name(dot, ast.Store()), op, e)
        return syn.assign(dot, node)

    def may_wait(self, stmt: ir.Assign) -> bool:
        """Whether a tangent can be folded into its one use, in the same block."""
        name = stmt.target.name
        if not name.startswith("%"):
            return False
        if len(self.unit.defs.get(name, ())) != 1:
            return False
        readers = self.unit.readers.get(name, ())
        if self.unit.kind(name) == "memory":
            views = [r for r in readers if isinstance(r, ir.Assign) and self.unit.aliases(r)]
            if views or not isinstance(stmt.value, ir.Index):
                return False
        here = self.unit.place[stmt.sid][:-1], self.unit.place[stmt.sid][-1][0]
        spots = [self.unit.place[r.sid] for r in readers]
        return all((p[:-1], p[-1][0]) == here for p in spots)

    def bind_zero(self, stmt: ir.Assign) -> None:
        t = self.unit.type(stmt.target.name)
        if isinstance(t, ty.Number):
            self.bind(stmt, syn.number(0.0))
            return
        # The shape is known only once the value is.
        self.text.named.add(stmt.target.name)
        node = self.primal_name(stmt.target)
        if isinstance(t, ty.Array):
            shape, dtype = (ast.Attribute(node, k, ast.Load()) for k in ("shape", "dtype"))
            self.bind(stmt, self.module.numpy("zeros", shape, dtype), late=True)
        else:
            made = self.support("full_tangent", syn.number(None), node)
            self.bind(stmt, made, late=True)

    def finish(self, stmt: ir.Assign, call: Library, node: ast.expr, late: bool) -> None:
        """Bind a tangent: of the result's shape; memory of its own where it is written later."""
        name = stmt.target.name
        memory = self.unit.kind(name) == "memory"
        if memory and call.entry.view != "never" and self.unit.aliases(stmt) is not None:
            here = {RESULT_HERE: self.primal_name(stmt.target)}
            self.finish_linear(stmt, call, syn.substitute(node, here))
            return
        if self.spreads(stmt, call):
            late = True
            node = self.support("broadcast_like", node, syn.name(RESULT_HERE))
        node = syn.simplify(node)
        if memory and not is_fresh(node):
            late = True
            node = self.support("tangent_like", node, syn.name(RESULT_HERE))
        elif parts_of(node) & self.written:
            # `y = x + 1.0` has x's tangent: a copy of it where x is written to.
            node = copied(self.module, node, self.unit.type(name))
        if late:
            self.text.named.add(name)
            self.bind_late(stmt, node)
        else:
            self.bind(stmt, node)

    def bind_late(self, stmt: ir.Assign, node: ast.expr) -> None:
        """A tangent that reads the result is computed after it; what it reads must still be
        there."""
        name = self.text.var(stmt.target.name)
        dot = self.dot_name(stmt.target.name)
        clash = name in syn.names_in(node)  # the tangent reads the older value of the same name
        if clash:
            # v = f(v): the result gets a name of its own first.
            kept = self.text.names.temporary()
            value = self.printer({}).expr(stmt.value)
            self.emit(syn.assign(kept, value))
            self.kept[stmt.sid] = kept
            self.emit(
                syn.assign(dot, syn.simplify(syn.substitute(node, {RESULT_HERE: syn.name(kept)})))
            )
            return
        node = syn.simplify(syn.substitute(node, {RESULT_HERE: syn.name(name)}))
        self.late.setdefault(stmt.sid, []).append(syn.assign(dot, node))

    def finish_linear(self, stmt: ir.Assign, call: Library, node: ast.expr) -> None:
        name = stmt.target.name
        if self.unit.kind(name) != "memory":
            self.bind(stmt, node)
            return
        alias = self.unit.aliases(stmt)
        self.text.named.add(name)
        if alias is not None and call.entry.view == "maybe":
            made = self.support(
                "view_dot",
                self.primal_name(stmt.target),
                self.primal(alias),
                node,
                self.dot(alias),
            )
            self.late.setdefault(stmt.sid, []).append(syn.assign(self.dot_name(name), made))
        elif alias is not None:
            self.bind(stmt, node)
        else:
            made = self.support("tangent_like", node, self.primal_name(stmt.target))
            self.late.setdefault(stmt.sid, []).append(syn.assign(self.dot_name(name), made))
