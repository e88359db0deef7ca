"""Dicts with two stars in calls: a parameter with a default may be one of their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, 1.3, 0.4, 1.9])
BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])


def scaled(*a, scale=1.0, **k):
    return scale * sum(a) + sum(k.values())


def product(a, b=2.0, **k):
    return a * b + sum(k.values())


def keyword_only(x):
    options = {"scale": x[0], "p": x[1]}
    return scaled(x[2], **options)


def with_default(x):
    options = {"b": x[1], "c": x[2]}
    return product(x[0], **options)


def handed_on(x):
    def inner(*a, **k):
        return scaled(*a, q=x[1], **k) * 2

    return inner(x[0], x[1], scale=x[2], z=x[3]) + inner(x[0])


def two_dicts(x):
    d, e = {"scale": x[0]}, {"p": x[1]}
    return scaled(x[2], **d, **e) + scaled(x[3], **e)


PROGRAMS = [keyword_only, with_default, handed_on, two_dicts]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_known_keys(fn: Callable[[Any], Any]) -> None:
    check(fn, X, modes=("grad", "jvp"), specialize=(True,))
    check(fn, X, modes=("jvp",), specialize=(False,))


def unknown_keys(x):
    options = {"scale": x[0]}
    if x[1] > 0.5:
        options["z"] = x[2]
    return scaled(x[1], **options)


@BOTH
@pytest.mark.parametrize("fn", [unknown_keys, *PROGRAMS], ids=lambda f: f.__name__)
def test_no_default_is_taken_for_what_a_dict_holds(fn: Callable[[Any], Any], typed: bool) -> None:
    try:
        value, _ = sg.value_and_grad(fn, specialize=typed)(X)
    except sg.SrcgradError:
        return  # the keys are not known
    assert np.isclose(value, fn(X))


@BOTH
def test_unknown_keys_are_refused(typed: bool) -> None:
    with pytest.raises(sg.SrcgradError, match="starred"):
        sg.jvp(unknown_keys, specialize=typed)(X, X)
