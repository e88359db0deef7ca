"""Root finders: what a call of one stands for, so that the root gets its derivative.

    y = brentq(f, lo, hi, args=(p,))   ->   found = brentq(f, lo, hi, args=(p,))
                                            residual = f(found, p)
                                            slope = grad(f)(found, p)
                                            y = solution(found, residual, slope)

The root depends on p as the implicit function theorem says: dy = -(df/dy)^-1 (df/dp) dp (Griewank
and Walther, Evaluating Derivatives, chapter 15).  A minimum is a root of the gradient.  What the
finder does on the way has no part in it.  In the generated text `solution` is `found` again, so
that a derivative of the derivative meets the call as it stands here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcgrad.rules.registry import nondiff


@dataclass(frozen=True)
class Solver:
    """How a root finder is called and what it finds."""

    finder: Callable[..., Any]
    search: Callable[..., Any]  # the finder, called for the place alone: it has no derivative
    unknowns: str  # "number" or "array"
    signature: inspect.Signature
    field: str | None = None  # the attribute of its result that is the root
    moves: bool = False  # f(y) is y at the root, not zero
    minimum: bool = False  # the derivative of f is zero there, not f


_SOLVERS: dict[int, Solver] = {}  # by the identity of the finder
_FINDERS: dict[int, Solver] = {}  # by that of the search

# Attributes of a result beside the root that tell how the search went.
REPORT = frozenset(
    [
        "converged",
        "flag",
        "iterations",
        "function_calls",
        "success",
        "message",
        "status",
        "nfev",
        "njev",
        "nit",
        "method",
    ]
)


def solver(
    finder: Callable[..., Any],
    unknowns: str,
    *,
    field: str | None = None,
    moves: bool = False,
    minimum: bool = False,
) -> None:
    """Register a root finder."""

    def search(*args: Any, **kwargs: Any) -> Any:
        return finder(*args, **kwargs)

    nondiff(search, pure=False)
    made = Solver(finder, search, unknowns, inspect.signature(finder), field, moves, minimum)
    _SOLVERS[id(finder)] = made
    _FINDERS[id(search)] = made


def solver_of(finder: Any) -> Solver | None:
    """What is known of a root finder."""
    found = _SOLVERS.get(id(finder))
    return found if found is not None and found.finder is finder else None


def as_called(function: Any) -> Any:
    """How the text names a function: a search is the root finder."""
    found = _FINDERS.get(id(function))
    return function if found is None else found.finder


@dataclass(frozen=True)
class Replayed:
    """A function that chooses places by the values it meets, and what computes the same from what
    it chose."""

    target: Callable[..., Any]
    fn: Callable[..., Any]
    functions: tuple[str, ...]  # the parameters that are called
    active: tuple[str, ...]  # those in which there is a derivative, besides
    without: tuple[str, ...]  # the parameters that no call gives through which one passes


_REPLAYED: dict[int, Replayed] = {}  # by the identity of the target


def replayed(
    target: Callable[..., Any],
    fn: Callable[..., Any],
    functions: tuple[str, ...],
    active: tuple[str, ...],
    without: tuple[str, ...],
) -> None:
    """Register a function in whose place `fn` is differentiated, if its functions are read."""
    _REPLAYED[id(target)] = Replayed(target, fn, functions, active, without)


def replay_of(target: Any) -> Replayed | None:
    """What computes again what an integrator did."""
    found = _REPLAYED.get(id(target))
    return found if found is not None and found.target is target else None
