"""Convolutions and filters of `scipy.signal` and `scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

Value = Any  # an array

# What the modes of `scipy.ndimage` are called in `np.pad`.
_MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge",
    "wrap": "wrap", "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip


def spread(ct: Value, a: Value, b: Value, mode: str) -> Any:
    """A cotangent of `scipy.signal.convolve(a, b, mode)` in its place in that of the whole.

    >>> spread(np.array([2.0]), np.zeros(2), np.zeros(2), "valid")
    array([0., 2., 0.])
    """
    full = [m + n - 1 for m, n in zip(np.shape(a), np.shape(b), strict=True)]
    starts = [0] * len(full)
    if mode == "same":
        starts = [(f - m) // 2 for f, m in zip(full, np.shape(a), strict=True)]
    elif mode == "valid":
        starts = [min(m, n) - 1 for m, n in zip(np.shape(a), np.shape(b), strict=True)]
    out = np.zeros(full, np.asarray(ct).dtype)
    out[tuple(slice(s, s + n) for s, n in zip(starts, np.shape(ct), strict=True))] = ct
    return out


def convolve_share(ct: Value, a: Value, b: Value, mode: str) -> Any:
    """The cotangent of `a` in `scipy.signal.convolve(a, b, mode)`.

    >>> convolve_share(np.array([0.0, 1.0, 0.0]), np.zeros(2), np.array([1.0, 5.0]), "full")
    array([5., 1.])
    """
    return signal.convolve(spread(ct, a, b, mode), np.flip(b), "valid")


def convolve_share_second(ct: Value, a: Value, b: Value, mode: str) -> Any:
    """The cotangent of `b` in `scipy.signal.convolve(a, b, mode)`.

    >>> convolve_share_second(np.array([1.0, 0.0, 0.0]), np.array([2.0, 3.0]), np.zeros(2), "full")
    array([2., 0.])
    """
    return signal.convolve(spread(ct, a, b, mode), np.flip(a), "valid")


def correlate(in1: Value, in2: Value, mode: str = "full") -> Any:
    return signal.convolve(in1, np.flip(in2), mode)


def image_pad(x: Value, weights: Value, mode: str, cval: float, flip: bool) -> Any:
    """An image with the edges that a filter of these weights reads.

    >>> image_pad(np.arange(3.0), np.ones(3), "nearest", 0.0, False)
    array([0., 0., 1., 2., 2.])
    """
    widths = []
    for n in np.shape(weights):
        before, after = n // 2, n - 1 - n // 2
        widths.append((after, before) if flip else (before, after))
    if mode in ("constant", "grid-constant"):
        return np.pad(x, widths, mode="constant", constant_values=cval)
    return np.pad(x, widths, mode=_MODES[mode])  # type: ignore[call-overload]


def image_convolve(input: Value, weights: Value, mode: str = "reflect", cval: float = 0.0) -> Any:
    return signal.convolve(image_pad(input, weights, mode, cval, True), weights, "valid")


def image_correlate(input: Value, weights: Value, mode: str = "reflect", cval: float = 0.0) -> Any:
    padded = image_pad(input, weights, mode, cval, False)
    return signal.convolve(padded, np.flip(weights), "valid")
