"""Methods of arrays that NumPy has no function for, as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.join import as_array
from srcgrad.runtime.support.shape import Value, places, scatter


def flatten(a: Any, order: str = "C") -> Any:
    """`a.flatten(order)`: always a copy.

    >>> flatten(np.eye(2))
    array([1., 0., 0., 1.])
    """
    return np.asarray(a).flatten(order)  # type: ignore[arg-type]


def item(a: Any, *index: Any) -> Any:
    """`a.item(*index)`: one element, as a Python number.

    >>> item(np.arange(3.0), 1)
    1.0
    """
    return np.asarray(a).item(*index)


def item_back(ct: Value, a: Value, index: Any) -> Any:
    """The cotangent of `a` in `a.item(*index)`.

    >>> item_back(2.0, np.zeros(3), (1,))
    array([0., 2., 0.])
    """
    return scatter(ct, np.asarray(places(a).item(*index)), np.shape(a))[()]


def tolist(a: Any) -> Any:
    """`a.tolist()`: nested lists of Python numbers.

    >>> tolist(np.eye(2))
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return np.asarray(a).tolist()


def tolist_back(ct: Value, a: Value) -> Any:
    """The cotangent of `a` in `a.tolist()`.

    >>> tolist_back([1.0, None], np.zeros(2))
    array([1., 0.])
    """
    return as_array(ct, a)[()]


def astype(
    a: Any,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    """`a.astype(dtype, ...)`.

    >>> astype(np.ones(1), np.float32).dtype
    dtype('float32')
    """
    return np.asarray(a).astype(dtype, order, casting, subok, copy)


def compress(a: Any, condition: Any, axis: int | None = None, out: Any = None) -> Any:
    """`a.compress(condition, axis)`.

    >>> compress(np.arange(3.0), [True, False, True])
    array([0., 2.])
    """
    return np.compress(condition, a, axis, out)


def view(a: Any) -> Any:
    """`a.view()`: another array over the same memory.

    >>> x = np.zeros(2)
    >>> np.shares_memory(view(x), x)
    True
    """
    return np.asarray(a).view()


def conj(a: Any) -> Any:
    """`a.conj()`: of real numbers the array itself.

    >>> x = np.zeros(2)
    >>> conj(x) is x
    True
    """
    return np.asarray(a).conj()


def property_of(a: Any) -> Any:
    """What an array is besides its values: the dtype, which no derivative passes through.

    >>> property_of(np.zeros(2))
    dtype('float64')
    """
    return np.asarray(a).dtype
