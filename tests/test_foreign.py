"""Arrays of other libraries, here dask's: functions written in the style of arrays take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad as sg

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def in_this_thread() -> Any:
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def elementwise(x):
    return np.sum(np.sin(x) * x + np.exp(-x) / (1.0 + x))


def broadcast(x, w):
    return np.sum(np.exp(-x * w) + x**2)


def regression(x, w):
    r = x @ w - 1.0
    return np.mean(r * r) + 0.1 * np.sum(w**2)


def centred(x):
    y = x - np.mean(x, axis=0)
    return np.sum(np.tanh(y) ** 2) / np.sum(np.abs(x))


def chosen(x):
    return np.sum(np.where(x > 0.5, x * x, np.sqrt(x)))


def clipped(x):
    return np.sum(np.maximum(x, 0.3) * x.T.T) + np.max(x)


def methods(x):
    return (x**3).sum() + x.mean() + x.reshape((-1,)).sum()


def norm(x):
    return np.linalg.norm(x)


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def looped(x, n=3):
    total = 0.0
    for k in range(n):
        total = total + np.sum(np.cos(k * x))
    return total


X = np.random.default_rng(3).uniform(0.1, 1.0, size=(6, 4))
W = np.linspace(0.5, 2.0, 4)
CASES = [
    (elementwise, (X,)), (broadcast, (X, 0.5)), (broadcast, (X, W)), (regression, (X, W)),
    (centred, (X,)), (chosen, (X,)), (clipped, (X,)), (methods, (X,)), (norm, (X,)),
    (softmax, (X,)), (looped, (X,)), (elementwise, (X.astype(np.float32),)),
]  # fmt: skip


def lazy(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        da.from_array(a, chunks=(2, 3)) if isinstance(a, np.ndarray) and a.ndim == 2 else a
        for a in args
    )


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("specialize", [True, False])
def test_gradients(fn: Any, args: Any, specialize: bool) -> None:
    wrt = tuple(range(len(args)))
    expected = sg.grad(fn, wrt)(*args)
    found = sg.grad(fn, wrt, specialize=specialize)(*lazy(args))
    for have, want in zip(found, expected, strict=True):
        assert isinstance(have, da.Array)  # nothing was computed
        assert (have.shape, have.dtype) == (np.shape(want), np.result_type(want))
        tolerance = 1e-5 if have.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(have.compute(), want, rtol=tolerance)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_other_modes(fn: Any, args: Any) -> None:
    if fn in (norm, clipped):
        pytest.skip("their tangents need helpers that are for NumPy's arrays")
    value, slope = sg.jvp(fn)(lazy((np.ones_like(X),))[0], *lazy(args))
    np.testing.assert_allclose(value.compute(), fn(*args), rtol=1e-5)
    gradient = sg.grad(fn)(*args)
    np.testing.assert_allclose(slope.compute(), np.sum(gradient), rtol=1e-5, atol=1e-12)
    value, pulled = sg.vjp(fn)(2.0, *lazy(args))
    np.testing.assert_allclose(pulled.compute(), 2.0 * gradient, rtol=1e-5)


def test_an_array_of_numpy_afterwards() -> None:
    """Both kinds may be given to one derivative, in any order."""
    df = sg.grad(elementwise)
    first = df(lazy((X,))[0])
    second = df(X)
    assert isinstance(second, np.ndarray)
    np.testing.assert_allclose(first.compute(), second)
    assert isinstance(df(lazy((X,))[0]), da.Array)


def stores(x):
    y = x * 2.0
    y[0] = 0.0
    return np.sum(y)


def joined(x):
    return np.sum(np.concatenate([x, x]) ** 2)


def sliced(x):
    return np.sum(x[1:] * x[:-1])


@pytest.mark.parametrize(
    ("fn", "why"),
    [(stores, "writes into an array"), (joined, "concatenate_back"), (sliced, "needs the helper")],
)
def test_what_is_not_for_them_is_refused(fn: Any, why: str) -> None:
    with pytest.raises(sg.SrcgradError, match=rf"an argument of type dask\.Array: .*{why}"):
        sg.grad(fn)(*lazy((X,)))


def test_arrays_are_not_results_of_grad() -> None:
    with pytest.raises(sg.SrcgradError, match=r"returned an array of shape \(6, 4\)"):
        sg.grad(lambda x: x * 2.0)(*lazy((X,)))


def test_lengths_that_dask_does_not_know() -> None:
    (x,) = lazy((X,))
    with pytest.raises(sg.SrcgradError, match="compute_chunk_sizes"):
        sg.grad(elementwise)(x[x[:, 0] > 0.5])
