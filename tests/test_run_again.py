"""Numbers that the reverse sweep computes again instead of keeping them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad as sg


def spline(y, m, t):
    total = 0.0
    for i in range(len(t)):
        k = min(int(t[i]), len(y) - 2)
        s = t[i] - k
        v = (
            (1 + 2 * s) * (1 - s) ** 2 * y[k]
            + s * (1 - s) ** 2 * m[k]
            + s**2 * (3 - 2 * s) * y[k + 1]
        )
        total += v * v / (1.0 + s)
    return total


def kalman(q, r, ys):
    x, p, total = 0.0, 1.0, 0.0
    for y in ys:
        p = p + q
        s = p + r
        k = p / s
        e = y - x
        total += math.log(s) + e * e / s
        x = x + k * e
        p = (1 - k) * p
    return total


def volatility(price, spot, time):
    sigma = 0.2
    for _ in range(6):
        root = math.sqrt(time) * math.sqrt(2.0)
        d = math.log(spot / 90.0) / (sigma * root) + sigma * root / 4.0
        value = spot * math.erf(d) - 80.0 * math.erf(d - sigma * root / 2.0)
        slope = spot * root * math.exp(-d * d) / math.sqrt(math.pi)
        step = (value - price) / slope
        if abs(step) < 1e-3:
            break
        sigma -= 0.01 * step
    return sigma


def nested(x, n):
    total = 0.0
    for i in range(n):
        a = math.sqrt(i + x)
        for j in range(i):
            b = math.sqrt(j + 2.0)
            c = math.sqrt(x * 3.0)
            total += a * b * c / (a + c)
    return total


def in_a_branch(x, n):
    total = 1.0
    for i in range(n):
        if i % 2:
            c = math.exp(0.1 * x)
            total *= c
        else:
            total += x / (1.0 + total)
    return total


def called(x, n):
    total = x
    for _ in range(n):
        c = math.sin(x * x)
        total = total * c + c
    return total


def calls(x, n):
    return called(x, n) * called(x + 1.0, n)


CASES: list[tuple[Any, tuple[Any, ...], tuple[int, ...]]] = [
    (spline, (np.array([1.0, 2.0, 0.5, 3.0]), np.ones(4), np.array([0.2, 1.4, 2.9])), (0, 1, 2)),
    (kalman, (0.1, 0.2, np.array([1.0, 0.4, 2.0])), (0, 1, 2)),
    (volatility, (10.0, 100.0, 1.0), (0, 1, 2)),
    (nested, (0.7, 4), (0,)),
    (in_a_branch, (0.7, 5), (0,)),
    (called, (0.7, 3), (0,)),
    (calls, (0.7, 3), (0,)),
    (calls, (0.7, 0), (0,)),
]


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(("fn", "args", "wrt"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_values(fn: Any, args: tuple[Any, ...], wrt: tuple[int, ...], typed: bool) -> None:
    for k in wrt:
        sg.check_grads(fn, args, wrt=k, order=2 if typed else 1)


def test_a_loop_without_a_state_has_no_forward_sweep() -> None:
    text = sg.source(spline, *CASES[0][1], wrt=(0, 1, 2))
    assert "_tape" not in text
    assert "forward sweep" not in text


def test_its_errors_are_raised_nevertheless() -> None:
    with pytest.raises(IndexError):
        sg.grad(spline)(np.ones(3), np.ones(1), np.array([0.2, 1.4]))
    with pytest.raises(ValueError, match="NaN"):
        sg.grad(spline)(np.ones(3), np.ones(3), np.array([0.2, np.nan]))


def test_what_each_round_computes_alike_is_not_kept() -> None:
    text = sg.source(volatility, 10.0, 100.0, 1.0, wrt=(0, 1))
    assert "root_tape" not in text
    assert "sigma_tape" in text


def test_quotients_of_what_is_kept_are_taken_again() -> None:
    text = sg.source(kalman, 0.1, 0.2, np.ones(3), wrt=(0, 1))
    assert sorted(n for n in ("p_tape = ", "p_tape, e_tape = ") if n in text)
    assert "k_tape" not in text


def spectrum(x: Any) -> Any:
    return np.sum(np.abs(np.fft.rfft(x, 5) + np.fft.rfft(x, 12)[:3]) ** 2)


def turned(x: Any) -> Any:
    turn = np.exp(1j * np.arange(len(x)))
    return np.sum(np.real(np.fft.ifft(np.fft.fft(x) * turn) ** 2))


@pytest.mark.parametrize("fn", [spectrum, turned])
def test_gradients_through_complex_numbers_are_doubles(fn: Any) -> None:
    x = np.array([0.3, 1.2, -0.4, 0.8, 0.1, 0.9])
    sg.check_grads(fn, (x,), order=2)
    assert sg.grad(fn)(x).dtype == np.float64
    text = sg.source(fn, x)
    assert "astype" not in text
    assert "unbroadcast(support" not in text
