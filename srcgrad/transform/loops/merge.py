"""Additions to one place that follow one another become one."""

from __future__ import annotations

import ast
from typing import TypeGuard

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.accesses import Function


def merge(fn: Function) -> None:
    """`a[i] += s; t = e; a[i] += t` becomes `t = e; a[i] += s + t`."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            first = block[k]
            if _is_addition(first):
                later = _follower(fn, block, k)
                if later is not None:
                    _join(first, block[later])
                    fn.leaves.forget(block[later])
                    del block[k]
                    continue
            k += 1


def _is_addition(s: ast.stmt) -> TypeGuard[ast.AugAssign]:
    match s:
        case ast.AugAssign(ast.Subscript(ast.Name(), _), ast.Add() | ast.Sub(), value):
            return all(isinstance(n, ast.Name | ast.Constant) for n in _parts(value))
    return False


def _parts(e: ast.expr) -> list[ast.AST]:
    """The names and numbers of a sum."""
    match e:
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return [*_parts(left), *_parts(right)]
        case ast.UnaryOp(ast.USub(), operand):
            return _parts(operand)
    return [e]


def _follower(fn: Function, block: list[ast.stmt], k: int) -> int | None:
    """The next addition to the same place, if what lies between has nothing to do with it."""
    first = block[k]
    assert isinstance(first, ast.AugAssign) and isinstance(first.target, ast.Subscript)
    array = first.target.value
    assert isinstance(array, ast.Name)
    if not fn.is_number(array.id, first.target.slice):
        return None
    root, used = fn.root(array.id), asts.names(first)
    for j in range(k + 1, len(block)):
        s = block[j]
        if _is_addition(s) and asts.same(s.target, first.target):
            return j
        got = fn.summary([s])
        if not got.plain or isinstance(s, ast.For | ast.If) or used & fn.leaves.bound(s):
            return None
        if any(fn.root(a.array) == root for a in got.accesses):
            return None
    return None


def _join(first: ast.stmt, last: ast.stmt) -> None:
    assert isinstance(first, ast.AugAssign) and isinstance(last, ast.AugAssign)
    one, two = first.value, last.value
    if isinstance(first.op, ast.Sub):
        if isinstance(last.op, ast.Sub):
            last.value = ast.BinOp(one, ast.Add(), two)
        else:
            last.value = ast.BinOp(two, ast.Sub(), one)
    elif isinstance(last.op, ast.Sub):
        last.op = ast.Add()
        last.value = ast.BinOp(one, ast.Sub(), two)
    else:
        last.value = ast.BinOp(one, ast.Add(), two)


__all__ = ["merge"]
