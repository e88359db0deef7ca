"""Programs that grown ones (tests/fuzz/grown.py) were made smaller to: each of a kind that was wrong
or crashed."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

Z = np.array([[0.3, -0.5, 0.7], [1.1, 0.4, -0.9]])
S = np.array([[0.3, -0.5, 0.7], [1.1, 0.4, -0.9], [0.2, 0.8, -0.3]])


# ---- the rows of an array in a list are views of it ----------------------------------------------


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


# ---- a store drops leading dimensions of length one ----------------------------------------------


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


# ---- views that NumPy makes read-only ----------------------------------------------------------


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


# ---- lists and tuples that are joined ------------------------------------------------------------


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
