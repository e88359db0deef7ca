"""Library functions that write into an array: all modes, with and without types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

PROGRAMS: list[Any] = []
X = np.array([0.3, -1.7, 2.2, 0.6])
W = np.array([1.0, 0.5, -2.0, 1.5])
M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4], [1.0, 0.2, 0.9]])
K = np.array([0, 2, 2, 1])


def program(*args: Any, wrt: Any = 0, **kwargs: Any) -> Callable[[Any], Any]:
    def register(fn: Any) -> Any:
        PROGRAMS.append(pytest.param(fn, args, wrt, kwargs, id=fn.__name__))
        return fn

    return register


# ---- out= ----


@program(X, W, wrt=(0, 1))
def out_by_name_and_position(x, w):
    u = np.empty_like(x)
    np.multiply(x, w, out=u)
    np.add(u, x, u)
    y = np.sin(u, out=u)
    return np.sum(y * u * x)


@program(X, W, wrt=(0, 1))
def out_in_a_loop(x, w):
    y = x.copy()
    for k in range(3):
        y = np.multiply(y, x, out=y)
        np.add(y, w, out=y)
    return np.sum(y**2)


@program(X, W, wrt=(0, 1))
def out_is_a_view(x, w):
    u = x * w
    np.multiply(u[:-1], x[1:], out=u[1:])
    np.subtract(u[::-1], w, out=u)
    return u * x


@program(X, W, wrt=(0, 1))
def out_in_a_tuple(x, w):
    y = x * w
    np.add(x, y, out=(y,))
    np.greater(x, 0.5, out=(m := np.zeros(4, bool)))
    return np.sum(y * y * m)


@program(X, W, wrt=(0, 1))
def out_broadcasts(x, w):
    u = np.ones((2, 4))
    np.multiply(x, w[0], out=u)
    u[1] *= x
    return u


@program(M, M + 1, wrt=(0, 1))
def out_of_products_and_reductions(a, b):
    c = np.empty((3, 3))
    np.dot(a, b, out=c)
    d = np.matmul(a, c, out=np.zeros((3, 3)))
    s = np.zeros(3)
    np.sum(a * c, axis=0, out=s)
    e = np.zeros(3)
    a.sum(1, None, e)
    return np.sum(c * d) + np.sum(s**2) + s @ e


@program(X, W, wrt=(0, 1))
def out_of_methods(x, w):
    y = x * w
    y.clip(-1, 1.1, out=y)
    np.clip(y, None, 0.55, out=y)
    np.cumsum(y, out=y)
    return y @ x


@program(X, W, wrt=(0, 1))
def out_with_where(x, w):
    y = np.divide(w, x, out=np.zeros_like(x), where=x > 0)
    z = x * w
    np.log(z, out=z, where=z > 0)
    return np.sum(y**2) + np.sum(z * y)


def test_out_with_where_divides_by_nothing():
    def quotient(x, w):
        return np.sum(np.divide(w, x, out=np.zeros_like(x), where=x != 0))

    x, w = np.array([0.0, 2.0]), np.array([3.0, 5.0])
    with np.errstate(all="raise"):
        gx, gw = sg.grad(quotient, wrt=(0, 1))(x, w)
    np.testing.assert_allclose(gx, [0.0, -1.25])
    np.testing.assert_allclose(gw, [0.0, 0.5])


# ---- filling and copying ----


@program(X, 2.5, wrt=(0, 1))
def fill(x, s):
    u = x * x
    u[1:3].fill(s * s)
    return np.sum(u * x)


@program(X, W, wrt=(0, 1))
def copyto(x, w):
    u = np.zeros(4)
    np.copyto(u, x * w)
    np.copyto(u, w, where=x > 0.5)
    np.copyto(u[:1], x[1])
    return np.sum(u**2 * x)


@program(X, W, wrt=(0, 1))
def put(x, w):
    u = x * x
    u.put([0, -1], w)
    np.put(u, [1, 1], w[2:])
    v = x * 2.0
    np.put(v, [7, -9], w[:1], mode="clip")
    np.put(v, [1, 2], 3.0)
    return np.sum(u * x) + np.sum(v**2)


@program(X, W, wrt=(0, 1))
def place_and_putmask(x, w):
    u = x * w
    np.place(u, x > 0.5, w[:1] * 2)
    np.putmask(u, x < 0, w[:3])
    v = x * w
    np.place(v, x > 0, [w[0], w[1] * x[0], 3.0])
    return np.sum(u**2 * x) + np.sum(v**2)


@program(M, np.array([1.0, 2.0, 3.0]), 0.7, wrt=(0, 1, 2))
def fill_diagonal(a, d, s):
    b = a * a
    np.fill_diagonal(b, d * s)
    c = a[:2] * 2.0
    np.fill_diagonal(c, s)
    e = np.zeros((5, 2))
    np.fill_diagonal(e, d[:2], wrap=True)
    return np.sum(b**2) + np.sum(c * c) + np.sum(e**3)


@program(M, np.array([[2], [0], [1]]), np.array([[1.0], [2.0], [3.0]]), wrt=(0, 2))
def put_along_axis(a, i, v):
    b = a * a
    np.put_along_axis(b, i, v * v, axis=1)
    np.put_along_axis(b, np.array([0, 5]), v[0, 0], None)
    return np.sum(b**2)


@program(X, W, wrt=(0, 1))
def flat(x, w):
    y = np.outer(x, w)
    y.flat[3] = x[0]
    y.flat[4:8] = w * x
    y.flat[::5] = w[1]
    return np.sum(y**2) + y.flat[2] * x[1]


# ---- order ----


@program(M)
def sort(a):
    b = a * a
    b.sort(axis=0)
    c = a.copy()
    c.sort()
    return np.sum(b * np.arange(9.0).reshape(3, 3)) + np.sum(c[:, 0] ** 2)


@program(X)
def sort_of_a_view_in_a_loop(x):
    y = x * x
    for k in range(3):
        y[k:].sort()
        y[k] *= x[k]
    return y


def test_partition():
    def smallest(x):
        y = x * x
        y.partition(1)
        return y[0] * 2.0 + y[1]

    check(smallest, X, specialize=(True,))


# ---- ufunc.at ----


@program(X, W, K, wrt=(0, 1))
def add_at(x, w, k):
    y = x * x
    np.add.at(y, k, w)
    np.subtract.at(y, k, 2.0 * x)
    np.add.at(y, slice(1, 3), w[:2])
    for i in range(2):
        np.add.at(y, k[i:], y[i] * w[i:])
        y *= 1.5
    return np.sum(y**3)


@program(X, 0.7, K, wrt=(0, 1))
def add_at_broadcasts(x, s, k):
    y = np.zeros((4, 2))
    np.add.at(y, k, np.stack([x, x * s], axis=1))
    np.add.at(y, (k, 1), s)
    return y * y


@program(X, W, K, wrt=(0, 1))
def add_at_views_itself(x, w, k):
    y = x * w
    np.add.at(y[1:], k[:2], y[:2] * w[2:])
    return y**2


@program(X, W, np.array([0, 2, 1]), wrt=(0, 1))
def multiply_and_divide_at(x, w, k):
    y = x * x
    np.multiply.at(y, k, w[:3])
    np.divide.at(y, k, w[1:])
    return np.sum(y**3)


@program(X, W, K, wrt=(0, 1))
def maximum_and_minimum_at(x, w, k):
    y = x * x
    np.maximum.at(y, k, w)
    np.minimum.at(y, k, w * 0.4)
    return np.sum(y**3)


@pytest.mark.parametrize(("fn", "args", "wrt", "kwargs"), PROGRAMS)
def test_program(fn, args, wrt, kwargs):
    check(fn, *args, wrt=wrt, **kwargs)


@pytest.mark.parametrize("typed", [True, False])
def test_multiply_at_refuses_repeated_indices(typed):
    def scale(x, k):
        y = x * x
        np.multiply.at(y, k, x[:2])
        return np.sum(y)

    with pytest.raises(sg.SrcgradError, match="names an element twice"):
        sg.grad(scale, specialize=typed)(X, np.array([1, 1]))


@pytest.mark.parametrize("x", [[1.0, 5.0], [5.0, 1.0]])
@pytest.mark.parametrize("typed", [True, False])
def test_a_list_sorts_itself(x, typed):
    def ordered(x):
        rows = [x[0] * 2.0, x[1]]
        rows.sort()
        return rows[0] + 3.0 * rows[1]

    expected = [2.0, 3.0] if 2.0 * x[0] < x[1] else [6.0, 1.0]
    assert list(sg.grad(ordered, specialize=typed)(np.array(x))) == expected
    tangent = sg.jvp(ordered, specialize=typed)(np.array([1.0, 10.0]), np.array(x))[1]
    assert tangent == expected[0] + 10.0 * expected[1]


def test_second_derivatives_of_add_at():
    def energy(x, k):
        y = np.zeros(4)
        np.add.at(y, k, x * x)
        return np.sum(y**2)

    first, weights = sg.grad(energy), np.arange(1.0, 5.0)
    _, got = sg.vjp(first)(weights, X, K)
    step = 1e-5 * np.eye(4)
    slopes = [weights @ (first(X + h, K) - first(X - h, K)) / 2e-5 for h in step]
    np.testing.assert_allclose(got, slopes, rtol=1e-8)


def test_random_numbers_drawn_into_an_array():
    rng = np.random.default_rng(3)

    def noisy(x, seed):
        u = x * x
        rng.standard_normal(out=u)
        return np.sum(u * x)

    expected = np.random.default_rng(3).standard_normal(4)
    np.testing.assert_array_equal(sg.grad(noisy)(X, 0), expected)


def test_text_reads_as_stores():
    def scatter(x, k):
        y = x.copy()
        np.add.at(y, k, x)
        y.sort()
        return np.sum(y * y)

    text = sg.source(scatter, X, K)
    assert "    np.add.at(y, k, x)\n" in text
    assert " = np.sort(y)\n" in text
    assert "    y[...] = t" in text
