"""What a function of `functools.singledispatch` runs, by the class of its first argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.ir import types as ty


def is_dispatched(value: Any) -> bool:
    """Whether a function was made by `functools.singledispatch`.

    >>> import functools
    >>> is_dispatched(functools.singledispatch(lambda shape: 0.0)), is_dispatched(len)
    (True, False)
    """
    return hasattr(value, "registry") and hasattr(value, "dispatch") and callable(value)


def chosen_for(value: Any, t: ty.Type | None) -> Any:
    """What a dispatched function runs for an argument of a type; None where that is not sure."""
    cls = t.cls if isinstance(t, ty.Object) else class_of(t)
    if cls is None:
        return None
    alike = {cls}
    if isinstance(t, ty.Number):
        # One float may stand where another was seen, and an enumeration where an integer was.
        alike |= {c for c in value.registry if c is not object and issubclass(c, cls)}
        alike |= {float, np.float64} if issubclass(cls, float) else set()
        alike |= {int, np.int64} if cls in (int, np.int64) else set()
    found = {value.dispatch(c) for c in alike}
    return found.pop() if len(found) == 1 else None


def class_of(t: ty.Type | None) -> type | None:
    """The class of all values of a type."""
    match t:
        case ty.Array():
            return np.ndarray
        case ty.Number(cls) | ty.Tuple(cls=cls) | ty.Other(cls):
            return cls
        case ty.List():
            return list
        case ty.Dict():
            return dict
        case ty.Literal(value):
            return type(value)
        case _:
            return None
