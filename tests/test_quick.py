"""Calls on the quick path: it is taken where it can be, and left whenever something changed."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

SCALE = 3.0
TABLE = np.array([1.0, 2.0])


def helper(x: Any) -> Any:
    return x * x


def cube(x: Any) -> Any:
    return x * x * x


def f(x: Any, y: Any) -> Any:
    return helper(x) * y * SCALE


def total(x: Any, y: Any) -> Any:
    return np.sum(np.square(x) * y)


def flagged(x: Any, twice: bool, how: str) -> Any:
    if how == "cube":
        x = x * x * x
    return 2.0 * x if twice else x


def with_table(x: Any) -> Any:
    return np.sum(x * TABLE)


class Own(np.ndarray):
    pass


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    def loss(self, x: Any) -> Any:
        return self.k * x * x


def warm(df: Callable[..., Any], *args: Any) -> Any:
    """The result of the third call: the first compiles, the second prepares the quick path."""
    df(*args)
    df(*args)
    return df(*args)


def took_it(df: Any, *args: Any) -> bool:
    """Whether a call takes the quick path."""
    long_way = df._prepared
    went = []
    df._prepared = lambda *given: went.append(given) or long_way(*given)
    try:
        df(*args)
    finally:
        del df._prepared
    return not went


X, Y = np.array([1.0, 2.0]), np.array([3.0, 4.0])


@pytest.mark.parametrize(
    ("df", "args"),
    [
        (sg.grad(f), (2.0, 5.0)),
        (sg.grad(f, wrt=(0, 1)), (np.float32(2.0), 5.0)),
        (sg.value_and_grad(total), (X, Y)),
        (sg.vjp(total), (1.0, X, Y)),
        (sg.jvp(total), (X, X, Y)),
        (sg.grad(total, specialize=False), (X, Y)),
        (sg.grad(flagged), (2.0, True, "cube")),
        (sg.grad(with_table), (X,)),
        (sg.grad(Model(2.0).loss), (3.0,)),
        (sg.grad(functools.partial(total, X)), (Y,)),
        (sg.grad(sg.grad(f)), (2.0, 5.0)),
        (sg.grad(total, rules={np.square: lambda g, out, x: 2.0 * g * x}), (X, Y)),
    ],
    ids=lambda v: repr(v) if hasattr(v, "sources") else "",
)
def test_it_is_taken_and_gives_the_same(df: Any, args: Any) -> None:
    first, third = df(*args), warm(df, *args)
    assert took_it(df, *args)
    np.testing.assert_equal(third, first)


def test_other_types_are_another_specialisation() -> None:
    df = sg.grad(total)
    warm(df, X, Y)
    assert df(X.astype(np.float32), Y).dtype == np.float32
    assert df(X, Y[:1]).shape == (2,)
    assert df(X[:1], Y).shape == (1,)
    assert df(np.ones((3, 2)), Y).shape == (3, 2)
    assert df(X, 2.0).tolist() == [4.0, 8.0]
    assert df(X, Y).tolist() == [6.0, 16.0]
    df = sg.grad(total, wrt=1)
    warm(df, X, Y)
    assert df(X, Y[:1]).tolist() == [5.0]
    assert df(np.ones((1, 2)), np.ones((3, 1))).tolist() == [[2.0]] * 3


def test_flags_and_names_count_by_value() -> None:
    df = sg.grad(flagged)
    assert warm(df, 2.0, True, "cube") == 24.0
    assert df(2.0, False, "cube") == 12.0
    assert df(2.0, True, "plain") == 2.0
    assert df(2.0, 1, "cube") == 24.0
    assert df(2.0, True, "".join(["cu", "be"])) == 24.0


def test_subclasses_and_byte_orders_go_the_long_way() -> None:
    df = sg.grad(total)
    warm(df, X, Y)
    swapped = X.astype(">f8")
    assert df(swapped, Y).tolist() == [6.0, 16.0]
    with pytest.raises(sg.SrcgradError, match="subclass of ndarray"):
        df(X.view(Own), Y)


def test_overrides_and_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    df = sg.grad(total)
    assert warm(df, X, Y).tolist() == [6.0, 16.0]
    with sg.override({np.square: lambda g, out, x: 0.0 * g}):
        assert df(X, Y).tolist() == [0.0, 0.0]
        assert df(X, Y).tolist() == [0.0, 0.0]
        assert df(X, Y).tolist() == [0.0, 0.0]
        assert contextvars.Context().run(df, X, Y).tolist() == [6.0, 16.0]
    assert df(X, Y).tolist() == [6.0, 16.0]

    def ruled(x: Any) -> Any:
        return x * x

    def g(x: Any) -> Any:
        return ruled(x)

    dg = sg.grad(g)
    assert warm(dg, 3.0) == 6.0
    sg.rule(ruled)(lambda g, out, x: -g)
    assert dg(3.0) == -1.0


def test_names_bound_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    df, here = sg.grad(f), __name__
    assert warm(df, 2.0, 5.0) == 60.0
    monkeypatch.setattr(f"{here}.SCALE", 1.0)
    assert warm(df, 2.0, 5.0) == 20.0
    monkeypatch.setattr(f"{here}.helper", cube)
    assert warm(df, 2.0, 5.0) == 60.0
    monkeypatch.undo()
    assert warm(df, 2.0, 5.0) == 60.0
    monkeypatch.delattr(f"{here}.helper")
    with pytest.raises(sg.SrcgradError, match="helper"):
        df(2.0, 5.0)


def test_code_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    df = sg.grad(f)
    assert warm(df, 2.0, 5.0) == 60.0
    monkeypatch.setattr(helper, "__code__", cube.__code__)
    assert warm(df, 2.0, 5.0) == 180.0


def test_arrays_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([1.0, 2.0])
    monkeypatch.setattr(f"{__name__}.TABLE", table)
    df = sg.grad(with_table)
    assert warm(df, X).tolist() == [1.0, 2.0]
    table[0] = 7.0
    assert df(X).tolist() == [7.0, 2.0]
    monkeypatch.setattr(f"{__name__}.TABLE", np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert warm(df, X).tolist() == [4.0, 6.0]
    monkeypatch.setattr(f"{__name__}.TABLE", np.array([5.0]))
    assert warm(df, X).tolist() == [5.0, 5.0]


def test_a_derivative_inside_another_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    df = sg.grad(sg.grad(f))
    assert warm(df, 2.0, 5.0) == 30.0
    monkeypatch.setattr(f"{__name__}.helper", cube)
    assert df(2.0, 5.0) == 180.0


def test_written_arguments_stay_the_callers() -> None:
    def writes(x: Any, y: Any) -> Any:
        x[0] = x[0] * y[1]
        return x[0] * y[0]

    df = sg.grad(writes, wrt=(0, 1))
    x = np.array([2.0, 3.0])
    for _ in range(3):
        df(x, np.array([2.0, 3.0]))
        assert x.tolist() == [2.0, 3.0]
    with pytest.raises(sg.SrcgradError, match="share memory"):
        df(x, x)


def test_the_source_is_that_of_the_last_call() -> None:
    df = sg.grad(total)
    warm(df, X, Y)
    warm(df, 2.0, 3.0)
    assert "x float," in df.source
    df(X, Y)
    assert "x float64[:]" in df.source


def test_errors_are_explained() -> None:
    df = sg.grad(total)
    warm(df, X, Y)
    with pytest.raises(ValueError, match="broadcast") as caught:
        df(np.ones(3), Y)
    assert any("np.sum(np.square(x) * y)" in note for note in caught.value.__notes__)
    with pytest.raises(TypeError):
        df(X)


def test_threads() -> None:
    df = sg.grad(total)
    wrong: list[Any] = []

    def work(args: tuple[Any, ...], expected: Any) -> None:
        for _ in range(300):
            got = np.asarray(df(*args)).tolist()
            if got != expected:
                wrong.append(got)

    jobs = [((X, Y), [6.0, 16.0]), ((X, Y[:1]), [6.0, 12.0]), ((2.0, 3.0), 12.0)]
    threads = [threading.Thread(target=work, args=job) for job in jobs for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
