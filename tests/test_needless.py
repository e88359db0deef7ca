"""Texts without what a person would leave out, and the values of these programs in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check


def rnn(W: Any, U: Any, xs: Any) -> Any:
    h, loss = np.zeros(W.shape[0]), 0.0
    for x in xs:
        h = np.tanh(W @ h + U @ x)
        loss = loss + h @ h
    return loss


def smooth(u: Any, c: Any, n: Any) -> Any:
    u = u.copy()
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] * u[i] + u[i + 1])
    return np.sum(u * u)


def grown(u: Any, n: Any) -> Any:
    total = 0.0
    for _ in range(n):
        for i in range(len(u)):
            total = total + u[i] * u[-1] * i
        u = np.concatenate((u, u[:1] * 0.5))
    return total


def rows(x: Any, w: Any) -> Any:
    x = x * 1.0
    total = 0.0
    for i in range(len(x)):
        row = x[i]
        total = total + np.sum(row * row * w)
        x[i] = row * w
    return total + np.sum(x)


def chosen(x: Any, w: Any, places: Any) -> Any:
    m = w > 0.0
    return np.mean(x[places] ** 2) + np.mean(x[m]) * np.sum(w[m])


def middles(x: Any, rate: Any) -> Any:
    y = np.exp(-rate * x)
    return np.sum((y[1:] + y[:-1]) * np.diff(x))


def products(A: Any, B: Any) -> Any:
    return np.sum((A @ B.T) ** 2) + np.sum(np.sin(A @ A.T)) + np.sum((B.T @ A) ** 3)


def several(p: Any, x: Any) -> Any:
    a, b, c = p
    q = a / b
    return np.sum(np.exp(-0.5 * (x / q) ** 2) * c) + q * (a / b)


def halved(u: Any, p: Any, n: Any) -> Any:
    v = np.array([u * k for k in range(n + 3)])
    for _ in range(n):
        v = p * v[1:] + (1.0 - p) * v[:-1] * v[1:]
    return v[0] * v[-1]


def turned(angle: Any, x: Any) -> Any:
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0.5], [s, c, 2.0]])
    return np.sum((R.T @ x) ** 3)


def running(x: Any) -> Any:
    return np.sum(np.cumsum(x * x) ** 2) + np.sum(np.sin(np.cumprod(1.0 + x)))


def spread(K: Any, y: Any) -> Any:
    _, size = np.linalg.slogdet(K)
    return size * size + y @ np.linalg.solve(K, y)


class Line:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: Any) -> Any:
        return np.sin(self.w * x)


def called(w: Any, x: Any) -> Any:
    return np.sum(Line(w)(x))


V = np.array([0.3, -0.4, 0.5, 0.7])
M = np.array([[0.3, -0.2], [0.5, 0.4], [-0.1, 0.6]])
PROGRAMS: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (rnn, (M[:2], M[:2], M), (0, 1, 2)),
    (smooth, (V, 0.3, 2), (0, 1)),
    (grown, (V, 3), (0,)),
    (rows, (M, M[0]), (0, 1)),
    (chosen, (V, V[::-1].copy(), np.array([0, 2, 2])), (0, 1)),
    (middles, (V, 0.7), (0, 1)),
    (products, (M, M[::-1].copy()), (0, 1)),
    (several, (V[[0, 2, 3]], V), (0, 1)),
    (halved, (0.3, 0.4, 2), (0, 1)),
    (turned, (0.7, V[:2].copy()), (0, 1)),
    (running, (V,), (0,)),
    (spread, (M @ M.T + np.eye(3), V[1:].copy()), (0, 1)),
    (called, (0.7, V), (0, 1)),
]


@pytest.mark.parametrize(("fn", "args", "wrt"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_values(fn: Any, args: tuple[Any, ...], wrt: tuple[int, ...]) -> None:
    check(fn, *args, wrt=wrt)
    sg.check_grads(fn, args, wrt=wrt, order=2)


def test_rows_that_stay_are_read_again() -> None:
    text = sg.source(rnn, M[:2], M[:2], M, wrt=(0, 1, 2))
    assert "x_tape" not in text
    assert "t4_bar = h_bar * (1.0 - h * h)" in text.replace("t3_bar", "t4_bar")
    assert "row_tape" in sg.source(rows, M, M[0], wrt=(0, 1))


def test_lengths_are_asked_again() -> None:
    assert "stop_at_entry" not in sg.source(smooth, V, 0.3, 2)
    text = sg.source(grown, V, 3)
    assert text.index("u_1 = ") < text.index("range(len(u_1) - 1, -1, -1)")


def test_what_goes_to_chosen_elements_is_one_number() -> None:
    text = sg.source(chosen, V, V[::-1].copy(), np.array([0, 2, 2]), wrt=(0, 1))
    assert "np.full(" not in text


def test_neighbours_and_differences_have_one_length() -> None:
    assert "unbroadcast" not in sg.source(middles, V, 0.7, wrt=(0, 1))


def test_products_with_transposes_are_transposed_themselves() -> None:
    text = sg.source(products, M, M[::-1].copy(), wrt=(0, 1))
    assert ").T" not in text
    assert ".copy()" not in text


def test_a_quotient_that_is_kept_is_read() -> None:
    lines = sg.source(several, V[[0, 2, 3]], V, wrt=(0, 1)).splitlines()
    assert sum("a / b" in line for line in lines if "#" not in line) == 2  # as in the primal


def test_arrays_of_one_shape_are_not_summed_down() -> None:
    assert "unbroadcast" not in sg.source(halved, 0.3, 0.4, 2, wrt=(0, 1))


def test_displays_of_numbers_are_taken_apart() -> None:
    assert "support" not in sg.source(turned, 0.7, V[:2].copy(), wrt=(0, 1))


def test_running_sums_are_summed_back() -> None:
    text = sg.source(running, V)
    assert "[::-1])[::-1]" in text
    assert "reshape" not in text


def test_results_of_several_parts_have_adjoints_of_parts() -> None:
    assert "support.slogdet_back(0.0, " in sg.source(spread, M @ M.T, V[1:].copy())


def test_special_methods_go_by_their_class() -> None:
    assert "def Line_call_reverse(" in sg.source(called, 0.7, V)
