"""Arrays that are told apart although their names change places: `u, w = w, u` in a time loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.kept import Sweeps

_NEW = frozenset(
    ["zeros", "empty", "ones", "full", "copy", *(f"{n}_like" for n in ("zeros", "empty", "full"))]
)


def are_apart(fn: Function, sweeps: Sweeps, a: str, b: str) -> bool:
    """Whether two names surely never stand for one memory while the forward sweep runs, but in
    the middle of such a swap: what they are bound to is new, or they change places with others of
    which that is true.

    >>> swap = "u = x.copy(); w = x.copy()\\nfor k in range(9): t = u; u = w; w = t"
    >>> fn = Function(ast.parse(f"def f(x):\\n  {swap.replace(chr(10), chr(10) + '  ')}").body[0])
    >>> are_apart(fn, Sweeps(fn), "u", "w"), are_apart(fn, Sweeps(fn), "u", "t")
    (True, False)
    """
    names, known = {a, b}, set[str]()
    if a == b:
        return False
    while names - known:
        known = set(names)
        if known & fn.arguments:
            return False
        for run in _runs(fn, sweeps.ahead, known):
            held = _after(run)
            found = [held.get(n, n) for n in sorted(known)]
            if len(set(found)) < len(found) or None in found:
                return False
            names |= {n for n in found if n is not None}
    return True


def _runs(fn: Function, block: list[ast.stmt], names: set[str]) -> Iterator[list[ast.stmt]]:
    """The statements that bind one of the names: those that give names to others in a row, and
    one by one any others."""
    run: list[ast.stmt] = []
    for s in block:
        if _is_move(s) or (run and _keeps(s)):
            run.append(s)
            continue
        yield run
        run = []
        for name in ("body", "orelse", "handlers", "finalbody"):
            yield from _runs(fn, getattr(s, name, []), names)
        if not names.isdisjoint(_bound(s)) and not _is_new(s):
            yield [s]
    yield run


def _is_move(s: ast.stmt) -> bool:
    return isinstance(s, ast.Assign) and isinstance(s.value, ast.Name)


def _keeps(s: ast.stmt) -> bool:
    """Whether a statement puts something on a tape: `u_tape.append((u, u_bar))`."""
    match s:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(), "append"))):
            return True
    return False


def _bound(s: ast.stmt) -> set[str]:
    """The names that a statement itself binds or adds to, not those within its blocks."""
    inner = (ast.stmt, ast.excepthandler)
    parts = [n for n in ast.iter_child_nodes(s) if not isinstance(n, inner)]
    nodes = (n for part in parts for n in ast.walk(part))
    return {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _is_new(s: ast.stmt) -> bool:
    """Whether a statement binds one name, to an array that no other name has."""
    match s:
        case ast.Assign([ast.Name()], ast.Call(ast.Attribute(ast.Name("np"), made))):
            return made in _NEW
        case ast.Assign([ast.Name()], ast.Call(ast.Attribute(_, "copy"), [], [])):
            return True
    return False


def _after(run: list[ast.stmt]) -> dict[str, str | None]:
    """For the names that a run binds the one that had before what they have afterwards; None
    where that can't be said."""
    held: dict[str, str | None] = {}
    for s in run:
        match s:
            case ast.Assign([ast.Name(target)], ast.Name(source)):
                held[target] = held.get(source, source)
            case ast.Expr() if _keeps(s):
                pass
            case _:
                held |= {n.id: None for n in ast.walk(s) if isinstance(n, ast.Name)}
    return held


__all__ = ["are_apart"]
