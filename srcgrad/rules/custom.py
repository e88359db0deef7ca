"""Rules that users give: registered, named, or attached to a function."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

from srcgrad.errors import RuleError, rule_error
from srcgrad.rules import registry
from srcgrad.rules.registry import Entry, name_of

_named: dict[str, Callable[..., Any]] = {}
_lock = threading.Lock()
SAME = object()


def rule(target: Any, *, replace: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a derivative rule for a function, or a named rule.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> def cube(x):
        ...     return x * x * x
        >>> @sg.rule(cube)
        ... def cube_rule(g, out, x):
        ...     return 3.0 * g * x * x
        >>> sg.grad(cube)(2.0)
        12.0

    Arguments: `target` is a callable, or a string that names the rule for later overrides.
    The rule takes the cotangent, the result and the arguments, and returns one cotangent per
    positional argument (a tuple, or the bare value for one).
    Raises: `RuleError` when the target has a registered rule already and `replace` is not given.
    """

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(target, str):
            with _lock:
                if target in _named and not replace:
                    raise RuleError(f"there is a rule named {target!r} already: pass replace=True")
                _named[target] = fn
            return fn
        if not callable(target):
            raise RuleError(f"{target!r} can't have a rule: it is not callable")
        old = registry.lookup(target)
        if old is not None and not replace:
            raise RuleError(
                f"{name_of(target)} has a rule already: pass replace=True to put {fn.__name__} in its place"
            )
        registry.add(entry_for(target, fn), replace=True)
        return fn

    return decorate


def entry_for(target: Any, given: Any) -> Entry:
    """The entry of a target with a rule: a function, the name of a named rule, or None for zero."""
    if isinstance(given, str):
        if given not in _named:
            known = ", ".join(sorted(_named)) or "none yet"
            raise RuleError(f"there is no rule named {given!r} (named rules: {known})")
        given = _named[given]
    if isinstance(given, Entry):
        return given
    if given is None:
        return Entry(target, name_of(target), "nondiff", None, {}, {}, pure=False)
    if not callable(given):
        raise RuleError(f"a rule must be a function, got {given!r}")
    params = signature_of(target)
    check_parameters(target, given, params)
    return Entry(target, name_of(target), "function", params, {}, {}, fn=given, pure=False)


def signature_of(target: Any) -> inspect.Signature | None:
    """The signature that calls of a target are bound to before its rule sees them."""
    builtin = registry.lookup(target)
    if builtin is not None and builtin.params is not None:
        return builtin.params
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def check_parameters(target: Any, fn: Any, params: inspect.Signature | None) -> None:
    """A rule must take g, out and what a call passes."""
    try:
        taken = inspect.signature(fn)
    except (TypeError, ValueError):
        return
    P = inspect.Parameter
    ours = [p for p in taken.parameters.values() if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is P.VAR_POSITIONAL for p in taken.parameters.values()):
        return
    if len(ours) < 2:
        raise rule_error(
            target, fn, "its signature must be (g, out, *args): the cotangent, the result, the arguments"
        )
    if params is None:
        return
    needed = [
        p
        for p in params.parameters.values()
        if p.default is p.empty and p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
    ]
    required = [p for p in ours if p.default is p.empty]
    if len(ours) - 2 < len(needed):
        raise rule_error(
            target,
            fn,
            f"it takes {len(ours) - 2} argument{'s' if len(ours) != 3 else ''} after g and out, "
            f"but a call passes at least {len(needed)} arguments",
        )
    del required
