"""The passes over loops: what they write, and that the gradient stays what it was."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

numba = pytest.importorskip("numba")


def nearest(p, c):
    cost = 0.0
    for i in range(p.shape[0]):
        best = np.inf
        for j in range(c.shape[0]):
            s = 0.0
            for q in range(p.shape[1]):
                t = p[i, q] - c[j, q]
                s += t * t
            if s < best:
                best = s
        cost += best
    return cost


def stencil(p, c):
    a = p.copy()
    for _ in range(3):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                p[i, j] = 0.3 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1]) * c[0, 0]
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = math.sin(p[i, j])
    return np.sum(a * a)


def product(p, c):
    s = 0.0
    for i in range(p.shape[0]):
        for k in range(c.shape[0]):
            t = 0.0
            for j in range(p.shape[1]):
                t += p[i, j] * c[k, j]
            s += t * t * c[k, 0]
    return s


def carried(p, c):
    x = c[0, 0]
    for i in range(p.shape[0]):
        p[i, 0] = p[i - 1, 0] * x + p[i, 1]
        x = math.tanh(x + p[i, 0])
    return x + p[1, 0]


def neighbours(p, c):
    s = 0.0
    for i in range(1, p.shape[0] - 1):
        s += math.sin(p[i - 1, 0] * p[i + 1, 0]) * c[0, 1]
    return s


def squares(p, c):
    s = 0.0
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            s += p[i, j] * p[i, j] * c[0, 0]
    return s


def ratios(p, c):
    total = 0.0
    buffer = np.empty(p.shape[1])
    for i in range(p.shape[0]):
        most = p[i, 0]
        for j in range(p.shape[1]):
            if p[i, j] > most:
                most = p[i, j]
        s = 0.0
        for j in range(p.shape[1]):
            buffer[j] = math.exp(p[i, j] - most)
            s += buffer[j]
        for j in range(p.shape[1]):
            total += buffer[j] / s * c[0, j]
    return total


def cholesky(p, c):
    a = np.zeros((p.shape[1], p.shape[1]))
    for i in range(p.shape[1]):
        for j in range(p.shape[1]):
            for k in range(p.shape[0]):
                a[i, j] += p[k, i] * p[k, j]
        a[i, i] += 1.0
    for i in range(p.shape[1]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = math.sqrt(a[i, i])
    s = 0.0
    for i in range(p.shape[1]):
        for j in range(i + 1):
            s += math.sin(a[i, j]) * c[0, j]
    return s


def triangular(p, c):
    a = p.copy()
    for i in range(p.shape[0]):
        for k in range(i + 1, p.shape[0]):
            for j in range(p.shape[1]):
                a[i, j] += c[0, 1] * a[k, j] * a[k, j]
    return np.sum(a * a)


def overlapping(p, c):
    a = p.copy()
    for i in range(p.shape[0]):
        for k in range(p.shape[0]):  # k is i at times
            for j in range(p.shape[1]):
                a[i, j] += c[0, 1] * a[k, j] * a[k, j]
    return np.sum(a * a)


def looks_at_itself(p, c):
    a = p.copy()
    for i in range(p.shape[0]):
        for k in range(3):
            for j in range(p.shape[1]):
                a[i, j] *= c[0, 1] + k
    return np.sum(a * a)


def indirect(p, c):
    a, places = p.copy(), np.array([3, 0, 2, 1, 0])
    for i in range(p.shape[0]):
        q = places[i]
        for k in range(3):
            a[q, 0] += a[q, 1] * a[k, 1]
            a[q, 1] += 0.1 * a[q, 0] * a[q, 0]
    return np.sum(a * a) * c[0, 0]


def stages(p, c):
    y, n = p[0].copy(), p.shape[1]
    k, t = np.empty(n), np.empty(n)
    for _ in range(4):
        for i in range(n):
            k[i] = c[0, i] * y[i] * y[i]
        for i in range(n):
            t[i] = y[i] + 0.5 * k[i]
        for i in range(n):
            k[i] = c[1, i] * t[i] * t[i]
        for i in range(n):
            y[i] += 0.5 * k[i]
    return np.sum(y)


def steps(p, c):
    y, n = p[0].copy(), p.shape[1]
    k, t = np.empty(n), np.empty(n)
    for _ in range(4):
        for i in range(n):
            k[i] = c[0, i] * y[i]
        for i in range(n):
            t[i] = y[i] + 0.5 * k[i]
        for i in range(n):
            k[i] = c[1, i] * t[i] * t[n - 1 - i]
        for i in range(n):
            y[i] += 0.5 * k[i] * c[2, i]
    return np.sum(y)


def chain(p, c):
    a, b = p[0].copy(), np.empty(p.shape[1])
    for t in range(1, p.shape[0]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        for i in range(a.shape[0]):
            a[i] /= s
        for j in range(a.shape[0]):
            v = 0.0
            for i in range(a.shape[0]):
                v += a[i] * c[i % 3, j]
            b[j] = v * p[t, j]
        for j in range(a.shape[0]):
            a[j] = b[j]
    return a[0] * a[1]


def own(p, c):
    s = 0.0
    for i in range(p.shape[0]):
        a = np.zeros(3)
        for k in range(3):
            a[k] = p[i, k] * c[0, k]
        s += a[0] * a[1] * a[2]
    return s


def sums(p, c):
    total = 0.0
    for i in range(p.shape[0]):
        for j in range(c.shape[0]):
            s = 0.0
            for k in range(p.shape[1]):
                s += p[i, k] * c[j, k]
            total += s * s
    return total


def table(p, c):
    d = np.ones((p.shape[0], p.shape[1]))
    for i in range(1, p.shape[0]):
        for j in range(1, p.shape[1]):
            d[i, j] = c[0, j] * d[i - 1, j] * d[i, j - 1] + p[i, j]
    return d[-1, -1]


def paths(p, c):
    d, e = p[0].copy(), np.empty(p.shape[1])
    for t in range(1, p.shape[0]):
        for j in range(e.shape[0]):
            m = d[0] + c[0, j]
            for i in range(1, e.shape[0]):
                v = d[i] + c[1, i] * c[2, j]
                if v > m:
                    m = v
            e[j] = m * p[t, j]
        for j in range(e.shape[0]):
            d[j] = e[j]
    return d[0] * d[1]


def clipped(p, c):
    s = 0.0
    for i in range(p.shape[0]):
        t = 0.0
        for j in range(p.shape[1]):
            t += p[i, j] * c[0, j]
        if t > 1.0:
            s += t * t
    return s


PROGRAMS = (
    nearest,
    stencil,
    product,
    carried,
    neighbours,
    ratios,
    squares,
    cholesky,
    stages,
    paths,
    clipped,
    steps,
    table,
    chain,
    own,
    sums,
)
NAMES = sorted({one.__name__ for one in loops.PASSES} - {"parallel"})  # see test_parallel.py


def arguments():
    rng = np.random.default_rng(3)
    return rng.random((5, 4)), rng.random((3, 4))


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_gradient_is_the_same_with_and_without_each_pass(program, monkeypatch):
    expected = sg.grad(program, wrt=(0, 1))(*arguments())
    for off in ([], NAMES):
        monkeypatch.setattr(loops, "skipped", set(off))
        got = sg.grad(program, wrt=(0, 1), backend="numba")(*arguments())
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_each_pass_changes_a_program_and_can_be_turned_off(name, monkeypatch):
    def texts():
        return [sg.grad(p, wrt=(0, 1), backend="numba") for p in PROGRAMS]

    full = texts()
    shown = []
    for df in full:
        df.specialize(*arguments())
        shown.append(df.source)
    monkeypatch.setattr(loops, "skipped", {name})
    less = []
    for df in texts():
        df.specialize(*arguments())
        less.append(df.source)
    assert shown != less


def improved(text: str) -> str:
    tree = ast.Module(loops.improve(ast.parse(text).body, {"a_bar": 1, "b_bar": 2}), [])
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(
    "body",
    [
        "a_bar[i - 1] += a_bar[i]",
        "s = s * 0.5 + a[i]",
        "a_bar[i] = a_bar[k]",
        "s += t; t = a[i]",
        "b_bar[i] += s; s += a[i]",
    ],
)
def test_iterations_that_depend_on_one_another_stay_in_order(body):
    text = f"""
