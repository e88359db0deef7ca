"""Arrays and containers that are written in place, where their types are not known in advance.

A tracked value has a shadow beside it: for an array an array of the same shape that is viewed and
shared as the array is, for a container a container of shadows; a number's is a number, which goes
by value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.additions import refuse_item_of_number, refuse_overlap, slice_places
from srcgrad.runtime.support.adjoints import (
    Fields,
    Record,
    accumulate,
    add,
    error,
    is_floating,
    is_number,
    zeros,
)
from srcgrad.runtime.support.elementwise import unbroadcast
from srcgrad.runtime.support.state import state_of


def refuse_shared(
    written: tuple[Any, ...], others: tuple[Any, ...], names: tuple[str, ...]
) -> None:
    """Written arguments must not share memory with another argument."""
    values = [*written, *others]
    for k, a in enumerate(written):
        for j, b in enumerate(values):
            if j == k or (j < k):
                continue
            if shares(a, b):
                raise error(
                    "AliasError",
                    f"the arguments {names[k]} and {names[j]} share memory and the function "
                    "writes into "
                    f"{names[k]}: pass a copy of one of them",
                )


def shares(a: Any, b: Any) -> bool:
    """Whether arrays in two values share memory."""
    for x in _arrays(a):
        for y in _arrays(b):
            if np.may_share_memory(x, y):
                try:
                    if np.shares_memory(x, y, max_work=10**6):  # type: ignore[arg-type]
                        return True
                except np.exceptions.TooHardError:
                    return True
    return False


def _arrays(x: Any) -> list[np.ndarray]:
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, list | tuple):
        return [a for v in x for a in _arrays(v)]
    if isinstance(x, dict):
        return [a for v in x.values() for a in _arrays(v)]
    return [a for v in state_of(x).values() for a in _arrays(v)]


# ---- names and parts ----------------------------------------------------------------------


def alias_bar(a: Any, a_bar: Any) -> Any:
    """The shadow of another name of a: the same object; a number gets an adjoint of its own."""
    return zeros(a) if is_number(a) else a_bar


def alias_back(a_bar: Any, v_bar: Any) -> Any:
    """What another name collected: numbers are added; shared shadows have it already."""
    if v_bar is None or v_bar is a_bar:
        return a_bar
    if isinstance(v_bar, np.ndarray | list | dict | Record):
        return a_bar if a_bar is not None else v_bar
    return add(a_bar, v_bar)


def part_bar(v: Any, a: Any, a_bar: Any, key: Any) -> Any:
    """The shadow of `v = a[key]`: a part of a's shadow, or one of its own for a copy or number."""
    if a_bar is None:
        return zeros(v)
    if isinstance(a, np.ndarray):
        if isinstance(v, np.ndarray) and np.may_share_memory(v, a):
            return a_bar[key]
        return zeros(v)
    if is_number(v):
        return zeros(v)
    refuse_item_of_number(a)
    if isinstance(key, slice):
        return shallow_bar(v, a_bar[key])
    return a_bar[key]


def part_back(a_bar: Any, key: Any, v_bar: Any) -> None:
    """Add what `v = a[key]` collected, unless its shadow is a part of a's."""
    if v_bar is None or a_bar is None:
        return
    if isinstance(a_bar, np.ndarray):
        if isinstance(v_bar, np.ndarray) and np.may_share_memory(v_bar, a_bar):
            return
        if isinstance(v_bar, np.ndarray) or not _is_plain(key):
            np.add.at(a_bar, key, v_bar)
        else:
            a_bar[key] += v_bar
        return
    if isinstance(key, slice):
        for k, v in zip(slice_places(key, len(a_bar)), v_bar, strict=True):
            a_bar[k] = alias_back(a_bar[k], v)
        return
    a_bar[key] = alias_back(a_bar[key], v_bar)


def _is_plain(key: Any) -> bool:
    items = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(i, list | np.ndarray) for i in items)


def attr_bar(v: Any, a_bar: Any, name: str) -> Any:
    if isinstance(a_bar, Record | Fields) and not is_number(v):
        return getattr(a_bar, name)
    return zeros(v)


