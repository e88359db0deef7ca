"""Adjoints of parts: items, elements, attributes, and what is refused there."""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.analysis.effects import surely_copies
from srcgrad.analysis.targets import UNNAMED, Uncharted
from srcgrad.errors import MissingRule, UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.adjoints import Adjoints
from srcgrad.transform.adjoint.displays import add_part
from srcgrad.transform.keys import key_value


class Places(Adjoints):
    """Adds to a place inside an adjoint, and takes adjoints of containers apart."""

    def add_item(
        self, stmt: ir.Stmt, obj: ir.Atom, key: ir.Key, g: ast.expr, thin: bool = False
    ) -> None:
        """`v = a[k]`: add the cotangent at k of a's adjoint; `thin`: it is one number."""
        if not isinstance(obj, ir.Var) or not self.unit.is_active(obj):
            return
        root = self.found.needs.container(obj) if self.unit.kind(obj.name) == "value" else obj
        if add_part(self, obj, root, key, g):
            return
        whole = obj == root and not thin and _only_adds_axes(key)
        if whole and self.unit.kind(obj.name) == "value":
            if isinstance(self.unit.type(obj.name), ty.Array):
                self.add(obj.name, without_axes(g, key), False)
                return
        if self.unit.kind(root.name) != "memory":
            self.own_container(root.name)
        place = self.place_of(obj, root)
        t = self.unit.facts.of(obj)
        if isinstance(t, ty.Array):
            self.add_element(stmt, place, key, g)
        elif isinstance(t, ty.Unknown) or not self.simple_key(key):
            made = self.module.support("item_add", place, self.key_value(key), g)
            self.emit(ast.Expr(made))
        elif self.leaf_is_container(stmt):
            self.emit(ast.Expr(self.module.support("item_add", place, self.key_value(key), g)))
        else:
            node = ast.Subscript(place, self.key(key), ast.Load())
            added = syn.augment(node, ast.Add(), g)
            self.emit(self.whole(added, stmt))

    def whole(self, added: ast.stmt, stmt: ir.Stmt) -> ast.stmt:
        """Mark an addition of a whole array of doubles to a part of a container."""
        t = self.unit.type(stmt.target.name) if isinstance(stmt, ir.Assign) else None
        if isinstance(t, ty.Array) and t.dims and t.dtype == np.float64 and self.is_double:
            vars(added)["srcgrad_thin"] = False
        return added

    def leaf_is_container(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Assign):
            return True
        return not isinstance(self.unit.type(stmt.target.name), ty.Number | ty.Array)

    def simple_key(self, key: ir.Key) -> bool:
        return not isinstance(key, ir.Slice | ir.KeyTuple)

    def own_container(self, name: str) -> None:
        t = self.unit.type(name)
        if isinstance(t, ty.Array) or name not in self.state:
            self.own(name)
            return
        self.full(name)
        adj = self.state[name]
        node = self.value(name)
        if not adj.owned:
            adj.waiting, adj.owned = None, True
            self.emit(syn.assign(self.bar(name), self.module.support("own_parts", node)))
        else:
            self.settle(name)

    def place_of(self, obj: ir.Var, root: ir.Var) -> ast.expr:
        """The place of `obj` inside the adjoint of its container `root`: `p_bar["a"]`."""
        if obj == root:
            return self.bar_node(root.name)
        again = self.found.needs.again(obj.name)
        assert again is not None
        value = again.value
        assert isinstance(value, ir.Index | ir.Attr) and isinstance(value.obj, ir.Var)
        inner = self.place_of(value.obj, root)
        if isinstance(value, ir.Attr):
            t = self.unit.facts.of(value.obj)
            names = getattr(t.cls, "_fields", ()) if isinstance(t, ty.Tuple) else ()
            if value.name in names:
                return ast.Subscript(inner, syn.number(names.index(value.name)), ast.Load())
            return ast.Attribute(inner, value.name, ast.Load())
        return ast.Subscript(inner, self.key(value.key), ast.Load())

    def key_value(self, key: ir.Key) -> ast.expr:
        """A key as a value: slices are written as calls."""
        return key_value(key, self.primal)

    def add_element(self, stmt: ir.Stmt, place: ast.expr, key: ir.Key, g: ast.expr) -> None:
        if self.unit.basic(key) or self.is_mask(key):
            node = ast.Subscript(place, self.key(key), ast.Load())
            self.emit(syn.augment(node, ast.Add(), g))
        elif surely_copies(self.unit.facts, key):
            self.emit(ast.Expr(self.module.numpy("add.at", place, self.key_value(key), g)))
        else:
            self.emit(ast.Expr(self.module.support("item_add", place, self.key_value(key), g)))

    def is_mask(self, key: ir.Key) -> bool:
        if isinstance(key, ir.Slice | ir.KeyTuple):
            return False
        t = self.unit.facts.of(key)
        return isinstance(t, ty.Array) and t.dtype == bool

    def add_attr(
        self, obj: ir.Atom, attr: str, g: ast.expr, stmt: ir.Assign | None = None
    ) -> None:
        if not isinstance(obj, ir.Var) or not self.unit.is_active(obj):
            return
        t = self.unit.facts.of(obj)
        names = getattr(t.cls, "_fields", ()) if isinstance(t, ty.Tuple) else ()
        if stmt is not None and attr in names:  # what is taken by place may be a plain tuple
            self.add_item(stmt, obj, ir.Const(names.index(attr)), g)
            return
        root = self.found.needs.container(obj) if self.unit.kind(obj.name) == "value" else obj
        if self.unit.kind(root.name) != "memory":
            self.own_container(root.name)
        place = self.place_of(obj, root)
        added = ast.Expr(self.module.support("attr_add", place, ast.Constant(attr), g))
        self.emit(added if stmt is None else self.whole(added, stmt))

    # ---- parts ------------------------------------------------------------------------------

    def unpack(self, expr: ir.Build, g: ast.expr) -> None:
        if expr.kind == "dict":
            for key, item in zip(expr.keys, expr.items, strict=True):
                if key is not None and not isinstance(item, ir.Star):
                    self.contribute(item, syn.expr("g[k]", g=g, k=self.primal(key)), False)
                elif self.unit.is_active(ir.unstar(item)):
                    raise self.unsupported(expr, "`**` of an active dict in a display")
            return
        for k, item in enumerate(expr.items):
            if isinstance(item, ir.Star):
                if self.unit.is_active(item.value):
                    raise self.unsupported(expr, "`*` of an active sequence of unknown length")
                continue
            self.contribute(item, syn.expr("g[k]", g=g, k=syn.number(k)), False)

    def unpack_memory(self, expr: ir.Build, g: ast.expr) -> None:
        if expr.kind == "dict":
            for key, item in zip(expr.keys, expr.items, strict=True):
                if key is not None:
                    self.part_back(ir.unstar(item), syn.expr("g[k]", g=g, k=self.primal(key)))
                elif self.unit.is_active(ir.unstar(item)):
                    raise self.unsupported(expr, "`**` of an active dict in a display")
            return
        for k, item in enumerate(expr.items):
            if isinstance(item, ir.Star):
                if self.unit.is_active(item.value):
                    raise self.unsupported(expr, "`*` of an active sequence of unknown length")
                continue
            self.part_back(item, syn.expr("g[k]", g=g, k=syn.number(k)))

    def part_back(self, a: ir.Atom, g: ast.expr) -> None:
        """The shadow of a part is shared; the adjoint of a number comes back by value."""
        if not isinstance(a, ir.Var) or not self.unit.is_active(a):
            return
        t = self.unit.type(a.name)
        if isinstance(t, ty.Number) or self.unit.kind(a.name) != "memory":
            self.add(a.name, g, False)
        elif not isinstance(t, ty.Array):
            made = self.module.support("alias_back", self.bar_node(a.name), g)
            self.emit(syn.assign(self.bar(a.name), made))

    def part_back_named(self, a: ir.Atom, g: ast.expr) -> None:
        kept = syn.name(self.text.names.temporary() + "_bar")
        self.emit(syn.assign(kept, g))
        self.part_back(a, kept)

    def begins_anew(self, stmt: ir.Assign) -> bool:
        """Whether no derivative passes from what is read to an active target: `s = 0.0`."""
        if isinstance(stmt.value, ir.Opaque):
            return True
        return not any(self.unit.is_active(v) for v in ir.reads(stmt))

    # ---- refusals ---------------------------------------------------------------------------

    def unsupported(
        self, where: object, what: str, fix: str = "write the items out one by one"
    ) -> Exception:
        loc = getattr(where, "loc", None)
        return located(
            UnsupportedSyntax,
            loc,
            f"{what} is not supported in differentiated code",
            fixes=[fix],
        )

    def no_rule(self, stmt: ir.Stmt, expr: ir.Expr, target: object) -> Exception:
        atoms = [a for a in ir.operands(expr) if isinstance(a, ir.Var) and self.unit.is_active(a)]
        missing = target if isinstance(target, Uncharted) else UNNAMED
        return located(
            MissingRule,
            stmt.loc,
            f"no derivative rule for {missing.text}",
            chain=self.chain(atoms[0].name) if atoms else (),
            fixes=missing.fixes,
        )

    def chain(self, name: str) -> list[tuple[str, int]]:
        return self.unit.act.chain(name)


def _only_adds_axes(key: ir.Key) -> bool:
    """Whether a key is of whole slices and None alone: `a[:, None]`."""
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    whole = ir.Slice(None, None, None)
    return all(i == whole or i == ir.Const(None) or _is_ellipsis(i) for i in items)


def _is_ellipsis(item: object) -> bool:
    return isinstance(item, ir.Const) and item.value is Ellipsis


def without_axes(g: ast.expr, key: ir.Key) -> ast.expr:
    """A cotangent without the axes of length one that a key added: `g[:, 0]`."""
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    parts: list[ast.expr] = []
    for i in items:
        if i == ir.Const(None):
            parts.append(syn.number(0))
        else:
            parts.append(ast.Constant(Ellipsis) if _is_ellipsis(i) else ast.Slice())
    if not any(map(_is_ellipsis, items)):  # behind one every axis counts: `g[..., 0, :]`
        while parts and isinstance(parts[-1], ast.Slice):
            parts.pop()
    if not parts:
        return g
    return ast.Subscript(g, parts[0] if len(parts) == 1 else syn.tuple_of(parts), ast.Load())
