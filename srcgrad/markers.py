"""What users write inside their own functions: markers that the compiler reads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from srcgrad import api, higher
from srcgrad.frontend import carried
from srcgrad.runtime import support


@contextmanager
def adjoint_of(x: Any) -> Iterator[Any]:
    """Inside a differentiated function: code that runs in the reverse sweep at this place.

    The name bound by `as` is the adjoint of x, which the block may read or change.  When the
    function itself is called the block sees zeros, and nothing it does to them matters.

    Example:
        >>> import srcgrad as sg
        >>> def f(x):
        ...     y = x * x
        ...     with sg.adjoint_of(y) as y_bar:
        ...         y_bar = min(y_bar, 0.5)
        ...     return 3.0 * y
        >>> f(2.0), sg.grad(f)(2.0)
        (12.0, 2.0)
    """
    yield support.zeros(x)


adjoint_of.__srcgrad_special__ = "adjoint_of"  # type: ignore[attr-defined]


class Differentiable:
    """A function with its derivatives as methods; made by the decorator `differentiable`."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self.__srcgrad_primal__ = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__srcgrad_primal__(*args, **kwargs)

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        if obj is None:
            return self
        return Differentiable(self.__srcgrad_primal__.__get__(obj, owner))

    def grad(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient at these arguments, with respect to the first."""
        return self._derivative("grad")(*args, **kwargs)

    def value_and_grad(self, *args: Any, **kwargs: Any) -> Any:
        """Value and gradient at these arguments, with respect to the first."""
        return self._derivative("value_and_grad")(*args, **kwargs)

    def vjp(self, cotangent: Any, *args: Any, **kwargs: Any) -> Any:
        """Value and vector-Jacobian product."""
        return self._derivative("vjp")(cotangent, *args, **kwargs)

    def jvp(self, tangents: Any, *args: Any, **kwargs: Any) -> Any:
        """Value and Jacobian-vector product."""
        return self._derivative("jvp")(tangents, *args, **kwargs)

    def jacobian(self, *args: Any, **kwargs: Any) -> Any:
        """The Jacobian at these arguments."""
        return self._derivative("jacobian")(*args, **kwargs)

    def hessian(self, *args: Any, **kwargs: Any) -> Any:
        """The Hessian at these arguments."""
        return self._derivative("hessian")(*args, **kwargs)

    def hvp(self, vector: Any, *args: Any, **kwargs: Any) -> Any:
        """The Hessian times a vector."""
        return self._derivative("hvp")(vector, *args, **kwargs)

    def _derivative(self, mode: str) -> Any:
        made = self.__dict__.setdefault("_derivatives", {})
        if mode not in made:
            owner = higher if mode in ("jacobian", "hessian", "hvp") else api
            made[mode] = getattr(owner, mode)(self.__srcgrad_primal__)
        return made[mode]

    def __reduce__(self) -> Any:
        # Pickle finds the decorated function by its name, as it finds any other.
        if carried.is_by_reference(self) or self.__module__ == "__main__":
            return self.__qualname__  # type: ignore[attr-defined]
        return Differentiable, (self.__srcgrad_primal__,)

    def __repr__(self) -> str:
        return f"<differentiable {self.__name__}>"  # type: ignore[attr-defined]


def differentiable(fn: Callable[..., Any]) -> Differentiable:
    """Decorator: calls run the function itself; its derivatives are methods.

    Example:
        >>> import srcgrad as sg
        >>> @sg.differentiable
        ... def f(x):
        ...     return x * x
        >>> f(3.0), f.grad(3.0), f.value_and_grad(3.0)
        (9.0, 6.0, (9.0, 6.0))
    """
    return Differentiable(fn)


def checkpointed(trips: range, *, snapshots: int | None = None) -> range:
    """Mark a time loop whose states are too many to keep: `for t in sg.checkpointed(range(n),
    snapshots=k)`.

    The loop itself runs as `for t in range(n)`.  Its gradient is that of the plain loop, to the
    last bit, but holds at most k copies of the loop's state and the recorded values of one
    iteration.  Iterations are run again from the latest copy, as seldom as k allows (Griewank and
    Walther, Algorithm 799: revolve, ACM Trans. Math. Softw. 26, 2000).

    Arguments: the range; how many copies, as many as let no iteration run more than three times
    without being reversed if left out.

    Raises: ValueError when snapshots is less than 1.

    Example:
        >>> import srcgrad as sg
        >>> def f(x):
        ...     for _ in sg.checkpointed(range(3), snapshots=2):
        ...         x = x * x
        ...     return x
        >>> round(sg.grad(f)(1.1), 6)
        15.589737
    """
    if snapshots is not None and snapshots < 1:
        raise ValueError(f"snapshots must be at least 1, got {snapshots}")
    return trips


checkpointed.__srcgrad_special__ = "checkpointed"  # type: ignore[attr-defined]
