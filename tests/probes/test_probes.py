"""Every probe, in reverse and forward mode, with and without types, against differences."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
import tests.probes
from tests.numeric import Point
from tests.probes.table import PROBES, V

for _module in pkgutil.iter_modules(tests.probes.__path__):  # fill the table
    if not _module.name.startswith("test_"):
        importlib.import_module(f"tests.probes.{_module.name}")


def test_there_are_many() -> None:
    assert len(PROBES) >= 250


@pytest.mark.parametrize("name", PROBES)
def test_first_order(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    probe = PROBES[name]
    logging.getLogger("probes").setLevel(logging.ERROR)
    point = Point(probe.fn, probe.args, dict(probe.kwargs), probe.wrt)
    reverse = "value_and_grad" if point.is_scalar else "vjp"
    for typed in (True, False):
        for mode in (reverse, reverse, "jvp"):  # twice: nothing may be left behind
            problem = point.problem(mode, typed, probe.tol)
            assert problem is None, f"{mode}{'' if typed else ' without types'}: {problem}"


# ---- what has to be refused --------------------------------------------------------------------


def reads_bytes(x):
    return float(np.frombuffer(x)[0])


def drawn(x):
    return random.choice([x, x * x])


def imaginary_part_written(x):
    z = np.zeros(3, complex)
    z.imag[:] = x
    return (z * z * z).imag.sum()


def imaginary_view_of_written(x):
    z = np.zeros(3, complex) + 1j * x
    v = z.imag
    z[0] = x[1] * 1j * x[0]
    return (v * v).sum()


class Odd:
    def __mul__(self, other):
        return other**3


class Mixed:
    def __mul__(self, other):
        return other**2


MANY = [Odd(), Mixed()]


def number_from_text(x):
    return float(str(x)) * x


def numbers_from_pieces_of_text(x):
    return sum(float(v) for v in ",".join(f"{v:.3f}" for v in x).split(","))


def number_from_a_table_of_text(x):
    words = []
    words.append(np.format_float_positional(x))
    return np.array(words, dtype=float).sum() * x


def operator_of_two_classes(x):
    total = 0.0
    for one in MANY:
        total = total + one * x
    return total


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize(
    ("fn", "argument"),
    [
        (reads_bytes, V.copy()),
        (drawn, 1.5),
        (imaginary_part_written, V.copy()),
        (imaginary_view_of_written, V.copy()),
        (operator_of_two_classes, 1.5),
        (number_from_text, 1.5),
        (numbers_from_pieces_of_text, V.copy()),
        (number_from_a_table_of_text, 1.5),
    ],
)
def test_refused(fn: Callable[..., Any], argument: Any, typed: bool) -> None:
    with pytest.raises(sg.SrcgradError, match=rf"{Path(__file__).name}:\d+"):
        sg.grad(fn, specialize=typed)(argument)


def test_text_that_is_only_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        label = f"{x:.2f}"
        print(label, float(label))
        return x * len(label)

    assert sg.grad(f)(1.5) == 4.0
    assert capsys.readouterr().out == "1.50 1.5\n"


def test_a_function_that_was_not_there() -> None:
    gradient = sg.grad(first_of_the_table)
    assert gradient(0.5) == 1.0
    TABLED[0] = np.cos
    try:
        assert gradient(0.5) == pytest.approx(-np.sin(0.5))
    finally:
        TABLED[0] = np.square


TABLED = [np.square]


def first_of_the_table(x):
    return TABLED[0](x)


# ---- dtypes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
def test_float64_beside_float32_keeps_its_precision(typed: bool) -> None:
    narrow = np.array([0.1, -1.2, 2.3], np.float32)
    wide = np.array([1.1, 0.7, 0.3])
    for fn in (lambda x, y: (x * y).sum() * 1.1, lambda x, y: np.dot(x, y) * 1.1, mixed_loop):
        gradient = sg.grad(fn, wrt=1, specialize=typed)(narrow, wide)
        assert gradient.dtype == np.float64
        np.testing.assert_allclose(gradient, 1.1 * narrow.astype(float), rtol=1e-15)


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
def test_no_derivative_goes_through_integers(typed: bool) -> None:
    x = np.array([0.5, -1.2, 2.3])
    for fn in (
        lambda x: x.astype(int).sum() * 1.0 + x[0],
        lambda x: x.astype("i8").astype(float).sum() + x[0],
        lambda x: np.array(x, dtype=int).sum() * 1.0 + x[0],
        lambda x: np.asarray([v * 3.0 for v in x], dtype=np.int32).sum() + x[0],
        lambda x: np.linspace(x[1], x[2], 5, dtype=int).sum() + x[0],
    ):
        np.testing.assert_array_equal(sg.grad(fn, specialize=typed)(x), [1.0, 0.0, 0.0])
        assert sg.jvp(fn, specialize=typed)(np.array([2.0, 30.0, 40.0]), x)[1] == 2.0


def mixed_loop(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += a * b * 1.1
    return total


def test_the_order_of_elements_is_that_of_the_argument() -> None:
    m = np.asfortranarray([[0.3, -0.8, 1.1], [1.7, 0.4, -0.6]])
    by_memory = np.zeros((2, 3))
    by_memory[1, 0] = 2.0 * 1.7
    for typed in (True, False):
        found = sg.grad(lambda m: m.ravel("K")[1] ** 2, specialize=typed)(m)
        np.testing.assert_array_equal(found, by_memory)
