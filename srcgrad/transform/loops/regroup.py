"""Sums of cotangents are taken in whatever order is fastest.

The order in which the contributions to an adjoint are added is nobody's choice, so that a
compiler may take several at once.  The primal's own sums stay in the user's order.
"""

from __future__ import annotations

import ast

from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.numbers import numbers
from srcgrad.transform.loops.facts.order import is_innermost


def regroup(fn: Function) -> None:
    """`for i in ...: x_bar += e` becomes `x_bar = jit.plus(x_bar, e)`, in innermost loops."""
    if any(k.arg == "fastmath" for d in fn.node.decorator_list for k in _keywords(d)):
        return  # the user has said so of all sums
    mine = fn.adjoints & numbers(fn)
    for s in fn.statements if mine else ():
        if isinstance(s, ast.For) and is_innermost(s):
            _sums(fn, s, mine)


def _keywords(decorator: ast.expr) -> list[ast.keyword]:
    return decorator.keywords if isinstance(decorator, ast.Call) else []


def _sums(fn: Function, loop: ast.For, mine: set[str]) -> None:
    match loop.iter:
        case ast.Call(ast.Name("prange")):
            return  # Numba adds these up itself
    got = fn.summary(loop.body)
    for k, s in enumerate(loop.body):
        match s:
            case ast.AugAssign(ast.Name(name), ast.Add() | ast.Sub() as op, value) if (
                got.plain and name in mine and name not in got.assigned and name not in got.read
            ):
                term = value if isinstance(op, ast.Add) else syn.negative(value)
                loop.body[k] = syn.assign(name, syn.call("jit.plus", syn.name(name), term))


__all__ = ["regroup"]
