"""Additions to several places of one array get loops of their own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import commutes
from srcgrad.transform.loops.facts.windows import WIDEST, Part, window, with_index


def distribute(fn: Function) -> None:
    """`b[i - 1] += t; b[i + 1] += t` in one loop: a window over the last rounds adds both at once;
    what goes to other rows gets a loop of its own, and t a buffer."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            made = _distributed(fn, s) if isinstance(s, ast.For) else None
            if made is not None:
                k = block.index(s, k)  # a buffer may have come before it
                block[k : k + 1] = made
                k += len(made) - 1
            k += 1


def _distributed(fn: Function, loop: ast.For) -> list[ast.stmt] | None:
    match loop:
        case ast.For(ast.Name(counter), ast.Call(ast.Name("range"), args, []), body, []):
            pass
        case _:
            return None
    if len(args) > 2 or any(isinstance(s, ast.For | ast.If) for s in body):
        return None
    start = args[0] if len(args) == 2 else ast.Constant(0)
    adds = [s for s in body if _is_addition(s)]
    if len(adds) < 2 or not _is_a_start(start) or not commutes(fn, loop):
        return None
    got = fn.summary(body)
    groups: dict[str, list[ast.AugAssign]] = {}
    for s in adds:
        groups.setdefault(fn.root(_place(s)[0]), []).append(s)
    chosen = [g for g in groups.values() if len({ast.dump(_place(s)[1]) for s in g}) > 1]
    moved = [s for g in chosen for s in g]
    if not all(fn.is_number(*_place(s)) for s in moved):
        return None
    if not moved or any(syn.names_in(_place(s)[1]) & got.assigned for s in moved):
        return None
    added_to = {fn.root(_place(s)[0]) for s in moved}
    if any(a.kind != "add" and fn.root(a.array) in added_to for a in got.accesses):
        return None
    bindings = Counter(n for s in body for n in syn.names_bound(s))
    for s in moved:  # the buffer holds what the name is at the end of the iteration
        assert isinstance(s.value, ast.Name)
        name = s.value.id
        if name in got.added or bindings[name] != 1:
            return None
    outer = _outermost(fn, loop)
    if syn.names_in(args[-1]) & syn.names_bound(outer):
        return None
    return _split(fn, loop, counter, moved, outer)


