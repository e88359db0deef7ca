"""Dimensions and their names: what meets, what is left, what is shorter (see `extents`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from srcgrad.analysis.targets import Bound
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

BARE = frozenset(("?", "n", "1"))  # dimensions that have no name


def columns(shapes: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """The dimensions that meet when arrays are broadcast together."""
    rank = max(map(len, shapes), default=0)
    return [[s[k - rank + len(s)] for s in shapes if k - rank + len(s) >= 0] for k in range(rank)]


def met(column: Sequence[str]) -> str:
    """The dimension of the result where these meet: those that aren't one have one length."""
    sure = [d for d in column if d[0] == "n"]
    if sure:
        return max(sure, key=len)
    others = {d for d in column if d != "1"}
    return others.pop() if len(others) == 1 else "?" if others else "1"


def reduced(dims: tuple[str, ...], bound: Mapping[str, Bound]) -> tuple[str, ...]:
    """The dimensions left by a reduction along constant axes."""
    axis, keep = bound.get("axis", ir.Const(None)), bound.get("keepdims", ir.Const(False))
    if not isinstance(axis, ir.Const) or not isinstance(keep, ir.Const):
        return ()
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    gone = {a % len(dims) for a in axes if type(a) is int and dims}
    if len(gone) != len(axes):
        return ()
    if keep.value:
        return tuple("1" if k in gone else d for k, d in enumerate(dims))
    return tuple(d for k, d in enumerate(dims) if k not in gone)


def named(name: str, dims: tuple[str, ...]) -> tuple[str, ...]:
    """The dimensions of a variable, those that have no name called by its own."""
    return tuple(f"{d}{name}.{k}-0" if d in "?n" else d for k, d in enumerate(dims))


def known(length: object) -> str:
    if type(length) is not int or length < 0:
        return "?"
    return "1" if length == 1 else "n"


def base_of(dim: str) -> str:
    """The variable that a named length is told by."""
    if dim in BARE:
        return ""
    return dim[1:].rpartition("-")[0].rpartition(".")[0].partition("@")[0]


def shorter(dim: str, less: int) -> str:
    """A dimension that is `less` shorter.

    Example:
        >>> shorter("?u.0-2", 1), shorter("nu.0-0", 0), shorter("nu.0-0", 1), shorter("n", 1)
        ('?u.0-3', 'nu.0-0', '?u.0-1', '?')
    """
    if less == 0:
        return dim
    if dim in BARE:
        return "?"
    base, _, gone = dim[1:].rpartition("-")
    return f"?{base}-{int(gone) + less}"


def renamed(t: ty.Type, name: Callable[[str], str]) -> ty.Type:
    """A type with other names for its lengths."""
    if isinstance(t, ty.Number):
        return t
    match t:
        case ty.Array(dtype, dims):
            new = tuple(map(name, dims))
            return t if new == dims else ty.Array(dtype, new)
        case ty.Tuple(items, cls):
            return ty.Tuple(tuple(renamed(i, name) for i in items), cls)
        case ty.List(item) if item is not None:
            return ty.List(renamed(item, name))
        case ty.Dict(entries) if entries is not None:
            return ty.Dict(tuple((k, renamed(v, name)) for k, v in entries))
        case ty.ClosureType(fn, free):
            return ty.ClosureType(fn, tuple(renamed(f, name) for f in free))
        case ty.Object(cls, fields) if fields is not None:
            return ty.Object(cls, tuple((k, renamed(v, name)) for k, v in fields))
        case _:
            return t


def plain_dims(t: ty.Type) -> ty.Type:
    """A type without the names of its unknown lengths.

    Example:
        >>> import numpy as np
        >>> plain_dims(ty.Array(np.dtype(float), ("?u.0-2", "n"))).dims
        ('?', 'n')
    """
    return renamed(t, lambda d: d[0])


def plain_result(t: ty.Type | None) -> ty.Type | None:
    """The type of a result where the names of the function's own variables mean nothing."""
    return None if t is None else plain_dims(t)


def neutral(types: Iterable[ty.Type]) -> list[ty.Type]:
    """The types of arguments as the function called sees them: it knows which lengths of slices
    are one, under names that none of its own variables has.

    Example:
        >>> import numpy as np
        >>> u, v = (ty.Array(np.dtype(float), (d,)) for d in ("?u.0-2", "nv^.0-0"))
        >>> [t.dims for t in neutral([u, v, u])]
        [('?%0.#-2',), ('n',), ('?%0.#-2',)]
    """
    known: dict[str, str] = {}

    def name(dim: str) -> str:
        if dim in BARE or dim[0] == "n":
            return dim[0]
        base, _, gone = dim[1:].rpartition("-")
        return f"?{known.setdefault(base, f'%{len(known)}.#')}-{gone}"

    return [renamed(t, name) for t in types]


def slice_length(item: ir.Slice, dim: str) -> str:
    """A name for the length of a slice with constant ends, "?" where there is none."""
    ends = []
    for a in (item.lower, item.upper, item.step):
        if a is not None and not (isinstance(a, ir.Const) and isinstance(a.value, int | None)):
            return "?"
        ends.append(None if a is None else a.value)
    lower, upper, step = ends
    if step not in (None, 1, -1):
        return "?"
    if lower is None and upper is None:
        return dim
    if step == -1 or dim == "1" or (lower or 0) < 0 or (upper is not None and upper >= 0):
        return "?"
    return shorter(dim, (lower or 0) - (upper or 0))


def may_vary(t: ty.Type) -> bool:
    """Whether two values of a type may have different shapes, or be of different kinds."""
    match t:
        case ty.Array(_, dims):
            return any(d in ("?", "n") for d in dims)  # no name says how long they are
        case ty.Unknown():
            return True
        case ty.Tuple(items):
            return any(map(may_vary, items))
        case ty.List(item):
            return item is None or may_vary(item)
        case ty.Dict(parts) | ty.Object(_, parts):
            return parts is None or any(may_vary(t) for _, t in parts)
        case _:
            return False
