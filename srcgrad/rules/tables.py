"""Loads every table of rules.  SciPy's are loaded when their modules are: importing is slow."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading

import srcgrad.rules as package

_NOT_TABLES = frozenset(
    ("coverage", "decorators", "registry", "tables", "scope", "custom", "short", "trim", "solvers")
)
_loaded: set[str] = set()
_lock = threading.RLock()


def load() -> None:
    """Register all rules that can be registered now.

    Example:
        >>> load()
        >>> import numpy as np
        >>> from srcgrad.rules.registry import lookup
        >>> lookup(np.sin).kind
        'elementwise'
    """
    with _lock:  # a thread that finds a table loaded finds all of its rules
        for info in pkgutil.iter_modules(package.__path__):
            if info.name in _loaded or info.name in _NOT_TABLES:
                continue
            part = info.name.removeprefix("scipy_")  # `scipy_special` is for `scipy.special`
            if part != info.name and f"scipy.{part}" not in sys.modules:
                continue
            importlib.import_module(f"srcgrad.rules.{info.name}")
            _loaded.add(info.name)
