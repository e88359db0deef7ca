"""What the command line, the build and the view are asked for: a function, a mode, types by name.

Owns the way from what a person writes to a `pipeline.Request`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from srcgrad import pipeline, trees
from srcgrad.analysis.types import probe, typeof
from srcgrad.errors import ArgumentError
from srcgrad.frontend import source as source_module
from srcgrad.gradfunction import GradFunction
from srcgrad.ir import types as ty
from srcgrad.runtime import dispatchers
from srcgrad.spelling import parse_types, sample
from srcgrad.wrt import check_types

MODES = ("grad", "value_and_grad", "vjp", "jvp")
Wrt = int | str | tuple[int | str, ...]


@dataclass(frozen=True)
class Job:
    """A derivative to make: `fn` in `mode`, with types for some or all parameters."""

    fn: Any
    mode: str = "grad"
    wrt: Wrt = 0
    types: tuple[tuple[str, ty.Type], ...] = ()
    aux: bool = False
    guess: bool = False  # take a parameter's type from its default value, where nothing says it
    known: bool = True  # take it from its annotation
    backend: str = "numpy"  # the text for NumPy, or the one that Numba compiles

    def request(self) -> pipeline.Request:
        """The job for the compiler.

        >>> def f(x: float, n=2):
        ...     return x**n
        >>> Job(f).request().wrt
        ('x',)

        Raises: ArgumentError, SourceUnavailable.
        """
        if self.mode not in MODES:
            raise ArgumentError(f"mode is {' or '.join(MODES)}, not {self.mode!r}")
        derivative: GradFunction[Any] = GradFunction(
            self.fn, self.mode, self.wrt, has_aux=self.aux
        )
        types = self._types(derivative._primal)
        check_types(derivative._primal, derivative._items, types)
        wrt = tuple(dict.fromkeys(i.param for i in derivative._items))
        if any(i.position is not None or i.key is not None for i in derivative._items):
            raise ArgumentError(
                "wrt names an item of *args or **kwargs: name the parameter itself"
            )
        if len(wrt) != len(derivative._items):
            raise ArgumentError("wrt names a parameter twice")
        _, target = derivative._primal.for_types(types)
        single = isinstance(self.wrt, int | str)
        compiled = self.backend == "numba"
        options = tuple(derivative._options.items()) if compiled else ()
        return pipeline.Request(
            target, self.mode, wrt, types, self.aux, single, self.backend, options
        )

    def _types(self, primal: Any) -> tuple[ty.Type, ...]:
        params = primal.signature.parameters
        given = dict(self.types)
        _known_names(given, params, primal.name)
        bound = dict(zip(params, primal.full(()), strict=False))
        return tuple(
            probe.type_of(bound[name]) if name in bound else given.get(name) or self._known(p)
            for name, p in params.items()
        )

    def _known(self, param: inspect.Parameter) -> ty.Type:
        annotation = param.annotation
        if isinstance(annotation, str):
            annotation = _evaluated(annotation, self.fn)
        if self.known:
            found = typeof.of_parameter(param, annotation)
            if found is not None:
                return found
        if not self.guess or param.default is param.empty:
            return ty.UNKNOWN
        return _wide(probe.type_of(param.default))


def _known_names(given: Iterable[str], params: Iterable[str], function: str) -> None:
    known = list(params)
    for name in given:
        if name not in known:
            raise ArgumentError(
                f"{function} has no parameter {name!r} (it has {', '.join(known)})"
            )


def _evaluated(annotation: str, fn: Any) -> Any:
    """The meaning of an annotation under `from __future__ import annotations`."""
    try:
        names = source_module.read(fn).fn.__globals__
        return eval(annotation, dict(names))  # what typing.get_type_hints does
    except Exception:  # a name for type checkers only
        return inspect.Parameter.empty


def _wide(t: ty.Type) -> ty.Type:
    """A default says of what kind an argument is, not that it has this value."""
    match t:
        case ty.Literal(bool()):
            return ty.Number(bool)
        case ty.Literal(str()):
            return ty.Other(str)
        case ty.Literal(None):
            return ty.UNKNOWN
        case _:
            return t


def wrt_of(text: str) -> Wrt:
    """`--wrt`: a name, a position, or several of them.

    >>> wrt_of("x"), wrt_of("0"), wrt_of("x, w")
    ('x', 0, ('x', 'w'))
    """
    parts = [part.strip() for part in text.strip("()[] ").split(",")]
    found = tuple(int(p) if p.lstrip("-").isdigit() else p for p in parts if p)
    if not found:
        raise ArgumentError("wrt names no parameter")
    return found if len(found) > 1 or "," in text else found[0]


def backend_of(fn: Any) -> str:
    """What runs the derivative of a function: Numba where that compiles the function itself."""
    if isinstance(fn, GradFunction):
        return fn._backend
    return "numpy" if dispatchers.dispatcher_of(fn) is None else "numba"


def unwrapped(job: Job) -> Job:
    """The job for a target that is a derivative itself: `loss_grad = sg.grad(loss)`.

    Raises: ArgumentError for one that is made of several.
    """
    fn = job.fn
    if hasattr(type(fn), "__srcgrad_derivative__"):
        fn = getattr(fn, "_tangent", fn)  # what a product with the Hessian calls
    if hasattr(type(fn), "__srcgrad_derivative__") and not isinstance(fn, GradFunction):
        raise ArgumentError(
            f"{fn!r} has no text of its own: it calls other derivatives",
            fixes=["name the function itself, and --mode jvp or --mode vjp"],
        )
    if isinstance(fn, GradFunction) and job.mode == "grad" and job.wrt == 0:
        return Job(fn._fn, fn._mode, _plain(fn._wrt), job.types, fn._aux, job.guess)
    return job


def _plain(wrt: Any) -> Wrt:
    return wrt if isinstance(wrt, int | str) else tuple(wrt)


# ---- arguments -----------------------------------------------------------------


def arguments(text: str, fn: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments written as in a call; `np`, `math` and the names of the function's module are
    there.

    >>> def f(x, n): ...
    >>> arguments("np.ones(2), n=3", f)
    ((array([1., 1.]),), {'n': 3})

    Raises: ArgumentError.
    """
    import math

    names = {**getattr(fn, "__globals__", {}), "np": np, "math": math}
    try:
        found = eval(f"(lambda *args, **kwargs: (args, kwargs))({text})", names)
    except (Exception, SystemExit) as error:
        raise ArgumentError(
            f"the arguments {text!r} can't be evaluated: {type(error).__name__}: {error}"
        ) from None
    positional, named = found
    return positional, named


