"""Functions that call functions, that join and index in unusual ways: nothing is lost in them."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg

M = np.array([[0.5, -1.2, 0.3], [2.0, 0.7, -0.4]])
C = np.array([1.1, 2.0, 3.0, 0.5])


class Table:
    """Makes what it likes of a key."""

    def __init__(self, scale):
        self.scale = scale

    def __getitem__(self, key):
        return self.scale * key * key


class Pairs(Table):
    def __getitem__(self, key):
        return self.scale * key[0] * key[1]


TABLE, PAIRS = Table(3.0), Pairs(0.5)


def along_axis(x):
    return np.sum(np.apply_along_axis(lambda r: np.sum(r**2) * r[0], 0, x) ** 2)


def along_axis_of_a_library_function(x):
    return np.sum(np.apply_along_axis(np.cumprod, 1, x) ** 2)


def along_axis_with_arguments(x):
    return np.sum(np.apply_along_axis(lambda r, k: k * np.outer(r, r), 1, x, 2.0) ** 2)


def along_axis_by_name(x):
    return np.sum(np.apply_along_axis(np.sort, arr=x, axis=-1) * M)


def over_axes(x):
    return np.sum(np.apply_over_axes(np.prod, x, [0, 1]) ** 2)


def vectorized(x):
    return np.sum(np.vectorize(lambda v: v * v if v > 0 else 3 * v)(x) ** 2)


def vectorized_with_two_arguments(x):
    return np.sum(np.vectorize(lambda v, w: v * w if v > 0 else 3 * v)(x, x[0]) ** 2)


def half_square(v):
    return 0.5 * v * v


HALF_SQUARE = np.vectorize(half_square)


def vectorized_elsewhere(x):
    return np.sum(HALF_SQUARE(x) ** 2)


def piecewise(x):
    parts = np.piecewise(x, [x < 0.4, x > 1.0], [lambda t: t**2, 3.0, lambda t: t**3])
    return np.sum(parts**2)


def piecewise_that_overlaps(x):
    return np.sum(np.piecewise(x, [x > 0.0, x > 1.0], [np.sin, np.cos]) ** 2)


def from_function(x):
    return np.sum(np.fromfunction(lambda i, j: x[0, 0] * i + j * x[0, 1], (3, 4)) ** 2)


def keyword_dict(x):
    d = dict(a=x[0, 0], b=x * 2)
    return d["a"] * np.sum(d["b"] ** 2)


def rows(x):
    return np.sum(np.r_[x[0], x[0, 0], 1.0] ** 3)


def rows_of_matrices(x):
    return np.sum(np.r_[x, x * x] ** 3)


def rows_with_a_range(x):
    return np.sum(np.r_[x[0, 0] : 3.0 : 4j, x[1]] ** 3)


def columns(x):
    return np.sum(np.c_[x[0], x[1] * x[0]] ** 3)


def flat_loop(x):
    return sum(v**3 for v in x.flat)


def flat_sum(x):
    return np.sum(x.flat) ** 3


def ranges(x):
    return np.sum(np.arange(x[0, 0], 3.0, 0.5 + 0.1 * x[0, 1]) ** 2)


def item_of_an_object(x):
    return TABLE[x[0, 0]] + PAIRS[x[0, 1], x[1, 0]]


def item_of_an_argument(x):
    def inner(table):
        return table[x[0, 0]]

    return inner(TABLE)


def both_of_least_squares(x):
    """Two tangents of a tuple are added, not joined."""
    a = x @ x.T + np.eye(2)
    return np.sum(np.linalg.lstsq(a, x[:, 0], rcond=None)[0] ** 2)


PROGRAMS = [
    along_axis, along_axis_of_a_library_function, along_axis_with_arguments, along_axis_by_name,
    over_axes, vectorized, vectorized_with_two_arguments, vectorized_elsewhere, piecewise,
    piecewise_that_overlaps, from_function, keyword_dict, rows, rows_of_matrices,
    rows_with_a_range, columns, flat_loop, flat_sum, ranges, item_of_an_object,
    item_of_an_argument, both_of_least_squares,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(program):
    sg.check_grads(program, (M,), order=1)


# Without types a view by `flat` is a view only in a loop.
@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if p is not flat_sum], ids=lambda f: f.__name__
)
def test_gradients_without_types(program):
    typed = sg.grad(program)(M)
    np.testing.assert_allclose(sg.grad(program, specialize=False)(M), typed, rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_hessian_vector_products(program):
    direction = np.cos(np.arange(6.0)).reshape(2, 3)
    h = 1e-5
    g = sg.grad(program)
    expected = (g(M + h * direction) - g(M - h * direction)) / (2 * h)
    actual = sg.hvp(program)(direction, M)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5 * np.max(np.abs(expected)))


def bytes_of(x):
    return np.sum(np.frombuffer(x.tobytes()))


def grid(x):
    return np.sum(np.mgrid[0 : x[0, 0] : 3j])


def memory_of(x):
    return np.asarray(x.data)[0, 0] * 2


def several_results(x):
    return np.sum(np.vectorize(lambda v: (v, v * v))(x)[0])


def tensor_with_options(x):
    return np.sum(np.vectorize(half_square, otypes=[np.float32])(x))


@pytest.mark.parametrize(
    "program", [bytes_of, grid, memory_of, several_results, tensor_with_options]
)
def test_what_can_not_be_followed_is_refused(program):
    for specialize in (True, False):
        with pytest.raises((sg.SrcgradError, NotImplementedError)):
            sg.grad(program, specialize=specialize)(M)
