"""Containers of numbers and arrays as vectors of real numbers, and back.

A leaf is a floating or complex number or array; a complex one counts as its real and its
imaginary part.  Everything else (ints, strings, None) is carried along.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Vector = np.ndarray[Any, Any]
Path = tuple[str, ...]


def is_leaf(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex | np.inexact)


def children(tree: Any) -> list[tuple[str, Any]] | None:
    """The parts of a container with how they are named; None for what is no container."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return [(f".{name}", getattr(tree, name)) for name in tree._fields]
    if isinstance(tree, tuple | list):
        return [(f"[{i}]", item) for i, item in enumerate(tree)]
    if isinstance(tree, dict):
        return [(f"[{key!r}]", item) for key, item in tree.items()]
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return [(f".{f.name}", getattr(tree, f.name)) for f in dataclasses.fields(tree)]
    return None


def mapped(tree: Any, leaf: Callable[[Any], Any], other: Callable[[Any], Any]) -> Any:
    """The same container with every leaf and everything else replaced.

    Example:
        >>> mapped({"a": 1.5, "b": (2, 3.0)}, lambda v: v * 2, lambda v: None)
        {'a': 3.0, 'b': (None, 6.0)}
    """
    parts = children(tree)
    if parts is None:
        return leaf(tree) if is_leaf(tree) else other(tree)
    items = [mapped(item, leaf, other) for _, item in parts]
    if isinstance(tree, dict):
        return dict(zip(tree, items, strict=True))
    if isinstance(tree, list):
        return items
    if isinstance(tree, tuple):
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    new = copy.copy(tree)
    for field, item in zip(dataclasses.fields(tree), items, strict=True):
        object.__setattr__(new, field.name, item)  # also where the dataclass is frozen
    return new


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    parts = children(tree)
    if parts is not None:
        for name, item in parts:
            yield from leaves(item, path + name)
    elif is_leaf(tree):
        yield path, tree


