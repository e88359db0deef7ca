"""Lists that the reverse sweep need not bring back, arrays that NumPy makes of lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad as sg


def smoothed(x, alpha):
    out = [x[0]]
    for t in range(1, len(x)):
        out.append(alpha * x[t] + (1 - alpha) * out[-1])
    s = np.array(out)
    return np.sum((x - s) ** 2)


def read_between(x, n):
    out = [x]
    for k in range(n):
        out.append(out[-1] * out[0] + k)
        x = x * len(out)
    return x * out[-1] * out[0]


def read_in_reverse(x, n):
    out = []
    for _ in range(n):
        out.append(np.sin(x))
        x = x * np.array(out).sum() * out[-1]
    return x


def aliased(x, n):
    out = [x]
    other = out
    for _ in range(n):
        other.append(out[-1] * x)
    return np.sum(np.array(other) * out[0])


def returned(x, n):
    out = [x * x]
    for _ in range(n):
        out.append(out[-1] * x)
    return out[-1], out


def popped(x):
    stack = [x, 2.0 * x]
    stack.append(stack[-1] * x)
    last = stack.pop()
    stack.append(last * last)
    return stack[-1] * stack[0]


def total(x, n):
    return returned(x, n)[0] * sum(returned(x, n)[1])


def written_later(x):
    parts = [x[0], x[1] * x[1]]
    a = np.array(parts)
    parts[0] = x[1]
    a[1] = a[0] * parts[0]
    return np.sum(a) + parts[0] * parts[1]


def of_arrays(x):
    rows = [x, x * x]
    a = np.asarray(rows)
    a[0] *= 2.0
    rows[0] = x + a[1]
    return np.sum(a * rows[0]) + np.sum(np.stack(rows))


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (smoothed, (np.array([1.0, 2.0, 0.3]), 0.4)),
    (read_between, (0.7, 3)),
    (read_in_reverse, (0.7, 3)),
    (aliased, (0.7, 3)),
    (popped, (0.7,)),
    (total, (0.7, 3)),
    (written_later, (np.array([0.7, 1.3]),)),
    (of_arrays, (np.array([0.7, 1.3]),)),
]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_values(fn: Any, args: tuple[Any, ...]) -> None:
    sg.check_grads(fn, args, wrt=0, order=2)
    typed, generic = sg.grad(fn)(*args), sg.grad(fn, specialize=False)(*args)
    np.testing.assert_allclose(typed, generic, rtol=1e-12)


def summed(first: Any) -> Any:
    def slope(x, *rest):
        return np.sum(first(x, *rest))

    return slope


def test_reverse_over_reverse() -> None:
    for fn, args in ((smoothed, CASES[0][1]), (read_between, (0.7, 3)), (popped, (0.7,))):
        slope = sg.grad(summed(sg.grad(fn)))(*args)
        np.testing.assert_allclose(slope, sg.hvp(fn)(np.ones_like(args[0]), *args), rtol=1e-9)


def test_a_list_of_a_result_is_whole() -> None:
    (value, out), slope = sg.value_and_grad(returned, has_aux=True)(0.5, 2)
    assert out == [0.25, 0.125, 0.0625]
    assert value == out[-1]
    assert slope == pytest.approx(4 * 0.5**3)


def test_what_is_not_read_again_is_not_brought_back() -> None:
    text = sg.source(smoothed, *CASES[0][1])
    assert "  out.pop()" not in text
    assert "is_part" not in text
    assert "view_bar" not in text


def carried(x, n):
    y = x
    for _ in range(n):
        z = y
        y = y * 2.0
        x = x + z * y
    return x * y


@pytest.mark.parametrize("make", [sg.vjp, sg.jvp, sg.hvp])
def test_a_cotangent_that_is_an_array_without_dimensions_counts_as_a_number(make: Any) -> None:
    one = np.ones(())
    found, wanted = make(carried)(one, 0.7, 3), make(carried)(1.0, 0.7, 3)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert one == 1.0
    both = sg.jvp(lambda x, y: carried(x, 2) * y, wrt=(0, 1))
    np.testing.assert_allclose(both((one, one), 0.7, 0.2), both((1.0, 1.0), 0.7, 0.2))
    assert one == 1.0
