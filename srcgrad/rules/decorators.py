"""Decorators that give a function its own derivative, and functions whose derivative is zero."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from srcgrad.errors import RuleError, RuleIgnoresCotangent, describe
from srcgrad.ir import types as ty
from srcgrad.rules import custom, registry
from srcgrad.rules.ignores import gradient_ignores_cotangent
from srcgrad.rules.registry import Entry, name_of
from srcgrad.runtime import support

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


def _decorated(fn: Any, call: Callable[..., Any], what: str) -> Any:
    """A function to stand where the decorated one was, that runs `call`."""
    if not callable(fn):
        raise RuleError(f"{what} decorates a function, got {fn!r}")

    @functools.wraps(fn)
    def primal(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs)

    return primal


def _own(decorated: Any, primal: Any, kind: str, **more: Any) -> Entry:
    """The rule that a decorated function carries."""
    name = name_of(decorated)
    params = custom.signature_of(decorated)
    return Entry(primal, name, kind, params, {}, {}, pure=False, given=True, **more)


def custom_gradient(fn: _F) -> _F:
    """Give a function its gradient: it returns the value and a function of the cotangent.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> @sg.custom_gradient
        ... def log1pexp(x):
        ...     e = np.exp(x)
        ...     def grad(dy):
        ...         return dy * (1 - 1 / (1 + e))
        ...     return np.log(1 + e), grad
        >>> round(float(log1pexp(1.0)), 6), round(float(sg.grad(log1pexp)(1.0)), 6)
        (1.313262, 0.731059)

    The gradient function is the one that the call in the forward sweep returned.  It gets the
    cotangent and returns one cotangent per argument (a tuple, or the bare value for one).
    Second derivatives differentiate the gradient function, which may call functions decorated in
    the same way: this is how second derivatives are given.
    Returns: a function of the same arguments that returns the value alone.
    Warns: `RuleIgnoresCotangent` when the gradient function surely forgets its cotangent.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)[0]

    made = _decorated(fn, call, "custom_gradient")
    made.__srcgrad_entry__ = _own(fn, made, "custom", fn=fn)
    if gradient_ignores_cotangent(fn):
        warnings.warn(
            f"the gradient of {describe(fn)} ignores its cotangent, which breaks the chain rule: "
            "multiply by it",
            RuleIgnoresCotangent,
            custom.outside(),
        )
    return made  # type: ignore[no-any-return]


custom_gradient.__srcgrad_special__ = "custom_gradient"  # type: ignore[attr-defined]


def custom_vjp(fn: _F) -> _F:
    """Give a function its reverse derivative as a pair, `fn.defvjp(fwd, bwd)`.

    `fwd(*args)` returns the value and what the reverse sweep needs; `bwd(saved, cotangent)`
    returns one cotangent per argument.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> @sg.custom_vjp
        ... def f(x, y):
        ...     return np.sin(x) * y
        >>> def fwd(x, y):
        ...     return f(x, y), (np.cos(x), np.sin(x), y)
        >>> def bwd(saved, g):
        ...     cos_x, sin_x, y = saved
        ...     return cos_x * g * y, sin_x * g
        >>> f.defvjp(fwd, bwd)
        >>> sg.grad(f, wrt=(0, 1))(0.0, 2.0)
        (2.0, 0.0)
    """
    made = _decorated(fn, fn, "custom_vjp")

    def defvjp(fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        made.fwd, made.bwd = fwd, bwd
        made.__srcgrad_entry__ = _own(fn, made, "custom", fn=fwd, backward=bwd)
        custom.changed_rules()

    made.defvjp = defvjp
    made.__srcgrad_entry__ = _missing(fn, made, "call its defvjp(fwd, bwd)")
    return made  # type: ignore[no-any-return]


def custom_jvp(fn: _F) -> _F:
    """Give a function its forward derivative, `fn.defjvp(jvp)`.

    `jvp(primals, tangents)` takes two tuples and returns the value and its tangent, which has to
    be linear in the tangents.  Reverse mode transposes it.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> @sg.custom_jvp
        ... def f(x):
        ...     return np.sin(x)
        >>> @f.defjvp
        ... def f_jvp(primals, tangents):
        ...     (x,), (x_dot,) = primals, tangents
        ...     return f(x), np.cos(x) * x_dot
        >>> float(sg.grad(f)(0.0))
        1.0
    """
    made = _decorated(fn, fn, "custom_jvp")

    def defjvp(jvp: _F) -> _F:
        made.jvp = jvp
        made.__srcgrad_entry__ = _own(fn, made, "jvp", jvp_fn=jvp)
        custom.changed_rules()
        return jvp

    made.defjvp = defjvp
    made.__srcgrad_entry__ = _missing(fn, made, "call its defjvp(jvp)")
    return made  # type: ignore[no-any-return]


def _missing(fn: Any, primal: Any, what: str) -> Entry:
    note = f"it is decorated, but has no rule yet: {what}"
    return Entry(
        primal, name_of(fn), "refuse", custom.signature_of(fn), {}, {}, pure=False, note=note
    )


def nondiff(fn: _F) -> _F:
    """Declare that a function's derivative is zero.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> @sg.nondiff
        ... def level(x):
        ...     return np.floor(x) + 0.0
        >>> float(sg.grad(lambda x: x * level(x))(2.5))
        2.0

    A function that takes no attributes, such as one written in C, gets its rule in the table of
    registered ones.
    """
    if not callable(fn):
        raise RuleError(f"{fn!r} can't be declared non-differentiable: it is not callable")
    entry = custom.entry_for(fn, None)
    if inspect.isfunction(fn):
        fn.__srcgrad_entry__ = entry  # type: ignore[attr-defined]
        custom.changed_rules()
    else:
        custom.register(entry)
    return fn


nondiff.__srcgrad_special__ = "nondiff"  # type: ignore[attr-defined]


def stop_gradient(x: _T) -> _T:
    """The value itself (arrays and containers copied), with derivative zero.

    Example:
        >>> import srcgrad as sg
        >>> sg.grad(lambda x: x * sg.stop_gradient(x))(3.0)
        3.0
    """
    return support.own(x)  # type: ignore[no-any-return]


def _type_of_argument(x: Any) -> Any:
    return x if isinstance(x, ty.Type) else ty.UNKNOWN


registry.add(
    Entry(
        stop_gradient,
        "srcgrad.stop_gradient",
        "nondiff",
        inspect.signature(stop_gradient),
        {},
        {},
        result=_type_of_argument,
    )
)
