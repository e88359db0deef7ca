"""The globals of a module that can't be imported by name."""

from __future__ import annotations

from typing import Any


class Namespace:
    """A module's globals that can't be imported by name; attributes read them live.

    >>> space = Namespace({"k": 1})
    >>> space.k
    1
    """

    def __init__(self, names: dict[str, Any]) -> None:
        object.__getattribute__(self, "__dict__")["%names"] = names

    def __getattribute__(self, name: str) -> Any:
        # Before the class's own attributes, so that `__doc__` and the like are the module's.
        names = object.__getattribute__(self, "__dict__")["%names"]
        return names[name] if name in names else object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace) and held(other) is held(self)

    def __hash__(self) -> int:
        return id(held(self))


def held(space: Namespace) -> Any:
    """The dictionary itself."""
    return object.__getattribute__(space, "__dict__")["%names"]
