"""Derivatives against each other and against differences.

Owns the comparison and its report.  It knows only srcgrad's public functions, so it tests what
users call.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad import differences, trees
from srcgrad.errors import SrcgradError
from srcgrad.rules import registry

_ENTRIES = 48  # of larger arguments so many entries are compared one by one
_DIRECTIONS = 2
_ROWS = 12  # of the table in an error

Vector = np.ndarray[Any, Any]
Wrt = int | str | tuple[int | str, ...]


@dataclass(frozen=True)
class Row:
    """One derivative that is off; what was not computed is None."""

    argument: str
    entry: str
    reverse: float | None
    forward: float | None
    differences: float | None
    error: float


class GradientCheckError(SrcgradError, AssertionError):
    """Derivatives disagree; `rows` says which."""

    rows: tuple[Row, ...] = ()


@dataclass(frozen=True)
class _Settings:
    modes: tuple[str, ...]
    step: float
    tol: float
    seed: int
    options: Mapping[str, Any]


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    wrt: Wrt = 0,
    order: int = 2,
    modes: Sequence[str] = ("reverse", "forward"),
    kwargs: Mapping[str, Any] | None = None,
    *,
    eps: float = 0.05,
    tol: float | None = None,
    seed: int = 0,
    rules: Mapping[Any, Any] | None = None,
    backend: str = "numpy",
    specialize: bool = True,
) -> None:
    """Check the derivatives of f at `args`; raise when they disagree with differences.

    The reverse mode is compared with the forward mode, and both with a complex step where f takes
    complex numbers, or else with extrapolated central differences: along random directions and
    entry by entry.  For order 2 the gradient function is checked in the same way.

    Arguments:
        f: a function of numbers, arrays and containers of them; so may be its result.
        args, kwargs: the point; f may write to its arguments, they are copied for every call.
        wrt: what to differentiate with respect to, as in `grad`.
        order: 1 for first derivatives only; 2 or more for derivatives of the derivatives.
        modes: "reverse", "forward" or both.
        eps: the largest step of the differences, relative to each entry.
        tol: the relative error allowed; by default 1e-6, or 5e-3 when an argument is float32.
        seed: of the random directions and cotangents.
        rules, backend, specialize: as in `grad`.

    Raises:
        GradientCheckError: with a table of the derivatives that are off.

    Example:
        >>> import srcgrad as sg
        >>> def f(x, w):
        ...     return w * x**3
        >>> sg.check_grads(f, (2.0, 0.5), wrt=(0, 1))
    """
    if not set(modes) <= {"reverse", "forward"} or not modes:
        raise ValueError(f"modes are 'reverse' and 'forward', not {tuple(modes)!r}")
    options = {"rules": rules, "backend": backend, "specialize": specialize}
    point = _Point(f, tuple(args), dict(kwargs or {}), _positions(f, args, kwargs or {}, wrt))
    if tol is None:
        tol = 5e-3 if trees.is_single(point.chosen) else 1e-6
    settings = _Settings(tuple(modes), eps, tol, seed, options)
    name = getattr(f, "__name__", None) or repr(f)
    for level in range(1, order + 1):
        point = _check_level(point, settings, name, level)


def check_rule(
    target: Any,
    args: Sequence[Any],
    rule: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    order: int = 2,
    modes: Sequence[str] = ("reverse", "forward"),
    tol: float | None = None,
) -> None:
    """Check a rule for the function `target` at `args`; the registered one by default.

    Arguments that the rule gives no derivative for, and those that are not floating, are left
    out.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> sg.check_rule(np.tanh, (0.3,))
        >>> def square(g, out, x):
        ...     return 3 * g * x
        >>> sg.check_rule(np.square, (0.5,), square, order=1)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        srcgrad.check.GradientCheckError: the derivatives of square are off
        ...
    """
    floating = [i for i, a in enumerate(args) if trees.has_floats(a)]
    without = _without_derivative(target, args, kwargs or {}, rule)
    wrt = tuple(i for i in floating if i not in without)
    if not wrt:
        raise ValueError("no argument of the rule has a derivative to check")
    rules = None if rule is None else {target: rule}
    check_grads(target, args, wrt, order, modes, kwargs, tol=tol, rules=rules)


def _without_derivative(
    target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], rule: Any
) -> set[int]:
    """The positions that the rule says have no derivative."""
    entry = registry.lookup(target) if rule is None else None
    if entry is not None and entry.params is not None and entry.kind != "function":
        names = list(entry.params.parameters)
        return {i for i, name in enumerate(names) if entry.vjps.get(name) is None}
    if not inspect.isfunction(rule):
        return set()
    out = target(*trees.copied(args), **kwargs)
    result = rule(trees.cotangent(out, np.ones(trees.size(out))), out, *args, **kwargs)
    cotangents = result if isinstance(result, tuple) else (result,)
    return {i for i, cotangent in enumerate(cotangents) if cotangent is None}


# ---- a function at a point -----------------------------------------------------


@dataclass(frozen=True)
class _Point:
    """A function, where it is evaluated, and the arguments it is differentiated in."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    wrt: tuple[int | str, ...]

    @property
    def chosen(self) -> tuple[Any, ...]:
        return tuple(self.args[w] if isinstance(w, int) else self.kwargs[w] for w in self.wrt)

    def at(self, chosen: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Fresh arguments with these values for the chosen ones."""
        args, kwargs = list(trees.copied(self.args)), trees.copied(self.kwargs)
        for w, value in zip(self.wrt, chosen, strict=True):
            held: Any = args if isinstance(w, int) else kwargs
            held[w] = value
        return args, kwargs

    def call(self, chosen: Sequence[Any]) -> Any:
        args, kwargs = self.at(chosen)
        return self.f(*args, **kwargs)

    def names(self) -> list[str]:
        try:
            known = list(inspect.signature(self.f).parameters)
        except (TypeError, ValueError):  # a ufunc has none
            known = []
        return [
            w if isinstance(w, str) else known[w] if w < len(known) else f"argument {w}"
            for w in self.wrt
        ]


def _positions(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], wrt: Wrt
) -> tuple[int | str, ...]:
    """`wrt` as a tuple of positions, and of names for arguments given by name."""
    import srcgrad as sg

    found: list[int | str] = []
    for w in wrt if isinstance(wrt, tuple) else (wrt,):
        if isinstance(w, str) and w not in kwargs:
            sg.vjp(f, wrt=w)  # raises where f has no such parameter
            w = list(inspect.signature(f).parameters).index(w)
        found.append(w + len(args) if isinstance(w, int) and w < 0 else w)
    return tuple(found)


# ---- one order -----------------------------------------------------------------


def _check_level(point: _Point, settings: _Settings, name: str, level: int) -> _Point:
    """Check first derivatives of the point's function; return the point of its derivative."""
    import srcgrad as sg

    rng = np.random.default_rng([settings.seed, level])
    out = point.call(trees.copied(point.chosen))
    weights = np.ones(1) if trees.size(out) == 1 else _random(rng, trees.size(out))
    cotangent = trees.cotangent(out, weights)
    title = _title(name, level, settings.modes)
    reverse = forward = None
    if "reverse" in settings.modes:
        vjp = sg.vjp(point.f, wrt=point.wrt, **settings.options)
        reverse = _reverse(vjp, point, out, cotangent, title)
    if "forward" in settings.modes:
        jvp = sg.jvp(point.f, wrt=point.wrt, **settings.options)
        forward = _Forward(jvp, point, out, weights, title)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        # A derivative is not asked for complex arguments: it would be compiled once more.
        slopes = differences.Slopes(point.call, point.chosen, weights, settings.step, level == 1)
        _compare(point, slopes, reverse, forward, settings.tol, rng, title)
    if "reverse" in settings.modes:
        return _shifted(point, vjp, cotangent)
    tangents = trees.tangent(point.chosen, _random(rng, trees.size(point.chosen)))
    return _shifted(point, jvp, tangents)


def _random(rng: np.random.Generator, size: int) -> Vector:
    """Numbers away from zero of either sign, so that no derivative is hidden."""
    sign: Vector = rng.choice([-1.0, 1.0], size)
    return rng.uniform(0.5, 1.0, size) * sign


def _shifted(point: _Point, derivative: Callable[..., Any], first: Any) -> _Point:
    """The derivative as a function at the same point; its first argument is held fixed."""
    wrt = tuple(w + 1 if isinstance(w, int) else w for w in point.wrt)
    return _Point(derivative, (first, *point.args), point.kwargs, wrt)


def _title(name: str, level: int, modes: tuple[str, ...]) -> str:
    if level == 1:
        return f"the derivatives of {name} are off"
    inner = "reverse" if "reverse" in modes else "forward"
    return f"the derivatives of the {inner} derivative of {name} are off (order {level})"


def _reverse(
    vjp: Callable[..., Any], point: _Point, out: Any, cotangent: Any, title: str
) -> Vector:
    """The gradient of the weighted sum of the results, as one vector."""
    args, kwargs = point.at(trees.copied(point.chosen))
    value, gradients = vjp(cotangent, *args, **kwargs)
    _same_value(value, out, "vjp", title)
    for name, argument, gradient in zip(point.names(), point.chosen, gradients, strict=True):
        problem = trees.mismatch(gradient, argument)
        if problem:
            raise GradientCheckError(f"{title}: the gradient of {name}{problem}")
    slopes: Vector = trees.dual(gradients, point.chosen)
    return slopes


@dataclass(frozen=True)
class _Forward:
    """The forward mode as a function of the direction."""

    jvp: Callable[..., Any]
    point: _Point
    out: Any
    weights: Vector
    title: str

    def along(self, direction: Vector) -> float:
        chosen = self.point.chosen
        args, kwargs = self.point.at(trees.copied(chosen))
        value, tangent = self.jvp(trees.tangent(chosen, direction), *args, **kwargs)
        _same_value(value, self.out, "jvp", self.title)
        problem = trees.mismatch(tangent, self.out, dtypes=False)
        if problem:
            raise GradientCheckError(f"{self.title}: the tangent of the result{problem}")
        return float(self.weights @ trees.real_parts(tangent, self.out))


def _same_value(value: Any, out: Any, which: str, title: str) -> None:
    problem = trees.mismatch(value, out, dtypes=False)
    if not problem:
        got, want = trees.real_parts(value, out), trees.real_parts(out, out)
        tolerance = 1e-4 if trees.is_single(out) else 1e-9
        if np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True):
            return
        problem = f" is {value!r}, not {out!r}"
    raise GradientCheckError(f"{title}: the value that {which} returns{problem}")


