"""Types as text, both ways."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from srcgrad.analysis.types.probe import type_of
from srcgrad.errors import ArgumentError
from srcgrad.ir import types as ty
from srcgrad.pipeline import show_type
from srcgrad.spelling import hint, parse_type, parse_types, pythran, sample, split

SPELLED = [
    "float", "int", "complex", "bool", "float32", "int64",
    "float64[:]", "float32[:, 1]", "complex128[:, :, :]", "bool[:]",
    "(float, int)", "(float64[:], (int, float))", "[float, ...]", "{a: float, b: float64[:]}",
    "None", "True",
]  # fmt: skip


@pytest.mark.parametrize("text", SPELLED)
def test_what_is_shown_can_be_read_and_the_other_way_round(text):
    t = parse_type(text.replace("a:", "'a':").replace("b:", "'b':"))
    assert show_type(t) == text
    ast.parse(hint(t), mode="eval")
    value = sample(t, np.random.default_rng(0))
    assert type_of(value) == (ty.Literal(value) if isinstance(value, bool) else t)


def test_types_by_name():
    types = parse_types("x=float64[:, :], n: int, s=(float, {'k': float}), flag = True")
    assert list(types) == ["x", "n", "s", "flag"]
    assert types["flag"] == ty.Literal(True)
    assert parse_types("") == {}


@pytest.mark.parametrize(
    "text", ["flot", "float64[2]", "float64[:", "f()", "float65[:]", "", "np"]
)
def test_what_is_no_type_is_refused(text):
    with pytest.raises(ArgumentError, match="isn't a type"):
        parse_type(text)
    with pytest.raises(ArgumentError, match="isn't a parameter"):
        parse_types("float64[:]")


def test_commas_in_brackets_and_strings_do_not_split():
    assert split("a[1, 2], (3, 4), ',', {5: 6, 7: 8}") == [
        "a[1, 2]", " (3, 4)", " ','", " {5: 6, 7: 8}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "spelled"),
    [("float64[:, :]", "float64[:,:]"), ("(float, int)", "(float, int)"), ("?", None)],
)
def test_pythran_has_names_of_its_own(text, spelled):
    assert pythran(parse_type(text)) == spelled
