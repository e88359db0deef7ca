"""Calls of small functions that compute a number are replaced by the statements of the function.

    def phi(a):                          for i in range(n):
        e = math.exp(a)                      phi_e = math.exp(x[i])
        return e * e               ->        s = s + phi_e * phi_e
    for i in range(n):
        s = s + phi(x[i])

What their reverse sweep reads is kept as any number of a loop is, not in tuples of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from srcgrad.analysis import webs
from srcgrad.analysis.targets import Library, User, writes_argument
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.rebuild import map_own, with_blocks

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts
    from srcgrad.analysis.resolve import Program

LONGEST = 40  # statements of a function that is small
_PLAIN = ir.Var | ir.Const | ir.Global | ir.Op | ir.Call | ir.Index | ir.Attr


def inline(program: Program, facts: Facts) -> ir.Function | None:
    """The function without calls of small ones, or None when it has none."""
    fn = facts.fn
    first = 1 + max((s.sid for s in ir.walk(fn.body)), default=0)
    names = {v.name for s in ir.walk(fn.body) for v in (*ir.reads(s), *ir.writes(s))}
    work = _Inline(program, facts, count(first), names | {p.name for p in fn.params})
    body = work.block(fn.body)
    return webs.split(replace(fn, body=body)) if work.changed else None


@dataclass
class _Inline:
    program: Program
    facts: Facts
    sids: Iterator[int]
    taken: set[str]
    changed: bool = False

    def block(self, block: ir.Block) -> ir.Block:
        out: list[ir.Stmt] = []
        for stmt in block:
            target = self.facts.targets.get(stmt.sid)
            if isinstance(stmt, ir.Assign) and stmt.inplace is None and isinstance(target, User):
                inner = self._small(stmt, target)
                out += [stmt] if inner is None else self._statements(stmt, target, inner)
            elif isinstance(stmt, ir.With):  # rules in force in it aren't for the function's calls
                out.append(stmt)
            else:
                out.append(with_blocks(stmt, tuple(map(self.block, ir.blocks(stmt)))))
        return tuple(out)

    def _small(self, stmt: ir.Assign, target: User) -> ir.Function | None:
        """The function that a call reaches, in its final form, if it is small."""
        numbers = isinstance(self.facts.of(stmt.target), ty.Number)
        known = all(isinstance(t, ty.Number | ty.Array) for t in target.types)
        atoms = all(isinstance(a, ir.Var | ir.Const | ir.Global) for a in target.args)
        if not (numbers and known and atoms) or target.closure is not None or target.fn.free:
            return None
        inner = self.program.settled(target.fn, target.types)
        if inner is None or len(inner.fn.params) != len(target.args):
            return None
        *body, last = inner.fn.body or (None,)
        ends = isinstance(last, ir.Exit) and last.kind == "return" and last.value is not None
        statements = list(ir.walk(tuple(s for s in body if s is not None)))
        if not ends or len(statements) > LONGEST:
            return None
        return inner.fn if all(_is_plain(s, inner) for s in statements) else None

    def _statements(self, stmt: ir.Assign, target: User, inner: ir.Function) -> list[ir.Stmt]:
        """The statements of a function for one call, with variables of their own."""
        self.changed = True
        written = {v.name for s in ir.walk(inner.body) for v in ir.writes(s)}
        shown = dict(inner.webs)
        atoms: dict[str, ir.Atom] = {
            n: self._fresh(inner, shown.get(n, n)) for n in sorted(written)
        }
        out: list[ir.Stmt] = []
        for p, given in zip(inner.params, target.args, strict=True):
            assert isinstance(given, ir.Var | ir.Const | ir.Global)
            if p.name in written:
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

        *body, last = renamed(inner.body)
        assert isinstance(last, ir.Exit) and last.value is not None
        return [*out, *body, replace(stmt, value=last.value)]

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


def _is_plain(stmt: ir.Stmt, facts: Facts) -> bool:
    """Whether a statement computes a value, by a library's function or operator if by any."""
    target = facts.targets.get(stmt.sid)
    if isinstance(target, Library):
        plain = not writes_argument(target) and target.source is None
    else:
        plain = target is None
    match stmt:
        case ir.Assign():
            return plain and stmt.inplace is None and isinstance(stmt.value, _PLAIN)
        case ir.If():
            return plain
    return False


__all__ = ["inline"]
