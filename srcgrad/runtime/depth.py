"""Room for programs that are nested deeply: call trees, sums of many terms, chains of `elif`.

The compiler walks a program as it is nested, and Python allows 1,000 calls in calls, which a tree
of a hundred functions needs already.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir.nodes import Loc

ROOM = 24_000  # calls in calls; each takes at most half a kilobyte of a thread's stack

_lock = threading.Lock()
_inside = 0  # compilations that are running, in all threads
_before = 0  # the limit that was set when the first of them began


@contextmanager
def room(*fns: Any) -> Iterator[None]:
    """While the block runs, which compiles functions, Python's limit on recursion is higher.

    Raises: UnsupportedSyntax at the first of the functions when even this is too little.
    """
    global _inside, _before
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, ROOM))
        _inside += 1
    try:
        yield
    except RecursionError:
        raise located(
            UnsupportedSyntax,
            _place(*fns),
            "this program is nested too deeply to be compiled: functions that call functions, or "
            "one expression in another",
            fixes=[
                "split long expressions, and loop over what is called in a chain",
                "give one of the functions a rule with @srcgrad.rule",
            ],
        ) from None
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_before)


def _place(*fns: Any) -> Loc | None:
    for fn in fns:
        code = getattr(getattr(fn, "py_func", fn), "__code__", None)
        if code is not None:
            return Loc(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    return None
