"""Functions that return nothing and write their results into arguments."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import srcgrad as sg

A = np.array([0.3, 0.5, -0.2, 0.9, 1.1])
B = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
G = np.array([1.0, 2.0, -1.0, 0.5, 3.0])


def stencil(steps, a, b):
    for _ in range(1, steps):
        b[1:-1] = 0.3 * (a[:-2] + a[1:-1] + a[2:]) * a[1:-1]
        a[1:-1] = 0.3 * (b[:-2] + b[1:-1] + b[2:])


def leaves_early(a, b, n):
    if n < 1:
        return
    b[:] = np.sin(a)
    if n == 1:
        return
    b *= a


def binds_the_name_again(a, b):
    b[0] = a[1] * 2
    b = b * a
    b[1] = 5.0


CASES = [
    pytest.param(stencil, (4, A, B), ("a", "b"), "b", id="stencil"),
    pytest.param(stencil, (4, A, B), "a", ("a", "b"), id="two results"),
    pytest.param(leaves_early, (A, B, 0), ("a", "b"), "b", id="left at once"),
    pytest.param(leaves_early, (A, B, 1), ("a", "b"), 1, id="left early"),
    pytest.param(leaves_early, (A, B, 2), ("a", "b"), "b", id="to the end"),
    pytest.param(binds_the_name_again, (A, B), ("a", "b"), "b", id="name bound again"),
]


def function_of(fn, out):
    """The same as a function that returns its results."""
    names = list(inspect.signature(fn).parameters)
    single = not isinstance(out, tuple)
    places = [o if isinstance(o, int) else names.index(o) for o in ((out,) if single else out)]

    def pure(*args):
        own = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
        fn(*own)
        found = tuple(own[k] for k in places)
        return found[0] if single else found

    return pure, names


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(("fn", "args", "wrt", "out"), CASES)
def test_procedure(fn, args, wrt, out, typed):
    pure, names = function_of(fn, out)
    cotangent = (G, G[::-1]) if isinstance(out, tuple) else G
    given = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    value, grads = sg.vjp(fn, wrt, out=out, specialize=typed)(cotangent, *given)
    for before, after in zip(args, given, strict=True):
        np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(value, pure(*args))

    def weighed(found):
        pairs = zip(np.atleast_2d(cotangent), np.atleast_2d(found), strict=True)
        return sum(np.sum(c * v) for c, v in pairs)

    def along(t, w, d):
        moved = [a + t * d if n == w else a for n, a in zip(names, args, strict=True)]
        return weighed(pure(*moved))

    single = isinstance(wrt, str)
    direction = np.cos(np.arange(5.0))
    total = 0.0
    for w, g in zip((wrt,) if single else wrt, (grads,) if single else grads, strict=True):
        slope = (along(1e-5, w, direction) - along(-1e-5, w, direction)) / 2e-5
        np.testing.assert_allclose(np.sum(g * direction), slope, rtol=1e-8, atol=1e-9)
        total += slope
    tangents = direction if single else (direction,) * len(wrt)
    _, dot = sg.jvp(fn, wrt, out=out, specialize=typed)(tangents, *args)
    np.testing.assert_allclose(weighed(dot), total, rtol=1e-8, atol=1e-9)


def test_what_is_returned_is_nobody_elses():
    df = sg.vjp(stencil, "a", out="b")
    value, grad = df(G, 3, A, B)
    again, _ = df(G, 3, A, B)
    value[:] = 7.0
    grad[:] = 7.0
    assert not np.any(again == 7.0)
    assert not np.any(df(G, 3, A, B)[0] == 7.0)


def test_second_derivatives():
    def products(a, b):
        b[:] = np.sin(a) * a
        b[1:] *= a[:-1]

    first = sg.vjp(products, "a", out="b")
    cotangent = (np.zeros(5), G)  # of the value, and of the gradient
    _, got = sg.vjp(first, wrt="a")(cotangent, G, A, B)
    step = 1e-5 * np.eye(5)
    slopes = [G @ (first(G, A + h, B)[1] - first(G, A - h, B)[1]) / 2e-5 for h in step]
    np.testing.assert_allclose(got, slopes, rtol=1e-7, atol=1e-9)


def test_it_pickles():
    df = pickle.loads(pickle.dumps(sg.vjp(stencil, "a", out="b")))
    np.testing.assert_array_equal(df(G, 3, A, B)[1], sg.vjp(stencil, "a", out="b")(G, 3, A, B)[1])


def test_errors_say_what_to_write():
    with pytest.raises(sg.SrcgradError, match=r'returns nothing to differentiate[\s\S]*out="B"'):
        sg.vjp(stencil, "a")(G, 3, A, B)

    def doubled(a, b):
        return a * 2

    with pytest.raises(sg.SrcgradError, match="but it returns a value"):
        sg.vjp(doubled, "a", out="b")(G, A, B)
    with pytest.raises(sg.SrcgradError, match="no parameter 'c'"):
        sg.vjp(stencil, "a", out="c")
