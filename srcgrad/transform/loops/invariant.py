"""Elements that an innermost loop reads again and again are read once."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import is_innermost, runs


def invariant(fn: Function) -> None:
    """`for j in range(n): s += a[i] * b[j]` reads a[i] before the loop, if the loop runs."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            if isinstance(s, ast.For) and is_innermost(s) and fn.is_plain([s]):
                found = _Invariants(fn, s)
                for inner in s.body:
                    found.statement(inner)
                if found.reads:
                    block.insert(k, ast.If(runs(s), found.reads, []))
                    k += 1
            k += 1


@dataclass
class _Invariants:
    """What a loop reads in every iteration from one place that nothing in it changes."""

    fn: Function
    loop: ast.For
    reads: list[ast.stmt] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of the places that are read before

    def __post_init__(self) -> None:
        got = self.fn.summary([self.loop])
        self.changed = got.assigned | got.added
        self.stored = {self.fn.root(a.array) for a in got.accesses if a.kind != "read"}

    def statement(self, s: ast.stmt) -> None:
        if isinstance(s, ast.Assign | ast.AugAssign) and self.fn.leaves.of(s).always_reads:
            value = asts.rewritten(s.value, {ast.Subscript: self.moved})
            if self.names:
                s.value = value
                self.fn.leaves.forget(s)

    def moved(self, place: ast.Subscript) -> ast.expr:
        """What stands for an element: the name that holds it, if it is always the same."""
        match place:
            case ast.Subscript(ast.Name(array), key) if self.is_fixed(array, key):
                shown = ast.dump(place)
                if shown not in self.names:
                    self.names[shown] = self.fn.fresh(_name(array, key))
                    self.reads.append(syn.assign(self.names[shown], place))
                return syn.name(self.names[shown])
        return place

    def is_fixed(self, array: str, key: ast.expr) -> bool:
        if {array, *asts.names(key)} & self.changed or self.fn.root(array) in self.stored:
            return False
        return self.fn.is_number(array, key)


def _name(array: str, key: ast.expr) -> str:
    """`A_ik` for A[i, k]."""
    items = asts.items(key)
    plain = [i.id if isinstance(i, ast.Name) else "" for i in items]
    return f"{array}_{''.join(plain)}" if all(plain) else f"{array}_value"


__all__ = ["invariant"]