def attr_back(a_bar: Any, name: str, v_bar: Any) -> None:
    if a_bar is None or v_bar is None:
        return
    if isinstance(a_bar, Record):
        setattr(a_bar, name, alias_back(getattr(a_bar, name), v_bar))
    elif isinstance(a_bar, Fields):
        a_bar[a_bar.names.index(name)] = alias_back(getattr(a_bar, name), v_bar)
    else:
        raise error("NotDifferentiable", f"no derivative passes through the attribute {name} here")


# ---- stores -------------------------------------------------------------------------------


def save_item(u: Any, u_bar: Any, key: Any) -> Any:
    """What a store into u[key] overwrites: elements, or an item and its shadow."""
    if isinstance(u, np.ndarray):
        return np.array(u[key])
    if isinstance(u, dict) and key not in u:
        return None
    if isinstance(key, slice):
        raise error("UnsupportedSyntax", "a slice of a list is assigned in differentiated code")
    return (u[key], None if u_bar is None else u_bar[key])


def bind_item(u: Any, u_bar: Any, key: Any, value: Any, value_bar: Any) -> None:
    """After `u[key] = value`: a container takes the value's shadow."""
    if isinstance(u, np.ndarray):
        truncated = u.dtype.kind not in "fc" and np.asarray(value).dtype.kind not in "iub"
        if truncated and value_bar is not None:
            raise error(
                "NotDifferentiable",
                f"a value with a derivative is stored into an array of dtype {u.dtype}, "
                "which truncates it: make the array of floats",
            )
        refuse_overlap(u, key, value)
        return
    u_bar[key] = alias_bar(value, value_bar) if value_bar is not None else zeros(value)


def store_back(u: Any, u_bar: Any, key: Any, saved: Any) -> Any:
    """Undo a store; the cotangent of the stored value comes back."""
    if isinstance(u, np.ndarray):
        g = None
        if u_bar is not None:
            g = last_written(u_bar, key)
            u_bar[key] = 0.0
        u[key] = saved
        return g
    g = None if u_bar is None else u_bar[key]
    if saved is None:
        del u[key]
        if u_bar is not None:
            del u_bar[key]
        return g
    u[key] = saved[0]
    if u_bar is not None:
        u_bar[key] = saved[1]
    return g


def refuse_truncation(value: Any) -> None:
    """Refuse to store a value with a derivative into an array of integers."""
    if is_number(value) or is_floating(value):
        raise error(
            "NotDifferentiable",
            "a value with a derivative is stored into an array of integers, which truncates it: "
            "make the array of floats",
        )


def add_at_back(u: Any, u_bar: Any, key: Any, saved: Any) -> Any:
    """Undo `np.add.at(u, key, value)`; the cotangent of the value comes back."""
    u[key] = saved
    return np.array(u_bar[key])[()]


def stored_back(e_bar: Any, g: Any, e: Any) -> Any:
    """Pass the cotangent of a stored value on to it; a shared shadow has it already."""
    if g is None or g is e_bar:
        return e_bar
    if is_number(e):
        return add(e_bar, np.sum(g) if isinstance(g, np.ndarray) else g)
    if isinstance(e, np.ndarray) and isinstance(e_bar, np.ndarray):
        if not isinstance(g, np.ndarray) or not np.may_share_memory(g, e_bar):
            e_bar += unbroadcast(g, e)
        return e_bar
    if isinstance(e, list | tuple) and isinstance(g, np.ndarray):
        return accumulate(e_bar, list(g))
    return alias_back(e_bar, g)


def last_written(u_bar: Any, key: Any) -> Any:
    """A copy of u_bar[key] where an element named twice counts for its last writer only.

    >>> last_written(np.array([1.0, 2.0, 3.0]), [0, 2, 0])
    array([0., 3., 1.])
    """
    g = np.array(u_bar[key])
    items = key if isinstance(key, tuple) else (key,)
    arrays = [np.asarray(i) for i in items if isinstance(i, list | np.ndarray)]
    if not any(a.dtype.kind in "iu" and a.ndim for a in arrays):
        return g if g.ndim else g[()]
    writers = np.full(u_bar.shape, -1)
    order = np.arange(g.size).reshape(g.shape)
    writers[key] = order
    # Where NumPy leaves the order open we take what the store itself did: the last in order.
    np.maximum.at(writers, key, order)
    return np.where(writers[key] == order, g, 0.0)


