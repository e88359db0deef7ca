"""The derivative of a random program by complex step: the program itself, run on complex numbers.

Conditions look at real parts; functions that are not analytic (maxima, absolute values, norms,
sorting) are replaced by the analytic piece that applies.  Where a program is evaluated at a kink
the derivative is a matter of convention, and `Kink` is raised.
"""

from __future__ import annotations

import ast
import cmath
import copy
import math
import warnings
from collections.abc import Callable
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

STEP = 1e-30
CLOSE = 1e-9  # how near to a kink is too near


class Kink(Exception):
    """The program is evaluated where its derivative is not defined."""


def _apart(a: Any, b: Any) -> None:
    """Refuse values that are tied but have different derivatives."""
    a, b = np.broadcast_arrays(a, b)
    tied = np.abs(a.real - b.real) < CLOSE
    if np.any(np.abs(a.imag - b.imag)[tied] > CLOSE * STEP):
        raise Kink


def _real(value: Any) -> Any:
    return value.real if isinstance(value, complex | np.ndarray | np.complexfloating) else value


def _abs(z: Any) -> Any:
    _apart(z, np.zeros_like(z))
    return np.where(np.real(z) < 0, -z, z)[()]


def _larger(a: Any, b: Any) -> Any:
    _apart(a, b)
    return np.where(np.real(a) >= np.real(b), a, b)[()]


def _max(*values: Any) -> Any:
    best = values[0]
    for value in values[1:]:
        best = _larger(best, value)
    return best


def _array_max(v: Any) -> Any:
    return _max(*np.ravel(v))


def _sort(v: Any) -> Any:
    ordered = v[np.argsort(v.real, kind="stable")]
    _apart(ordered[1:], ordered[:-1])
    return ordered


def _norm(v: Any) -> Any:
    total = np.sum(v * v)
    if total.real < CLOSE**2:
        raise Kink
    return np.sqrt(total)


def _arctan2(y: Any, x: Any) -> Any:
    if np.any(np.real(x) <= 0):
        raise Kink
    return np.arctan(y / x)


class _ComplexNumPy:
    """`np` for a program run on complex numbers: arrays that would be float are complex."""

    maximum = staticmethod(_larger)
    max = staticmethod(_array_max)
    abs = staticmethod(_abs)
    sort = staticmethod(_sort)
    arctan2 = staticmethod(_arctan2)
    linalg = SimpleNamespace(norm=_norm)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(np, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            is_float = isinstance(result, np.ndarray) and result.dtype == np.float64
            return result.astype(complex) if is_float else result

        return call


class _Conditions(ast.NodeTransformer):
    """Comparisons compare real parts; imports are dropped."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        operands = [node.left, *node.comparators]
        left, *rest = (ast.Call(ast.Name("_real", ast.Load()), [e], []) for e in operands)
        return ast.Compare(left, node.ops, rest)

    def visit_Import(self, node: ast.Import) -> None:
        return None


def _compile(text: str) -> CodeType:
    tree = ast.fix_missing_locations(_Conditions().visit(ast.parse(text)))
    return compile(tree, "<complex step>", "exec")


def _complex(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(complex)
    return complex(value) if isinstance(value, float) else value


def gradient(text: str, args: tuple[Any, ...], wrt: tuple[int, ...]) -> tuple[complex, list[Any]]:
    """The value of the program's `f` and its gradients, by complex step.

    Example:
        >>> gradient("def f(x): return x[0] * x[1]", (np.array([2.0, 3.0]),), (0,))
        (6.0, [array([3., 2.])])
    """
    space = {
        "np": _ComplexNumPy(),
        "math": cmath,
        "abs": _abs,
        "max": _max,
        "_real": _real,
    }
    exec(_compile(text), space)
    f, value, gradients = space["f"], math.nan, []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        for position in wrt:
            shape = np.shape(args[position])
            found = np.zeros(shape)
            for place in np.ndindex(shape):
                trial = [_complex(copy.copy(a)) for a in args]
                if shape:
                    trial[position][place] += 1j * STEP
                else:
                    trial[position] += 1j * STEP
                result = complex(f(*trial))
                value, found[place] = result.real, result.imag / STEP
            gradients.append(found)
    return value, gradients
