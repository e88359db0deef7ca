"""A loop that only spreads a cotangent which is structurally zero is skipped."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.accesses import Function, summary
from srcgrad.transform.loops.order import binds


def guard(fn: Function) -> None:
    """`z = 0.0; if b: z += e; for ...: (all linear in z)`: the loop runs only if b."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            if isinstance(s, ast.For):
                test = _decides(fn, block, k)
                if test is not None:
                    block[k] = ast.If(test, [s], [])
            k += 1


def _decides(fn: Function, block: list[ast.stmt], k: int) -> ast.expr | None:
    """The condition without which a loop adds nothing but zeros."""
    loop = block[k]
    assert isinstance(loop, ast.For)
    for name in sorted(syn.names_in(loop)):
        found = _set_only_if(block[:k], name)
        if found is not None and _spreads_only(fn, loop, name):
            return asts.copied(found)
    return None


def _set_only_if(before: list[ast.stmt], name: str) -> ast.expr | None:
    """The condition under which `name`, zero before, was added to."""
    test: ast.expr | None = None
    for k in range(len(before) - 1, -1, -1):
        match before[k]:
            case ast.Assign([ast.Name(n)], ast.Constant(0.0)) if n == name:
                return test
            case ast.If(ast.Name(t), body, []) as s if test is None and _touches(body, name):
                if any(binds(later, t) for later in before[k:]):
                    return None
                test = s.test
            case s if binds(s, name):
                return None
    return None


def _touches(body: list[ast.stmt], name: str) -> bool:
    return any(binds(s, name) for s in body)


def _spreads_only(fn: Function, loop: ast.For, name: str) -> bool:
    """Whether a loop has no effect when `name` is zero."""
    zero = {name}
    if not summary([loop]).plain or not _zero_block(loop.body, zero):
        return False
    bound = summary([loop]).assigned
    return not any(fn.live_after(n, loop) for n in bound)


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
                if type(s).__name__ not in ("Comment", "Blank"):
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
