"""The reverse sweep: each statement's adjoint, in reverse order (SEMANTICS, statement by
statement)."""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.analysis.effects import RESULT
from srcgrad.analysis.targets import Container, Library, User
from srcgrad.errors import NotDifferentiable, UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.runtime import support
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.arrays import library_effect
from srcgrad.transform.adjoint.base import _assigned
from srcgrad.transform.adjoint.blocks import Blocks
from srcgrad.transform.adjoint.branches import backwards
from srcgrad.transform.adjoint.masks import Mask
from srcgrad.transform.adjoint.state import Adj


class Reverse(Blocks):
    """Writes the reverse sweep of one unit."""

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.If():
                self.branch(stmt)
            case ir.For() | ir.While():
                self.loop(stmt)
                for save in self.found.saves.get(stmt.sid, ()):
                    if save.when == "before":
                        self.emit(*self.slots.restore(save))
            case ir.With(special="adjoint_of"):
                self.user_code(stmt)
            case ir.With():
                self.with_(stmt)
            case ir.Try():
                self.try_(stmt)
            case ir.Exit():
                self.seed(stmt)
            case ir.Assign() | ir.Store() | ir.StoreAttr() | ir.Effect() | ir.Verbatim():
                self.simple(stmt)

    def simple(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.Assign) and self.unit.differentiates(stmt):
            self.assign(stmt)
        elif isinstance(stmt, ir.Store) and self.unit.differentiates(stmt):
            self.store(stmt)
        elif isinstance(stmt, ir.StoreAttr) and self.unit.differentiates(stmt):
            self.store_attr(stmt)
        elif isinstance(stmt, ir.Effect) and self.unit.differentiates(stmt):
            self.effect(stmt)
        else:
            self.undo(stmt)

    def seed(self, stmt: ir.Exit) -> None:
        """`return e`: the cotangent of the result is that of e."""
        if stmt.kind != "return" or not self.unit.differentiates(stmt):
            return
        if not self.unit.spec.result_active:  # the caller has no use for it
            return
        assert isinstance(stmt.value, ir.Var)
        name = stmt.value.name
        adj = self.state.get(RESULT)
        if self.unit.kind(name) == "memory":
            if self.unit.spec.result_memory or self.result_is_shadow():
                self.alias_back(name, syn.name(self.bar(RESULT)))
            else:
                self.add(name, self.value(RESULT), False)
            return
        if adj is None:
            if self.result_is_shadow():  # what other returns give shares memory; this does not
                self.add(name, syn.name(self.bar(RESULT)), False)
            return
        node = adj.waiting if adj.waiting is not None else self.bar_node(RESULT)
        if self.unit.spec.lanes:
            self.masks.put(name, Mask(syn.name(self.result_lanes), ty.UNKNOWN))
        self.add(name, node, owned=False, thin=False)

    def result_is_shadow(self) -> bool:
        return self.unit.spec.result_memory

    def alias_back(self, name: str, node: ast.expr) -> None:
        """An alias of unknown type was a number after all: its adjoint comes back by value."""
        if isinstance(self.unit.type(name), ty.Array):
            return
        made = self.module.support("alias_back", self.bar_node(name), node)
        self.emit(syn.assign(self.bar(name), made))

    def with_(self, stmt: ir.With) -> None:
        inner = self.sub(stmt.body)
        if stmt.special is not None or not inner:
            self.out += inner
            return
        items = [ast.withitem(self.again(c), None) for c in stmt.contexts]
        if all(_is_errstate(c) for c in stmt.contexts):
            self.out.append(ast.With(items, inner))
        else:
            self.out += inner

    def user_code(self, stmt: ir.With) -> None:
        """`with sg.adjoint_of(x) as x_bar`: the user's statements, run here."""
        assert isinstance(stmt.value, ir.Var) and stmt.bound is not None
        name = stmt.value.name
        if not self.unit.is_active(name):
            raise located(
                NotDifferentiable,
                stmt.loc,
                f"{name} carries no derivative to the result, so it has no adjoint to change",
                fixes=["remove the block, or name a variable that the result depends on"],
            )
        self.comment(stmt)
        if self.unit.kind(name) != "memory":
            self.own(name)
        bound = stmt.bound
        self.emit(syn.assign(bound, self.bar_node(name)))
        for inner in stmt.body:
            assert isinstance(inner, ir.Verbatim)
            self.emit(self.text.verbatim(inner))
        if self.unit.kind(name) == "memory":
            if isinstance(self.unit.type(name), ty.Array):
                whole = syn.expr("a[...]", a=self.bar_node(name))
                self.emit(syn.assign(whole, syn.name(bound)))
            else:
                raise located(
                    UnsupportedSyntax,
                    stmt.loc,
                    f"adjoint_of({name}): the type of {name} is not known",
                )
        elif bound != self.bar(name):
            self.emit(syn.assign(self.bar(name), syn.name(bound)))
            self.state[name] = Adj(None, False, False)
        self.origin = None

    def try_(self, stmt: ir.Try) -> None:
        """What was tried, or the handler; any other handler refused when it was entered."""
        self.block(stmt.final)
        caught = self.found.control.tried.get(stmt.sid)
        if caught is not None and (stmt.sid, 0) not in self.found.closed:
            self.arms(syn.name(caught), stmt.handlers[0].body, (*stmt.body, *stmt.orelse), stmt)
            return
        self.block(stmt.orelse)
        self.block(stmt.body)

    # ---- assignments and effects ------------------------------------------------------------

    def assign(self, stmt: ir.Assign) -> None:
        name, unit = stmt.target.name, self.unit
        target = unit.facts.targets.get(stmt.sid)
        if stmt.inplace is not None:
            self.inplace(stmt, target)
            return
        if isinstance(target, User):
            self.call(stmt, target)
            return
        kind = unit.kind(name) if unit.is_active(name) else "number"
        if kind != "memory" and self.takes_from_list(stmt):
            self.put_back(stmt)
            return
        if kind == "memory":
            self.assign_memory(stmt, target)
            return
        if name not in self.state:
            self.undo(stmt)
            return
        self.value_rule(stmt, stmt.value, target)

    def effect(self, stmt: ir.Effect) -> None:
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, User):
            self.call(stmt, target)
        elif isinstance(target, Container) and isinstance(stmt.value, ir.Method):
            self.container_effect(stmt, stmt.value, target.name)
        elif isinstance(target, Container) and target.name == "alias":
            self.undo(stmt)  # a check whose result has no name
        elif isinstance(target, Library) and target.entry.target is support.item_add:
            self.item_added(stmt, target)
        elif isinstance(target, Library):
            library_effect(stmt, target)
        else:
            raise self.no_rule(stmt, stmt.value, target)


def _is_errstate(context: ir.Expr) -> bool:
    """Whether the context of a `with` only says what floating-point errors do."""
    fn = context.fn if isinstance(context, ir.Call) else None
    return isinstance(fn, ir.Global) and fn.value is np.errstate


__all__ = ["Reverse", "_assigned", "backwards"]
