"""What a derivative is of: a function, or another derivative, with its parameters."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import typing
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from srcgrad.compiled import Compiled
from srcgrad.dependencies import MISSING, Place, of_function, read
from srcgrad.frontend import source
from srcgrad.frontend.standin import stand_in
from srcgrad.ir import types as ty
from srcgrad.rules import registry, scope, tables

_P = inspect.Parameter
_BY_POSITION = (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)
_REST = (_P.VAR_POSITIONAL, _P.VAR_KEYWORD)


class Derivative:
    """What differentiating a derivative needs of it; a `GradFunction` is the only kind."""

    __srcgrad_derivative__ = True
    __name__: str
    _mode: str
    _primal: Primal

    def for_types(self, types: tuple[ty.Type, ...]) -> Compiled:
        """The compiled derivative for types of its own parameters."""
        raise NotImplementedError


@dataclass(frozen=True)
class Primal:
    """What a GradFunction differentiates: a function, or another derivative."""

    fn: Any
    name: str
    signature: inspect.Signature  # of all parameters, bound ones included
    bound: tuple[Any, ...] = ()
    inner: Derivative | None = None
    named: tuple[tuple[str, Any], ...] = ()  # keyword arguments of a functools.partial
    parts: tuple[Any, ...] = ()  # of the function that runs: its code, its default values

    def full(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The user's positional arguments with the bound ones in their places."""
        inner: Derivative | None = self.inner  # its `__get__` hides the type of the field
        if inner is None:
            return (*self.bound, *args) if self.bound else args
        if inner._mode in ("vjp", "jvp"):
            return (*args[:1], *inner._primal.full(args[1:]))
        return inner._primal.full(args)

    def ruled(self, scopes: tuple[scope.Scope, ...]) -> Any:
        """The function, or one that calls it where a rule stands for all of it."""
        if _has_rule(self.fn, scopes):
            return stand_in(self.fn, self.signature, len(self.bound))
        if self.is_plain():
            return self.fn
        plain = source.read(self.fn).fn
        if plain is not self.fn and _has_rule(plain, scopes):
            return stand_in(plain, self.signature)
        return self.fn

    def is_plain(self) -> bool:
        """Whether it is a function with nothing around it."""
        return isinstance(self.fn, FunctionType) and not vars(self.fn)

    def is_current(self) -> bool:
        """Whether the parameters are surely those that were found: code and defaults are."""
        now = _parts(self.fn) if self.is_plain() else ()
        return len(now) == len(self.parts) and all(map(operator.is_, now, self.parts))

    def hints(self) -> dict[str, Any]:
        """Annotations as objects, also where they are written as text."""
        try:
            return typing.get_type_hints(self.fn if self.inner is None else self.inner._primal.fn)
        except Exception:
            return {}  # a name in an annotation means nothing here: the type stays unknown

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments that a `functools.partial` gives."""
        return dict(self.named) if self.inner is None else self.inner._primal.keywords()

    def free(self) -> list[inspect.Parameter]:
        """The parameters that a caller passes."""
        params = list(self.signature.parameters.values())
        inner: Derivative | None = self.inner
        if inner is None:
            bound = len(self.bound)
            return [p for k, p in enumerate(params) if k >= bound or p.kind not in _BY_POSITION]
        if inner._mode in ("vjp", "jvp"):
            return [params[0], *inner._primal.free()]
        return inner._primal.free()

    def bound_rest(self) -> int:
        """How many items of `*args` a `functools.partial` gives."""
        if self.inner is not None:
            return self.inner._primal.bound_rest()
        by_position = [p for p in self.signature.parameters.values() if p.kind in _BY_POSITION]
        return max(0, len(self.bound) - len(by_position))

    def public(self) -> inspect.Signature:
        return inspect.Signature(self.free())

    def generic(self, types: tuple[ty.Type, ...]) -> tuple[ty.Type, ...]:
        """What is known of arguments of these types without types: how many there are."""
        return tuple(
            ty.generic_rest(t) if p.kind in _REST else ty.generic(t)
            for p, t in zip(self.signature.parameters.values(), types, strict=True)
        )

    def for_types(
        self, types: tuple[ty.Type, ...], scopes: tuple[scope.Scope, ...] = ()
    ) -> tuple[Compiled | None, Any]:
        if self.inner is None:
            return None, self.ruled(scopes)
        made = self.inner.for_types(types)
        return made, made.function


def _has_rule(fn: Any, scopes: tuple[scope.Scope, ...]) -> bool:
    """Whether a rule of a user stands for all of a function."""
    entry = registry.in_force(fn, scopes)[0]
    return entry is not None and entry.given


def primal_of(fn: Any, scopes: tuple[scope.Scope, ...] = (), reach: int = 0) -> Primal:
    """What there is to differentiate of a callable; of a library's function the first `reach`
    positional arguments are parameters."""
    fn = getattr(fn, "__srcgrad_primal__", fn)
    if isinstance(fn, Derivative):
        inner = fn._primal.signature
        params = list(inner.parameters.values())
        if fn._mode in ("vjp", "jvp"):
            first = "cotangent" if fn._mode == "vjp" else "tangents"
            while first in inner.parameters:
                first += "_2"
            kind = params[0].kind if params else inspect.Parameter.POSITIONAL_OR_KEYWORD
            if kind not in (
                inspect.Parameter.POSITIONAL_ONLY,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
            ):
                kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            params.insert(0, inspect.Parameter(first, kind))
        return Primal(fn, fn.__name__, inspect.Signature(params), inner=fn)
    own = hasattr(fn, "__srcgrad_entry__")
    written = getattr(fn, "py_func", fn)  # what Numba compiles
    if own or not _is_python(written) or _is_library(written):
        tables.load()
    fn = _with_source(fn, own, scopes, reach)
    found = source.read(fn)
    plain, named = found.fn, tuple(found.bound_kwargs.items())
    signature, bound = _plain_signature(plain), tuple(found.bound)
    return Primal(fn, plain.__name__, signature, bound, named=named, parts=_parts(plain))


def public_signature(primal: Primal, mode: str) -> inspect.Signature:
    """The parameters of a derivative, as a caller passes them."""
    sig = primal.public()
    first = {"vjp": "cotangent", "jvp": "tangents"}.get(mode)
    if first is None:
        return sig
    params = [inspect.Parameter(first, inspect.Parameter.POSITIONAL_ONLY)]
    try:
        return inspect.Signature([*params, *sig.parameters.values()])
    except ValueError:
        return inspect.Signature()


def _parts(fn: FunctionType) -> tuple[Any, ...]:
    return tuple(read(Place("", fn, path, MISSING)) for path in of_function(fn))


def _is_python(fn: Any) -> bool:
    return inspect.isfunction(fn) or inspect.ismethod(fn)


def _is_library(fn: Any) -> bool:
    """Whether a function may have a built-in rule, though it is written in Python."""
    top = str(fn.__module__).partition(".")[0]
    return top in ("numpy", "scipy") or top in sys.stdlib_module_names


def _with_source(fn: Any, own: bool, scopes: tuple[scope.Scope, ...], reach: int) -> Any:
    """The function, or one of Python that calls it where it has a rule or no source."""
    if isinstance(fn, functools.partial):
        inner = _with_source(fn.func, False, scopes, reach + len(fn.args))
        return fn if inner is fn.func else functools.partial(inner, *fn.args, **fn.keywords)
    entry = registry.in_force(fn, scopes)[0]
    if entry is not None and (own or not _is_python(fn) or not entry.given):
        return stand_in(fn, _needed(entry, reach))
    return fn


def _needed(entry: registry.Entry, reach: int) -> inspect.Signature:
    """The parameters of a stand-in: those of a Python function; of others the ones a call needs
    or the derivative is by, and as many more as it is given."""
    if entry.given and entry.builtin is None and entry.params is not None:
        return entry.params
    if entry.params is None:
        return inspect.Signature([_P("x", _P.POSITIONAL_OR_KEYWORD)])
    params = list(entry.params.parameters.values())
    some = any(p.kind is _P.VAR_POSITIONAL for p in params)
    named: list[inspect.Parameter] = []
    for k, p in enumerate(params):
        if p.kind in _BY_POSITION and (p.default is p.empty or k < reach):
            named.append(p.replace(default=p.empty))
    if some:
        named += [_P(f"arg{k}", _P.POSITIONAL_ONLY) for k in range(len(named), reach)]
        named = [p.replace(kind=_P.POSITIONAL_ONLY) for p in named]
    more = [p for p in params if p.name not in {q.name for q in named}]
    if some or any(p.kind in _BY_POSITION for p in more):
        named.append(_P("args", _P.VAR_POSITIONAL))
    if any(p.kind not in (_P.VAR_POSITIONAL, _P.POSITIONAL_ONLY) for p in more):
        named.append(_P("kwargs", _P.VAR_KEYWORD))
    return inspect.Signature(named)


def _plain_signature(fn: Any) -> inspect.Signature:
    return inspect.signature(fn, follow_wrapped=False)
