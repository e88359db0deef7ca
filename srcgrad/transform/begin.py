"""How adjoints of arrays begin: with what is first added to their zeros."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.fresh import is_fresh


def drop_returned(block: list[ast.stmt]) -> None:
    """`t_bar = u_bar[k].copy()`, `u_bar[k] = 0.0`, `u_bar[k] += t_bar` leave u_bar as it was."""
    for k in range(len(block) - 3, -1, -1):
        match block[k : k + 3]:
            case [
                ast.Assign([ast.Name(kept)], ast.Call(ast.Attribute(place, "copy"), [], [])),
                ast.Assign([cleared], ast.Constant(0.0)),
                ast.AugAssign(added, ast.Add(), ast.Name(given)),
            ] if kept == given and isinstance(place, ast.Subscript):
                if _shown(place) == _shown(cleared) == _shown(added):
                    del block[k + 1 : k + 3]


def _shown(place: ast.expr) -> str:
    return ast.dump(place).replace("Store()", "Load()")


def begin_whole(block: list[ast.stmt]) -> bool:
    """`u_bar = np.zeros(u.shape, u.dtype)` and `u_bar += 2.0 * u`: it begins with the latter;
    whether there is any."""
    found = False
    for s in list(block):
        match s:
            case ast.Assign(
                [ast.Name(name)],
                ast.Call(
                    ast.Attribute(ast.Name("np"), "zeros"),
                    [ast.Attribute(_, "shape") as shape, *_],
                    [],
                ),
            ):
                k = block.index(s)
                at = next((j for j in range(k + 1, len(block)) if _mentions(block[j], name)), None)
                first = None if at is None else _whole(block[at], name, shape)
                if at is not None and first is not None:
                    block[at] = first
                    del block[k]
                    found = True
    return found


def store_first(block: list[ast.stmt]) -> None:
    """What is first added to elements of zeros is stored: `u_bar[0] = e`; so is what goes to other
    items next."""
    for k, s in enumerate(block):
        match s:
            case ast.Assign(
                [ast.Name(name)], ast.Call(ast.Attribute(ast.Name("np"), "zeros"), [_, *_], [])
            ) if name.endswith("_bar"):
                items: list[int] = []
                for j in range(k + 1, len(block)):
                    if not _mentions(block[j], name):
                        continue
                    made = _stored(block[j], name)
                    item = None if made is None else _item(made.targets[0])
                    if made is None or (items and (item is None or item in items)):
                        break
                    block[j] = made
                    if item is None:
                        break
                    items.append(item)


def _stored(s: ast.stmt, name: str) -> ast.Assign | None:
    """The store for an addition to a part of an array that does not read the array."""
    match s:
        case ast.AugAssign(
            ast.Subscript(ast.Name(array), key) as place, ast.Add() | ast.Sub() as op, value
        ) if array == name and name not in asts.names(key) | asts.names(value):
            if hasattr(s, "srcgrad_raises"):
                return None  # a statement of the user's
            made = ast.Assign([place], syn.turned(value) if isinstance(op, ast.Sub) else value)
            vars(made).update({k: v for k, v in vars(s).items() if k.startswith("srcgrad_")})
            return ast.copy_location(made, s)
    return None


def _item(place: ast.expr) -> int | None:
    """The index of an item that is told by a literal."""
    match place:
        case ast.Subscript(_, ast.Constant(int() as k)) if type(k) is int:
            return k
    return None


def _mentions(s: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in asts.walk(s))


def _whole(s: ast.stmt, name: str, shape: ast.expr) -> ast.stmt | None:
    """The assignment for an addition of a whole array to zeros of its kind, or of one number for
    all elements (its adjoint is thin)."""
    thin = getattr(s, "srcgrad_thin", None)
    match s:
        case ast.AugAssign(ast.Name(target), ast.Add() | ast.Sub() as op, value):
            if target != name or thin is None or name in asts.names(value):
                return None
        case _:
            return None
    if isinstance(op, ast.Sub):
        value = syn.negative(value)
    if thin:
        value = syn.call("np.full", shape, value)
    elif not is_fresh(value):
        value = ast.Call(ast.Attribute(value, "copy", ast.Load()), [], [])
    made = syn.assign(name, value)
    vars(made).update({k: v for k, v in vars(s).items() if k.startswith("srcgrad_")})
    return made


__all__ = ["begin_whole", "drop_returned", "store_first"]
