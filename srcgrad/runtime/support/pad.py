"""Helpers of the rule of `np.pad`: every mode that is linear in the array."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error
from srcgrad.runtime.support.shape import Value, places, scatter

_GATHERING = ("edge", "wrap", "symmetric", "reflect")


def _pad_matrices(shape: Any, width: Any, mode: str, stat_length: Any, kind: str) -> list[Any]:
    """For each axis the matrix that pads along it: padding is a product of linear maps."""
    pairs = _pad_pairs(shape, width)
    stats = [stat_length] * len(shape)
    if mode == "mean" and stat_length is not None:
        stats = list(np.broadcast_to(stat_length, (len(shape), 2)))
    matrices = []
    for n, pair, stat in zip(shape, pairs, stats, strict=True):
        options: dict[str, Any] = {}
        if mode == "mean" and stat is not None:
            options["stat_length"] = (tuple(stat) if np.ndim(stat) else (stat, stat), (n, n))
        if mode in ("reflect", "symmetric"):
            options["reflect_type"] = kind
        matrices.append(np.pad(np.eye(n), (pair, (0, 0)), mode, **options))  # type: ignore[call-overload]
    return matrices


def _pad_pairs(shape: Any, width: Any) -> list[tuple[int, int]]:
    n = len(shape)
    if isinstance(width, dict):
        pairs = [(0, 0)] * n
        for axis, w in width.items():
            pairs[axis] = (w, w) if np.ndim(w) == 0 else (int(w[0]), int(w[-1]))
        return pairs
    return [(int(lo), int(hi)) for lo, hi in np.broadcast_to(width, (n, 2))]


def _check_mode(mode: Any) -> None:
    known = (*_GATHERING, "constant", "empty", "mean", "linear_ramp")
    if mode not in known:
        raise error("MissingRule", f"np.pad with mode {mode!r} has no derivative rule")


def _along_axes(x: Any, matrices: list[Any]) -> Any:
    for axis, m in enumerate(matrices):
        m = m.astype(np.result_type(x.real.dtype, np.float16))
        x = np.moveaxis(np.tensordot(m, x, axes=(1, axis)), 0, axis)
    return x


def pad_dot(
    a_dot: Value, width: Any, mode: str, stat_length: Any = None, reflect_type: str = "even"
) -> Any:
    """The tangent of `np.pad(a, width, mode)`: what is padded with constants has none.

    >>> pad_dot(np.ones(2), 1, "edge")
    array([1., 1., 1., 1.])
    """
    _check_mode(mode)
    x = np.asarray(a_dot)
    if mode in ("constant", "empty"):
        return np.pad(x, _pad_pairs(x.shape, width))
    if mode in _GATHERING and reflect_type == "even":
        return np.pad(x, _pad_pairs(x.shape, width), mode)  # type: ignore[call-overload]
    return _along_axes(x, _pad_matrices(x.shape, width, mode, stat_length, reflect_type))


def pad_back(
    ct: Value, a: Value, width: Any, mode: str, stat_length: Any = None, reflect_type: str = "even"
) -> Any:
    """The cotangent of `a` in `np.pad(a, width, mode)`.

    >>> pad_back(np.arange(4.0), np.zeros(2), 1, "edge")
    array([1., 5.])
    """
    _check_mode(mode)
    ct, shape = np.asarray(ct), np.shape(a)
    if mode in ("constant", "empty"):
        pairs = zip(_pad_pairs(shape, width), shape, strict=True)
        return ct[tuple(slice(lo, lo + n) for (lo, _), n in pairs)]
    if mode in _GATHERING and reflect_type == "even":
        where = np.pad(places(a), _pad_pairs(shape, width), mode)  # type: ignore[call-overload]
        return scatter(ct, where, shape)
    matrices = _pad_matrices(shape, width, mode, stat_length, reflect_type)
    return _along_axes(ct, [m.T for m in matrices])
