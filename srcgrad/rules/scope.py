"""Overrides: which rules are in force where.

Scoped overrides live in a context variable, so that threads and tasks do not see each other's.
"""

from __future__ import annotations

import importlib
import types
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from srcgrad.errors import RuleError, UnusedOverride
from srcgrad.rules import custom, registry
from srcgrad.rules.registry import Entry, name_of


class Scope(dict[Hashable, Entry]):
    """The rules of one scope, by `registry.key_of` their targets."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        super().__init__((registry.key_of(e.target), e) for e in entries)
        self.token: Hashable = frozenset(
            (_identity(e.target), _identity(e.fn or e.kind)) for e in self.values()
        )
        self.evaluated = False  # was a derivative evaluated in the scope
        self.used: set[Hashable] = set()

    def unused(self) -> list[Entry]:
        """The entries whose target no derivative evaluated in the scope has called."""
        return [e for k, e in self.items() if k not in self.used] if self.evaluated else []


class _Held:
    """An object by its identity.  It is kept alive, so no other can ever pass for it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _identity(value: Any) -> Hashable:
    """What tells a target or a rule from others; a lambda made again by the same line is the same
    one as long as it brings nothing but its code."""
    if isinstance(value, str):
        return value
    if isinstance(value, types.MethodType):
        return (_Held(value.__self__), _Held(value.__func__))
    if isinstance(value, types.FunctionType):
        own = value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__ or None
        if own == (None, None, None, None):
            return (value.__code__, value.__qualname__, _Held(value.__globals__))
    return _Held(value)


_stack: ContextVar[tuple[Scope, ...]] = ContextVar("srcgrad_overrides", default=())
active = _stack.get  # the scoped overrides in force here, innermost first


def resolve(target: Any) -> Any:
    """The function that a target names: the object itself, or a dotted name.

    >>> import math
    >>> resolve("math.sin") is math.sin
    True
    """
    if not isinstance(target, str):
        if not callable(target):
            raise RuleError(f"{target!r} can't have a rule: it is not callable")
        return target
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except (ImportError, ValueError):
            continue
        try:
            for part in parts[cut:]:
                found = getattr(found, part)
        except AttributeError:
            break
        if callable(found):
            return found
        raise RuleError(f"{target} can't have a rule: it is not callable")
    raise RuleError(
        f"there is no function with the name {target!r} (unknown name in an override)",
        fixes=["give the function itself, or its full dotted name, as in 'numpy.square'"],
    )


Rules = Mapping[Any, Any] | Iterable[tuple[Any, Any]]


def entries_of(rules: Rules) -> Scope:
    """The rules of `{target: rule}`; a rule is a function, a named rule, or None for zero.

    Pairs do as well: some callables, those of ctypes, can't be keys of a dict."""
    out: list[Entry] = []
    for target, given in rules.items() if isinstance(rules, Mapping) else rules:
        entry = custom.entry_for(resolve(target), given)
        if entry.fn is not None:
            custom.warn_ignored(entry.target, entry.fn)
        out.append(entry)
    made = Scope(out)
    if len(made) != len(out):
        names = ", ".join(name_of(e.target) for e in out)
        raise RuleError(f"an override gives two rules for one function (of {names})")
    return made


def token(scopes: Sequence[Scope]) -> Hashable:
    """What a derivative depends on besides the program and types: the rules in force."""
    return custom.version(), tuple([s.token for s in scopes]) if scopes else ()


def evaluated(scopes: Iterable[Scope], used: set[Hashable]) -> None:
    """Note that a derivative was evaluated that calls the targets `used`."""
    for s in scopes:
        s.evaluated = True
        s.used |= used


def warn_unused(entries: Iterable[Entry]) -> None:
    for entry in entries:
        warnings.warn(
            f"a rule was given for {name_of(entry.target)}, which the differentiated program "
            "never calls",
            UnusedOverride,
            custom.outside(),
        )


@contextmanager
def override(rules: Rules) -> Iterator[None]:
    """Use other derivative rules for functions, for every gradient evaluated inside.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> def f(x):
        ...     return np.square(x)
        >>> df = sg.grad(f)
        >>> with sg.override({np.square: lambda g, out, x: 0.0 * g}):
        ...     print(df(5.0))
        0.0
        >>> df(5.0)
        10.0

    Operators follow their ufunc: `x * x` has the rule of `np.multiply`, `x ** 2` that of
    `np.power` (never that of `np.square`), `x @ y` that of `np.matmul`; array methods follow the
    function of the same name, `x.sum()` that of `np.sum`.  Scopes nest, and the inner one wins.
    Inside a differentiated function a block holds for the calls written in it.

    Arguments: `rules` maps functions (or their dotted names) to rules, or is pairs of these.  A
    rule is a function `(g, out, *args)` that returns one cotangent per argument, the name of a
    named rule, or None for a derivative of zero.
    Raises: `RuleError` for a target that is not callable or a name that names nothing.
    Warns: `UnusedOverride` at the end of the scope when gradients were evaluated in it, and none
    of them called a target.
    """
    scope = entries_of(rules)
    reset = _stack.set((scope, *_stack.get()))
    try:
        yield
    finally:
        _stack.reset(reset)
    warn_unused(scope.unused())


override.__srcgrad_special__ = "override"  # type: ignore[attr-defined]

__all__ = ["Scope", "active", "entries_of", "evaluated", "name_of", "override", "resolve", "token"]
