"""Compiled forms of the helpers that derivative rules call (see `overloads`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.runtime import support

if TYPE_CHECKING:
    from srcgrad.runtime.overloads import Overloads


def rules(o: Overloads) -> None:
    elementwise(o)
    powers(o)
    orders(o)
    products(o)
    forms(o)


def elementwise(o: Overloads) -> None:
    """Functions of numbers, used on arrays element by element."""

    def of_two(one: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        made: list[Any] = []  # once something is compiled that calls it: this takes Numba long

        def given(x1: Any, x2: Any) -> Any:
            if not made:
                made.append(o.numba.vectorize(one))
            each = made[0]
            return lambda x1, x2: each(x1, x2)

        return given

    def safe_divide(x1: Any, x2: Any) -> Any:
        return x1 / x2 if x2 != 0 else 0.0

    def exp_difference(x1: Any, x2: Any) -> Any:
        if x1 == -math.inf:
            return 0.0
        return math.exp(x1 - x2) if x1 != x2 else 1.0

    o.give(support.safe_divide, of_two(safe_divide))
    o.give(support.exp_difference, of_two(exp_difference))
    o.give(support.direction, lambda x: lambda x: np.sign(x))

    def given(first: Any, second: Any) -> Any:
        if isinstance(first, o.types.NoneType):
            return lambda first, second: second
        return lambda first, second: first

    o.give(support.given, given)

    def within(a: Any, low: Any, high: Any) -> Any:
        none = o.types.NoneType
        if isinstance(low, none):
            return lambda a, low, high: a <= high
        if isinstance(high, none):
            return lambda a, low, high: a >= low
        return lambda a, low, high: (a >= low) & (a <= high)

    def below(a: Any, low: Any, high: Any) -> Any:
        if isinstance(high, o.types.NoneType):
            return lambda a, low, high: a < low
        return lambda a, low, high: (a < low) & (low <= high)

    def above(a: Any, low: Any, high: Any) -> Any:
        if isinstance(low, o.types.NoneType):
            return lambda a, low, high: a > high
        return lambda a, low, high: np.maximum(a, low) > high

    o.give(support.within, within)
    o.give(support.below, below)
    o.give(support.above, above)

    def zero_like(x: Any) -> Any:
        if o.is_array(x):
            return lambda x: np.zeros(x.shape, x.dtype)
        return lambda x: x * 0

    o.give(support.zero_like, zero_like)


def powers(o: Overloads) -> None:
    made: dict[tuple[int, int], Any] = {}

    def power_partial(x1: Any, x2: Any, m: Any, n: Any) -> Any:
        literal = o.types.IntegerLiteral
        if not isinstance(m, literal) or not isinstance(n, literal):
            return None
        key = (m.literal_value, n.literal_value)
        if key not in made:
            made[key] = o.numba.vectorize(_power(*key))
        ufunc = made[key]
        return lambda x1, x2, m, n: ufunc(x1, x2)

    o.give(support.power_partial, power_partial, literal=True)


def _power(m: int, n: int) -> Any:
    """The derivative of x1 ** x2, m times by x1 and n times by x2, for numbers."""
    roots = np.polynomial.polynomial.polyfromroots(range(m))
    polynomials = [np.polynomial.polynomial.polyder(roots, n - j) for j in range(n + 1)]
    width = max(len(p) for p in polynomials)
    table = np.zeros((n + 1, width))
    for j, p in enumerate(polynomials):
        table[j, : len(p)] = math.comb(n, j) * p

    if n == 0 and m == 1:

        def first(x1: Any, x2: Any) -> Any:
            return x2 * x1 ** (x2 - 1) if x2 != 0 else 0.0

        return first

    def partial(x1: Any, x2: Any) -> Any:
        total = 0.0
        for j in range(n + 1):
            c = 0.0
            for k in range(width - 1, -1, -1):
                c = c * x2 + table[j, k]
            if c == 0.0:
                continue
            if j == 0:
                total += c * x1 ** (x2 - m)
            elif x1 != 0:
                total += c * x1 ** (x2 - m) * math.log(x1) ** j
        return total

    return partial


# ---- orders, products, forms -------------------------------------------------------------------


def orders(o: Overloads) -> None:
    def sort_back(ct: Any, a: Any, out: Any, axis: Any) -> Any:
        if not o.is_array(a) or a.ndim != 1:
            return None

        def back(ct: Any, a: Any, out: Any, axis: Any) -> Any:
            to, given = np.argsort(a, kind="mergesort"), np.argsort(out, kind="mergesort")
            result = np.empty(a.shape, ct.dtype)
            n, i = len(a), 0
            while i < n:
                j, total = i, 0.0
                while j < n and a[to[j]] == a[to[i]]:
                    total += ct[given[j]]
                    j += 1
                j = max(j, i + 1)
                if a[to[i]] != a[to[i]]:
                    total = ct[given[i]]
                for k in range(i, j):
                    result[to[k]] = total / (j - i)
                i = j
            return result

        return back

    o.give(support.sort_back, sort_back)


def products(o: Overloads) -> None:
    """Cotangents of products of vectors and matrices."""

    def to_matrix(ct: Any, a: Any, b: Any) -> Any:
        return None if max(a.ndim, b.ndim) > 2 else (ct, a, b)

    def dot_a(ct: Any, a: Any, b: Any) -> Any:
        if not (o.is_array(a) and o.is_array(b)) or to_matrix(ct, a, b) is None:
            return None
        if a.ndim == 1 and b.ndim == 1:
            return lambda ct, a, b: ct * b
        if a.ndim == 1:
            return lambda ct, a, b: np.dot(b, ct)
        if b.ndim == 1:
            return lambda ct, a, b: np.outer(ct, b)
        return lambda ct, a, b: np.dot(ct, b.T)

    def dot_b(ct: Any, a: Any, b: Any) -> Any:
        if not (o.is_array(a) and o.is_array(b)) or to_matrix(ct, a, b) is None:
            return None
        if a.ndim == 1 and b.ndim == 1:
            return lambda ct, a, b: ct * a
        if b.ndim == 1:
            return lambda ct, a, b: np.dot(a.T, ct)
        if a.ndim == 1:
            return lambda ct, a, b: np.outer(a, ct)
        return lambda ct, a, b: np.dot(a.T, ct)

    for name in ("matmul", "dot"):
        o.give(getattr(support, f"{name}_back_a"), dot_a)
        o.give(getattr(support, f"{name}_back_b"), dot_b)


def forms(o: Overloads) -> None:
    def reshape_back(ct: Any, a: Any, order: Any) -> Any:
        return lambda ct, a, order: np.ascontiguousarray(ct).reshape(a.shape)

    def broadcast_like(t: Any, x: Any) -> Any:
        if not o.is_array(x):
            return lambda t, x: t
        if o.is_number(t):
            return lambda t, x: np.full(x.shape, t)
        return lambda t, x: np.broadcast_to(t, x.shape).copy()

    def cast_like(x: Any, a: Any) -> Any:
        return lambda x, a: x

    def to_array(items: Any) -> Any:
        if o.is_array(items):
            return lambda items: items
        if isinstance(items, o.types.UniTuple):
            return lambda items: np.array(items)
        return None

    o.give(support.reshape_back, reshape_back)
    o.give(support.broadcast_like, broadcast_like)
    o.give(support.cast_like, cast_like)
    o.give(support.to_array, to_array)
    o.give(support.array_back, _array_back(o))


def _array_back(o: Overloads) -> Callable[[Any, Any], Any]:
    """Of numbers in a row: an array stands for the list of their cotangents."""

    def array_back(ct: Any, obj: Any) -> Any:
        numbers, ndim = o.types.Number, getattr(ct, "ndim", 0)
        if ndim == 1 and isinstance(obj, o.types.List) and isinstance(obj.dtype, numbers):
            return lambda ct, obj: ct.copy()
        if ndim == 1 and isinstance(obj, o.types.UniTuple) and isinstance(obj.dtype, numbers):
            fixed, count = o.numba.np.unsafe.ndarray.to_fixed_tuple, obj.count
            return lambda ct, obj: fixed(ct, count)
        return None

    return array_back
