"""Rewrites of what is done to objects of users' classes, by their types: operators in place,
stores of items and of properties are calls of the class's own methods."""

from __future__ import annotations

import inspect
import operator
from dataclasses import dataclass, replace

from srcgrad.analysis.rewrites.base import Rewrites
from srcgrad.analysis.types import special_methods, typeof
from srcgrad.frontend.namespace import Handed
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


@dataclass
class ObjectRewrites(Rewrites):
    """The part of sharpening that sees to objects."""

    def updated(self, stmt: ir.Assign) -> list[ir.Stmt] | None:
        """`a += e` is `a = a.__iadd__(e)`, or `a = a + e` where the class has none."""
        if stmt.inplace is None or not isinstance(stmt.value, ir.Op):
            return None
        t = self.facts.of(stmt.value.args[0])
        if not typeof.is_users(t):
            return None
        self.changed = True
        name = special_methods.in_place(t, stmt.inplace)
        if name is None:
            return [replace(stmt, inplace=None)]
        made = ir.Method(stmt.value.args[0], name, stmt.value.args[1:])
        return [replace(stmt, inplace=None, value=made)]

    def item_set(self, stmt: ir.Store) -> list[ir.Stmt] | None:
        """`obj[k] = e` is `obj.__setitem__(k, e)`."""
        if stmt.op is not None or not self.defines(stmt.base, "__setitem__"):
            return None
        key, before = stmt.key, list[ir.Stmt]()
        if isinstance(key, ir.Slice):
            return None
        if isinstance(key, ir.KeyTuple):
            if any(isinstance(i, ir.Slice) for i in key.items):
                return None
            whole = ir.Var(f"%k{next(self.sids)}")
            made = ir.Build("tuple", key.items)  # type: ignore[arg-type]
            before.append(ir.Assign(next(self.sids), stmt.loc, whole, made))
            key = whole
        self.changed = True
        call = ir.Method(stmt.base, "__setitem__", (key, stmt.value))
        return [*before, ir.Effect(stmt.sid, stmt.loc, call)]

    def property_set(self, stmt: ir.StoreAttr) -> list[ir.Stmt] | None:
        """`obj.name = e` for a property is a call of its setter."""
        t = self.facts.of(stmt.base)
        if stmt.op is not None or not isinstance(t, ty.Object):
            return None
        found = inspect.getattr_static(t.cls, stmt.name, None)
        if not isinstance(found, property) or not inspect.isfunction(found.fset):
            return None
        self.changed = True
        root = ir.Root("namespace", f"set_{stmt.name}", Handed(found.fset))
        setter = ir.Global(root, ("value",), found.fset)
        return [ir.Effect(stmt.sid, stmt.loc, ir.Call(setter, (stmt.base, stmt.value)))]

    def stored_by_call(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`setitem(obj, k, e)`, `obj.__setitem__(k, e)`, `setattr(obj, "name", e)`: statements."""
        if not isinstance(stmt, ir.Effect):
            return None
        store: ir.Stmt
        match stmt.value:
            case ir.Call(ir.Global(value=fn), (obj, k, e), ()) if fn is operator.setitem:
                store = ir.Store(stmt.sid, stmt.loc, obj, k, e)  # type: ignore[arg-type]
            case ir.Method(obj, "__setitem__", (k, e), ()) if not self.defines(obj, "__setitem__"):
                store = ir.Store(stmt.sid, stmt.loc, obj, k, e)  # type: ignore[arg-type]
            case ir.Call(ir.Global(value=fn), (obj, named, e), ()) if fn is setattr:
                name = self.text_of(named)
                if name is None or not name.isidentifier():
                    return None
                store = ir.StoreAttr(stmt.sid, stmt.loc, obj, name, e)  # type: ignore[arg-type]
            case _:
                return None
        if any(isinstance(a, ir.Star) for a in (obj, e)):
            return None
        self.changed = True
        return [store]

    def text_of(self, a: ir.Atom | ir.Star) -> str | None:
        """The text that a value surely is."""
        t = None if isinstance(a, ir.Star) else self.facts.of(a)
        return t.value if isinstance(t, ty.Literal) and isinstance(t.value, str) else None

    def read_by_call(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`getattr(obj, "name")` is `obj.name`."""
        match stmt.value:
            case ir.Call(ir.Global(value=fn), (obj, ir.Const(str() as name)), ()) if (
                fn is getattr and name.isidentifier() and not isinstance(obj, ir.Star)
            ):
                self.changed = True
                return [replace(stmt, value=ir.Attr(obj, name))]
        return None

    def defines(self, a: ir.Atom, name: str) -> bool:
        t = self.facts.of(a)
        if not isinstance(t, ty.Object) or not typeof.is_users(t):
            return False
        return inspect.isfunction(inspect.getattr_static(t.cls, name, None))
