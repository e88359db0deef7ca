"""The ground of forward mode: fields, names, and how tangents are written down."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from srcgrad.analysis.partials import _names, environment, jvp_terms, same_shape
from srcgrad.analysis.record.needs import NeedsTable
from srcgrad.analysis.targets import UNNAMED, Library, Packed, Uncharted, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.errors import MissingRule, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.dead import unread_statements
from srcgrad.transform.parameters import tangents_name
from srcgrad.transform.text import Text
from srcgrad.transform.uses import uses_of

if TYPE_CHECKING:
    from srcgrad.transform.tangent.functions import Tangent

RESULT_HERE = "%out"  # stands for the statement's own result until its name is known


@dataclass
class Base:
    """What the layers of forward mode share: each derives from the one below it."""

    owner: Tangent
    unit: Unit
    text: Text = field(init=False)
    needs: NeedsTable = field(init=False)
    waiting: dict[str, ast.expr] = field(default_factory=dict)
    late: dict[int, list[ast.stmt]] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)  # results that were computed beforehand
    written: set[str] = field(default_factory=set)  # tangents in memory that is written to
    results: list[ast.Tuple] = field(default_factory=list)  # what is returned and holds memory
    out: list[ast.stmt] = field(default_factory=list)

    def __post_init__(self) -> None:
        taken = {n for n in self.unit.facts.types if "%" not in n} | set(self.unit.params)
        for s in ir.walk(self.unit.body):
            taken |= {v.name for v in (*ir.reads(s), *ir.writes(s)) if "%" not in v.name}
        names = Names((taken - {""}) | {tangents_name(self.unit)})
        self.module = self.owner.module
        program = self.owner.program
        self.text = Text(self.module, self.unit.facts, names, program=program, unit=self.unit)
        self.needs = NeedsTable(self.unit)
        self.text.uses = uses_of(self.unit.body, self.unit.is_active)
        self.text.named = self.named()
        self.text.dead, self.text.may_raise = unread_statements(self.unit, self.text.uses)

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
            out |= {v.name for v in self.unit.may_compute(stmt) if "%" in v.name}
            if self.unit.may_truncate(stmt):
                out |= {v.name for v in ir.reads(stmt) if "%" in v.name}
            if not self.touches(stmt):
                continue
            named_there = self.mentions_what_it_reads(stmt)
            for v in ir.reads(stmt):
                roots = {n for n in self.needs.roots_of([v])[0] if "%" in n}
                out |= roots - {v.name} if named_there else roots
            if any("%" in v.name for v in ir.writes(stmt)) and self.reads_out(stmt):
                out |= {v.name for v in ir.writes(stmt)}
        return out

    def mentions_what_it_reads(self, stmt: ir.Stmt) -> bool:
        """Whether the tangent is written by `primal` alone, which names what it mentions."""
        target = self.unit.facts.targets.get(stmt.sid)
        if isinstance(target, Library):
            return target.entry.kind in ("elementwise", "structured", "linear")
        plain = isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Index | ir.Var)
        return target is None and (plain or isinstance(stmt, ir.Store | ir.Exit))

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
        if isinstance(target, Library) and target.entry.kind == "linear":
            return self.unit.kind(stmt.target.name) == "memory"
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

    # ---- printing ----

    def support(self, fn: str, *args: ast.expr) -> ast.expr:
        return self.module.support(fn, *args)

    def primal(self, a: ir.Atom) -> ast.expr:
        if isinstance(a, ir.Var):
            again = self.needs.again(a.name)
            if again is None or self.is_at_hand(a.name):
                return self.primal_name(a)
            return self.printer({}).expr(again.value)
        return self.module.atom(a)

    def is_at_hand(self, name: str) -> bool:
        """Whether a number has a name anyway, for its own tangent is a formula that reads it."""
        return name in self.text.named and isinstance(self.unit.type(name), ty.Number)

    def primal_name(self, v: ir.Var) -> ast.expr:
        """The name of a variable; an expression that waits for its use gets one."""
        name = self.text.var(v.name)
        waiting = self.text.pending.pop(v.name, None)
        if waiting is not None:
            self.emit(self.text.primal(syn.assign(name, waiting.node), waiting.made_of))
        return syn.name(name)

    def printer(self, swap: dict[str, ast.expr]) -> _Printer:
        made = _Printer(self.module, self.text.facts, self.text.names)
        made.owner, made.swap = self, swap
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

    def starred(self, i: ir.Atom | ir.Star, node: ast.expr) -> ast.expr:
        return ast.Starred(node, ast.Load()) if isinstance(i, ir.Star) else node

    def zero(self, a: ir.Atom) -> ast.expr:
        t = self.unit.facts.of(a)
        if isinstance(t, ty.Number):
            return syn.number(0.0)
        if isinstance(t, ty.Array) and ty.can_be_active(t) and isinstance(a, ir.Var):
            node = self.primal(a)
            shape, dtype = (ast.Attribute(node, k, ast.Load()) for k in ("shape", "dtype"))
            return self.module.numpy("zeros", shape, dtype)
        if not ty.can_be_active(t) and not isinstance(t, ty.Array):
            return syn.number(None)
        return self.support("full_tangent", syn.number(None), self.primal(a))

    # ---- writing ----

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

    def no_rule(self, stmt: ir.Stmt, expr: ir.Expr, target: object) -> Exception:
        missing = target if isinstance(target, Uncharted) else UNNAMED
        atoms = [a for a in ir.operands(expr) if isinstance(a, ir.Var) and self.active(a)]
        return located(
            MissingRule,
            stmt.loc,
            f"no derivative rule for {missing.text}",
            chain=self.unit.act.chain(atoms[0].name) if atoms else (),
            fixes=missing.fixes,
        )


class _Printer(Text):
    """Prints expressions over atoms, cheap temporaries computed again."""

    owner: Base
    swap: dict[str, ast.expr]

    def atom(self, a: ir.Atom) -> ast.expr:
        if isinstance(a, ir.Var) and a.name in self.swap:
            return self.swap[a.name]
        return self.owner.primal(a)

    def var(self, name: str) -> str:
        return self.owner.text.var(name)
