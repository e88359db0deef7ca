"""Constructs of ordinary Python that programs use around their arithmetic."""

from __future__ import annotations

import bisect
import contextlib
import enum
import functools
import heapq
import statistics

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, 0.4, 1.1])


# ---- imports that fail, in an arm that does not run ----


def imports_what_is_not_there(x, k):
    if k > 2:
        if k > 3:
            from no_such_package.inside import sin
        else:
            import no_such_package.inside as sin
        return sin(x)
    return np.sum(x * x)


@pytest.mark.parametrize("typed", [True, False])
def test_an_import_fails_where_the_program_comes_to_it(typed):
    check(imports_what_is_not_there, X, 1)
    for k in (3, 4):
        with pytest.raises(ModuleNotFoundError, match="no_such_package"):
            sg.grad(imports_what_is_not_there, specialize=typed)(X, k)


def raises_either_way(x, k):
    if k > 2:
        if k > 3:
            raise ValueError("more than three")
        else:
            raise KeyError("three")
        x = x * 3.0
        return np.sum(x)
    return np.sum(x * x)


def test_code_behind_a_branch_that_leaves_either_way():
    check(raises_either_way, X, 1)
    with pytest.raises(ValueError, match="more than three"):
        sg.grad(raises_either_way)(X, 4)


# ---- classes that inherit their constructor ----


class Base:
    def __init__(self, k):
        self.k = k

    def value(self, t):
        return self.k * t


class Shifted(Base):
    def __init__(self, k, m):
        super().__init__(k)
        self.m = m

    def value(self, t):
        return super().value(t) ** 2 + self.m


class Doubled(Shifted):
    def value(self, t):
        return super().value(t) * 2.0


def of_a_grandchild(x):
    return Doubled(x[0], x[1]).value(x[2])


def test_a_constructor_that_is_inherited_and_calls_that_of_its_base():
    check(of_a_grandchild, X)


# ---- the first item of an iterator that is made where it is used ----


def first_items(x):
    table = {"a": x[0] * x[1]}
    good = next(v * v for v in x if v < 0.5)
    none = next((v for v in x if v > 5.0), x[1] ** 2)
    place = next(i for i, v in enumerate(x) if v > 1.0)
    first = next(iter(table.values())) * next(iter(x)) * next(reversed(x))
    return good * none + x[place] ** 2 + first * next(map(lambda v: v * v, x))


def first_of_a_nest(x):
    s = 0.0
    for k in range(3):
        s += next((v * w for v in x for w in x if v * w < x[k] and v > 0.5), x[0] * x[k])
    return s


def none_is_found(x):
    return next(v for v in x if v > 5.0)


@pytest.mark.parametrize("f", [first_items, first_of_a_nest])
def test_first_items(f):
    check(f, X)
    sg.check_grads(f, (X,))


@pytest.mark.parametrize("typed", [True, False])
def test_no_first_item_is_pythons_own_error(typed):
    with pytest.raises(StopIteration):
        sg.grad(none_is_found, specialize=typed)(X)


# ---- contextlib.suppress is a `try` whose handler does nothing ----


def suppressed(x, k):
    s = x[0]
    with contextlib.suppress(ValueError, KeyError):
        s = s * x[1]
    with contextlib.suppress(ZeroDivisionError):
        k = 1 // k
        s = s * x[2]
    return s * x[2]


@pytest.mark.parametrize("typed", [True, False])
def test_suppressed_errors(typed):
    check(suppressed, X, 1)
    check(suppressed, X, 0)  # raised before anything was done
    with pytest.raises(sg.SrcgradError, match="an exception was handled"):
        sg.grad(suppressed_late, specialize=typed)(X)


def suppressed_late(x):
    s = x[0]
    with contextlib.suppress(KeyError):
        s = s * x[1]
        s = s * {}["a"]
    return s


# ---- whole numbers with names, places in a table, order ----


class Place(enum.IntEnum):
    FIRST = 0
    SECOND = 1


class Odd(enum.IntEnum):
    ONE = 1

    def __add__(self, other):
        return 7


def named_places(x):
    return x[Place.FIRST] * x[Place.SECOND] ** (Place.SECOND + 1) * len(Place.FIRST.name)


def odd_sum(x):
    return x[0] * (Odd.ONE + 1)


def chosen_place(x, place):
    return x[place] ** 2 if place is Place.SECOND else x[0]


def every_place(x):
    s = 0.0
    for i, j in np.ndindex(3, 3):
        if i > j:
            continue
        s = s + x[i] * x[j] ** 2
    for (i,), v in np.ndenumerate(x):
        s = s + v * v * i
    for place in np.ndindex(2, 1, 2):
        s += x[place[0]] * x[place[2]]
    return s + sum(x[i] for (i,) in np.ndindex(x.shape))


def starred(x):
    a, *rest = x
    return a * sum(rest)


def ordered(x):
    least, largest = heapq.nsmallest(2, x), heapq.nlargest(1, list(x), key=lambda v: -v)
    place = bisect.bisect_left([0.1, 0.5, 0.9], x[0])
    return sum(least) ** 2 + largest[0] * x[place]


def harmonic(x):
    weighted = statistics.harmonic_mean(list(x), weights=[1.0, 2.0, 3.0])
    return statistics.harmonic_mean(x) ** 2 * weighted


@pytest.mark.parametrize("f", [named_places, every_place, starred, ordered, harmonic, odd_sum])
def test_places_and_order(f):
    check(f, X)
    sg.check_grads(f, (X,))


def test_a_named_number_as_an_argument():
    for place in (*Place, 1):
        check(chosen_place, X, place)


# ---- objects, at second order in any mix of modes ----


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b + other.b)

    def __mul__(self, k):
        return Pair(self.a * k, self.b * k)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.a * other.a + self.b * other.b

    @functools.cached_property
    def product(self):
        return self.a * self.b


def of_pairs(x):
    p, q = Pair(x[0], x[1]), Pair(x[1], x[2])
    return (p + q) @ (2.0 * p) * q.product


def of_changed_pair(x):
    p = Pair(x[0], x[1])
    p.a = p.a * p.a * p.b
    return p.a * p.b


@pytest.mark.parametrize("f", [of_pairs, of_changed_pair, of_a_grandchild])
@pytest.mark.parametrize("typed", [True, False])
def test_objects_in_reverse_over_reverse(f, typed):
    sg.check_grads(f, (X,))
    gradient = sg.grad(f, specialize=typed)
    again = sg.jacobian(gradient, mode="reverse", specialize=typed)(X)
    np.testing.assert_allclose(again, sg.hessian(f)(X), rtol=1e-9, atol=1e-12)


# ---- functions chosen by the class of an argument ----


@functools.singledispatch
def size_of(shape, k=1.0):
    return 0.0 * k


@size_of.register
def _(shape: Pair, k=1.0):
    return shape.a * shape.b * k


@size_of.register(float)
def _(shape, k=1.0):
    return shape * shape * k


@size_of.register
def _(shape: np.ndarray, k=1.0):
    return np.sum(shape**3) * k


def sizes(x):
    pair = Pair(x[0], x[1])
    return size_of(pair) * size_of(x, x[2]) + size_of(x[1], k=x[0]) + size_of("text")


def size_of_unknown(x):
    return size_of(x)


def test_single_dispatch():
    sg.check_grads(sizes, (X,))
    np.testing.assert_allclose(sg.grad(size_of_unknown)(X), 3.0 * X**2)
    with pytest.raises(sg.SrcgradError, match="the class of its first argument is not known"):
        sg.grad(size_of_unknown, specialize=False)(X)
