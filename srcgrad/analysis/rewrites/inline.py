"""Calls of small functions are replaced by the statements of the function.

    def phi(a):                          for i in range(n):
        e = math.exp(a)                      phi_e = math.exp(x[i])
        return e * e               ->        s = s + phi_e * phi_e
    for i in range(n):
        s = s + phi(x[i])

    def slope(y, out):                   for t in range(n):
        for i in range(y.size):              for slope_i in range(y.size):
            out[i] = -y[i]         ->            k[slope_i] = -y[slope_i]
    for t in range(n):
        slope(y, k)

What their reverse sweep reads is kept as any number of a loop is, not in tuples of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from srcgrad.analysis import webs
from srcgrad.analysis.rewrites.inlinable import statements_of
from srcgrad.analysis.targets import User
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.rebuild import map_own, with_blocks

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts
    from srcgrad.analysis.resolve import Program

ROOM = 400  # statements that one function may get in the place of calls


def inline(program: Program, facts: Facts) -> ir.Function | None:
    """The function without calls of small ones, or None when it has none."""
    fn = facts.fn
    first = 1 + max((s.sid for s in ir.walk(fn.body)), default=0)
    names = {v.name for s in ir.walk(fn.body) for v in (*ir.reads(s), *ir.writes(s))}
    grown = len(ir.walk(fn.body)) - len(ir.walk(facts.base.body if facts.base else fn.body))
    taken = names | {p.name for p in fn.params}
    work = _Inline(program, facts, count(first), taken, ROOM - grown)
    body = work.block(fn.body)
    return webs.split(replace(fn, body=body)) if work.changed else None


@dataclass
class _Inline:
    program: Program
    facts: Facts
    sids: Iterator[int]
    taken: set[str]
    room: int
    changed: bool = False

    def block(self, block: ir.Block) -> ir.Block:
        out: list[ir.Stmt] = []
        for stmt in block:
            target = self.facts.targets.get(stmt.sid)
            if _is_call(stmt) and isinstance(target, User):
                inner = self._small(stmt, target)
                out += [stmt] if inner is None else self._statements(stmt, target, inner)
            elif isinstance(stmt, ir.With):  # rules in force in it aren't for the function's calls
                out.append(stmt)
            else:
                out.append(with_blocks(stmt, tuple(map(self.block, ir.blocks(stmt)))))
        return tuple(out)

    def _small(self, stmt: ir.Stmt, target: User) -> ir.Function | None:
        """The function that a call reaches, in its final form, if it is small."""
        result = self.facts.of(stmt.target) if isinstance(stmt, ir.Assign) else None
        plain = result is None or isinstance(result, ty.Number | ty.Array)
        known = all(isinstance(t, ty.Number | ty.Array) for t in target.types)
        atoms = all(isinstance(a, ir.Var | ir.Const | ir.Global) for a in target.args)
        if not (plain and known and atoms) or target.closure is not None or target.fn.free:
            return None
        inner = self.program.settled(target.fn, target.types)
        if inner is None or len(inner.fn.params) != len(target.args):
            return None
        found = statements_of(inner, gives=isinstance(stmt, ir.Assign))
        if found is None or len(found) > self.room:
            return None
        self.room -= len(found)
        return inner.fn

    def _statements(self, stmt: ir.Stmt, target: User, inner: ir.Function) -> list[ir.Stmt]:
        """The statements of a function for one call, with variables of their own."""
        self.changed = True
        shown = dict(inner.webs)
        atoms: dict[str, ir.Atom] = {
            v: self._fresh(inner, shown.get(v, v))
            for v in sorted({v.name for s in ir.walk(inner.body) for v in ir.writes(s)})
        }
        named = _named(inner)
        out: list[ir.Stmt] = []
        for p, given in zip(inner.params, target.args, strict=True):
            assert isinstance(given, ir.Var | ir.Const | ir.Global)
            if p.name not in atoms and named(p.name, given):
                atoms[p.name] = self._fresh(inner, p.name)
            if p.name in atoms:
                var = atoms[p.name]
                assert isinstance(var, ir.Var)
                out.append(ir.Assign(next(self.sids), stmt.loc, var, given))
            else:
                atoms[p.name] = given

        def through(a: ir.Atom) -> ir.Atom:
            return atoms[a.name] if isinstance(a, ir.Var) else a

        def renamed(block: ir.Block) -> ir.Block:
            made = []
            for s in block:
                s = replace(map_own(s, through, through), sid=next(self.sids))
                made.append(with_blocks(s, tuple(map(renamed, ir.blocks(s)))))
            return tuple(made)

        body = renamed(inner.body)
        last = body[-1] if body else None
        if isinstance(last, ir.Exit):
            body = body[:-1]
        if isinstance(stmt, ir.Assign):
            assert isinstance(last, ir.Exit) and last.value is not None
            return [*out, *body, replace(stmt, value=last.value)]
        return [*out, *body]

    def _fresh(self, inner: ir.Function, name: str) -> ir.Var:
        if name.startswith("%") or not inner.name.isidentifier():
            return ir.Var(f"%{inner.name}{next(self.sids)}")
        want = made = f"{inner.name}_{name}"
        k = 1
        while made in self.taken:
            k += 1
            made = f"{want}_{k}"
        self.taken.add(made)
        return ir.Var(made)


def _named(inner: ir.Function) -> Callable[[str, ir.Atom], bool]:
    """Whether what is given for a parameter has to have a name: in an expression that is kept as
    written, and for a temporary, which is read where it is made, not in blocks or after stores."""
    statements = ir.walk(inner.body)
    texts = [e for s in statements for e in ir.exprs(s) if isinstance(e, ir.Opaque)]
    as_text = {v.name for e in texts for v in e.reads}
    simple = all(
        isinstance(s, ir.Exit) or (isinstance(s, ir.Assign) and not s.inplace) for s in statements
    )

    def named(name: str, given: ir.Atom) -> bool:
        if isinstance(given, ir.Var):
            return given.is_temp and not simple
        return name in as_text

    return named


def _is_call(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Effect) or (isinstance(stmt, ir.Assign) and stmt.inplace is None)


__all__ = ["inline"]
