"""Calls of the user's functions."""

from __future__ import annotations

import ast

from srcgrad.analysis.targets import Bound, Packed, User
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import closures
from srcgrad.transform.adjoint.memory import Memory


class Calls(Memory):
    """The reverse of calls of the user's functions."""

    def call(self, stmt: ir.Assign | ir.Effect, target: User) -> None:
        """`v = f(a)`: the callee's own reverse sweep."""
        found = self.callees.of(self.unit, stmt, target)
        if found is None:
            if isinstance(stmt, ir.Assign):
                self.state.pop(stmt.target.name, None)
            self.undo(stmt)
            return
        cotangent: ast.expr = syn.number(None)
        if isinstance(stmt, ir.Assign) and found.result == "value":
            name = stmt.target.name
            if name not in self.state and not found.memory:
                self.undo(stmt)
                return
            if name not in self.state:
                cotangent = self.zero(name)
            else:
                cotangent = self.take_full(name)
        elif isinstance(stmt, ir.Assign) and found.result == "memory":
            cotangent = self.bar_node(stmt.target.name)
            if stmt.sid in self.found.pairs:
                kept = self.text.names.temporary() + "_bar"
                self.emit(syn.assign(kept, cotangent))
                cotangent = syn.name(kept)
        saved = syn.name(self.slots.saved(stmt))
        if syn.names_in(cotangent) & self.restored(stmt):
            kept_bar = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(kept_bar, cotangent))
            cotangent = kept_bar
        mask: list[ast.expr] = []
        if found.lanes and isinstance(stmt, ir.Assign):
            given = self.masks.take(stmt.target.name)
            mask = [syn.number(True) if given is None else self.masks.positive(given)]
        self.protect_elements(stmt)
        made = syn.call(found.reverse, cotangent, saved, *mask)
        targets = found.returned
        self.undo_after_call(stmt, made, targets, found)

    def undo_after_call(
        self, stmt: ir.Stmt, made: ast.expr, targets: list[Bound | closures.Part], found: object
    ) -> None:
        if not targets:
            self.emit(ast.Expr(made))
            self.undo(stmt)
            return
        parts: list[tuple[Bound | closures.Part, ast.expr]] = []
        if len(targets) == 1:
            got = syn.name(self.text.names.temporary() + "_bar")
            self.emit(syn.assign(got, made))
            parts = [(targets[0], got)]
        else:
            kept = [syn.name(self.text.names.temporary() + "_bar") for _ in targets]
            self.emit(syn.assign(syn.tuple_of(kept), made))
            parts = list(zip(targets, kept, strict=True))
        self.undo(stmt)
        for a, node in parts:
            if isinstance(a, closures.Part):
                closures.add_part(self, a, node)
            elif isinstance(a, Packed):
                self.unpack_arguments(a, node)
            elif (
                isinstance(a, ir.Var)
                and self.unit.is_active(a)
                and self.unit.kind(a.name) == "memory"
            ):
                self.part_back(a, node)
            else:
                self.contribute(a, node, owned=False)

    def unpack_arguments(self, packed: Packed, g: ast.expr) -> None:
        """What comes back for `*args` or `**kwargs` goes to the arguments gathered there."""
        keys = packed.keys if packed.kind == "dict" else range(len(packed.items))
        for k, item in zip(keys, packed.items, strict=True):
            if not self.unit.is_active(ir.unstar(item)):
                continue
            if isinstance(item, ir.Star) or k is None:
                assert isinstance(ir.unstar(item), ir.Var)
                if len(packed.items) == 1:
                    self.contribute(ir.unstar(item), g, owned=False)
                    continue
                raise self.unsupported(
                    packed, "`*` among other arguments of a differentiated call"
                )
            self.contribute(item, syn.expr("g[k]", g=g, k=syn.number(k)), owned=False)
