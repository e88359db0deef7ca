"""Rules for the convolutions of `scipy.ndimage`: those of `scipy.signal` on a padded image."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

import srcgrad.rules.scipy_signal  # noqa: F401 - their sources call what has rules there
from srcgrad.rules.registry import refuse, source
from srcgrad.rules.shapes import M
from srcgrad.runtime.support import scipy_signal as helpers

_X = np.sin(np.arange(20.0) ** 2).reshape(4, 5)
_W = np.cos(np.arange(9.0)).reshape(3, 3)
_AT: list[Any] = [
    (_X, _W),
    (_X, M),
    (_X, _W, "nearest"),
    (_X, _W, "mirror"),
    (_X, _W, "wrap"),
    (_X, _W, "constant", 0.7),
    (_X[0], _W[0]),
]


def _reordered(at: list[Any]) -> list[Any]:
    """`output` stands between the weights and the mode: options are given by name."""
    return [
        (args[:2], dict(zip(("mode", "cval"), args[2:], strict=False))) if args[2:] else args
        for args in at
    ]


source(ndimage.convolve, helpers.image_convolve, at=_reordered(_AT))
source(ndimage.correlate, helpers.image_correlate, at=_reordered(_AT))
for _name in (
    "convolve1d", "correlate1d", "gaussian_filter", "gaussian_filter1d", "uniform_filter",
    "uniform_filter1d", "laplace", "gaussian_laplace", "sobel", "prewitt", "median_filter",
    "maximum_filter", "minimum_filter", "map_coordinates", "zoom", "rotate", "shift",
    "affine_transform", "spline_filter",
):  # fmt: skip
    refuse(
        getattr(ndimage, _name),
        why="its derivative is in no table of srcgrad's; write it with ndimage.convolve",
    )
