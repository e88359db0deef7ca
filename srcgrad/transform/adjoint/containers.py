"""Lists, tuples and dicts: copies, reads, and methods that change them."""

from __future__ import annotations

import ast

from srcgrad.analysis.targets import Construct, Container, Uncharted, bound_atoms
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.places import Places


class Containers(Places):
    """The reverse of what is done with containers."""

    def container_rule(self, stmt: ir.Assign, expr: ir.Expr, target: Container) -> None:
        """Containers kept by value: copies and reads of them."""
        g = self.take_full(stmt.target.name)
        g = self.after_undo(stmt, g)
        match target.name:
            case "concat":
                assert isinstance(expr, ir.Op)
                first, second = expr.args
                g = self.hold(g, expr.args)
                cut = syn.call("len", self.primal(first))
                self.contribute(first, syn.expr("g[:n]", g=g, n=cut), False)
                self.contribute(second, syn.expr("g[n:]", g=g, n=cut), False)
            case "alias" | "list" | "tuple" | "dict" | "copy":
                source = ir.operands(expr)[1 if isinstance(expr, ir.Call) else 0]
                self.contribute(source, self.module.support("like", g, self.primal(source)), False)
            case "get":
                assert isinstance(expr, ir.Method)
                self.get_rule(expr, g)
            case "values" | "items":
                raise self.unsupported(stmt, f"dict.{target.name}() outside a for loop")
            case _:
                raise self.no_rule(stmt, expr, Uncharted(f"the method {target.name}", ""))

    def get_rule(self, expr: ir.Method, g: ast.expr) -> None:
        """`d.get(k, default)`: the item when it is there."""
        if isinstance(expr.obj, ir.Var) and self.unit.is_active(expr.obj):
            g = self.apart(g, expr.obj)
            if self.unit.kind(expr.obj.name) != "memory":
                self.own_container(expr.obj.name)
            key = self.primal(ir.unstar(expr.args[0]))
            bar = self.bar_node(expr.obj.name)
            added = ast.Expr(self.module.support("item_add", bar, key, g))
            self.emit(ast.If(ast.Compare(key, [ast.In()], [bar]), [added], []))
        if len(expr.args) > 1:
            default = ir.unstar(expr.args[1])
            if self.unit.is_active(default):
                key, obj = self.primal(ir.unstar(expr.args[0])), self.primal(expr.obj)
                node = ast.IfExp(ast.Compare(key, [ast.In()], [obj]), syn.number(0.0), g)
                self.contribute(default, node, False)

    def container_memory(
        self, stmt: ir.Assign, expr: ir.Expr, target: Container | Construct, g: ast.expr
    ) -> None:
        if isinstance(target, Construct):
            for f, b in zip(target.fields, target.args, strict=True):
                (a,) = bound_atoms(b)
                if issubclass(target.cls, tuple):
                    k = target.cls._fields.index(f)  # type: ignore[attr-defined]
                    self.part_back(a, syn.expr("g[k]", g=g, k=syn.number(k)))
                else:
                    self.part_back(a, ast.Attribute(g, f, ast.Load()))
            return
        if isinstance(target, Container) and isinstance(expr, ir.Op):
            cut = syn.call("len", self.primal(expr.args[0]))
            for a, part in zip(expr.args, ("g[:n]", "g[n:]"), strict=True):
                if (
                    isinstance(a, ir.Var)
                    and self.unit.is_active(a)
                    and self.unit.kind(a.name) == "memory"
                ):
                    back = self.module.support(
                        "copy_back", self.shadow(a), syn.expr(part, g=g, n=cut)
                    )
                    self.emit(ast.Expr(back))
                else:
                    self.contribute(a, syn.expr(part, g=g, n=cut), False)
            return
        if isinstance(target, Container) and isinstance(expr, ir.Call):
            source = ir.operands(expr)[-1]
            if isinstance(source, ir.Var) and self.unit.is_active(source):
                self.emit(ast.Expr(self.module.support("copy_back", self.shadow(source), g)))
            return
        if isinstance(target, Container) and target.name == "pop" and isinstance(expr, ir.Method):
            key = self.primal(ir.unstar(expr.args[0])) if expr.args else syn.number(-1)
            obj, bar = self.primal(expr.obj), self.shadow(expr.obj)
            item = syn.name(self.text.var(stmt.target.name))
            del item
            self.emit(
                ast.Expr(
                    self.module.support("pop_back", obj, bar, key, self.slots.popped(stmt), g)
                )
            )
            return
        if isinstance(target, Container) and target.name == "copy":
            assert isinstance(expr, ir.Method)
            self.emit(ast.Expr(self.module.support("copy_back", self.shadow(expr.obj), g)))
            return
        if isinstance(target, Container) and target.name == "get":
            assert isinstance(expr, ir.Method)
            self.get_back(expr, g)
            return
        raise self.no_rule(stmt, expr, Uncharted("this container method", ""))

    def get_back(self, expr: ir.Method, g: ast.expr) -> None:
        """`d.get(k, default)` of what may be written into: it has the item's own shadow, and what
        is a number comes back by value."""
        key, obj = self.primal(ir.unstar(expr.args[0])), self.primal(expr.obj)
        found: list[ast.stmt] = []
        if isinstance(expr.obj, ir.Var) and self.unit.is_active(expr.obj):
            back = self.module.support("part_back", self.bar_node(expr.obj.name), key, g)
            found.append(ast.Expr(back))
        missing: list[ast.stmt] = []
        if len(expr.args) > 1:
            outer, self.out = self.out, missing
            self.part_back(ir.unstar(expr.args[1]), g)
            self.out = outer
        self.out += syn.conditional(ast.Compare(key, [ast.In()], [obj]), found, missing)

    def takes_from_list(self, stmt: ir.Assign) -> bool:
        """`s = tape.pop()` of a number, from a list with a shadow."""
        target, expr = self.unit.facts.targets.get(stmt.sid), stmt.value
        return (
            isinstance(target, Container)
            and target.name == "pop"
            and isinstance(expr, ir.Method)
            and isinstance(expr.obj, ir.Var)
            and self.unit.is_active(expr.obj)
        )

    def put_back(self, stmt: ir.Assign) -> None:
        """The reverse of `s = tape.pop()`: s and its adjoint return to their places."""
        name, expr = stmt.target.name, stmt.value
        assert isinstance(expr, ir.Method)
        g = self.take_full(name) if name in self.state else syn.number(0.0)
        key = self.primal(ir.unstar(expr.args[0])) if expr.args else syn.number(-1)
        popped = syn.tuple_of([syn.name(self.text.var(name))])
        obj, bar = self.primal(expr.obj), self.shadow(expr.obj)
        if expr.args:
            self.emit(ast.Expr(self.module.support("pop_back", obj, bar, key, popped, g)))
        else:
            self.emit(ast.Expr(syn.expr("a.append(v)", a=obj, v=syn.name(self.text.var(name)))))
            self.emit(ast.Expr(syn.expr("a.append(g)", a=bar, g=g)))
        self.undo(stmt)

    def shares_shadow(self, a: ir.Atom) -> bool:
        """Whether an item of a list is an array whose shadow is the item of the list's shadow."""
        return self.found.needs.has_shadow(a) and self.found.is_tracked(getattr(a, "name", ""))

    def container_effect(self, stmt: ir.Effect, expr: ir.Method, name: str) -> None:
        obj, bar = self.primal(expr.obj), self.shadow(expr.obj)
        args = [ir.unstar(a) for a in expr.args]
        match name:
            case "append" | "extend" | "insert":
                more: list[ast.expr] = []
                if name == "insert":
                    more = [self.primal(args[0])]
                elif name == "extend":
                    more = [syn.call("len", self.primal(args[0]))]
                g: ast.expr = self.module.support(f"list_{name}_back", obj, bar, *more)
                if name == "append":
                    self.emit(ast.Expr(syn.expr("a.pop()", a=obj)))
                    g = syn.expr("a.pop()", a=bar)
                if not self.unit.is_active(args[-1]) or self.shares_shadow(args[-1]):
                    self.emit(ast.Expr(g))
                elif name == "extend":
                    kept = syn.name(self.text.names.temporary() + "_bar")
                    self.emit(syn.assign(kept, g))
                    self.emit(
                        ast.Expr(self.module.support("copy_back", self.shadow(args[-1]), kept))
                    )
                else:
                    self.part_back_named(args[-1], g)
            case "sort" | "fill":
                from srcgrad.transform.adjoint.arrays import array_effect

                array_effect(self, stmt, expr, name)
            case _:
                raise located(
                    UnsupportedSyntax,
                    stmt.loc,
                    f"the method {name} changes a container that carries a derivative",
                    fixes=["build a new container instead"],
                )
