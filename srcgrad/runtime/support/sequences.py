"""Functions and methods of Python's own library, written in Python.

What stands for a function (`rules/sources.py` says which for which) does what the function does,
in statements that can be differentiated; the helpers above them look at lengths and orders only.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = [
    "accumulated",
    "backwards",
    "chained",
    "chained_parts",
    "check_container",
    "check_lengths",
    "check_list",
    "check_names",
    "check_table",
    "combinations_of",
    "delete_item",
    "filtered",
    "first_of",
    "from_the_end",
    "instance",
    "is_extended",
    "keys_of",
    "largest_item",
    "list_clear",
    "list_reverse",
    "list_sort",
    "list_store_slice",
    "numbered",
    "pairs",
    "place_of_largest",
    "place_of_smallest",
    "places_of",
    "reduce",
    "smallest_item",
    "sorted_list",
    "sorted_order",
    "starmapped",
    "sublist",
    "table_get",
    "table_items",
    "table_of",
    "table_pop",
    "table_setdefault",
    "table_update",
    "table_values",
    "take_item",
    "zipped",
]

# ---- lengths and orders ----------------------------------------------------


def _plain(key: Any) -> Any:
    """A key that compares: what is compared by identity alone stays as it is."""
    return key.item() if isinstance(key, np.generic) else key


def sorted_order(keys: Iterable[Any], reverse: bool = False) -> list[int]:
    """The positions of items in sorted order; equal ones keep their order.

    >>> sorted_order([3.0, 1.0, 2.0])
    [1, 2, 0]
    """
    held = [_plain(key) for key in keys]
    return sorted(range(len(held)), key=held.__getitem__, reverse=reverse)


def place_of_largest(keys: Iterable[Any]) -> int:
    held = [_plain(key) for key in keys]
    return max(range(len(held)), key=held.__getitem__)


def place_of_smallest(keys: Iterable[Any]) -> int:
    held = [_plain(key) for key in keys]
    return min(range(len(held)), key=held.__getitem__)


def keys_of(container: Any) -> list[Any]:
    """The keys of a dict, the positions of a list; the last first."""
    found = container if isinstance(container, dict) else range(len(container))
    return list(found)[::-1]


def places_of(key: slice, length: int, count: int | None = None) -> list[int]:
    """The positions that a slice selects.

    >>> places_of(slice(0, 5, 2), 4)
    [0, 2]
    """
    found = list(range(length))[key]
    if count is not None and count != len(found):
        raise ValueError(
            f"attempt to assign sequence of size {count} to extended slice of size {len(found)}"
        )
    return found


def from_the_end(key: slice, length: int) -> list[int]:
    """The positions that a slice selects, the last first."""
    return sorted(places_of(key, length), reverse=True)


def is_extended(key: slice) -> bool:
    return key.step not in (None, 1)


def first_of(key: slice, length: int) -> int:
    return key.indices(length)[0]


def check_list(x: Any) -> None:
    if not isinstance(x, list):
        raise TypeError(f"a list is needed here, not a {type(x).__name__}")


def check_table(x: Any) -> None:
    if not isinstance(x, dict):
        raise TypeError(f"a dict is needed here, not a {type(x).__name__}")


def check_container(x: Any) -> None:
    if not isinstance(x, dict | list):
        raise TypeError(f"a list or dict is needed here, not a {type(x).__name__}")


def check_lengths(count: int, *parts: Any) -> None:
    """Refuse sequences of different lengths, as `zip(..., strict=True)` does."""
    for part in parts:
        if part is not None and len(part) != count:
            raise ValueError("zip() arguments have different lengths")


def check_names(table: Any, *names: str) -> None:
    """Refuse keyword arguments that a function does not take, as its call would."""
    check_table(table)
    for name in table:
        if name not in names:
            raise TypeError(f"got an unexpected keyword argument {name!r}")


def instance(cls: Any, **attributes: Any) -> Any:
    """An object of a class with these attributes, made without its constructor."""
    made = cls.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


# ---- functions -------------------------------------------------------------


def reduce(function, items, *initial):
    if len(initial) > 0:
        result = initial[0]
        start = 0
    else:
        result = items[0]
        start = 1
    for k in range(start, len(items)):
        result = function(result, items[k])
    return result


def sorted_list(items, *, key=None, reverse=False):
    held = keys_of(items) if isinstance(items, dict) else list(items)
    keys = held if key is None else [key(item) for item in held]
    order = sorted_order(keys, reverse)
    return [held[k] for k in order]


def largest_item(items, *, key=None, default=None):
    held = list(items)
    if len(held) == 0:
        return default
    keys = held if key is None else [key(item) for item in held]
    return held[place_of_largest(keys)]


def smallest_item(items, *, key=None, default=None):
    held = list(items)
    if len(held) == 0:
        return default
    keys = held if key is None else [key(item) for item in held]
    return held[place_of_smallest(keys)]


def take_item(obj, key):
    return obj[key]


def delete_item(obj, key):
    check_container(obj)
    if isinstance(key, slice):
        for k in from_the_end(key, len(obj)):
            obj.pop(k)
    else:
        obj.pop(key)


# ---- lists -----------------------------------------------------------------


def list_reverse(items):
    check_list(items)
    last = len(items) - 1
    for k in range(len(items) // 2):
        first = items[k]
        items[k] = items[last - k]
        items[last - k] = first


def list_clear(items):
    check_container(items)
    for key in keys_of(items):
        items.pop(key)


def list_sort(items, *, key=None, reverse=False):
    check_list(items)
    held = list(items)
    keys = held if key is None else [key(item) for item in held]
    order = sorted_order(keys, reverse)
    for k in range(len(held)):
        items[k] = held[order[k]]


def list_store_slice(items, key, values):
    check_list(items)
    new = list(values)
    if is_extended(key):
        places = places_of(key, len(items), len(new))
        for k in range(len(new)):
            items[places[k]] = new[k]
    else:
        first = first_of(key, len(items))
        for k in from_the_end(key, len(items)):
            items.pop(k)
        for k in range(len(new)):
            items.insert(first + k, new[k])


# ---- dicts -----------------------------------------------------------------


def table_update(table, other=None):
    check_table(table)
    if isinstance(other, dict):
        for key in other:
            table[key] = other[key]
    elif other is not None:
        for key, value in other:
            table[key] = value


def table_of(items):
    made: dict[Any, Any] = {}
    table_update(made, items)
    return made


def table_setdefault(table, key, default=None):
    check_table(table)
    if key not in table:
        table[key] = default
    return table[key]


def table_get(table, key, default=None):
    check_table(table)
    if key in table:
        return table[key]
    return default


def table_pop(table, key, default):
    check_table(table)
    if key in table:
        return table.pop(key)
    return default


def table_values(table):
    check_table(table)
    return [table[key] for key in table]


def table_items(table):
    check_table(table)
    return [(key, table[key]) for key in table]


# ---- iterators that are used up where they are made ------------------------


def accumulated(items, function=operator.add, *, initial=None):
    result = []
    if initial is not None:
        result.append(initial)
    for item in items:
        if len(result) == 0:
            result.append(item)
        else:
            result.append(function(result[-1], item))
    return result


def chained(first=(), second=(), third=(), *others):
    result = []
    for item in first:
        result.append(item)
    for item in second:
        result.append(item)
    for item in third:
        result.append(item)
    for part in others:
        for item in part:
            result.append(item)
    return result


def chained_parts(parts):
    result = []
    for part in parts:
        for item in part:
            result.append(item)
    return result


def pairs(items):
    return [(items[k], items[k + 1]) for k in range(len(items) - 1)]


def sublist(items, *ends):
    return [items[k] for k in places_of(slice(*ends), len(items))]


def combinations_of(items, r):
    if r == 2:
        return [(items[i], items[j]) for i in range(len(items)) for j in range(i + 1, len(items))]
    return [
        tuple([items[k] for k in places])
        for places in list(itertools.combinations(range(len(items)), r))
    ]


def filtered(function, items):
    result = []
    for item in items:
        if function is None:
            if item:
                result.append(item)
        elif function(item):
            result.append(item)
    return result


def starmapped(function, rows):
    return [function(*row) for row in rows]


def zipped(first, second, third=None, *, strict=False):
    count = min(len(first), len(second))
    if third is not None:
        count = min(count, len(third))
    if strict:
        check_lengths(count, first, second, third)
    if third is None:
        return [(first[k], second[k]) for k in range(count)]
    return [(first[k], second[k], third[k]) for k in range(count)]


def numbered(items, start=0):
    return [(start + k, items[k]) for k in range(len(items))]


def backwards(items):
    return [items[len(items) - 1 - k] for k in range(len(items))]
