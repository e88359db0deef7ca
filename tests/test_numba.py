"""Derivatives of functions that Numba compiles, and by it."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import srcgrad as sg

numba = pytest.importorskip("numba")
njit = numba.njit

SCALE = 3.0
TABLE = np.array([1.0, 2.0])


@njit
def helper(x):
    return SCALE * x * x


@njit(fastmath=True, error_model="python")
def energy(q, k):
    total = 0.0
    for i in range(q.shape[0]):
        total += 0.5 * k * q[i] * q[i]
    return total


def quotient(x):
    return 1.0 / x


def scaled(x):
    return SCALE * x * x


def looked_up(x):
    return TABLE[0] * x + TABLE[1] * x * x


def through_helper(x):
    return helper(x) + x


def steps(x, n):
    s = x
    for _ in range(n):
        s = math.sin(s) + s * x
    return s


def differences(x, n, h=1e-6):
    return (steps(x + h, n) - steps(x - h, n)) / (2 * h)


def test_a_dispatcher_is_differentiated_and_compiled_with_its_own_options():
    df = sg.grad(energy, wrt=(0, 1))
    q = np.array([1.0, 2.0])
    q_bar, k_bar = df(q, 3.0)
    np.testing.assert_allclose(q_bar, 3.0 * q)
    assert k_bar == pytest.approx(2.5)
    assert "fastmath=True" in df.source
    assert 'error_model="python"' in df.source
    assert df.njit.targetoptions["fastmath"]


def test_every_mode():
    q = np.array([1.0, 2.0])
    value, g = sg.value_and_grad(energy)(q, 3.0)
    assert value == pytest.approx(7.5)
    np.testing.assert_allclose(g, 3.0 * q)
    value, g = sg.vjp(energy)(2.0, q, 3.0)
    np.testing.assert_allclose(g, 6.0 * q)
    value, dot = sg.jvp(energy)(np.array([1.0, 0.0]), q, 3.0)
    assert (value, dot) == pytest.approx((7.5, 3.0))


def test_backend_compiles_plain_functions():
    df = sg.grad(steps, backend="numba")
    assert df(0.3, 40) == pytest.approx(differences(0.3, 40), rel=1e-6)
    assert isinstance(df.njit, type(helper))
    assert "s_tape[k] = s" in df.source  # an array indexed by the counter, not a list


def test_division_by_zero_is_what_it_is_in_numpy():
    assert sg.grad(quotient, backend="numba")(0.0) == -math.inf


def test_callees_that_are_dispatchers():
    assert sg.grad(njit(through_helper))(2.0) == pytest.approx(13.0)


def test_njit_is_refused_where_nothing_is_compiled():
    with pytest.raises(sg.SrcgradError, match='backend="numba"'):
        sg.grad(scaled).njit


def test_derivatives_of_derivatives():
    cube = njit(lambda x: x * x * x)
    assert sg.grad(sg.grad(cube))(2.0) == pytest.approx(12.0)
    assert "@njit" in sg.grad(sg.grad(cube), backend="numba").source


# ---- called from jitted code -----------------------------------------------------------------


energy_grad = sg.grad(energy)
energy_both = sg.value_and_grad(energy)


@njit
def descend(q, k, n):
    value = 0.0
    for _ in range(n):
        value, g = energy_both(q, k)
        q = q - 0.1 * g
    return value, q


@njit
def apply(df, q, k):
    return df(q, k)


def test_a_derivative_named_in_jitted_code():
    q = np.array([1.0, -2.0, 0.5])
    value, end = descend(q, 1.0, 100)
    np.testing.assert_allclose(end, q * 0.9**100)
    assert value == pytest.approx(0.5 * np.sum((q * 0.9**99) ** 2))


def test_a_derivative_as_an_argument_of_jitted_code():
    np.testing.assert_allclose(apply(energy_grad, np.array([2.0]), 3.0), [6.0])


def test_other_lengths_than_the_first():
    @njit
    def product(x, y):
        return np.sum(x * y)

    @njit
    def caller(x, y):
        return sum_grad(x, y)

    sum_grad = sg.grad(product, wrt=(0, 1))
    x_bar, y_bar = caller(np.array([2.0]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(x_bar, [6.0])
    np.testing.assert_allclose(y_bar, [2.0, 2.0, 2.0])


# ---- what Numba freezes ------------------------------------------------------------------------


def test_a_changed_global_is_a_new_compilation(monkeypatch):
    df = sg.grad(scaled, backend="numba")
    assert df(2.0) == 12.0
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 5.0)
    assert df(2.0) == 20.0


def test_an_array_changed_in_place_is_a_new_compilation():
    df = sg.grad(looked_up, backend="numba")
    assert df(2.0) == 9.0
    TABLE[1] = 3.0
    try:
        assert df(2.0) == 13.0
    finally:
        TABLE[1] = 2.0


# ---- meaning
# -------------------------------------------------------------------------------------


def overlapping(x):
    y = x * 1.0
    y[1:] += y[:-1]
    return np.sum(y * y)


def test_overlapping_updates_mean_what_they_mean_in_numpy():
    x = np.array([0.5, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(sg.grad(overlapping, backend="numba")(x), sg.grad(overlapping)(x))


def written(x, y):
    x[0] = x[0] * y[0]
    return np.sum(x * y)


def test_written_arguments_stay_and_may_not_be_shared():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    df = sg.grad(written, wrt=(0, 1), backend="numba")
    expected = sg.grad(written, wrt=(0, 1))(x, y)
    for got, want in zip(df(x, y), expected, strict=True):
        np.testing.assert_allclose(got, want)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    with pytest.raises(sg.SrcgradError, match="share memory"):
        df(x, x)


def reductions(a):
    m = np.max(a, axis=1, keepdims=True)
    e = np.exp(a - m)
    p = e / e.sum(axis=-1, keepdims=True)
    return np.sum(p * a) + np.mean(a, axis=0)[1] + np.min(a, axis=(0, 1))


def test_reductions_with_axes():
    a = np.array([[0.3, 1.2, 0.4], [1.5, 0.1, 2.0]])
    np.testing.assert_allclose(
        sg.grad(reductions, backend="numba")(a), sg.grad(reductions)(a), rtol=1e-12
    )


def gathered(x, index):
    picked = x[index]
    return np.sum(picked * picked * picked)


def test_repeated_indices():
    x, index = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 0])
    np.testing.assert_allclose(sg.grad(gathered, backend="numba")(x, index), [6.0, 0.0, 27.0])


def branchy(x, n):
    best, s = -1.0, 0.0
    for i in range(n):
        for j in range(i, n):
            v = math.sin(x * (i + 1.0) + j)
            if v > best:
                best = v
            s = s * 0.9 + best * v
    k = 0
    while s > 1.0:
        s = s * x
        k += 1
        if k > 5:
            break
    return s


def test_branches_triangles_and_breaks():
    df = sg.grad(branchy, backend="numba")
    for x in (0.3, 0.7, 0.95):
        assert df(x, 6) == pytest.approx(sg.grad(branchy)(x, 6), rel=1e-12)


# ---- refusals
# --------------------------------------------------------------------------------------


def unknown_to_numba(x):
    y = x * x
    return np.sum(np.tensordot(y, y, axes=0))


def test_what_numba_cannot_compile_is_named_with_its_line():
    with pytest.raises(sg.SrcgradError) as caught:
        sg.grad(unknown_to_numba, backend="numba")(np.array([1.0, 2.0]))
    text = str(caught.value)
    assert "test_numba.py" in text.splitlines()[0]
    assert "Numba can't compile" in text
    assert "tensordot" in text
    assert "Traceback" not in text


def test_a_missing_numba_is_named_with_its_extra(tmp_path):
    (tmp_path / "f.py").write_text("def f(x):\n    return x * x\n")
    code = """
        import sys
        sys.modules["numba"] = None
        import srcgrad as sg
        from f import f
        try:
            sg.grad(f, backend="numba")(2.0)
        except sg.SrcgradError as error:
            print(error)
    """
    assert "srcgrad[numba]" in run(code, tmp_path)


# ---- other processes
# -------------------------------------------------------------------------------


def run(code: str, directory: Path) -> str:
    found = importlib.util.find_spec("srcgrad")
    assert found is not None
    assert found.origin is not None
    root = str(Path(found.origin).parent.parent)
    env = dict(os.environ, SRCGRAD_CACHE_DIR=str(directory / "cache"))
    env["PYTHONPATH"] = os.pathsep.join([root, str(directory)])
    made = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=env, cwd=directory, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return made.stdout


PROGRAM = """
    import numpy as np, srcgrad as sg
    from model import f
    df = sg.grad(f, backend="numba")
    print(df(2.0))
    print(sum(df.njit.stats.cache_hits.values()), sum(df.njit.stats.cache_misses.values()))
