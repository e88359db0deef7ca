"""Places in the user's files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in the user's file; lines count from 1, columns from 0, as in `ast`."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int

    @property
    def origin(self) -> tuple[str, int]:
        """The file and the line."""
        return self.file, self.line
