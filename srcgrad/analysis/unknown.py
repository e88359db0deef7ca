"""What a call of something unknown may change: all that it is given and can hold on to."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType

from srcgrad.ir import nodes as ir


def handed(expr: ir.Expr) -> Iterator[ir.Atom]:
    """What a call is given that may hold memory or change."""
    match expr:
        case ir.Call(fn, args, kwargs):
            held = (fn,) if isinstance(fn, ir.Var) else ()  # a method holds its object
            atoms = [*held, *map(ir.unstar, args), *(v for _, v in kwargs)]
        case ir.Method(obj, _, args, kwargs):
            atoms = [obj, *map(ir.unstar, args), *(v for _, v in kwargs)]
        case _:
            return
    yield from atoms


_LASTING = (
    ModuleType, type, FunctionType, BuiltinFunctionType, logging.Logger, io.TextIOBase,
    int, float, complex, str, bytes, tuple, frozenset, type(None), type(...),
)  # fmt: skip


def keeps(a: ir.Atom) -> bool:
    """Whether a global may hold what it is given, for a later statement to read."""
    return isinstance(a, ir.Global) and not isinstance(a.value, _LASTING)
