"""Helpers for loops, unpacking and patterns: what Python does with any iterable.

Imports only NumPy and the standard library, so that generated programs need nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from srcgrad.runtime.support.adjoints import (
    Fields,
    error,
    is_floating,
    is_number,
    of_kind,
    own,
    part,
)
from srcgrad.runtime.support.elementwise import match


def sequence(x: Any) -> Any:
    """Something that can be indexed and has a length, with the items that a loop over x gives.

    An iterator has none: its items are gone once they are taken, and others may take them.

    >>> sequence({"a": 1, "b": 2}), sequence(range(3)), sequence({4})
    (['a', 'b'], range(0, 3), [4])
    """
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return x
    if isinstance(x, list | tuple | range | str | np.flatiter):
        return x
    if isinstance(x, Iterator):
        kind = type(x).__name__
        raise TypeError(f"srcgrad can't follow a loop over an iterator ({kind}); use list(...)")
    return list(x)


def unpacked(x: Any, before: int, after: int | None = None) -> Any:
    """x as a sequence, if it has as many items as there are targets.

    Without `after` the targets are `before` names; with it there is a starred name between
    `before` and `after` others.  Raises what Python raises when the number is wrong.

    >>> unpacked((1, 2), 2)
    (1, 2)
    """
    if isinstance(x, Iterator):
        found = list(x) if after is not None else list(islice(x, before + 1))
    else:
        found = sequence(_iterable(x))
    count = len(found)
    if after is not None:
        if count < before + after:
            raise ValueError(
                f"not enough values to unpack (expected at least {before + after}, got {count})"
            )
        return found
    if count < before:
        raise ValueError(f"not enough values to unpack (expected {before}, got {count})")
    if count > before:
        raise ValueError(f"too many values to unpack (expected {before})")
    return found


def _iterable(x: Any) -> Any:
    if not isinstance(x, Iterable) and not hasattr(x, "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(x).__name__} object")
    return x


def equal_lengths(*lengths: int) -> int:
    """The common length of the arguments of `zip(..., strict=True)`.

    >>> equal_lengths(3, 3)
    3
    """
    for k, length in enumerate(lengths[1:], 2):
        if length != lengths[0]:
            word = "shorter" if length < lengths[0] else "longer"
            others = "argument 1" if k == 2 else f"arguments 1-{k - 1}"
            raise ValueError(f"zip() argument {k} is {word} than {others}")
    return lengths[0]


def is_sequence(x: Any) -> bool:
    """Does a sequence pattern of `match` accept x?

    >>> is_sequence([1]), is_sequence("ab")
    (True, False)
    """
    return isinstance(x, Sequence) and not isinstance(x, str | bytes | bytearray)


def is_mapping(x: Any) -> bool:
    """Does a mapping pattern of `match` accept x?

    >>> is_mapping({}), is_mapping([])
    (True, False)
    """
    return isinstance(x, Mapping)


def without_keys(x: Any, keys: tuple[Any, ...]) -> dict[Any, Any]:
    """What `**rest` of a mapping pattern captures.

    >>> without_keys({"a": 1, "b": 2}, ("a",))
    {'b': 2}
    """
    return {key: value for key, value in x.items() if key not in keys}


def keyed(x: Any, *keys: Any) -> Any:
    """x itself, unless its class may compute with keys that carry a derivative: `table[x]`.

    >>> keyed({0.5: 1.0}, 0.5)
    {0.5: 1.0}
    """
    if getattr(type(x), "__getitem__", None) not in _LOOK_UP:
        if any(is_number(k) or is_floating(k) for k in keys):
            raise error(
                "MissingRule",
                f"no derivative rule for indexing an object of the class {type(x).__name__} with "
                "a value that carries a derivative: call a function instead",
            )
    return x


def chosen(x: Any) -> Any:
    """What max or min gives; an array among their arguments, written into later, is refused."""
    if isinstance(x, np.ndarray):
        raise error(
            "UnsupportedSyntax",
            "max or min gives one of several arrays here, which is written into: copy it first",
        )
    return x


_CLASSES: tuple[Any, ...] = (dict, list, tuple, range, str, bytes, np.ndarray, np.generic)
_LOOK_UP = frozenset(cls.__getitem__ for cls in _CLASSES)

# They give their argument itself or a list of its keys: to the compiler, another name for it.
sequence.__srcgrad_special__ = "alias"  # type: ignore[attr-defined]
unpacked.__srcgrad_special__ = "alias"  # type: ignore[attr-defined]
keyed.__srcgrad_special__ = "alias"  # type: ignore[attr-defined]
chosen.__srcgrad_special__ = "alias"  # type: ignore[attr-defined]


def basis(x: Any) -> Any:
    """The unit vectors of the space of x, in order.

    >>> basis(np.zeros(2)), basis(3.0)
    ([array([1., 0.]), array([0., 1.])], [1.0])
    """
    if not isinstance(x, np.ndarray):
        return [1.0]
    rows = np.eye(x.size, dtype=x.dtype if x.dtype.kind in "fc" else float)
    return [row.reshape(x.shape) for row in rows]


def match_parts(ct: Any, x: Any) -> Any:
    """A cotangent of the kind of x: real parts where x, or a part of it, is real.

    >>> match_parts([1.0 + 2.0j, None], (3.0, 4))
    [1.0, None]
    """
    if isinstance(ct, list | tuple):
        return of_kind(ct, (match_parts(c, part(x, k)) for k, c in enumerate(ct)))
    if isinstance(ct, dict):
        return {k: match_parts(c, x[k]) for k, c in ct.items()}
    return match(ct, x) if is_number(ct) or isinstance(ct, np.ndarray) else ct


def own_parts(ct: Any) -> Any:
    """A cotangent in memory of its own, to whose parts others are added: lists for tuples.

    >>> own_parts((1.0, (2.0, None)))
    [1.0, [2.0, None]]
    """
    if isinstance(ct, tuple) and hasattr(ct, "_fields"):
        return of_kind(Fields(ct._fields), map(own_parts, ct))
    if isinstance(ct, Fields):
        return of_kind(ct, map(own_parts, ct))
    if isinstance(ct, list | tuple):
        return [own_parts(c) for c in ct]
    if isinstance(ct, dict):
        return {k: own_parts(c) for k, c in ct.items()}
    return own(ct)


def whole(g: Any, x: Any) -> Any:
    """The adjoint or tangent of `x[()]` as that of x, which is a number or an array.

    >>> whole(2.0, np.float64(3.0))
    2.0
    """
    if isinstance(x, dict | list | tuple):
        raise error("UnsupportedSyntax", f"an index that takes a {type(x).__name__} apart")
    return g


whole.__srcgrad_special__ = "same"  # type: ignore[attr-defined]


def named(made: list[Any], key: Any) -> Any:
    """The shadow of the namedtuple `key`, of those of its fields.

    >>> named([1.0, 2.0], np.linalg.slogdet(np.eye(2))).logabsdet
    2.0
    """
    return of_kind(Fields(key._fields), made)