@dataclass(frozen=True)
class _Measured:
    """The slopes along one direction; `place` is the entry it moves, None for a random one."""

    place: int | None
    unit: float
    reverse: float | None
    forward: float | None
    slope: float
    noise: float

    def row(self, labels: list[tuple[str, str]], error: float) -> Row:
        all_of_them = ("all", "a random direction")
        argument, entry = all_of_them if self.place is None else labels[self.place]
        reverse = None if self.reverse is None else self.reverse / self.unit
        forward = None if self.forward is None else self.forward / self.unit
        return Row(argument, entry, reverse, forward, self.slope / self.unit, error)


def _compare(
    point: _Point,
    slopes: differences.Slopes,
    reverse: Vector | None,
    forward: _Forward | None,
    tol: float,
    rng: np.random.Generator,
    title: str,
) -> None:
    x = slopes.x
    scale = np.maximum(np.abs(x), differences.LEAST)
    directions: list[tuple[int | None, float, Vector]] = [
        (None, 1.0, _random(rng, x.size) * scale) for _ in range(_DIRECTIONS)
    ]
    for i in _sample(x.size, rng):
        direction = np.zeros(x.size)
        direction[i] = scale[i]
        directions.append((i, float(scale[i]), direction))
    found = []
    for place, unit, direction in directions:
        slope, noise = slopes.along(direction)
        backward = None if reverse is None else float(reverse @ direction)
        ahead = None if forward is None else forward.along(direction)
        found.append(_Measured(place, unit, backward, ahead, slope, noise))
    floor = 1e-2 * _largest(found) + 1e-6 * abs(slopes.value) + 1e-12
    labels = trees.labels(point.chosen, point.names())
    errors = [_error(measured, floor, tol) for measured in found]
    rows = [m.row(labels, error) for m, error in zip(found, errors, strict=True) if error > tol]
    if rows:
        raise _failure(title, rows, slopes.exact)


