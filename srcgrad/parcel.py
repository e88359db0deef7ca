"""What goes along with a pickled derivative: sources of functions that no file has where it
arrives, and what was made here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from srcgrad import warm
from srcgrad.compiled import Compiled
from srcgrad.frontend import carried

Parcel = tuple[carried.Texts, tuple[warm.Kept, ...]]


def packed(fn: Any, made: Iterable[Compiled]) -> Parcel:
    """The parcel of a derivative of `fn`."""
    return carried.texts_for(fn), tuple(m.kept for m in made if m.kept is not None)


def unpacked(parcel: Parcel) -> None:
    """Have what came be found when it is asked for."""
    carried.receive(parcel[0])
    warm.receive(parcel[1])
