"""The statements of the language as reverse mode sees them: memory, aliases, loops, exits, calls.

Each program is small and isolates one mechanism; all are compared with differences, with types and
without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.3, -0.7, 1.1, 0.5])
Y = np.array([0.9, 0.2, -0.4, 0.8])
A = np.array([[0.3, -0.7, 1.1], [0.5, 0.2, -0.6], [0.8, 0.4, 0.1]])
REVERSE = ("value_and_grad",)


def reverse(fn: Callable[..., Any], *args: Any, wrt: Any = 0) -> None:
    check(fn, *args, wrt=wrt, modes=REVERSE)


# ---- stores ----------------------------------------------------------------------------


def test_store_of_an_overlapping_view() -> None:
    def f(x):
        u = x * 1.0
        u[1:] = u[:-1]
        return np.sum(u**3)

    reverse(f, X)


def test_store_with_repeated_indices_keeps_the_last_writer() -> None:
    def f(x):
        u = np.zeros(4)
        u[[0, 0, 2, 1]] = x
        return np.sum(u**2 * np.arange(1.0, 5.0))

    reverse(f, X)


def test_repeated_indices_under_an_operator() -> None:
    def f(x, y):
        u = x * 1.0
        u[[0, 0, 2]] += y[:3]
        u[[1, 1, 3]] *= y[1:]
        return np.sum(u**2)

    reverse(f, X, Y, wrt=(0, 1))


def test_mask_store() -> None:
    def f(x, s):
        u = x * 2.0
        u[u > 0.5] = s * x[0]
        return np.sum(np.sin(u))

    reverse(f, X, 0.4, wrt=(0, 1))


def test_index_array_overwritten_after_its_use() -> None:
    def f(x):
        k = np.array([2, 0, 1])
        u = np.zeros(4)
        u[k] = x[:3] ** 2
        k[:] = 0
        return np.sum(u * x) + x[k[0]]

    reverse(f, X)


@pytest.mark.parametrize("op", ["+=", "-=", "*=", "/=", "**="])
@pytest.mark.parametrize("place", ["u", "u[1:3]", "u[[2, 0]]", "u[1]"])
def test_operator_on_a_place(op: str, place: str, tmp_path: Any, monkeypatch: Any) -> None:
    other = "y[1]" if place == "u[1]" else f"y[: np.size({place})]"
    text = (
        "import numpy as np\n\n\n"
        "def f(x, y):\n"
        "    u = np.exp(x)\n"
        f"    {place} {op} np.cosh({other})\n"
        "    return np.sum(np.sin(u) * u)\n"
    )
    name = f"place_{abs(hash((op, place)))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    f = __import__(name).f
    reverse(f, X, Y, wrt=(0, 1))


def test_operand_shares_memory_with_the_target() -> None:
    def whole(x):
        u = x * 1.0
        u *= u
        return np.sum(np.sin(u))

    def shifted(x):
        u = x * 1.0
        u[:-1] *= u[1:]
        return np.sum(u**2)

    def added(x):
        u = x * 1.0
        u[1:] += u[:-1]
        return np.sum(u**2)

    for f in (whole, shifted, added):
        reverse(f, X)


def test_read_only_view_of_a_written_array() -> None:
    def f(a, x):
        m = a * 1.0
        d = np.diag(m)
        m[1, 1] = x[0] ** 2
        return np.sum(d * d)

    reverse(f, A, X, wrt=(0, 1))


def test_value_of_unread_elements_is_garbage_but_harmless() -> None:
    def f(x):
        u = np.empty(4)
        u[0] = x[0]
        for i in range(1, 4):
            u[i] = u[i - 1] * x[i] + u[i - 1] ** 2
        return u[3]

    reverse(f, X)


# ---- names, views, copies -----------------------------------------------------------------


def test_two_names_for_one_array() -> None:
    def f(x):
        u = x * 1.0
        v = u
        v[0] = x[1] ** 2
        return np.sum(u**2)

    reverse(f, X)


def test_a_view_or_a_copy_by_layout() -> None:
    def f(a):
        v = a.ravel()
        v[0] = 5 * a[1, 1]
        return np.sum(a**2)

    reverse(f, A)
    for copied in (np.asfortranarray(A), np.arange(18.0).reshape(3, 6)[:, ::2]):
        for specialize in (True, False):
            got = sg.grad(f, specialize=specialize)(copied)
            np.testing.assert_allclose(got, 2 * copied)


def test_a_view_or_a_copy_by_branch() -> None:
    def f(x, s):
        v = x[[0, 1, 1]]
        if s > 0:
            v = x[:3]
        x[0] /= 1.5 + np.cos(v[1])
        return np.sum(np.sin(v)) + x[0]

    reverse(f, X, 1.0)
    reverse(f, X, -1.0)


def test_contents_read_through_a_view_before_a_store() -> None:
    def f(x):
        y = x * x
        v = y[1:3]
        s = np.sum(v**2)
        y[1] *= 1.5
        return s + np.sum(y)

    reverse(f, X)


def test_rows_of_a_loop_are_views() -> None:
    def f(a):
        m = np.tanh(a)
        for row in m:
            row[1] *= row[0]
        return np.sum(np.sin(m))

    reverse(f, A)


def test_shared_contributions_do_not_share_buffers() -> None:
    def f(x, y):
        z = x + y
        return np.sum(x**2) + np.sum(z) + np.sum(y**3)

    reverse(f, X, Y, wrt=(0, 1))


def test_the_seed_of_vjp_is_left_alone() -> None:
    def f(x):
        return x + x * x

    seed = np.ones(4)
    _, got = sg.vjp(f)(seed, X)
    got += 1.0
    assert np.all(seed == 1.0)


def test_returned_memory_is_not_restored() -> None:
    def f(x):
        y = x * x
        s = np.sum(np.sin(y))
        y[1] = 0.0
        return y[:2] * s, y

    for specialize in (True, False):
        value, _ = sg.vjp(f, specialize=specialize)((np.ones(2), np.ones(4)), X)
        want = f(X)
        np.testing.assert_allclose(value[0], want[0])
        np.testing.assert_allclose(value[1], want[1])


def test_rebinding_and_then_writing() -> None:
    def f(a, x):
        x = a @ x
        x /= np.sqrt(x @ x)
        return np.sum(x**3)

    reverse(f, A, X[:3], wrt=(0, 1))


# ---- swaps and rebinding in loops --------------------------------------------------------


def test_numbers_swapped_in_a_branch_and_a_loop() -> None:
    def f(x, s, t):
        if s > 0:
            s, t = t, s
        for i in range(3):
            t, s = s * x[i], t
        return s + 0.5 * t

    reverse(f, X, 0.4, 0.7, wrt=(0, 1, 2))


def test_three_numbers_rotated() -> None:
    def f(x):
        a, b, c = x[0], x[1], x[2]
        for i in range(4):
            a, b, c = b, c, a * x[i]
        return a + 2 * b + 3 * c

    reverse(f, X)


def test_arrays_swapped_in_a_loop() -> None:
    def f(x):
        u, v = x * 1.0, np.zeros(4)
        for k in range(3):
            for i in range(1, 3):
                v[i] = u[i - 1] * u[i + 1] + 0.5 * u[i]
            u, v = v, u
        return np.sum(u**2) + np.sum(v)

    reverse(f, X)


def test_a_fresh_array_each_step() -> None:
    def f(x):
        u = x * 1.0
        for k in range(3):
            w = np.zeros(4)
            w[1:-1] = u[1:-1] * u[:-2] + 0.1 * u[2:] ** 2
            u = w
        return np.sum(np.sin(u))

    reverse(f, X)


def test_a_swap_around_a_store() -> None:
    def f(a, s, t):
        for i in range(3):
            a[0] = t
            s, t = t, s
        return np.sum(a[0]) * a[1, 0]

    reverse(f, A, 0.3, 0.7, wrt=(0, 1, 2))


def test_a_parameter_bound_again_keeps_its_gradient() -> None:
    def f(x, s):
        for i in range(2):
            x = x[1:] * s
        return np.sum(x)

    def g(x, s):
        for i in range(2):
            x = 0.5
        return x * s

    reverse(f, X, 0.3, wrt=(0, 1))
    reverse(g, X, 0.3, wrt=(0, 1))


# ---- loops ------------------------------------------------------------------------------


def test_bounds_that_the_body_changes() -> None:
    def f(x, n):
        s = 1.0
        for i in range(n):
            s = s * x[i]
            n = n - 1
        return s + n

    reverse(f, X, 4)


def test_the_index_assigned_in_the_body() -> None:
    def f(x):
        s = 0.0
        for i in range(3):
            s = s + x[i] ** 2
            i = i + 1
            s = s * x[i]
        return s

    reverse(f, X)


def test_the_iterated_array_is_bound_again() -> None:
    def f(x):
        s = 1.0
        for v in x:
            s = s * v + v
            x = x * 2.0
        return s + np.sum(x)

    reverse(f, X)


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_steps(step: int) -> None:
    def f(x, h):
        s = 1.0
        first, stop = (0, 4) if h > 0 else (3, -1)
        for i in range(first, stop, h):
            s = s * x[i] + x[i] ** 2
        return s

    reverse(f, X, step)


def test_values_of_the_last_iteration() -> None:
    def f(x):
        for i in range(4):
            v = x[i] ** 2 * i
            w = x[1:] * v
        return v * x[i] + np.sum(w)

    reverse(f, X)


def test_while_with_a_changing_condition() -> None:
    def f(x):
        s = x[0]
        k = 0
        while s < 3.0 and k < 20:
            s = s * (1.2 + x[1] ** 2)
            k += 1
        return s * k

    reverse(f, X)


def test_exits_in_nested_loops() -> None:
    def f(a, limit):
        s = 0.0
        for i in range(3):
            if a[i, 0] > 0.7:
                continue
            for j in range(3):
                if a[i, j] < -0.65:
                    break
                s = s + a[i, j] ** 2
                if s > limit:
                    return s * a[0, 0]
                s = s * 1.1
            else:
                s = s * a[i, i]
            s = s + a[i, 1] ** 3
        return s + a[2, 2]

    for limit in (0.05, 0.3, 100.0):
        reverse(f, A, limit)


def test_continue_before_fresh_temporaries() -> None:
    def f(x, t):
        v = np.zeros(5)
        for e in x:
            if e < 0:
                continue
            v = v + np.concatenate([x * e, np.array([t])])
        return np.sum(v * v)

    reverse(f, X, 0.4, wrt=(0, 1))


# ---- calls ------------------------------------------------------------------------------


def scale_in_place(u, k, s):
    u[k] *= s
    u[0] += u[k] ** 2


def middle(u):
    return u[1:-1]


def product(u, s):
    return u[:2] @ u[::2] * s


def pair_of(p, q):
    return 1.5 * p, np.tanh(np.array([p, q[1], p]))


def sign_of(x):
    if x > 1.0:
        return x
    for k in range(3):
        if x * k > 0.5:
            return x**2
    return -x


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * (x if n % 2 else 1.0)


def fill(u, i, s):
    if i == u.size:
        return
    u[i] = s * (u[i - 1] if i else 1.0)
    fill(u, i + 1, s * 1.1)


def test_a_callee_that_writes_its_argument() -> None:
    def f(x, s):
        u = x * 1.0
        for k in range(1, 3):
            scale_in_place(u, k, s)
        return np.sum(u**2)

    reverse(f, X, 0.6, wrt=(0, 1))


def test_a_callee_that_returns_a_view() -> None:
    def f(x):
        u = x * 1.0
        v = middle(u)
        v[0] *= x[3]
        u[2] = u[1] ** 2
        return np.sum(u * u) + v[1]

    reverse(f, X)


def test_what_a_callee_read_is_overwritten_later() -> None:
    def f(x):
        x[2] = product(x, 0.3)
        return product(x, 2.0)

    reverse(f, X)


def test_what_a_callee_returned_is_overwritten_later() -> None:
    def f(x, s):
        p, v = pair_of(s, x)
        v[v > 0] = np.sin(p)
        return np.sum(np.sin(v)) + p

    reverse(f, X, 0.4, wrt=(0, 1))


def test_early_returns_of_a_callee() -> None:
    def f(x):
        s = 0.0
        for v in x:
            s = s + sign_of(v) * v
        return s

    reverse(f, X)


def test_recursion() -> None:
    def f(x, s):
        u = np.zeros(4)
        fill(u, 0, s)
        return power(x[0], 5) * np.sum(u * x)

    reverse(f, X, 0.8, wrt=(0, 1))


def test_an_inactive_call_of_a_nested_function() -> None:
    def f(x, s):
        shift = 2

        def inner(k):
            return k + shift

        def applied(g, v):
            return g(v)

        return x[inner(1)] * s + applied(inner, 0) * x[0]

    reverse(f, X, 0.4, wrt=(0, 1))


# ---- containers -------------------------------------------------------------------------


def test_sum_of_a_comprehension() -> None:
    def f(x):
        return sum([z * z for z in x]) + sum(v for v in x)

    reverse(f, X)


def test_items_of_containers_updated() -> None:
    def f(x, s):
        d = {"a": 0.5, "b": s}
        d["b"] += 0.5 * x[0]
        rows = [x[1], s]
        rows[0] *= d["b"]
        rows.append(rows[0] * s)
        last = rows.pop()
        return d["a"] * d["b"] + rows[0] * last

    reverse(f, X, 0.4, wrt=(0, 1))


# ---- arguments --------------------------------------------------------------------------


def test_written_arguments_that_share_memory_are_refused() -> None:
    def f(x, y):
        x[0] = y[1]
        return np.sum(x * y)

    base = np.arange(8.0).reshape(4, 2)
    sg.grad(f)(base[:, 0], base[:, 1])
    with pytest.raises(sg.SrcgradError):
        sg.grad(f)(base[:, 0], base[:, 0])


def test_an_active_value_in_an_integer_array_is_refused() -> None:
    def f(x, k):
        k[0] = x[0]
        return k[0] * x[1]

    for specialize in (True, False):
        with pytest.raises(sg.SrcgradError):
            sg.grad(f, specialize=specialize)(X, np.array([1, 2]))