def _largest(found: list[_Measured]) -> float:
    values = [v for m in found for v in (m.reverse, m.forward, m.slope) if v is not None]
    return max((abs(v) for v in values if np.isfinite(v)), default=0.0)


def _sample(size: int, rng: np.random.Generator) -> list[int]:
    if size <= _ENTRIES:
        return list(range(size))
    return sorted(int(i) for i in rng.choice(size, _ENTRIES, replace=False))


def _error(m: _Measured, floor: float, tol: float) -> float:
    """The largest relative error, beyond the noise of the differences.

    Noise excuses only so much: a function too rough for differences is not found right."""
    slack = min(3 * m.noise, 100 * tol * max(abs(m.slope), floor))
    pairs = ((m.reverse, m.slope, slack), (m.forward, m.slope, slack), (m.reverse, m.forward, 0.0))
    worst = 0.0
    for a, b, excused in pairs:
        if a is None or b is None:
            continue
        if not (np.isfinite(a) and np.isfinite(b)):
            return float("inf")
        worst = max(worst, (abs(a - b) - excused) / max(abs(a), abs(b), floor))
    return worst


# ---- the report ----------------------------------------------------------------


def _failure(title: str, rows: list[Row], exact: bool) -> GradientCheckError:
    single = [row for row in rows if row.argument != "all"] or rows
    single.sort(key=lambda row: (-row.error, row.argument, row.entry))
    shown = single[:_ROWS]
    method = "complex step" if exact else "differences"
    table: list[tuple[str, ...]] = [
        ("argument", "entry", "reverse", "forward", method, "relative error")
    ]
    for row in shown:
        numbers = [
            "-" if v is None else f"{v:.9g}" for v in (row.reverse, row.forward, row.differences)
        ]
        table.append((row.argument, row.entry, *numbers, f"{row.error:.1e}"))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
    more = len(single) - len(shown)
    lines += [f"  and {more} more"] if more else []
    error = GradientCheckError("\n".join([title, *lines]))
    error.rows = tuple(single)
    return error
