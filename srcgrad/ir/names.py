"""Names for what the compiler adds, decided from the function's own text alone."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable

_RESERVED = {"np", "math", "support", *keyword.kwlist, *dir(builtins)}


class Names:
    """Hands out names that are not taken.

    Example:
        >>> names = Names(["x", "x_bar"])
        >>> names.suffixed("x", "bar"), names.temporary(), names.temporary()
        ('x_bar2', 't1', 't2')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken) | _RESERVED
        self._suffix: dict[str, str] = {}
        self._made: dict[tuple[str, str], str] = {}
        self._temporaries = 0

    def suffix(self, kind: str) -> str:
        """`bar`, or the first of `bar2`, `bar3`, ... that ends no name of the function."""
        found = self._suffix.get(kind)
        if found is None:
            found, k = kind, 1
            while any(t.endswith("_" + found) for t in self.taken):
                k += 1
                found = f"{kind}{k}"
            self._suffix[kind] = found
        return found

    def suffixed(self, base: str, kind: str) -> str:
        """The one name of this kind that belongs to `base`: its adjoint, its tangent."""
        made = self._made.get((base, kind))
        if made is None:
            made = self.fresh(f"{base}_{self.suffix(kind)}", taken_by_kind=True)
            self._made[base, kind] = made
        return made

    def fresh(self, want: str, taken_by_kind: bool = False) -> str:
        """`want` when it is free, else `want_2`, `want_3`, ..."""
        del taken_by_kind
        got, k = want, 1
        while got in self.taken:
            k += 1
            got = f"{want}_{k}"
        self.taken.add(got)
        return got

    def temporary(self) -> str:
        while True:
            self._temporaries += 1
            got = f"t{self._temporaries}"
            if got not in self.taken and f"{got}_bar" not in self.taken:
                self.taken.add(got)
                return got
