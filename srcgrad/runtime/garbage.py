"""No search for garbage while a derivative is made.

The compiler makes a hundred thousand objects that nothing refers back to, which sets off full
collections of all that the process holds: with Numba loaded each takes as long as compiling two
functions of thirty lines, and finds nothing.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0  # blocks that are running, in all threads
_before = True  # whether there were collections when the first of them began


@contextmanager
def kept() -> Iterator[None]:
    """While the block runs Python starts no garbage collection by itself.

    >>> gc.isenabled()
    True
    >>> with kept():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    global _inside, _before
    with _lock:
        if not _inside:
            _before = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside = max(_inside - 1, 0)
            if not _inside and _before:
                gc.enable()


def _after_fork() -> None:
    """The threads that were inside are not in the child."""
    global _lock, _inside
    _lock = threading.Lock()
    if _inside and _before:
        gc.enable()
    _inside = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
