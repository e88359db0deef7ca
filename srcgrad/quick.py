"""The quick path of a call: one test, written for a specialisation, of all that a call checks.

A call finds its specialisation by the classes of its arguments and runs the test, which says
whether the types are the same, no override is in force, no rule was registered and nothing that
the text relies on was bound anew.  Where it says no, or can't be written, the call goes the long
way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcgrad.analysis.signature import part_to_match, same_part
from srcgrad.compiled import Compiled
from srcgrad.rules import custom, scope

Full = Callable[[tuple[Any, ...]], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Quick:
    """A specialisation, with its test and the function that takes the arguments as given."""

    holds: Callable[[tuple[Any, ...]], bool]
    made: Compiled
    function: Callable[..., Any]


def prepare(made: Compiled, given: tuple[Any, ...], extra: int, full: Full) -> Quick | None:
    """The quick path of calls like this one, with no override around it.

    Arguments: the specialisation; the arguments; how many of them come before those of the
    function (a cotangent, tangents); what puts bound arguments before the others.
    Returns: None where arguments are containers or of classes that aren't known.
    """
    if made.debug or made.takes_functions or scope.active():
        return None
    values: dict[str, Any] = {"version": custom.version, "now": custom.version()}
    tests = ["not active()", "version() == now"]
    own = given[extra:]
    for k, a in enumerate(own):
        of_argument = same_part(a, f"a{k}")
        if of_argument is None:
            return None
        values[f"a{k}_0"] = part_to_match(a)
        tests += of_argument
    unpacked = "".join(f"a{k}, " for k in range(len(own))) if len(tests) > 2 else ""
    tests += _currency(made, values)
    values["active"] = scope.active
    exec(_text(unpacked, extra, tests), values)
    function = made.function if full(own) is own else _bound(made.function, full, extra)
    return Quick(values["holds"], made, function)


def _currency(made: Compiled, values: dict[str, Any]) -> tuple[str, ...]:
    """The tests that what a derivative relies on is as it was."""
    if made.requires or made.watch.rest:
        values["is_current"] = made.is_current
        return ("is_current()",)
    values.update(made.watch.values)
    return made.watch.tests


def _text(unpacked: str, extra: int, tests: list[str]) -> str:
    """The test as a function of the arguments; a name that is gone makes it say no."""
    first = f"        {unpacked}= given{f'[{extra}:]' if extra else ''}\n" if unpacked else ""
    return (
        f"def holds(given):\n    try:\n{first}        return {' and '.join(tests)}\n"
        "    except AttributeError:\n        return False\n"
    )


def _bound(function: Callable[..., Any], full: Full, extra: int) -> Callable[..., Any]:
    """A function of the arguments that a caller passes."""

    def call(*given: Any) -> Any:
        return function(*given[:extra], *full(given[extra:]))

    return call


__all__ = ["Quick", "prepare"]
