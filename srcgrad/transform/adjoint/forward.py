"""The forward sweep: the primal, and beside it what has to be recorded and the tracked shadows."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from srcgrad.analysis.targets import Container, Library, User
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import again, checkpoint, closures, kept_by_rules
from srcgrad.transform.adjoint.callee import Callees
from srcgrad.transform.adjoint.shadows import Shadows
from srcgrad.transform.asked import truncation


@dataclass
class Forward(Shadows):
    """Hooks that `Text` calls around each statement of the forward sweep."""

    callees: Callees

    # ---- which temporaries need names ----

    def named(self) -> set[str]:
        """Temporaries that the reverse sweep or a hook mentions."""
        out = {n for n in self.found.needed if n.startswith("%")}
        for stmt in ir.walk(self.unit.body):
            found = [v for v in ir.writes(stmt) if self.shadowed(stmt, v)]
            found += self.unit.may_compute(stmt)
            if self.hooked(stmt):
                found = [*ir.reads(stmt), *ir.writes(stmt)]
            out |= {v.name for v in found if "%" in v.name}
        return out

    def shadowed(self, stmt: ir.Stmt, v: ir.Var) -> bool:
        """Whether a shadow is made beside a statement, or in the reverse sweep of its shape."""
        if self.tracked(v.name):
            return True
        if not isinstance(stmt, ir.Assign) or not self.unit.is_active(v):
            return False
        return self.unit.kind(v.name) == "memory" and self.unit.aliases(stmt) is None

    def hooked(self, stmt: ir.Stmt) -> bool:
        """Whether something is written beside a statement."""
        if stmt.sid in self.found.undone or stmt.sid in self.found.pairs:
            return True
        if any(self.tracked(v.name) for v in ir.writes(stmt)):
            return True
        if isinstance(stmt, ir.Store | ir.StoreAttr):
            return self.is_unknown_store(stmt) or self.unit.may_truncate(stmt)
        if isinstance(stmt, ir.Effect | ir.Assign):
            target = self.unit.facts.targets.get(stmt.sid)
            if isinstance(target, User):
                return any(self.tracked(v.name) for v in ir.reads(stmt))
            if isinstance(stmt, ir.Effect) or self.takes_number(stmt):
                return self.unit.differentiates(stmt)
        return False

    def takes_number(self, stmt: ir.Stmt) -> bool:
        """`s = tape.pop()` of a number: the shadow of the tape gives up an item too."""
        target = self.unit.facts.targets.get(stmt.sid)
        return (
            isinstance(stmt, ir.Assign)
            and isinstance(target, Container)
            and target.name == "pop"
            and isinstance(stmt.value, ir.Method)
            and isinstance(stmt.value.obj, ir.Var)
            and self.tracked(stmt.value.obj.name)
            and not self.tracked(stmt.target.name)
        )

    # ---- hooks ----

    def before(self, stmt: ir.Stmt) -> list[ast.stmt]:
        out = []
        for save in self.found.saves.get(stmt.sid, ()):
            if save.when == "before":
                out.append(self.slots.record(save))
        pair = self.found.pairs.get(stmt.sid)
        if isinstance(stmt, ir.Assign) and self.is_unknown_inplace(stmt):
            out.append(self.slots.record_inplace(stmt))
        elif pair is not None:
            out.append(self.slots.record_pair(pair))
        if self.is_unknown_store(stmt):
            assert isinstance(stmt, ir.Store | ir.StoreAttr)
            out.append(self.slots.record_item(stmt))
        elif stmt.sid in self.found.undone and not self.is_unknown_inplace(stmt):
            out += self.slots.record_contents(stmt)
        return [*truncation(self.unit, self.text, stmt), *out]

    def handling(self, stmt: ir.Try, k: int) -> list[ast.stmt]:
        """A handler that the reverse sweep can't go back through refuses when it is entered."""
        if (stmt.sid, k) not in self.found.closed:
            return []
        body = stmt.handlers[k].body
        loc = body[0].loc if body else stmt.loc
        file = loc.file.replace("\\", "/").rsplit("/", 1)[-1]
        return [
            ast.Expr(self.module.support("handler_entered", ast.Constant(f"{file}:{loc.line}")))
        ]

    def is_unknown_inplace(self, stmt: ir.Stmt) -> bool:
        return (
            isinstance(stmt, ir.Assign)
            and stmt.inplace is not None
            and self.tracked(stmt.target.name)
            and not isinstance(self.unit.type(stmt.target.name), ty.Array)
        )

    def is_unknown_store(self, stmt: ir.Stmt) -> bool:
        return (
            isinstance(stmt, ir.Store | ir.StoreAttr)
            and isinstance(stmt.base, ir.Var)
            and self.unit.is_active(stmt.base)
            and not isinstance(self.unit.type(stmt.base.name), ty.Array)
        )

    def after(self, stmt: ir.Stmt) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        if isinstance(stmt, ir.Assign) and self.tracked(stmt.target.name):
            out += self.shadow(stmt)
        if self.is_unknown_store(stmt):
            assert isinstance(stmt, ir.Store | ir.StoreAttr) and isinstance(stmt.base, ir.Var)
            if stmt.op is None:
                value = self.primal(stmt.value)
                bar = self.bar_of(stmt.value)
                obj = self.slots.holder(stmt, self.primal(stmt.base))
                obj_bar = self.slots.holder(stmt, self.bar(stmt.base.name))
                key = self.slots.item_key(stmt)
                made = self.module.support("bind_item", obj, obj_bar, key, value, bar)
                out.append(ast.Expr(made))
        if isinstance(stmt, ir.Effect) and self.unit.differentiates(stmt):
            out += self.container_effect(stmt)
        if isinstance(stmt, ir.Assign) and self.takes_number(stmt):
            assert isinstance(stmt.value, ir.Method) and isinstance(stmt.value.obj, ir.Var)
            args = [self.primal(ir.unstar(a)) for a in stmt.value.args]
            pop = ast.Attribute(self.bar(stmt.value.obj.name), "pop", ast.Load())
            out.append(ast.Expr(ast.Call(pop, args, [])))
        for save in self.found.saves.get(stmt.sid, ()):
            if save.when == "after":
                out.append(self.slots.record(save))
        return out

    def replaces(self, stmt: ir.Stmt) -> list[ast.stmt] | None:
        """Checkpointed loops, and calls of differentiated user functions."""
        if isinstance(stmt, ir.For) and stmt.sid in self.found.states:
            return self.checkpointed(stmt)
        if isinstance(stmt, ir.Assign | ir.Effect):
            target = self.unit.facts.targets.get(stmt.sid)
            if isinstance(target, User):
                return self.call(stmt, target)
            if isinstance(target, Library) and self.unit.leaves_saved(stmt):
                return kept_by_rules.forward_custom(self, stmt, target)
            if closures.is_nested_call(self.unit.facts, stmt):
                return self.nested_value(stmt)
        return None

    def checkpointed(self, stmt: ir.For) -> list[ast.stmt]:
        known = self.slots.checkpointed
        if stmt.sid not in known:
            known[stmt.sid] = checkpoint.Loop(stmt, self.found, self.slots, again.Again(self))
        return checkpoint.forward(known[stmt.sid])

    def is_replaced(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Assign | ir.Effect):
            return False
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, Library) and self.unit.leaves_saved(stmt):
            return True
        if closures.is_nested_call(self.unit.facts, stmt):
            return True
        return isinstance(target, User) and self.callees.of(self.unit, stmt, target) is not None

    def call(self, stmt: ir.Assign | ir.Effect, target: User) -> list[ast.stmt] | None:
        found = self.callees.of(self.unit, stmt, target)
        if found is None:
            return self.nested_value(stmt)
        args = [self.text_bound(b) for b in target.args]
        if target.closure is not None:
            base = self.primal(target.closure)
            args += closures.parts(self.module, self.unit.facts, target, base)
        args += [self.bar_argument(b) for b in found.shadows]
        made = syn.call(found.forward, *args)
        parts: list[ast.expr] = []
        if isinstance(stmt, ir.Assign):
            parts.append(self.primal(stmt.target))
            if found.result == "memory":
                parts.append(self.bar(stmt.target.name))
        else:
            parts.append(syn.name("_"))
            if found.result == "memory":
                parts.append(syn.name("_"))
        used = self.unit.differentiates(stmt)
        parts.append(syn.name(self.slots.saved(stmt) if used else "_"))
        return [syn.assign(syn.tuple_of(parts), made)]

    def nested_value(self, stmt: ir.Assign | ir.Effect) -> list[ast.stmt] | None:
        """The call of a nested function that no derivative passes through."""
        made = self.callees.plain.call(
            self.unit.facts, stmt, self.text_bound, self.text.atom, self.is_replaced
        )
        if made is None:
            return None
        if isinstance(stmt, ir.Assign):
            return [syn.assign(self.text.var(stmt.target.name), made)]
        return [ast.Expr(made)]

    def bar_argument(self, b: object) -> ast.expr:
        assert isinstance(b, ir.Var)
        return self.bar(b.name)

    def text_bound(self, b: object) -> ast.expr:
        from srcgrad.analysis.targets import Packed

        if not isinstance(b, Packed):
            return self.text.atom(b)  # type: ignore[arg-type]
        items = [self.text.arg(i) for i in b.items]
        if b.kind == "tuple":
            return ast.Tuple(items, ast.Load())
        keys: list[ast.expr | None] = [None if k is None else ast.Constant(k) for k in b.keys]
        return ast.Dict(keys, items)
