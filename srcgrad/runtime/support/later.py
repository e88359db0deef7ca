"""Helpers that need SciPy, which is imported with the first of them."""

from __future__ import annotations

import importlib
from typing import Any

# The helpers of each module: looking for a name that is none of them imports nothing.
_HELPERS = {
    "scipy_fft": "waves waves_back other_type",
    "scipy_linalg": """
        doubled corner part_of is_transposed flipped triangular_share applied
        factor_share factor_dot permutation lu_parts lu_back lu_dot lu_share
        lu_matrix_dot blocks_back blocks_of
    """,
    "scipy_bands": """
        bands_flipped bands_applied bands_outer solveh_banded solve_toeplitz qr lu polar
        expm_frechet
    """,
    "scipy_optimize": "rosen rosen_der rosen_hess rosen_hess_prod stationary",
    "scipy_special": "real_only",
    "scipy_signal": """
        spread convolve_share convolve_share_second correlate image_pad image_convolve
        image_correlate convolve_images correlate_images line_weights correlate1d convolve1d
        uniform_filter1d uniform_filter bell gaussian_filter1d gaussian_filter laplace sobel
        prewitt
    """,
}
MODULES = tuple(_HELPERS)
PLACES = {name: module for module, names in _HELPERS.items() for name in names.split()}


def find(name: str) -> Any:
    """A helper of one of the modules that are loaded when they are needed.

    >>> find("permutation")([0])
    array([0])
    """
    place = PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'srcgrad.runtime.support' has no attribute {name!r}")
    return getattr(importlib.import_module(f"srcgrad.runtime.support.{place}"), name)
