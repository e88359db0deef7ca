"""Calls of library functions in forms that were wrong, crashed or were refused without need: each
in reverse and forward mode, without types, and to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
from scipy import linalg, stats

import srcgrad as sg
from tests.numeric import check

X = np.array([0.7, 1.3, 2.1])
A = np.array([[2.0, 0.3, -0.1], [0.2, 1.7, 0.4], [0.1, -0.3, 1.4]])
B = np.array([0.4, -1.1, 0.6])
SPD = A @ A.T + np.eye(3)


def weighted(y: Any) -> Any:
    y = np.asarray(y)
    return np.sum(y * np.cos(1.0 + np.arange(y.size)).reshape(y.shape))


def parts(y: Any) -> Any:
    return weighted(np.real(y)) + 0.7 * weighted(np.imag(y))


ARRAYS = [
    lambda x: weighted(np.cross(A * x, B)),
    lambda x: weighted(np.piecewise(x, [x < 1], [np.sin, 5.0])),
    lambda x: weighted(np.frexp(x)[0]),
    lambda x: weighted(linalg.cho_solve(linalg.cho_factor(SPD + np.diag(x)), B)),
    lambda x: weighted(linalg.lu_solve(linalg.lu_factor(A + np.diag(x)), B)),
    lambda x: weighted(stats.gamma.logpdf(x, 2.0, scale=1.5)),
    lambda x: weighted(stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), x)),
    lambda x: parts(scipy.fft.fft(x, n=5, norm="ortho")),
    lambda x: parts(scipy.fft.rfft2(np.outer(x, x))),
    lambda x: weighted(scipy.fft.irfft(scipy.fft.rfft(x) * np.array([1.0, 0.5j]), n=3)),
    lambda x: weighted(scipy.fft.dct(x, type=3, norm="ortho")),
    lambda x: weighted(scipy.fft.idst(x, n=5)),
    lambda x: weighted(np.sin(x)[...] * x),
]
POINTS = [
    lambda x: np.sin(x)[()] * np.exp(x),
    lambda x: np.squeeze(x * 2.0)[()] * x,
]


@pytest.mark.parametrize("specialize", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("k", range(len(ARRAYS)))
def test_arrays(k: int, specialize: bool) -> None:
    sg.check_grads(ARRAYS[k], (X,), order=2, specialize=specialize)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")  # since NumPy 2.0
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy 2.5 crosses vectors of 3 only"
)
@pytest.mark.parametrize("specialize", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("b", [B[:2], B])
def test_cross_products_in_a_plane(b: Any, specialize: bool) -> None:
    sg.check_grads(lambda x: weighted(np.cross(x[:2], b)), (X,), specialize=specialize)


@pytest.mark.parametrize("specialize", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("k", range(len(POINTS)))
def test_arrays_without_dimensions(k: int, specialize: bool) -> None:
    sg.check_grads(POINTS[k], (np.array(0.7),), order=2, specialize=specialize)
    check(POINTS[k], np.array(0.7), specialize=(specialize,))


REFUSED = [
    (lambda x: np.sum(np.pad(x, 2, mode="maximum")), "mode 'maximum'"),
    (lambda x: np.sum(np.linalg.qr(np.outer(x, x)[:, :2], mode="complete")[1]), "complete"),
    (lambda x: np.sum(np.exp(x, casting="same_kind")), "does not know the argument casting"),
]


@pytest.mark.parametrize(("f", "words"), REFUSED)
def test_what_is_refused_has_its_place(f: Any, words: str) -> None:
    """Also where only the call shows it: the error is one of srcgrad's, at the user's line."""
    for derivative in (sg.grad(f), sg.grad(f, specialize=False)):
        with pytest.raises(sg.MissingRule, match=words) as caught:
            derivative(X)
        assert caught.value.loc is not None
        assert caught.value.loc.file == __file__
        assert caught.value.loc.line == f.__code__.co_firstlineno
