"""Keys of arrays and containers as text."""

from __future__ import annotations

import ast
from collections.abc import Callable

from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn


def key_value(key: ir.Key, atom: Callable[[ir.Atom], ast.expr]) -> ast.expr:
    """A key as a value: slices are written as calls; `atom` prints what the key is made of."""
    match key:
        case ir.KeyTuple(items):
            return syn.tuple_of(key_value(i, atom) for i in items)
        case ir.Slice(lower, upper, step):
            parts = [syn.number(None) if a is None else atom(a) for a in (lower, upper, step)]
            return syn.call("slice", *parts)
        case _:
            return atom(key)
