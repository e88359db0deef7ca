"""Blocks: their statements in reverse order, grouped by line, cut where a statement may leave."""

from __future__ import annotations

import ast

from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.branches import Branches


class Blocks(Branches):
    """The reverse of blocks."""

    def stmt(self, stmt: ir.Stmt) -> None:
        """Write the reverse of one statement (the last layer does)."""
        raise NotImplementedError

    def block(self, block: ir.Block) -> None:
        cut = next(
            (
                k
                for k, s in enumerate(block)
                if s.sid in self.found.control.by_test
                or s.sid in self.found.control.by_marker
                or (s.sid in self.found.control.caught and s.sid not in self.guarded_tries)
            ),
            None,
        )
        head = block if cut is None else block[: cut + 1]
        self.enter(head)
        if cut is not None:
            stmt, rest = block[cut], block[cut + 1 :]
            if stmt.sid in self.found.control.by_test:
                assert isinstance(stmt, ir.If)
                self.branch(stmt, rest)
                head = head[:-1]
            elif stmt.sid in self.found.control.caught and stmt.sid not in self.guarded_tries:
                # A handler that leaves: neither what was tried nor the rest is gone back through.
                self.guarded_tries.add(stmt.sid)
                self.arms(_not_left(*self.found.control.caught[stmt.sid]), block[cut:], (), stmt)
                head = head[:-1]
            elif self.all_caught(stmt):
                self.block(rest)
            else:
                self.guarded(stmt, rest)
        groups = _groups(head)
        for group in reversed(groups):
            self.group(group)

    def group(self, group: list[ir.Stmt]) -> None:
        """The statements of one source statement, under one comment."""
        if len(group) == 1 and not isinstance(
            group[0], ir.Assign | ir.Store | ir.StoreAttr | ir.Effect | ir.Exit
        ):
            self.stmt(group[0])
            return
        outer = self.capture()
        self.origin = group[-1].loc.origin
        for stmt in reversed(group):
            self.stmt(stmt)
        inner = self.out
        self.out = outer
        real = [s for s in inner if not isinstance(s, syn.Comment)]
        if real:
            if any(self.unit.differentiates(s) for s in group):
                self.comment(group[-1])
            self.out += inner
        self.origin = None

    def enter(self, head: ir.Block) -> None:
        """At the head of the reverse of a segment: values recorded once per execution of it, and
        the
        shadows of arrays made in it."""
        for stmt in reversed(head):
            for save in self.found.saves.get(stmt.sid, ()):
                if save.when == "after":
                    self.emit(*self.slots.restore(save))
        for stmt in head:
            if not isinstance(stmt, ir.Assign):
                continue
            rerun = stmt.target.name in self.found.needs.reran
            if rerun or any(s.when == "again" for s in self.found.saves.get(stmt.sid, ())):
                self.emit(syn.assign(self.text.var(stmt.target.name), self.again(stmt.value)))
            self.bind_late(stmt)

    def bind_late(self, stmt: ir.Assign) -> None:
        """`v = u[1:-1]` gives `v_bar = u_bar[1:-1]`; a fresh array a shadow of zeros."""
        name = stmt.target.name
        if not self.unit.is_active(name) or self.unit.kind(name) != "memory":
            return
        if self.found.needs.is_place(name):
            alias = self.unit.aliases(stmt)
            assert alias is not None
            self.inline[name] = (stmt, alias)  # `u_bar[1:-1]` itself where it is used
            return
        if self.found.is_tracked(name) or stmt.inplace:
            return
        self.origin = stmt.loc.origin
        alias = self.unit.aliases(stmt)
        if alias is None:
            self.emit(syn.assign(self.bar(name), self.zero(name)))
        else:
            self.emit(syn.assign(self.bar(name), self.view_of_shadow(stmt, alias)))
        self.origin = None

    def all_caught(self, stmt: ir.Stmt) -> bool:
        """Whether all exits in a statement are in handlers, which were asked about already."""
        control = self.found.control
        return control.caught.get(stmt.sid) == control.by_marker.get(stmt.sid)

    def guarded(self, stmt: ir.Stmt, rest: ir.Block) -> None:
        """`rest` ran unless one of the exits inside `stmt` was taken."""
        self.arms(_not_left(*self.found.control.by_marker[stmt.sid]), rest, (), stmt, after=True)


def _groups(block: ir.Block) -> list[list[ir.Stmt]]:
    """Statements that came from one source statement: temporaries with the statement they
    serve."""
    out: list[list[ir.Stmt]] = []
    group: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, ir.Assign) and stmt.target.is_temp:
            group.append(stmt)
            continue
        if isinstance(stmt, ir.Assign | ir.Store | ir.StoreAttr | ir.Effect | ir.Exit):
            out.append([*group, stmt])
        else:
            if group:
                out.append(group)
            out.append([stmt])
        group = []
    if group:
        out.append(group)
    return out


def _not_left(marker: str, sites: tuple[int, ...]) -> ast.expr:
    """Whether none of these exits was taken."""
    node = syn.name(marker)
    if len(sites) == 1:
        return ast.Compare(node, [ast.NotEq()], [syn.number(sites[0])])
    return ast.Compare(node, [ast.NotIn()], [syn.tuple_of(map(syn.number, sites))])
