"""A function of Python that only calls another: what is differentiated in place of a function that
has a rule, or no source."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import types
from typing import Any

_P = inspect.Parameter


def stand_in(target: Any, signature: inspect.Signature, skip: int = 0) -> types.FunctionType:
    """A function with these parameters that calls the target with all but the first `skip`.

    >>> import math
    >>> f = stand_in(math.pow, inspect.signature(lambda x, y=3.0: 0))
    >>> f.__name__, f(2.0)
    ('pow', 8.0)
    """
    label = str(getattr(target, "__name__", "function"))
    label = label if label.isidentifier() else "function"
    params, given = list(signature.parameters.values()), []
    namespace: dict[str, Any] = {"__name__": "srcgrad_library"}
    shown: list[_P] = []
    for k, p in enumerate(params):
        if p.default is not p.empty:
            namespace[f"default_{p.name}"] = p.default
        shown.append(
            p.replace(
                annotation=p.empty, default=_Named(p) if p.default is not p.empty else p.empty
            )
        )
        if k >= skip:
            given.append(_argument(p))
    head = str(inspect.Signature(shown))
    text = f"def {label}{head}:\n    return {label}({', '.join(given)})\n"
    file = f"<{label} {hashlib.sha256(text.encode()).hexdigest()[:8]}>"  # one text, one name
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), namespace)
    made: types.FunctionType = namespace[label]
    namespace[label] = target
    made.__srcgrad_stands_for__ = getattr(target, "__wrapped__", target)  # type: ignore[attr-defined]
    return made


class _Named:
    """Prints as the name that a default value has in the namespace."""

    def __init__(self, p: _P) -> None:
        self.name = f"default_{p.name}"

    def __repr__(self) -> str:
        return self.name


def _argument(p: _P) -> str:
    match p.kind:
        case _P.VAR_POSITIONAL:
            return f"*{p.name}"
        case _P.VAR_KEYWORD:
            return f"**{p.name}"
        case _P.KEYWORD_ONLY:
            return f"{p.name}={p.name}"
        case _:
            return p.name
