"""Variables bound again with other shapes: each definition has an adjoint of its own shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([1.1, 0.7, 1.3, 0.4])


def read_behind_the_loop(x: Any) -> Any:
    s = 0.0
    for i in range(1, 4):
        w = x[:i] * x[0]
        s = s + np.sum(w**2)
    return s + np.sum(w)


def slices_read_behind_the_loop(x: Any) -> Any:
    s = 0.0
    for i in range(1, 4):
        w = x[:i]
        s = s + np.sum(w**2)
    return s + np.sum(w)


def in_a_branch(x: Any, flag: bool) -> Any:
    w = x[:2] * 2.0
    if flag:
        w = x[:3] * w[0]
    return np.sum(w**2)


def grown_in_while(x: Any) -> Any:
    w = x[:1]
    while w.shape[0] < 4:
        w = np.concatenate([w, x[:1] * w[-1]])
    return np.sum(w**2)


def nested(x: Any) -> Any:
    s = 0.0
    for i in range(2):
        w = x[: 1 + i] * 1.0
        for j in range(2):
            w = np.concatenate([w, w[:1] * 2.0])
            s = s + np.sum(w**2)
        s = s + w[0]
    return s


def shrunk(x: Any) -> Any:
    w = x
    for i in range(3):
        w = w[1:] * w[:-1]
    return np.sum(w)


def filled_elementwise(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        w = np.zeros(i + 1)
        for j in range(i + 1):
            w[j] = x[j] * x[i]
        s = s + np.sum(w**2)
    return s


def in_a_list(x: Any) -> Any:
    rows = []
    for i in range(3):
        r = x[i:] * x[i]
        rows.append(r)
    return sum(np.sum(r**2) for r in rows)


def bound_late_in_branches(x: Any) -> Any:
    for i in range(2):
        if i > 0:
            t = w * x[1:3]  # noqa: F821
        else:
            t = x[:2]
        w = t[1:] * x[0]
    return np.sum(w**2)


def read_before_it_is_bound(x: Any) -> Any:
    s = 0.0
    for i in range(2):
        u = x[: i + 2] * 2.0
        if i > 0:
            t = w * u[1:]  # noqa: F821
            s = s + np.sum(t * t)
        w = u[1:]
    return s


def reshaped_and_written(x: Any) -> Any:
    u = x
    for i in range(2):
        u = u.reshape(-1)[: 4 - i].copy()
        u[0] = u[1] * 2.0
    return np.sum(u**2)


def used_at_times(x: Any) -> Any:
    s = 0.0
    for i in range(1, 4):
        w = np.outer(x[:i], x[:i]) @ x[:i]
        if i % 2:
            s = s + np.sum(w**2)
    return s


def never_used_at_first(x: Any) -> Any:
    s, w = 0.0, x[:1] * 2.0
    for i in range(1, 4):
        if i == 3:
            s = s + np.sum(w * w)
        w = x[:i] @ np.outer(x[:i], x)
    return s


def number_read_before_it_is_bound(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + w * x[i]  # noqa: F821
        w = x[i] * 2.0
    return s


def no_iteration(x: Any, n: int = 0) -> Any:
    s = np.sum(x)
    for i in range(n):
        if i > 0:
            s = s + np.sum(w * x)  # noqa: F821
        w = x * 2.0
    return s


def argument_shrunk(x: Any) -> Any:
    s = 0.0
    while len(x) > 1:
        s = s + np.sum(x) ** 2
        x = x[1:] * x[:-1]
    return s


PROGRAMS = [
    f
    for n, f in list(globals().items())
    if callable(f) and getattr(f, "__module__", "") == __name__
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(fn: Callable[..., Any]) -> None:
    check(fn, *((X, True) if fn is in_a_branch else (X,)), wrt=0)


def test_no_branch_taken() -> None:
    check(in_a_branch, X, False, wrt=0)


def test_several_iterations() -> None:
    check(no_iteration, X, 3, wrt=0)


def test_shapes_that_stay_cost_nothing() -> None:
    def recurrent(W: Any, x: Any) -> Any:
        h = np.zeros(W.shape[0])
        for i in range(len(x)):
            h = np.tanh(W @ h + x[i])
        return np.sum(h)

    text = sg.source(recurrent, np.ones((2, 2)), X)
    assert "filled" not in text
    assert "h_bar = 0.0" not in text


def field(y, p):
    return np.array([p[0] * y[0] - y[0] * y[1], y[0] * y[1] - p[1] * y[1]])


def rk4(p, y, h, n):
    for _ in range(n):
        k1 = field(y, p)
        k2 = field(y + 0.5 * h * k1, p)
        k3 = field(y + h * k2, p)
        y = y + h / 6.0 * (k1 + 4 * k2 + k3)
    return np.sum(y**2)


def test_the_length_of_a_display_is_known() -> None:
    p, y = np.array([0.3, 0.7]), np.array([1.0, 0.5])
    text = sg.source(rk4, p, y, 0.1, 3, wrt=(0, 1))
    assert "outline" not in text
    assert "unbroadcast" not in text
    for wrt in (0, 1, 2):
        sg.check_grads(rk4, (p, y, 0.1, 3), wrt=wrt, order=2)


def test_displays_of_one_row_of_lists_that_grow_and_of_arrays() -> None:
    def one(x):
        return np.sum(np.array([x[0] * x[1]]) * x)

    def grown(x):
        items = [x[0]]
        items.append(x[1] * x[0])
        return np.sum(np.array(items) * x) + np.sum(np.array([[x[0], 1.0]]) * x)

    def rows(x):
        return np.sum(np.array([x, 2.0 * x]) * np.array([[x[0]], [x[1]]]))

    def collected(x):
        return np.sum(np.array([v * v for v in x]) * x)

    for fn in (one, grown, rows, collected):
        sg.check_grads(fn, (np.array([0.3, 0.7]),), wrt=0, order=2)


def test_displays_that_do_not_fit_raise() -> None:
    def misfit(x):
        return np.sum(x + np.array([x[0], x[1], x[0]])) + np.sum(x * x)

    with pytest.raises(ValueError, match="broadcast"):
        sg.grad(misfit)(np.array([0.3, 0.7]))


def swapped_unless_left(x: Any, u: Any, a: Any, n: int) -> Any:
    for i in range(n):
        p = u * u + a
        if i == 1:
            continue
        x, u, p = u, p, x
    return 0.5 * np.sum(x) + 2.0 * np.sum(u) + 1.5 * np.sum(np.sin(p))


def parameter_bound_in_a_branch(x: Any, u: Any, a: Any, n: int) -> Any:
    if n > 0:
        x = u + a
    else:
        u = np.sin(x)
    for i in range(n):
        x, u = np.sum(x) * u, x
        if i == 0:
            continue
        x, u = u, x
    return np.sum(np.sin(x)) + 0.5 * np.sum(u)


def handed_over_at_the_end(x: Any, u: Any, a: Any, n: int) -> Any:
    w, p = u, x * u
    for i in range(n):
        if i == 1:
            u = np.ones(3) * w[:1]
        w, u = u, w
        for _ in range(1):
            if n > 2:
                w = np.ones(3) * p
            p = w[:1] * 0.5
        x = p * w
        u = w[:1] * a
    return 1.5 * np.sum(np.sin(u)) + 1.5 * np.sum(w) + np.sum(np.sin(x)) + np.sum(np.sin(p))


def bound_first_in_a_loop(x: Any, u: Any, a: Any, n: int) -> Any:
    p, w = x * u, x
    x = u
    for _ in range(n):
        p = 0.5 * x
        u, p = p, u
        u = p + a
    return 2.0 * np.sum(p) + 0.5 * np.sum(w) + 1.5 * np.sum(np.sin(x)) + 1.5 * np.sum(u)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("shapes", [(3, 1), (1, 3), (1, 1), (3, 3)])
@pytest.mark.parametrize(
    "fn",
    [
        swapped_unless_left,
        parameter_bound_in_a_branch,
        handed_over_at_the_end,
        bound_first_in_a_loop,
    ],
)
def test_shapes_that_broadcast(fn: Any, shapes: tuple[int, int], n: int) -> None:
    """A cotangent of one shape too many would go unnoticed: arrays of one element fit anywhere."""
    if fn is swapped_unless_left and n == 0:
        pytest.skip("p has no value")
    x, u = np.linspace(0.3, 0.9, shapes[0]), np.linspace(0.2, 0.7, shapes[1])
    check(fn, x, u, 0.4, n, wrt=(0, 1, 2))
    for part, given in zip(sg.grad(fn, (0, 1))(x, u, 0.4, n), (x, u), strict=True):
        assert part.shape == given.shape


def one_number_in_one_arm(a: Any, x: Any, n: int) -> Any:
    y = a + x
    if n > 5:
        y = np.sin(x)
    else:
        x = y * 2.0
    return -0.8 * np.sum(y) + np.sum(x)


def a_part_of_it_before(a: Any, x: Any, n: int) -> Any:
    v = a * np.tanh(x[::-1])
    if n > 5:
        x = v[::-1]
    return v[-3] - 0.8 * np.sum(x)


@pytest.mark.parametrize("n", [2, 7])
@pytest.mark.parametrize("fn", [one_number_in_one_arm, a_part_of_it_before])
def test_an_arm_that_leaves_one_number_for_an_array(fn: Any, n: int) -> None:
    """The other arm begins with an array, so that behind both it is one."""
    check(fn, 0.3, X, n, wrt=(0, 1))


@dataclass
class Pair:
    a: Any
    b: Any


class Held:
    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b


def in_lists(x: Any, y: Any, n: int) -> Any:
    for _ in range(n):
        parts = [x, y]
        x, y = y * 2.0, x
    return 0.7 * np.sum(np.sin(parts[0])) + 0.3 * np.sum(x) + 0.1 * np.sum(parts[1])


def in_dicts(x: Any, y: Any, n: int) -> Any:
    for _ in range(n):
        parts = {"a": x, "b": [y, (x, y)]}
        x, y = y * 2.0, x
    return 0.7 * np.sum(np.sin(parts["a"])) + 0.3 * np.sum(x) + 0.1 * np.sum(parts["b"][1][1])


def in_records(x: Any, y: Any, n: int) -> Any:
    for _ in range(n):
        parts = Pair(x, y)
        x, y = y * 2.0, x
    return 0.7 * np.sum(np.sin(parts.a)) + 0.3 * np.sum(x) + 0.1 * np.sum(parts.b)


def in_objects(x: Any, y: Any, n: int) -> Any:
    for _ in range(n):
        parts = Held(x, y)
        x, y = y * 2.0, x
    return 0.7 * np.sum(np.sin(parts.a)) + 0.3 * np.sum(x) + 0.1 * np.sum(parts.b)


def in_lists_that_are_left(x: Any, y: Any, n: int) -> Any:
    for i in range(n):
        parts = [x, y]
        before = parts
        if i == 1:
            continue
        x, y = y * 2.0, x
        parts = [y, x]
    return 0.7 * np.sum(np.sin(parts[0])) + 0.3 * np.sum(x) + 0.1 * np.sum(before[1])


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("shapes", [(3, 1), (1, 3), (3, 3)])
@pytest.mark.parametrize(
    "fn", [in_lists, in_dicts, in_records, in_objects, in_lists_that_are_left]
)
def test_containers_of_shapes_that_vary(fn: Any, shapes: tuple[int, int], n: int) -> None:
    x, y = np.linspace(0.3, 0.7, shapes[0]), np.linspace(0.2, 0.9, shapes[1])
    check(fn, x, y, n, wrt=(0, 1))
    for part, given in zip(sg.grad(fn, (0, 1))(x, y, n), (x, y), strict=True):
        assert part.shape == given.shape
