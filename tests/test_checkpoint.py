"""Checkpointed loops: the plain loop's gradient, few snapshots, the theory's number of runs."""

from __future__ import annotations

import importlib.util
import re
import sys
import tracemalloc
from functools import cache
from itertools import pairwise
from math import comb
from pathlib import Path

import checkpoint_programs as programs
import numpy as np
import pytest

import srcgrad as sg
from srcgrad.build import Options
from srcgrad.build.place import Place
from srcgrad.build.text import module_text
from srcgrad.errors import SrcgradError
from srcgrad.jobs import Job
from srcgrad.runtime import support
from srcgrad.spelling import parse_types

V = programs.V
MARK = re.compile(r"sg\.checkpointed\((range\((?:[^()]|\([^()]*\))*\))(?:, snapshots=\w+)?\)")
NAMES = [f.__name__ for f in programs.PROGRAMS]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The programs with their loops unmarked."""
    text = Path(programs.__file__).read_text(encoding="utf-8")
    text, count = MARK.subn(r"\1", text)
    assert count > len(NAMES) and "checkpointed(range" not in text
    return loaded(text, tmp_path_factory.mktemp("plain") / "plain_programs.py")


def loaded(text, file):
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(a, b):
    """Equal to the last bit, whatever the structure."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b)


# ---- the gradient of the plain loop -----------------------------------------------------------


@pytest.mark.parametrize("specialize", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_plain_loops_gradient(name, specialize, plain):
    if name == "views" and not specialize:
        pytest.skip("refused: see test_views_without_types_are_refused")
    marked = sg.value_and_grad(getattr(programs, name), wrt=(0, 1), specialize=specialize)
    other = sg.value_and_grad(getattr(plain, name), wrt=(0, 1), specialize=specialize)
    least = 1 if name in ("ranges", "first_time") else 0
    for n in (least, 1, 2, 3, 6, 11):
        x = V.copy()
        assert same(marked(x, 0.3, n), other(V.copy(), 0.3, n)), n
        assert same(x, V)


@pytest.mark.parametrize("name", ["bound_again", "numbers", "in_place", "nested"])
def test_it_is_that_of_differences(name):
    sg.check_grads(getattr(programs, name), (V, 0.3, 5), wrt=(0, 1), order=1)


@pytest.mark.parametrize("name", ["swapped", "read_before", "early_return", "matrices"])
def test_other_modes(name, plain):
    a, b = getattr(programs, name), getattr(plain, name)
    assert same(sg.vjp(a)(2.0, V, 0.3, 7), sg.vjp(b)(2.0, V, 0.3, 7))
    assert same(sg.jvp(a)(V, V, 0.3, 7), sg.jvp(b)(V, V, 0.3, 7))
    assert same(sg.grad(a)(V, 0.3, 7), sg.grad(b)(V, 0.3, 7))


@pytest.mark.parametrize("name", ["in_place", "bound_again", "swapped", "numbers", "nested"])
def test_second_order_is_that_of_the_plain_loop(name, plain):
    a, b = getattr(programs, name), getattr(plain, name)
    assert same(sg.hessian(a)(V, 0.3, 4), sg.hessian(b)(V, 0.3, 4))
    assert same(sg.hvp(a)(V, V, 0.3, 4), sg.hvp(b)(V, V, 0.3, 4))
    assert same(*(sg.grad(sg.grad(f, wrt=1), wrt=1)(V, 0.3, 4) for f in (a, b)))


COMPILED = sorted({*NAMES} - {"views", "tuples", "namedtuples"})
OFTEN = ("swapped", "nested", "callees", "continues", "in_plain_loop")


@pytest.mark.parametrize(
    "name", [n if n in OFTEN else pytest.param(n, marks=pytest.mark.slow) for n in COMPILED]
)
def test_numba(name, plain):
    pytest.importorskip("numba")
    marked = sg.grad(getattr(programs, name), wrt=(0, 1), backend="numba")
    other = sg.grad(getattr(plain, name), wrt=(0, 1))
    for n in (1, 7):
        got, want = marked(V.copy(), 0.3, n), other(V.copy(), 0.3, n)
        for p, q in zip(got, want, strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["tuples", "namedtuples"])
def test_numba_refuses_with_a_place(name):
    pytest.importorskip("numba")
    with pytest.raises(SrcgradError, match=r"checkpoint_programs\.py:\d+"):
        sg.grad(getattr(programs, name), backend="numba")(V, 0.3, 3)


def test_messages_are_not_repeated(capsys):
    sg.grad(programs.messages)(V, 0.3, 6)
    assert capsys.readouterr().out.split() == [w for t in range(6) for w in ("step", str(t))]


def test_vectors_of_results(plain):
    def trace(f):
        return lambda x: sg.vjp(f)(np.arange(5.0), x, 0.3, 6)

    def states(x, c, n):
        u = x
        for _ in sg.checkpointed(range(n), snapshots=2):
            u = u + c * np.sin(u)
        return u * u

    def plainly(x, c, n):
        u = x
        for _ in range(n):
            u = u + c * np.sin(u)
        return u * u

    assert same(trace(states)(V), trace(plainly)(V))


# ---- how often, how much ----------------------------------------------------------------------

CALLS = [0]


def step(u):
    CALLS[0] += 1
    return np.sin(u) + u


@sg.rule(step)
def step_rule(g, out, u):
    return g * (np.cos(u) + 1.0)


def counted(x, n, k):
    for _ in sg.checkpointed(range(n), snapshots=k):
        x = step(x)
    return np.sum(x * x)


@cache
def least(n, k):
    """The fewest iterations run without being reversed, by trying all schedules."""
    if n <= 1:
        return 0
    if k == 1:
        return n * (n - 1) // 2
    return min(m + least(m, k) + least(n - m, k - 1) for m in range(1, n))


def theory(n, k):
    """Griewank and Walther 2000: r n - C(k + r, r - 1), with r the number of runs of each."""
    r = 1
    while comb(k + r, k) < n:
        r += 1
    return r * n - comb(k + r, r - 1)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 30])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 10, 15, 20, 21, 35, 36, 70])
