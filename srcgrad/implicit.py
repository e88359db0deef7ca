"""Solutions of equations: their derivatives by the implicit function theorem.

Where F(x, a) = 0 defines x as a function of a, dx = -(dF/dx)^-1 (dF/da) da (Griewank and Walther,
Evaluating Derivatives, chapter 15).  The solver is not looked into: what it does on the way has no
part in the derivative.
"""

from __future__ import annotations

import inspect
import itertools
import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from srcgrad.api import grad, vjp
from srcgrad.errors import ArgumentError
from srcgrad.rules import custom

_F = TypeVar("_F", bound=Callable[..., Any])
_count = itertools.count(1)
_P = inspect.Parameter
_PLAIN = (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)

# The last step is linear in the weight, as forward mode needs it: a gradient without its value.
_RULE = """\
def weighted(weight, out, {args}):
    return np.sum(weight * residual(out, {args}))


def {name}_rule(g, out, {args}):
    if np.ndim(out) == 0:
        slope = residual_by_x(1.0, out, {args})[1]
        return weighted_by_arguments(-g / slope, out, {args})
    n = np.size(out)
    jacobian = np.zeros((n, n))
    for k in range(n):
        unit = np.zeros(n)
        unit[k] = 1.0
        jacobian[k] = np.ravel(residual_by_x(np.reshape(unit, np.shape(out)), out, {args})[1])
    weight = np.reshape(-np.linalg.solve(jacobian.T, np.ravel(g)), np.shape(out))
    return weighted_by_arguments(weight, out, {args})
"""


def implicit(residual: Callable[..., Any], *, wrt: Any = None) -> Callable[[_F], _F]:
    """Give a solver the derivative of the solution that it finds.

    Example:
        >>> import srcgrad as sg
        >>> def residual(x, a):
        ...     return x * x - a
        >>> @sg.implicit(residual)
        ... def root(a):
        ...     x = 1.0
        ...     for _ in range(30):
        ...         x = x - (x * x - a) / (2.0 * x)
        ...     return x
        >>> sg.grad(root)(4.0)
        0.25

    Arguments: `residual(x, *args)` is zero where x is what the solver returns for these arguments;
    it has as many elements as x, which is a number or an array.  `wrt` are the positions of the
    solver's arguments that it has derivatives in, all by default: integers, functions and the like
    have none.
    Returns: a decorator for the solver, which takes positional arguments.
    Raises: `ArgumentError` when the parameters of solver and residual do not match, NumPy's
    `LinAlgError` when the derivative is asked for where dF/dx is singular.
    """
    if not callable(residual):
        raise ArgumentError(f"implicit takes the residual, a function; got {residual!r}")

    def decorate(solver: _F) -> _F:
        names = _parameters(solver, residual)
        wanted = tuple(range(len(names))) if wrt is None else tuple(wrt)
        custom.register(custom.entry_for(solver, _rule(solver, residual, names, wanted)))
        return solver

    return decorate


def _parameters(solver: Any, residual: Any) -> list[str]:
    params = list(inspect.signature(solver).parameters.values())
    if not params or any(p.kind not in _PLAIN for p in params):
        raise ArgumentError(
            f"{solver.__name__}: an implicit solver takes positional arguments, one by one"
        )
    theirs = [p for p in inspect.signature(residual).parameters.values() if p.kind in _PLAIN]
    if len(theirs) != len(params) + 1:
        raise ArgumentError(
            f"{residual.__name__} must take the solution and the {len(params)} arguments of "
            f"{solver.__name__}; it takes {len(theirs)}"
        )
    return [f"a{k}" for k in range(len(params))]


class _Loader:
    """Shows the text of a rule to whoever asks: `linecache`, and srcgrad itself through it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, _: str) -> str:
        return self.text


def _rule(solver: Any, residual: Any, names: list[str], wanted: tuple[int, ...]) -> Any:
    """The rule of a solver, as a function of Python that can be differentiated itself."""
    label = solver.__name__ if solver.__name__.isidentifier() else "solver"
    text = _RULE.format(name=label, args=", ".join(names))
    only = len(wanted) == 1
    if len(wanted) != len(names):
        found = {k: "found" if only else f"found[{n}]" for n, k in enumerate(wanted)}
        spread = ", ".join(found.get(k, "None") for k in range(len(names)))
        text = re.sub(r"( +)return (weighted_by.*)", rf"\1found = \2\n\1return {spread}", text)
    file = os.path.join(os.path.dirname(__file__), "implicit", f"{label}_{next(_count)}.py")
    namespace: dict[str, Any] = {
        "__name__": "srcgrad_implicit",
        "__loader__": _Loader(text),
        "np": np,
        "residual": residual,
    }
    exec(compile(text, file, "exec"), namespace)
    namespace["residual_by_x"] = vjp(residual, 0)
    by = wanted[0] + 2 if only else tuple(k + 2 for k in wanted)
    namespace["weighted_by_arguments"] = grad(namespace["weighted"], by)
    return namespace[f"{label}_rule"]


__all__ = ["implicit"]
