"""`np.choose` is `np.where` inside `np.where`: what it does not choose has no part in the
derivative, also where that would be nan."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, -0.4, 1.1, -0.2])
WHICH = np.array([0, 2, 1, 0])


def of_three(x):
    return np.sum(np.choose(WHICH, [x, x**2, np.sin(x)]) * np.arange(1.0, 5.0))


def by_other_modes(x):
    wrapped = np.choose(WHICH * 3 - 1, (x, x**2, 2.0), mode="wrap")
    return np.sum(wrapped**2) + np.sum(np.choose(WHICH - 1, [x[0], x**2], mode="clip"))


def of_a_number(x):
    parts = [x * k for k in range(3)]
    return np.sum(np.choose(WHICH, parts) ** 2) + np.choose(1, [x[0], x[1]]) ** 2


def broadcast(x):
    which = np.array([[0, 1, 0, 1], [1, 1, 0, 0]])
    return np.sum(np.choose(which, [x, x[:2, None] ** 2]) ** 2)


def guarded(x):
    root = np.choose((x > 0).astype(int), [x * 2.0, np.sqrt(x) ** 3])
    return np.sum(root) + np.sum(np.choose(x > 0, [x, np.log(x)]))


@pytest.mark.parametrize("f", [of_three, by_other_modes, of_a_number, broadcast])
def test_choices(f):
    check(f, X)
    sg.check_grads(f, (X,))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("typed", [True, False])
def test_what_is_not_chosen_has_no_part(typed):
    first = np.where(X > 0, 1.5 * np.sqrt(np.abs(X)) + 1.0 / X, 3.0)
    second = np.where(X > 0, 0.75 / np.sqrt(np.abs(X)) - 1.0 / X**2, 0.0)
    gradient = sg.grad(guarded, specialize=typed)
    np.testing.assert_allclose(gradient(X), first)
    again = sg.jacobian(gradient, mode="reverse", specialize=typed)
    np.testing.assert_allclose(again(X), np.diag(second), atol=1e-12)
    np.testing.assert_allclose(sg.hessian(guarded)(X), np.diag(second), atol=1e-12)


@pytest.mark.parametrize("typed", [True, False])
def test_a_wrong_choice_is_numpys_error(typed):
    def f(x, which):
        return np.sum(np.choose(which, [x, x**2]))

    with pytest.raises(ValueError, match="invalid entry in choice array"):
        sg.grad(f, specialize=typed)(X, WHICH)
