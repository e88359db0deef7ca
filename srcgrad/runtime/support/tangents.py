"""Tangents of values whose type is known only when the program runs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import Record, bar, error, is_number, of_kind
from srcgrad.runtime.support.state import private, state_of


def private_tangent(t: Any, x: Any) -> Any:
    """A copy of the tangent of a written argument, laid out in memory as the argument is."""
    return _laid_out(t, x, {})


def _laid_out(t: Any, x: Any, seen: dict[int, Any]) -> Any:
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "fc":
            return None
        if id(x) not in seen:
            seen[id(x)] = private(x)
            seen[id(x)][...] = 0.0 if t is None else t
        return seen[id(x)]
    if isinstance(x, list | tuple):
        return of_kind(x, (_laid_out(_item(t, k), v, seen) for k, v in enumerate(x)))
    if isinstance(x, dict):
        return {k: _laid_out(None if t is None else t.get(k), v, seen) for k, v in x.items()}
    if is_number(x):
        return 0.0 if t is None else t
    held = state_of(x)
    if not held:
        return t
    if id(x) not in seen:
        made = seen[id(x)] = Record()
        for name, v in held.items():
            setattr(made, name, _laid_out(_field(t, name), v, seen))
    return seen[id(x)]


def tangent_like(t: Any, v: Any) -> Any:
    """A tangent as memory of its own, of the shape and dtype of v; numbers as they are."""
    if not isinstance(v, np.ndarray):
        return t
    if v.dtype.kind not in "fc":
        return None
    out = np.empty(v.shape, v.dtype)
    out[...] = 0.0 if t is None else t
    return out


def view_dot(v: Any, a: Any, made: Any, a_dot: Any) -> Any:
    """The tangent of a possible view v of a; `made` is the same operation on a's tangent."""
    if not isinstance(v, np.ndarray) or not isinstance(a, np.ndarray):
        return made
    is_view = np.may_share_memory(v, a)
    made = np.asarray(made)
    if is_view and not np.may_share_memory(made, a_dot):
        raise error(
            "UnsupportedSyntax",
            "an array and its tangent are laid out differently where a view is written: "
            "copy it first",
        )
    return made if is_view else made.copy()


def full_tangent(t: Any, x: Any) -> Any:
    """A tangent of x without gaps: where there is none it is zero, of x's structure.

    >>> full_tangent([1.0, None], [2.0, 3])
    [1.0, 0.0]
    """
    if isinstance(x, bool | int | float | complex | np.generic):
        return 0.0 if t is None else t
    if isinstance(x, range):
        return [0.0] * len(x)
    if isinstance(x, np.ndarray):
        if t is not None:
            return t
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else float)
    if isinstance(x, list | tuple):
        return of_kind(x, (full_tangent(_item(t, k), v) for k, v in enumerate(x)))
    if isinstance(x, dict):
        return {k: full_tangent(None if t is None else t.get(k), v) for k, v in x.items()}
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [f.name for f in dataclasses.fields(x)]
        parts = {n: full_tangent(_field(t, n), getattr(x, n)) for n in names}
        return Record(**parts)
    return bar(x) if t is None else t


def _item(t: Any, k: int) -> Any:
    return None if t is None else t[k]


def _field(t: Any, name: str) -> Any:
    if t is None:
        return None
    return t.get(name) if isinstance(t, dict) else getattr(t, name, None)


def field_dot(t: Any, x: Any, name: str) -> Any:
    """The tangent of `x.name`, where that of x may be a plain tuple of the parts' tangents.

    >>> field_dot((None, 2.0), np.linalg.slogdet(np.eye(2)), "logabsdet")
    2.0
    """
    if hasattr(t, name):
        return getattr(t, name)
    names = getattr(x, "_fields", None)
    return getattr(t, name) if names is None else t[names.index(name)]


def like_items(t: Any, x: Any) -> Any:
    """The tangent of a list or tuple as one of the same kind."""
    if t is None:
        t = bar(x)
    return tuple(t) if isinstance(x, tuple) else list(t)


def alias_dot(t: Any, x: Any) -> Any:
    """The tangent of `support.sequence(x)`: of a dict's keys there is none."""
    if isinstance(x, dict):  # keys are constants
        return [0.0 if is_number(key) else None for key in x]
    return t


def inplace_dot(u: Any, old: Any, u_dot: Any, made: Any) -> Any:
    """After `u op= e`: the new tangent, in place where u was updated in place."""
    if u is old and isinstance(u, np.ndarray):
        u_dot[...] = made
        return u_dot
    return made


def store_dot(u: Any, u_dot: Any, key: Any, t: Any) -> None:
    """`u[key] = e` for tangents."""
    if isinstance(u, np.ndarray):
        if u.dtype.kind not in "fc":
            if t is not None and not _is_zero(t):
                raise error(
                    "NotDifferentiable",
                    f"a value with a derivative is stored into an array of dtype {u.dtype}, "
                    "which truncates it: make the array of floats",
                )
            return
        u_dot[key] = 0.0 if t is None else t
        return
    u_dot[key] = t


def _is_zero(t: Any) -> bool:
    return isinstance(t, float) and t == 0.0
