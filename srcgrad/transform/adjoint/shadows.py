"""Shadows: adjoints of memory, made beside the statements of the forward sweep that make it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from srcgrad.analysis.recording import Recording
from srcgrad.analysis.targets import Construct, Container, Library, User, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.base import Swapped
from srcgrad.transform.adjoint.slots import Slots
from srcgrad.transform.keys import fields_of, record_of
from srcgrad.transform.module import Module
from srcgrad.transform.text import Text


@dataclass
class Shadows:
    """What goes beside a statement so that each part of its memory has its adjoint at hand."""

    unit: Unit
    found: Recording
    module: Module
    text: Text
    slots: Slots

    def bar(self, name: str) -> ast.expr:
        return syn.name(self.text.names.suffixed(self.text.var(name), "bar"))

    def tracked(self, name: str) -> bool:
        return (
            self.unit.is_active(name)
            and self.unit.kind(name) == "memory"
            and self.found.is_tracked(name)
        )

    def primal(self, a: ir.Atom) -> ast.expr:
        if isinstance(a, ir.Var):
            return syn.name(self.text.var(a.name))
        return self.module.atom(a)

    def bar_of(self, a: ir.Atom) -> ast.expr:
        """The shadow that goes with a value put into a container: shared, or a zero of its own."""
        if isinstance(a, ir.Var) and self.tracked(a.name):
            if isinstance(self.unit.type(a.name), ty.Array):
                return self.bar(a.name)
            return self.module.support("alias_bar", self.primal(a), self.bar(a.name))
        t = self.unit.facts.of(a)
        if isinstance(t, ty.Number) and t.cls is not bool:  # an int may make way for a float
            return syn.number(0.0)
        if not ty.can_be_active(t) and not isinstance(t, ty.Array):
            return syn.number(None)
        return self.module.support("bar", self.primal(a))

    def shadow(self, stmt: ir.Assign) -> list[ast.stmt]:
        """The statement that makes the shadow of a tracked variable."""
        name = stmt.target.name
        if isinstance(self.unit.facts.targets.get(stmt.sid), User):
            return []  # the callee returns it
        if stmt.inplace is not None:
            if isinstance(self.unit.type(name), ty.Array):
                return []
            slot = self.slots.slot(stmt.sid, "inplace", name, self.slots.in_loop(stmt))
            where = (
                syn.expr("s[-1]", s=syn.name(slot)) if self.slots.in_loop(stmt) else syn.name(slot)
            )
            made = self.module.support("inplace_bar", self.primal(stmt.target), where)
            return [ast.Assign([ast.Name(self.bar_name(name), ast.Store())], made)]
        out: list[ast.stmt] = [syn.assign(self.bar_name(name), self.shadow_expr(stmt))]
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, Container) and target.name == "pop":
            out.append(self.slots.record_popped(stmt))
        return out

    def bar_name(self, name: str) -> str:
        return self.text.names.suffixed(self.text.var(name), "bar")

    def shadow_expr(self, stmt: ir.Assign) -> ast.expr:
        name, expr = stmt.target.name, stmt.value
        target = self.unit.facts.targets.get(stmt.sid)
        here = self.primal(stmt.target)
        alias = self.unit.aliases(stmt)
        if alias is not None and self.unit.is_active(alias):
            return self.alias_shadow(stmt, alias, target)
        match expr:
            case ir.Build("dict", items, keys):
                bars = [self.bar_of(ir.unstar(i)) for i in items]
                return ast.Dict([None if k is None else self.primal(k) for k in keys], bars)
            case ir.Build(_, items, _):
                return ast.List([self.item_bar(i) for i in items], ast.Load())
            case ir.Closure(_, free):
                return ast.List([self.bar_of(a) for _, a in free], ast.Load())
        if isinstance(target, Container):
            return self.container_shadow(stmt, expr, target)
        if isinstance(target, Construct):
            bars = [self.bar_of(a) for b in target.args for a in bound_atoms(b)]
            given = dict(zip(target.fields, bars, strict=True))
            fields, _ = fields_of(self.module, target, given, here)
            if issubclass(target.cls, tuple):
                parts = ast.List(list(fields.values()), ast.Load())
                return self.module.support("named", parts, here)
            return record_of(self.module, fields)
        if isinstance(self.unit.type(name), ty.Array):
            shape = ast.Attribute(here, "shape", ast.Load())
            return self.module.numpy("zeros", shape, ast.Attribute(here, "dtype", ast.Load()))
        return self.module.support("bar", here)

    def item_bar(self, item: ir.Atom | ir.Star) -> ast.expr:
        if isinstance(item, ir.Star):
            return ast.Starred(self.module.support("bar", self.primal(item.value)), ast.Load())
        return self.bar_of(item)

    def alias_shadow(self, stmt: ir.Assign, alias: ir.Var, target: object) -> ast.expr:
        name, expr = stmt.target.name, stmt.value
        here, there, bar = self.primal(stmt.target), self.primal(alias), self.bar(alias.name)
        known = isinstance(self.unit.type(name), ty.Array) and isinstance(
            self.unit.type(alias.name), ty.Array
        )
        maybe = isinstance(target, Library) and target.entry.view == "maybe"
        maybe = maybe or (isinstance(expr, ir.Index) and not self.unit.basic(expr.key))
        if known and not maybe:
            return self.swapped(stmt, alias)
        match expr:
            case ir.Var():
                return self.module.support("alias_bar", there, bar)
            case ir.Index(_, key):
                return self.module.support("part_bar", here, there, bar, self.slots.key_value(key))
            case ir.Attr(_, attr) if target is None:
                return self.module.support("attr_bar", here, bar, ast.Constant(attr))
        if isinstance(target, Container):  # x itself, or the list of a dict's keys
            return self.module.support("view_bar", here, there, bar)
        return self.module.support("view_bar", here, there, self.swapped(stmt, alias))

    def swapped(self, stmt: ir.Assign, alias: ir.Var) -> ast.expr:
        """The statement's expression with the shadow in place of the array."""
        printer = Swapped(self.module, self.text.facts, self.text.names)
        printer.owner, printer.swap = self.text, {alias.name: self.bar(alias.name)}
        return printer.expr(stmt.value)

    def container_shadow(self, stmt: ir.Assign, expr: ir.Expr, target: Container) -> ast.expr:
        if isinstance(expr, ir.Op):  # two lists or tuples joined
            bars = [
                self.module.support("shallow_bar", self.primal(a), self.bar(a.name))
                if isinstance(a, ir.Var) and self.tracked(a.name)
                else self.module.support("bar", self.primal(a))
                for a in expr.args
            ]
            return ast.BinOp(bars[0], ast.Add(), bars[1])
        if target.name == "pop" and isinstance(expr, ir.Method):
            args = [self.primal(ir.unstar(a)) for a in expr.args]
            assert isinstance(expr.obj, ir.Var)
            return ast.Call(ast.Attribute(self.bar(expr.obj.name), "pop", ast.Load()), args, [])
        if target.name == "get" and isinstance(expr, ir.Method):
            return self.got_shadow(stmt, expr)
        source = ir.operands(expr)[-1 if isinstance(expr, ir.Call) else 0]
        if target.name in ("list", "tuple", "dict", "copy") and isinstance(source, ir.Var):
            if self.tracked(source.name):
                return self.module.support(
                    "shallow_bar", self.primal(stmt.target), self.bar(source.name)
                )
        return self.module.support("bar", self.primal(stmt.target))

    def got_shadow(self, stmt: ir.Assign, expr: ir.Method) -> ast.expr:
        """The shadow of `d.get(k, default)`: that of the item, or of the default."""
        here, obj = self.primal(stmt.target), self.primal(expr.obj)
        key, *default = [ir.unstar(a) for a in expr.args]
        if isinstance(expr.obj, ir.Var) and self.tracked(expr.obj.name):
            bar = self.bar(expr.obj.name)
            found = self.module.support("part_bar", here, obj, bar, self.primal(key))
        else:
            found = self.module.support("bar", here)
        missing = self.bar_of(default[0]) if default else ast.Constant(None)
        return ast.IfExp(ast.Compare(self.primal(key), [ast.In()], [obj]), found, missing)

    def container_effect(self, stmt: ir.Effect) -> list[ast.stmt]:
        target = self.unit.facts.targets.get(stmt.sid)
        expr = stmt.value
        if not isinstance(target, Container) or not isinstance(expr, ir.Method):
            return []
        if not isinstance(expr.obj, ir.Var) or not self.tracked(expr.obj.name):
            return []
        args = [ir.unstar(a) for a in expr.args]
        bar = self.bar(expr.obj.name)
        match target.name:
            case "append":
                return [ast.Expr(syn.expr("b.append(v)", b=bar, v=self.bar_of(args[0])))]
            case "insert":
                made = syn.expr(
                    "b.insert(k, v)", b=bar, k=self.primal(args[0]), v=self.bar_of(args[1])
                )
                return [ast.Expr(made)]
            case "extend":
                source = args[0]
                if isinstance(source, ir.Var) and self.tracked(source.name):
                    more = self.module.support(
                        "shallow_bar", self.primal(source), self.bar(source.name)
                    )
                else:
                    more = self.module.support("bar", self.primal(source))
                return [ast.Expr(syn.expr("b.extend(v)", b=bar, v=more))]
            case _:
                return []