def bound_arguments(fn: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by parameter, defaults included."""
    signature = _signature(fn)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        name = getattr(fn, "__name__", "the function")
        raise ArgumentError(f"the arguments don't fit {name}{signature}: {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def called(fn: Any, args: Any, kwargs: Any) -> None:
    """Calls the function once: what it raises at a point is no fault of its derivative.

    >>> def f(x):
    ...     return x[0]
    >>> called(f, (2.0,), {})
    Traceback (most recent call last):
        ...
    srcgrad.errors.ArgumentError: f raises TypeError at these arguments: 'float' object is not ...

    Raises: ArgumentError.
    """
    bound_arguments(fn, args, kwargs)
    try:
        fn(*args, **kwargs)
    except (Exception, SystemExit) as error:
        name = getattr(fn, "__name__", "the function")
        raise ArgumentError(
            f"{name} raises {type(error).__name__} at these arguments: {error}"
        ) from error


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Around writing a file that was asked for.

    >>> with writing(Path("/")):
    ...     Path("/").write_text("")
    Traceback (most recent call last):
        ...
    srcgrad.errors.ArgumentError: / can't be written: Is a directory

    Raises: ArgumentError.
    """
    try:
        yield
    except OSError as error:
        raise ArgumentError(f"{file} can't be written: {error.strerror or error}") from None


def samples(fn: Any, types: str, seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Example arguments from types, annotations and defaults.

    Raises: ArgumentError when a parameter has none of them.
    """
    given = parse_types(types)
    _known_names(given, _signature(fn).parameters, getattr(fn, "__name__", "the function"))
    rng = np.random.default_rng(seed)
    job = Job(fn)
    named: dict[str, Any] = {}
    positional: list[Any] = []
    for name, param in _signature(fn).parameters.items():
        if param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD):
            continue
        value = _sample(job, name, param, given, rng)
        if param.kind is param.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    return tuple(positional), named


def _sample(job: Job, name: str, param: Any, given: dict[str, ty.Type], rng: Any) -> Any:
    if name not in given and param.default is not param.empty:
        return param.default
    t = given.get(name) or job._known(param)
    if isinstance(t, ty.Unknown):
        raise ArgumentError(
            f"there is no value for {name}",
            fixes=['write --args "..."', f'write --types "{name}=float64[:]"', "annotate it"],
        )
    return sample(t, rng)


def floating(fn: Any, args: Any, kwargs: Any) -> Wrt:
    """The arguments that hold floating numbers.

    Raises: ArgumentError when there are none.
    """
    positions: list[int | str] = [k for k, a in enumerate(args) if trees.has_floats(a)]
    names: list[int | str] = [n for n, a in kwargs.items() if trees.has_floats(a)]
    found = (*positions, *names)
    if not found:
        name = getattr(fn, "__name__", "the function")
        raise ArgumentError(f"no argument of {name} is floating: write 3.0 instead of 3")
    return found


def _signature(fn: Any) -> inspect.Signature:
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        raise ArgumentError(f"{fn!r} can't be called") from None