def paired(tree: Any, like: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of `tree` that stand where `like` has leaves."""
    parts = children(like)
    if parts is None:
        if is_leaf(like):
            yield tree, like
        return
    own = dict(children(tree) or ())
    for name, item in parts:
        yield from paired(own.get(name), item)


def copied(tree: Any) -> Any:
    """A copy that shares no array with the original.

    Functions and other objects in it stay the same."""
    return mapped(tree, copy.copy, lambda v: v.copy() if isinstance(v, np.ndarray) else v)


def has_floats(tree: Any) -> bool:
    return next(leaves(tree), None) is not None


def has_complex(tree: Any) -> bool:
    return any(np.iscomplexobj(leaf) for _, leaf in leaves(tree))


def is_single(tree: Any) -> bool:
    """Whether a leaf has less than double precision."""
    return any(np.asarray(leaf).real.dtype.itemsize < 8 for _, leaf in leaves(tree))


def size(tree: Any) -> int:
    """The number of real numbers in a container."""
    return sum(np.size(leaf) * (2 if np.iscomplexobj(leaf) else 1) for _, leaf in leaves(tree))


# ---- vectors ---------------------------------------------------------------------


def _vector(tree: Any, like: Any, sign: float) -> Vector:
    parts: list[Vector] = [np.zeros(0)]
    for value, leaf in paired(tree, like):
        array = np.zeros(np.shape(leaf)) if value is None else np.asarray(value)
        parts.append(np.ravel(array.real).astype(float))
        if np.iscomplexobj(leaf):
            parts.append(sign * np.ravel(np.asarray(array, dtype=complex).imag))
    return np.concatenate(parts)


def real_parts(tree: Any, like: Any) -> Vector:
    """The numbers at the leaves of `like`.

    Example:
        >>> real_parts([1.0, np.array([2j])], [1.0, np.array([2j])])
        array([1., 0., 2.])
    """
    return _vector(tree, like, 1.0)


def imaginary_parts(tree: Any) -> Vector:
    """The imaginary parts of results that are real for real arguments."""
    return np.concatenate([np.zeros(0), *(np.ravel(np.imag(leaf)) for _, leaf in leaves(tree))])


def dual(gradient: Any, like: Any) -> Vector:
    """The slopes in the real numbers of `like` that a gradient means.

    The slope along dz is the real part of `gradient * dz`: minus the imaginary part of the
    gradient is the slope in the imaginary part.
    """
    return _vector(gradient, like, -1.0)


def _filled(like: Any, vector: Vector, sign: float, other: Callable[[Any], Any]) -> Any:
    at = 0

    def take(leaf: Any) -> Any:
        nonlocal at
        shape, count = np.shape(leaf), np.size(leaf)
        values: Any = vector[at : at + count].reshape(shape)
        at += count
        if np.iscomplexobj(leaf):
            values = values + sign * 1j * vector[at : at + count].reshape(shape)
            at += count
        if isinstance(leaf, np.ndarray):
            wanted = (
                np.result_type(leaf.dtype, np.complex64) if _extra(values, leaf) else leaf.dtype
            )
            return values.astype(wanted)
        return complex(values) if _extra(values, leaf) else type(leaf)(values[()])

    return mapped(like, take, other)


def _extra(values: Any, leaf: Any) -> bool:
    """Whether a real leaf is to be made complex, for a complex step."""
    return np.iscomplexobj(values) and not np.iscomplexobj(leaf)


def rebuilt(like: Any, vector: Vector) -> Any:
    """`like` with these numbers at its leaves, and copies of everything else."""
    return _filled(like, vector, 1.0, copied_other)


def copied_other(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def tangent(like: Any, vector: Vector) -> Any:
    """A tangent of `like`: None where it has no leaf.

    Example:
        >>> tangent((1.0, 3), np.array([0.5]))
        (0.5, None)
    """
    return _filled(like, vector, 1.0, lambda value: None)


def cotangent(like: Any, weights: Vector) -> Any:
    """The cotangent of the sum of the numbers in `like` with these weights."""
    return _filled(like, weights, -1.0, lambda value: None)


def doubled(tree: Any) -> Any:
    """The same values in double precision."""

    def double(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return leaf.astype(np.result_type(leaf.dtype, np.float64))
        if isinstance(leaf, np.inexact) and leaf.dtype.itemsize < 8 * (1 + np.iscomplexobj(leaf)):
            return np.complex128(leaf) if np.iscomplexobj(leaf) else np.float64(leaf)
        return leaf

    return mapped(tree, double, copied_other)


def labels(chosen: Any, names: list[str]) -> list[tuple[str, str]]:
    """For each real number the argument it is in, and where.

    Example:
        >>> labels(({"a": np.zeros(2)}, 1j), ["p", "z"])
        [('p', "['a'][0]"), ('p', "['a'][1]"), ('z', 'real'), ('z', 'imag')]
    """
    found = []
    for name, argument in zip(names, chosen, strict=True):
        for path, leaf in leaves(argument):
            places = [
                path + (f"[{', '.join(map(str, k))}]" if k else "")
                for k in np.ndindex(np.shape(leaf))
            ]
            parts = (" real", " imag") if np.iscomplexobj(leaf) else ("",)
            found += [(name, (place + part).strip()) for part in parts for place in places]
    return found


def mismatch(tree: Any, like: Any, dtypes: bool = True) -> str | None:
    """How the leaves of `tree` differ in shape or dtype from those of `like`, if they do."""
    for value, leaf in paired(tree, like):
        if value is None:
            return " is missing"
        if np.shape(value) != np.shape(leaf):
            return f" has shape {np.shape(value)}, not {np.shape(leaf)}"
        if dtypes and isinstance(leaf, np.ndarray) and np.asarray(value).dtype != leaf.dtype:
            return f" has dtype {np.asarray(value).dtype}, not {leaf.dtype}"
    return None
