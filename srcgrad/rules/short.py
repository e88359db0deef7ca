"""Shorter formulas for calls about which more is known than an entry may assume.

An entry's formula holds for every number of dimensions and every option; what is printed most is
`g @ b.T`, not the helper that decides when it runs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from srcgrad.rules.registry import Entry, Formula

ROW = -1  # the number of dimensions, so to speak, of a display of numbers: `[a, b]`


@dataclass(frozen=True)
class Short:
    """A formula for calls with these numbers of dimensions that do not give these arguments."""

    formula: Formula
    ndims: dict[str, tuple[int, ...]]
    absent: frozenset[str]
    real: bool


_SHORT: dict[tuple[int, str, str], list[Short]] = {}


def short(
    target: Any,
    ndims: dict[str, int | tuple[int, ...]] | None = None,
    *,
    mode: str = "vjp",
    absent: tuple[str, ...] = (),
    real: bool = False,
    **formulas: str,
) -> None:
    """Register short formulas; the first that fits a call is taken.

    `ndims` gives for each argument its number of dimensions or several that will do; `absent`
    the arguments that the call must not give; `real` that no argument may be complex.
    """
    wanted = {p: n if isinstance(n, tuple) else (n,) for p, n in (ndims or {}).items()}
    for name, text in formulas.items():
        entry = Short(Formula(text), wanted, frozenset(absent), real)
        _SHORT.setdefault((id(target), mode, name), []).append(entry)


def specialised(
    entry: Entry,
    param: str,
    ndims: dict[str, int],
    given: Collection[str] | None = None,
    real: bool = False,
    mode: str = "vjp",
) -> Formula | None:
    """The short formula of one argument (or of a `let` name), if what is known allows one.

    `ndims` holds the arguments whose number of dimensions is known, `given` the names of the
    arguments that the call gives (None: not known), `real` whether all arguments are known to be
    real, `mode` is "vjp" or "jvp".  The entry must be registered under its own target.

    >>> import numpy as np
    >>> from srcgrad.rules import products, registry
    >>> entry = registry.lookup(np.matmul)
    >>> specialised(entry, "a", {"a": 2, "b": 2}).text
    'g @ b.T'
    >>> specialised(entry, "a", {"a": 3, "b": 2}) is None
    True
    """
    for candidate in _SHORT.get((id(entry.target), mode, param), []):
        known = all(ndims.get(p) in wanted for p, wanted in candidate.ndims.items())
        free = not candidate.absent or (given is not None and not candidate.absent & set(given))
        if known and free and (real or not candidate.real):
            return candidate.formula
    return None