def f(a, s, t, k, n):
    a_bar = np.zeros(n)
    b_bar = np.zeros(n)
    for i in range(n - 1, -1, -1):
        {body}
    return a_bar, b_bar, s, t
"""
    assert "range(n - 1, -1, -1)" in improved(text)


def test_views_of_one_array_are_not_told_apart():
    text = """
def f(a, n):
    a_bar = np.zeros((n, n))
    row = a_bar[0]
    for i in range(n - 1, -1, -1):
        a_bar[i, 0] = row[i] + a[i]
    return a_bar
"""
    assert "range(n - 1, -1, -1)" in improved(text)


def test_a_sum_is_added_only_if_the_loop_ran():
    text = """
def f(a, k, n):
    a_bar = np.zeros(n)
    for i in range(n):
        a_bar[k] += a[i]
    return a_bar
"""
    assert "if n > 0:\n        a_bar[k] += a_bar_sum" in improved(text)


# ---- fuse --------------------------------------------------------------------------------------


def remembers(p, c):
    total, last = 0.0, 0.0
    for i in range(p.shape[0]):
        total += math.sin(p[i, 0] * last)
        last = p[i, 1] * c[0, 0]
    return total


def partly_filled(p, c):
    total = 0.0
    buffer = np.zeros(p.shape[1])
    for i in range(p.shape[0]):
        for j in range(i, p.shape[1]):
            buffer[j] = math.exp(p[i, j])
        for j in range(p.shape[1]):
            total += buffer[j] * buffer[j] * c[0, j]
    return total


def text_of(program, mode=sg.grad):
    df = mode(program, wrt=(0, 1), backend="numba")
    df.specialize(*arguments())
    return df.source


def test_independent_iterations_are_reversed_one_by_one():
    text = text_of(ratios)
    assert "# ---- and back ----" in text
    assert "np.empty((" not in text, "a tape holds one iteration"


@pytest.mark.parametrize("program", [remembers, partly_filled])
def test_iterations_that_need_earlier_ones_are_not(program):
    assert "and back" not in text_of(program)


@pytest.mark.parametrize("program", [ratios, remembers, partly_filled])
@pytest.mark.parametrize("mode", [sg.grad, sg.value_and_grad])
def test_joined_loops_give_what_two_loops_give(program, mode):
    value = mode(program, wrt=(0, 1))(*arguments())
    got = mode(program, wrt=(0, 1), backend="numba")(*arguments())
    if mode is sg.value_and_grad:
        assert got[0] == pytest.approx(value[0], rel=1e-14)
        got, value = got[1], value[1]
    for a, b in zip(got, value, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


# ---- dead --------------------------------------------------------------------------------------


def test_what_nobody_reads_is_not_computed():
    text = """
