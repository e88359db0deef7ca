"""Jacobians, Hessians and Hessian-vector products, made of vjp and jvp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec

import numpy as np

from srcgrad.api import grad, jvp, vjp
from srcgrad.errors import ArgumentError
from srcgrad.gradfunction import GradFunction
from srcgrad.runtime import support
from srcgrad.wrt import Wrt

P = ParamSpec("P")


class Jacobian(Generic[P]):
    """The Jacobian of a function, as a function of the same arguments; made by `jacobian`."""

    __srcgrad_derivative__ = True

    def __init__(self, fn: Any, wrt: Wrt, mode: str, options: dict[str, Any]) -> None:
        if mode not in ("auto", "forward", "reverse"):
            raise ArgumentError(f"mode must be 'auto', 'forward' or 'reverse', got {mode!r}")
        self._fn, self._wrt, self._mode = fn, wrt, mode
        self._many = not isinstance(wrt, int | str)
        each = tuple(wrt) if not isinstance(wrt, int | str) else (wrt,)
        self._each = each
        self._forward: list[GradFunction[Any]] = [jvp(fn, w, **options) for w in each]
        self._reverse: GradFunction[Any] = vjp(fn, each, **options)
        self.__name__ = f"{getattr(fn, '__name__', 'function')}_jacobian"
        self.__doc__ = f"Jacobian of {getattr(fn, '__name__', 'a function')}."
        self.__signature__ = self._reverse._primal.public()

    @property
    def __srcgrad_source__(self) -> Any:
        """A function that computes the same, for calls inside differentiated functions."""
        names = [p.name for p in self._reverse._primal.free()]
        places = [names.index(item.param) for item in self._reverse._items]
        parts = [
            _part(self._fn, self._mode, forward, self._reverse, k, place)
            for k, (forward, place) in enumerate(zip(self._forward, places, strict=True))
        ]
        return _all_of(parts) if self._many else parts[0]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        inputs = [self._input(k, args, kwargs) for k in range(len(self._each))]
        if self._mode == "forward":
            blocks = [self._by_columns(k, x, args, kwargs) for k, x in enumerate(inputs)]
        elif self._mode == "reverse":
            blocks = self._by_rows(inputs, args, kwargs)
        else:
            blocks = self._cheaper(inputs, args, kwargs)
        return tuple(blocks) if self._many else blocks[0]

    def _input(self, k: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        item = self._reverse._items[k]
        primal = self._reverse._primal
        bound = primal.signature.bind(*primal.full(args), **kwargs)
        bound.apply_defaults()
        x = bound.arguments[item.param]
        if item.position is not None:
            x = x[item.position]
        elif item.key is not None:
            x = x[item.key]
        if isinstance(x, list | tuple | dict):
            raise ArgumentError(
                "jacobian takes numbers and arrays: give the parts of a container as arguments"
            )
        return x

    def _cheaper(self, inputs: list[Any], args: Any, kwargs: Any) -> list[Any]:
        """One pass per input element or per output element, whichever is fewer."""
        value = self._value(inputs, args, kwargs)
        if sum(np.size(x) for x in inputs) <= np.size(value):
            return [self._by_columns(k, x, args, kwargs) for k, x in enumerate(inputs)]
        return self._by_rows(inputs, args, kwargs)

    def _value(self, inputs: list[Any], args: Any, kwargs: Any) -> Any:
        value = self._forward[0](_zero(inputs[0]), *args, **kwargs)[0]
        if isinstance(value, list | tuple | dict):
            raise ArgumentError("jacobian needs an array or a number as output, got a container")
        return value

    def _by_columns(self, k: int, x: Any, args: Any, kwargs: Any) -> Any:
        columns = []
        for e in support.basis(x):
            columns.append(self._forward[k](e, *args, **kwargs)[1])
        if not columns:
            value = self._value([x], args, kwargs)
            return np.zeros(np.shape(value) + np.shape(x))
        stacked = np.stack([np.asarray(c) for c in columns], axis=-1)
        return _shaped(stacked, np.shape(columns[0]) + np.shape(x))

    def _by_rows(self, inputs: list[Any], args: Any, kwargs: Any) -> list[Any]:
        value = self._value(inputs, args, kwargs)
        rows = [self._reverse(e, *args, **kwargs)[1] for e in support.basis(value)]
        shape = np.shape(value)
        if not rows:
            return [np.zeros(shape + np.shape(x)) for x in inputs]
        return [
            _shaped(np.stack([np.asarray(r[k]) for r in rows]), shape + np.shape(x))
            for k, x in enumerate(inputs)
        ]

    def __repr__(self) -> str:
        return f"<jacobian of {getattr(self._fn, '__name__', 'function')}>"


def _part(fn: Any, mode: str, forward: Any, reverse: Any, k: int, place: int) -> Any:
    """The block of a Jacobian of one argument as a function that srcgrad can read."""

    def by_columns(*args: Any) -> Any:
        x = args[place]
        columns = [forward(e, *args)[1] for e in support.basis(x)]
        return np.reshape(np.stack(columns, -1), np.shape(columns[0]) + np.shape(x))

    def by_rows(*args: Any) -> Any:
        value = fn(*args)
        rows = [reverse(e, *args)[1][k] for e in support.basis(value)]
        return np.reshape(np.stack(rows), np.shape(value) + np.shape(args[place]))

    def cheaper(*args: Any) -> Any:
        if np.size(args[place]) <= np.size(fn(*args)):
            return by_columns(*args)
        return by_rows(*args)

    return {"forward": by_columns, "reverse": by_rows, "auto": cheaper}[mode]


def _all_of(parts: list[Any]) -> Any:
    """The blocks for several arguments: a tuple of functions can't be looped over."""
    if len(parts) == 1:
        only = parts[0]
        return lambda *args: (only(*args),)
    first, rest = parts[0], _all_of(parts[1:])

    def blocks(*args: Any) -> Any:
        return (first(*args), *rest(*args))

    return blocks


