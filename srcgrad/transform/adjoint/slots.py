"""Where recorded values are kept: a variable outside loops, a list (tape) inside them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from srcgrad.analysis.record.callees import written_by
from srcgrad.analysis.record.placement import Save
from srcgrad.analysis.recording import Recording
from srcgrad.analysis.targets import Container, Library
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.runtime import support
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import Tapes
from srcgrad.transform.keys import attributes_of, key_value
from srcgrad.transform.text import Text

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.checkpoint_loop import Loop


@dataclass
class Slots:
    """Writes each record and its restore; the two always come together."""

    found: Recording
    text: Text
    tapes: list[str] = field(default_factory=list)
    arrays: Tapes | None = None  # for Numba
    checkpointed: dict[int, Loop] = field(default_factory=dict)  # loops that keep snapshots
    _names: dict[tuple[int, str], str] = field(default_factory=dict)

    def slot(self, sid: int, what: str, base: str, taped: bool) -> str:
        key = (sid, what)
        got = self._names.get(key)
        if got is None:
            shown = self.text.var(base)
            got = self.text.names.fresh(f"{shown}_{'tape' if taped else 'saved'}")
            self._names[key] = got
            if taped and not self._in_array(sid, what, base, got):
                self.tapes.append(got)
        return got

    def _in_array(self, sid: int, what: str, base: str, slot: str) -> bool:
        """Whether what is recorded is a number that goes into an array (Numba)."""
        if self.arrays is None:
            return False
        t: ty.Type = self.found.unit.type(base)
        if what == "contents":
            stmt = self.found.unit.by_sid[sid]
            if not isinstance(t, ty.Array) or not self.is_plain(stmt) or not self.place(stmt)[2]:
                return False
            t = ty.Number(t.dtype.type)
        elif what != base:
            return False
        return self.arrays.wants(sid, slot, t)

    def allocations(self, stmt: ir.Stmt) -> list[ast.stmt]:
        """The arrays for what is recorded in a loop, before it (Numba)."""
        if self.arrays is None or not isinstance(stmt, ir.For):
            return []
        if self.found.unit.taping[stmt.sid] or stmt.sid in self.found.states:
            return []
        inside = [stmt, *(s for b in ir.blocks(stmt) for s in ir.walk(b))]
        for s in inside:
            for save in self.found.saves.get(s.sid, ()):
                if save.taped and self.found.pairs.get(s.sid) is not save:
                    self.slot(s.sid, save.var, save.var, True)
            if s.sid in self.found.undone and self.in_loop(s) and self.is_plain(s):
                self.slot(s.sid, "contents", self.place(s)[0], True)
        return self.arrays.allocations(stmt.sid)

    def put(self, slot: str, node: ast.expr, taped: bool) -> ast.stmt:
        if taped and self.arrays is not None and slot in self.arrays.arrays:
            return syn.assign(self.arrays.element(slot), node)
        if taped:
            return ast.Expr(syn.expr("s.append(v)", s=syn.name(slot), v=node))
        return syn.assign(slot, node)

    def get(self, slot: str, taped: bool) -> ast.expr:
        if taped and self.arrays is not None and slot in self.arrays.arrays:
            return self.arrays.element(slot)
        return syn.expr("s.pop()", s=syn.name(slot)) if taped else syn.name(slot)

    def saved(self, stmt: ir.Stmt) -> str:
        """The variable with what a callee's reverse sweep needs."""
        from srcgrad.analysis.record.needs import saved_name

        return self.text.var(saved_name(stmt))

    def in_loop(self, stmt: ir.Stmt) -> bool:
        return bool(self.found.unit.taping[stmt.sid])

    # ---- values and bindings ----

    def record(self, save: Save) -> ast.stmt:
        slot = self.slot(save.sid, save.var, save.var, save.taped)
        node: ast.expr = syn.name(self.text.var(save.var))
        if save.outline and self.arrays is None:
            node = self.text.module.support("outline", node)
        return self.put(slot, node, save.taped)

    def restore(self, save: Save) -> list[ast.stmt]:
        pair = self.found.pairs.get(save.sid) is save
        what = "pair" if pair else save.var
        slot = self.slot(save.sid, what, save.var, save.taped)
        got = self.get(slot, save.taped)
        var = self.text.var(save.var)
        if pair:
            bar = self.text.names.suffixed(var, "bar")
            return [syn.assign(syn.tuple_of([syn.name(var), syn.name(bar)]), got)]
        return [syn.assign(var, got)]

    def record_pair(self, save: Save) -> ast.stmt:
        slot = self.slot(save.sid, "pair", save.var, save.taped)
        var = self.text.var(save.var)
        bar = self.text.names.suffixed(var, "bar")
        return self.put(slot, syn.tuple_of([syn.name(var), syn.name(bar)]), save.taped)

    # ---- contents ----

    def place(self, stmt: ir.Stmt) -> tuple[str, ast.expr, bool]:
        """(base variable, the place that a statement overwrites, is it one element)."""
        unit = self.found.unit
        if isinstance(stmt, ir.Store):
            assert isinstance(stmt.base, ir.Var)
            node = self.text.index(syn.name(self.text.var(stmt.base.name)), stmt.key)
            return stmt.base.name, node, isinstance(unit.place_type(stmt), ty.Number)
        name = self.whole(stmt)
        return name, syn.expr("a[...]", a=syn.name(self.text.var(name))), False

    def whole(self, stmt: ir.Stmt) -> str:
        """The array that a statement writes as a whole."""
        if isinstance(stmt, ir.Assign) and stmt.inplace:
            return stmt.target.name
        if isinstance(stmt, ir.Assign | ir.Effect):
            target = self.found.unit.facts.targets.get(stmt.sid)
            if isinstance(target, Library):
                from srcgrad.analysis.targets import bound_atoms

                for n, b in target.args:
                    if n in (*target.entry.writes, "out"):
                        for a in bound_atoms(b):
                            if isinstance(a, ir.Var):
                                return a.name
            if isinstance(target, Container) and isinstance(stmt.value, ir.Method):
                obj = stmt.value.obj
                if isinstance(obj, ir.Var):
                    return obj.name
        raise located(
            UnsupportedSyntax,
            stmt.loc,
            "what this statement overwrites is read by the derivative, and it can't be kept",
            fixes=["write into a new container or array instead"],
        )

    def is_plain(self, stmt: ir.Stmt) -> bool:
        """Whether the overwritten place is a part of an array of known type."""
        if isinstance(stmt, ir.Store):
            return isinstance(stmt.base, ir.Var) and isinstance(
                self.found.unit.type(stmt.base.name), ty.Array
            )
        try:
            return isinstance(self.found.unit.type(self.whole(stmt)), ty.Array)
        except UnsupportedSyntax:
            return False

    def record_call(self, stmt: ir.Stmt, name: str) -> ast.stmt:
        """What a call overwrites in a variable's memory: perhaps all of it."""
        var, taped = syn.name(self.text.var(name)), self.in_loop(stmt)
        slot = self.slot(stmt.sid, f"contents {name}", name, taped)
        if isinstance(self.found.unit.type(name), ty.Array):
            return self.put(slot, syn.expr("a.copy()", a=var), taped)
        return self.put(slot, self.text.module.support("contents", var), taped)

    def restore_call(self, stmt: ir.Stmt, name: str) -> ast.stmt:
        var, taped = syn.name(self.text.var(name)), self.in_loop(stmt)
        got = self.get(self.slot(stmt.sid, f"contents {name}", name, taped), taped)
        if isinstance(self.found.unit.type(name), ty.Array):
            return syn.assign(syn.expr("a[...]", a=var), got)
        return syn.assign(var, self.text.module.support("put_back", var, got))

    def record_contents(self, stmt: ir.Stmt) -> list[ast.stmt]:
        taped = self.in_loop(stmt)
        written = written_by(self.found.unit, stmt)
        if written:
            return [self.record_call(stmt, v.name) for v in written]
        if self.is_plain(stmt):
            base, node, scalar = self.place(stmt)
            slot = self.slot(stmt.sid, "contents", base, taped)
            return [self.put(slot, node if scalar else syn.expr("a.copy()", a=node), taped)]
        if isinstance(stmt, ir.Store | ir.StoreAttr):
            return [self.record_item(stmt)]
        if self.is_append(stmt) or self.is_list_move(stmt):
            return []
        self.whole(stmt)
        slot = self.slot(stmt.sid, "contents", self.whole(stmt), taped)
        kept = "parts_of" if self.adds_to_item(stmt) else "contents"
        node = self.text.module.support(kept, syn.name(self.text.var(self.whole(stmt))))
        return [self.put(slot, node, taped)]

    def restore_contents(self, stmt: ir.Stmt) -> list[ast.stmt]:
        taped = self.in_loop(stmt)
        written = written_by(self.found.unit, stmt)
        if written:
            return [self.restore_call(stmt, v.name) for v in reversed(written)]
        if self.is_plain(stmt):
            base, node, _ = self.place(stmt)
            slot = self.slot(stmt.sid, "contents", base, taped)
            if isinstance(stmt, ir.Store):
                node = self.restored_place(stmt)
            return [syn.assign(node, self.get(slot, taped))]
        if isinstance(stmt, ir.Store | ir.StoreAttr):
            unit = self.found.unit
            assert isinstance(stmt.base, ir.Var)
            if unit.is_active(stmt.base):
                return []  # the adjoint of the store restores
            obj = self.holder(stmt, syn.name(self.text.var(stmt.base.name)))
            key = self.reverse_key(stmt)
            back = self.text.module.support(
                "store_back", obj, syn.number(None), key, self.item_slot(stmt)
            )
            return [ast.Expr(back)]
        if self.is_list_move(stmt):
            return []  # the adjoint of the statement puts the list back
        if self.is_append(stmt):
            assert isinstance(stmt, ir.Effect) and isinstance(stmt.value, ir.Method)
            if self.found.unit.is_active(stmt.value.obj):
                return []
            return [ast.Expr(syn.expr("a.pop()", a=syn.name(self.text.var(stmt.value.obj.name))))]  # type: ignore[union-attr]
        name = self.whole(stmt)
        slot = self.slot(stmt.sid, "contents", name, taped)
        put = "put_parts" if self.adds_to_item(stmt) else "put_back"
        back = self.text.module.support(put, syn.name(self.text.var(name)), self.get(slot, taped))
        return [syn.assign(self.text.var(name), back)]

    def adds_to_item(self, stmt: ir.Stmt) -> bool:
        """Whether a statement changes an array or number inside a container, not its items."""
        target = self.found.unit.facts.targets.get(stmt.sid)
        return isinstance(target, Library) and target.entry.target is support.item_add

    def is_list_move(self, stmt: ir.Stmt) -> bool:
        """`pop`, `insert` or `extend` of a list that has a shadow."""
        target = self.found.unit.facts.targets.get(stmt.sid)
        value = getattr(stmt, "value", None)
        return (
            isinstance(target, Container)
            and target.name in ("pop", "insert", "extend")
            and isinstance(value, ir.Method)
            and isinstance(value.obj, ir.Var)
            and self.found.unit.is_active(value.obj)
        )

    def is_append(self, stmt: ir.Stmt) -> bool:
        target = self.found.unit.facts.targets.get(stmt.sid)
        return (
            isinstance(stmt, ir.Effect)
            and isinstance(target, Container)
            and target.name == "append"
            and isinstance(stmt.value, ir.Method)
            and isinstance(stmt.value.obj, ir.Var)
        )

    reverse_key_of: object = None  # set by the reverse sweep: prints a key as it reads it
    reverse_place_of: object = None

    def reverse_key(self, stmt: ir.Store | ir.StoreAttr) -> ast.expr:
        if isinstance(stmt, ir.StoreAttr):
            return ast.Constant(stmt.name)
        return self.reverse_key_of(stmt.key)  # type: ignore[operator,no-any-return]

    def holder(self, stmt: ir.Store | ir.StoreAttr, printed: ast.expr) -> ast.expr:
        """What a store changes an item of: a container, or the attributes of an object."""
        return attributes_of(self.found.unit, self.text.module, stmt, printed)

    def restored_place(self, stmt: ir.Store) -> ast.expr:
        return self.reverse_place_of(stmt)  # type: ignore[operator,no-any-return]

    # ---- containers and values of unknown type ----

    def record_item(self, stmt: ir.Store | ir.StoreAttr) -> ast.stmt:
        assert isinstance(stmt.base, ir.Var)
        unit, taped = self.found.unit, self.in_loop(stmt)
        var = self.text.var(stmt.base.name)
        bar: ast.expr = syn.number(None)
        if unit.is_active(stmt.base):
            bar = self.holder(stmt, syn.name(self.text.names.suffixed(var, "bar")))
        obj = self.holder(stmt, syn.name(var))
        node = self.text.module.support("save_item", obj, bar, self.item_key(stmt))
        return self.put(self.slot(stmt.sid, "item", stmt.base.name, taped), node, taped)

    def key_value(self, key: ir.Key) -> ast.expr:
        return key_value(key, self.text.atom)

    def item_key(self, stmt: ir.Store | ir.StoreAttr) -> ast.expr:
        return (
            ast.Constant(stmt.name) if isinstance(stmt, ir.StoreAttr) else self.key_value(stmt.key)
        )

    def item_slot(self, stmt: ir.Store | ir.StoreAttr) -> ast.expr:
        assert isinstance(stmt.base, ir.Var)
        taped = self.in_loop(stmt)
        return self.get(self.slot(stmt.sid, "item", stmt.base.name, taped), taped)

    def record_inplace(self, stmt: ir.Assign) -> ast.stmt:
        taped = self.in_loop(stmt)
        var = self.text.var(stmt.target.name)
        bar = syn.name(self.text.names.suffixed(var, "bar"))
        node = self.text.module.support("save_inplace", syn.name(var), bar)
        return self.put(self.slot(stmt.sid, "inplace", stmt.target.name, taped), node, taped)

    def inplace_slot(self, stmt: ir.Assign) -> ast.expr:
        taped = self.in_loop(stmt)
        return self.get(self.slot(stmt.sid, "inplace", stmt.target.name, taped), taped)

    def record_popped(self, stmt: ir.Assign) -> ast.stmt:
        taped = self.in_loop(stmt)
        var = self.text.var(stmt.target.name)
        bar = syn.name(self.text.names.suffixed(var, "bar"))
        slot = self.slot(stmt.sid, "popped", stmt.target.name, taped)
        return self.put(slot, syn.tuple_of([syn.name(var), bar]), taped)

    def popped(self, stmt: ir.Assign) -> ast.expr:
        taped = self.in_loop(stmt)
        return self.get(self.slot(stmt.sid, "popped", stmt.target.name, taped), taped)

    def declarations(self) -> list[ast.stmt]:
        """`h_tape, s_tape = [], []`"""
        if not self.tapes:
            return []
        if self.arrays is not None:
            return [syn.assign(t, ast.List([], ast.Load())) for t in self.tapes]
        declared: list[ast.stmt] = []
        for tapes in _lines(self.tapes):
            if len(tapes) == 1:
                declared.append(syn.assign(tapes[0], ast.List([], ast.Load())))
                continue
            empty = syn.tuple_of(ast.List([], ast.Load()) for _ in tapes)
            declared.append(syn.assign(syn.tuple_of(map(syn.name, tapes)), empty))
        return declared


def _lines(names: Iterable[str], width: int = 80) -> list[list[str]]:
    """The names in groups of which each fits a line as `a, b = [], []`."""
    groups: list[list[str]] = [[]]
    used = 0
    for name in names:
        used += len(name) + len(", , []")
        if used > width and groups[-1]:
            groups.append([])
            used = len(name) + len(", , []")
        groups[-1].append(name)
    return groups
