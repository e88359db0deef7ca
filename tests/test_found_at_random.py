"""Programs that random ones were made smaller to: each is of a kind that was wrong or crashed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.3, -0.5, 0.7, 1.1])
V = np.array([0.4, -0.2, 0.9, 0.3])


# ---- a view bound in a block of its own, and used after it ----------------------------------


def view_of_with(x, s):
    with np.errstate(all="ignore"):
        v = x[1:]
    v *= s
    return v[0] * x[1] + np.sum(x)


def alias_of_with(x, s):
    with np.errstate(all="ignore"):
        v = x
    np.multiply(v, s, out=v)
    return v[0] * x[1]


def view_of_try(x, s):
    try:
        v = x[1:]
    finally:
        pass
    v *= s
    return v[0] * x[1]


def view_of_finally(x, s):
    try:
        t = s * s
    finally:
        v = x[::-1]
    v[1:] += v[:-1] * t
    return v[0] * x[1] + x[2] * x[0]


def view_of_else(x, s):
    try:
        t = s * x[0]
    except ValueError:
        t = 0.0
    else:
        v = x[1:]
    v *= t
    return v[0] * x[1]


def view_of_loop(x, s):
    for i in range(3):
        v = x[i:]
    v *= s
    return v[0] * x[3] + x[2]


@pytest.mark.parametrize(
    "fn",
    [view_of_with, alias_of_with, view_of_try, view_of_finally, view_of_else, view_of_loop],
)
def test_views_bound_in_a_block(fn):
    check(fn, X, 0.6, wrt=(0, 1))


def return_before_finally(x, s):
    try:
        if s > 0.2:
            return x[0] * x[1] * s
        x[1] = s
    finally:
        x[0] = x[1] * s
    return x[0] * x[1]


def break_before_finally(x, s):
    for i in range(3):
        try:
            if x[i] > 0.6:
                break
            x[1] = s
        finally:
            x[0] = x[1] * s
    return x[0] * x[1]


def test_finally_that_runs_behind_a_return_is_refused():
    with pytest.raises(sg.SrcgradError, match="leaves a try whose finally block"):
        sg.grad(return_before_finally)(X, 0.6)
    check(break_before_finally, X, 0.6, wrt=(0, 1))


# ---- adjoints of zero that stand for an array ------------------------------------------------


def rotated(x, y):
    for _ in range(2):
        v = y.reshape(2, 2).ravel()
        if y[0] > 0.0:
            x, y = y, v
        else:
            x, y = v, y
    return np.tanh(0.6 * x[3])


def test_a_filled_adjoint_is_not_written_into():
    check(rotated, X, X + 0.3, wrt=(0, 1))


# ---- integers where there are floats at other times ------------------------------------------


def squares_of_either(x, s):
    items = [0, 2]
    items[1] = s
    doubled = [e * e for e in items] + items
    return doubled[1] * x[0] + doubled[3]


def arrays_of_either(x, s):
    parts = [np.arange(4), x * s, np.array([True, False, True, True])]
    total = 0.0
    for part in parts:
        square = part * part
        total += np.sum(square * x)
    return total


def inserted(x, s):
    items = [0, 0]
    squares = [e * e for e in items]
    items.insert(0, s)
    return sum(squares) + sum(items) * x[0] + sum([e * e for e in items])


@pytest.mark.parametrize("fn", [squares_of_either, arrays_of_either, inserted])
def test_integers_where_there_may_be_floats(fn):
    check(fn, X, 0.6, wrt=(0, 1))


def into_integers(x, s):
    counts = np.zeros(3, dtype=int)
    counts[0] = 2
    counts[1] = s
    return counts[1] * x[0]


@pytest.mark.parametrize("typed", [True, False])
def test_a_number_stored_into_integers_is_refused(typed):
    with pytest.raises(sg.SrcgradError, match="truncates"):
        sg.grad(into_integers, wrt=(0, 1), specialize=typed)(X, 0.6)


# ---- what a callee kept for its reverse, written by its caller -------------------------------


def bump(u, t):
    w = u.copy()
    w[0] += t
    u[1] -= t * w[1]
    return w


def result_written(x, s):
    for i in range(1, 3):
        v = bump(x, x[i] * s)
        v[i] *= 0.9
    return x @ x


def bump_twice(u, t):
    w = u * t
    v = w
    u[1] = v[1] * t
    z = v
    return z


def renamed_result_written(x, s):
    v = bump_twice(x, s)
    v[1] = 5.0
    return x @ x


@pytest.mark.parametrize("fn", [result_written, renamed_result_written])
def test_a_result_that_the_caller_writes(fn):
    check(fn, X, 0.6, wrt=(0, 1))


# ---- second derivatives through what a callee returns ----------------------------------------


def scaled_by_callee(x, s):
    return s * x


def result_updated(x, s):
    v = scaled_by_callee(x, s)
    v *= x
    return np.sum(v * v)


def captured(x, s):
    def scaled():
        return s * x

    v = scaled()
    np.clip(v, -0.6, 0.7, out=v)
    return np.sum(v * v * v)


def scaled_items(x, s):
    parts = {"a": x * s, "b": x * x}
    for key in parts:
        parts[key] = parts[key] * s
    return np.sum(parts["a"] * parts["b"])


def larger_field(x, s):
    state = State(x * x * s, x + s, x[0])
    return np.maximum(0.0, state.e) + state.u @ state.v * state.e


def test_items_replaced_by_their_own_keys():
    check(scaled_items, X, 0.6, wrt=(0, 1))


@pytest.mark.parametrize("fn", [result_updated, captured, scaled_items, larger_field])
def test_hessians_through_a_result_that_is_written(fn):
    def gradient(h):
        return sg.grad(fn)(X + h * V, 0.6)

    want = (gradient(1e-5) - gradient(-1e-5)) / 2e-5
    assert np.allclose(sg.hvp(fn)(V, X, 0.6), want, atol=1e-7)
    assert np.allclose(sg.hessian(fn)(X, 0.6) @ V, want, atol=1e-7)


def stored_by_index(x, y):
    places = np.array([0, 2, 0])
    x[places] = y * x[:3]
    x[places] += y * y
    x[x > 0.4] = y[0] * x[3]
    return np.sum(x**3)


def test_reverse_over_reverse_of_stores_by_index():
    gradient, y = sg.grad(stored_by_index), np.array([0.9, 0.4, 0.3])
    want = (gradient(X + 1e-5 * V, y) - gradient(X - 1e-5 * V, y)) / 2e-5
    assert np.allclose(sg.vjp(gradient)(V, X, y)[1], want, atol=1e-7)
    assert np.allclose(sg.hvp(stored_by_index)(V, X, y), want, atol=1e-7)


# ---- places that are looked for in what is written there ---------------------------------------


def stored_at_the_least(x, s):
    x[np.argmin(x)] = x[np.argmax(x)] * s
    x[np.argmin(x)] *= s
    return np.sum(x * x)


def inserted_before_the_last(x, s):
    items = [s, x[0], x[1]]
    items.insert(len(items) - 1, s * x[0])
    items.insert(len(items) - 2, s * x[1])
    return items[0] + 2.0 * items[1] * items[2] + 3.0 * items[3] * items[4]


def taken_before_the_last(x, s):
    items = [s, x[0], x[1], x[2]]
    last = items.pop(len(items) - 3)
    return items[0] + 2.0 * items[1] * items[2] + 3.0 * last * last


@pytest.mark.parametrize(
    "fn", [stored_at_the_least, inserted_before_the_last, taken_before_the_last]
)
def test_places_found_in_what_is_written(fn):
    check(fn, X, 0.6, wrt=(0, 1))


def chosen_and_stored(x, s):
    level = np.where(x[0] > 0.1, -s, x[1])
    u, v = x * 0.5, x * x
    for _ in range(2):
        v[0] = level
        v[1:] = np.sin(u[:-1])
        u, v = v, u
    return np.sum(u * u) + level


def test_a_number_that_is_an_array_without_dimensions():
    check(chosen_and_stored, X, 0.6, wrt=(0, 1))


# ---- arrays that have no name, and views of them ------------------------------------------------


def view_of_nameless(x, s):
    v = (2.0 * x)[:]
    t = 0.0
    for i in range(2):
        t += np.sum(v * v)
        v[i] = s
    return t


def views_of_many_shapes(x, s):
    t = 0.0
    for i in range(1, 4):
        v = (2.0 * x[:i])[:]
        v[0] = s * x[0]
        w = s * x[i:]
        u = w[::-1]
        u[0] = v[-1]
        t += np.sum(v * v) + np.sum(u * u)
    return t


@pytest.mark.parametrize("fn", [view_of_nameless, views_of_many_shapes])
def test_views_of_arrays_without_a_name(fn):
    check(fn, X, 0.6, wrt=(0, 1))


# ---- functions made of constants, called with what carries a derivative ------------------------


def make_scaler(factor):
    def scale(value):
        return value * factor

    return scale


def scaled_by_made(x, s):
    scale = make_scaler(2.0)
    v = x * s
    v[0] = s
    return np.sum(scale(x) * scale(v))


def called_for_its_errors(x, s):
    scale = make_scaler(s)
    v = x * s
    scale(v) + scale(x)
    return np.sum(v)


@pytest.mark.parametrize("fn", [scaled_by_made, called_for_its_errors])
def test_functions_made_of_constants(fn):
    check(fn, X, 0.6, wrt=(0, 1))


# ---- loops that read what they write ----------------------------------------------------------


def numbered_pairs(x, s):
    for i, (a, b) in enumerate(zip(x, x[::-1])):
        x[(i + 1) % 4] = a * b * s
    return np.sum(x)


def test_numbered_pairs_are_read_as_the_loop_goes_on():
    check(numbered_pairs, X, 0.6, wrt=(0, 1))


# ---- arguments that are objects ---------------------------------------------------------------


@dataclass
class State:
    u: np.ndarray
    v: np.ndarray
    e: float


@dataclass(slots=True)
class Slotted:
    u: np.ndarray


class Plain:
    def __init__(self, u):
        self.u = u
        self.parts = [u * 2.0]


def kicked(x, state):
    state.u += x * state.v
    state.u[1] = x[1]
    state.v *= state.e
    return state.u @ state.v


def scaled(x, plain):
    plain.u *= x[0]
    plain.parts[0][1] = x[2]
    return np.sum(plain.u * plain.parts[0] * x)


def slotted(x, state):
    state.u[1] = x[1]
    return state.u @ state.u


@pytest.mark.parametrize("typed", [True, False])
def test_objects_passed_in_are_left_alone(typed):
    kept = Slotted(X.copy())
    sg.value_and_grad(slotted, specialize=typed)(X, kept)
    assert np.array_equal(kept.u, X)
    state, plain = State(X.copy(), X + 1.0, 0.4), Plain(X.copy())
    sg.value_and_grad(kicked, wrt=(0, 1), specialize=typed)(X, state)
    sg.jvp(kicked, wrt=0, specialize=typed)(X, X, state)
    sg.grad(scaled, specialize=typed)(X, plain)
    assert np.array_equal(state.u, X) and np.array_equal(state.v, X + 1.0)
    assert np.array_equal(plain.u, X) and np.array_equal(plain.parts[0], 2.0 * X)


@pytest.mark.parametrize("typed", [True, False])
def test_tangents_of_objects_are_left_alone(typed):
    state, tangent = State(X.copy(), X + 1.0, 0.4), State(X - 0.5, X * X, 1.0)
    kept = tangent.u.copy(), tangent.v.copy()
    value, along = sg.jvp(kicked, wrt=(0, 1), specialize=typed)((X, tangent), X, state)
    assert np.array_equal(tangent.u, kept[0]) and np.array_equal(tangent.v, kept[1])
    gx, gs = sg.grad(kicked, wrt=(0, 1), specialize=typed)(X, state)
    assert along == pytest.approx(gx @ X + gs.u @ tangent.u + gs.v @ tangent.v + gs.e)
    assert value == kicked(X, state)


def test_objects_that_share_memory_with_an_argument_are_refused():
    with pytest.raises(sg.SrcgradError, match="share memory"):
        sg.grad(kicked)(X, State(X, X + 1.0, 0.4))


# ---- a value that is read where a return leaves its loop; the rest reads its shape only ---------


def left_with_a_value(x, s):
    k = 0
    while k < 3:
        k += 1
        v = np.cos(x) * 0.9
        if v[k] > s:
            return v[1:] @ x[1:]
        x *= 0.5
    return np.sum(x)


@pytest.mark.parametrize("s", [-2.0, 0.85, 5.0])
def test_values_where_a_return_leaves_a_loop(s):
    check(left_with_a_value, X, s, wrt=(0,))


def squares_of_a_part(x, y):
    s = 0.0
    for e in y:
        s = sum([z * z for z in x[:2]]) * e + 0.5 * s
    return s


def test_a_part_that_each_round_goes_through():
    check(squares_of_a_part, X, V, wrt=(0, 1))


def through_elements(a):
    for k, row in enumerate(a):
        a, row = row, a
    return a.reshape(-1)


def reshaped_element(x, y):
    parts = [y[1:], x]
    for _ in range(2):
        u = through_elements(y)
        parts[1] *= np.sum(u)
    parts[0][...] = through_elements(y.ravel())
    return np.sum(y) + np.sum(np.sin(parts[1])) + np.sum(u) + 0.3 * np.sum(np.sin(parts[0]))


def test_an_element_in_the_place_of_its_array():
    check(reshaped_element, X, V, wrt=(0, 1))
