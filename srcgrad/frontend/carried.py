"""Sources that travel with a pickled derivative.

cloudpickle sends a function of a script, a notebook or another function as bytecode, without the
file that it was written in.  The texts go along with the derivative, and are asked for a function
only where its own file can't be read; as ever a text is believed only when it compiles to what the
function runs.
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from srcgrad.errors import shown_file
from srcgrad.frontend.parsed import ParsedFile, lines_of

Texts = tuple[tuple[str, str], ...]  # names of files as people read them, and what is in them
_received: dict[str, ParsedFile] = {}


def texts_for(fn: Any) -> Texts:
    """The texts of the functions behind `fn` that a pickle can't leave to the other side's files.

    >>> texts_for(functools.partial(os.path.join, "a"))
    ()
    """
    found: dict[str, str] = {}
    for one in _functions(fn):
        file = one.__code__.co_filename
        lines = lines_of(file, one.__globals__)
        if lines:
            found[shown_file(file)] = "".join(lines)
        else:
            found |= {f.file: "".join(f.lines) for f in _received.values()}
    return tuple(sorted(found.items()))


def receive(texts: Texts) -> None:
    """Keep texts that came with a derivative."""
    for name, text in texts:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest in _received:
            continue
        lines = text.splitlines(keepends=True)
        _received[digest] = ParsedFile(name, lines, digest)
        if not os.path.exists(name):  # for error messages
            linecache.cache.setdefault(name, (len(text), None, lines, name))


def received() -> list[ParsedFile]:
    """The files to look into, the newest first."""
    return list(reversed(_received.values()))


def is_by_reference(fn: Any) -> bool:
    """Whether a pickle holds only the function's name: the other side has to import it."""
    module = sys.modules.get(getattr(fn, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return False
    cloudpickle = sys.modules.get("cloudpickle")
    if cloudpickle is not None and module.__name__ in cloudpickle.list_registry_pickle_by_value():
        return False
    found: Any = module
    for name in fn.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is fn or getattr(found, "__srcgrad_primal__", None) is fn


def _functions(fn: Any) -> Iterator[types.FunctionType]:
    """The functions reached from one, of those that are sent whole."""
    todo, seen = [fn], set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, types.FunctionType) and not is_by_reference(one):
            yield one
        todo += _behind(one)


def _behind(one: Any) -> Iterable[Any]:
    match one:
        case types.FunctionType():
            if is_by_reference(one):
                return []
            names = _names(one.__code__)
            captured = [c.cell_contents for c in one.__closure__ or () if _is_filled(c)]
            used = [one.__globals__[n] for n in names if n in one.__globals__]
            return [*used, *captured, *vars(one).values()]
        case types.MethodType():
            return [one.__func__, one.__self__]
        case functools.partial():
            return [one.func, *one.args, *one.keywords.values()]
        case staticmethod() | classmethod():
            return [one.__func__]
        case property():
            return [one.fget]
        case type():
            return [] if is_by_reference(one) else list(vars(one).values())
        case types.ModuleType():
            return []
        case _:
            plain = [getattr(one, n, None) for n in ("__srcgrad_primal__", "py_func", "_fn")]
            return [type(one), *(p for p in plain if callable(p))]


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - empty cells say so by raising
    except ValueError:
        return False
    return True


def _names(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


__all__ = ["is_by_reference", "receive", "received", "texts_for"]
