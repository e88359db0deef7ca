"""The forward sweep: the primal, and beside it what has to be recorded and the tracked shadows."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from srcgrad.analysis.recording import Recording
from srcgrad.analysis.targets import Construct, Container, Library, User, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import again, checkpoint, closures, kept_by_rules
from srcgrad.transform.adjoint.base import Swapped
from srcgrad.transform.adjoint.callee import Callees
from srcgrad.transform.adjoint.slots import Slots
from srcgrad.transform.keys import fields_of, record_of
from srcgrad.transform.module import Module
from srcgrad.transform.text import Text
from srcgrad.transform.truncation import truncation


@dataclass
class Forward:
    """Hooks that `Text` calls around each statement of the forward sweep."""

    unit: Unit
    found: Recording
    module: Module
    text: Text
    slots: Slots
    callees: Callees

    def bar(self, name: str) -> ast.expr:
        return syn.name(self.text.names.suffixed(self.text.var(name), "bar"))

    def tracked(self, name: str) -> bool:
        return (
            self.unit.is_active(name)
            and self.unit.kind(name) == "memory"
            and self.found.is_tracked(name)
        )

    # ---- which temporaries need names ----

    def named(self) -> set[str]:
        """Temporaries that the reverse sweep or a hook mentions."""
        out = {n for n in self.found.needed if n.startswith("%")}
        for stmt in ir.walk(self.unit.body):
            found = [v for v in ir.writes(stmt) if self.shadowed(stmt, v)]
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
        source = ir.operands(expr)[-1 if isinstance(expr, ir.Call) else 0]
        if target.name in ("list", "tuple", "dict", "copy") and isinstance(source, ir.Var):
            if self.tracked(source.name):
                return self.module.support(
                    "shallow_bar", self.primal(stmt.target), self.bar(source.name)
                )
        return self.module.support("bar", self.primal(stmt.target))

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
