"""`copy.copy` and `copy.deepcopy` of what holds numbers: what is differentiated in their place."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import error, is_number


def shallow_copy(x: Any) -> Any:
    """`copy.copy(x)`."""
    if isinstance(x, np.ndarray):
        return np.copy(x)
    if isinstance(x, list):
        return list(x)
    if isinstance(x, dict):
        return dict(x)
    check_no_object(x)
    return x


def deep_copy(x: Any, memo: Any = None) -> Any:
    """`copy.deepcopy(x)`."""
    check_apart_parts(x)
    return parts_copied(x)


def parts_copied(x: Any) -> Any:
    """A copy of x and of each of its parts."""
    if isinstance(x, np.ndarray):
        return np.copy(x)
    if isinstance(x, list):
        return [parts_copied(v) for v in x]
    if isinstance(x, tuple):
        return tuple([parts_copied(v) for v in x])
    if isinstance(x, dict):
        return {k: parts_copied(v) for k, v in x.items()}
    check_no_object(x)
    return x


def check_no_object(x: Any) -> None:
    """Refuse to copy what is no number and no plain container of numbers.

    >>> check_no_object(1.0)
    """
    if not is_number(x) and not isinstance(x, int | str | bytes | tuple | np.generic | type(None)):
        raise error(
            "UnsupportedSyntax",
            f"an object of the class {type(x).__name__} is copied in differentiated code: make a "
            "new one of its parts",
        )


def check_apart_parts(x: Any) -> None:
    """Refuse a deep copy that would have to keep two names of one part.

    >>> check_apart_parts([np.zeros(2), [1.0, 2.0]])
    """
    seen: list[Any] = []

    def visit(part: Any) -> None:
        if isinstance(part, list | tuple | dict) and type(part) not in (list, tuple, dict):
            raise error(
                "UnsupportedSyntax",
                f"a deep copy of an object of the class {type(part).__name__} is made in "
                "differentiated code: make a new one of its parts",
            )
        if isinstance(part, list | dict | np.ndarray):
            if any(other is part or _overlap(other, part) for other in seen):
                raise error(
                    "UnsupportedSyntax",
                    "a deep copy of what holds one array or list twice is made in differentiated "
                    "code: copy its parts one by one",
                )
            seen.append(part)
        if isinstance(part, list | tuple | dict):
            for item in part.values() if isinstance(part, dict) else part:
                visit(item)

    visit(x)


def _overlap(a: Any, b: Any) -> bool:
    both = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return both and bool(np.may_share_memory(a, b))