def _zero(x: Any) -> Any:
    return np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0


def _shaped(a: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Any:
    a = a.reshape(shape)
    return a[()] if shape == () else a


def jacobian(
    f: Callable[P, Any], wrt: Wrt = 0, *, mode: str = "auto", rules: Any = None,
    backend: str = "numpy", specialize: bool = True,
) -> Jacobian[P]:  # fmt: skip
    """The Jacobian of an array-valued function: shape of the result, then shape of the argument.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> def f(x):
        ...     return np.array([x[0] * x[1], x[1]])
        >>> sg.jacobian(f)(np.array([2.0, 3.0]))
        array([[3., 2.],
               [0., 1.]])

    Arguments: `mode` is "forward" (one pass per input element), "reverse" (one per output
    element) or "auto", which takes the fewer passes.
    Raises: `ArgumentError` for containers; as `grad` otherwise.
    """
    options = {"rules": rules, "backend": backend, "specialize": specialize}
    return Jacobian(f, wrt, mode, options)


class Hessian(Generic[P]):
    """The Hessian of a function, as a function of the same arguments; made by `hessian`."""

    __srcgrad_derivative__ = True

    def __init__(self, fn: Any, wrt: Wrt, options: dict[str, Any]) -> None:
        self._many = not isinstance(wrt, int | str)
        each = tuple(wrt) if not isinstance(wrt, int | str) else (wrt,)
        self._rows: list[Jacobian[Any]] = [
            Jacobian(grad(fn, w, **options), wrt, "forward", options) for w in each
        ]
        self.__name__ = f"{getattr(fn, '__name__', 'function')}_hessian"
        self.__doc__ = f"Hessian of {getattr(fn, '__name__', 'a function')}."
        self.__signature__ = self._rows[0].__signature__

    @property
    def __srcgrad_source__(self) -> Any:
        """A function that computes the same, for calls inside differentiated functions."""
        rows = [row.__srcgrad_source__ for row in self._rows]
        return _all_of(rows) if self._many else rows[0]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        rows = [row(*args, **kwargs) for row in self._rows]
        return tuple(rows) if self._many else rows[0]

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def hessian(
    f: Callable[P, Any], wrt: Wrt = 0, *, rules: Any = None, backend: str = "numpy",
    specialize: bool = True,
) -> Hessian[P]:  # fmt: skip
    """The matrix of second derivatives, forward mode over the gradient.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> def f(x):
        ...     return x[0] ** 2 * x[1]
        >>> sg.hessian(f)(np.array([1.0, 2.0]))
        array([[4., 2.],
               [2., 0.]])

    Returns: an array of shape x.shape + x.shape; for a tuple `wrt` a tuple of rows of blocks.
    """
    return Hessian(f, wrt, {"rules": rules, "backend": backend, "specialize": specialize})


class HessianProduct(Generic[P]):
    """Hessian times a vector, without the Hessian; made by `hvp`."""

    __srcgrad_derivative__ = True

    def __init__(self, fn: Any, wrt: Wrt, options: dict[str, Any]) -> None:
        self._tangent: GradFunction[Any] = jvp(grad(fn, wrt, **options), wrt, **options)
        self.__name__ = f"{getattr(fn, '__name__', 'function')}_hvp"
        self.__doc__ = f"Hessian-vector product of {getattr(fn, '__name__', 'a function')}."
        self.__signature__ = self._tangent.__signature__

    @property
    def __srcgrad_source__(self) -> Any:
        """A function that computes the same, for calls inside differentiated functions."""
        tangent = self._tangent

        def product(vector: Any, *args: Any) -> Any:
            return tangent(vector, *args)[1]

        return product

    def __call__(self, vector: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
        return self._tangent(vector, *args, **kwargs)[1]

    @property
    def source(self) -> str:
        """The generated text of the product."""
        return self._tangent.source

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def hvp(
    f: Callable[P, Any], wrt: Wrt = 0, *, rules: Any = None, backend: str = "numpy",
    specialize: bool = True,
) -> HessianProduct[P]:  # fmt: skip
    """A function (vector, *args) that gives the Hessian times the vector, forward over reverse.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> def f(x):
        ...     return np.sum(x ** 3)
        >>> sg.hvp(f)(np.array([1.0, 10.0]), np.array([1.0, 2.0]))
        array([  6., 120.])
    """
    return HessianProduct(f, wrt, {"rules": rules, "backend": backend, "specialize": specialize})


# Called inside a differentiated function they are evaluated when it is compiled.
_makers: tuple[Any, ...] = (jacobian, hessian, hvp)
for _made_of in _makers:
    _made_of.__srcgrad_special__ = "derivative"
