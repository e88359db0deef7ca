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
_L = np.array([0.3, 1.0, -0.5])
_LINES: list[Any] = [(_X, _L), (_X, _L[:2], 0), ((_X, _L), {"mode": "mirror", "axis": 0})]
_WIDE: dict[str, Any] = {"mode": "constant", "cval": 0.3}
source(ndimage.correlate1d, helpers.correlate1d, at=_LINES)
source(ndimage.convolve1d, helpers.convolve1d, at=_LINES)
source(ndimage.uniform_filter1d, helpers.uniform_filter1d, at=[(_X, 3), ((_X, 2, 0), _WIDE)])
source(ndimage.uniform_filter, helpers.uniform_filter, at=[(_X,), ((_X, 4), {"mode": "wrap"})])
source(
    ndimage.gaussian_filter1d, helpers.gaussian_filter1d, at=[(_X[0], 0.7), ((_X, 0.6, 0), _WIDE)]
)
source(
    ndimage.gaussian_filter,
    helpers.gaussian_filter,
    at=[(_X, 0.7), ((_X, 0.5), {"mode": "nearest", "truncate": 2.4})],
)
for _name in ("laplace", "sobel", "prewitt"):
    source(getattr(ndimage, _name), getattr(helpers, _name), at=[(_X,), ((_X,), _WIDE)])
for _name in (
    "gaussian_laplace", "median_filter", "maximum_filter", "minimum_filter", "map_coordinates",
    "zoom", "rotate", "shift", "affine_transform", "spline_filter",
):  # fmt: skip
    refuse(
        getattr(ndimage, _name),
        why="its derivative is in no table of srcgrad's; write it with ndimage.convolve",
    )
