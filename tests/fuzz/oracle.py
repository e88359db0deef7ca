"""Whether srcgrad's derivatives of a random program are right."""

from __future__ import annotations

import copy
import hashlib
import importlib
import linecache
import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.fuzz.generator import Program
from tests.fuzz.reference import Kink, gradient

TOLERANCE = 1e-7
LARGEST = 1e6  # programs with larger values or derivatives than this say little
SECONDS = 60


@dataclass(frozen=True)
class Verdict:
    """kind: right, wrong, refused, crashed, or skipped (the program itself is of no use)."""

    kind: str
    detail: str = ""

    @property
    def reason(self) -> str:
        """The first line of the detail without what differs from program to program."""
        first = self.detail.partition("\n")[0]
        if self.kind == "wrong":  # only the numbers differ
            first = re.split(r" \d| is | has ", first)[0]
        first = re.sub(r"\S*/", "", first)
        first = re.sub(r"^(\w+: )program_\w+\.py:\d+:\d+: ", r"\1", first)
        return re.sub(r"program_\w+|\d+", "#", first)


@contextmanager
def loaded(text: str, folder: Path) -> Iterator[ModuleType]:
    """The program as a module imported from a file of its own."""
    name = "program_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    path = folder / f"{name}.py"
    path.write_text(text)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)
        linecache.cache.pop(str(path), None)


class TookTooLong(BaseException):
    """Not an Exception, so that no program and no compiler catches it."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop what runs longer: a wrong derivative may well loop for ever."""

    def stop(*_: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def judge(program: Program, folder: Path, generic: bool = True, forward: bool = True) -> Verdict:
    """Compile and run the derivatives of a program; `generic` and `forward`: these, too."""
    import srcgrad as sg

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value, expected = gradient(program.text, program.args, program.wrt)
        except Kink:
            return Verdict("skipped", "evaluated at a kink")
        except Exception as error:
            return Verdict("skipped", f"the program raises {type(error).__name__}: {error}")
        sizes = [abs(value), *(np.max(np.abs(g), initial=0.0) for g in expected)]
        if not max(sizes) < LARGEST:
            return Verdict("skipped", "values too large")
        try:
            with loaded(program.text, folder) as module, limited(SECONDS):
                return _compare(module, program, value, expected, generic, forward)
        except sg.SrcgradError as error:
            return Verdict("refused", f"{type(error).__name__}: {error}")
        except TookTooLong:
            return Verdict("crashed", "took too long")
        except Exception as error:
            return crash(error)


def crash(error: Exception) -> Verdict:
    return Verdict("crashed", f"{type(error).__name__}: {error} ({_where(error)})")


def _where(error: BaseException) -> str:
    """The function of srcgrad, or of a generated module, that raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}, {frame.name}"


def _compare(
    module: ModuleType,
    program: Program,
    value: float,
    expected: list[Any],
    generic: bool,
    forward: bool,
) -> Verdict:
    import srcgrad as sg

    f, args, wrt = module.f, program.args, program.wrt
    primal = f(*copy.deepcopy(args))
    if not _close(primal, value):
        return Verdict("skipped", "the program has another value on complex numbers")
    reverse = sg.value_and_grad(f, wrt=wrt)
    for attempt in ("first call", "second call"):
        problem = _check_reverse(reverse, args, primal, expected)
        if problem:
            return Verdict("wrong", f"reverse, {attempt}: {problem}")
    if forward:
        problem = _check_forward(sg.jvp(f, wrt=wrt), program, primal, expected)
        if problem:
            return Verdict("wrong", f"forward: {problem}")
    if generic:
        untyped = sg.value_and_grad(f, wrt=wrt, specialize=False)
        problem = _check_reverse(untyped, args, primal, expected)
        if problem:
            return Verdict("wrong", f"reverse without types: {problem}")
    return Verdict("right")


def _check_reverse(derivative: Any, args: Any, primal: Any, expected: list[Any]) -> str | None:
    given = copy.deepcopy(args)
    value, gradients = derivative(*given)
    if not _close(value, primal):
        return f"the value is {value!r}, not {primal!r}"
    for i, (got, want) in enumerate(zip(gradients, expected, strict=True)):
        if np.shape(got) != want.shape:
            return f"gradient {i} has shape {np.shape(got)}, not {want.shape}"
        if not _close(got, want):
            return f"gradient {i} is {np.asarray(got).tolist()}, not {want.tolist()}"
    for i, (got, want) in enumerate(zip(given, args, strict=True)):
        if not np.array_equal(got, want):
            return f"argument {i} was changed"
    return None


def _check_forward(
    derivative: Any, program: Program, primal: Any, expected: list[Any]
) -> str | None:
    rng = np.random.default_rng(program.seed)
    tangents = tuple(
        rng.standard_normal(g.shape) if g.shape else float(rng.standard_normal()) for g in expected
    )
    given = copy.deepcopy(program.args)
    value, tangent = derivative(copy.deepcopy(tangents), *given)
    want = sum(float(np.sum(t * g)) for t, g in zip(tangents, expected, strict=True))
    if not _close(value, primal):
        return f"the value is {value!r}, not {primal!r}"
    if np.shape(tangent) != ():
        return f"the tangent has shape {np.shape(tangent)}"
    if not _close(tangent, want):
        return f"the tangent is {tangent!r}, not {want!r}"
    for i, (got, kept) in enumerate(zip(given, program.args, strict=True)):
        if not np.array_equal(got, kept):
            return f"argument {i} was changed"
    return None


def _close(got: Any, want: Any) -> bool:
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    scale = 1.0 + float(np.max(np.abs(want), initial=0.0))
    return got.shape == want.shape and bool(np.all(np.abs(got - want) <= TOLERANCE * scale))