def test_as_few_iterations_as_the_theory_has(n, k):
    gradient = sg.grad(counted)
    gradient(V, n, k)
    CALLS[0] = 0
    gradient(V, n, k)
    assert CALLS[0] == theory(n, k) + n  # and each once with its records, to be reversed
    assert theory(n, k) == least(n, k)


@pytest.mark.parametrize("k", [1, 2, 3, 6, 10])
def test_the_schedule_keeps_to_its_snapshots(k):
    for n in range(1, 60):
        kept, runs = [0], 0
        for stop in range(n, 0, -1):
            while kept[-1] >= stop:
                kept.pop()
            at = kept[-1]
            while at < stop - 1:
                to = support.next_snapshot(at, stop, k - len(kept))
                assert at < to <= stop
                if to < stop - 1:
                    kept.append(to)
                    assert len(kept) <= k
                runs += min(to, stop - 1) - at
                at = min(to, stop - 1)
        assert runs == least(n, k)


def test_snapshots_left_out():
    """As few as let no iteration be run more than three times without being reversed."""
    for n in (1, 2, 4, 5, 35, 36, 1000, 10**6):
        k = support.snapshot_limit(None, n)
        assert comb(k + 3, 3) >= n and (k == 1 or comb(k + 2, 3) < n)


def diffuse(u, k, n):
    for _ in sg.checkpointed(range(n), snapshots=5):
        u = u + k * np.sin(u)
    return np.sum(u)


def diffuse_in_place(u, k, n):
    for _ in sg.checkpointed(range(n), snapshots=5):
        u[1:-1] += k * np.sin(u[2:] - u[:-2])
    return np.sum(u * u)


def exchange(u, k, n):
    v = np.zeros(u.shape)
    for _ in sg.checkpointed(range(n), snapshots=5):
        v[1:-1] = u[1:-1] + k * np.sin(u[2:] - u[:-2])
        u, v = v, u
    return np.sum(u * u)


@pytest.mark.parametrize("f", [diffuse, diffuse_in_place, exchange])
def test_peak_memory(f):
    """Five snapshots (of two arrays where they are exchanged) and what one iteration needs."""
    gradient, size = sg.grad(f), 20_000
    gradient(np.linspace(0.0, 1.0, 8), 0.1, 2)
    peaks = []
    for n in (60, 240):
        u = np.linspace(0.0, 1.0, size)
        tracemalloc.start()
        gradient(u, 0.1, n)
        peaks.append(tracemalloc.get_traced_memory()[1] / u.nbytes)
        tracemalloc.stop()
    assert max(peaks) < 34.0
    assert peaks[1] < peaks[0] + 1.0  # it does not grow with the number of iterations


