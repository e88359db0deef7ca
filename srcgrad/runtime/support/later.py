"""Helpers that need SciPy, which is imported with the first of them."""

from __future__ import annotations

import importlib
from typing import Any

MODULES = ("scipy_linalg", "scipy_signal")


def find(name: str) -> Any:
    """A helper of one of the modules that are loaded when they are needed.

    >>> find("permutation")([0])
    array([0])
    """
    if not name.startswith("_"):
        for module in MODULES:
            found = importlib.import_module(f"srcgrad.runtime.support.{module}")
            if hasattr(found, name):
                return getattr(found, name)
    raise AttributeError(f"module 'srcgrad.runtime.support' has no attribute {name!r}")
