"""What the parts of sharpening share: the facts they read, and numbers for new statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts


@dataclass
class Rewrites:
    """One part of sharpening; `sids` gives numbers for new statements."""

    facts: Facts
    sids: Iterator[int]
    changed: bool = False
