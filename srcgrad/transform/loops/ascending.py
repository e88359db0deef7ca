"""The iterations of a reverse loop that commute run in the order of memory."""

from __future__ import annotations

import ast

from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import plus_one
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import commutes, descends, plain_number


def ascending(fn: Function) -> None:
    """`for i in range(n - 1, -1, -1)` becomes `for i in range(n)` where iterations commute."""
    for block in fn.blocks():
        for s in block:
            if isinstance(s, ast.For) and descends(s) and commutes(fn, s):
                high, low, _ = s.iter.args  # type: ignore[attr-defined]
                stop, start = plus_one(high), plus_one(plain_number(low))
                args = [stop] if syn.is_number(start, 0) else [start, stop]
                s.iter = syn.call("range", *args)
