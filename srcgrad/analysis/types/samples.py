"""Sample values of given types: what a library function is run on to learn its result's type."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.ir.types import Array, Dict, List, Literal, Number, Other, Static, Tuple, Type

_LITERALS = (bool, int, float, complex, str, bytes, type(None), type(...))
_LARGE, _CAPPED = 16, 10  # a known int above the first is replaced by the second in a sample


def _token(value: Any) -> Any:
    """What tells two known values apart: `1`, `1.0` and `True` are equal in Python, not here."""
    if type(value) in _LITERALS:
        return type(value), repr(value)
    if type(value) in (tuple, list):
        return type(value), tuple(map(_token, value))
    if type(value) is slice:
        return slice, _token((value.start, value.stop, value.step))
    return type(value), id(value)


@dataclass(frozen=True, eq=False)
class Known:
    """An argument whose value is known when compiling: an axis, a shape, a dtype, a string.

    Example:
        >>> Known(1) == Known(1), Known(1) == Known(True), Known((2, None)) == Known((2, None))
        (True, False, True)
    """

    value: Any

    @functools.cached_property
    def token(self) -> Any:
        return _token(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)


# An argument of a call: its type, its value, or a tuple of arguments (a shape half known).
Arg = Type | Known | tuple["Arg", ...]


class NoSample(Exception):
    """No value of this type can be made up."""


@dataclass(slots=True)
class Maker:
    """Makes values for one run: `n` elements where a dimension is not one, `q` where that is
    unknown, lists of `length`; `apart` gives every dimension another size, `distinct` every int
    another value."""

    n: int
    q: int
    length: int
    ints: int
    apart: bool = False
    distinct: bool = False
    base: float = 0.6
    zeros: bool = False  # integer arrays of zeros, valid as indices whatever they index
    flag: bool = True
    copies: bool = False  # hand out writable arrays
    count: int = 0

    def again(self, **changes: Any) -> Maker:
        """A maker for another run that differs in these."""
        return dataclasses.replace(self, count=0, **changes)

    def __call__(self, arg: Any) -> Any:
        match arg:
            case Array(dtype, dims):
                sample = array_sample(dtype, self._shape(dims), self.base, self.zeros)
                return sample.copy() if self.copies else sample
            case Number(cls):
                return self._number(cls)
            case Known(value):
                return cap(value)
            case tuple():
                return tuple(map(self, arg))
            case Tuple(items, cls):
                values = tuple(map(self, items))
                return values if cls is tuple else cls(*values)
            case List(item):
                return [] if item is None else self._list(item)
            case Dict(items) if items is not None:
                return {key: self(item) for key, item in items}
            case Literal(value) | Static(value):
                return value
            case Other(cls) if cls in _OTHERS:
                return _OTHERS[cls](self.n)
            case _:
                raise NoSample

    def _list(self, item: Type) -> list[Any]:
        first = self(item)  # the items of a list of arrays have to fit one another
        alike = isinstance(first, np.ndarray)
        return [first if alike or i == 0 else self(item) for i in range(self.length)]

    def _shape(self, dims: tuple[str, ...]) -> tuple[int, ...]:
        shape = []
        for dim in dims:
            size = 1 if dim == "1" else self.n if dim == "n" else self.q
            if self.apart and dim != "1":
                self.count += 1
                size += self.count
            shape.append(size)
        return tuple(shape)

    def _number(self, cls: type) -> Any:
        self.count += 1
        if cls is bool or cls is np.bool_:
            return cls(self.flag)
        if issubclass(cls, int | np.integer):
            return cls(self.ints + (3 * self.count) % 7 if self.distinct else self.ints)
        if issubclass(cls, float | np.floating):
            return cls(self.base + 0.03125 * self.count)
        if issubclass(cls, complex | np.complexfloating):
            return cls(complex(self.base + 0.03125 * self.count, 0.25))
        raise NoSample


_OTHERS: Mapping[type, Any] = {
    str: lambda n: "a",
    range: range,
    slice: lambda n: slice(None),
}


def cap(value: Any) -> Any:
    """A known int used as a size may be a million; only whether it is one matters here."""
    if type(value) is int and _LARGE < value < 2**62:
        return _CAPPED
    if type(value) is tuple:
        return tuple(map(cap, value))
    return value


@functools.lru_cache(maxsize=512)
def array_sample(
    dtype: np.dtype[Any], shape: tuple[int, ...], base: float, zeros: bool
) -> np.ndarray[Any, Any]:
    """A read-only array: distinct positive values, square matrices symmetric and dominated by
    their diagonals, integers usable as indices.

    Example:
        >>> array_sample(np.dtype(float), (3,), 0.5, False)
        array([0.5   , 0.5625, 0.625 ])
    """
    size = math.prod(shape)
    count = np.arange(size)
    values: Any
    if dtype.kind in "iu":
        values = (0 * count if zeros else count % 2).reshape(shape)
    elif dtype.kind == "b":
        values = (count % 2 == 0).reshape(shape)
    elif dtype.kind in "fcO":
        values = (base + 0.0625 * count).reshape(shape)
    else:
        raise NoSample
    square = len(shape) >= 2 and shape[-1] == shape[-2] > 1 and dtype.kind != "b"
    if square and not zeros:
        values = values + np.swapaxes(values, -1, -2)
        values = values + np.eye(shape[-1], dtype=values.dtype) * (2 * shape[-1] + 2)
    elif dtype.kind == "c":
        values = values * (1 + 0.25j)
    sample = np.array(values, dtype=dtype)
    sample.flags.writeable = False
    return sample


def is_int(arg: Any) -> bool:
    """Whether an argument is an int of unknown value."""
    if not isinstance(arg, Number) or arg.cls is bool:
        return False
    return issubclass(arg.cls, int | np.integer)


@dataclass(slots=True)
class Traits:
    """What of the arguments decides which runs are needed."""

    variable: int = 0  # dimensions whose size is open
    unsure: bool = False  # a dimension or length that may be one
    ints: bool = False  # an int of unknown value


def traits(args: Any, found: Traits) -> Traits:
    for arg in args:
        match arg:
            case Array(_, dims):
                found.variable += sum(map(functools.partial(operator.ne, "1"), dims))
                found.unsure |= "?" in dims
            case List(item):
                found.unsure = True
                traits(() if item is None else (item,), found)
            case Tuple(items) | tuple(items):
                traits(items, found)
            case Dict(items) if items is not None:
                traits([item for _, item in items], found)
            case _:
                found.ints |= is_int(arg)
    return found