def last_written_back(ct: Any, u_bar: Any, key: Any) -> Any:
    """The cotangent of u_bar in `last_written(u_bar, key)`.

    >>> last_written_back(np.array([1.0, 2.0, 4.0]), np.zeros(3), [0, 2, 0])
    array([4., 0., 2.])
    """
    made = np.zeros(u_bar.shape, u_bar.dtype)
    np.add.at(made, key, ct * last_written(np.ones(u_bar.shape), key))
    return made


# ---- augmented assignment ---------------------------------------------------------------------


def save_inplace(u: Any, u_bar: Any) -> Any:
    """Before `u op= e`: the object, its shadow, and a copy of its contents if it is an array."""
    if isinstance(u, list):
        raise error(
            "UnsupportedSyntax", "a list is extended with += in differentiated code: use extend"
        )
    return (u, u_bar, u.copy() if isinstance(u, np.ndarray) else None)


def inplace_bar(u: Any, saved: Any) -> Any:
    """After it: the same shadow if the object was updated in place, else a new one."""
    return saved[1] if u is saved[0] and isinstance(u, np.ndarray) else zeros(u)


def inplace_undo(u: Any, u_bar: Any, saved: Any) -> Any:
    """Take the cotangent of the result and go back: (cotangent, older u, its shadow)."""
    old, old_bar, contents = saved
    if u is old and isinstance(u, np.ndarray):
        if u_bar is None:
            u[...] = contents
            return None, u, u_bar
        g = u_bar.copy()
        u_bar[...] = 0.0
        u[...] = contents
        return g, u, u_bar
    return u_bar, old, old_bar


def contents(x: Any) -> Any:
    """A copy of what a written object holds, for `put_back`."""
    if isinstance(x, np.ndarray):
        return (x, x.copy())
    if isinstance(x, list):
        return (x, list(x))
    if isinstance(x, dict):
        return (x, dict(x))
    return (x, None)


def put_back(x: Any, saved: Any) -> Any:
    """Restore what `contents` copied."""
    old, held = saved
    if isinstance(old, np.ndarray):
        old[...] = held
    elif isinstance(old, list):
        old[:] = held
    elif isinstance(old, dict):
        old.clear()
        old.update(held)
    return old


# ---- lists ------------------------------------------------------------------------------------


def shallow_bar(x: Any, x_bar: Any) -> Any:
    """The shadow of a new list or tuple of the same items: numbers get adjoints of their own."""
    if x_bar is None:
        return zeros(x)
    if isinstance(x_bar, dict):
        return {k: zeros(v) if is_number(v) else v for k, v in x_bar.items()}
    return [zeros(v) if is_number(v) else v for v in x_bar]  # x may be bound anew by now


def copy_back(x_bar: Any, g: Any) -> None:
    """Add the adjoints of numbers that a shallow copy collected."""
    if x_bar is None or g is None or x_bar is g:
        return
    if isinstance(x_bar, np.ndarray):
        for k, v in enumerate(g):
            part_back(x_bar, k, v)
        return
    keys = x_bar.keys() if isinstance(x_bar, dict) else range(len(x_bar))
    for k in keys:
        if isinstance(x_bar[k], list | dict) and isinstance(g[k], list | dict):
            copy_back(x_bar[k], g[k])  # another one since a tuple of numbers came back by value
        else:
            x_bar[k] = alias_back(x_bar[k], g[k])


def list_append_back(x: Any, x_bar: Any) -> Any:
    """Undo `x.append(v)`: the adjoint of v comes back."""
    x.pop()
    return x_bar.pop()


def list_insert_back(x: Any, x_bar: Any, key: int) -> Any:
    where = key if key >= 0 else max(len(x) - 1 + key, 0)
    where = min(where, len(x) - 1)
    x.pop(where)
    return x_bar.pop(where)


def list_extend_back(x: Any, x_bar: Any, count: int) -> Any:
    """Undo `x.extend(more)` for `count` items."""
    start = len(x) - count
    g = x_bar[start:]
    del x[start:], x_bar[start:]
    return g
