"""Derivatives of NumPy's own functions, and calls of them with arguments that are spread."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

M = np.array([[1.0, 2.8, 5.2], [8.0, 11.2, 14.7]])


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize(
    ("fn", "args", "wrt", "kwargs"),
    [
        (np.var, (M,), 0, {}),
        (np.var, (M, 0), 0, {"ddof": 1}),
        (functools.partial(np.var, ddof=1), (M,), 0, {"axis": 1}),
        (functools.partial(np.einsum, "ij,j->i"), (M, np.ones(3)), (0, 1), {}),
        (np.einsum, ("ij,j->i", M, np.ones(3)), (1, 2), {}),
        (np.tensordot, (M, M.T, 1), (0, 1), {}),
        (np.where, (M > 5.0, M, M * M), (1, 2), {}),
        (np.concatenate, ([M, M],), 0, {"axis": 1}),
        (np.clip, (M, 2.0, 9.0), 0, {}),
        (max, (1.0, 2.0), (0, 1), {}),
        (np.exp, (M,), 0, {}),
    ],
)
def test_functions_of_numpy_take_their_optional_arguments(fn, args, wrt, kwargs, specialize):
    sg.check_grads(fn, args, wrt=wrt, kwargs=kwargs, specialize=specialize)


def test_the_text_names_what_it_is_by():
    df = sg.vjp(functools.partial(np.einsum, "ij,j->i"), wrt=1)
    np.testing.assert_allclose(df(np.ones(2), M, np.ones(3))[1], M.sum(axis=0))
    assert "arg2_bar = support.einsum_back(cotangent, (arg0, arg1, arg2))[2]" in df.source


def test_positions_behind_those_that_a_partial_gives():
    def product(*factors):
        return factors[0] * factors[1] ** 2 * factors[2] ** 3

    assert sg.grad(functools.partial(product, 2.0), wrt=(0, 1))(3.0, 4.0) == (768.0, 864.0)
    assert sg.jvp(functools.partial(product, 2.0), wrt=1)(1.0, 3.0, 4.0)[1] == 864.0


def passes_on(a, *args, **kwargs):
    return np.sum(np.var(a, *args, **kwargs))


def merges(a, **kwargs):
    return np.sum(np.var(a, **{"axis": 0, **kwargs}))


def local_options(a):
    options = {"axis": 1}
    return np.sum(np.var(a, **options, ddof=1) ** 2)


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize(
    ("fn", "args", "kwargs"),
    [
        (passes_on, (M, 0), {}),
        (passes_on, (M, 1), {"ddof": 1}),
        (passes_on, (M,), {"axis": 0}),
        (merges, (M,), {"ddof": 1}),
        (merges, (M,), {"axis": 1}),
        (local_options, (M,), {}),
    ],
)
def test_what_is_spread_into_a_call_of_numpy(fn, args, kwargs, specialize):
    sg.check_grads(fn, args, kwargs=kwargs, specialize=specialize)


def test_options_that_depend_on_a_branch_are_refused():
    def grown(a):
        options = {"axis": 1}
        if len(a) > 1:
            options["ddof"] = 1
        return np.sum(np.var(a, **options))

    with pytest.raises(sg.MissingRule, match="its arguments can't be told apart here"):
        sg.grad(grown)(M)


LIMITS: Any = (0.5, 2.0)


def limited(x):
    return np.sum(np.clip(x, *LIMITS) ** 2)


@pytest.mark.parametrize("specialize", [True, False])
def test_a_tuple_of_the_module_is_spread(specialize, monkeypatch):
    x = np.array([0.1, 0.7, 1.5, 3.0])
    df = sg.grad(limited, specialize=specialize)
    np.testing.assert_allclose(df(x), [0.0, 1.4, 3.0, 0.0])
    monkeypatch.setitem(globals(), "LIMITS", (0.0, 5.0))
    np.testing.assert_allclose(df(x), 2.0 * x)
    monkeypatch.setitem(globals(), "LIMITS", (1, 1.25))
    np.testing.assert_allclose(df(x), np.zeros(4))
