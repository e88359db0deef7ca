"""Which variables carry a derivative from the arguments asked for to the result.

A variable is *varied* when it depends on an active argument, *useful* when the result depends on
it, and *active* when it is both.  In memory classes the whole class shares one answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from srcgrad.analysis.effects import RESULT, Effects, may_hold_memory, summary
from srcgrad.analysis.facts import Facts
from srcgrad.analysis.flow import dependencies
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Container, Library, Uncharted, User, bound_atoms
from srcgrad.analysis.unknown import handed
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


@dataclass
class Activity:
    """The active variables of one function, and for each why it is varied (for messages)."""

    active: frozenset[str]
    varied: frozenset[str]
    useful: frozenset[str]
    because: dict[str, tuple[str, int]]  # variable -> (variable it depends on, line)

    def chain(self, name: str) -> list[tuple[str, int]]:
        """How a variable became active: the dependencies back to an argument."""
        out, seen = [], set()
        while name not in seen:
            seen.add(name)
            step = self.because.get(name)
            shown = name.split("%")[0]
            if step is None:
                out.append((shown, 0))
                break
            if shown:
                out.append((shown, step[1]))
            name = step[0]
        return out[::-1]


def _flows(
    program: Program, facts: Facts, fx: Effects, stmt: ir.Stmt
) -> list[tuple[str, tuple[ir.Var, ...]]]:
    """(what changes, what it then depends on) for one statement."""
    match stmt:
        case ir.Assign():
            deps = dependencies(facts, stmt.value, stmt)
            return [(stmt.target.name, deps), *_written(program, facts, stmt, stmt.value, deps)]
        case ir.Effect():
            deps = dependencies(facts, stmt.value, stmt)
            return _written(program, facts, stmt, stmt.value, deps)
        case ir.Store() | ir.StoreAttr() if isinstance(stmt.base, ir.Var):
            value = (stmt.value,) if isinstance(stmt.value, ir.Var) else ()
            return [(stmt.base.name, value)]
        case ir.Exit(kind="return") if isinstance(stmt.value, ir.Var):
            return [(RESULT, (stmt.value,))]
        case _:
            return []


def _written(
    program: Program, facts: Facts, stmt: ir.Stmt, expr: ir.Expr, deps: tuple[ir.Var, ...]
) -> list[tuple[str, tuple[ir.Var, ...]]]:
    """The arguments that a call writes depend on all of its arguments."""
    match facts.targets.get(stmt.sid):
        case Container() if isinstance(expr, ir.Method) and isinstance(expr.obj, ir.Var):
            return [(expr.obj.name, deps)]
        case Library(entry, args, _):
            names = (*entry.writes, "out")
            hit = [a for n, b in args if n in names for a in bound_atoms(b)]
            return [(a.name, deps) for a in hit if isinstance(a, ir.Var)]
        case User(fn, args, closure, types):
            found = summary(program, fn, types)
            hit = [
                a
                for k, b in zip(found.params, args, strict=False)
                if k in found.stored
                for a in bound_atoms(b)
            ]
            captured = found.params[len(args) :]
            if closure is not None and any(k in found.stored for k in captured):
                hit.append(closure)
            return [(a.name, deps) for a in hit if isinstance(a, ir.Var)]
        case Uncharted():
            given = [a for a in handed(expr) if isinstance(a, ir.Var)]
            return [(a.name, deps) for a in given if may_hold_memory(facts.of(a))]
    return []


def activity(
    program: Program, facts: Facts, fx: Effects, wrt: Iterable[str], memory_out: Iterable[str] = ()
) -> Activity:
    """Find the active variables for the arguments `wrt`; `memory_out` are written arguments whose
    contents the caller uses afterwards."""
    flows = [
        (t, deps, stmt.loc.line)
        for stmt in ir.walk(facts.fn.body)
        for t, deps in _flows(program, facts, fx, stmt)
    ]
    # In the order of the program: which of several ways made a variable active is told to users.
    changed = [n for t, ds, _ in flows for n in (t, *(d.name for d in ds))]
    names = dict.fromkeys([*changed, *facts.types, RESULT])
    groups: dict[str, list[str]] = {}
    for n in names:
        if fx.memory(n):
            groups.setdefault(fx.root(n), []).append(n)
    able = {n for n in names if ty.can_be_active(fx.type(n))}
    because: dict[str, tuple[str, int]] = {}
    varied = _spread(
        [n for n in wrt if n in able],
        [(d.name, t, line) for t, ds, line in flows for d in ds],
        groups,
        able,
        because,
    )
    back = [(t, d.name, line) for t, ds, line in flows for d in ds]
    useful = _spread([RESULT, *memory_out], back, groups, able, None)
    return Activity(frozenset(varied & useful), frozenset(varied), frozenset(useful), because)


def _spread(
    seed: list[str],
    edges: list[tuple[str, str, int]],
    groups: dict[str, list[str]],
    able: set[str],
    because: dict[str, tuple[str, int]] | None,
) -> set[str]:
    after: dict[str, list[tuple[str, int]]] = {}
    for a, b, line in edges:
        after.setdefault(a, []).append((b, line))
    member = {n: g for g in groups.values() for n in g}
    reached, todo = set(seed), list(seed)
    while todo:
        n = todo.pop()
        steps = after.get(n, []) + [(m, 0) for m in member.get(n, ())]
        for m, line in steps:
            if m not in reached and m in able:
                reached.add(m)
                todo.append(m)
                if because is not None and m != n:
                    because[m] = (n, line)
    return reached


def holds_memory(fx: Effects, name: str) -> bool:
    return may_hold_memory(fx.type(name))
