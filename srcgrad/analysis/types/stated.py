"""Results that running a function on samples would misjudge, stated instead.

The shape of `np.reshape(x, (n, m))` cannot be tried without knowing the sizes, and the length of
`np.unique(x)` depends on the values.  A rule may also state its result (`Entry.result`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcgrad.analysis.types.samples import Arg, Known, is_int
from srcgrad.ir.types import UNKNOWN, Array, List, Literal, Number, Tuple, Type


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# NumPy's and SciPy's functions, by name so that neither has to be imported.
DTYPE_BY_VALUE = _words(
    "eig eigvals roots sqrtm logm fractional_matrix_power funm lstsq real_if_close min_scalar_type"
    " schur qz ordqz polyfit genfromtxt loadtxt"
)
LENGTH_BY_VALUE = _words(
    "unique unique_all unique_counts unique_inverse unique_values nonzero flatnonzero argwhere"
    " compress extract repeat delete trim_zeros union1d intersect1d setdiff1d setxor1d bincount"
    " histogram histogram2d histogramdd histogram_bin_edges arange null_space orth"
)


def library(fn: Any) -> bool:
    module = getattr(fn, "__module__", None) or ""
    return module.partition(".")[0] in ("numpy", "scipy")


def depends_on_values(fn: Any) -> str | None:
    """Whether the "dtype" or the "length" of a result depends on values.

    Example:
        >>> depends_on_values(np.unique), depends_on_values(np.linalg.eigvals)
        ('length', 'dtype')
    """
    name = getattr(fn, "__name__", "")
    if isinstance(fn, np.ufunc) or not library(fn):
        return None
    if name in DTYPE_BY_VALUE or "scimath" in (getattr(fn, "__module__", None) or ""):
        return "dtype"
    return "length" if name in LENGTH_BY_VALUE else None


def _dim(size: Arg) -> str:
    if isinstance(size, Known) and type(size.value) is int and size.value >= 0:
        return "1" if size.value == 1 else "n"
    return "?"


def product_dim(dims: tuple[str, ...]) -> str:
    """The dimension of an array of these dimensions when flattened."""
    if all(d == "1" for d in dims):
        return "1"
    # n times ? is not one unless ? is none at all, and then it is not one either.
    return "n" if "n" in dims else "?"


def sizes(shape: Any) -> tuple[Arg, ...] | None:
    """The parts of a shape argument."""
    match shape:
        case Known(tuple() | list() as value):
            return tuple(map(Known, value))
        case Known(value) if type(value) is int:
            return (shape,)
        case Tuple(items):
            return items
        case tuple():
            return shape
        case _:
            return (shape,) if is_int(shape) else None


def _dtype(a: Any) -> np.dtype[Any] | None:
    match a:
        case Array(dtype, _):
            return dtype
        case Number(cls):
            return np.dtype(cls)
        case _:
            return None


def reshape(a: Arg, shape: Arg, *rest: Arg, **options: Arg) -> Type:
    """`np.reshape(a, shape)`, `a.reshape(shape)` and `a.reshape(n, m)`."""
    many = is_int(shape) or (isinstance(shape, Known) and type(shape.value) is int)
    wanted = sizes((shape, *rest)) if rest and many and _all_ints(rest) else sizes(shape)
    dtype = _dtype(a)
    if wanted is None or dtype is None:
        return UNKNOWN
    if len(wanted) == 1 and isinstance(a, Array) and wanted[0] == Known(-1):
        return Array(dtype, (product_dim(a.dims),))
    return Array(dtype, tuple(map(_dim, wanted)))


def _all_ints(args: tuple[Arg, ...]) -> bool:
    return all(is_int(a) or (isinstance(a, Known) and type(a.value) is int) for a in args)


def broadcast_to(array: Arg, shape: Arg, **options: Arg) -> Type:
    wanted = sizes(shape)
    dtype = _dtype(array)
    if wanted is None or dtype is None:
        return UNKNOWN
    return Array(dtype, tuple(map(_dim, wanted)))


def split(ary: Arg, *rest: Arg, **options: Arg) -> Type:
    if not isinstance(ary, Array):
        return UNKNOWN
    return List(Array(ary.dtype, ("?",) * len(ary.dims)))


def item(a: Arg, *args: Arg) -> Type:
    dtype = _dtype(a)
    if dtype is None or dtype.kind not in "biufc":
        return UNKNOWN
    return Number(type(dtype.type(0).item()))


def nothing(*args: Arg, **kwargs: Arg) -> Type:
    return Literal(None)


def extreme(*args: Arg, **options: Arg) -> Type:
    """`max` and `min` return one of the values: which one is not known."""
    match args:
        case (List(Number() as only),) | (Number() as only,):
            candidates: tuple[Arg, ...] = (only,)
        case (Tuple(items),) | (tuple() as items,):
            candidates = items
        case _:
            candidates = args
    types = {Number(type(a.value)) if isinstance(a, Known) else a for a in candidates}
    first = next(iter(types), UNKNOWN)
    return first if len(types) == 1 and isinstance(first, Number) and not options else UNKNOWN


def _gradient(f: Arg, *spacing: Arg, **options: Arg) -> Type:
    if not isinstance(f, Array) or len(f.dims) != 1 or f.dims == ("?",) or "axis" in options:
        return UNKNOWN
    return Array(np.result_type(f.dtype, np.float32 if f.dtype.kind == "f" else 0.0), f.dims)


STATED: Mapping[Any, Callable[..., Type]] = {
    np.reshape: reshape,
    np.ndarray.reshape: reshape,
    np.broadcast_to: broadcast_to,
    np.split: split,
    np.array_split: split,
    np.hsplit: split,
    np.vsplit: split,
    np.dsplit: split,
    max: extreme,
    min: extreme,
    np.gradient: _gradient,
    np.ndarray.item: item,
    np.ndarray.fill: nothing,
    np.ndarray.sort: nothing,
    np.ndarray.partition: nothing,
    np.ndarray.put: nothing,
    np.copyto: nothing,
    np.put: nothing,
    np.place: nothing,
    np.putmask: nothing,
    np.fill_diagonal: nothing,
    np.put_along_axis: nothing,
}
