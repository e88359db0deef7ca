"""NumPy functions in the forms that Numba lacks; generated text for Numba calls these.

In Python each does what its namesake does.  `srcgrad.runtime.numba` gives Numba a compiled form
of each, so that text which calls them means the same when it is stepped through without Numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def add_at(a: Any, key: Any, g: Any) -> None:
    """`np.add.at(a, key, g)`

    >>> a = np.zeros(2)
    >>> add_at(a, np.array([0, 0]), 1.5)
    >>> a
    array([3., 0.])
    """
    np.add.at(a, key, g)


def subtract_at(a: Any, key: Any, g: Any) -> None:
    """`np.subtract.at(a, key, g)`"""
    np.subtract.at(a, key, g)


def add_to(a: Any, g: Any) -> None:
    """`a += g`, in place

    >>> a = np.zeros(3)
    >>> add_to(a[1:], 2.0)
    >>> a
    array([0., 2., 2.])
    """
    a += g


def subtract_from(a: Any, g: Any) -> None:
    """`a -= g`, in place"""
    a -= g


def multiply_by(a: Any, g: Any) -> None:
    """`a *= g`, in place"""
    a *= g


def divide_by(a: Any, g: Any) -> None:
    """`a /= g`, in place"""
    a /= g


def plus(total: Any, term: Any) -> Any:
    """`total + term`, a step of a sum whose order nobody chose: compiled code may take several
    terms at once.

    >>> plus(1.0, 2.0)
    3.0
    """
    return total + term


def real(x: Any) -> Any:
    """`x.real` of a number that Numba may know to be real."""
    return x.real


def sum(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sum(a, axis=axis, keepdims=keepdims)


def prod(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.prod(a, axis=axis, keepdims=keepdims)


def mean(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.mean(a, axis=axis, keepdims=keepdims)


def max(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.max(a, axis=axis, keepdims=keepdims)


def min(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.min(a, axis=axis, keepdims=keepdims)


def all(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.all(a, axis=axis, keepdims=keepdims)


def any(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.any(a, axis=axis, keepdims=keepdims)


def argmax(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.argmax(a, axis=axis, keepdims=keepdims)


def argmin(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.argmin(a, axis=axis, keepdims=keepdims)


def cumsum(a: Any, axis: Any = None) -> Any:
    return np.cumsum(a, axis=axis)


def var(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.var(a, axis=axis, keepdims=keepdims)


def std(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.std(a, axis=axis, keepdims=keepdims)


amax, amin = max, min


def squeeze(a: Any, axis: Any = None) -> Any:
    return np.squeeze(a, axis)


def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    return np.clip(a, a_min, a_max)


def sign(x: Any) -> Any:
    return np.sign(x)


def einsum(subscripts: str, *operands: Any) -> Any:
    return np.einsum(subscripts, *operands)


def matmul(a: Any, b: Any) -> Any:
    return np.matmul(a, b)


def diagonal(a: Any) -> Any:
    return np.diagonal(a)


def outer(a: Any, b: Any) -> Any:
    return np.outer(a, b)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    return np.vander(x, N, increasing=increasing)


def grown(tape: Any) -> Any:
    """A tape with room for twice as many values.

    >>> len(grown(np.zeros(4)))
    8
    """
    out = np.empty(2 * len(tape), tape.dtype)
    out[: len(tape)] = tape
    return out
