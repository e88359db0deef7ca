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
from srcgrad.runtime.overloads_rules import rules
from srcgrad.runtime.support import jit


class Overloads:
    """Registers the compiled forms of helpers with Numba, once."""

    def __init__(self, numba: Any, tuple_setitem: Any) -> None:
        self.numba, self.types = numba, numba.types
        self.set_item = tuple_setitem
        self.done: set[Any] = set()

    def give(self, fn: Any, make: Callable[..., Any], literal: bool = False) -> None:
        self.done.add(fn)
        self.numba.extending.overload(fn, prefer_literal=literal, strict=False)(make)

    def register(self) -> None:
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
        return _apart(o, first, pairs, [getattr(n, "literal_value", "?") for n in names])

    def add(a: Any, b: Any) -> Any:
        if o.is_array(a) or o.is_number(a):
            return lambda a, b: a + b
        return None

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
    o.give(support.add, add)
    o.give(support.accumulate, add)
    o.give(support.item_add, item_add)


def _apart(o: Overloads, first: int, pairs: list[tuple[int, int]], names: list[str]) -> Any:
    """A function that raises when two arrays may share memory: their extents overlap."""

    def extent(a: Any) -> Any:
        low = a.ctypes.data
        high = low + a.itemsize
        for d in range(a.ndim):
            step = (a.shape[d] - 1) * a.strides[d]
            if step < 0:
                low += step
            else:
                high += step
        return (low, high) if a.size else (low, low)

    def place(k: int) -> str:
        return f"written[{k}]" if k < first else f"others[{k - first}]"

    rows = ["def check(written, others, names):"]
    for i, j in pairs:
        message = (
            f"the arguments {names[i]} and {names[j]} share memory and the function writes into "
            f"{names[i]}: pass a copy of one of them"
        )
        rows.append(f"    p, q = extent({place(i)}), extent({place(j)})")
        rows.append(f"    if p[0] < q[1] and q[0] < p[1]:\n        raise AliasError({message!r})")
    jitable = o.numba.extending.register_jitable
    text = "\n".join([*rows, "    return None", ""])
    return _written(text, "check", extent=jitable(extent), AliasError=AliasError)


def _each(o: Overloads, x: Any, what: str) -> Any:
    if isinstance(x, o.types.BaseTuple | o.types.NoneType | o.types.UnicodeType):
        return lambda x: x
    return None


# ---- broadcasting and scatter --------------------------------------------------------------


def sums(o: Overloads) -> None:
    """Sums over what broadcasting repeated; scatter-add."""
    types = o.types

    def unbroadcast(ct: Any, x: Any) -> Any:
        if o.is_number(x):
            return (lambda ct, x: ct.sum()) if o.is_array(ct) else (lambda ct, x: ct)
        if not o.is_array(x):
            return None
        if o.is_number(ct):
            return lambda ct, x: np.full(x.shape, ct)
        return _summed(o, ct, x)

    def add_at(a: Any, key: Any, g: Any) -> Any:
        return _scatter(o, a, key, g, 1)

    def subtract_at(a: Any, key: Any, g: Any) -> Any:
        return _scatter(o, a, key, g, -1)

    o.give(support.unbroadcast, unbroadcast)
    o.give(jit.add_at, add_at)
    o.give(jit.subtract_at, subtract_at)

    def real(x: Any) -> Any:
        if isinstance(x, types.Complex) or (o.is_array(x) and isinstance(x.dtype, types.Complex)):
            return lambda x: x.real
        return lambda x: x

    o.give(jit.real, real)


def _summed(o: Overloads, ct: Any, x: Any) -> Any:
    """ct summed to the shape of x; ct itself where the shapes are equal."""
    extra = ct.ndim - x.ndim
    if extra < 0:
        return lambda ct, x: np.broadcast_to(ct, x.shape).copy()
    layout = ct.layout
    ndim = x.ndim

    def fold(ct: Any, x: Any) -> Any:
        out = np.zeros(x.shape, ct.dtype)
        for place, v in np.ndenumerate(ct):
            to = place[extra:]
            for k in range(ndim):
                if x.shape[k] == 1:
                    to = set_item(to, k, 0)
            out[to] += v
        return out

    set_item = o.set_item
    if ndim == 0:
        return lambda ct, x: np.full((), ct.sum())
    if extra:
        return fold
    if layout == "C":

        def same(ct: Any, x: Any) -> Any:
            return ct if ct.shape == x.shape else fold_(ct, x)
    else:

        def same(ct: Any, x: Any) -> Any:
            return ct.copy() if ct.shape == x.shape else fold_(ct, x)

    fold_ = o.numba.extending.register_jitable(fold)
    return same


