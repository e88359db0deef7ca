"""Shadows of what may be a view of an array that is written into."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error, is_number, zeros

_OVERLAPPING = (
    "an array that is written into is broadcast, or cut into windows, without a copy in "
    "differentiated code: use a copy of it"
)


def is_part(v_bar: Any, a_bar: Any) -> bool:
    """Whether the shadow of a possible view is a view of the other shadow."""
    if isinstance(v_bar, np.ndarray) and isinstance(a_bar, np.ndarray):
        return bool(np.may_share_memory(v_bar, a_bar))
    if isinstance(v_bar, list) and isinstance(a_bar, np.ndarray):
        return all(is_part(part, a_bar) for part in v_bar)
    return v_bar is a_bar and not is_number(v_bar)


def view_bar(v: Any, a: Any, made: Any) -> Any:
    """The shadow of a possible view v of a; `made` is the same operation on a's shadow."""
    if isinstance(v, list | tuple) and isinstance(a, np.ndarray):  # `np.split` and the like
        return [view_bar(part, a, bar) for part, bar in zip(v, made, strict=True)]
    if not isinstance(v, np.ndarray) or not isinstance(a, np.ndarray):
        return made if v is a and not is_number(v) else zeros(v)
    if np.may_share_memory(v, a):
        return _writable(made)
    return zeros(v)


def _writable(view: np.ndarray) -> np.ndarray:
    """A view of a shadow that takes contributions; `np.diag` makes read-only ones."""
    if _overlaps_itself(view):
        raise error("UnsupportedSyntax", _OVERLAPPING)
    if not view.flags.writeable:
        try:
            view.flags.writeable = True
        except ValueError:  # `sliding_window_view`
            raise error("UnsupportedSyntax", _OVERLAPPING) from None
    return view


def _overlaps_itself(view: np.ndarray) -> bool:
    """Whether two places of a view may be the same memory."""
    reach = view.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(view.strides, view.shape, strict=True)):
        if n > 1:
            if stride < reach:
                return True
            reach += stride * (n - 1)
    return False
