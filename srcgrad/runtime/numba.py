"""Compiled derivatives: the only module that imports Numba, loaded when one is first asked for.

Owns what Numba needs to know of the helpers in `support`, and the errors of its compilations.
"""

from __future__ import annotations

import importlib
import linecache
import re
from collections.abc import Mapping
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from srcgrad.errors import ArgumentError, SrcgradError, UnsupportedSyntax, located
from srcgrad.ir.nodes import Loc


@cache
def library() -> Any:
    """Numba itself, with the helpers made known to it.

    Raises: ArgumentError when it is not installed.
    """
    try:
        numba = importlib.import_module("numba")
    except ImportError as error:
        raise ArgumentError(
            f'backend="numba" needs Numba, which can\'t be imported ({error})',
            fixes=["install it: pip install 'srcgrad[numba]'", 'use backend="numpy"'],
        ) from None
    from srcgrad.runtime.overloads import Overloads

    unsafe = importlib.import_module("numba.cpython.unsafe.tuple")
    Overloads(numba, unsafe.tuple_setitem).register()
    return numba


def prepared(objects: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Live objects as Numba takes them: Python functions are compiled."""
    numba = library()
    kept = {k: v for k, v in options.items() if k in ("error_model", "fastmath")}
    return {
        name: _compiled(numba, value, tuple(sorted(kept.items())))
        if isinstance(value, FunctionType)
        else value
        for name, value in objects.items()
    }


_functions: dict[tuple[Any, Any], Any] = {}


def _compiled(numba: Any, fn: FunctionType, options: tuple[tuple[str, Any], ...]) -> Any:
    key = (fn, repr(options))
    got = _functions.get(key)
    if got is None:
        got = _functions[key] = numba.njit(**dict(options))(fn)
    return got


def argument(value: Any) -> Any:
    """An argument as a dispatcher takes it: a Python function is compiled."""
    if isinstance(value, FunctionType):
        return _compiled(library(), value, (("error_model", "numpy"),))
    return value


def is_same(old: Any, new: Any) -> bool:
    """Whether a frozen global holds what was compiled in."""
    if isinstance(old, np.ndarray):
        return isinstance(new, np.ndarray) and describe(old) == describe(new)
    if old is new:
        return True
    simple = (bool, int, float, complex, str, np.generic)
    return type(old) is type(new) and isinstance(old, simple) and bool(old == new)


def is_numba_error(error: BaseException) -> bool:
    return isinstance(error, library().core.errors.NumbaError)


def explained(error: BaseException, text: str, lines: Mapping[int, int], file: str) -> SrcgradError:
    """Numba's error as one of ours: which statement it could not compile, and why, in a line.

    Arguments: the error; the generated text; from its lines to those of the primal; the primal's
    file.
    """
    line = _line(error, text)
    shown = linecache.getline(file, lines.get(line, 0)).strip() if line else ""
    rows = text.splitlines()
    code = rows[line - 1].strip() if 0 < line <= len(rows) else ""
    reason = _reason(str(error))
    what = f"Numba can't compile the derivative: {reason}"
    if code and code != shown:
        what += f"\n    in the generated statement: {code}"
    loc = None
    if line in lines:
        source = linecache.getline(file, lines[line])
        col = len(source) - len(source.lstrip())
        loc = Loc(file, lines[line], col, lines[line], len(source.rstrip()))
    fixes = ['use backend="numpy"', "write the statement with loops or functions that Numba has"]
    return located(UnsupportedSyntax, loc, what, fixes=fixes)


def _line(error: BaseException, text: str) -> int:
    """The line of the generated text that an error is about."""
    named = re.findall(r'File "[^"]*?generated[^"]*?", line (\d+)', str(error))
    loc = getattr(error, "loc", None)
    if named:
        return int(named[-1])
    found: int = getattr(loc, "line", 0) or 0
    return found if found <= len(text.splitlines()) else 0


def _reason(text: str) -> str:
    """The line of Numba's message that names the construct."""
    for pattern in (
        r"Use of unsupported NumPy function '[^']+'[^\n]*",
        r"No implementation of function \w+\([^\n]*?\) found for signature:\s*\n\s*\n?\s*>>> ([^\n]+)",
        r"Unknown attribute '[^']+' of type [^\n]+",
        r"Cannot unify [^\n]+",
        r"[Cc]annot determine Numba type of [^\n]+",
        r"Untyped global name '[^']+'[^\n]*",
        r"Invalid use of [^\n]+",
        r"Cannot capture [^\n]+",
        r"non-precise type [^\n]+",
    ):
        found = re.search(pattern, text)
        if found:
            inside = found.group(1) if found.groups() else found.group(0)
            return inside.strip()
    rows = [r.strip() for r in text.splitlines() if r.strip()]
    rows = [r for r in rows if not r.startswith("Failed in nopython mode")]
    return rows[0] if rows else "an unknown reason"
