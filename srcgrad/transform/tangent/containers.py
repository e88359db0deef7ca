"""The tangents of containers: displays, methods and effects."""

from __future__ import annotations

import ast

from srcgrad.analysis.targets import Construct, Container, Library, Uncharted, bound_atoms
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.runtime import support
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.arrays import library_effect
from srcgrad.transform.keys import fields_of, record_of
from srcgrad.transform.tangent.libraries import Libraries


class Containers(Libraries):
    """A container of values has a container of tangents."""

    def display(self, expr: ir.Build) -> ast.expr:
        items: list[ast.expr] = []
        for i in expr.items:
            node = self.dot(ir.unstar(i), 1)
            items.append(ast.Starred(node, ast.Load()) if isinstance(i, ir.Star) else node)
        if expr.kind == "dict":
            keys = [None if k is None else self.primal(k) for k in expr.keys]
            return ast.Dict(keys, items)
        return (
            ast.Tuple(items, ast.Load()) if expr.kind == "tuple" else ast.List(items, ast.Load())
        )

    def construct(self, stmt: ir.Assign, expr: ir.Expr, target: Construct) -> None:
        """An object of the tangents of its fields."""
        given = {
            f: self.dot(a, 1)
            for f, b in zip(target.fields, target.args, strict=True)
            for a in bound_atoms(b)
        }
        here = self.primal_name(stmt.target)
        fields, late = fields_of(self.module, target, given, here)
        if late:
            self.text.named.add(stmt.target.name)
        if issubclass(target.cls, tuple) and isinstance(expr, ir.Call):
            node: ast.expr = ast.Call(self.text.atom(expr.fn), list(fields.values()), [])
        else:
            node = record_of(self.module, fields)
        self.bind(stmt, node, late)

    def container(self, stmt: ir.Assign, expr: ir.Expr, target: Container) -> None:
        if isinstance(expr, ir.Op):
            dots = [self.support("like_items", self.dot(a), self.primal(a)) for a in expr.args]
            self.bind(stmt, ast.BinOp(dots[0], ast.Add(), dots[1]))
            return
        if isinstance(expr, ir.Call):
            source = ir.operands(expr)[1] if len(ir.operands(expr)) > 1 else None
            if source is None or not self.active(source):
                self.bind_zero(stmt)
            elif isinstance(expr.fn, ir.Global) and expr.fn.value is support.keyed:
                self.bind(stmt, self.dot(source, 1))  # the table itself, not its keys
            elif target.name == "alias":
                self.bind(stmt, self.support("alias_dot", self.dot(source), self.primal(source)))
            else:
                self.bind(stmt, syn.call(target.name, self.dot(source, 1)))
            return
        assert isinstance(expr, ir.Method)
        if target.name == "get" and len(expr.args) > 1:
            self.bind(stmt, self.got(expr))
            return
        if not self.active(expr.obj):
            self.bind_zero(stmt)
            return
        if target.name in ("pop", "get", "copy", "setdefault", "values", "items"):
            args: list[ast.expr] = [self.primal(ir.unstar(a)) for a in expr.args]
            if target.name == "setdefault" and len(args) > 1:
                args[1] = self.dot(ir.unstar(expr.args[1]))
            method = ast.Attribute(self.dot(expr.obj), target.name, ast.Load())
            if target.name in ("values", "items"):
                raise located(
                    UnsupportedSyntax, stmt.loc, f"dict.{target.name}() outside a for loop",
                    fixes=["loop over the keys"],
                )  # fmt: skip
            self.bind(stmt, ast.Call(method, args, []))
            return
        raise self.no_rule(stmt, expr, Uncharted(f"the method {target.name}", ""))

    def got(self, expr: ir.Method) -> ast.expr:
        """The tangent of `d.get(key, default)`: of the item, if it is there."""
        key, default = (ir.unstar(a) for a in expr.args)
        item: ast.expr
        if self.active(expr.obj):
            item = ast.Subscript(self.dot(expr.obj), self.primal(key), ast.Load())
        else:
            value = ast.Subscript(self.primal(expr.obj), self.primal(key), ast.Load())
            item = self.support("full_tangent", syn.number(None), value)
        there = ast.Compare(self.primal(key), [ast.In()], [self.primal(expr.obj)])
        return ast.IfExp(there, item, self.dot(default, 1))

    def effect(self, stmt: ir.Effect | ir.Assign) -> None:
        target = self.unit.facts.targets.get(stmt.sid)
        expr = stmt.value
        if isinstance(target, Container) and isinstance(expr, ir.Method):
            if not self.active(expr.obj) or (isinstance(stmt, ir.Assign) and target.name != "pop"):
                return
            args = [ir.unstar(a) for a in expr.args]
            dots = [self.dot(a) for a in args]
            match target.name:
                case "append" | "extend":
                    pass
                case "insert":
                    dots[0] = self.primal(args[0])
                case "pop" | "clear" | "reverse":
                    dots = [self.primal(a) for a in args]
                case _:
                    raise located(
                        UnsupportedSyntax, stmt.loc,
                        f"the method {target.name} changes a value that carries a derivative",
                        fixes=["build a new one instead"],
                    )  # fmt: skip
            method = ast.Attribute(self.dot(expr.obj), target.name, ast.Load())
            self.emit(ast.Expr(ast.Call(method, dots, [])))
            return
        if isinstance(target, Library) and target.entry.kind == "parallel":
            self.emit(ast.Expr(self.moved(target)))
            return
        if isinstance(target, Library):
            library_effect(stmt, target)
        if isinstance(target, Container) and target.name == "alias":
            return  # a check whose result has no name
        raise self.no_rule(stmt, expr, target)
