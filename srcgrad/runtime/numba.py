"""Compiled derivatives: the only module that imports Numba, loaded when one is first asked for.

Owns what Numba needs to know of the helpers in `support`, and the errors of its compilations.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
import os
import re
from collections.abc import Mapping
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from srcgrad.errors import ArgumentError, SrcgradError, UnsupportedSyntax, located
from srcgrad.ir import types as ty
from srcgrad.ir.frozen import describe
from srcgrad.ir.nodes import Loc


@cache
def alone() -> Any:
    """Numba itself.

    Raises: ArgumentError when it is not installed.
    """
    try:
        return importlib.import_module("numba")
    except ImportError as error:
        raise ArgumentError(
            f'backend="numba" needs Numba, which can\'t be imported ({error})',
            fixes=["install it: pip install 'srcgrad[numba]'", 'use backend="numpy"'],
        ) from None


@cache
def library() -> Any:
    """Numba, with the helpers made known to it, of which each process pays for every one."""
    numba = alone()
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
        return _compiled(alone(), value, (("error_model", "numpy"),))
    return value


def is_same(old: Any, new: Any, digest: str | None) -> bool:
    """Whether a frozen global holds what was compiled in."""
    if digest is not None:
        return type(new) is type(old) and describe(new) == digest
    if old is new:
        return True
    simple = (bool, int, float, complex, str, np.generic)
    return type(old) is type(new) and isinstance(old, simple) and bool(old == new)


def is_numba_error(error: BaseException) -> bool:
    numba = alone()
    lowering = isinstance(error, NotImplementedError) and "lowering" in str(error)
    return (
        lowering
        or isinstance(error, numba.core.errors.NumbaError)
        or _raised_in(error, os.path.dirname(numba.__file__))
    )


def _raised_in(error: BaseException, package: str) -> bool:
    """Whether an error was raised by the code of a package: a fault of Numba's compiler, since
    what it compiled has no frames of its own."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step is not None and step.tb_frame.f_code.co_filename.startswith(package + os.sep)


def explained(
    error: BaseException, text: str, origins: Mapping[int, tuple[str, int]]
) -> SrcgradError:
    """Numba's error as one of ours: which statement it could not compile, and why, in a line.

    Arguments: the error; the generated text; from its lines to files and lines of the user's.
    """
    line = _line(error, text)
    file, place = origins.get(line, ("", 0))
    source = linecache.getline(file, place) if place else ""
    shown = source.strip()
    rows = text.splitlines()
    code = rows[line - 1].strip() if 0 < line <= len(rows) else ""
    reason = _reason(str(error))
    what = f"Numba can't compile the derivative: {reason}"
    if code and code != shown:
        what += f"\n    in the generated statement: {code}"
    loc = None
    if place:
        col = len(source) - len(source.lstrip())
        loc = Loc(file, place, col, place, len(source.rstrip()))
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
        r"No implementation of function \w+\([^\n]*?\) found for signature:"
        r"\s*\n\s*\n?\s*>>> ([^\n]+)",
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


# ---- derivatives that jitted code names --------------------------------------------------------


def lazy(df: Any) -> Any:
    """A dispatcher that makes the derivative for whatever types it is called with.

    Arguments: a GradFunction.
    """
    got = vars(df).get("_lazy")
    if got is None:
        got = vars(df)["_lazy"] = _lazy(library(), df)
    return got


def type_of(df: Any) -> Any:
    return alone().types.Dispatcher(lazy(df))


def _lazy(numba: Any, df: Any) -> Any:
    params = list(df.__signature__.parameters.values())
    names = [p.name for p in params]
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(p.kind not in plain for p in params):
        raise ArgumentError(
            f"{df!r} can't be called from jitted code: it has keyword-only or variable arguments"
        )
    space: dict[str, Any] = {f"_{p.name}": p.default for p in params if p.default is not p.empty}
    shown = ", ".join(n if f"_{n}" not in space else f"{n}=_{n}" for n in names)
    given = ", ".join(names)
    text = (
        f"def stub({shown}):\n    raise NotImplementedError\n"
        f"def derivative({shown}):\n    return stub({given})\n"
        f"def factory(make):\n    def overload({shown}):\n        fn = make(({given},))\n"
        f"        return lambda {shown}: fn({given})\n    return overload\n"
    )
    exec(text, space)

    def make(types: tuple[Any, ...]) -> Any:
        return df._for_numba(tuple(from_numba(t) for t in types)).function

    numba.extending.overload(space["stub"], strict=False)(space["factory"](make))
    return numba.njit(**dict(df._options))(space["derivative"])


def from_numba(t: Any) -> ty.Type:
    """Our type of what Numba has a type for."""
    types = alone().types
    if (
        isinstance(t, types.Literal)
        and isinstance(t.literal_value, int)
        and not isinstance(t.literal_value, bool)
    ):
        t = t.literal_type
    match t:
        case types.NoneType():
            return ty.Literal(None)
        case types.Omitted():
            return from_numba(alone().typeof(t.value))
        case types.Array(dtype=dtype, ndim=ndim):
            kind = alone().np.numpy_support.as_dtype(dtype)
            return ty.Array(kind, ("?",) * ndim)
        case types.Boolean():
            return ty.Number(bool)
        case types.Integer():
            return ty.Number(int)
        case types.Float():
            return ty.Number(float if t.bitwidth == 64 else np.float32)
        case types.Complex():
            return ty.Number(complex if t.bitwidth == 128 else np.complex64)
        case types.BaseTuple():
            cls = getattr(t, "instance_class", tuple)
            return ty.Tuple(tuple(map(from_numba, t)), cls)
        case types.Dispatcher():
            return ty.Static(t.dispatcher.py_func)
    raise ArgumentError(f"a derivative can't be made in jitted code for an argument of type {t}")
