"""Slices from outside that Numba freezes are written out.

    I = slice(1, -1)
    y = u[I] - u[2:]       ->      y = u[1:-1] - u[2:]

So it is known that both are of one length (see `analysis.types.extents`).
"""

from __future__ import annotations

from dataclasses import replace

from srcgrad.ir import nodes as ir
from srcgrad.ir.rebuild import with_blocks


def written_out(fn: ir.Function) -> ir.Function:
    """The function with the slices that names from outside stand for."""
    if not any(isinstance(g.value, slice) for g in fn.meanings):
        return fn
    return replace(fn, body=_block(fn.body))


def _block(block: ir.Block) -> ir.Block:
    return tuple(map(_stmt, block))


def _stmt(stmt: ir.Stmt) -> ir.Stmt:
    match stmt:
        case ir.Assign(value=ir.Index(obj, key)):
            return replace(stmt, value=ir.Index(obj, _key(key)))
        case ir.Store(key=key):
            return replace(stmt, key=_key(key))
    return with_blocks(stmt, tuple(map(_block, ir.blocks(stmt))))


def _key(key: ir.Key) -> ir.Key:
    if isinstance(key, ir.KeyTuple):
        return ir.KeyTuple(tuple(map(_item, key.items)))
    return _item(key)


def _item(item: ir.KeyItem) -> ir.KeyItem:
    match item:
        case ir.Global(value=slice() as found):
            ends = found.start, found.stop, found.step
            if all(e is None or type(e) is int for e in ends):
                return ir.Slice(*(None if e is None else ir.Const(e) for e in ends))
    return item


__all__ = ["written_out"]
