"""Masks of lanes whose shapes are known only at run time (`srcgrad/analysis/record/lanes.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np


def masked(mask: Any, x: Any) -> Any:
    """x where the mask is true, else zero.

    >>> masked(np.array([True, False]), np.array([1.0, np.nan]))
    array([1., 0.])
    """
    if isinstance(x, np.ndarray) or np.ndim(mask):
        return np.where(mask, x, 0.0)
    return x if mask else 0.0


def masked_alike(mask: Any, x: Any) -> Any:
    """`masked(mask, x)` where these are of one shape, else x.

    >>> masked_alike(np.array([True, False]), 2.0)
    2.0
    """
    return masked(mask, x) if np.shape(mask) == np.shape(x) else x


def any_lane(mask: Any, x: Any) -> Any:
    """Whether any of the lanes is true that an element of x was broadcast to.

    >>> any_lane(np.array([[True, False], [False, False]]), np.zeros(2))
    array([ True, False])
    """
    shape = np.shape(x)
    whole = np.broadcast_to(mask, np.broadcast_shapes(np.shape(mask), shape))
    extra = whole.ndim - len(shape)
    ones = [k + extra for k, n in enumerate(shape) if n == 1 and whole.shape[k + extra] != 1]
    found = np.any(whole, axis=(*range(extra), *ones), keepdims=True)
    return found.reshape(shape) if isinstance(x, np.ndarray) else bool(found)


def lanes_at(x: Any, key: Any, mask: Any) -> Any:
    """The lanes of x that are used by way of `x[key]`.

    >>> lanes_at(np.zeros(3), slice(1, None), np.array([False, True]))
    array([False, False,  True])
    """
    out = np.zeros(np.shape(x), bool)
    np.logical_or.at(out, key, mask)
    return out
