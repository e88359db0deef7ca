"""Growing by running: a line is tried at the end of the program, and kept when that runs."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.fuzz.grown.statements import Statements

SECONDS = 0.4  # a loop over a list that grows in it does not end
LARGEST = 100.0
LONGEST = 95  # columns of a statement

Line = tuple[int, str]


class TookTooLong(Exception):
    """The program does not end."""


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Running(Statements):
    """Runs what there is of a program, and sees the values of its names at the end."""

    name = "f"
    signature = ""
    args: tuple[Any, ...] = ()

    def text(self, probed: bool = True) -> str:
        lines = ["import numpy as np", "", "", *self.head, self.signature]
        lines += ["    " * indent + line for indent, line in self.lines]
        if probed:
            lines.append("    " * self.indent + "_probe(locals())")
        return "\n".join(lines) + "\n"

    def run(self, probed: bool = True) -> tuple[dict[str, Any] | None, Any]:
        """The names at the end of the program when it last came there, and its result."""
        seen: list[dict[str, Any]] = []
        space: dict[str, Any] = {"_probe": lambda names: seen.append(dict(names))}
        with warnings.catch_warnings(), np.errstate(all="ignore"), _limited():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            exec(compile(self.text(probed), "<grown>", "exec"), space)
            given = [a.copy() if isinstance(a, np.ndarray) else a for a in self.args]
            result = space[self.name](*given)
        return (seen[-1] if seen else None), result

    def look(self) -> bool:
        """Run the program; whether it comes to its end with values of use."""
        try:
            names, _ = self.run()
        except Exception:
            return False
        if names is None or not all(map(fits, names.values())):
            return False
        self.values = {k: v for k, v in names.items() if not callable(v)}
        return True

    def add(self, *lines: Line) -> bool:
        """Add lines where the program still runs with them."""
        before = list(self.lines)
        self.lines += lines
        if not self.look():
            self.lines = before
            return False
        return True

    def statement(self) -> None:
        """Add one statement of those that fit here."""
        for _ in range(12):
            line = self.candidate()
            if line is not None and self.add((self.indent, line)):
                return

    def candidate(self) -> str | None:
        try:
            line = self.simple()
        except (IndexError, KeyError, ValueError):  # nothing to make it of
            return None
        return line if len(line) < LONGEST else None


def fits(value: Any, depth: int = 0) -> bool:
    """Whether a value is small enough to go on with.

    Example:
        >>> fits(np.ones(3)), fits([1e9])
        (True, False)
    """
    match value:
        case np.ndarray():
            if value.ndim > 3 or value.size > 40 or value.dtype.kind not in "fci":
                return False
            return bool(np.all(np.abs(value) < LARGEST))
        case float() | complex() | np.inexact():
            return bool(abs(value) < LARGEST)
        case list() | tuple():
            return len(value) < 8 and depth < 3 and all(fits(v, depth + 1) for v in value)
        case dict():
            return all(fits(v, depth + 1) for v in value.values())
        case _:
            return True