def _is_a_start(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and isinstance(e.value, int | float) and e.value >= 0


def _is_addition(s: ast.stmt) -> TypeGuard[ast.AugAssign]:
    match s:
        case ast.AugAssign(ast.Subscript(ast.Name(), _), ast.Add() | ast.Sub(), ast.Name()):
            return True
    return False


def _place(s: ast.AugAssign) -> tuple[str, ast.expr]:
    """The array and the key of an addition."""
    assert isinstance(s.target, ast.Subscript) and isinstance(s.target.value, ast.Name)
    return s.target.value.id, s.target.slice


def _outermost(fn: Function, loop: ast.stmt) -> ast.stmt:
    return [loop, *fn.owners(loop)][-1]


def _split(
    fn: Function, loop: ast.For, counter: str, moved: list[ast.AugAssign], outer: ast.stmt
) -> list[ast.stmt]:
    """The loop with the additions to neighbours in one row, and a loop for each of the others,
    which get their values from buffers."""
    assert isinstance(loop.iter, ast.Call)
    groups = _groups(moved, counter)
    mine = next((g for g in groups if g.has_window), None)
    others = [g for g in groups if g is not mine]
    forms = _forms(loop.body)
    buffers: dict[str, str] = {}
    top = fn.node.body
    for s, _ in (part for g in others for part in g.parts):
        value, s.value = _of_one(_added(s), forms)
        fn.leaves.forget(s)
        if value not in buffers:
            buffers[value] = fn.fresh(f"{value}_row")
            size = syn.call("max", asts.copied(loop.iter.args[-1]), ast.Constant(0))
            made = syn.assign(buffers[value], syn.call("np.empty", size))
            top.insert(top.index(outer), made)
    body = [s for s in loop.body if s not in moved]
    body += [syn.assign(_element(b, counter), syn.name(v)) for v, b in buffers.items()]
    out: list[ast.stmt] = [ast.For(loop.target, loop.iter, body, [])]
    if mine is not None:
        values = [_added(s) for s, _ in mine.parts]
        out = _with_window(fn, out[0], mine, values)
    for g in others:
        out += g.loops(fn, loop, buffers)
    fn.leaves.forget(*moved)
    return out


def _with_window(fn: Function, loop: ast.stmt, group: _Group, values: list[str]) -> list[ast.stmt]:
    """A loop with the additions of a group, whose values have names in it."""
    assert isinstance(loop, ast.For) and group.position is not None
    parts = [Part(s, k, v) for (s, k), v in zip(group.parts, values, strict=True)]
    made = window(fn, loop, parts, group.position)
    loop.body += made.inside
    return [*made.before, loop, *made.behind]


def _forms(body: list[ast.stmt]) -> dict[str, tuple[str, ast.expr]]:
    """The values that a round computes from one other that it binds, and from what stays: that
    other value, and how."""
    times = Counter(n for s in body for n in syn.names_bound(s))
    out: dict[str, tuple[str, ast.expr]] = {}
    for s in body:
        match s:
            case ast.Assign([ast.Name(name)], value) if times[name] == 1:
                varying = [n for n in syn.names_in(value) if times[n]]
                if len(varying) == 1 and times[varying[0]] == 1 and _is_arithmetic(value):
                    out[name] = varying[0], value
    return out


def _is_arithmetic(e: ast.expr) -> bool:
    plain = ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp
    return all(isinstance(n, plain) for n in asts.walk(e))


def _of_one(name: str, forms: Mapping[str, tuple[str, ast.expr]]) -> tuple[str, ast.expr]:
    """The value that another is computed from in the end, and how."""
    value: ast.expr = syn.name(name)
    while name in forms:
        base, how = forms[name]
        value, name = syn.substitute(value, {name: how}), base
    return name, value


def _filled(value: ast.expr, buffers: Mapping[str, str], counter: str) -> ast.expr:
    """A value from the buffers that hold what it is computed from."""
    bases = syn.names_in(value) & set(buffers)
    return syn.substitute(value, {n: _element(buffers[n], counter) for n in bases})


def _added(s: ast.AugAssign) -> str:
    assert isinstance(s.value, ast.Name)
    return s.value.id


def _element(buffer: str, counter: str) -> ast.expr:
    return ast.Subscript(syn.name(buffer), syn.name(counter), ast.Load())


# ---- additions to neighbours in one row --------------------------------------------------------


@dataclass
class _Group:
    """Additions to places of one row of an array, that differ by constants only."""

    position: int | None  # of the index that runs; None: any other addition, alone
    parts: list[tuple[ast.AugAssign, int]] = field(default_factory=list)  # and the constants

    @property
    def has_window(self) -> bool:
        """Whether a window gathers them, so that each place is written once."""
        offsets = [k for _, k in self.parts]
        return 0 < max(offsets) - min(offsets) <= WIDEST

    def loops(self, fn: Function, loop: ast.For, buffers: Mapping[str, str]) -> list[ast.stmt]:
        """The additions in loops of their own."""
        assert isinstance(loop.target, ast.Name)
        counter = loop.target.id

        def another(body: list[ast.stmt]) -> ast.For:
            return ast.For(asts.copied(loop.target), asts.copied(loop.iter), body, [])

        given = [_filled(s.value, buffers, counter) for s, _ in self.parts]
        if not self.has_window:
            for (s, _), value in zip(self.parts, given, strict=True):
                s.value = value
            return [another([s]) for s, _ in self.parts]
        names: dict[str, str] = {}
        body: list[ast.stmt] = []
        for value in given:
            text = ast.dump(value)
            if text not in names:
                names[text] = fn.fresh("term")
                body.append(syn.assign(names[text], value))
        return _with_window(fn, another(body), self, [names[ast.dump(v)] for v in given])


def _groups(moved: list[ast.AugAssign], counter: str) -> list[_Group]:
    out: dict[str, _Group] = {}
    for n, s in enumerate(moved):
        array, key = _place(s)
        items = asts.items(key)
        running = [d for d, e in enumerate(items) if counter in syn.names_in(e)]
        offset = _offset(items[running[0]], counter) if len(running) == 1 else None
        if offset is None:
            out[f"alone {n}"] = _Group(None, [(s, 0)])
            continue
        row = ast.dump(with_index(key, running[0], ast.Constant(None)))
        out.setdefault(f"{array} {row}", _Group(running[0])).parts.append((s, offset))
    return list(out.values())


def _offset(e: ast.expr, counter: str) -> int | None:
    match e:
        case ast.Name(n) if n == counter:
            return 0
        case ast.BinOp(ast.Name(n), ast.Add(), ast.Constant(int(k))) if n == counter:
            return k
        case ast.BinOp(ast.Name(n), ast.Sub(), ast.Constant(int(k))) if n == counter:
            return -k
    return None
