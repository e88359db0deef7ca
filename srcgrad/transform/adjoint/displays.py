"""Adjoints of tuples, as displays of the adjoints of their items: `(x_bar, y_bar, 0.0)`.

A display is a value: no statement writes into it, so that it can be differentiated again like any
other tuple, and none of its items has to be made before it is known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.state import Adj

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.adjoints import Adjoints


def zero_number(t: ty.Number) -> ast.expr:
    return syn.number(0j if issubclass(t.cls, complex | np.complexfloating) else 0.0)


def add_part(sweep: Adjoints, obj: ir.Var, root: ir.Var, key: ir.Key, g: ast.expr) -> bool:
    """Add the cotangent of `obj[key]`, an item inside the tuple `root`, to the adjoint of `root`;
    False where that is no display."""
    path = _path(sweep, obj, root, key)
    if path is None or sweep.unit.kind(root.name) == "memory":
        return False
    sweep.full(root.name)
    t = sweep.unit.type(root.name)
    adj = sweep.state.get(root.name)
    if adj is None:
        have = _zero(sweep, t, sweep.primal(root))
    elif adj.owned and not isinstance(adj.waiting, ast.Tuple):
        return False  # it is held in a list, whose items are added to in place
    else:
        if not isinstance(adj.waiting, ast.Tuple):
            sweep.settle(root.name)
        have = sweep.value(root.name)
    node = _with(sweep, t, have, path, g)
    if node is None:
        return False
    sweep.state[root.name] = Adj(node, False, False)
    return True


def _path(sweep: Adjoints, obj: ir.Var, root: ir.Var, key: ir.Key) -> list[int] | None:
    """The constant places that lead from `root` to `obj[key]`, through tuples only."""
    keys = [key]
    while obj != root:
        again = sweep.found.needs.again(obj.name)
        assert again is not None
        if not isinstance(again.value, ir.Index) or not isinstance(again.value.obj, ir.Var):
            return None
        keys.insert(0, again.value.key)
        obj = again.value.obj
    t, path = sweep.unit.type(root.name), []
    for k in keys:
        place = k.value if isinstance(k, ir.Const) else None
        if not isinstance(t, ty.Tuple) or not _is_display(t) or type(place) is not int:
            return None
        if not -len(t.items) <= place < len(t.items):
            return None
        path.append(place % len(t.items))
        t = t.items[place]
    return path


def _is_display(t: ty.Tuple) -> bool:
    """Whether a tuple will do for an adjoint: of one, or of what a function of NumPy returns."""
    return t.cls is tuple or t.cls.__module__.startswith("numpy.")


def _with(
    sweep: Adjoints, t: ty.Type, have: ast.expr, path: list[int], g: ast.expr
) -> ast.expr | None:
    """A display of what there is, with g added at one place."""
    if not path:
        return g if _is_zero(have) else _sum(sweep, t, have, g)
    assert isinstance(t, ty.Tuple)
    if isinstance(have, ast.Tuple):
        parts = list(have.elts)
    elif isinstance(have, ast.Name | ast.Subscript):
        parts = [_item(have, k) for k in range(len(t.items))]
    else:
        return None
    k = path[0]
    made = _with(sweep, t.items[k], parts[k], path[1:], g)
    if made is None:
        return None
    return ast.Tuple([*parts[:k], made, *parts[k + 1 :]], ast.Load())


def _item(node: ast.expr, k: int) -> ast.expr:
    return ast.Subscript(node, syn.number(k), ast.Load())


def _zero(sweep: Adjoints, t: ty.Type, primal: ast.expr) -> ast.expr:
    if isinstance(t, ty.Number) and t.cls is not bool:
        made = zero_number(t)
    elif isinstance(t, ty.Tuple) and _is_display(t):
        parts = [_zero(sweep, item, _item(primal, k)) for k, item in enumerate(t.items)]
        made = ast.Tuple(parts, ast.Load())
    else:
        made = sweep.module.support("zeros", primal)
    made.srcgrad_zero = True  # type: ignore[attr-defined]
    return made


def _is_zero(node: ast.expr) -> bool:
    return getattr(node, "srcgrad_zero", False)


def _sum(sweep: Adjoints, t: ty.Type, have: ast.expr, g: ast.expr) -> ast.expr:
    if isinstance(t, ty.Number | ty.Array):
        return syn.add(have, g)
    return sweep.module.support("add", have, g)
