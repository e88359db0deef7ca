"""What a user's Numba dispatcher says about itself; read without importing Numba."""

from __future__ import annotations

import functools
from typing import Any

# Options of `njit` that mean the same for a derivative as for the function.
_CARRIED = ("boundscheck", "debug", "error_model", "fastmath", "forceobj", "nogil", "parallel")
_PLAIN = {"error_model": "numpy"}


def is_dispatcher(fn: Any) -> bool:
    """Whether a callable is a function compiled by Numba.

    >>> is_dispatcher(len)
    False
    """
    kind = type(fn)
    return kind.__module__.split(".")[0] == "numba" and hasattr(fn, "py_func")


def dispatcher_of(fn: Any) -> Any:
    """The dispatcher in a callable, under partials; None when there is none."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn if is_dispatcher(fn) else None


def options_of(fn: Any) -> dict[str, Any]:
    """The options for the derivative of a callable: those of the dispatcher in it.

    >>> options_of(len)
    {'error_model': 'numpy'}
    """
    found = dispatcher_of(fn)
    given = getattr(found, "targetoptions", {}) if found is not None else {}
    carried = {k: given[k] for k in _CARRIED if given.get(k) not in (None, False)}
    carried.pop("forceobj", None)
    return dict(sorted({**_PLAIN, **carried}.items()))
