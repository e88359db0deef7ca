"""From whatever the user called a function to the plain Python function that runs.

Owns the list of wrappings that srcgrad sees through: partials, bound methods, callable objects,
Numba dispatchers, caches and decorators.  It never reads through one silently: each is noted.
A decorator is passed over only where its own source shows that it adds nothing to the result;
otherwise the decorator's function is what runs, and is what gets differentiated.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from srcgrad.errors import SourceUnavailable, describe

_C_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)
_LRU = type(functools.lru_cache(lambda: None))
# Of Numba's objects only these run their Python function as it is written.
_DISPATCHERS = {"CPUDispatcher", "Dispatcher"}


@dataclass
class Unwrapped:
    """A plain function, and what the wrappings around it supply."""

    fn: Any
    bound: tuple[Any, ...] = ()
    bound_kwargs: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def unwrap(fn: Any, adds_nothing: Callable[[types.FunctionType], bool]) -> Unwrapped:
    """The plain function in `fn`; `adds_nothing` says whether a decorator's function can go.

    >>> from functools import partial
    >>> def f(a, b): ...
    >>> found = unwrap(partial(partial(f, 1), b=2), lambda wrapper: True)
    >>> found.fn is f, found.bound, found.bound_kwargs
    (True, (1,), {'b': 2})
    """
    found = Unwrapped(fn)
    seen: set[int] = set()
    while True:
        if id(found.fn) in seen:
            raise SourceUnavailable(f"{describe(fn)} wraps itself, so it has no source")
        seen.add(id(found.fn))
        if not _step(found, adds_nothing):
            return found


def _step(found: Unwrapped, adds_nothing: Callable[[types.FunctionType], bool]) -> bool:
    """Takes one wrapping off; False when there is none left."""
    fn = found.fn
    if isinstance(fn, types.FunctionType):
        return _decorated(found, fn, adds_nothing)
    if isinstance(fn, functools.partial):
        _partial(found, fn)
    elif isinstance(fn, types.MethodType):
        found.bound = (fn.__self__, *found.bound)
        found.fn = fn.__func__
    elif isinstance(fn, staticmethod):
        found.fn = fn.__func__
    elif isinstance(fn, _LRU):
        found.notes.append(f"{describe(fn.__wrapped__)} is read without its cache")
        found.fn = fn.__wrapped__
    elif _kind(fn) == "numba" and type(fn).__name__ in _DISPATCHERS:
        found.notes.append(f"{describe(fn.py_func)} is read without Numba")
        found.fn = fn.py_func
    else:
        found.fn = _call_method(fn)
        found.bound = (fn, *found.bound)
    return True


def _partial(found: Unwrapped, fn: functools.partial[Any]) -> None:
    placeholder = getattr(functools, "Placeholder", None)  # Python 3.14
    if placeholder is not None and any(a is placeholder for a in fn.args):
        raise SourceUnavailable(
            "a functools.partial with Placeholder arguments isn't supported",
            fixes=["write the call as a lambda or a def"],
        )
    found.bound = (*fn.args, *found.bound)
    found.bound_kwargs = {**fn.keywords, **found.bound_kwargs}
    found.fn = fn.func


def _decorated(
    found: Unwrapped,
    fn: types.FunctionType,
    adds_nothing: Callable[[types.FunctionType], bool],
) -> bool:
    inner = getattr(fn, "__wrapped__", None)
    if inner is None:
        return False
    if adds_nothing(fn):
        found.notes.append(
            f"{describe(inner)} is read without the function {_plain(fn)} that its decorator puts "
            "around it, which only calls it"
        )
        found.fn = inner
        return True
    found.notes.append(
        f"{_plain(fn)} is read: a decorator puts it around {describe(inner)}, and it does more "
        "than call it"
    )
    return False


def _plain(fn: types.FunctionType) -> str:
    """A decorator's function by its own name; `functools.wraps` gave it the name of the other."""
    code = fn.__code__
    renamed = types.FunctionType(code, {}, code.co_name, None, fn.__closure__)
    return describe(renamed)


def _kind(fn: Any) -> str:
    return str(type(fn).__module__).partition(".")[0]


def _call_method(fn: Any) -> Any:
    """The function that calling an object runs, still to be given the object."""
    if isinstance(fn, type):
        raise SourceUnavailable(
            f"{describe(fn)} is a class; srcgrad differentiates functions",
            fixes=[f"differentiate a function that makes and uses a {fn.__name__}"],
        )
    if not callable(fn):
        raise SourceUnavailable(f"{describe(fn)} isn't a function: it can't be called")
    if isinstance(fn, _C_CALLABLES):
        raise _no_source(fn)
    if _kind(fn) == "numpy" and type(fn).__name__ == "vectorize":
        raise SourceUnavailable(
            "np.vectorize calls its function once for each element, and is not read",
            fixes=["call the function on whole arrays", "write the loop over the elements"],
        )
    call = inspect.getattr_static(type(fn), "__call__", None)
    if not isinstance(call, types.FunctionType) or _kind(fn) in ("numpy", "numba"):
        raise _no_source(fn)
    return call


def _no_source(fn: Any) -> SourceUnavailable:
    name = describe(fn)
    short = name if "." in name or name.isidentifier() else "it"
    fixes = [f"give it a derivative with @srcgrad.rule({short})"]
    if callable(getattr(fn, "__wrapped__", None)) and _kind(fn) not in ("numpy", "numba"):
        fixes.append("pass its __wrapped__ function where that computes the same")
    reason = f"{name} is not written in Python, so it has no source to differentiate"
    return SourceUnavailable(reason, fixes=fixes)
