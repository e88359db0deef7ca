"""`np.unique` with the parts that say where its values stand, read from this source."""

from __future__ import annotations

from typing import Any

import numpy as np

Value = Any  # a number or an array


def unique_parts(ar: Value, equal_nan: bool = True) -> Any:
    """Where the values of `np.unique` first stand, which of them each element is, and how often
    each of them occurs.

    >>> [part.tolist() for part in unique_parts(np.array([2.0, 1.0, 2.0]))]
    [[1, 0], [1, 0, 1], [1, 2]]
    """
    return np.unique(ar, True, True, True, equal_nan=equal_nan)[1:]


def unique(
    ar: Value,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
) -> Any:
    """`np.unique`: equal elements share the cotangent of their value, positions have none."""
    if not (return_index or return_inverse or return_counts):
        return np.unique(ar)
    index, inverse, counts = unique_parts(ar, equal_nan)
    if return_index and return_inverse and return_counts:
        return np.unique(ar), index, inverse, counts
    if return_index and return_inverse:
        return np.unique(ar), index, inverse
    if return_index and return_counts:
        return np.unique(ar), index, counts
    if return_inverse and return_counts:
        return np.unique(ar), inverse, counts
    if return_index:
        return np.unique(ar), index
    if return_inverse:
        return np.unique(ar), inverse
    return np.unique(ar), counts
