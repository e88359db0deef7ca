"""Programs that grown ones were made smaller to: each of a kind that was wrong
or crashed."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

Z = np.array([[0.3, -0.5, 0.7], [1.1, 0.4, -0.9]])
S = np.array([[0.3, -0.5, 0.7], [1.1, 0.4, -0.9], [0.2, 0.8, -0.3]])


# ---- the rows of an array in a list are views of it ---


def rows_then_written(z):
    rows = list(z)
    z[1] *= z[0]
    return np.sum(rows[1] * rows[0])


def written_through_rows(z):
    rows = tuple(z)
    rows[0][:] = rows[1] * 2.0
    z[1] *= rows[0][0]
    return np.sum(z * z)


def rows_and_more(z):
    rows = list(z)
    for i in range(2):
        rows[1][0] *= z[0, i]
        rows = rows + [z[0]]
        rows[-1][2] = np.sin(rows[i][1])
    return np.sum(rows[0]) + np.sum(rows[1] * rows[3])


@pytest.mark.parametrize("fn", [rows_then_written, written_through_rows, rows_and_more])
def test_rows_in_a_list_are_views(fn):
    check(fn, Z)


# ---- a store drops leading dimensions of length one ---


def with_leading_one(z):
    z[1] = z[::2] * 2.0
    z[0] = z[1:]
    return np.sum(z * z)


def copied_with_leading_one(z):
    v = z[1]
    np.copyto(v[1:], v[:2][None])
    return np.sum(z * z)


@pytest.mark.parametrize("fn", [with_leading_one, copied_with_leading_one])
def test_stores_of_more_dimensions(fn):
    check(fn, Z)


# ---- views that NumPy makes read-only ---


def diagonal(s):
    s[0] *= s[1]
    v = np.diagonal(s)
    s[1, 1] *= 2.0
    return np.sum(v * v)


def scaled(v, k):
    return v * k


def diagonal_passed_on(s):
    s[0] *= s[1]
    return np.sum(scaled(s.diagonal(), s[0, 1]))


@pytest.mark.parametrize("fn", [diagonal, diagonal_passed_on])
def test_diagonals_of_written_arrays(fn):
    check(fn, S)


def windows(x):
    x[0] = x[1] * 2.0
    return np.sum(np.lib.stride_tricks.sliding_window_view(x, 2) ** 2)


@pytest.mark.parametrize("typed", [True, False])
def test_windows_of_written_arrays_are_refused(typed):
    with pytest.raises(sg.SrcgradError, match="cut into windows"):
        sg.grad(windows, specialize=typed)(S[0])


# ---- lists and tuples that are joined ---


def list_of_arrays_grown(z):
    parts = [z[0], z[1]]
    for i in range(3):
        parts = parts + [z[1]]
        parts[i][0] *= z[0, 1]
        parts += [z[0]]
    return np.sum(parts[0] * parts[3])


def list_of_numbers_grown(z):
    parts = [z[0, 0], z[0, 1]]
    for i in range(3):
        parts = parts + [z[1, i] * parts[i], 2.0]
        parts += [z[0, i], parts[1]]
    return sum(parts) * parts[3]


def tuple_of_arrays_grown(z):
    parts = (z[0], z[1])
    for i in range(3):
        parts = parts + (z[1] * parts[i],)
        parts[0][1] *= z[1, i]
    return np.sum(parts[0] * parts[-1])


def tuple_of_numbers_grown(z):
    parts = (z[0, 0], z[0, 1])
    for i in range(3):
        parts = parts + (z[1, i] * parts[i],)
    return parts[4]


def list_times_array(z):
    return np.sum([1.0, 2.0, 3.0] * z) + np.sum([z[0, 0], 2.0, z[0, 2]] + z)


def array_and_tuple(z):
    return np.sum(z * (1.0, 2.0, 3.0)) * np.sum(z[0] + (z[0, 0], 2.0, z[0, 2]))


def list_repeated(z):
    parts = [z[0, 0], 2.0] * 3
    return parts[2] * parts[4] * parts[1]


def tuple_repeated(z):
    parts = 2 * (z[0], 2.0)
    parts[2][1] *= z[0, 0]
    return np.sum(parts[0]) * parts[3]


@pytest.mark.parametrize(
    "fn",
    [
        list_of_arrays_grown, list_of_numbers_grown, tuple_of_arrays_grown,
        tuple_of_numbers_grown, list_times_array, array_and_tuple, list_repeated,
        tuple_repeated,
    ],
)  # fmt: skip
def test_joined_lists_and_tuples(fn):
    check(fn, Z)


# ---- a loop over an array whose name is bound anew in it ---


def rebound_in_its_loop(x):
    u = x * 2.0
    t = 0.0
    for row in u[:-1]:
        u = u * x
        t = t + row * row
    return t + u[0]


def rebound_before_it_is_read(x):
    u = x * 2.0
    v = 3.0 * u[0]
    for k in range(2):
        u = u * x
        for w in u[1:]:
            u = np.sin(u)
            v = v * w
    return v + u[2]


def rebound_in_a_branch(x):
    u = x * 2.0
    for item in u[1:]:
        if item < 0.5:
            u = u * x
            u = u + item * x[1]
    return np.sum(u)


@pytest.mark.parametrize(
    "fn", [rebound_in_its_loop, rebound_before_it_is_read, rebound_in_a_branch]
)
def test_what_a_loop_runs_over_is_what_it_was(fn):
    check(fn, Z[0])


# ---- what a callee brings back is read before that ---


def lowered(a):
    a[0] -= 0.5
    return a


def product_with_written(x):
    w = np.sum(x) * lowered(x.ravel())
    a, _, _ = w
    return a


def quotient_of_written(x):
    total = np.sum(x * x) + 2.0
    v = lowered(x[1:])
    w = total / (2.0 + v)
    return np.sum(w) * total


@pytest.mark.parametrize("fn", [product_with_written, quotient_of_written])
def test_results_that_are_written_arguments(fn):
    check(fn, Z[0])


# ---- no values to put ---


def nothing_put(x):
    np.put(x, 1, x[1:1])
    return np.sum(x)


def nothing_masked(x):
    np.putmask(x, x > 0.0, x[1:1])
    return np.sum(x)


@pytest.mark.parametrize("fn", [nothing_put, nothing_masked])
@pytest.mark.parametrize("typed", [True, False])
def test_putting_no_values_is_refused(fn, typed):
    with pytest.raises(sg.SrcgradError, match="no values at all"):
        sg.grad(fn, specialize=typed)(Z[0])


# ---- parts of arrays that are added to where an index names them twice ---


def added_to_a_row(z):
    z[1][[0, 0, 2]] -= z[0]
    return np.sum(z * z)


def scaled_in_a_row(z):
    u = z[1]
    for i in range(2):
        u[[0, 0, 1]] *= z[0, i] * u[i]
        u[[2, 1]] /= 2.0 + z[0, :2]
        u = u * z[0]
    return np.sum(z * z * u)


def reversed_part(z):
    z[1][1:][[0]] **= 2
    z[0][::-1][np.array([1, 1])] += z[1, :2]
    z[0][z[0] > 0] -= z[1, 0] * z[1, 1]
    return np.sum(z * z)


@pytest.mark.parametrize("fn", [added_to_a_row, scaled_in_a_row, reversed_part])
def test_parts_named_twice(fn):
    check(fn, Z)


# ---- an adjoint that is one number, where an array is needed ---


def joined_in_a_branch(x):
    if x[0] < 0.0:
        w = x
    else:
        w = np.concatenate((x, x))[:3] + x
    return np.sum(w)


def joined_in_a_loop(x):
    s = 0.0
    for i in range(3):
        w = np.concatenate((x[:1], x[1:])) + x
        s += np.sum(w) * x[i]
    return s


def joined_in_either(x):
    s = 0.0
    for i in range(3):
        if i > 1:
            w = np.concatenate((x[:1], x[1:])) + x
        else:
            w = x - np.cumsum(x)
        s += np.sum(w) * x[i]
    return s


@pytest.mark.parametrize("fn", [joined_in_a_branch, joined_in_a_loop, joined_in_either])
def test_adjoints_that_are_one_number(fn):
    check(fn, Z[0])


# ---- unpacking for its errors, integers for floats, names that nothing binds ---


def unpacked(z):
    rows = [row for row in z[0, 1:]]
    a, _ = rows
    return a * a


def integers_or_floats(z):
    w = z[0].ravel()[None]
    v = np.arange(3)
    w[-1] *= 0.3
    y, v, w = v, w, z[1]
    for _, row in zip(w, y, strict=True):
        for row in v:
            p = w
    return np.sum(row**2) + np.sum(w * p)


@pytest.mark.parametrize("fn", [unpacked, integers_or_floats])
def test_shadows_that_are_not_made(fn):
    check(fn, Z)


def never_bound(x):
    s = 1.0
    for k in range(2):
        s = s * x[k]
        if s < 10.0:
            t = s
            break
        s = s * t
    return s


def test_a_name_that_nothing_binds_raises_where_it_is_read():
    check(never_bound, Z[0])
    for typed in (True, False):
        with pytest.raises(UnboundLocalError):
            sg.grad(never_bound, specialize=typed)(20.0 + Z[0])


# ---- what is updated is read before the value is evaluated ---


def doubled(a, b):
    a *= 2.0
    return b


def updated_through_a_view(x):
    w = x
    x[1] += doubled(w.reshape(-1), x[0])
    return np.sum(x * x)


def updated_through_a_list(x):
    v = x[1:]
    parts = [v, x]
    x[1] *= doubled(parts[0], x[0])
    x[2] -= doubled(parts[1][::-1], x[0])
    return np.sum(x * x)


def updated_through_a_closure(x):
    def written(z):
        x[0] = z * x[1]
        return z

    x[0] += written(x[2])
    return np.sum(x * x)


def added_doubled(a, b, s):
    a[0] += doubled(b, s)


def updated_through_two_names(x):
    added_doubled(x, x, x[1])
    return np.sum(x * x)


@pytest.mark.parametrize(
    "fn",
    [
        updated_through_a_view, updated_through_a_list, updated_through_a_closure,
        updated_through_two_names,
    ],
)  # fmt: skip
def test_updates_read_before_they_evaluate(fn):
    check(fn, Z[0])


# ---- variables whose shape is another in each round, or in one arm ---


def itself(a, b):
    return a


def another_shape_in_an_arm(x, z):
    w = x
    u = itself(x, x)
    x, z = z, x
    p = u
    if np.sum(x) < 100.0:
        w = x
    return np.sum(np.sin(p)) + 1.5 * np.sum(np.sin(w))


def another_shape_in_each_round(x, z):
    r = z
    for _ in range(3):
        r, x, z = x, z, r
        for _ in range(2):
            v = z
    return np.sum(v * v)


@pytest.mark.parametrize("fn", [another_shape_in_an_arm, another_shape_in_each_round])
def test_adjoints_of_other_shapes(fn):
    check(fn, Z[0], Z[1, :2], wrt=(0, 1))


# ---- swaps of which one side is a view or an item ---


def swapped_with_view(x, y):
    for _ in range(3):
        y, x = x, y[::1]
    return np.sum(x * x) + np.sum(np.sin(y))


def swapped_with_item(x, y):
    parts = {"a": y}
    for _ in range(3):
        y, x = x, parts["a"]
        parts = {"a": y}
    return np.sum(x * x) + np.sum(np.sin(y))


def swapped_with_transpose(x, y):
    for _ in range(2):
        y, x = x, y.T
    return np.sum(x * x) + np.sum(np.sin(y))


@pytest.mark.parametrize("fn", [swapped_with_view, swapped_with_item, swapped_with_transpose])
@pytest.mark.parametrize("other", [Z[1], Z[:, :2]])
def test_swaps_with_views(fn, other):
    check(fn, Z[0], other, wrt=(0, 1))


def tuple_of_another_shape(x, y):
    parts = (x, y)
    for _ in range(2):
        parts = (y, y)
    return np.sum(x) + np.sum(parts[0] * parts[1])


def test_adjoints_of_tuples_of_other_shapes():
    check(tuple_of_another_shape, Z[0], Z[:, :2], wrt=(0, 1))


# ---- what depends on the order of elements, or is a number ---


def masked_by_itself(x):
    x[1:][np.arange(2) % 2 == 0] = x[::-1][::3]
    return np.sum(x)


def item_of_a_number(x):
    x[2:] = x[-2][None]
    return np.sum(x * x)


def copied_to_a_mask(x):
    x[x > 0.0] = x[x > 0.0] * 2.0
    x[1:][x[1:] < 0.0] = x[0]
    return np.sum(x * x)


@pytest.mark.parametrize("typed", [True, False])
def test_orders_and_numbers_are_refused(typed):
    with pytest.raises(sg.SrcgradError, match="order of the elements"):
        sg.grad(masked_by_itself, specialize=typed)(Z[0])
    with pytest.raises(sg.SrcgradError, match="a number is indexed"):
        sg.grad(item_of_a_number, specialize=typed)(Z[0])
    check(copied_to_a_mask, Z[0])


# ---- one number for all elements of what a key leaves whole ---


def summed_whole(x, y):
    v = x.reshape(-1)
    parts = (x, np.sum(y[...]))
    v[v > 0.1] = 0.5
    return np.sum(y * y) * parts[1] + np.sum(y[:, None]) + parts[0][0]


def test_sums_of_whole_parts():
    check(summed_whole, Z[0], Z[:, :2], wrt=(0, 1))
