"""`np.r_[...]` and `np.c_[...]`, which join arrays, as calls of functions that do the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

if TYPE_CHECKING:
    from srcgrad.analysis.rewrites.inplace import Desugar


def joined(work: Desugar, stmt: ir.Stmt) -> bool:
    """Rewrite `np.r_[a, 0:1:5j]`; those with directives in a string are left alone."""
    match stmt:
        case ir.Assign(value=ir.Index(ir.Global(value=made), key)):
            if made is not np.r_ and made is not np.c_:
                return False
        case _:
            return False
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    parts = [_part(work, i) for i in items]
    if any(p is None for p in parts):
        return False
    packed = work.bind(ir.Build("tuple", tuple(p for p in parts if p is not None)))
    kinds = [None if isinstance(i, ir.Slice) else work.facts.of(i) for i in items]
    vectors = all(isinstance(t, ty.Array) and len(t.dims) == 1 for t in kinds)
    rows = made is np.r_
    if vectors:
        name = "hstack" if rows else "column_stack"
        fn = ir.Global(ir.Root("module", "numpy"), (name,), getattr(np, name))
    else:
        fn = work.helper("row_of" if rows else "column_of")
    work.out.append(replace(stmt, value=ir.Call(fn, (packed,))))
    return True


def _part(work: Desugar, item: ir.KeyItem) -> ir.Atom | None:
    """One part: a slice is a range of numbers, whose length is imaginary: `0:1:5j`."""
    if not isinstance(item, ir.Slice):
        text = isinstance(item, ir.Const) and isinstance(item.value, str)
        return None if text else item
    start = ir.Const(0) if item.lower is None else item.lower
    step = ir.Const(1) if item.step is None else item.step
    if item.upper is None or not isinstance(step, ir.Const):
        return None
    if isinstance(step.value, complex):
        return work.numpy("linspace", start, item.upper, ir.Const(int(abs(step.value))))
    return work.numpy("arange", start, item.upper, step)
