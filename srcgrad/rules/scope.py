"""Overrides: which rules are in force where.

Scoped overrides live in a context variable, so that threads and tasks do not see each other's.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from srcgrad.errors import RuleError
from srcgrad.rules import custom
from srcgrad.rules.registry import Entry, name_of

_stack: ContextVar[tuple[dict[int, Entry], ...]] = ContextVar("srcgrad_overrides", default=())


def resolve(target: Any) -> Any:
    """The function that a target names: the object itself, or a dotted name."""
    if not isinstance(target, str):
        if not callable(target):
            raise RuleError(f"{target!r} can't have a rule: it is not callable")
        return target
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        try:
            for part in parts[cut:]:
                found = getattr(found, part)
        except AttributeError:
            break
        if callable(found):
            return found
    raise RuleError(f"there is no function with the name {target!r} (unknown name in an override)")


def entries_of(rules: Mapping[Any, Any]) -> dict[int, Entry]:
    """Entries for `{target: rule}`; a rule is a function, a named rule, or None for zero."""
    out: dict[int, Entry] = {}
    for target, rule in rules.items():
        found = resolve(target)
        out[id(found)] = custom.entry_for(found, rule)
    return out


def active() -> tuple[dict[int, Entry], ...]:
    """The scoped overrides in force here, innermost first."""
    return _stack.get()


@contextmanager
def override(rules: Mapping[Any, Any]) -> Iterator[None]:
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

    Arguments: `rules` maps functions (or their dotted names) to rules: functions
    `(g, out, *args)` that return one cotangent per argument, or names of named rules.
    Raises: `RuleError` for a target that is not callable or a name that names nothing.
    """
    entries = entries_of(rules)
    token = _stack.set((entries, *_stack.get()))
    try:
        yield
    finally:
        _stack.reset(token)


override.__srcgrad_special__ = "override"  # type: ignore[attr-defined]

__all__ = ["active", "entries_of", "name_of", "override", "resolve"]