def f(a, n):
    s = 0.0
    t = 1.0
    for i in range(n):
        s += math.exp(a[i])
        t = a[i] * t
    a_bar = np.zeros(n)
    a_bar[0] += t
    return a_bar
"""
    shown = improved(text)
    assert "math.exp" not in shown
    assert "s = " not in shown
    assert "t = a[i] * t" in shown


def test_what_is_computed_all_the_same_is_added_to_nothing():
    """A sum over a slice stays; the number that it was added to may be gone."""
    text = """
def f(a, c):
    s = 0.0
    if c:
        s += jit.sum(a[:1])
    a_bar = np.zeros(3)
    return a_bar
"""
    shown = improved(text)
    assert "s += " not in shown
    assert "s = " not in shown
    assert "jit.sum(a[:1])" in shown


def test_arrays_that_nobody_reads_are_not_filled():
    text = """
def f(a, n):
    t = np.empty(n)
    u = np.empty(n)
    v = np.zeros(n)
    for i in range(n):
        t[i] = math.exp(a[i])
        v[i] += a[i]
        u[i] = a[i]
        u[0] = u[i]
    a_bar = np.zeros(v.shape)
    a_bar[0] += u[1]
    return a_bar
"""
    shown = improved(text)
    assert "math.exp" not in shown
    assert "t = np.empty" not in shown
    assert "v[i]" not in shown
    assert "v = np.zeros(n)" in shown, "its shape is read"
    assert "u[i] = a[i]" in shown
    for other in ("return a_bar, t", "w = t\n    return a_bar, w", "g(t)\n    return a_bar"):
        assert "math.exp" in improved(text.replace("return a_bar", other))


def test_calls_that_may_do_more_than_compute_stay():
    text = """
