"""A loop that only spreads a cotangent which is structurally zero is skipped."""

from __future__ import annotations

import ast
from bisect import bisect_left

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.accesses import Function, does_something, summary


def guard(fn: Function) -> None:
    """`z = 0.0; if b: z += e; for ...: (all linear in z)`: the loop runs only if b."""
    for block in fn.blocks():
        bound = _Bound(block)
        for k, s in enumerate(block):
            if isinstance(s, ast.For):
                test = _decides(fn, bound, k)
                if test is not None:
                    block[k] = ast.If(test, [s], [])


class _Bound:
    """Which statements of a block bind a name, at whatever depth."""

    def __init__(self, block: list[ast.stmt]) -> None:
        self.block = block
        self.positions: dict[str, list[int]] = {}
        if any(isinstance(s, ast.For) for s in block):
            for k, s in enumerate(block):
                for name in syn.names_bound(s):
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
    for name in sorted(syn.names_in(loop)):
        found = _set_only_if(bound, name, k)
        if found is not None and _spreads_only(fn, loop, name):
            return asts.copied(found)
    return None


def _set_only_if(bound: _Bound, name: str, end: int) -> ast.expr | None:
    """The condition under which `name`, zero before, was added to."""
    last = bound.last(name, end)
    match bound.block[last] if last >= 0 else None:
        case ast.If(ast.Name(t) as test, _, []) if bound.last(t, end) < last:
            first = bound.last(name, last)
            match bound.block[first] if first >= 0 else None:
                case ast.Assign([ast.Name(n)], ast.Constant(0.0)) if n == name:
                    return test
    return None


def _spreads_only(fn: Function, loop: ast.For, name: str) -> bool:
    """Whether a loop has no effect when `name` is zero."""
    zero = {name}
    got = summary([loop])
    return got.plain and _zero_block(loop.body, zero) and not fn.live_after(got.assigned, loop)


def _zero_block(body: list[ast.stmt], zero: set[str]) -> bool:
    for s in body:
        match s:
            case ast.Assign([ast.Name(n)], value):
                zero.add(n) if _is_zero(value, zero) else zero.discard(n)
            case ast.AugAssign(_, ast.Add() | ast.Sub(), value):
                if not _is_zero(value, zero):
                    return False
            case ast.For(_, _, inner, []):
                if not _zero_block(inner, zero):
                    return False
            case _:
                if does_something(s):
                    return False
    return True


def _is_zero(e: ast.expr, zero: set[str]) -> bool:
    match e:
        case ast.Name(n):
            return n in zero
        case ast.Constant(0.0):
            return True
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            return _is_zero(operand, zero)
        case ast.BinOp(left, ast.Mult(), right):
            return _is_zero(left, zero) or _is_zero(right, zero)
        case ast.BinOp(left, ast.Div(), _):
            return _is_zero(left, zero)
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return _is_zero(left, zero) and _is_zero(right, zero)
        case _:
            return False
