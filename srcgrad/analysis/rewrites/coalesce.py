"""Give webs of one name that name back where keeping them apart gains nothing.

    total_1 = total + a              total = total + a
    total_2 = total_1 + b     ->     total = total + b

Two webs in a row may share their name when the reverse sweep never reads the older one and no
statement reads it after the newer one is bound.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.partials import must_reduce, vjp_term
from srcgrad.analysis.targets import Container, Library, User, bound_atoms
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.rebuild import map_own, with_blocks


def coalesce(facts: Facts) -> ir.Function | None:
    """The function with joined names, or None when there is nothing to join."""
    groups: dict[str, list[str]] = {}
    for web, name in facts.fn.webs:
        groups.setdefault(name, []).append(web)
    if not any(len(g) > 1 for g in groups.values()):
        return None
    table = _Table(facts, {web for group in groups.values() if len(group) > 1 for web in group})
    names: dict[str, str] = {}
    for base, group in sorted(groups.items()):
        _join(table, base, group, names)
    if not names:
        return None
    return _renamed(facts.fn, names)


class _Table:
    """Where variables of a function are bound and read, and which of some a reverse sweep may
    read."""

    def __init__(self, facts: Facts, some: set[str]) -> None:
        self.facts = facts
        self.some = some
        self.defs: dict[str, list[tuple[tuple[int, ...], int]]] = {}
        self.reads: dict[str, list[tuple[tuple[int, ...], int]]] = {}
        self.read_back: set[str] = set()
        self.params = {p.name for p in facts.fn.params} | set(facts.fn.free)
        self._number = 0
        self._visit(facts.fn.body, ())

    def _visit(self, block: ir.Block, path: tuple[int, ...]) -> None:
        self._number += 1
        here = (*path, self._number)
        for k, stmt in enumerate(block):
            read, written = ir.reads(stmt), ir.writes(stmt)
            for v in read:
                self.reads.setdefault(v.name, []).append((here, k))
            for v in written:
                self.defs.setdefault(v.name, []).append((here, k))
            if any(v.name in self.some for v in (*read, *written)):
                self._rules(stmt)
            for inner in ir.blocks(stmt):
                self._visit(inner, (*here, k))

    def _rules(self, stmt: ir.Stmt) -> None:
        """Variables that the reverse of a statement may read, whatever is active."""
        if not isinstance(stmt, ir.Assign):
            self.read_back |= {v.name for v in ir.reads(stmt)}
            return
        target = self.facts.targets.get(stmt.sid)
        match stmt.value:
            case ir.Index(obj, key):
                self._keep((obj, *ir.key_atoms(key)))
            case ir.Var() | ir.Const() | ir.Global() | ir.Build():
                return
            case _ if isinstance(target, Library) and target.entry.kind != "function":
                self._library(stmt, target)
            case _ if isinstance(target, User | Container):
                self._keep(ir.operands(stmt.value))
            case _:
                self._keep((*ir.operands(stmt.value), stmt.target))

    def _keep(self, atoms: tuple[ir.Atom, ...]) -> None:
        self.read_back |= {a.name for a in atoms if isinstance(a, ir.Var)}

    def _library(self, stmt: ir.Assign, call: Library) -> None:
        if call.entry.kind == "nondiff" or call.entry.params is None:
            return
        out = self.facts.of(stmt.target)
        for param, b in call.args:
            term = vjp_term(self.facts, call, param, b, out)
            if term is None:
                continue
            self._keep(term.reads)
            if term.reads_out():
                self._keep((stmt.target,))
            for a in bound_atoms(b):
                if term.reduces or term.fills or must_reduce(self.facts.of(a), out):
                    if not isinstance(self.facts.of(a), ty.Number):
                        self._keep((a,))


def _join(table: _Table, base: str, group: list[str], names: dict[str, str]) -> None:
    """Join the webs of one name that follow each other in one block."""
    once = [w for w in group if len(table.defs.get(w, ())) == 1 and w not in table.params]
    once.sort(key=lambda w: table.defs[w][0])
    olds = [w for w in group if w in table.params and not table.defs.get(w)]
    chain = [*olds, *once]
    for older, newer in pairwise(chain):
        if _may_share(table, older, newer):
            names[newer] = names.get(older, older)
    # The last name of a chain is the plain one where it can be: the user's own.
    for older in chain:
        if names.get(older, older) == older and older != base and base in names:
            if names[base] == older and older not in table.params:
                for w in chain:
                    if names.get(w, w) == older:
                        names[w] = base
                names.pop(base, None)


def _may_share(table: _Table, older: str, newer: str) -> bool:
    facts = table.facts
    if older in table.read_back or facts.types.get(older) != facts.types.get(newer):
        return False
    if not isinstance(facts.types.get(older), ty.Number):
        return False  # an array under two names may be two objects: they stay apart
    place, position = table.defs[newer][0]
    if older in table.params:
        if len(place) != 1:
            return False
    elif table.defs[older][0][0] != place or table.defs[older][0][1] >= position:
        return False
    for where, k in table.reads.get(older, ()):
        if where[: len(place)] != place:
            return False
        at = k if len(where) == len(place) else where[len(place)]
        if at > position:
            return False
    return True


def _renamed(fn: ir.Function, names: dict[str, str]) -> ir.Function:
    def new(a: ir.Atom) -> ir.Atom:
        return ir.Var(names.get(a.name, a.name)) if isinstance(a, ir.Var) else a

    def block(b: ir.Block) -> ir.Block:
        return tuple(
            with_blocks(map_own(s, new, new), tuple(block(x) for x in ir.blocks(s))) for s in b
        )

    webs = tuple(dict.fromkeys((names.get(w, w), base) for w, base in fn.webs))
    return replace(fn, body=block(fn.body), webs=webs)
