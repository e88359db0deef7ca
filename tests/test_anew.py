"""Zeros between taking what an array holds and adding to it anew: which are written, and which
must be."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform import loops

TAKE = "t = a_bar[i]\na_bar[i] = 0.0\nc_bar[i] += t * c[i]"


def rounds(*parts: str, before: str = "pass", after: str = "pass") -> str:
    """A function with a time loop of loops over i; `parts` are a range and a body each."""
    out = ["def f(c, n, m):", "    c_bar = np.zeros(n + 2)", "    a_bar = np.zeros(n + 2)"]
    out += ["    d_bar = np.ones(n + 2)", f"    {before}", "    for k in range(3):"]
    for over, body in zip(parts[::2], parts[1::2], strict=True):
        inner = body.splitlines()
        if over:
            out.append(f"        for i in range({over}):")
        out += [("            " if over else "        ") + line for line in inner]
    return "\n".join([*out, f"    {after}", "    return c_bar, d_bar"])


ADD = "a_bar[i] += c[i] + d_bar[i]"
RIGHT = {
    "one loop each": rounds("n", ADD, "n", TAKE),
    "taken in two parts": rounds("n", ADD, "1, n", TAKE, "", TAKE.replace("[i]", "[0]")),
    "added twice": rounds("n", ADD, "1, n", "a_bar[i - 1] += c[i]", "n", TAKE),
    "neighbours": rounds("1, n", "a_bar[i - 1] += c[i]", "n", TAKE),
    "more is taken": rounds("n", ADD, "n + 2", TAKE.replace("c[i]", "3.0")),
    "downwards": rounds("n - 1, -1, -1", ADD, "n", TAKE),
    "used after": rounds("n", ADD, "n", TAKE, after="d_bar += a_bar * 3.0 + 1.0"),
    "several times": rounds("n", ADD, "n", TAKE, "n", "a_bar[i] -= c[i]", "n", TAKE),
}
WRONG = {
    "less is taken": rounds("n", ADD, "1, n", TAKE),
    "other elements": rounds("n - 1", ADD, "n", TAKE, "1, n", ADD, "n", TAKE),
    "taken before": rounds("n", TAKE, "n", ADD),
    "taken twice": rounds("n", ADD, "n", TAKE, "n", TAKE),
    "parts overlap": rounds("n", ADD, "n", TAKE, "", TAKE.replace("[i]", "[0]")),
    "read as well": rounds("n", ADD, "n", "d_bar[i] += a_bar[i]", "n", TAKE),
    "read before": rounds("n", ADD, "n", TAKE, before="d_bar[0] += a_bar[1]"),
    "not zero before": rounds("n", ADD, "n", TAKE, before="a_bar[0] += 2.0"),
    "from the end": rounds(
        "n", "a_bar[i - 1] += c[i]", "n", TAKE, "n", ADD, "n + 2", TAKE.replace("c[i]", "3.0")
    ),
    "at times": rounds("n", f"if c[i] > 2.0:\n    {ADD}", "n", TAKE),
    "left early": rounds("n", f"if c[i] > 3.0:\n    break\n{ADD}", "n", TAKE),
    "bounds change": rounds("m", ADD, "n", TAKE, "", "m = m // 2"),
    "one place": rounds("n", "a_bar[0] += c[i]", "n", TAKE),
    "added in the same loop": rounds("n", f"{ADD}\n{TAKE}"),
    "its own value": rounds("n", "a_bar[i] += a_bar[i] + c[i]", "n", TAKE),
}


def run(text: str, n: int) -> list[np.ndarray]:
    space = {"np": np}
    exec(text, space)
    return space["f"](np.arange(1.0, n + 3), n, n)


def improved(text: str) -> str:
    tree = loops.improve(ast.parse(text).body, {"a_bar": 1, "c_bar": 1, "d_bar": 1, "c": 1})
    return ast.unparse(ast.fix_missing_locations(ast.Module(tree, [])))


@pytest.mark.parametrize("name", [*RIGHT, *WRONG])
def test_zeros_are_written_where_they_are_needed(name, monkeypatch):
    monkeypatch.setattr(loops, "skipped", {p.__name__ for p in loops.PASSES} - {"anew"})
    text = {**RIGHT, **WRONG}[name]
    shown = improved(text)
    assert shown.count("= 0.0") == (0 if name in RIGHT else text.count("= 0.0"))
    for n in (1, 2, 3, 6):
        for a, b in zip(run(text, n), run(shown, n), strict=True):
            np.testing.assert_array_equal(a, b)


def rows(p, c):
    """A row of buffers that each step fills and uses up."""
    u = p.copy()
    w = np.empty(p.shape)
    for _ in range(3):
        for i in range(p.shape[0]):
            for j in range(p.shape[1]):
                w[i, j] = u[i, j] * c[j]
        for i in range(p.shape[0]):
            for j in range(p.shape[1]):
                u[i, j] = u[i, j] + 0.1 * w[i, j] * w[i, j]
    return np.sum(u * u)


def stages(p, c):
    """Two stages of a Runge-Kutta method, in buffers."""
    y = p[0].copy()
    n = y.shape[0]
    k1, k2, t = np.empty(n), np.empty(n), np.empty(n)
    for _ in range(4):
        k1[0] = c[0]
        k2[0] = c[0]
        for i in range(1, n):
            k1[i] = c[i] * y[i - 1]
        for i in range(n):
            t[i] = y[i] + 0.5 * k1[i]
        for i in range(1, n):
            k2[i] = c[i] * t[i - 1]
        for i in range(n):
            y[i] += 0.5 * (k1[i] + k2[i])
    return np.sum(y * y)


@pytest.mark.parametrize("program", [rows, stages])
@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (2, 1), (1, 1)])
def test_buffers_that_each_step_fills(program, shape, monkeypatch):
    rng = np.random.default_rng(5)
    args = rng.random(shape), rng.random(shape[1])
    expected = sg.grad(program, wrt=(0, 1))(*args)
    texts = []
    for off in (set(), {"anew"}):
        monkeypatch.setattr(loops, "skipped", off)
        df = sg.grad(program, wrt=(0, 1), backend="numba")
        for a, b in zip(df(*args), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        texts.append(df.source)
    if 1 not in shape:
        assert texts[0].count("] = 0.0") < texts[1].count("] = 0.0")
