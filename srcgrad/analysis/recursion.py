"""Facts of functions that may call one another in circles.

Facts of a function are found from those of the functions that it calls.  One that is reached again
while its own facts are being found answers with what it has so far.  The first of a circle, its
head, goes through its body in rounds; each of the others is looked at once in a round, starts from
what it was in the round before, and answers with that until it is found again.  When a round
changes nothing, every answer was right.

Rounds of each function of a circle within those of the one before would take a time exponential in
the length of the circle (Bourdoncle 1993 compares such orders of iteration).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recursion(Generic[K, V]):
    """What is known by key: for good, for this round, and of what is being looked at.

    Arguments: `seen` is what others see of a value; a round that leaves it as it was is the last.

    >>> known = Recursion(lambda reached: reached)
    >>> calls = {"f": "gh", "g": "fh", "h": ""}
    >>> def reached(fn):
    ...     found = known.get(fn)
    ...     if found is not None:
    ...         return found
    ...     with known.running(fn) as so_far:
    ...         found = known.before(fn) or frozenset()
    ...         while True:
    ...             so_far(found)
    ...             known.again(fn)
    ...             new = found.union(calls[fn], *map(reached, calls[fn]))
    ...             if new == found and not known.moved(fn):
    ...                 return new
    ...             found = new
    >>> sorted(reached("f")), sorted(reached("g"))
    (['f', 'g', 'h'], ['f', 'g', 'h'])
    """

    def __init__(self, seen: Callable[[V], Any]) -> None:
        self._seen = seen
        self._final: dict[K, V] = {}
        self._found: dict[K, V] = {}  # in this round
        self._rests_on: dict[K, set[K]] = {}  # of what was found: those that were running
        self._before: dict[K, V] = {}  # found in the round before
        self._running: dict[K, V] = {}
        self._consulted: list[set[K]] = []  # by each of the running ones
        self._moved: set[K] = set()  # heads of what this round has changed

    @property
    def is_recursive(self) -> bool:
        """Whether what is being found rests on something that is not final."""
        return bool(self._consulted and self._consulted[-1])

    def values(self) -> list[V]:
        """Everything that is known for good."""
        return list(self._final.values())

    def open(self) -> Iterable[K]:
        """The keys of what is being looked at."""
        return self._running

    def runs(self, key: K) -> bool:
        return key in self._running

    def get(self, key: K) -> V | None:
        """What is known, or known so far."""
        if key in self._final:
            return self._final[key]
        if key in self._running:
            self._consulted[-1].add(key)
            return self._running[key]
        if key in self._found:
            self._consulted[-1] |= self._rests_on[key]
            return self._found[key]
        return None

    def before(self, key: K) -> V | None:
        """What was found in the round before: a start for this one."""
        return self._before.get(key)

    def moved(self, key: K) -> bool:
        """Whether something that rests on a running one is not what it was the round before."""
        return key in self._moved

    def again(self, key: K) -> None:
        """A round of a running one begins; the head of a circle takes the others with it."""
        self._moved.discard(key)
        if self._is_head(key):
            for other in self._dependents(key):
                self._before[other] = self._found.pop(other)

    def anew(self, key: K) -> None:
        """What runs is another function now: the others of its circle start anew, too."""
        if self._is_head(key):
            self._forget(key)

    def _forget(self, key: K) -> None:
        for other in self._dependents(key):
            del self._found[other]
            self._before.pop(other, None)

    def _is_head(self, key: K) -> bool:
        return self._consulted[-1] <= {key}

    def _dependents(self, key: K) -> list[K]:
        return [other for other in self._found if key in self._rests_on[other]]

    @contextmanager
    def running(self, key: K) -> Iterator[Callable[[V], None]]:
        """While this runs the key answers with the last value that was given to what is yielded;
        in the end that value stays."""

        def so_far(value: V) -> None:
            self._running[key] = value

        self._consulted.append(set())
        try:
            yield so_far
        except BaseException:
            self._consulted.pop()
            self._running.pop(key, None)
            self._forget(key)
            raise
        rests_on = self._consulted.pop() - {key}
        value = self._running.pop(key)
        self._settle(key, rests_on)
        if not rests_on:
            self._final[key] = value
            return
        self._found[key], self._rests_on[key] = value, rests_on
        self._consulted[-1] |= rests_on
        old = self._before.get(key)
        if old is None or self._seen(old) != self._seen(value):
            self._moved |= rests_on

    def _settle(self, key: K, rests_on: set[K]) -> None:
        """What rested on a key that has come to its end rests on what that one rests on."""
        for other in self._dependents(key):
            left = self._rests_on[other] = (self._rests_on[other] - {key}) | rests_on
            if not left:
                self._final[other] = self._found.pop(other)
                self._before.pop(other, None)
