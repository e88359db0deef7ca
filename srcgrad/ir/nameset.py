"""Sets of names, of which a large function has one for each statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NameSet:
    """An immutable set of names: the bits of an integer, by positions that related sets share.

    >>> have = NameSet() | ["x", "y"]
    >>> "x" in have, "z" in have, list(have & (NameSet(have.index) | ["y", "z"]))
    (True, False, ['y'])
    """

    index: dict[str, int] = field(default_factory=dict)
    bits: int = 0

    def __or__(self, names: Iterable[str]) -> NameSet:
        bits = self.bits
        for name in names:
            bits |= 1 << self.index.setdefault(name, len(self.index))
        return NameSet(self.index, bits)

    def __and__(self, other: NameSet) -> NameSet:
        assert other.index is self.index
        return NameSet(self.index, self.bits & other.bits)

    def __contains__(self, name: str) -> bool:
        position = self.index.get(name)
        return position is not None and bool(self.bits >> position & 1)

    def __iter__(self) -> Iterator[str]:
        return (name for name, position in self.index.items() if self.bits >> position & 1)