def _scatter(o: Overloads, a: Any, key: Any, g: Any, sign: int) -> Any:
    types = o.types
    if isinstance(key, types.Integer) or isinstance(key, types.SliceType):

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


# ---- reductions ------------------------------------------------------------------------------


def reductions(o: Overloads) -> None:
    """sum, max and their like with axis and keepdims."""

    def add(s: Any, v: Any) -> Any:
        return s + v

    def times(s: Any, v: Any) -> Any:
        return s * v

    def larger(s: Any, v: Any) -> Any:
        return v if v > s or v != v else s

    def smaller(s: Any, v: Any) -> Any:
        return v if v < s or v != v else s

    def both(s: Any, v: Any) -> Any:
        return s and bool(v)

    def either(s: Any, v: Any) -> Any:
        return s or bool(v)

    for fn, step, start in (
        (jit.sum, add, 0), (jit.prod, times, 1), (jit.max, larger, None),
        (jit.min, smaller, None), (jit.all, both, True), (jit.any, either, False),
    ):  # fmt: skip
        o.give(fn, _reduction(o, o.numba.extending.register_jitable(step), start), literal=True)
    o.give(jit.mean, _mean(o), literal=True)
    o.give(jit.argmax, _arg(o, np.argmax), literal=True)
    o.give(jit.argmin, _arg(o, np.argmin), literal=True)


def _axes(o: Overloads, a: Any, axis: Any) -> tuple[int, ...] | None:
    """The axes that are named, or None when they are only known when the text runs."""
    types = o.types
    if axis is None or isinstance(axis, types.NoneType | types.Omitted):
        value = getattr(axis, "value", None)
        if value is None:
            return tuple(range(a.ndim))
        return (value % a.ndim,)
    if isinstance(axis, types.IntegerLiteral):
        return (axis.literal_value % a.ndim,)
    if isinstance(axis, types.BaseTuple) and all(isinstance(t, types.IntegerLiteral) for t in axis):
        return tuple(sorted({t.literal_value % a.ndim for t in axis}))
    return None


def _flag(o: Overloads, t: Any) -> bool | None:
    if isinstance(t, bool):
        return t
    if isinstance(t, o.types.Omitted):
        return bool(t.value)
    if isinstance(t, o.types.BooleanLiteral):
        return bool(t.literal_value)
    return None


def _start(start: Any, dtype: Any) -> Any:
    """The value that a reduction begins with, of the dtype that NumPy's result has."""
    if start is None or isinstance(start, bool):
        return start
    kind = np.dtype(str(dtype))
    if kind.kind in "bi":
        return np.int64(start)
    return np.uint64(start) if kind.kind == "u" else kind.type(start)