def f(a, n):
    t = g(a)
    return a[0]
"""
    assert "g(a)" in improved(text)


# ---- stop, invariant, regroup ------------------------------------------------------------------


def test_a_loop_ends_where_its_cotangent_is_given_away(monkeypatch):
    monkeypatch.setattr(loops, "skipped", {"last"})
    text = text_of(ratios)
    assert "most_bar = 0.0\n                break" in text


@pytest.mark.parametrize(
    "body",
    [
        "if b[i] > 0.0: a_bar[i] += z; z = 0.0\n        a_bar[i] += 1.0",  # gives more than z
        "if b[i] > 0.0: a_bar[i] += z\n        z = 0.0",  # not in the branch
        "if b[i] > 0.0: a_bar[i] += z; z = 0.0\n        else: z = 1.0",  # it comes back
        "if b[i] > 0.0: t = b[i]; a_bar[i] += z; z = 0.0",  # t is read after the loop
    ],
)
def test_a_loop_with_more_to_do_runs_on(body):
    text = f"""
def f(b, z, n, t):
    a_bar = np.zeros(n)
    for i in range(n - 1, -1, -1):
        {body}
    return a_bar, t
"""
    assert "break" not in improved(text)


SEARCH = """
def f(a, n, z):
    a_bar = np.zeros(n)
    w = np.empty(n)
    b_tape = np.empty(max(n, 0), np.bool_)
    most = 2.0
    for i in range(n):
        w[i] = a[i] * 2.0
        b = w[i] > most
        b_tape[i] = b
        if b:
            most = w[i]
    for i in range(n - 1, -1, -1):
        b = b_tape[i]
        t = 3.0
        if b:
            a_bar[i] += z * t
            break
    return a_bar, most
"""


def test_the_last_round_that_took_a_branch_is_kept_by_its_number():
    shown = improved(SEARCH)
    assert "b_tape" not in shown
    assert "if i_last >= 0:" in shown
    for a in ([], [1.0], [2.0], [3.0, 2.0, 5.0, 4.0], [1.0, 4.0, 5.0], [9.0, 1.0]):
        expected, got = ({}, {})
        for text, space in ((SEARCH, expected), (shown, got)):
            space["np"] = np
            exec(text, space)
            space["f"] = space["f"](np.array(a), len(a), 1.5)
        np.testing.assert_array_equal(got["f"][0], expected["f"][0])
        assert got["f"][1] == expected["f"][1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            break\n", ""),  # every round that took it counts
        ("        t = 3.0\n", "        a_bar[0] += 1.0\n"),  # other rounds do something
        ("return a_bar, most", "return a_bar, t"),
        ("return a_bar, most", "return a_bar, b_tape"),
        ("in range(n):\n        w", "in range(1, n):\n        w"),  # rounds that were not recorded
        ("        w[i] = a[i] * 2.0\n", "        if a[i] > 9.0:\n            break\n"),
    ],
)
def test_a_search_that_does_more_stays(old, new):
    assert old in SEARCH
    assert "b_tape" in improved(SEARCH.replace(old, new).replace("w[i]", "a[i]"))


def test_searches_of_many_rounds_keep_a_number_each():
    text = text_of(paths)
    assert "i_last_tape[t, j] = i_last" in text
    assert "np.bool_" not in text


def test_elements_that_stay_the_same_are_read_once():
    text = """
