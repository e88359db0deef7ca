"""Additions to neighbours in one row of an array, each place written once: a window over the
values of the last rounds, which move up by one in each."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import minus, plus
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import runs

WIDEST = 8  # rounds that a window looks back


@dataclass(frozen=True)
class Part:
    """An addition of the value of a name to the place that is `offset` from the counter."""

    addition: ast.AugAssign
    offset: int
    value: str


@dataclass(frozen=True)
class Window:
    """The statements before a loop, at the end of its body and behind it."""

    before: list[ast.stmt]
    inside: list[ast.stmt]
    behind: list[ast.stmt]


def window(fn: Function, loop: ast.For, parts: Sequence[Part], position: int) -> Window:
    """The additions of a loop that counts up by one, to places that differ by constants only.

    >>> loop = ast.parse('''
    ... for i in range(1, n - 1):
    ...     b[i - 1] += t
    ...     b[i + 1] += t
    ... ''').body[0]
    >>> fn = Function(ast.parse("def f(b, t, n): pass").body[0])
    >>> made = window(fn, loop, [Part(loop.body[0], -1, "t"), Part(loop.body[1], 1, "t")], 0)
    >>> for part in (made.before, made.inside, made.behind):
    ...     print(ast.unparse(ast.fix_missing_locations(ast.Module(part, []))))
    t_before = 0.0
    t_before_2 = 0.0
    b[i - 1] += t + t_before_2
    t_before_2 = t_before
    t_before = t
    if 1 < n - 1:
        b[n - 2] += t_before_2
        b[n - 1] += t_before

    `position` is that of the index that runs.
    """
    assert isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Call)
    low, high = min(p.offset for p in parts), max(p.offset for p in parts)
    past = _past(fn, parts, low)

    def added(index: ast.expr, ahead: int) -> ast.stmt:
        """The additions to the lowest place of a round, `ahead` of the last one that there is."""
        here = sorted((p for p in parts if p.offset - low >= ahead), key=_adds_first)
        total: ast.expr | None = None
        for p in here:
            back = p.offset - low - ahead + (ahead > 0)
            value = syn.name(past[p.value][back])
            op = ast.Add() if _adds(p) == _adds(here[0]) else ast.Sub()
            total = value if total is None else ast.BinOp(total, op, value)
        target = parts[0].addition.target
        assert total is not None and isinstance(target, ast.Subscript)
        key = with_index(target.slice, position, index)
        place = ast.Subscript(asts.copied(target.value), key, ast.Store())
        return ast.AugAssign(place, here[0].addition.op, total)

    inside = [added(shifted(syn.name(loop.target.id), low), 0)]
    for names in past.values():
        inside += [syn.assign(new, syn.name(old)) for old, new in _pairs(names)]
    stop = loop.iter.args[-1]
    ends = [added(shifted(stop, low + k - 1), k) for k in range(1, high - low + 1)]
    before = [syn.assign(n, ast.Constant(0.0)) for names in past.values() for n in names[1:]]
    return Window(before, inside, [ast.If(runs(loop), ends, [])])


def _adds(p: Part) -> bool:
    return isinstance(p.addition.op, ast.Add)


def _adds_first(p: Part) -> tuple[bool, int]:
    return not _adds(p), p.offset


def _past(fn: Function, parts: Sequence[Part], low: int) -> dict[str, list[str]]:
    """For each value its names: of this round, of the one before it, and so on."""
    out: dict[str, list[str]] = {}
    for p in parts:
        names = out.setdefault(p.value, [p.value])
        while len(names) <= p.offset - low:
            n = len(names)
            names.append(fn.fresh(f"{p.value}_before" + (f"_{n}" if n > 1 else "")))
    return out


def _pairs(names: list[str]) -> list[tuple[str, str]]:
    """What each name hands to the next, the last one first."""
    return list(pairwise(names))[::-1]


def shifted(e: ast.expr, k: int) -> ast.expr:
    """An index and a constant."""
    e = asts.copied(e)
    return plus(e, ast.Constant(k)) if k >= 0 else minus(e, ast.Constant(-k))


def with_index(key: ast.expr, position: int, index: ast.expr) -> ast.expr:
    """A key with another index in one position."""
    if not isinstance(key, ast.Tuple):
        return index
    items = [index if d == position else asts.copied(i) for d, i in enumerate(key.elts)]
    return ast.Tuple(items, ast.Load())


__all__ = ["WIDEST", "Part", "Window", "shifted", "window", "with_index"]
