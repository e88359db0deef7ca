"""Convolutions and filters of `scipy.signal` and `scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from srcgrad.runtime.support.adjoints import error

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


def convolve_images(in1: Value, in2: Value, mode: str = "full") -> Any:
    return signal.convolve(in1, in2, mode)


def correlate_images(in1: Value, in2: Value, mode: str = "full") -> Any:
    if mode == "same":  # its middle is not that of other functions
        raise error(
            "MissingRule", "scipy.signal.correlate2d with mode='same'; cut what 'full' gives"
        )
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


def line_weights(weights: Value, axis: int, ndim: int) -> Any:
    """Weights along one axis, as those of a filter of the whole image.

    >>> line_weights([1.0, 2.0], 0, 2).shape
    (2, 1)
    """
    shape = [1] * ndim
    shape[axis] = -1
    return np.reshape(np.asarray(weights) * 1.0, shape)


def correlate1d(
    input: Value, weights: Value, axis: int = -1, *, mode: str = "reflect", cval: float = 0.0
) -> Any:
    return image_correlate(input, line_weights(weights, axis, np.ndim(input)), mode, cval)


def convolve1d(
    input: Value, weights: Value, axis: int = -1, *, mode: str = "reflect", cval: float = 0.0
) -> Any:
    return image_convolve(input, line_weights(weights, axis, np.ndim(input)), mode, cval)


def uniform_filter1d(
    input: Value, size: int, axis: int = -1, *, mode: str = "reflect", cval: float = 0.0
) -> Any:
    return correlate1d(input, np.full(size, 1.0 / size), axis, mode=mode, cval=cval)


def uniform_filter(
    input: Value, size: int = 3, *, mode: str = "reflect", cval: float = 0.0
) -> Any:
    for axis in range(np.ndim(input)):
        input = uniform_filter1d(input, size, axis, mode=mode, cval=cval)
    return input


def bell(sigma: float, truncate: float) -> Any:
    """The weights of a Gaussian filter.

    >>> bell(0.5, 2.0).shape
    (3,)
    """
    if np.ndim(sigma) > 0:
        raise error(
            "MissingRule", "a Gaussian filter with a sigma for each axis; filter each axis"
        )
    width = int(truncate * float(sigma) + 0.5)
    weights = np.exp(-0.5 * (np.arange(-width, width + 1) / sigma) ** 2)
    return weights / np.sum(weights)


def gaussian_filter1d(
    input: Value,
    sigma: float,
    axis: int = -1,
    *,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
) -> Any:
    return correlate1d(input, bell(sigma, truncate), axis, mode=mode, cval=cval)


def gaussian_filter(
    input: Value,
    sigma: float,
    *,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
) -> Any:
    weights = bell(sigma, truncate)
    for axis in range(np.ndim(input)):
        input = correlate1d(input, weights, axis, mode=mode, cval=cval)
    return input


def laplace(input: Value, *, mode: str = "reflect", cval: float = 0.0) -> Any:
    total = correlate1d(input, [1.0, -2.0, 1.0], 0, mode=mode, cval=cval)
    for axis in range(1, np.ndim(input)):
        total = total + correlate1d(input, [1.0, -2.0, 1.0], axis, mode=mode, cval=cval)
    return total


def sobel(input: Value, axis: int = -1, *, mode: str = "reflect", cval: float = 0.0) -> Any:
    return _edges(input, axis, [1.0, 2.0, 1.0], mode, cval)


def prewitt(input: Value, axis: int = -1, *, mode: str = "reflect", cval: float = 0.0) -> Any:
    return _edges(input, axis, [1.0, 1.0, 1.0], mode, cval)


def _edges(input: Value, axis: int, across: Value, mode: str, cval: float) -> Any:
    own = axis % np.ndim(input)
    out = correlate1d(input, [-1.0, 0.0, 1.0], axis, mode=mode, cval=cval)
    for k in range(np.ndim(input)):
        if k != own:
            out = correlate1d(out, across, k, mode=mode, cval=cval)
    return out
