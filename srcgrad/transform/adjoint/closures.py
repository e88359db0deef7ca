"""Nested functions as values.

Where a nested function is written out it is the tuple of what it captures, and its body a function
of the module that gets these as further arguments.  A function that the program got from a call
which is not differentiated is a function of Python; what it captures is then in its cells.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Library, User
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import Module
from srcgrad.transform.text import Text
from srcgrad.transform.uses import uses_of

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.places import Places


@dataclass(frozen=True)
class Part:
    """One captured variable of a closure value, as something that an adjoint comes back for."""

    closure: ir.Var
    k: int


def is_written_out(facts: Facts, name: str) -> bool:
    """Whether a closure variable is surely a tuple of what the function captures."""
    defs = [s for s in ir.walk(facts.fn.body) if any(v.name == name for v in ir.writes(s))]
    return bool(defs) and all(
        isinstance(d, ir.Assign)
        and (
            isinstance(d.value, ir.Closure)
            or (
                isinstance(d.value, ir.Var)
                and d.value.name != name
                and is_written_out(facts, d.value.name)
            )
        )
        for d in defs
    )


def is_python(facts: Facts, closure: ir.Atom, differentiated: Callable[[ir.Stmt], bool]) -> bool:
    """Whether a closure variable is surely a function of Python: it comes from a call that is
    written as the user wrote it."""
    if not isinstance(closure, ir.Var):
        return False
    defs = [s for s in ir.walk(facts.fn.body) if any(v.name == closure.name for v in ir.writes(s))]
    if len(defs) != 1 or not isinstance(defs[0], ir.Assign):
        return False
    match defs[0].value:
        case ir.Var() as source:
            return is_python(facts, source, differentiated)
        case ir.Index(obj, _):
            return is_python(facts, obj, differentiated)
    target = facts.targets.get(defs[0].sid)
    return isinstance(target, User) and target.fn.fn is not None and not differentiated(defs[0])


def parts(module: Module, facts: Facts, target: User, base: ast.expr) -> list[ast.expr]:
    """What a closure value captures, as the further arguments of its function."""
    assert isinstance(target.closure, ir.Var)
    n = len(target.types) - len(target.args)
    return captured_parts(module, facts, target.closure, target.fn.free[:n], base)


def captured_parts(
    module: Module, facts: Facts, closure: ir.Var, free: Sequence[str], base: ast.expr
) -> list[ast.expr]:
    """The values of the variables `free` that a closure, printed as `base`, captures."""
    if is_written_out(facts, closure.name):
        if isinstance(base, ast.Tuple):
            return list(base.elts)
        return [syn.expr("c[k]", c=base, k=syn.number(k)) for k in range(len(free))]
    return [
        module.support("captured", base, syn.number(k), ast.Constant(name))
        for k, name in enumerate(free)
    ]


def add_part(rev: Places, part: Part, node: ast.expr) -> None:
    """Add to the adjoint of one captured variable."""
    name = part.closure.name
    if not rev.unit.is_active(name):
        return
    rev.own_container(name)
    t = rev.unit.type(name)
    item = t.free[part.k] if isinstance(t, ty.ClosureType) else ty.UNKNOWN
    if isinstance(item, ty.Number | ty.Array):
        place = ast.Subscript(rev.bar_node(name), syn.number(part.k), ast.Load())
        rev.emit(syn.augment(place, ast.Add(), node))
        return
    made = rev.module.support("item_add", rev.bar_node(name), syn.number(part.k), node)
    rev.emit(ast.Expr(made))


@dataclass
class Plain:
    """Nested functions as functions of the module, for calls that no derivative passes through."""

    program: Program
    module: Module
    order: list[list[ast.stmt]]
    names: dict[tuple[ir.Function, tuple[ty.Type, ...]], str] = field(default_factory=dict)

    def is_written_out(self, facts: Facts, stmt: ir.Stmt) -> bool:
        """Whether a statement calls a nested function or, for Numba, any function with source."""
        if is_nested_call(facts, stmt):
            return True
        called = isinstance(stmt, ir.Assign | ir.Effect)
        user = isinstance(facts.targets.get(stmt.sid), User)
        return called and user and self.module.backend == "numba"

    def call(
        self, facts: Facts, stmt: ir.Stmt, print_bound: Callable[[object], ast.expr],
        print_atom: Callable[[ir.Atom], ast.expr], differentiated: Callable[[ir.Stmt], bool],
    ) -> ast.expr | None:  # fmt: skip
        """The call of a statement, when it is one of a nested function that is written out."""
        target = facts.targets.get(stmt.sid)
        if isinstance(target, Library) and isinstance(target.entry.target, ir.Function):
            assert target.source is not None
            made = self.call_of(target.source, print_bound)
            return made if target.entry.kind == "nondiff" else syn.expr("t[0]", t=made)
        if not isinstance(target, User) or not self.is_written_out(facts, stmt):
            return None
        if target.closure is not None and is_python(facts, target.closure, differentiated):
            return None
        args = [print_bound(b) for b in target.args]
        if target.closure is not None:
            args += parts(self.module, facts, target, print_atom(target.closure))
        return syn.call(self.of(target.fn, target.types), *args)

    def call_of(self, source: User, print_bound: Callable[[object], ast.expr]) -> ast.expr:
        return syn.call(self.of(source.fn, source.types), *map(print_bound, source.args))

    def of(self, fn: ir.Function, types: tuple[ty.Type, ...]) -> str:
        """The name of the function, which is written when it is first asked for."""
        key = (fn, types)
        got = self.names.get(key)
        if got is None:
            base = fn.name if fn.name.isidentifier() else "function"
            got = self.names[key] = self.module.unique(f"{base}_value")
            self.order.append([self.write(fn, types, got)])
        return got

    def write(self, fn: ir.Function, types: tuple[ty.Type, ...], name: str) -> ast.stmt:
        facts = self.program.facts(fn, types)
        body = facts.fn.body
        taken = {n.split("%")[0] for n in facts.types}
        for s in ir.walk(body):
            taken |= {v.name.split("%")[0] for v in (*ir.reads(s), *ir.writes(s))}
        text = Text(self.module, facts, Names(taken - {""}), program=self.program)
        text.uses = forward_uses(facts, body)

        def bound(b: object) -> ast.expr:
            from srcgrad.analysis.targets import Packed

            return packed(text, b) if isinstance(b, Packed) else text.atom(b)  # type: ignore[arg-type]

        def replaces(stmt: ir.Stmt) -> list[ast.stmt] | None:
            made = self.call(facts, stmt, bound, text.atom, lambda _: False)
            if made is None:
                return None
            if isinstance(stmt, ir.Assign):
                return [syn.assign(text.var(stmt.target.name), made)]
            return [ast.Expr(made)]

        text.replaces = replaces
        text.is_replaced = lambda stmt: self.is_written_out(facts, stmt)
        params = [ast.arg(p.name) for p in facts.fn.params] + [ast.arg(n) for n in facts.fn.free]
        args = ast.arguments([], params, None, [], [], None, [])
        lines = text.block(body) or [ast.Pass()]
        return ast.FunctionDef(name, args, lines, [], None, None)  # type: ignore[call-arg, unused-ignore]


def is_nested_call(facts: Facts, stmt: ir.Stmt) -> bool:
    target = facts.targets.get(stmt.sid)
    if not isinstance(stmt, ir.Assign | ir.Effect) or stmt.sid in facts.replayed:
        return False
    if isinstance(target, Library):
        return isinstance(target.entry.target, ir.Function)
    return isinstance(target, User) and target.fn.fn is None


def forward_uses(facts: Facts, body: ir.Block) -> dict[str, list[int]]:
    """Reads of variables by the printed code, which names nested functions, not their values."""
    uses = uses_of(body)
    for stmt in ir.walk(body):
        if isinstance(stmt, ir.Assign | ir.Effect) and isinstance(stmt.value, ir.Call):
            target, fn = facts.targets.get(stmt.sid), stmt.value.fn
            own = isinstance(target, Library) and isinstance(target.entry.target, ir.Function)
            if own and isinstance(fn, ir.Var) and stmt.sid in uses.get(fn.name, ()):
                uses[fn.name].remove(stmt.sid)
    return uses


def packed(text: Text, b: object) -> ast.expr:
    """Arguments gathered for `*args` or `**kwargs`, as one value."""
    from srcgrad.analysis.targets import Packed

    assert isinstance(b, Packed)
    items = [text.arg(i) for i in b.items]
    if b.kind == "tuple":
        return ast.Tuple(items, ast.Load())
    keys: list[ast.expr | None] = [None if k is None else ast.Constant(k) for k in b.keys]
    return ast.Dict(keys, items)