def f(a, b, k, n):
    s = 0.0
    for i in range(n):
        s += a_bar[k] * b[i]
    return s
"""
    shown = improved(text)
    assert "if n > 0:\n        a_bar_k = a_bar[k]" in shown
    assert "s += a_bar_k * b[i]" in shown
    changes = text.replace("s += ", "a_bar[i] = s\n        s += ")
    assert "a_bar_k" not in improved(changes)


def test_only_sums_of_cotangents_change_their_order():
    text = text_of(ratios)
    forward, reverse = text.split("and back", 1)
    assert "jit.plus" not in forward
    assert "jit.plus" in reverse
    assert "s += buffer[j]" in forward
    fast = sg.grad(numba.njit(fastmath=True)(ratios), wrt=(0, 1))
    fast.specialize(*arguments())
    assert "jit.plus" not in fast.source


def test_a_sum_in_any_order_adds_what_numbers_there_are():
    from srcgrad.runtime.numba import library
    from srcgrad.runtime.support import jit

    @library().njit
    def total(terms, start):
        for t in terms:
            start = jit.plus(start, t)
        return start

    for dtype in (np.float64, np.float32, np.int64, np.complex128):
        terms = np.arange(5).astype(dtype)
        assert total(terms, terms[0]) == 10
        assert type(total(terms, terms[0])) is type(terms[0].item())
    assert total(np.arange(5), 0.5) == 10.5


# ---- merge, first ------------------------------------------------------------------------------


def test_additions_to_one_place_become_one():
    text = """
def f(a, n, s, t):
    a_bar = np.zeros(n)
    for i in range(3):
        a_bar[i] += s
        u = a[i] * t
        a_bar[i] -= u
    return a_bar
"""
    assert "a_bar[i] += s - u" in improved(text)
    for between in ("s = a[i]", "a_bar[0] += t", "u = a_bar[i]", "i = 2"):
        kept = improved(text.replace("u = a[i] * t", f"u = a[i] * t\n        {between}"))
        assert "a_bar[i] += s - u" not in kept


def filled(a):
    text = f"""
def f(c, n):
    m = n
    {a}
    return a_bar
"""
    return improved(text)


def test_zeros_that_are_overwritten_are_not_written():
    shown = filled("a_bar = np.zeros(n)\n    for i in range(n): a_bar[i] += c[i]")
    assert "np.empty" in shown
    assert "a_bar[i] = c[i]" in shown
    shown = filled("a_bar = np.zeros(n)\n    for i in range(m - 1, -1, -1): a_bar[i] -= c[i]")
    assert "a_bar[i] = -c[i]" in shown


@pytest.mark.parametrize(
    "text",
    [
        "a_bar = np.zeros(n)\n    for i in range(n - 1): a_bar[i] += c[i]",  # not all
        "a_bar = np.zeros(n)\n    for i in range(1, n): a_bar[i] += c[i]",
        "a_bar = np.zeros(n)\n    for i in range(n): a_bar[c[i]] += 1.0",  # not each once
        "a_bar = np.zeros(n)\n    for i in range(n):\n        for j in range(n): a_bar[i] += c[j]",
        "a_bar = np.zeros(n)\n    for i in range(n):\n        if c[i] > 0.0: a_bar[i] += c[i]",
        "a_bar = np.zeros(n)\n    for i in range(n):\n        a_bar[i] += c[i]; a_bar[0] += 1.0",
        "a_bar = np.zeros(n)\n    a_bar[0] = 1.0\n    for i in range(n): a_bar[i] += c[i]",
        "a_bar = np.zeros(n)\n    for i in range(n): a_bar[i] += a_bar[n - 1]",
        "a_bar = np.zeros(n)\n    b = a_bar[1:]\n    for i in range(n): a_bar[i] += c[i]",
    ],
)
def test_zeros_that_are_needed_stay(text):
    assert "np.zeros(n)" in filled(text)


@pytest.mark.parametrize("binding", ["u_bar, u = saved", "u_bar = saved[0]", "u_bar = saved"])
def test_additions_to_what_others_hold_stay(binding):
    """The shadow that a reverse function is handed is read by its caller."""
    text = f"def f(saved, g):\n    {binding}\n    u_bar += g * 2.0\n    return g\n"
    assert "u_bar += g * 2.0" in improved(text)


def test_elements_of_a_name_that_the_loop_binds_again_are_read_each_time():
    text = """
