"""The tangent of one unit: what comes before, behind and in place of each statement."""

from __future__ import annotations

import ast
from functools import cached_property

from srcgrad.analysis.effects import RESULT, may_hold_memory, summary
from srcgrad.analysis.targets import Construct, Container, Library, User, bound_atoms
from srcgrad.analysis.types.indices import is_whole
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.asked import truncation
from srcgrad.transform.fresh import holders, parts_of
from srcgrad.transform.parameters import tangents_name
from srcgrad.transform.tangent.calls import Calls


class Walk(Calls):
    """The tangent of one unit."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.text.before, self.text.after = self.before, self.after
        self.text.stands_aside = True
        self.text.is_hooked = self.touches
        self.text.replaces, self.text.is_replaced = self.replaces, self.is_replaced

    # ---- functions ----

    def top_lines(self, wrt: list[str], single: bool) -> list[ast.stmt]:
        given = tangents_name(self.unit)
        dots = [syn.name(self.dot_name(w)) for w in wrt]
        target = dots[0] if single else syn.tuple_of(dots)
        out: list[ast.stmt] = [syn.assign(target, syn.name(given))]
        for w in wrt:
            if not isinstance(self.unit.type(w), ty.Number | ty.Array):
                dot = syn.name(self.dot_name(w))
                out.append(syn.assign(dot.id, self.support("full_tangent", dot, syn.name(w))))
        for w in self.unit.params:
            if self.active(w) and w not in wrt and not self.unit.fx.memory(w):
                # It has no tangent yet, but a later value under its name has.
                out.append(syn.assign(self.dot_name(w), self.zero(ir.Var(w))))
            if self.unit.fx.memory(w):
                out.append(syn.assign(w, self.support("private", syn.name(w))))
                if self.active(w):
                    dot = syn.name(self.dot_name(w))
                    if w in wrt:
                        made = self.support("private_tangent", dot, syn.name(w))
                    else:
                        made = self.support("bar", syn.name(w))
                    out.append(syn.assign(self.dot_name(w), made))
        out += self.lines()
        borrowed = holders(out, {given, *(d.id for d in dots)})
        for both in self.results:
            if parts_of(both.elts[1]) & borrowed:
                both.elts[1] = self.support("own", both.elts[1])
        return out

    def lines(self) -> list[ast.stmt]:
        return self.text.block(self.unit.body)

    def callee_lines(self) -> list[ast.stmt]:
        """The body of a callee: tangents of arguments that are passed without one start at
        zero."""
        given = zip(self.unit.params, self.unit.spec.active, strict=True)
        missing = [n for n, passed in given if not passed and self.active(n)]
        start = [syn.assign(self.dot_name(n), self.zero(ir.Var(n))) for n in missing]
        return [*start, *self.lines()]

    # ---- hooks ----

    def before(self, stmt: ir.Stmt) -> list[ast.stmt]:
        """The tangent statements that come before the primal one."""
        self.out = []
        if isinstance(stmt, ir.Assign) and self.touches(stmt) and not self.is_replaced(stmt):
            self.assign(stmt)
            if stmt.sid in self.tried and stmt.inplace is None and not stmt.target.is_temp:
                self.hold_back(stmt)
        elif isinstance(stmt, ir.Store) and self.unit.differentiates(stmt):
            self.store(stmt)
        elif isinstance(stmt, ir.Effect) and self.unit.differentiates(stmt):
            if not self.is_replaced(stmt):
                self.effect(stmt)
        elif isinstance(stmt, ir.StoreAttr) and self.unit.differentiates(stmt):
            self.store_attr(stmt)
        own, self.out = self.out, []
        target = ir.writes(stmt)
        written = {self.text.printed.get(v.name, v.name) for v in target}
        for name, e in list(self.waiting.items()):
            if target and name == target[0].name:
                continue
            if ir.blocks(stmt) or syn.names_in(e) & written or self.writes_memory(stmt):
                self.settle(name)
        settled, self.out = self.out, []
        return [*settled, *truncation(self.unit, self.text, stmt), *own]

    @cached_property
    def tried(self) -> set[int]:
        """The statements that an exception may keep from being done, with a handler for it."""
        tries = [s for s in ir.walk(self.unit.body) if isinstance(s, ir.Try) and s.handlers]
        return {s.sid for t in tries for s in ir.walk(t.body)}

    def hold_back(self, stmt: ir.Assign) -> None:
        """Bind the tangent behind the statement: an exception leaves both as they were."""
        name = self.dot_name(stmt.target.name)
        if stmt.target.name in self.waiting:
            self.out.append(syn.assign(name, self.waiting.pop(stmt.target.name)))
        for node in self.out:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
                kept = self.text.names.temporary() + "_dot"
                node.targets = [ast.Name(kept, ast.Store())]
                self.late.setdefault(stmt.sid, []).append(syn.assign(name, syn.name(kept)))

    def writes_memory(self, stmt: ir.Stmt) -> bool:
        call = self.unit.user_call(stmt)
        if call is not None:
            return bool(summary(self.unit.program, call.fn, call.types).stored)
        inplace = isinstance(stmt, ir.Assign) and stmt.inplace is not None
        return inplace or self.text.is_impure(stmt) or isinstance(stmt, ir.Effect)

    def after(self, stmt: ir.Stmt) -> list[ast.stmt]:
        return self.late.pop(stmt.sid, [])

    def is_replaced(self, stmt: ir.Stmt) -> bool:
        if stmt.sid in self.kept:
            return True
        if isinstance(stmt, ir.Exit):
            return stmt.kind == "return"
        target = self.unit.facts.targets.get(stmt.sid)
        return isinstance(target, User) and self.unit.differentiates(stmt)

    def replaces(self, stmt: ir.Stmt) -> list[ast.stmt] | None:
        if stmt.sid in self.kept and isinstance(stmt, ir.Assign):
            return [syn.assign(self.text.var(stmt.target.name), syn.name(self.kept[stmt.sid]))]
        if not self.is_replaced(stmt):
            return None
        self.out = []
        if isinstance(stmt, ir.Exit):
            self.returned(stmt)
        else:
            assert isinstance(stmt, ir.Assign | ir.Effect)
            self.call(stmt)
        out, self.out = self.out, []
        return out

    def returned(self, stmt: ir.Exit) -> None:
        assert stmt.value is not None
        value = stmt.value
        if self.active(RESULT) and isinstance(value, ir.Var) and self.active(value):
            tangent = self.dot(value, 1)
        elif self.active(RESULT):
            tangent = self.zero(value)
        elif isinstance(self.unit.facts.of(value), ty.Number):
            tangent = syn.number(0.0)
        else:
            made = self.text.atom(value)
            if not isinstance(made, ast.Name):
                made, node = syn.name(self.text.names.temporary()), made
                self.emit(syn.assign(made.id, node))
            self.emit(ast.Return(syn.tuple_of([made, self.support("bar", made)])))
            return
        both = ast.Tuple([self.text.atom(value), tangent], ast.Load())
        if may_hold_memory(self.unit.facts.of(value)):
            self.results.append(both)
        self.emit(ast.Return(both))

    # ---- assignments ----

    def assign(self, stmt: ir.Assign) -> None:
        name, expr = stmt.target.name, stmt.value
        target = self.unit.facts.targets.get(stmt.sid)
        if not self.active(name):
            if isinstance(target, Container) and isinstance(expr, ir.Method):
                self.effect(stmt)  # a list loses the tangent of what nobody wants, too
            return
        if stmt.inplace is not None:
            self.inplace(stmt)
            return
        match expr:
            case ir.Const() | ir.Global() | ir.Opaque():
                self.bind_zero(stmt)
            case ir.Var():
                self.bind(stmt, self.dot(expr, 1) if self.active(expr) else self.zero(expr))
            case ir.Index(obj, key) if target is None:
                if not self.active(obj):
                    self.bind_zero(stmt)
                elif is_whole(self.unit.facts.of(obj), key):
                    known = isinstance(self.unit.facts.of(obj), ty.Number)
                    dot = self.dot(obj, 1)
                    node = dot if known else self.support("whole", dot, self.primal(obj))
                    self.bind(stmt, node)
                else:
                    self.bind(
                        stmt,
                        ast.Subscript(self.dot(obj, 1), self.printer({}).key(key), ast.Load()),
                    )
            case ir.Build():
                self.bind(stmt, self.display(expr))
            case ir.Closure(_, free):
                self.bind(stmt, syn.tuple_of(self.dot(a, 1) for _, a in free))
            case ir.Attr(obj, attr) if target is None:
                if self.active(obj):
                    self.bind(stmt, self.field(obj, attr))
                else:
                    self.bind_zero(stmt)
            case _:
                self.target_rule(stmt, expr, target)

    def field(self, obj: ir.Atom, attr: str) -> ast.expr:
        """The tangent of `obj.attr`; that of a result of NumPy's with named parts is a tuple."""
        t = self.unit.facts.of(obj)
        if isinstance(t, ty.Tuple) and t.cls.__module__.partition(".")[0] in ("numpy", "scipy"):
            k = getattr(t.cls, "_fields", ()).index(attr)
            return syn.expr("r[k]", r=self.dot(obj, 1), k=syn.number(k))
        if isinstance(t, ty.Unknown):
            return self.support("field_dot", self.dot(obj, 1), self.primal(obj), syn.number(attr))
        return ast.Attribute(self.dot(obj, 1), attr, ast.Load())

    def target_rule(self, stmt: ir.Assign, expr: ir.Expr, target: object) -> None:
        match target:
            case Library():
                refused = target.entry.kind == "refuse"
                if refused or any(self.active(a) for _, b in target.args for a in bound_atoms(b)):
                    self.library(stmt, target)
                else:
                    self.bind_zero(stmt)
            case Container():
                self.container(stmt, expr, target)
            case Construct():
                self.construct(stmt, expr, target)
            case _:
                if any(self.active(a) for a in ir.operands(expr)):
                    raise self.no_rule(stmt, expr, target)
                self.bind_zero(stmt)
