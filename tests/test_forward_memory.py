"""Forward mode: the tangent of a copy is a copy, even where its formula is the operand's own."""

from __future__ import annotations

import linecache
import textwrap

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

COPIES = [
    "-(-x)",
    "x + 0.62",
    "x * 1.0",
    "np.add(x, 1.0)",
    "np.maximum(x, -5.0)",
    "x.astype(float)",
    "np.clip(x, -5.0, 5.0)",
    "np.where(x > -9.0, x, x)",
    "np.positive(x)",
    "[x + 1.0][0]",
    "(x + 1.0)[::-1]",
    "np.concatenate([x])",
    "sum([x])",
]
WRITES = [
    "x[0] = 0.5",
    "x *= 2.0",
    "x[:] = np.sin(x)",
    "np.multiply(x, 2.0, out=x)",
    "x[1:] += x[:-1]",
    "x.sort()",
]


def from_source(text):
    text = textwrap.dedent(text).lstrip()
    name = f"<{text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"np": np}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("typed", [True, False])
def test_writing_to_what_was_copied(copy, write, typed):
    f = from_source(
        f"""
        def f(x):
            c = {copy}
            {write}
            return (c * c).sum() + c[0] * x[1]
        """
    )
    x, x_dot = np.array([0.3, -0.7, 1.1]), np.array([0.4, 1.0, -0.8])
    step = 1e-6 * x_dot
    expected = (f(x + step) - f(x - step)) / 2e-6
    assert sg.jvp(f, specialize=typed)(x_dot, x)[1] == pytest.approx(expected, rel=1e-6)
    assert sg.grad(f, specialize=typed)(x) @ x_dot == pytest.approx(expected, rel=1e-6)


def shifted(x):
    return x + 1.0


def swapped(x, y):
    u, v = x, y
    for _ in range(3):
        u, v = v, u
    return u[1:] - 0.0


@pytest.mark.parametrize("typed", [True, False])
def test_results_share_no_memory_with_the_tangents_given(typed):
    x, x_dot, y_dot = np.ones(3), np.ones(3), np.arange(3.0)
    assert not np.shares_memory(sg.jvp(shifted, specialize=typed)(x_dot, x)[1], x_dot)
    result = sg.jvp(swapped, wrt=(0, 1), specialize=typed)((x_dot, y_dot), x, x)[1]
    assert not np.shares_memory(result, x_dot)
    assert not np.shares_memory(result, y_dot)
    assert np.array_equal(result, y_dot[1:])


def listed(x):
    parts = [x[-2] - 0.25, x[0] / 2.0]
    parts.append(np.tanh(parts[-1]))
    x[0] = 2.0
    return np.sum(np.array(parts)) + np.sum(x)


def test_a_tangent_that_is_bound_late_belongs_to_a_value_with_a_name():
    check(listed, np.array([0.3, 0.7, -0.4]), wrt=0)


def element_by_element(x, s):
    for i in range(1, 3):
        x[i] -= s
    return 0.85 + x[0] * x[2]


@pytest.mark.parametrize("typed", [True, False])
def test_elements_are_not_copied(typed):
    x, x_dot = np.array([0.3, -0.7, 1.1]), np.array([0.4, 1.0, -0.8])
    jvp = sg.jvp(element_by_element, specialize=typed)
    assert jvp(x_dot, x, 0.5)[1] == pytest.approx(0.4 * 0.6 - 0.8 * 0.3)
    if typed:
        assert "copy" not in jvp.source
