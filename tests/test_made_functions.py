"""Functions that are made inside a differentiated one: partials, getters, choices among lambdas,
functions in tables of the module; and what is read from records."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import operator
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

X = np.array([0.7, 1.3, 2.1])
P = namedtuple("P", "u v")
FUNCTIONS = [np.sin, np.cos]
NAMED = {"sin": np.sin, "square": lambda v: v * v}


def product(a, b, c=1.0):
    return a * b * c


def total(*parts):
    return sum(parts)


@dataclasses.dataclass
class Point:
    u: float
    v: float = 2.0


def held(x):
    a = x[0]
    f = functools.partial(product, a)
    a = a * 5.0
    return f(x[1]) + a


def in_a_loop(x):
    s = 0.0
    for i in range(3):
        f = functools.partial(product, x[i], c=float(i + 1))
        s += f(x[0])
    return s


def named_later(x):
    f = functools.partial(product, c=x[0])
    return f(x[1], x[2]) + f(b=x[0], a=2.0)


def handed_on(x):
    return sum(map(functools.partial(product, 3.0), x))


def own_names(x):
    args, kwargs = x[0], x[1]
    f = functools.partial(product, args, c=kwargs)
    return f(x[2])


def hidden(x):
    partial = lambda a, b: a * b  # noqa: E731
    return partial(x[0], x[1])


def getters(x):
    first, last = operator.itemgetter(0, -1)(x)
    p = P(first * last, x[1])
    rows = sorted([(x[2], first), (x[0], first * last)], key=operator.itemgetter(0))
    return rows[0][1] * operator.attrgetter("v")(p) + operator.methodcaller("sum")(x * x)


def chosen(x):
    f = (lambda v: v * v) if x[0] > 0.5 else (lambda w: w + 1.0)
    if x[1] > 5.0:
        g = lambda v: v  # noqa: E731
    else:
        g = np.sin
    return np.sum(f(x) * g(x))


def chosen_before(x):
    c = x[0] > 0.1
    f = (lambda v: v * v) if c else (lambda v: v)
    c = False
    return np.sum(f(x))


def from_a_list(x):
    for f in FUNCTIONS:
        x = f(x) + x
    return np.sum(x)


def from_a_table(x):
    return np.sum(NAMED["square"](x) * NAMED["sin"](x))


def largest(x):
    return max(x[0], x[1], x[2], key=lambda v: -v) * min(x[1], x[2] * 2.0, key=abs)


def chained(x):
    s = 0.0
    for v in itertools.chain.from_iterable([[x[0], x[1]], [x[2]]]):
        s += v * v
    return s


def as_dict(x):
    d = P(x[0] * x[1], x * 2.0)._asdict()
    return sum(np.sum(d[k]) for k in d) * d["u"]


def made_of_items(x):
    q = P._make([x[0], x[1] * x[2]])
    return q.u * q.v


def field_beside_a_list(x):
    """The list makes memory of all; the field of the namedtuple had no part in it."""
    p = P(x[0], x[1])
    r = sorted([x[0], x[2]])
    return r[0] * p.v


def field_written_into(x):
    rows = []
    for k in range(2):
        p = P(x[k], x * x[k])
        p.v[1] *= x[0]
        rows.append(p)
    return sum(q.u * np.sum(q.v) for q in rows)


class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def items_of_an_object(x):
    s = 0.0
    for v in Bag([x[0], x[1] * x[2]]):
        s += v * v
    return s + sum([v * w for v, w in zip(Bag(x), Bag(x * x), strict=True)])


def items_written_meanwhile(x):
    b = Bag([x[0] * 1.0, x[1] * x[2]])
    s = 0.0
    for v in b:
        s += v * v
        b.items[1] = x[0] * 3.0
    return s


def from_iterators(x):
    return np.sum(np.fromiter((v * v for v in x), float) * np.fromiter([x[0], x[1], 2.0], float))


def starred(x):
    return total(*[x[0], x[1] * x[2]]) * x[0]


PROGRAMS = [
    held, in_a_loop, named_later, handed_on, own_names, hidden, getters, chosen, chosen_before,
    from_a_list, from_a_table, largest, chained, as_dict, made_of_items, starred,
    items_of_an_object, items_written_meanwhile, from_iterators,
    field_beside_a_list, field_written_into,
]  # fmt: skip


@pytest.mark.parametrize("specialize", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f: Any, specialize: bool) -> None:
    sg.check_grads(f, (X,), order=1, specialize=specialize)
    d, h = np.array([0.3, -1.1, 0.8]), 1e-5
    df = sg.grad(f)
    slope = (df(X + h * d) - df(X - h * d)) / (2 * h)
    np.testing.assert_allclose(sg.hvp(f, specialize=specialize)(d, X), slope, rtol=1e-4, atol=1e-6)


def test_records_are_taken_apart() -> None:
    def f(x):
        p = Point(v=x[0], u=x[1])
        first, second = dataclasses.astuple(p)
        return first * second * second * dataclasses.asdict(p)["u"]

    sg.check_grads(f, (X,), order=1)


def test_tables_of_functions_are_as_they_are_now() -> None:
    df, dg = sg.grad(from_a_list), sg.grad(from_a_table)
    df(X), dg(X)
    FUNCTIONS.reverse()
    NAMED["square"] = np.exp
    try:
        sg.check_grads(from_a_list, (X,), order=1)
        x, y = X, np.cos(X) + X
        slope = (1 - np.sin(x)) * (1 + np.cos(y))
        np.testing.assert_allclose(df(X), slope)
        np.testing.assert_allclose(dg(X), np.exp(X) * (np.sin(X) + np.cos(X)))
        FUNCTIONS.append(np.exp)
        np.testing.assert_allclose(df(X), slope * (1 + np.exp(np.sin(y) + y)))
    finally:
        FUNCTIONS[:] = [np.sin, np.cos]
        NAMED["square"] = lambda v: v * v


def many(u=1.0, v=2.0):
    return u * v


STARRED = [
    lambda x: many(*[v * v for v in x[:2]]) + x[0],
    lambda x: many(*(v * v for v in x[:2])) + x[0],
    lambda x: np.hypot(*[v * v for v in x[:2]]),
    lambda x: total(*[v * v for v in x]),
]


@pytest.mark.parametrize("specialize", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("k", range(len(STARRED)))
def test_a_starred_comprehension_is_right_or_refused(k: int, specialize: bool) -> None:
    """It was taken for the empty list that it starts as."""
    with contextlib.suppress(sg.SrcgradError):
        found = sg.grad(STARRED[k], specialize=specialize)(X)
        h = 1e-6 * np.eye(3)
        slopes = [(STARRED[k](X + d) - STARRED[k](X - d)) / 2e-6 for d in h]
        np.testing.assert_allclose(found, slopes, rtol=1e-6)


def rebound(x):
    g = np.sin
    f = functools.partial(g, x)
    g = np.cos
    return np.sum(f()) + np.sum(g(x))


def kept(x):
    fs = [functools.partial(product, v) for v in x]
    return fs[0](2.0)


def stepped(x):
    it = iter(x)
    return next(it) * next(it)


@pytest.mark.parametrize("f", [rebound, kept, stepped], ids=lambda f: f.__name__)
def test_what_is_refused_has_its_place(f: Any) -> None:
    for specialize in (True, False):
        with pytest.raises(sg.SrcgradError) as caught:
            sg.grad(f, specialize=specialize)(X)
        assert caught.value.loc is not None
        assert caught.value.loc.file == __file__
