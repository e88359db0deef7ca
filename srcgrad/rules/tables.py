"""Loads every table of rules.  SciPy's are loaded when their modules are: importing is slow."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
import threading
from functools import cache

import srcgrad.rules as package

_NOT_TABLES = frozenset(
    ("coverage", "decorators", "registry", "tables", "scope", "custom", "short", "trim", "solvers")
)
_loaded: set[str] = set()
_lock = threading.RLock()


def load(installed: bool = False) -> None:
    """Register the rules of NumPy, and those of the modules of SciPy that are imported, or, to
    list them, of all that are installed.

    Example:
        >>> load()
        >>> import numpy as np
        >>> from srcgrad.rules.registry import lookup
        >>> lookup(np.sin).kind
        'elementwise'
    """
    with _lock:  # a thread that finds a table loaded finds all of its rules
        for name in _tables():
            if name in _loaded:
                continue
            part = name.removeprefix("scipy_")  # `scipy_special` is for `scipy.special`
            if part != name and not _is_there(f"scipy.{part}", installed):
                continue
            importlib.import_module(f"srcgrad.rules.{name}")
            _loaded.add(name)


@cache
def _tables() -> tuple[str, ...]:
    names = (info.name for info in pkgutil.iter_modules(package.__path__))
    return tuple(name for name in names if name not in _NOT_TABLES)


def _is_there(module: str, installed: bool) -> bool:
    """Whether a module of SciPy is imported; it is now if any that is installed is asked for."""
    if installed and module not in sys.modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    return module in sys.modules
