"""What is added to one adjoint by statements after one another."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad as sg


def kinetic(v, m):
    return 0.5 * m * v * v


def cube(x):
    return x * x * x


def drag(v, c, k):
    a = c - k * v
    return a * a - a * v


def branches(x, y):
    if x > y:
        z = x - 0.01 * x * x
    else:
        z = y * x - x * x * 2
    return z - x / y - y / x


@pytest.mark.parametrize(("fn", "args"), [
    (kinetic, (1.5, 2.0)), (cube, (0.7,)), (drag, (0.3, 0.5, 1.2)), (branches, (2.0, 0.5)),
    (branches, (0.5, 2.0)),
])  # fmt: skip
def test_values(fn, args):
    for k in range(len(args)):
        sg.check_grads(fn, args, wrt=k, order=2)


def test_like_terms_are_one():
    assert "v_bar = v * m" in sg.source(kinetic, 1.5, 2.0, wrt=(0, 1))
    assert "3.0 * x * x" in sg.source(cube, 1.0)


def test_a_negated_number_needs_no_name():
    def newton(x, e):
        f = x - e * math.sin(x)
        return x - f / (1.0 - e * math.cos(x))

    text = sg.source(newton, 1.0, 0.3, wrt=(0, 1))
    assert "_bar = -result_bar" not in text and "-(-" not in text
    sg.check_grads(newton, (1.0, 0.3), wrt=1)


def test_the_order_of_statements_is_the_same_where_one_reads_the_sum():
    def f(x, n):
        y = x
        for _ in range(n):
            y = x * y - y
        return y

    sg.check_grads(f, (0.3, 4), wrt=0, order=2)


def test_long_unpackings_keep_within_the_margin():
    def inner(x, n):
        a = b = c = d = e = g = x
        for k in range(n):
            a, b, c = a * b + k, b * c - k, c * d * a
            d, e, g = d * e * b, e * g * c, g * a * d
        return a + b + c + d + e + g

    def outer(x, n):
        return inner(x * x, n) * inner(x, n)

    text = sg.source(outer, 0.1, 3)
    assert max(map(len, text.splitlines())) <= 99
    assert np.isfinite(sg.grad(outer)(0.1, 3))
