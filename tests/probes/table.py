"""The table of probes: functions of one construct each, with the point to try them at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.numeric import Wrt

V = np.array([0.5, -1.2, 2.0])
P = np.array([0.7, 1.4, 0.3, 2.2])
M = np.array([[0.3, -0.8, 1.1], [1.7, 0.4, -0.6]])
S = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.6, 1.8]])


@dataclass(frozen=True)
class Probe:
    """A function of one construct, and the arguments it is differentiated at."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: Wrt
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    tol: float = 1e-7


PROBES: dict[str, Probe] = {}
_PLACES: dict[str, tuple[str, int]] = {}


def _register(name: str, found: Probe) -> None:
    frame = sys._getframe(2)
    place = frame.f_code.co_filename, frame.f_lineno
    # A module may be imported under two names.
    assert _PLACES.setdefault(name, place) == place, f"two probes are called {name}"
    PROBES[name] = found


def add(name: str, fn: Callable[..., Any], *args: Any, wrt: Wrt = 0, tol: float = 1e-7) -> None:
    """Register a function that is made elsewhere."""
    _register(name, Probe(fn, args, wrt, {}, tol))


def probe(
    *args: Any, wrt: Wrt = 0, tol: float = 1e-7, **kwargs: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function to be differentiated at these arguments."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        _register(fn.__name__, Probe(fn, args, wrt, kwargs, tol))
        return fn

    return register
