"""A carried cotangent is scaled after its last reader, where nothing in between minds."""

from __future__ import annotations

import ast
import linecache

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.transform.delay import delay

HEAD = "def f(h_bar, a_bar, b, x, i):\n t1_bar = h_bar\n"


def delayed(*lines: str, number: bool = True) -> str:
    fn = ast.parse(HEAD + "".join(f" {line}\n" for line in lines)).body[0]
    assert isinstance(fn, ast.FunctionDef)
    fn.body[0].srcgrad_number = number  # type: ignore[attr-defined]
    delay(fn)
    return ast.unparse(fn)


def test_scaled_last() -> None:
    text = delayed("h_bar = h_bar * b", "a_bar += t1_bar", "x_bar[i] += t1_bar * x")
    assert text.splitlines()[1:] == [
        "    a_bar += h_bar",
        "    x_bar[i] += h_bar * x",
        "    h_bar = h_bar * b",
    ]


def test_what_was_computed_of_it_is_used_first() -> None:
    text = delayed("h_bar = h_bar * b", "t2_bar = t1_bar * x", "a_bar[i] += t2_bar")
    assert text.splitlines()[-1] == "    h_bar = h_bar * b"


@pytest.mark.parametrize(
    "lines",
    [
        ("h_bar = h_bar * b", "h_bar += x", "a_bar += t1_bar"),  # the new value is read
        ("h_bar = h_bar * a_bar", "a_bar += t1_bar"),  # it needs what changes
        ("h_bar = h_bar * b", "b = tape.pop()", "a_bar += t1_bar"),
        ("h_bar = h_bar * b", "g_reverse(t1_bar)"),
        ("h_bar = h_bar * b", "if x: a_bar += t1_bar", "a_bar += x"),
        ("h_bar = np.copyto(h_bar, b)", "a_bar += t1_bar"),
        ("h_bar += b", "a_bar += t1_bar"),
    ],
)
def test_left_as_it_is(lines: tuple[str, ...]) -> None:
    assert "t1_bar" in delayed(*lines)


def test_only_numbers() -> None:
    assert "t1_bar" in delayed("h_bar = h_bar * b", "a_bar += t1_bar", number=False)


def test_a_filter() -> None:
    def f(x, a, b):
        h = 0.0
        s = 0.0
        for i in range(len(x)):
            h = a * x[i] + b * h
            s += h * h
        return s

    x = np.array([0.3, -0.7, 1.1, 0.4])
    sg.check_grads(f, (x, 0.6, 0.5), wrt=(0, 1, 2), order=2)
    text = sg.source(f, x, 0.6, 0.5, wrt=(0, 1, 2))
    assert "= h_bar\n" not in text
    assert text.index("x_bar[i] += h_bar * a") < text.index("h_bar = h_bar * b")


@pytest.mark.parametrize(
    "key",
    [
        (None,), (None, slice(None)), (slice(None), None), (..., None), (None, ...),
        (..., None, slice(None)), (..., slice(None), None), (slice(None), None, ...),
        (None, ..., None), (..., None, slice(None), None), (..., None, slice(None), slice(None)),
        (slice(None), None, slice(None)), (slice(None), ..., None, slice(None)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("typed", [True, False])
def test_keys_that_only_add_axes(key, typed):
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
    w = np.random.default_rng(0).normal(size=x[key].shape)

    text = ", ".join("..." if k is ... else "None" if k is None else ":" for k in key)
    namespace = {"np": np, "w": w}
    source = f"def f(x):\n    return np.sum(x[{text},] * w * x[{text},])\n"
    file = f"<axes {text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), namespace)
    sg.check_grads(namespace["f"], (x,), specialize=typed)
