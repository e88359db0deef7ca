"""Forward mode: beside each statement the same statement for tangents.

    y = np.sin(x)            y_dot = x_dot * np.cos(x)
                     ->      y = np.sin(x)

A tangent is bound wherever its variable is, viewed and shared as the variable is, so that control
flow and aliases need nothing of their own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from srcgrad.analysis.effects import RESULT, may_hold_memory, summary
from srcgrad.analysis.needs import NeedsTable
from srcgrad.analysis.partials import HELPERS, _names, environment, jvp_terms, same_shape
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import (
    Bound,
    Construct,
    Container,
    Library,
    Packed,
    Uncharted,
    User,
    bound_atoms,
)
from srcgrad.analysis.unit import Spec, Unit, make_unit
from srcgrad.errors import MissingRule, NotDifferentiable, UnsupportedSyntax, located
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.rules.python import OPERATORS
from srcgrad.transform import forwardrules
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.arrays import library_effect
from srcgrad.transform.adjoint.assemble import Adjoint
from srcgrad.transform.adjoint.dead import unread_statements
from srcgrad.transform.adjoint.forward import truncation
from srcgrad.transform.fresh import copied, holders, is_fresh, parts_of
from srcgrad.transform.keys import key_value
from srcgrad.transform.module import Module, function_text
from srcgrad.transform.parameters import arguments, tangents_name
from srcgrad.transform.text import Text
from srcgrad.transform.uses import uses_of

RESULT_HERE = "%out"  # stands for the statement's own result until its name is known


@dataclass
class Tangent:
    """Writes the forward-mode functions of one module."""

    program: Program
    module: Module
    order: list[list[ast.stmt]] = field(default_factory=list)
    names: dict[Spec, str] = field(default_factory=dict)
    adjoint: Adjoint | None = None

    def top(self, spec: Spec, wrt: list[str], name: str, single: bool) -> None:
        """The function that the user calls: (tangents, *args) -> (value, tangent)."""
        unit = make_unit(self.program, spec)
        work = Walk(self, unit)
        lines = work.top_lines(wrt, single)
        args = arguments(self.module, self.program, unit)
        first = ast.arg(tangents_name(unit))
        (args.posonlyargs if args.posonlyargs else args.args).insert(0, first)
        self.order.append([syn.function_def(name, args, lines)])

    def reverse_mode(self) -> Adjoint:
        """Writes reverse sweeps into the same module: of rules, whose transposes they are.  What
        is
        overridden for the program is not for its rules."""
        if self.adjoint is None:
            self.adjoint = Adjoint(Program(builtin=True), self.module)
            self.adjoint.order = self.adjoint.callees.plain.order = self.order
        return self.adjoint

    def callee(self, spec: Spec) -> str:
        """`f_tangent(args..., tangents of active args...)`, compiled once for each use."""
        got = self.names.get(spec)
        if got is None:
            base = spec.fn.name if spec.fn.name.isidentifier() else "function"
            got = self.names[spec] = self.module.unique(f"{base}_tangent")
            unit = make_unit(self.program, spec)
            work = Walk(self, unit)
            lines = work.callee_lines()
            args = arguments(self.module, self.program, unit, plain=True)
            active = [n for n, a in zip(unit.params, spec.active, strict=True) if a]
            args.args += [ast.arg(work.dot_name(n)) for n in active]
            self.order.append([syn.function_def(got, args, lines)])
        return got


@dataclass
class Walk:
    """The tangent of one unit."""

    owner: Tangent
    unit: Unit
    text: Text = field(init=False)
    needs: NeedsTable = field(init=False)
    waiting: dict[str, ast.expr] = field(default_factory=dict)
    late: dict[int, list[ast.stmt]] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)  # results that were computed beforehand
    written: set[str] = field(default_factory=set)  # tangents in memory that is written to
    results: list[ast.Tuple] = field(default_factory=list)  # what is returned and holds memory

    def __post_init__(self) -> None:
        taken = {n for n in self.unit.facts.types if "%" not in n} | set(self.unit.params)
        for s in ir.walk(self.unit.body):
            taken |= {v.name for v in (*ir.reads(s), *ir.writes(s)) if "%" not in v.name}
        names = Names((taken - {""}) | {tangents_name(self.unit)})
        self.module = self.owner.module
        self.text = Text(self.module, self.unit.facts, names, program=self.owner.program)
        self.needs = NeedsTable(self.unit)
        self.text.uses = uses_of(self.unit.body)
        self.text.named = self.named()
        self.text.dead, self.text.may_raise = unread_statements(self.unit, self.text.uses)
        self.text.before, self.text.after = self.before, self.after
        self.text.is_hooked = self.touches
        self.text.replaces, self.text.is_replaced = self.replaces, self.is_replaced

    # ---- names ----

    def dot_name(self, name: str) -> str:
        made = self.text.names.suffixed(self.text.var(name), "dot")
        if self.unit.kind(name) == "memory":
            self.written.add(made)
        return made

    def active(self, a: ir.Atom | ir.Star | str) -> bool:
        if isinstance(a, ir.Star):
            a = a.value
        return self.unit.is_active(a)

    def named(self) -> set[str]:
        """Temporaries that a tangent mentions."""
        out: set[str] = set()
        for stmt in ir.walk(self.unit.body):
            if self.unit.may_truncate(stmt):
                out |= {v.name for v in ir.reads(stmt) if "%" in v.name}
            if not self.touches(stmt):
                continue
            for v in ir.reads(stmt):
                out |= {n for n in self.needs.roots_of([v])[0] if "%" in n}
            if any("%" in v.name for v in ir.writes(stmt)) and self.reads_out(stmt):
                out |= {v.name for v in ir.writes(stmt)}
        return out

    def reads_out(self, stmt: ir.Stmt) -> bool:
        target = self.unit.facts.targets.get(stmt.sid)
        if not isinstance(stmt, ir.Assign):
            return True
        if isinstance(target, Library) and target.entry.kind in ("elementwise", "structured"):
            for param, b in target.args:
                if any(self.active(a) for a in bound_atoms(b)):
                    found = jvp_terms(self.unit.facts, target, param)
                    if found is not None and "out" in _names(found[0]):
                        return True
            return self.spreads(stmt, target) or self.unit.kind(stmt.target.name) == "memory"
        return not isinstance(stmt.value, ir.Index | ir.Build | ir.Var)

    def touches(self, stmt: ir.Stmt) -> bool:
        """Whether a statement has a tangent beside it."""
        match stmt:
            case ir.Assign():
                return self.active(stmt.target.name) or self.unit.differentiates(stmt)
            case ir.Exit():
                return stmt.kind == "return"
            case _:
                return self.unit.differentiates(stmt)

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

    def support(self, fn: str, *args: ast.expr) -> ast.expr:
        return self.module.support(fn, *args)

    # ---- printing ----

    def primal(self, a: ir.Atom) -> ast.expr:
        if isinstance(a, ir.Var):
            again = self.needs.again(a.name)
            if again is None:
                return syn.name(self.text.var(a.name))
            return self.printer({}).expr(again.value)
        return self.module.atom(a)

    def printer(self, swap: dict[str, ast.expr]) -> _Printer:
        made = _Printer(self.module, self.text.facts, self.text.names)
        made.walk, made.swap = self, swap
        return made

    def dot(self, a: ir.Atom, uses: int = 2) -> ast.expr:
        """The tangent of an atom; zero of its kind where it has none."""
        if isinstance(a, ir.Var) and self.active(a):
            waits = self.waiting.get(a.name)
            if waits is not None:
                readers = self.text.uses.get(a.name, ())
                if uses == 1 and len(readers) == 1:
                    return self.waiting.pop(a.name)
                self.settle(a.name)
            return syn.name(self.dot_name(a.name))
        return self.zero(a)

    def zero(self, a: ir.Atom) -> ast.expr:
        t = self.unit.facts.of(a)
        if isinstance(t, ty.Number):
            return syn.number(0.0)
        if isinstance(t, ty.Array) and ty.can_be_active(t) and isinstance(a, ir.Var):
            node = self.primal(a)
            shape, dtype = (ast.Attribute(node, k, ast.Load()) for k in ("shape", "dtype"))
            return self.module.numpy("zeros", shape, dtype)
        if not ty.can_be_active(t):
            return syn.number(None)
        return self.support("full_tangent", syn.number(None), self.primal(a))

    out: list[ast.stmt] = field(default_factory=list)

    def emit(self, node: ast.stmt) -> None:
        from srcgrad.transform.adjoint.reverse import _assigned

        for target in _assigned(node):
            for name, e in list(self.waiting.items()):
                if target in syn.names_in(e):
                    self.settle(name)
        self.out.append(node)

    def emit_comment(self, text: str) -> None:
        self.out.append(syn.Comment(text))

    def settle(self, name: str) -> None:
        e = self.waiting.pop(name)
        self.emit(syn.assign(self.dot_name(name), e))

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
            raise located(
                UnsupportedSyntax,
                stmt.loc,
                f"a value with a derivative is written into the attribute {stmt.name} "
                "of an object",
                fixes=["keep it in a local variable or an array"],
            )
        own, self.out = self.out, []
        target = ir.writes(stmt)
        written = {self.text.var(v.name) for v in target}
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
        else:
            t = self.unit.facts.of(value)
            plain = isinstance(t, ty.Number)
            tangent = syn.number(0.0) if plain else self.support("bar", self.text.atom(value))
            if not plain and isinstance(value, ir.Var):
                self.emit(ast.Return(syn.tuple_of([self.primal_name(value), tangent])))
                return
        both = ast.Tuple([self.text.atom(value), tangent], ast.Load())
        if may_hold_memory(self.unit.facts.of(value)):
            self.results.append(both)
        self.emit(ast.Return(both))

    def primal_name(self, v: ir.Var) -> ast.expr:
        return syn.name(self.text.var(v.name))

    # ---- assignments ----

    def bind(self, stmt: ir.Assign, node: ast.expr, late: bool = False) -> None:
        """Bind the tangent of a statement's target."""
        name = stmt.target.name
        node = syn.simplify(node)
        if late:
            made = syn.assign(self.dot_name(name), node)
            self.late.setdefault(stmt.sid, []).append(made)
            return
        if self.may_wait(stmt):
            self.waiting[name] = node
            return
        if isinstance(node, ast.Name) and node.id == self.dot_name(name):
            return
        self.emit(syn.assign(self.dot_name(name), node))

    def may_wait(self, stmt: ir.Assign) -> bool:
        """Whether a tangent can be folded into its one use, in the same block."""
        name = stmt.target.name
        if not name.startswith("%") or self.unit.kind(name) == "memory":
            return False
        if len(self.unit.defs.get(name, ())) != 1:
            return False
        here = self.unit.place[stmt.sid][:-1], self.unit.place[stmt.sid][-1][0]
        spots = [self.unit.place[r.sid] for r in self.unit.readers.get(name, ())]
        return all((p[:-1], p[-1][0]) == here for p in spots)

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
                    self.bind(stmt, ast.Attribute(self.dot(obj, 1), attr, ast.Load()))
                else:
                    self.bind_zero(stmt)
            case _:
                self.target_rule(stmt, expr, target)

    def bind_zero(self, stmt: ir.Assign) -> None:
        t = self.unit.type(stmt.target.name)
        if isinstance(t, ty.Number):
            self.bind(stmt, syn.number(0.0))
            return
        # The shape is known only once the value is.
        self.text.named.add(stmt.target.name)
        node = self.primal_name(stmt.target)
        if isinstance(t, ty.Array):
            shape, dtype = (ast.Attribute(node, k, ast.Load()) for k in ("shape", "dtype"))
            self.bind(stmt, self.module.numpy("zeros", shape, dtype), late=True)
        else:
            made = self.support("full_tangent", syn.number(None), node)
            self.bind(stmt, made, late=True)

    def display(self, expr: ir.Build) -> ast.expr:
        items: list[ast.expr] = []
        for i in expr.items:
            node = self.dot(ir.unstar(i), 1)
            items.append(ast.Starred(node, ast.Load()) if isinstance(i, ir.Star) else node)
        if expr.kind == "dict":
            keys = [None if k is None else self.primal(k) for k in expr.keys]
            return ast.Dict(keys, items)
        return (
            ast.Tuple(items, ast.Load()) if expr.kind == "tuple" else ast.List(items, ast.Load())
        )

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
                dots = [self.dot(a, 1) for b in target.args for a in bound_atoms(b)]
                if issubclass(target.cls, tuple) and isinstance(expr, ir.Call):
                    self.bind(stmt, ast.Call(self.text.atom(expr.fn), dots, []))
                else:
                    keys: list[ast.expr | None] = [ast.Constant(f) for f in target.fields]
                    self.bind(stmt, self.support("record_bar", ast.Dict(keys, dots)))
            case _:
                if any(self.active(a) for a in ir.operands(expr)):
                    raise self.no_rule(stmt, expr, target)
                self.bind_zero(stmt)

    def no_rule(self, stmt: ir.Stmt, expr: ir.Expr, target: object) -> Exception:
        what = target.what if isinstance(target, Uncharted) else "this operation"
        atoms = [a for a in ir.operands(expr) if isinstance(a, ir.Var) and self.active(a)]
        return located(
            MissingRule,
            stmt.loc,
            f"no derivative rule for {what}",
            chain=self.unit.act.chain(atoms[0].name) if atoms else (),
            fixes=[
                f"give a rule with @srcgrad.rule({what})",
                "mark the value constant with srcgrad.stop_gradient(...)",
            ],
        )

    # ---- library functions ----

    def library(self, stmt: ir.Assign, call: Library) -> None:
        entry = call.entry
        if entry.kind in ("function", "custom", "jvp"):
            forwardrules.tangent(self, stmt, call)
            return
        if entry.kind == "nondiff":
            self.bind_zero(stmt)
            return
        if entry.kind == "parallel":
            self.bind(stmt, self.moved(call))
            return
        active = [
            (p, b) for p, b in call.args
            if p not in entry.zero and any(self.active(a) for a in bound_atoms(b))
        ]  # fmt: skip
        if entry.kind == "refuse" and any(self.active(a) for a in ir.operands(stmt.value)):
            raise located(
                MissingRule, stmt.loc, f"{entry.name} can't be differentiated: {entry.note}",
                fixes=["mark the value constant with srcgrad.stop_gradient(...)"],
            )  # fmt: skip
        if not active:
            self.bind_zero(stmt)
            return
        if entry.kind == "linear":
            self.linear(stmt, call, active)
            return
        total: ast.expr | None = None
        late = False
        for param, b in active:
            node, reads = self.term(stmt, call, param, b)
            late = late or reads
            total = node if total is None else forwardrules.sum_of(self, stmt, entry, total, node)
        assert total is not None
        self.finish(stmt, call, total, late)

    def moved(self, call: Library) -> ast.expr:
        """The same move of tangents: each active argument is replaced by its tangent."""
        args = []
        for p, b in call.args:
            assert not isinstance(b, Packed)
            still = p == "t"  # itself a tangent, which does not move here
            rest = syn.number(None) if still else self.primal(b)
            args.append(self.dot(b) if self.active(b) else rest)
        return ast.Call(function_text(self.module, call.entry.target), args, [])

    def term(self, stmt: ir.Assign, call: Library, param: str, b: Bound) -> tuple[ast.expr, bool]:
        """One argument's share of the tangent, and whether it reads the result."""
        found = jvp_terms(self.unit.facts, call, param)
        if found is None:
            raise self.not_differentiable(stmt, call, param, b)
        formula, env = found
        parts: dict[str, ast.expr] = {"out": syn.name(RESULT_HERE)}
        dots = f"{param}_dot"
        mentions = sum(isinstance(n, ast.Name) and n.id in ("g", dots) for n in asts.walk(formula))
        tangent = self.tangent_of_bound(b, mentions)
        parts[dots] = tangent
        if call.entry.kind == "elementwise":
            parts["g"] = tangent
        for n in _names(formula):
            if n in HELPERS or n in parts or n not in env:
                continue
            parts[n] = self.bound(env[n])
        made = syn.substitute(self.module.formula(formula), parts)
        return syn.simplify(made), "out" in _names(formula)

    def tangent_of_bound(self, b: Bound, mentions: int) -> ast.expr:
        if isinstance(b, Packed):
            return syn.tuple_of(self.dot(ir.unstar(i)) for i in b.items)
        return self.dot(b, mentions)

    def bound(self, b: Bound | ast.expr) -> ast.expr:
        if isinstance(b, ast.expr):
            return b
        if isinstance(b, Packed):
            return syn.tuple_of(self.primal(ir.unstar(i)) for i in b.items)
        return self.primal(b)

    def not_differentiable(self, stmt: ir.Stmt, call: Library, param: str, b: Bound) -> Exception:
        atoms = [a.name for a in bound_atoms(b) if isinstance(a, ir.Var) and self.active(a)]
        return located(
            NotDifferentiable,
            stmt.loc,
            f"{call.entry.name} has no derivative with respect to {param}",
            chain=self.unit.act.chain(atoms[0]) if atoms else (),
            fixes=[f"give a rule with @srcgrad.rule({call.entry.name})"],
        )

    def spreads(self, stmt: ir.Assign, call: Library) -> bool:
        """Whether the tangent may have fewer elements than the result: an operand is broadcast."""
        if call.entry.kind != "elementwise":
            return False
        result = self.unit.type(stmt.target.name)
        if isinstance(result, ty.Number):
            return False
        for param, b in call.args:
            if isinstance(b, Packed) or not self.active(b):
                continue
            if same_shape(self.unit.facts.of(b), result):
                return False
            found = jvp_terms(self.unit.facts, call, param)
            if found is None:
                continue
            env = environment(call)
            for n in _names(found[0]):
                got = env.get(n)
                if isinstance(got, ir.Var) and same_shape(self.unit.facts.of(got), result):
                    return False
        return True

    def finish(self, stmt: ir.Assign, call: Library, node: ast.expr, late: bool) -> None:
        """Bind a tangent: of the result's shape; memory of its own where it is written later."""
        name = stmt.target.name
        memory = self.unit.kind(name) == "memory"
        if memory and call.entry.view != "never" and self.unit.aliases(stmt) is not None:
            here = {RESULT_HERE: self.primal_name(stmt.target)}
            self.finish_linear(stmt, call, syn.substitute(node, here))
            return
        if self.spreads(stmt, call):
            late = True
            node = self.support("broadcast_like", node, syn.name(RESULT_HERE))
        node = syn.simplify(node)
        if memory and not is_fresh(node):
            late = True
            node = self.support("tangent_like", node, syn.name(RESULT_HERE))
        elif parts_of(node) & self.written:
            # `y = x + 1.0` has x's tangent: a copy of it where x is written to.
            node = copied(self.module, node, self.unit.type(name))
        if late:
            self.text.named.add(name)
            self.bind_late(stmt, node)
        else:
            self.bind(stmt, node)

    def bind_late(self, stmt: ir.Assign, node: ast.expr) -> None:
        """A tangent that reads the result is computed after it; what it reads must still be
        there."""
        name = self.text.var(stmt.target.name)
        dot = self.dot_name(stmt.target.name)
        clash = name in syn.names_in(node)  # the tangent reads the older value of the same name
        if clash:
            # v = f(v): the result gets a name of its own first.
            kept = self.text.names.temporary()
            value = self.printer({}).expr(stmt.value)
            self.emit(syn.assign(kept, value))
            self.kept[stmt.sid] = kept
            self.emit(
                syn.assign(dot, syn.simplify(syn.substitute(node, {RESULT_HERE: syn.name(kept)})))
            )
            return
        node = syn.simplify(syn.substitute(node, {RESULT_HERE: syn.name(name)}))
        self.late.setdefault(stmt.sid, []).append(syn.assign(dot, node))

    def linear(self, stmt: ir.Assign, call: Library, active: list[tuple[str, Bound]]) -> None:
        """A function that is linear in its arguments is its own tangent."""
        entry = call.entry
        formulas = {p for p in entry.vjps if entry.vjps[p] is not None}
        for p, b in active:
            if p not in formulas:
                raise self.not_differentiable(stmt, call, p, b)
        args: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        positional = True
        assert entry.params is not None
        kinds = entry.params.parameters
        order = list(kinds)
        for k, (p, b) in enumerate(call.args):
            node = self.linear_argument(b, p in formulas)
            kind = kinds[p].kind if p in kinds else None
            if kind is not None and kind.name == "VAR_POSITIONAL":
                assert isinstance(node, ast.Tuple)
                args += node.elts
                continue
            positional = positional and k < len(order) and order[k] == p
            if positional and kind is not None and kind.name != "KEYWORD_ONLY":
                args.append(node)
            else:
                keywords.append(ast.keyword(p, node))
        fn = self.function(stmt, call)
        made = ast.Call(fn, args, keywords)
        self.finish_linear(stmt, call, made)

    def function(self, stmt: ir.Assign, call: Library) -> ast.expr:
        """The function called, as text: an operator or method becomes its function."""
        if isinstance(stmt.value, ir.Call) and isinstance(stmt.value.fn, ir.Global):
            return self.module.atom(stmt.value.fn)
        return function_text(self.module, call.entry.target)

    def linear_argument(self, b: Bound, linear: bool) -> ast.expr:
        if isinstance(b, Packed):
            items = [
                self.dot(ir.unstar(i)) if linear else self.primal(ir.unstar(i)) for i in b.items
            ]
            return ast.Tuple(items, ast.Load())
        if not linear:
            return self.primal(b)
        if isinstance(self.unit.facts.of(b), ty.List | ty.Tuple | ty.Unknown) and self.active(b):
            return self.support("filled", self.dot(b, 1), self.primal(b))
        return self.dot(b, 1)

    def finish_linear(self, stmt: ir.Assign, call: Library, node: ast.expr) -> None:
        name = stmt.target.name
        if self.unit.kind(name) != "memory":
            self.bind(stmt, node)
            return
        alias = self.unit.aliases(stmt)
        self.text.named.add(name)
        if alias is not None and call.entry.view == "maybe":
            made = self.support(
                "view_dot",
                self.primal_name(stmt.target),
                self.primal(alias),
                node,
                self.dot(alias),
            )
            self.late.setdefault(stmt.sid, []).append(syn.assign(self.dot_name(name), made))
        elif alias is not None:
            self.bind(stmt, node)
        else:
            made = self.support("tangent_like", node, self.primal_name(stmt.target))
            self.late.setdefault(stmt.sid, []).append(syn.assign(self.dot_name(name), made))

    # ---- containers ----

    def container(self, stmt: ir.Assign, expr: ir.Expr, target: Container) -> None:
        if isinstance(expr, ir.Op):
            dots = [self.support("like_items", self.dot(a), self.primal(a)) for a in expr.args]
            self.bind(stmt, ast.BinOp(dots[0], ast.Add(), dots[1]))
            return
        if isinstance(expr, ir.Call):
            source = ir.operands(expr)[1] if len(ir.operands(expr)) > 1 else None
            if source is None or not self.active(source):
                self.bind_zero(stmt)
            elif target.name == "alias":
                self.bind(stmt, self.support("alias_dot", self.dot(source), self.primal(source)))
            else:
                self.bind(stmt, syn.call(target.name, self.dot(source, 1)))
            return
        assert isinstance(expr, ir.Method)
        if not self.active(expr.obj):
            self.bind_zero(stmt)
            return
        if target.name in ("pop", "get", "copy", "setdefault", "values", "items"):
            args: list[ast.expr] = [self.primal(ir.unstar(a)) for a in expr.args]
            if target.name in ("get", "setdefault") and len(args) > 1:
                args[1] = self.dot(ir.unstar(expr.args[1]))
            method = ast.Attribute(self.dot(expr.obj), target.name, ast.Load())
            if target.name in ("values", "items"):
                raise located(
                    UnsupportedSyntax, stmt.loc, f"dict.{target.name}() outside a for loop",
                    fixes=["loop over the keys"],
                )  # fmt: skip
            self.bind(stmt, ast.Call(method, args, []))
            return
        raise self.no_rule(stmt, expr, Uncharted(f"the method {target.name}", ""))

    def effect(self, stmt: ir.Effect | ir.Assign) -> None:
        target = self.unit.facts.targets.get(stmt.sid)
        expr = stmt.value
        if isinstance(target, Container) and isinstance(expr, ir.Method):
            if not self.active(expr.obj) or (isinstance(stmt, ir.Assign) and target.name != "pop"):
                return
            args = [ir.unstar(a) for a in expr.args]
            dots = [self.dot(a) for a in args]
            match target.name:
                case "append" | "extend":
                    pass
                case "insert":
                    dots[0] = self.primal(args[0])
                case "pop" | "clear" | "reverse":
                    dots = [self.primal(a) for a in args]
                case _:
                    raise located(
                        UnsupportedSyntax, stmt.loc,
                        f"the method {target.name} changes a value that carries a derivative",
                        fixes=["build a new one instead"],
                    )  # fmt: skip
            method = ast.Attribute(self.dot(expr.obj), target.name, ast.Load())
            self.emit(ast.Expr(ast.Call(method, dots, [])))
            return
        if isinstance(target, Library) and target.entry.kind == "parallel":
            self.emit(ast.Expr(self.moved(target)))
            return
        if isinstance(target, Library):
            library_effect(stmt, target)
        raise self.no_rule(stmt, expr, target)

    # ---- memory ----

    def operator_tangent(
        self, op: str, left: tuple[ast.expr, ast.expr], e: ir.Atom, place: ty.Type
    ) -> ast.expr:
        """The tangent of `left op e`; left is (primal, tangent)."""
        entry = self.unit.program.rule(OPERATORS[op])
        assert entry is not None and entry.params is not None
        one, two = list(entry.params.parameters)[:2]
        held = ir.Var("%held")
        self.unit.facts.types[held.name] = place
        call = Library(entry, ((one, held), (two, e)))
        total: ast.expr | None = None
        out = self.text.operator(op, [left[0], self.primal(e)])
        for param in (one, two):
            if param == two and not self.active(e):
                continue
            found = jvp_terms(self.unit.facts, call, param)
            if found is None:
                continue
            formula, env = found
            tangent = left[1] if param == one else self.dot(e)
            parts: dict[str, ast.expr] = {"g": tangent, f"{param}_dot": tangent, "out": out}
            for n in _names(formula):
                if n in HELPERS or n in parts or n not in env:
                    continue
                parts[n] = left[0] if n == one else self.bound(env[n])
            node = syn.simplify(syn.substitute(self.module.formula(formula), parts))
            total = node if total is None else syn.add(total, node)
        assert total is not None
        return total

    def inplace(self, stmt: ir.Assign) -> None:
        """`u op= e` on an array or something of unknown type."""
        name, op = stmt.target.name, stmt.inplace
        assert op is not None and isinstance(stmt.value, ir.Op)
        e, t = stmt.value.args[1], self.unit.type(name)
        u, dot = self.primal_name(stmt.target), syn.name(self.dot_name(name))
        if isinstance(t, ty.Array):
            if op in ("add", "sub"):
                if self.active(e):
                    kind = ast.Add() if op == "add" else ast.Sub()
                    self.emit(ast.AugAssign(ast.Name(dot.id, ast.Store()), kind, self.dot(e)))
                return
            node = self.operator_tangent(op, (u, dot), e, t)
            self.emit(syn.assign(syn.expr("a[...]", a=dot), node))
            return
        if self.list_extend(stmt, e):
            return
        node = self.operator_tangent(op, (u, dot), e, ty.UNKNOWN)
        made, old = self.text.names.temporary(), self.text.names.temporary()
        self.emit(syn.assign(made, node))
        self.emit(syn.assign(old, u))
        back = self.support("inplace_dot", u, syn.name(old), dot, syn.name(made))
        self.late.setdefault(stmt.sid, []).append(syn.assign(self.dot_name(name), back))

    def list_extend(self, stmt: ir.Assign, e: ir.Atom) -> bool:
        if not isinstance(self.unit.type(stmt.target.name), ty.List) or stmt.inplace != "add":
            return False
        self.emit(
            ast.AugAssign(
                ast.Name(self.dot_name(stmt.target.name), ast.Store()), ast.Add(), self.dot(e)
            )
        )
        return True

    def store(self, stmt: ir.Store) -> None:
        """`u[k] = e`: the same store of tangents."""
        if not isinstance(stmt.base, ir.Var):
            raise located(
                UnsupportedSyntax, stmt.loc,
                "a value with a derivative is written into an object from outside the function",
                fixes=["make the buffer inside the function, or pass it as an argument"],
            )  # fmt: skip
        t = self.unit.type(stmt.base.name)
        if isinstance(t, ty.Array) and not ty.can_be_active(t) and self.active(stmt.value):
            raise located(
                NotDifferentiable, stmt.loc,
                f"a value with a derivative is stored into {stmt.base.name}, "
                f"whose dtype {t.dtype} "
                "truncates it",
                fixes=["make the array of floats, for instance np.zeros(n)"],
            )  # fmt: skip
        key = self.printer({}).key(stmt.key)
        dot = self.dot(stmt.base)
        place = ast.Subscript(dot, key, ast.Load())
        if stmt.op is None:
            if isinstance(t, ty.Array):
                value = self.dot(stmt.value) if self.active(stmt.value) else syn.number(0.0)
                self.emit(syn.assign(place, value))
                return
            value = self.dot(stmt.value)
            if not self.active(stmt.value):
                value = self.support("bar", self.primal(stmt.value))
            made = self.support(
                "store_dot", self.primal(stmt.base), dot, self.key_value(stmt.key), value
            )
            self.emit(ast.Expr(made))
            return
        if stmt.op in ir.AT_OPERATORS:
            if self.active(stmt.value):
                fn = f"{ir.AT_OPERATORS[stmt.op]}.at"
                node = self.module.numpy(fn, dot, self.key_value(stmt.key), self.dot(stmt.value))
                self.emit(ast.Expr(node))
            return
        if stmt.op in ("add", "sub"):
            if self.active(stmt.value):
                kind = ast.Add() if stmt.op == "add" else ast.Sub()
                self.emit(ast.AugAssign(syn._as_store(place), kind, self.dot(stmt.value)))  # type: ignore[arg-type]
            return
        old = ast.Subscript(self.primal(stmt.base), key, ast.Load())
        node = self.operator_tangent(stmt.op, (old, place), stmt.value, self.unit.place_type(stmt))
        self.emit(syn.assign(place, node))

    def key_value(self, key: ir.Key) -> ast.expr:
        return key_value(key, self.primal)

    # ---- user functions ----

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
        spec = Spec(target.fn, target.types, tuple(active), groups, result_active, False)
        name = self.owner.callee(spec)
        args: list[ast.expr] = [self.call_argument(b) for b in target.args]
        if target.closure is not None:
            base = self.primal(target.closure)
            args += [syn.expr("c[k]", c=base, k=syn.number(k)) for k in range(free)]
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

    def starred(self, i: ir.Atom | ir.Star, node: ast.expr) -> ast.expr:
        return ast.Starred(node, ast.Load()) if isinstance(i, ir.Star) else node


class _Printer(Text):
    """Prints expressions over atoms, cheap temporaries computed again."""

    walk: Walk
    swap: dict[str, ast.expr]

    def atom(self, a: ir.Atom) -> ast.expr:
        if isinstance(a, ir.Var) and a.name in self.swap:
            return self.swap[a.name]
        return self.walk.primal(a)

    def var(self, name: str) -> str:
        return self.walk.text.var(name)
