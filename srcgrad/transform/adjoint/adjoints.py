"""The adjoints of variables: read, added to, owned and taken; what a statement changed, undone."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from srcgrad.analysis.record.varying import varies
from srcgrad.analysis.targets import User
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.trim import spread_alone
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.base import Base
from srcgrad.transform.adjoint.displays import zero_number
from srcgrad.transform.adjoint.state import Adj
from srcgrad.transform.fresh import parts_of
from srcgrad.transform.module import Module
from srcgrad.transform.parameters import other_precision


class Adjoints(Base):
    """Adjoints of variables, and bringing back what a statement changed."""

    def present(self, name: str) -> bool:
        return self.unit.kind(name) == "memory" or name in self.state

    def value(self, name: str) -> ast.expr:
        """The adjoint of a variable as an expression (a waiting one stays waiting)."""
        adj = self.state.get(name)
        if adj is not None and adj.waiting is not None:
            return adj.waiting
        return self.bar_node(name)

    def zero(self, name: str) -> ast.expr:
        t = self.unit.type(name)
        if isinstance(t, ty.Number):
            return zero_number(t)
        node = self.primal(ir.Var(name))
        if isinstance(t, ty.Array):
            return zeros_of(self.module, node)
        return self.module.support("zeros", node)

    def start(self, name: str, at_hand: bool = False, bound: bool = True) -> None:
        """Begin an adjoint at zero, or at nothing where its shape may be another than that of what
        the variable holds (`at_hand` says that it surely is that) or it may hold nothing yet."""
        adj = self.state[name] = Adj(None, True, False)
        t = self.unit.type(name)
        unsure = not bound or (not at_hand and varies(self.unit, name))
        if unsure and self.module.backend != "numba":
            adj.nothing = not isinstance(t, ty.Number)
        nothing = syn.number(0.0 if isinstance(t, ty.Array) else None)
        self.emit(syn.assign(self.bar(name), nothing if adj.nothing else self.zero(name)))

    def full(self, name: str) -> None:
        """Make a thin adjoint, or one that may be nothing, one of the variable's shape."""
        adj = self.state.get(name)
        if adj is not None and adj.nothing:
            adj.nothing = adj.owned = False
            made = self.module.support("filled", self.value(name), self.primal(ir.Var(name)))
            self.emit(syn.assign(self.bar(name), made))
        if adj is None or not adj.thin:
            return
        node = self.primal(ir.Var(name))
        made = full_of(self.module, node, self.value(name), self.unit.type(name))
        adj.waiting, adj.thin, adj.owned = None, False, True
        self.emit(syn.assign(self.bar(name), made))

    def add(self, name: str, node: ast.expr, owned: bool, thin: bool = False) -> None:
        """Accumulate a contribution into the adjoint of a variable."""
        self.add_simple(name, syn.simplify(node), owned, thin)

    def add_simple(self, name: str, node: ast.expr, owned: bool, thin: bool = False) -> None:
        """The same, of one that nothing can be left out of."""
        kind = self.unit.kind(name)
        if kind == "memory":
            self.add_memory(name, node, thin)
            return
        adj = self.state.get(name)
        t = self.unit.type(name)
        if adj is not None and not thin:
            adj.nothing = False
        if adj is None:
            if not owned and not thin and not isinstance(t, ty.Number) and self.in_shadow(node):
                # The shadow is written in place later on.
                node, owned = self.copied(node, t), True
            self.first(name, node, owned, thin)
            return
        if isinstance(t, ty.Number):
            if adj.waiting is None:
                added = syn.augment(self.bar(name), ast.Add(), node)
                added.srcgrad_number = True  # type: ignore[attr-defined]
                self.emit(added)
                return
            # One statement: the contribution may read the variable that is about to be bound.
            adj.waiting = syn.add(adj.waiting, node)
            self.settle(name)
            return
        if not isinstance(t, ty.Array):
            adj.waiting = self.module.support("add", self.value(name), node)
            adj.owned = False
            self.settle(name)
            return
        if not adj.thin:
            node = spread_alone(node, len(t.dims), {})
        if adj.owned and not adj.thin and adj.waiting is None:
            self.emit(syn.augment(self.bar(name), ast.Add(), node))
            return
        adj.waiting = syn.add(self.value(name), node)
        self.settle(name)
        adj.thin = adj.thin and thin
        adj.owned = not adj.thin and not is_complex(t)

    def in_shadow(self, node: ast.expr) -> bool:
        """Whether an expression may be a part of an array that the reverse sweep writes into."""
        return bool(parts_of(node) & (self.shadows | self.restored_arrays))

    @cached_property
    def changing(self) -> set[str]:
        """The names that get older values or elements while the reverse sweep runs."""
        saves = [s for found in self.found.saves.values() for s in found if s.when == "before"]
        pairs = list(self.found.pairs.values())
        return self.restored_arrays | {self.text.var(s.var) for s in (*saves, *pairs)}

    @cached_property
    def restored_arrays(self) -> set[str]:
        """The names of arrays whose elements the reverse sweep brings back."""
        unit, roots = self.unit, set()
        for sid in self.found.undone:
            stmt = unit.by_sid[sid]
            roots |= {unit.fx.root(v.name) for v in (*ir.reads(stmt), *ir.writes(stmt))}
        return {
            self.text.var(n)
            for n in unit.facts.types
            if unit.fx.memory(n) and unit.fx.root(n) in roots
        }

    @cached_property
    def shadows(self) -> set[str]:
        """The names of shadows, which statements of the reverse sweep write into."""
        return {
            self.bar(n)
            for n in self.unit.facts.types
            if n in self.unit.act.active and self.unit.kind(n) == "memory"
        }

    def first(self, name: str, node: ast.expr, owned: bool, thin: bool) -> None:
        # A contribution to a complex array may be real, and no complex one can be added to that.
        owned = owned and not is_complex(self.unit.type(name))
        adj = self.state[name] = Adj(node, owned, thin)
        plain = isinstance(node, ast.Name) or _literal(node)
        if isinstance(node, ast.Name) and node.id == self.bar(name):
            adj.waiting = None
            return
        if name.startswith("%") or plain:
            return
        self.settle(name)

    @cached_property
    def is_double(self) -> bool:
        """Whether all floats in the function are doubles."""
        return not other_precision(self.unit)

    def add_memory(self, name: str, node: ast.expr, thin: bool) -> None:
        """Accumulate into a shadow, in place; `thin` says that it may be one number for all."""
        t = self.unit.type(name)
        if isinstance(t, ty.Array):
            whole = node
            node = spread_alone(node, len(t.dims), {})
            added = syn.augment(self.bar_node(name), ast.Add(), node)
            if node is whole and t.dims and t.dtype == np.float64 and self.is_double:
                added.srcgrad_thin = thin  # type: ignore[attr-defined]
            self.emit(added)
            return
        made = self.module.support("accumulate", self.bar_node(name), node)
        self.emit(syn.assign(self.bar(name), made))

    def contribute(self, a: ir.Atom, node: ast.expr, owned: bool, thin: bool = False) -> None:
        if isinstance(a, ir.Var) and self.unit.is_active(a):
            node = syn.simplify(node)
            if isinstance(node, ast.Constant) and node.value is None:
                return  # an auxiliary part of the result
            self.add_simple(a.name, node, owned, thin)

    def own(self, name: str) -> None:
        """Make the adjoint of an array its own writable buffer, held in its variable."""
        if name not in self.state:
            self.state[name] = Adj(None, True, False)
            self.emit(syn.assign(self.bar(name), self.zero(name)))
            return
        adj = self.state[name]
        self.full(name)
        t = self.unit.type(name)
        if isinstance(t, ty.Number):
            self.settle(name)
        elif not adj.owned:
            adj.waiting = self.copied(self.value(name), t)
            adj.owned = True
            self.settle(name)
        else:
            self.settle(name)

    def copied(self, node: ast.expr, t: ty.Type) -> ast.expr:
        """A copy of an adjoint; that of an array without dimensions may be a number."""
        if isinstance(t, ty.Array) and t.dims:
            if is_complex(t):
                dtype = ast.parse(f"np.{t.dtype}", mode="eval").body
                return syn.expr("a.astype(t)", a=node, t=self.module.formula(dtype))
            return syn.expr("a.copy()", a=node)
        # Parts are added to in place: a tuple that is somebody's own is a list.
        return self.module.support("own_parts" if isinstance(t, ty.Tuple) else "own", node)

    def take(self, name: str, uses: int = 2) -> ast.expr:
        """The cotangent of a variable whose definition is being reversed; it is absent
        afterwards."""
        adj = self.state.get(name)
        if adj is not None and adj.nothing:
            self.full(name)
        if adj is not None and adj.waiting is not None and uses > 1:
            if not self.is_short(adj.waiting, self.unit.type(name)):
                self.settle(name)
        node = self.value(name)
        self.state.pop(name, None)
        return node

    def is_short(self, node: ast.expr, t: ty.Type) -> bool:
        """Whether a cotangent that is read several times needs no name; the minus before that of
        a number goes where it is added."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
            return isinstance(t, ty.Number) and isinstance(node.op, ast.USub)
        return isinstance(node, ast.Name | ast.Constant) or _literal(node)

    def take_full(self, name: str) -> ast.expr:
        self.full(name)
        return self.take(name)

    def shadow(self, a: ir.Atom) -> ast.expr:
        assert isinstance(a, ir.Var)
        return self.bar_node(a.name)

    # ---- undoing ----------------------------------------------------------------------------

    def undo(self, stmt: ir.Stmt) -> None:
        """Bring variables and elements back to what they were before a statement."""
        if stmt.sid in self.found.control.resets:
            return
        if stmt.sid in self.found.undone:
            self.protect_elements(stmt)
            self.emit(*self.slots.restore_contents(stmt))
        pair = self.found.pairs.get(stmt.sid)
        if pair is not None:
            self.emit(*self.slots.restore(pair))
        for save in self.found.saves.get(stmt.sid, ()):
            if save.when == "before":
                self.emit(*self.slots.restore(save))

    def after_undo(self, stmt: ir.Stmt, g: ast.expr) -> ast.expr:
        """Undo a statement; the cotangent is kept if the undoing changes what it reads."""
        if syn.names_in(g) & self.restored(stmt):
            kept = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept, g))
            g = kept
        self.undo(stmt)
        return g

    def restored(self, stmt: ir.Stmt) -> set[str]:
        """The names that undoing a statement changes."""
        out: set[str] = set()
        for save in self.found.saves.get(stmt.sid, ()):
            if save.when == "before":
                out.add(self.text.var(save.var))
        pair = self.found.pairs.get(stmt.sid)
        if pair is not None:
            out |= {self.text.var(pair.var), self.bar(pair.var)}
        return out | self.restored_elements(stmt)

    def restored_elements(self, stmt: ir.Stmt) -> set[str]:
        """The names of arrays whose elements undoing a statement may bring back; a callee brings
        back what it wrote."""
        called = isinstance(self.unit.facts.targets.get(stmt.sid), User)
        if not called and stmt.sid not in self.found.undone:
            return set()
        roots = {self.unit.fx.root(v.name) for v in (*ir.reads(stmt), *ir.writes(stmt))}
        return {
            self.text.var(n)
            for n in self.unit.facts.types
            if self.unit.fx.memory(n) and self.unit.fx.root(n) in roots
        }

    def protect_elements(self, stmt: ir.Stmt) -> None:
        """Write down waiting adjoints that read elements which undoing a statement changes."""
        for name in sorted(self.restored_elements(stmt)):
            self.protect(name)

    # ---- cotangents kept apart --------------------------------------------------------------

    def apart(self, g: ast.expr, obj: ir.Atom) -> ast.expr:
        """A cotangent under another name if it goes into the adjoint that it is, `x = x[1:]`, or
        into one whose making changes what it is, `y, x = x, y[1:]`."""
        if not isinstance(obj, ir.Var):
            return g
        root = self.found.needs.container(obj) if self.unit.kind(obj.name) == "value" else obj
        if not self.disturbed(root.name) & syn.names_in(g):
            return g
        kept = syn.name(self.text.names.temporary() + "_bar")
        self.emit(syn.assign(kept, g))
        return kept

    def disturbed(self, name: str) -> set[str]:
        """The variables that change when a contribution to an adjoint is written down."""
        return self.settled_by({self.bar(name)})

    def hold(self, g: ast.expr, operands: Iterable[ir.Atom | ir.Star]) -> ast.expr:
        """A cotangent that several contributions read: put aside when one of them changes it."""
        active = [
            a for a in map(ir.unstar, operands) if isinstance(a, ir.Var) and self.unit.is_active(a)
        ]
        mentioned = syn.names_in(g)
        if len(active) > 1 and any(self.disturbed(a.name) & mentioned for a in active):
            kept = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept, g))
            return kept
        return g


def is_complex(t: ty.Type) -> bool:
    """Whether a type is one of arrays of complex numbers."""
    return isinstance(t, ty.Array) and bool(np.issubdtype(t.dtype, np.complexfloating))


def _literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(isinstance(e, ast.Name | ast.Subscript) or _literal(e) for e in node.elts)
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def zeros_of(module: Module, node: ast.expr) -> ast.expr:
    shape = ast.Attribute(node, "shape", ast.Load())
    return module.numpy("zeros", shape, ast.Attribute(node, "dtype", ast.Load()))


def full_of(module: Module, node: ast.expr, value: ast.expr, t: ty.Type) -> ast.expr:
    shape = ast.Attribute(node, "shape", ast.Load())
    if isinstance(t, ty.Array) and t.dtype == np.float64:
        return module.numpy("full", shape, value)
    return module.numpy("full", shape, value, dtype=ast.Attribute(node, "dtype", ast.Load()))