def f(v, c, n):
    s = 0.0
    for i in range(n):
        v = c * 2.0
        s = s + v[1]
    return s
"""
    tree = ast.Module(loops.improve(ast.parse(text).body, {"v": 1, "c": 1}), [])
    assert "s = s + v[1]" in ast.unparse(ast.fix_missing_locations(tree)).replace("+=", "= s +")


# ---- reread, once ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["grad", "value_and_grad"])
@pytest.mark.parametrize("program", [cholesky, triangular, overlapping, looks_at_itself, indirect])
def test_updates_in_place(program, mode, monkeypatch):
    make = getattr(sg, mode)
    value = make(program, wrt=(0, 1))(*arguments())
    for off in (set(), {"reread"}, {"once"}):
        monkeypatch.setattr(loops, "skipped", off)
        got = make(program, wrt=(0, 1), backend="numba")(*arguments())
        if mode == "value_and_grad":
            assert got[0] == pytest.approx(value[0], rel=1e-13)
        pairs = zip(*((v[1] if mode == "value_and_grad" else v) for v in (got, value)))
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14)


def test_factorisations_need_no_cubes():
    text = text_of(cholesky)
    assert "tape = np.empty((p.shape[1], max(p.shape[1] - 1, 0), max" not in text
    assert "t1 = a[i, k]" in text.split("reverse sweep")[1], "read again"


def test_an_element_that_is_read_twice_is_kept_once():
    assert text_of(overlapping).count("np.empty") == 1


NEIGHBOURS = {
    "both sides": ("t = c[i] * 2.0\n", "a_bar[i - 1] += t; a_bar[i + 1] -= t"),
    "three": ("t = c[i] * 2.0\n", "a_bar[i - 1] += t; a_bar[i] += t; a_bar[i + 1] += t"),
    "two values": ("t = c[i] * 2.0\nu = c[i] * 3.0\n", "a_bar[i] += u; a_bar[i + 1] -= t"),
    "taken away": ("t = c[i]\n", "a_bar[i - 1] -= t; a_bar[i + 1] -= t"),
    "far apart": ("t = c[i]\n", "a_bar[i - 1] += t; a_bar[i + 5] += t"),
    "too far": ("t = c[i]\n", "a_bar[i - 1] += t; a_bar[i + 40] += t"),
    "rows": ("t = c[i]\n", "b_bar[0, i] += t; b_bar[1, i - 1] += t; b_bar[1, i + 1] += t"),
    "windows": (
        "t = c[i]\nu = t * t\n",
        "b_bar[0, i] += u; b_bar[0, i + 2] -= t; b_bar[1, i - 1] += t; b_bar[1, i + 1] += u",
    ),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_additions_to_neighbours_are_gathered(name):
    binding, additions = NEIGHBOURS[name]
    body = "".join(
        f"        {s.strip()}\n" for s in (binding + additions).replace("\n", ";").split(";")
    )
    text = f"""
def f(c, n):
    a_bar = np.zeros(n + 40)
    b_bar = np.zeros((2, n + 40))
    for i in range(1, n - 1):
{body}
    return a_bar, b_bar
"""
    shown = improved(text)
    assert shown.count("for i in range") == {"too far": 3, "rows": 2, "windows": 2}.get(name, 1)
    assert ("_before = 0.0" in shown) == (name != "too far")
    for n in (0, 1, 2, 3, 4, 7, 50):
        c = np.arange(1.0, n + 1) if n else np.zeros(0)
        for a, b in zip(run(text, c, n), run(shown, c, n), strict=True):
            np.testing.assert_array_equal(a, b)


def run(text, *args):
    space = {"np": np}
    exec(text, space)
    return space["f"](*args)
