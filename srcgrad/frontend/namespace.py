"""What generated modules are handed, as it has no name by which it could be imported."""

from __future__ import annotations

import builtins
from collections import ChainMap
from collections.abc import Mapping
from types import CellType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

_AROUND: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()
_WRITTEN: dict[str, tuple[str, dict[int, int]]] = {}  # file that is made up -> file and lines


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


class Handed:
    """An object that was known when compiling, handed to a generated module."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Cells:
    """The captured variables of a closure; attributes read them live."""

    def __init__(self, cells: dict[str, CellType]) -> None:
        self.__dict__["%cells"] = cells

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["%cells"][name].cell_contents
        except (KeyError, ValueError):
            raise AttributeError(f"name {name!r} is not defined") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cells):
            return False
        mine, others = self.__dict__["%cells"], other.__dict__["%cells"]
        return list(mine) == list(others) and all(mine[k] is others[k] for k in mine)

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__["%cells"]))


def cells_by_name(fn: Any) -> dict[str, CellType]:
    """The variables that a closure captured."""
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


def lifted_from(fn: FunctionType, outer: FunctionType, lines: dict[int, int]) -> None:
    """Note that a function is one written inside another, whose text says what it is; and the
    lines in the file of that one behind its own."""
    _AROUND[fn] = outer
    _WRITTEN[fn.__code__.co_filename] = outer.__code__.co_filename, lines


def around(fn: Any) -> FunctionType | None:
    """The function in which one is written that was made one of a module; None for others.

    >>> around(around)
    """
    return _AROUND.get(fn)


def written_at(file: str, line: int) -> tuple[str, int]:
    """Where a line stands in a file, for one of a function that was made from a nested one.

    >>> written_at("model.py", 3)
    ('model.py', 3)
    """
    home, lines = _WRITTEN.get(file, (file, {}))
    return written_at(home, lines[line]) if line in lines else (file, line)


def outside(fn: Any) -> Mapping[str, Any]:
    """What names mean that a function takes from around it.

    >>> outside(lambda: len)["len"] is len
    True
    """
    cells = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
    held = {name: _contents(cell) for name, cell in cells}
    return ChainMap(held, fn.__globals__, vars(builtins))


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is in it yet
        return None
