"""What is added at places inside adjoints, and what is refused there."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import Fields, Record, accumulate, add, error, is_number


def refuse_item_of_number(a: Any) -> None:
    """`v[0][None]`: what NumPy takes for an array without dimensions, and hands out as one."""
    if is_number(a):
        raise error(
            "UnsupportedSyntax",
            "a number is indexed as if it were an array in differentiated code: use np.reshape",
        )


def slice_places(key: slice, count: int) -> range:
    """The places that a slice takes of so many.

    >>> list(slice_places(slice(None, None, 2), 5))
    [0, 2, 4]
    """
    return range(*key.indices(count))


def item_add(a: Any, key: Any, g: Any) -> None:
    """Add g to the item at `key` of an adjoint, once for each time the key names it."""
    if g is None or a is None:
        return
    if isinstance(a, np.ndarray):
        if _repeats(key):
            np.add.at(a, key, g)
        else:
            a[key] += g
        return
    refuse_item_of_number(a)
    if isinstance(key, slice):
        for k, v in zip(slice_places(key, len(a)), g, strict=True):
            a[k] = add(a[k], v)
        return
    a[key] = accumulate(a[key], g)


def attr_add(a: Any, name: str, g: Any) -> None:
    """Add g to one attribute of an adjoint."""
    if g is None or a is None:
        return
    if isinstance(a, Record):
        setattr(a, name, accumulate(getattr(a, name), g))
        return
    if isinstance(a, Fields):
        k = a.names.index(name)
        a[k] = accumulate(a[k], g)
        return
    if isinstance(a, np.ndarray) and name in ("T", "flat"):
        a += np.transpose(g) if name == "T" else np.reshape(g, a.shape)
        return
    raise error("NotDifferentiable", f"no derivative passes through the attribute {name} here")


def _repeats(key: Any) -> bool:
    """Whether an index may name an element twice."""
    items = key if isinstance(key, tuple) else (key,)
    for item in items:
        if isinstance(item, list):
            item = np.asarray(item)
        if isinstance(item, np.ndarray) and item.ndim and item.dtype.kind in "iu":
            return True
    return False


def refuse_overlap(u: np.ndarray, key: Any, value: Any) -> None:
    """`u[mask] = u[::-1]`: NumPy copies element by element what may have been written by then."""
    if isinstance(key, np.ndarray | list) and np.asarray(key).dtype == bool:
        if isinstance(value, np.ndarray) and np.shares_memory(u, value):
            raise error(
                "UnsupportedSyntax",
                "storing a part of an array where a mask says in the same array depends on the "
                "order of the elements: store a copy of it",
            )
