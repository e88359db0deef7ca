"""What a function writes into memory from outside: fine without a derivative, refused with one."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg

X = np.array([0.5, 0.2, 0.1])
W = np.array([1.0, 2.0, 3.0])
CACHE = {"w": np.zeros(3)}
BUFFER = np.zeros(3)


class Holder:
    b = np.zeros(3)


HOLDER = Holder()


def own_array_in_a_tuple_with_a_global(x):
    state = (np.zeros(3), W)
    u = state[0]
    u[:] = x * state[1]
    return np.sum(u)


def copies_of_globals(x):
    w, v, z = W.copy(), W * 2, W[[0, 1]]
    w[0], v[1], z[0] = x[0], x[1], x[2]
    return np.sum(w * v) + z.sum()


def counts_calls(x):
    CACHE["n"] = 3
    BUFFER[0] = 1.0
    return np.sum(x)


def put(b, x):
    b[:] = x


def part_of_a_dict(x):
    CACHE["w"][:] = x
    return np.sum(CACHE["w"])


def view_of_a_view(x):
    b = BUFFER
    c = b[1:]
    c[0] = x[0]
    return np.sum(BUFFER)


def attribute_of_an_object(x):
    HOLDER.b[:] = x
    return np.sum(HOLDER.b**2)


def new_attribute(x):
    HOLDER.k = x[0]
    return HOLDER.k * 2


def through_out(x):
    np.add(x, 1.0, out=BUFFER)
    return np.sum(BUFFER)


def in_place_operator(x):
    b = BUFFER
    b += x
    return np.sum(BUFFER)


def by_a_callee(x):
    put(BUFFER, x)
    return np.sum(BUFFER)


def through_a_memoryview(x):
    y = x.copy()
    raw = memoryview(y)
    raw[0] = 7.0
    return np.sum(y**2)


def into_integers(x):
    y = np.zeros(3, dtype=int)
    np.multiply(x, 10.0, out=y, casting="unsafe")
    return np.sum(y * 1.0)


TYPED = pytest.mark.parametrize("typed", [True, False])


@TYPED
@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (own_array_in_a_tuple_with_a_global, [1, 2, 3]),
        (copies_of_globals, [2, 2, 1]),
        (counts_calls, [1, 1, 1]),
    ],
)
def test_right(fn, expected, typed):
    np.testing.assert_array_equal(sg.grad(fn, specialize=typed)(X), expected)


@TYPED
@pytest.mark.parametrize(
    "fn",
    [
        part_of_a_dict,
        view_of_a_view,
        attribute_of_an_object,
        new_attribute,
        through_out,
        in_place_operator,
        by_a_callee,
        through_a_memoryview,
        into_integers,
    ],
)
def test_refused(fn, typed):
    before = BUFFER.copy()
    with pytest.raises(sg.SrcgradError):
        sg.grad(fn, specialize=typed)(X)
    np.testing.assert_array_equal(BUFFER, before)


# ---- arrays from outside that are not plain ones ---------------------------------

MASKED = np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)


def multiplied(x):
    return (MASKED * x).sum()


def summed(x):
    return np.sum(np.multiply(MATRIX, x))


def power_of_a_matrix(x):
    return np.sum(MATRIX * MATRIX * x)


def given(x, weights):
    return np.sum(x * weights)


def converted(x):
    return np.sum(np.asarray(MATRIX) * x) + float(MASKED.sum()) * x


@pytest.mark.parametrize("specialize", [True, False])
def test_subclasses_with_a_meaning_of_their_own_are_refused(specialize: bool) -> None:
    for f in (multiplied, summed, power_of_a_matrix):
        with pytest.raises(sg.SrcgradError, match="no derivative rule"):
            sg.grad(f, specialize=specialize)(1.5)
        with pytest.raises(sg.SrcgradError, match="no derivative rule"):
            sg.jvp(f, specialize=specialize)(1.0, 1.5)
    with pytest.raises(sg.SrcgradError, match="of a MaskedArray: it is a subclass of ndarray"):
        sg.grad(given, specialize=specialize)(X, MASKED)
    assert sg.grad(converted, specialize=specialize)(1.5) == 14.0


def test_subclasses_that_change_no_operator_are_taken(tmp_path) -> None:
    weights = np.memmap(tmp_path / "weights", float, "w+", shape=3)
    weights[:] = W
    assert np.array_equal(sg.grad(given)(X, weights), W)
