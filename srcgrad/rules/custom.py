"""Rules that users give: registered, named, or passed to an override."""

from __future__ import annotations

import inspect
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace as changed
from types import FunctionType
from typing import Any, TypeVar

from srcgrad.errors import RuleError, RuleIgnoresCotangent, describe, rule_error
from srcgrad.rules import registry, tables
from srcgrad.rules.ignores import ignores_cotangent
from srcgrad.rules.registry import Entry, name_of

_named: dict[str, Callable[..., Any]] = {}
_lock = threading.Lock()
_version = 0

_F = TypeVar("_F", bound=Callable[..., Any])
_P = inspect.Parameter
_BY_POSITION = (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)


def version() -> int:
    """Counts the registrations: a derivative made under another count may be out of date."""
    return _version


def rule(target: Any, *, replace: bool = False) -> Callable[[_F], _F]:
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
    The rule takes the cotangent, the result and the arguments of the call (those given by keyword
    too, in the order of the target's parameters), and returns one cotangent for each of them: a
    tuple, or the bare value for one.  None stands for no derivative.  It goes before srcgrad's
    own rule.
    Raises: `RuleError` when the target is not callable, when it has a registered rule already and
    `replace` is not given, or when the rule can't take the arguments of a call.
    Warns: `RuleIgnoresCotangent` when nothing that the rule returns depends on the cotangent.
    """

    def decorate(fn: _F) -> _F:
        if isinstance(target, str):
            _register_name(target, fn, replace)
            return fn
        if not callable(target):
            raise RuleError(f"{target!r} can't have a rule: it is not callable")
        entry = entry_for(target, fn)
        old = registry.lookup(target)
        if old is not None and old.given and not replace:
            raise RuleError(
                f"{name_of(target)} has a rule already ({_origin(old)}): "
                f"pass replace=True to put {describe(fn)} in its place"
            )
        register(entry)
        warn_ignored(target, fn)
        return fn

    return decorate


def register(entry: Entry) -> None:
    """Put a user's rule in force, for everybody."""
    global _version
    with _lock:
        registry.add(entry)
        _version += 1


def changed_rules() -> None:
    """Note that the rule a function carries is another now."""
    global _version
    with _lock:
        _version += 1


def _register_name(name: str, fn: Callable[..., Any], replace: bool) -> None:
    global _version
    if not callable(fn):
        raise RuleError(f"a rule must be a function, got {fn!r}")
    with _lock:
        if name in _named and not replace:
            raise RuleError(
                f"there is a rule named {name!r} already ({describe(_named[name])}): "
                "pass replace=True to put another in its place"
            )
        _named[name] = fn
        _version += 1
    warn_ignored(name, fn)


def _origin(entry: Entry) -> str:
    return describe(entry.fn) if entry.fn is not None else "its derivative is zero"


def _is_users(target: Any) -> bool:
    """Whether a function is surely not one that srcgrad has a rule for."""
    top = str(getattr(target, "__module__", None)).partition(".")[0]
    return (
        isinstance(target, FunctionType)
        and top not in ("numpy", "scipy")
        and top not in sys.stdlib_module_names
    )


def entry_for(target: Any, given: Any) -> Entry:
    """The entry of a target with a rule: a function, the name of a named one, or None for zero."""
    if isinstance(given, str):
        if given not in _named:
            known = ", ".join(sorted(_named)) or "none yet"
            raise RuleError(f"there is no rule named {given!r} (named rules: {known})")
        given = _named[given]
    if isinstance(given, Entry):
        return given
    if given is not None and not callable(given):
        raise RuleError(f"the rule of {name_of(target)} must be a function, got {given!r}")
    if not _is_users(target):
        tables.load()  # or srcgrad's own rule would come later, and in place of this one
    base = registry.lookup(target)
    while base is not None and base.given:
        base = base.builtin
    base = base or _blank(target)
    if given is not None:
        check_parameters(target, given, base.params)
    variants = {k: _with_rule(v, given) for k, v in base.variants.items()}
    return changed(_with_rule(base, given), target=target, variants=variants)


def _with_rule(base: Entry, given: Any) -> Entry:
    """An entry with a user's rule for its formulas; what else it says of the function stays."""
    return changed(
        base,
        kind="nondiff" if given is None else "function",
        params=base.params or signature_of(base.target),
        vjps={},
        jvps={},
        let={},
        at=(),
        fn=given,
        jvp_fn=None,
        note="",
        zero=frozenset(),
        variants={},
        otherwise=None,
        lanes=False,
        given=True,
        builtin=None if base.kind == "unknown" else base,
    )


def _blank(target: Any) -> Entry:
    """What is known of a function that has no rule.  A ufunc may be run to see what it returns."""
    pure = type(target).__name__ == "ufunc"
    return Entry(target, name_of(target), "unknown", signature_of(target), {}, {}, pure=pure)


def signature_of(target: Any) -> inspect.Signature | None:
    """The signature that calls of a target are bound to before its rule sees them."""
    if type(target).__name__ == "ufunc":
        names = ["x"] if target.nin == 1 else [f"x{k + 1}" for k in range(target.nin)]
        return inspect.Signature([_P(name, _P.POSITIONAL_ONLY) for name in names])
    try:
        found = inspect.signature(target)
    except (TypeError, ValueError):
        return None
    kinds = {p.kind for p in found.parameters.values()}
    if kinds == {_P.VAR_POSITIONAL, _P.VAR_KEYWORD} and not inspect.isroutine(target):
        return None  # ctypes says no more of its functions than that they take arguments
    return found


def check_parameters(target: Any, fn: Any, params: inspect.Signature | None) -> None:
    """A rule must take g, out and what a call passes."""
    try:
        taken = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return
    ours = [p for p in taken if p.kind in _BY_POSITION]
    if any(p.kind is _P.VAR_POSITIONAL for p in taken):
        return
    if len(ours) < 2:
        raise rule_error(
            target,
            fn,
            "its signature must be (g, out, *args): the cotangent, the result, the arguments; "
            f"it takes {len(ours)} argument{'s' if len(ours) != 1 else ''}",
        )
    if params is None:
        return
    theirs = [p for p in params.parameters.values() if p.kind in _BY_POSITION]
    needed = [p for p in theirs if p.default is p.empty]
    most = len(theirs)
    if any(p.kind is _P.VAR_POSITIONAL for p in params.parameters.values()):
        most = 1_000_000
    required = [p for p in ours[2:] if p.default is p.empty]
    counted = f"it takes {len(ours) - 2} argument{'s' if len(ours) != 3 else ''} after g and out, "
    if len(ours) - 2 < len(needed):
        s = "s" if len(needed) != 1 else ""
        raise rule_error(
            target, fn, f"{counted}but a call passes at least {len(needed)} argument{s}"
        )
    if len(required) > most:
        raise rule_error(target, fn, f"{counted}but a call passes at most {most}")


def warn_ignored(target: Any, fn: Any) -> None:
    """Warn of a rule that forgets its cotangent."""
    if ignores_cotangent(fn):
        warnings.warn(
            f"rule {describe(fn)} for {describe(target, place=False)}: nothing it returns depends "
            "on the cotangent g, which breaks the chain rule: multiply by g",
            RuleIgnoresCotangent,
            stacklevel=outside(),
        )


def outside() -> int:
    """The stack level of the first caller outside srcgrad."""
    frame, level = inspect.currentframe(), 0
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("srcgrad.") and name != "contextlib":
            return max(level, 1)
        frame, level = frame.f_back, level + 1
    return 1