# ---- ahead of time ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["in_place", "bound_again", "swapped", "numbers"])
def test_standalone_text_needs_only_numpy(name, tmp_path):
    types = tuple(parse_types("x=float64[:], c=float, n=int").items())
    job = Job(getattr(programs, name), "grad", ("x", "c"), types)
    text = module_text([job], [None], Options(standalone=True), Place(Path(__file__).parents[1]))
    imports = set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE))
    assert imports <= {"__future__", "numpy", "typing", "math", "collections", "sys"}
    built = loaded(text, tmp_path / f"built_{name}.py")
    want = sg.grad(getattr(programs, name), wrt=(0, 1))(V, 0.3, 9)
    assert same(getattr(built, f"{name}_grad")(V, 0.3, 9), want)


# ---- refusals ---------------------------------------------------------------------------------


def leaves(x, n):
    for _ in sg.checkpointed(range(n), snapshots=2):
        x = x * x
        if x < 0.1:
            break
    return x


def returns(x, n):
    for _ in sg.checkpointed(range(n), snapshots=2):
        x = x * x
        if x < 0.1:
            return x
    return x


def grows(x, n):
    seen = []
    for _ in sg.checkpointed(range(n), snapshots=2):
        x = x * x
        seen.append(x)
    return sum(seen)


def draws(x, n):
    for _ in sg.checkpointed(range(n), snapshots=2):
        x = x * x + np.random.rand()
    return x


def drawn(x):
    return x * np.random.default_rng().standard_normal()


def draws_in_a_callee(x, n):
    for _ in sg.checkpointed(range(n), snapshots=2):
        x = x * x + drawn(x)
    return x


def no_range(x, n):
    for v in sg.checkpointed(np.arange(n), snapshots=2):
        x = x * v
    return x


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (leaves, "break inside a checkpointed loop"),
        (returns, "return inside a checkpointed loop"),
        (grows, "changes seen, which is a list"),
        (draws, "may do something else when it is called again"),
        (draws_in_a_callee, "may do something else when it is called again"),
        (no_range, "needs a range"),
    ],
)
@pytest.mark.parametrize("specialize", [True, False])
def test_refused(f, text, specialize):
    with pytest.raises(SrcgradError, match=text) as caught:
        sg.grad(f, specialize=specialize)(0.9, 4)
    assert "test_checkpoint.py:" in str(caught.value)


def kept_beside(x, n):
    u = x.copy()
    first = u
    for _ in sg.checkpointed(range(n), snapshots=2):
        v = np.zeros(3)
        v[1:] = u[:-1] * first[0]
        u[0] = first[1] * 2.0
        u = v
    return np.sum(u * first)


def shared_at_run_time(x, n):
    u, v = x.copy(), np.zeros(3)
    for t in sg.checkpointed(range(n), snapshots=4):
        v[1:] = u[:-1] * 2.0
        if t == 2:
            v = u
        u, v = v, u
    return np.sum(u)


def test_another_name_of_what_is_bound_again_is_refused():
    with pytest.raises(SrcgradError, match="first may share memory with u"):
        sg.grad(kept_beside)(V[:3], 4)


def test_shared_memory_is_found_at_run_time():
    for backend in ("numpy", "numba"):
        with pytest.raises(SrcgradError, match="share memory that a checkpointed loop writes"):
            sg.grad(shared_at_run_time, backend=backend)(V[:3], 6)
    assert sg.grad(shared_at_run_time)(V[:3], 2).shape == (3,)


def test_views_without_types_are_refused():
    with pytest.raises(SrcgradError, match="may share memory"):
        sg.grad(programs.views, specialize=False)(V, 0.3, 3)


def test_too_few_snapshots():
    with pytest.raises(ValueError, match="at least 1"):
        sg.grad(counted)(V, 5, 0)
    with pytest.raises(ValueError, match="at least 1"):
        programs.chosen(V, 0.3, 5, 0)


def test_the_primal_is_a_plain_loop():
    assert list(sg.checkpointed(range(3, 9, 2), snapshots=1)) == [3, 5, 7]
    assert list(sg.checkpointed(range(2))) == [0, 1]
    assert all(b - a == 2 for a, b in pairwise(sg.checkpointed(range(0, 9, 2), snapshots=5)))