def _reduction(o: Overloads, step: Any, start: Any) -> Any:
    def make(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if not o.is_array(a):
            return (lambda a, axis=None, keepdims=False: a) if o.is_number(a) else None
        axes, keep = _axes(o, a, axis), _flag(o, keepdims)
        if axes is None or keep is None:
            return None
        first = _start(start, a.dtype)
        if len(axes) == a.ndim and not keep:
            return _whole(step, first)
        one = o.numba.extending.register_jitable(_lines(o, step, first))
        return _over(o, one, axes, keep, a.ndim)

    return make


def _whole(step: Any, first: Any) -> Any:
    if first is not None:

        def whole(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
            s = first
            for v in a.flat:
                s = step(s, v)
            return s

        return whole

    def extreme(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if a.size == 0:
            raise ValueError("zero-size array to a reduction which has no identity")
        s = a.flat[0]
        for v in a.flat:
            s = step(s, v)
        return s

    return extreme


def _lines(o: Overloads, step: Any, first: Any) -> Any:
    """(outer, n, inner) -> (outer, inner)"""
    if first is not None:
        dtype = np.bool_ if isinstance(first, bool) else type(first)

        def lines(a: Any) -> Any:
            out = np.full((a.shape[0], a.shape[2]), first, dtype)
            for i in range(a.shape[0]):
                for k in range(a.shape[1]):
                    for j in range(a.shape[2]):
                        out[i, j] = step(out[i, j], a[i, k, j])
            return out

        return lines

    def extremes(a: Any) -> Any:
        out = np.empty((a.shape[0], a.shape[2]), a.dtype)
        if a.shape[1] == 0:
            raise ValueError("zero-size array to a reduction which has no identity")
        for i in range(a.shape[0]):
            for j in range(a.shape[2]):
                out[i, j] = a[i, 0, j]
            for k in range(1, a.shape[1]):
                for j in range(a.shape[2]):
                    out[i, j] = step(out[i, j], a[i, k, j])
        return out

    return extremes


def _over(o: Overloads, lines: Any, axes: tuple[int, ...], keep: bool, ndim: int) -> Any:
    """A reduction over `axes`, one after the other from the last."""
    jitable = o.numba.extending.register_jitable
    step: Any = None
    for axis in axes:  # innermost call first: the later axes
        step = jitable(_one_axis(o, lines, axis, ndim, step))
    left = tuple(d for d in range(ndim) if d not in axes)
    if keep:
        return lambda a, axis=None, keepdims=False: step(a)
    shape_of = jitable(_shape_of(o, left))

    def dropped(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        return step(a).reshape(shape_of(a.shape))

    return dropped


def _one_axis(o: Overloads, lines: Any, axis: int, ndim: int, before: Any) -> Any:
    set_item = o.set_item

    def one(a: Any) -> Any:
        outer, inner = 1, 1
        for d in range(axis):
            outer *= a.shape[d]
        for d in range(axis + 1, ndim):
            inner *= a.shape[d]
        flat = np.ascontiguousarray(a).reshape((outer, a.shape[axis], inner))
        return lines(flat).reshape(set_item(a.shape, axis, 1))

    if before is None:
        return one
    inner_step = o.numba.extending.register_jitable(one)
    return lambda a: inner_step(before(a))


def _shape_of(o: Overloads, left: tuple[int, ...]) -> Any:
    """The dimensions of a shape that stay."""
    if not left:
        return lambda shape: ()
    text = ", ".join(f"shape[{d}]" for d in left) + ","
    return _written(f"def shape_of(shape):\n    return ({text})\n", "shape_of")


def _written(text: str, name: str, **names: Any) -> Any:
    """A function from its text; where the number of dimensions decides what it says."""
    space: dict[str, Any] = {"np": np, **names}
    exec(text, space)
    return space[name]


def _mean(o: Overloads) -> Any:
    def make(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        axes, keep = _axes(o, a, axis), _flag(o, keepdims)
        if axes is None or keep is None:
            return None

        def mean(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
            n = 1
            for d in axes:
                n *= a.shape[d]
            return jit.sum(a, axes, keep) / n

        if len(axes) == a.ndim and not keep:
            return lambda a, axis=None, keepdims=False: jit.sum(a) / a.size
        return mean

    return make


def _arg(o: Overloads, whole: Any) -> Any:
    largest = whole is np.argmax

    def make(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        axes = _axes(o, a, axis)
        if axes is None or _flag(o, keepdims) is not False:
            return None
        if isinstance(axis, o.types.NoneType | o.types.Omitted) or axis is None or a.ndim == 1:
            return lambda a, axis=None, keepdims=False: whole(a)

        def lines(a: Any) -> Any:
            out = np.zeros((a.shape[0], a.shape[2]), np.int64)
            for i in range(a.shape[0]):
                for k in range(1, a.shape[1]):
                    for j in range(a.shape[2]):
                        old, new = a[i, out[i, j], j], a[i, k, j]
                        if (new > old if largest else new < old) or (new != new and old == old):
                            out[i, j] = k
            return out

        return _over(o, o.numba.extending.register_jitable(lines), axes, False, a.ndim)

    return make


# ---- shapes ------------------------------------------------------------------------------------


def shapes(o: Overloads) -> None:
    """clip, sign, diagonal, vander."""

    def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
        return lambda a, a_min=None, a_max=None: np.minimum(np.maximum(a, a_min), a_max)

    def sign(x: Any) -> Any:
        return lambda x: np.sign(x)

    def diagonal(a: Any) -> Any:
        return lambda a: np.diag(a)

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
