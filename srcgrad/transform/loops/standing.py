"""What is in an array until the end of the forward sweep is read from there, not from a tape.

A table that is filled once, row after row or column after column, holds what was read from it: no
later store reaches an element that an earlier round has read.  That is so in factorisations and in
dynamic programs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.indices import Site, counter_in, is_untouched
from srcgrad.transform.loops.facts.kept import Sweeps, is_steady, stores
from srcgrad.transform.loops.facts.records import Recorded, recorded

_NEAR = 3  # statements between a record and a store of the same number


def standing(fn: Function) -> None:
    """`t = a[i - 1]; t_tape[i] = t; a[i] = e` with `t = t_tape[i]`: the latter becomes
    `t = a[i - 1]`."""
    sweeps = Sweeps(fn)
    tapes = list(recorded(fn, sweeps))
    if not tapes:
        return
    tables = _Tables(fn, sweeps)
    for tape in tapes:
        found = next((p for p in _places(tape, tables) if _stands(tape, p, tables)), None)
        if found is not None:
            tape.block.remove(tape.record)
            fn.node.body.remove(tape.made)
            for load in tape.loads:
                load.value = ast.Subscript(
                    ast.Name(found.array, ast.Load()), asts.copied(found.key), ast.Load()
                )
                fn.leaves.forget(load)


@dataclass
class _Place:
    """An element that holds what a tape keeps; the store that puts it there, if one does."""

    array: str
    key: ast.expr
    store: ast.stmt | None = None


def _places(tape: Recorded, tables: _Tables) -> Iterator[_Place]:
    """The elements of arrays that the recorded number was read from, or is stored to."""
    k = tape.block.index(tape.record)
    value = tape.record.value
    assert isinstance(value, ast.Name)
    match tape.block[k - 1] if k else None:
        case ast.Assign([ast.Name(v)], ast.Subscript(ast.Name(array), key)) if v == value.id:
            yield _Place(array, key)
    for s in tape.block[k + 1 : k + 1 + _NEAR]:
        match s:
            case ast.Assign([ast.Subscript(ast.Name(array), key)], ast.Name(v)) if v == value.id:
                if tables.holds_all(array, tape.made):
                    yield _Place(array, key, s)
            case ast.Assign([ast.Subscript()]):
                continue
            case ast.Assign([ast.Name(v)]) if v != value.id:
                continue
        return


class _Tables:
    """The arrays that the forward sweep fills element by element, and what stores to each."""

    def __init__(self, fn: Function, sweeps: Sweeps) -> None:
        self.fn = fn
        self.sweeps = sweeps
        self._stores: dict[str, list[ast.Assign | ast.AugAssign] | None] = {}
        self._sites: dict[int, Site] = {}

    def stores(self, array: str) -> list[ast.Assign | ast.AugAssign] | None:
        """The stores of the forward sweep; None when an array may change in other ways, or in the
        reverse sweep other than back to what it was."""
        if array not in self._stores:
            self._stores[array] = self._found(array)
        return self._stores[array]

    def _found(self, array: str) -> list[ast.Assign | ast.AugAssign] | None:
        fn, sweeps = self.fn, self.sweeps
        undone = {id(k.restore) for k in sweeps.kept if k.array == array}
        if not fn.is_alone(array) or array not in fn.ndims or any(
            id(s) not in undone for top in sweeps.back for s in stores(top, array)
        ):  # fmt: skip
            return None
        out: list[ast.Assign | ast.AugAssign] = []
        for top in sweeps.ahead:
            for s in stores(top, array):
                match s:
                    case ast.Assign([ast.Subscript(ast.Name(), key)]) | ast.AugAssign(
                        ast.Subscript(ast.Name(), key)
                    ) if fn.is_number(array, key):
                        out.append(s)
                    case _:
                        return None
        return out

    def site(self, s: ast.stmt) -> Site:
        if id(s) not in self._sites:
            self._sites[id(s)] = Site(self.fn, s)
        return self._sites[id(s)]

    def is_bound_before(self, array: str, site: Site) -> bool:
        """Whether a name means one array from a statement on."""
        body = self.fn.node.body
        rest = body[body.index(site.path[0]) :]
        return not any(array in self.fn.leaves.bound(s) for s in rest)

    def holds_all(self, array: str, tape: ast.Assign) -> bool:
        """Whether an array holds what a tape does, with all digits."""
        if self.fn.bindings[array] != 1:
            return False
        made = next((s for s in self.sweeps.ahead if _binds(s, array)), None)
        return made is not None and _dtype(made.value) == _dtype(tape.value) != ""


def _binds(s: ast.stmt, name: str) -> TypeGuard[ast.Assign]:
    match s:
        case ast.Assign([ast.Name(n)]):
            return n == name
    return False


def _dtype(made: ast.expr) -> str:
    """The type of the elements of an array that is made here."""
    match made:
        case ast.Call(ast.Attribute(ast.Name("np"), "zeros" | "empty"), [_], []):
            return "np.float64"
        case ast.Call(ast.Attribute(ast.Name("np"), "zeros" | "empty"), [_, dtype], []):
            return ast.unparse(dtype)
    return ""


def _stands(tape: Recorded, place: _Place, tables: _Tables) -> bool:
    """Whether an element is in the reverse sweep what the tape kept of it."""
    fn = tables.fn
    stored = tables.stores(place.array)
    read = tables.site(tape.record)
    if stored is None or not fn.is_number(place.array, place.key):
        return False
    if not tables.is_bound_before(place.array, read) or not _same_rounds(fn, tape, place, read):
        return False
    for s in stored:
        target = s.targets[0] if isinstance(s, ast.Assign) else s.target
        assert isinstance(target, ast.Subscript)
        own = s is place.store
        if not is_untouched(read, place.key, tables.site(s), target.slice, other_rounds=own):
            return False
    return True


def _same_rounds(fn: Function, tape: Recorded, place: _Place, read: Site) -> bool:
    """Whether the index of the tape says which element it is in both sweeps."""
    counters = {loop.target.id for loop in read.loops if isinstance(loop.target, ast.Name)}
    told = {n for item in asts.items(tape.at) for n in counter_in(item)}
    names = asts.names(place.key)
    return is_steady(fn, place.key, read.loops) and names & counters <= told


__all__ = ["standing"]
