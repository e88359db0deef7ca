"""Elements that are overwritten in place: where they are kept, and where they are put back."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.outline import SIMPLE, statements
from srcgrad.transform.loops.facts.sweeps import is_middle

Place = tuple[list[ast.stmt], int]  # a block and a position in it


@dataclass(eq=False)
class Kept:
    """`tape[i] = array[key]` before a store to the element, and `array[key] = tape[i]`."""

    tape: str
    array: str
    key: ast.expr
    record: ast.Assign
    restore: ast.Assign


class Sweeps:
    """The two sweeps of a function, and which arrays the reverse one puts back."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        body = fn.node.body
        middle = next((k for k, s in enumerate(body) if is_middle(s)), len(body))
        self.ahead, self.back = body[:middle], body[middle:]

    @cached_property
    def places(self) -> dict[int, Place]:
        """By identity of each statement where it stands."""
        return dict(_places(self.fn.node.body))

    @cached_property
    def kept(self) -> list[Kept]:
        """The elements that are kept and put back."""
        records, restores = _copies(self.ahead), _copies(self.back)
        if not records or not restores:
            return []
        out: list[Kept] = []
        for record in records:
            tape, array = _array(record.targets[0]), _array(record.value)
            found = [r for r in restores if _array(r.value) == tape]
            if len(found) != 1 or self.fn.mentions[tape] != 3 or not tape or not array:
                continue
            back = found[0]
            if _same(back.targets[0], record.value) and _same(back.value, record.targets[0]):
                assert isinstance(record.value, ast.Subscript)
                out.append(Kept(tape, array, record.value.slice, record, back))
        return out

    def is_put_back(self, array: str, since: ast.stmt) -> bool:
        """Whether the reverse sweep undoes every store to a local array from the loop on that a
        statement is in, and stores to it in no other way."""
        root = self.fn.root(array)
        if not is_bound_once(self.fn, array) or any(
            n != array and self.fn.root(n) == root for n in self.fn.aliases
        ):
            return False
        mine = [k for k in self.kept if k.array == array]
        undone = {id(k.restore) for k in mine}
        recorded = {id(self._after(k.record)) for k in mine}
        begin = [since, *self.fn.owners(since)][-1]
        if begin not in self.ahead:
            return False
        for s in self.ahead[self.ahead.index(begin) :]:
            if any(id(w) not in recorded for w in stores(s, array)):
                return False
        return all(id(w) in undone for s in self.back for w in stores(s, array))

    def _after(self, record: ast.stmt) -> ast.stmt | None:
        block, k = self.places[id(record)]
        return block[k + 1] if k + 1 < len(block) else None

    def loops(self, s: ast.stmt) -> list[ast.stmt]:
        """The statements around one, outermost first."""
        return list(self.fn.owners(s))[::-1]


def _places(block: list[ast.stmt]) -> list[tuple[int, Place]]:
    out: list[tuple[int, Place]] = []
    for k, s in enumerate(block):
        out.append((id(s), (block, k)))
        if s.__class__ in SIMPLE:
            continue
        for inner in (getattr(s, "body", None), getattr(s, "orelse", None)):
            if isinstance(inner, list):
                out += _places(inner)
    return out


def _copies(block: list[ast.stmt]) -> list[ast.Assign]:
    """Statements that copy one element into another."""
    return [
        s
        for s in statements(block)
        if s.__class__ is ast.Assign and _array(s.targets[0]) and _array(s.value)
    ]


def _array(e: ast.expr) -> str:
    match e:
        case ast.Subscript(ast.Name(array), _):
            return array
    return ""


def _same(one: ast.expr, other: ast.expr) -> bool:
    """Whether two elements, read or stored, are the same one."""
    assert isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript)
    return asts.same(one.value, other.value) and asts.same(one.slice, other.slice)


def stores(s: ast.stmt, array: str) -> list[ast.stmt]:
    """The statements in one that store to an array, or may."""
    out: list[ast.stmt] = []
    for n in asts.walk(s):
        match n:
            case ast.Assign(targets) if any(_stores(t, array) for t in targets):
                out.append(n)
            case ast.AugAssign(target) if _stores(target, array) or _is(target, array):
                out.append(n)
            case ast.Expr(value) if array in asts.names(value):
                out.append(n)
            case ast.Call(func, args) if not _is_harmless(func):
                if any(_is(a, array) for a in args):
                    out.append(s)
    return out


def _stores(t: ast.expr, array: str) -> bool:
    return isinstance(t, ast.Subscript) and array in asts.names(t.value)


def _is(e: ast.AST, array: str) -> TypeGuard[ast.Name]:
    return isinstance(e, ast.Name) and e.id == array


def _is_harmless(func: ast.expr) -> bool:
    match func:
        case ast.Name("len") | ast.Attribute(ast.Name("np" | "math"), _):
            return True
    return False


def is_steady(fn: Function, key: ast.expr, loops: Sequence[ast.stmt]) -> bool:
    """Whether the names in a key mean the same in both sweeps: counters of the loops around, and
    what is bound once and for all."""
    counters = {n for s in loops if isinstance(s, ast.For) for n in syn.names_bound(s.target)}
    return all(n in counters or is_bound_once(fn, n) for n in asts.names(key))


def is_bound_once(fn: Function, name: str) -> bool:
    """Whether a name is an argument that stays, or bound by one statement outside of loops."""
    if fn.bindings[name] != 1:
        return False
    return name in fn.arguments or any(
        isinstance(s, ast.Assign) and name in syn.names_bound(s) for s in fn.node.body
    )


__all__ = ["Kept", "Sweeps", "is_bound_once", "is_steady", "stores"]
