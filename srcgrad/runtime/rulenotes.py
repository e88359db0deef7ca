"""Says in an exception which derivative rule it was raised in."""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType


def add_note(error: BaseException, rules: Mapping[CodeType, str]) -> None:
    """Add a note to an exception that came out of a rule; `rules` are descriptions by code.

    >>> def rule(g, out, x):
    ...     return g / 0
    >>> try:
    ...     rule(1.0, 2.0, 3.0)
    ... except ZeroDivisionError as error:
    ...     add_note(error, {rule.__code__: "rule for f(x)"})
    ...     error.__notes__
    ['raised in the rule for f(x)']
    """
    trace = error.__traceback__
    while trace is not None:
        about = rules.get(trace.tb_frame.f_code)
        if about is not None:
            note = f"raised in the {about}"
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            return
        trace = trace.tb_next
