"""How and where a module is built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """How the text of a module is to be."""

    standalone: bool = False
    jit: bool = False
    pythran: bool = False
    checks: bool = True


@dataclass(frozen=True)
class Place:
    """Where the text will be: what it may import and how it names files depend on it."""

    root: Path
    package: str | None = None  # the top-level package that the output belongs to
