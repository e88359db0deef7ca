"""A loop that only spreads a cotangent which is structurally zero is skipped."""

from __future__ import annotations

import ast
from bisect import bisect_left

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.zero import adds_nothing


def guard(fn: Function) -> None:
    """`z = 0.0; if b: z += e; for ...: (all linear in z)`: the loop runs only if b."""
    for block in fn.blocks():
        bound = _Bound(fn, block)
        for k, s in enumerate(block):
            if isinstance(s, ast.For):
                test = _decides(fn, bound, k)
                if test is not None:
                    block[k] = ast.If(test, [s], [])


class _Bound:
    """Which statements of a block bind a name, at whatever depth."""

    def __init__(self, fn: Function, block: list[ast.stmt]) -> None:
        self.block = block
        self.positions: dict[str, list[int]] = {}
        if any(isinstance(s, ast.For) for s in block):
            for k, s in enumerate(block):
                for name in fn.leaves.bound(s):
                    self.positions.setdefault(name, []).append(k)

    def last(self, name: str, before: int) -> int:
        """The last statement before a position that binds a name; -1 when there is none."""
        found = self.positions.get(name, ())
        k = bisect_left(found, before)
        return found[k - 1] if k else -1


def _decides(fn: Function, bound: _Bound, k: int) -> ast.expr | None:
    """The condition without which a loop adds nothing but zeros."""
    loop = bound.block[k]
    assert isinstance(loop, ast.For)
    for name in sorted(fn.leaves.names(loop)):
        found = _set_only_if(bound, name, k)
        if found is not None and _spreads_only(fn, loop, name):
            return asts.copied(found)
    return None


def _set_only_if(bound: _Bound, name: str, end: int) -> ast.expr | None:
    """The condition under which `name`, zero before, was added to."""
    last = bound.last(name, end)
    match bound.block[last] if last >= 0 else None:
        case ast.If(test, _, []) if _stays(bound, test, last, end):
            first = bound.last(name, last)
            match bound.block[first] if first >= 0 else None:
                case ast.Assign([ast.Name(n)], ast.Constant(0.0)) if n == name:
                    return test
    return None


def _stays(bound: _Bound, test: ast.expr, last: int, end: int) -> bool:
    """Whether a condition on numbers is what it was before a statement."""
    plain = ast.Name | ast.Constant | ast.Compare | ast.UnaryOp
    nodes = [n for n in asts.walk(test) if isinstance(n, ast.expr)]
    return all(isinstance(n, plain) for n in nodes) and all(
        bound.last(n.id, end) < last for n in nodes if isinstance(n, ast.Name)
    )


def _spreads_only(fn: Function, loop: ast.For, name: str) -> bool:
    """Whether a loop has no effect when `name` is zero."""
    got = fn.summary([loop])
    return got.plain and adds_nothing([loop], {name}) and not fn.live_after(got.assigned, loop)