"""


def test_a_second_process_compiles_nothing(tmp_path):
    model = tmp_path / "model.py"
    model.write_text("K = 3.0\ndef f(x):\n    return K * x * x\n")
    assert run(PROGRAM, tmp_path).split() == ["12.0", "0", "1"]
    assert run(PROGRAM, tmp_path).split() == ["12.0", "1", "0"]
    model.write_text("K = 5.0\ndef f(x):\n    return K * x * x\n")
    assert run(PROGRAM, tmp_path).split() == ["20.0", "0", "1"]


def test_importing_srcgrad_imports_no_numba(tmp_path):
    assert run("import sys, srcgrad; print('numba' in sys.modules)", tmp_path).strip() == "False"


def test_njit_takes_arrays_of_length_one_after_a_call_with_longer_ones():
    @njit
    def weighted(x, y):
        return np.sum(x * y)

    df = sg.grad(weighted, wrt=(0, 1))
    x, y, one = np.ones(3), np.arange(3.0), np.array([2.0])
    df(x, y)
    for a, b in ((x, one), (one, y), (x, y), (one, one)):
        wanted = sg.grad(weighted, wrt=(0, 1))(a, b)
        for found, right in zip(df.njit(a, b), wanted):
            np.testing.assert_array_equal(found, right)


def test_njit_is_the_specialisation_itself_where_lengths_say_nothing():
    @njit
    def chained(x):
        total = 0.0
        for k in range(x.shape[0] - 1):
            total += x[k] * x[k + 1]
        return total

    df = sg.grad(chained)
    df(np.ones(4))
    assert df.njit is df._last.function


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_diagonals_of_matrices(shape, dtype):
    def diagonals(a):
        return np.sum(np.tanh(np.diagonal(a))) * np.trace(a) + np.sum(np.diag(a) ** 2)

    a = np.random.default_rng(0).random(shape).astype(dtype)
    expected = sg.grad(diagonals)(a)
    got = sg.grad(diagonals, backend="numba")(a)
    assert got.dtype == expected.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype is np.float32 else 1e-13)


def listed(p, q):
    total = 0.0
    for i in range(p.shape[0]):
        v = np.array([p[i, 0] - q[0], p[i, 1] * q[1], p[i, 2]])
        total += v[0] * v[1] + v[2] * v[1] * v[0]
    return total


def paired(p, q):
    total = 0.0
    for i in range(p.shape[0]):
        v = np.array((p[i, 0], q[1]))
        total += v[0] * v[1] + v[1] * v[1] * v[0]
    return total


@pytest.mark.parametrize("program", [listed, paired])
def test_arrays_of_numbers(program):
    rng = np.random.default_rng(0)
    args = rng.random((4, 3)), rng.random(3)
    expected = sg.grad(program, wrt=(0, 1))(*args)
    got = sg.grad(program, wrt=(0, 1), backend="numba")(*args)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_functions_of_numpy_that_a_closure_knows_by_other_names():
    def made(part, total):
        def f(a):
            return total(np.tanh(part(a))) * total(a)

        def change(other):
            nonlocal part
            part = other

        return f, change

    f, change = made(np.diagonal, np.sum)
    a = np.random.default_rng(0).random((3, 3))
    df, compiled = sg.grad(f), sg.grad(f, backend="numba")
    np.testing.assert_allclose(compiled(a), df(a), rtol=1e-13)
    before = compiled(a)
    change(np.ravel)
    np.testing.assert_allclose(compiled(a), sg.grad(f)(a), rtol=1e-13)
    assert not np.allclose(compiled(a), before)
