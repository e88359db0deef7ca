"""Reading what lies outside of a function: the attributes of modules and objects."""

from __future__ import annotations

from typing import Any


class Missing:
    """The one value that is none."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()  # what a name holds that nothing was bound to
NAMES = "%names"  # of a dictionary, all in one text
CHOICES = "%choices"  # of a function of `functools.singledispatch`, what it runs for which class


def member(holder: Any, name: str) -> Any:
    """An attribute; of a dictionary, which holds attributes or arguments by their names, an item.

    >>> member(1.5, "real"), member({"k": 2}, "k"), member({}, "k")
    (1.5, 2, MISSING)
    """
    if name == CHOICES:
        return " ".join(f"{cls.__qualname__}:{id(fn)}" for cls, fn in holder.registry.items())
    if type(holder) is not dict:
        return getattr(holder, name, MISSING)
    return " ".join(map(str, holder)) if name == NAMES else holder.get(name, MISSING)
