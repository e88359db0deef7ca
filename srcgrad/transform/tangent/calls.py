"""Calls of user functions: `y, y_dot = f_tangent(x, x_dot)`."""

from __future__ import annotations

import ast

from srcgrad.analysis.effects import may_hold_memory
from srcgrad.analysis.targets import Bound, Packed, User, bound_atoms
from srcgrad.analysis.unit import Spec
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.closures import parts
from srcgrad.transform.tangent.memory import Memory


class Calls(Memory):
    """Callees take their arguments and the tangents of the active ones."""

    def call(self, stmt: ir.Assign | ir.Effect) -> None:
        target = self.unit.facts.targets.get(stmt.sid)
        assert isinstance(target, User)
        slots = [bound_atoms(b) for b in target.args]
        free = len(target.types) - len(slots)
        active = [
            any(self.active(a) for a in atoms) and ty.can_be_active(t)
            for atoms, t in zip(slots, target.types, strict=False)
        ]
        closure_active = target.closure is not None and self.active(target.closure)
        active += [closure_active] * free
        groups = self.groups(target, slots, free)
        result_active = isinstance(stmt, ir.Assign) and self.active(stmt.target.name)
        # What is written here must share its tangent wherever the callee put it.
        memory = result_active and self.unit.kind(stmt.target.name) == "memory"  # type: ignore[union-attr]
        spec = Spec(target.fn, target.types, tuple(active), groups, result_active, memory)
        name = self.owner.callee(spec)
        args: list[ast.expr] = [self.call_argument(b) for b in target.args]
        if target.closure is not None:
            args += parts(self.module, self.unit.facts, target, self.primal(target.closure))
        for b, is_active in zip(target.args, active, strict=False):
            if is_active:
                args.append(self.packed_dot(b))
        if closure_active:
            assert target.closure is not None
            args += [
                syn.expr("c[k]", c=self.dot(target.closure), k=syn.number(k)) for k in range(free)
            ]
        made = syn.call(name, *args)
        if isinstance(stmt, ir.Assign):
            dot = self.dot_name(stmt.target.name) if result_active else "_"
            pair = syn.tuple_of([self.primal_name(stmt.target), syn.name(dot)])
            self.emit(syn.assign(pair, made))
        else:
            self.emit(ast.Expr(made))

    def groups(
        self, target: User, slots: list[tuple[ir.Atom, ...]], free: int
    ) -> tuple[int | None, ...]:
        """Which arguments share memory that is written."""
        ids: dict[str, int] = {}
        out: list[int | None] = []
        for atoms, t in zip(slots, target.types, strict=False):
            roots = [
                self.unit.fx.root(a.name)
                for a in atoms
                if isinstance(a, ir.Var) and may_hold_memory(t) and self.unit.fx.memory(a.name)
            ]
            out.append(ids.setdefault(roots[0], len(ids)) if roots else None)
        return tuple(out + [None] * free)

    def call_argument(self, b: Bound) -> ast.expr:
        if not isinstance(b, Packed):
            return self.primal(b)
        items = [self.starred(i, self.primal(ir.unstar(i))) for i in b.items]
        if b.kind == "tuple":
            return ast.Tuple(items, ast.Load())
        keys: list[ast.expr | None] = [None if k is None else ast.Constant(k) for k in b.keys]
        return ast.Dict(keys, items)

    def packed_dot(self, b: Bound) -> ast.expr:
        if not isinstance(b, Packed):
            return self.dot(b)
        items = [self.starred(i, self.dot(ir.unstar(i))) for i in b.items]
        if b.kind == "tuple":
            return ast.Tuple(items, ast.Load())
        keys: list[ast.expr | None] = [None if k is None else ast.Constant(k) for k in b.keys]
        return ast.Dict(keys, items)
