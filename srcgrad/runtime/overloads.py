"""What Numba compiles where generated text calls a helper.

Each function below is given types and returns the Python function that Numba compiles for them
(Numba's `overload`).  Numba itself comes as an argument: `srcgrad.runtime.numba` imports it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from srcgrad.errors import AliasError
from srcgrad.runtime import support
from srcgrad.runtime.overloads_reduce import reductions
from srcgrad.runtime.overloads_rules import rules
from srcgrad.runtime.support import jit
from srcgrad.runtime.support.revolve import STATE_SHARED


class Overloads:
    """Registers the compiled forms of helpers with Numba, once."""

    def __init__(self, numba: Any, tuple_setitem: Any) -> None:
        self.numba, self.types = numba, numba.types
        self.set_item = tuple_setitem
        self.done: set[Any] = set()

        jitable = numba.extending.register_jitable
        self.extent = jitable(_extent)
        extent = self.extent

        def overlap(a: Any, b: Any) -> Any:
            p, q = extent(a), extent(b)
            return p[0] < q[1] and q[0] < p[1]

        self.overlap = jitable(overlap)

    def give(self, fn: Any, make: Callable[..., Any], literal: bool = False) -> None:
        self.done.add(fn)
        self.numba.extending.overload(fn, prefer_literal=literal, strict=False)(make)

    def register(self) -> None:
        free_sums(self)
        memory(self)
        sums(self)
        reductions(self)
        shapes(self)
        rules(self)
        for module in (support, jit):
            for fn in vars(module).values():
                if isinstance(fn, FunctionType) and fn not in self.done:
                    if not fn.__name__.startswith("_") and _is_plain(fn):
                        self.done.add(fn)
                        self.numba.extending.register_jitable(fn)

    def is_array(self, t: Any) -> bool:
        return isinstance(t, self.types.Array)

    def is_number(self, t: Any) -> bool:
        t = getattr(t, "literal_type", t)
        return isinstance(t, self.types.Number | self.types.Boolean)


def free_sums(o: Overloads) -> None:
    """`jit.plus` of floats of one width as an addition that LLVM may put in another order."""
    Float = o.types.Float

    def typed(context: Any) -> Any:
        return lambda a, b: a if isinstance(a, Float) and a == b else None

    def lowered(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args, flags=("reassoc",))

    o.numba.extending.type_callable(jit.plus)(typed)
    o.numba.extending.lower_builtin(jit.plus, Float, Float)(lowered)
    o.give(jit.plus, lambda total, term: _add)


def _add(total: Any, term: Any) -> Any:
    return total + term


def _extent(a: Any) -> Any:
    """The addresses that an array lies between."""
    low = a.ctypes.data
    high = low + a.itemsize
    for d in range(a.ndim):
        step = (a.shape[d] - 1) * a.strides[d]
        if step < 0:
            low += step
        else:
            high += step
    return (low, high) if a.size else (low, low)


def _is_plain(fn: FunctionType) -> bool:
    kinds = {p.kind for p in inspect.signature(fn).parameters.values()}
    return inspect.Parameter.VAR_KEYWORD not in kinds


# ---- memory ------------------------------------------------------------------------------


def memory(o: Overloads) -> None:
    """Copies, zeros, seeds and gradients of arguments."""
    types = o.types

    def same(x: Any) -> Any:
        if o.is_array(x):
            return lambda x: x.copy()
        if o.is_number(x):
            return lambda x: x
        return _each(o, x, "same")

    def zeros(x: Any) -> Any:
        if o.is_array(x):
            return lambda x: np.zeros(x.shape, x.dtype)
        if isinstance(getattr(x, "literal_type", x), types.Complex):
            return lambda x: 0j
        if o.is_number(x):
            return lambda x: 0.0
        return None

    def seed(x: Any) -> Any:
        if o.is_number(x) or (o.is_array(x) and x.ndim == 0):
            return lambda x: 1.0
        return None

    def gradient(g: Any, x: Any) -> Any:
        if o.is_array(x):
            if x.ndim == 0 and o.is_number(g):
                return lambda g, x: np.full((), g, x.dtype)
            if isinstance(g, types.NoneType):
                return lambda g, x: np.zeros(x.shape, x.dtype)
            return lambda g, x: g.astype(x.dtype)
        if o.is_number(x):
            if o.is_array(g):
                return lambda g, x: g.sum()
            return lambda g, x: g
        return None

    def refuse_shared(written: Any, others: Any, names: Any) -> Any:
        arrays = [k for k, t in enumerate((*written, *others)) if o.is_array(t)]
        first = len(tuple(written))
        pairs = [(i, j) for i in arrays for j in arrays if i < j and i < first]
        shown = [getattr(n, "literal_value", "?") for n in names]
        places = [f"written[{k}]" for k in range(first)]
        places += [f"others[{k}]" for k in range(len(shown) - first)]
        told = (
            "the arguments {0} and {1} share memory and the function writes into {0}: pass a copy "
            "of one of them"
        )
        return _apart(o, "written, others, names", places, pairs, told, shown)

    def state_apart(values: Any, names: Any) -> Any:
        arrays = [k for k, t in enumerate(values) if o.is_array(t)]
        pairs = [(i, j) for i in arrays for j in arrays if i < j]
        shown = [getattr(n, "literal_value", "?") for n in names]
        places = [f"values[{k}]" for k in range(len(shown))]
        return _apart(o, "values, names", places, pairs, STATE_SHARED, shown)

    def add(a: Any, b: Any) -> Any:
        if o.is_array(a) or o.is_number(a):
            return lambda a, b: a + b
        return None

    def accumulate(a: Any, b: Any) -> Any:
        if not isinstance(a, types.List):
            return add(a, b)

        def each(a: Any, b: Any) -> Any:
            for k in range(len(a)):
                shadow = a[k]
                shadow += b[k]
            return a

        return each if o.is_array(a.dtype) else None

    def item_add(a: Any, key: Any, g: Any) -> Any:
        if o.is_array(key) and key.dtype != types.boolean:
            return lambda a, key, g: jit.add_at(a, key, g)

        def basic(a: Any, key: Any, g: Any) -> None:
            a[key] += g

        return basic

    for fn in (support.own, support.private):
        o.give(fn, same)
    for fn in (support.zeros, support.bar):
        o.give(fn, zeros)
    o.give(support.seed, seed)
    o.give(support.gradient, gradient)
    o.give(support.refuse_shared, refuse_shared, literal=True)
    o.give(support.state_apart, state_apart, literal=True)
    o.give(support.add, add)
    o.give(support.accumulate, accumulate)
    o.give(support.item_add, item_add)


def _apart(
    o: Overloads, params: str, places: list[str], pairs: list[tuple[int, int]], told: str,
    shown: list[str],
) -> Any:  # fmt: skip
    """A function that raises when two arrays may share memory: their extents overlap."""
    rows = [f"def check({params}):"]
    for i, j in pairs:
        rows.append(f"    p, q = extent({places[i]}), extent({places[j]})")
        message = told.format(shown[i], shown[j])
        rows.append(f"    if p[0] < q[1] and q[0] < p[1]:\n        raise AliasError({message!r})")
    text = "\n".join([*rows, "    return None", ""])
    return _written(text, "check", extent=o.extent, AliasError=AliasError)


def _each(o: Overloads, x: Any, what: str) -> Any:
    if isinstance(x, o.types.BaseTuple | o.types.NoneType | o.types.UnicodeType):
        return lambda x: x
    return None


# ---- broadcasting and scatter --------------------------------------------------------------


def sums(o: Overloads) -> None:
    """Sums over what broadcasting repeated; scatter-add."""
    types = o.types

    def add_at(a: Any, key: Any, g: Any) -> Any:
        return _scatter(o, a, key, g, 1)

    def subtract_at(a: Any, key: Any, g: Any) -> Any:
        return _scatter(o, a, key, g, -1)

    o.give(jit.add_at, add_at)
    o.give(jit.subtract_at, subtract_at)

    def real(x: Any) -> Any:
        if isinstance(x, types.Complex) or (o.is_array(x) and isinstance(x.dtype, types.Complex)):
            return lambda x: x.real
        return lambda x: x

    o.give(jit.real, real)


def _scatter(o: Overloads, a: Any, key: Any, g: Any, sign: int) -> Any:
    types = o.types
    if isinstance(key, (types.Integer, types.SliceType)):

        def one(a: Any, key: Any, g: Any) -> None:
            a[key] += sign * g

        return one
    if o.is_array(key) and key.ndim == 1 and isinstance(key.dtype, types.Integer):
        if o.is_array(g) and g.ndim == a.ndim:

            def rows(a: Any, key: Any, g: Any) -> None:
                if len(g) == 1 and len(key) != 1:
                    for k in key:
                        a[k] += sign * g[0]
                else:
                    for j in range(len(key)):
                        a[key[j]] += sign * g[j]

            return rows

        def every(a: Any, key: Any, g: Any) -> None:
            for k in key:
                a[k] += sign * g

        return every
    if o.is_array(key) and isinstance(key.dtype, types.Integer) and o.is_array(g):
        if a.ndim == 1 and g.ndim == key.ndim:

            def flat(a: Any, key: Any, g: Any) -> None:
                for place, k in np.ndenumerate(key):
                    a[k] += sign * g[place]

            return flat
    if isinstance(key, types.BaseTuple):
        kinds = [o.is_array(k) for k in key]
        if all(kinds) and len(key) == a.ndim and all(k.ndim == 1 for k in key):
            return _scatter_tuple(o, len(key), o.is_array(g), sign)
    return None


def _scatter_tuple(o: Overloads, n: int, array: bool, sign: int) -> Any:
    if n == 2 and array:

        def two(a: Any, key: Any, g: Any) -> None:
            p, q = key
            for j in range(len(p)):
                a[p[j], q[j]] += sign * g[j]

        return two
    if n == 2:

        def two_same(a: Any, key: Any, g: Any) -> None:
            p, q = key
            for j in range(len(p)):
                a[p[j], q[j]] += sign * g

        return two_same
    return None


def _written(text: str, name: str, **names: Any) -> Any:
    """A function from its text."""
    space: dict[str, Any] = {"np": np, **names}
    exec(text, space)
    return space[name]


def _is(value: int, t: Any) -> bool:
    """Whether an argument is said to be this number."""
    return bool(getattr(t, "literal_value", None) == value)


# ---- shapes ------------------------------------------------------------------------------------


def shapes(o: Overloads) -> None:
    """clip, sign, diagonals, vander."""

    def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
        return lambda a, a_min=None, a_max=None: np.minimum(np.maximum(a, a_min), a_max)

    def sign(x: Any) -> Any:
        return lambda x: np.sign(x)

    def diagonal(a: Any) -> Any:
        return lambda a: np.diag(a)

    def diagonal_matrix(x: Any, rows: Any, columns: Any) -> Any:
        if x.ndim != 1:
            return None

        def one(x: Any, rows: Any, columns: Any) -> Any:
            out = np.zeros((rows, columns), x.dtype)
            for k in range(x.shape[0]):
                out[k, k] = x[k]
            return out

        return one

    def trace_back(ct: Any, a: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
        if a.ndim != 2 or not _is(0, offset) or not _is(0, axis1) or not _is(1, axis2):
            return None

        def one(ct: Any, a: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
            out = np.zeros(a.shape, a.dtype)
            for k in range(min(a.shape)):
                out[k, k] = ct
            return out

        return one

    def diag_back(ct: Any, v: Any, k: Any) -> Any:
        if v.ndim != 2 or not _is(0, k):
            return None

        def one(ct: Any, v: Any, k: Any) -> Any:
            out = np.zeros(v.shape, ct.dtype)
            for i in range(ct.shape[0]):
                out[i, i] = ct[i]
            return out

        return one

    o.give(support.diag_back, diag_back, literal=True)
    o.give(support.diagonal_matrix, diagonal_matrix)
    o.give(support.trace_back, trace_back, literal=True)

    def outer(a: Any, b: Any) -> Any:
        return lambda a, b: np.outer(a, b)

    def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
        return lambda x, N=None, increasing=False: np.vander(x, N, increasing)

    o.give(jit.outer, outer)
    o.give(jit.vander, vander)

    def matmul(a: Any, b: Any) -> Any:
        if a.ndim <= 2 and b.ndim <= 2:
            return lambda a, b: np.dot(a, b)
        return None

    o.give(jit.clip, clip)
    o.give(jit.sign, sign)
    o.give(jit.diagonal, diagonal)
    o.give(jit.matmul, matmul)
