"""What users call to make a derivative; each makes a `GradFunction`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from srcgrad.gradfunction import GradFunction
from srcgrad.wrt import Wrt

P = ParamSpec("P")


def grad(
    f: Callable[P, Any], wrt: Wrt = 0, *, has_aux: bool = False, rules: Any = None,
    backend: str = "numpy", specialize: bool = True,
) -> GradFunction[P]:  # fmt: skip
    """The gradient of a function with a scalar result, as a function of the same arguments.

    Example:
        >>> import srcgrad as sg
        >>> def f(x, y):
        ...     return x * x * y
        >>> sg.grad(f)(3.0, 2.0)
        12.0
        >>> sg.grad(f, wrt=("x", "y"))(3.0, 2.0)
        (12.0, 9.0)

    Arguments: `wrt` is a position, a parameter name, or a tuple of them; `has_aux` says that f
    returns (value, aux); `rules` are derivative rules in force for this gradient.
    Returns: a `GradFunction`; its `.source` is the generated text.
    Raises: `SrcgradError` when the derivative can't be made, with the place and what to do.
    """
    return GradFunction(
        f, "grad", wrt, has_aux=has_aux, rules=rules, backend=backend, specialize=specialize
    )


def value_and_grad(
    f: Callable[P, Any], wrt: Wrt = 0, *, has_aux: bool = False, rules: Any = None,
    backend: str = "numpy", specialize: bool = True,
) -> GradFunction[P]:  # fmt: skip
    """Value and gradient together: what `scipy.optimize.minimize(..., jac=True)` takes.

    Example:
        >>> import srcgrad as sg
        >>> sg.value_and_grad(lambda x: x * x)(3.0)
        (9.0, 6.0)
    """
    return GradFunction(
        f,
        "value_and_grad",
        wrt,
        has_aux=has_aux,
        rules=rules,
        backend=backend,
        specialize=specialize,
    )


def vjp(
    f: Callable[P, Any], wrt: Wrt = 0, *, out: Wrt | None = None, rules: Any = None,
    backend: str = "numpy", specialize: bool = True,
) -> GradFunction[Concatenate[Any, P]]:  # fmt: skip
    """The vector-Jacobian product: a function (cotangent, *args) -> (value, gradients).

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> def f(x):
        ...     return x * x
        >>> value, g = sg.vjp(f)(np.array([1.0, 10.0]), np.array([2.0, 3.0]))
        >>> g
        array([ 4., 60.])

    A function that returns nothing and writes its results into arguments: `out` names them, and
    the
    value is what they hold at the end (the caller's arrays stay as they are).
        >>> def kernel(A, B):
        ...     B[:] = A * A
        >>> backwards = sg.vjp(kernel, wrt="A", out="B")
        >>> value, g = backwards(np.ones(2), np.array([2.0, 3.0]), np.zeros(2))
        >>> value, g
        (array([4., 9.]), array([4., 6.]))
    """
    return GradFunction(
        f, "vjp", wrt, rules=rules, backend=backend, specialize=specialize, out=out
    )


def jvp(
    f: Callable[P, Any], wrt: Wrt = 0, *, out: Wrt | None = None, rules: Any = None,
    backend: str = "numpy", specialize: bool = True,
) -> GradFunction[Concatenate[Any, P]]:  # fmt: skip
    """The Jacobian-vector product: a function (tangents, *args) -> (value, tangent of the value).

    Example:
        >>> import srcgrad as sg
        >>> sg.jvp(lambda x: x * x)(1.0, 3.0)
        (9.0, 6.0)

    `out` names the arguments into which a function that returns nothing writes its results, as for
    `vjp`.
    """
    return GradFunction(
        f, "jvp", wrt, rules=rules, backend=backend, specialize=specialize, out=out
    )


def source(
    f: Any, *args: Any, wrt: Wrt = 0, mode: str = "grad", specialize: bool = True, **kwargs: Any
) -> str:
    """The generated text; with example arguments (or annotations) specialised to their types.

    Example:
        >>> import srcgrad as sg
        >>> print(sg.source(lambda x: x * x, 3.0).splitlines()[-2].strip())
        x_bar = 2.0 * x
    """
    df: GradFunction[Any] = GradFunction(f, mode, wrt, specialize=specialize)
    if args or kwargs:
        df.specialize(*args, **kwargs)
    return df.source


# Called inside a differentiated function they are evaluated when it is compiled.
_makers: tuple[Any, ...] = (grad, value_and_grad, vjp, jvp)
for _made_of in _makers:
    _made_of.__srcgrad_special__ = "derivative"

__all__ = ["GradFunction", "grad", "jvp", "source", "value_and_grad", "vjp"]
