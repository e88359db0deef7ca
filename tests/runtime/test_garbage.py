"""No garbage collection starts while a derivative is made, and all is as it was afterwards."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import numpy as np
import pytest

import srcgrad as sg
from srcgrad import pipeline
from srcgrad.ir import types as ty
from srcgrad.runtime import garbage
from tests import programs


def collections_during(make: object) -> int:
    seen: list[str] = []
    watch = lambda phase, info: seen.append(phase)  # noqa: E731
    gc.callbacks.append(watch)
    try:
        make()  # type: ignore[operator]
    finally:
        gc.callbacks.remove(watch)
    return seen.count("start")


def test_making_a_derivative_sets_off_no_collection(tmp_path: Path) -> None:
    f = programs.loaded(tmp_path, programs.straight_line(300)).f
    request = pipeline.Request(f, "grad", ("x",), (ty.Number(float),))
    pipeline.draft([request])
    # One may come with the first object after the compiler has run.
    assert collections_during(lambda: pipeline.draft([request])) <= 1
    assert gc.isenabled()


def test_a_process_without_collections_has_none_afterwards() -> None:
    gc.disable()
    try:
        with garbage.kept():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_error_ends_it() -> None:
    def f(x: np.ndarray) -> float:
        return eval("x")  # type: ignore[no-any-return]

    with pytest.raises(sg.SrcgradError):
        sg.grad(f)(np.ones(3))
    assert gc.isenabled()


def test_the_last_of_several_threads_ends_it() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with garbage.kept():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with garbage.kept():
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
