"""Every rule at each of its sample points, against differences.

First order: the reverse and the forward formula of each argument.  Second order: each formula is
run in forward mode by the rules of what it calls, and compared with differences of its values;
so whatever a formula calls has a rule, and generated text can be differentiated again.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from formulas import (
    SCOPE,
    Forward,
    Sample,
    copied,
    differences,
    evaluate,
    forward,
    forward_text,
    is_active,
    leaves,
    moved,
    pairing,
    precision,
    random_like,
    rebuilt,
    reverse,
    tree_map,
)

import srcgrad.rules
from srcgrad.ir.types import Array, Number
from srcgrad.rules import registry
from srcgrad.rules.linalg import SYMMETRIC
from srcgrad.rules.registry import Entry
from srcgrad.rules.ufuncs import specialised
from srcgrad.rules.versions import NUMPY_2, takes
from srcgrad.runtime import support

for _module in pkgutil.iter_modules(srcgrad.rules.__path__):
    importlib.import_module(f"srcgrad.rules.{_module.name}")

KINDS = ("elementwise", "linear", "structured", "function")


def _entries() -> Iterator[Entry]:
    for entry in registry.entries():
        for each in (entry, *entry.variants.values()):
            if each.kind in KINDS and each.pure:
                yield each


def _samples() -> Iterator[Any]:
    seen: dict[str, int] = {}
    for entry in _entries():
        for point in entry.at:
            number = seen[entry.name] = seen.get(entry.name, -1) + 1
            yield pytest.param(entry, point, id=f"{entry.name}-{number}")


SAMPLES = list(_samples())


def _rng(entry: Entry) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(entry.name.encode()))


def _direction(sample: Sample, param: str, rng: np.random.Generator) -> Any:
    """A direction; symmetric for functions of a symmetric matrix, which read half of it."""
    d = random_like(sample.arguments[param], rng)
    if sample.entry.note == SYMMETRIC:
        return d + np.conj(np.swapaxes(d, -1, -2))
    return d


def _differentiable(sample: Sample) -> list[str]:
    rules = sample.entry.vjps
    return [p for p in sample.active() if rules.get(p) is not None]


def _derivative(sample: Sample, directions: dict[str, Any]) -> Any:
    """The derivative of the call along these directions, by differences."""

    def at(step: float) -> Any:
        values = {p: moved(sample.arguments[p], step, d) for p, d in directions.items()}
        return sample.replaced(**values).call()

    return differences(at)


def _close(actual: Any, expected: Any, what: str, coarse: float = 0.0) -> None:
    tolerance = max(2e-7, 50.0 * coarse**0.8)

    def compare(want: Any, have: Any) -> None:
        have = np.broadcast_to(0.0 if have is None else have, np.shape(want))
        want = np.where(np.isnan(want), have, want)  # a result that is nan has no derivative
        scale = 1.0 + np.max(np.abs(want), initial=0.0, where=np.isfinite(want))
        np.testing.assert_allclose(
            have, want, rtol=tolerance, atol=tolerance * scale, err_msg=what
        )

    if actual is None:
        actual = tree_map(np.zeros_like, expected)
    if isinstance(expected, list | tuple):
        for one, other in zip(expected, actual, strict=True):
            _close(other, one, what, coarse)
    elif isinstance(expected, dict):
        for key in expected:
            _close(actual[key], expected[key], what, coarse)
    elif is_active(expected):
        compare(expected, actual)


def test_every_rule_has_a_sample_of_each_argument() -> None:
    missing = []
    for entry in _entries():
        reached = {p for point in entry.at for p in _differentiable(Sample(entry, point))}
        wanted = {p for p, formula in entry.vjps.items() if formula is not None}
        if entry.target in (support.solution, support.solutions):
            continue  # roots, which no differences of these tell: see test_root_finders.py
        if entry.target is np.clip and not takes(np.clip, "min"):  # since NumPy 2.1
            wanted -= {"min", "max"}
        missing += [f"{entry.name}: {p}" for p in sorted(wanted - reached)]
    assert missing == []


def test_formulas_use_known_names() -> None:
    unknown = []
    for entry in _entries():
        if entry.kind == "function":
            continue
        assert entry.params is not None
        known = {*entry.params.parameters, *entry.let, "out", *SCOPE}
        for p, formula in entry.vjps.items():
            assert p in entry.params.parameters, f"{entry.name} has no parameter {p}"
            if formula is not None:
                unknown += [f"{entry.name}: {n}" for n in formula.names - known - {"g"}]
        for p, formula in entry.jvps.items():
            if formula is not None:
                unknown += [f"{entry.name}: {n}" for n in formula.names - known - {f"{p}_dot"}]
        for p in entry.zero:
            assert p in entry.params.parameters, f"{entry.name} has no parameter {p}"
    assert unknown == []


@pytest.mark.parametrize(("entry", "point"), SAMPLES)
def test_first_order(entry: Entry, point: Any) -> None:
    sample = Sample(entry, point)
    rng = _rng(entry)
    out = sample.call()
    g = random_like(out, rng)
    coarse = precision(out) if precision(out) > 1e-15 else 0.0
    tested = 0
    for param in sample.active():
        x = sample.arguments[param]
        tangent = _direction(sample, param, rng)
        if param in entry.zero:
            slope = _derivative(sample, {param: tangent})
            _close(slope, tree_map(np.zeros_like, slope), f"{param} has derivative zero")
            continue
        if entry.vjps.get(param) is None:
            continue
        tested += 1
        slope = _derivative(sample, {param: tangent})
        back = reverse(sample, param, copied(g), out)
        expected = pairing(g, tree_map(np.nan_to_num, slope))
        _close(pairing(back, tangent), expected, f"reverse formula of {param}", coarse)
        _same_shape(back, x, f"{entry.name}, cotangent of {param}")
        if entry.kind != "function":
            ahead = forward(sample, param, tangent, out)
            _close(ahead, slope, f"forward formula of {param}", coarse)
            _close(pairing(g, ahead), pairing(back, tangent), f"dot product, {param}", coarse)
    assert tested or entry.zero, "a sample has to test something"


def _same_shape(back: Any, x: Any, what: str) -> None:
    """A cotangent has the structure and shapes of its argument, and is real where it is."""
    if isinstance(x, list | tuple) and is_active(x):
        assert len(back) == len(x), what
        for b, v in zip(back, x, strict=True):
            _same_shape(b, v, what)
    elif is_active(x) and back is not None:
        assert np.shape(back) == np.shape(x), what
        assert np.iscomplexobj(x) or not np.iscomplexobj(back), f"{what} is complex"


@pytest.mark.parametrize(("entry", "point"), SAMPLES)
def test_second_order(entry: Entry, point: Any) -> None:
    if entry.kind == "function":
        return
    sample = Sample(entry, point)
    rng = _rng(entry)
    params = _differentiable(sample)
    directions = {p: _direction(sample, p, rng) for p in params}
    out = sample.call()
    g = random_like(out, rng)
    for param in params:
        formula = entry.vjps[param]
        assert formula is not None
        _check_again(sample, formula.text, {"g": g}, directions, rng)
        text = forward_text(entry, param)
        if text is not None:
            tangent = _direction(sample, param, rng)
            _check_again(sample, text, {f"{param}_dot": tangent}, directions, rng)


def _check_again(
    sample: Sample, text: str, linear_in: dict[str, Any], directions: dict[str, Any], rng: Any
) -> None:
    """The formula's derivative by rules against its differences."""
    more = {name: random_like(v, rng) for name, v in linear_in.items()}

    def at(step: float) -> Any:
        near = sample.replaced(
            **{p: moved(sample.arguments[p], step, d) for p, d in directions.items()}
        )
        names = {n: moved(v, step, more[n]) for n, v in linear_in.items()}
        return evaluate(sample.entry, text, near.environment(out=near.call(), **names))

    out = sample.call()
    out_dot = None
    for p, d in directions.items():
        part = forward(sample, p, d, out)
        out_dot = part if out_dot is None else tree_map(lambda a, b: a + b, out_dot, part)
    names = sample.environment(out=out, **linear_in)
    tangents = {**directions, **more, "out": _full(out_dot, out)}
    _, actual = Forward(sample.entry, names, tangents).text(text)
    coarse = max(precision(at(0.0)), precision(out))
    coarse = coarse if coarse > 1e-15 else 0.0
    _close(actual, differences(at), f"derivative of {text}", coarse)


def _full(out_dot: Any, out: Any) -> Any:
    """A tangent of the result in its shape."""
    if out_dot is not None and isinstance(out, list | tuple):
        return rebuilt(out, [_full(t, v) for t, v in zip(out_dot, out, strict=True)])
    return None if out_dot is None else np.broadcast_to(out_dot, np.shape(out))[()]


# ---- float32 -----------------------------------------------------------------


def _single(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        return x.astype(np.float32)
    if isinstance(x, np.float64):
        return np.float32(x)
    if isinstance(x, list | tuple):
        return rebuilt(x, list(map(_single, x)))
    return x


def _has_float64(x: Any) -> bool:
    return any(isinstance(v, np.ndarray | np.generic) and v.dtype == np.float64 for v in leaves(x))


@pytest.mark.parametrize(("entry", "point"), SAMPLES)
def test_float32_stays_float32(entry: Entry, point: Any) -> None:
    sample = Sample(entry, point)
    sample = sample.replaced(**{p: _single(v) for p, v in sample.arguments.items()})
    arrays = [p for p in _differentiable(sample) if _is_single(sample.arguments[p])]
    try:
        out = sample.call()
    except (TypeError, RuntimeWarning):  # LAPACK and others know which types they have
        return
    if not arrays or not _is_single(out):
        return
    if not NUMPY_2 and _has_number((out, list(sample.arguments.values()))):
        return  # there a float32 number times 2.0 is a float64: the gradient is cast at the end
    g = tree_map(np.ones_like, out)
    for param in arrays:
        assert not _has_float64(reverse(sample, param, g, out)), f"cotangent of {param}"
        if entry.kind != "function":
            tangent = tree_map(np.ones_like, sample.arguments[param])
            assert not _has_float64(forward(sample, param, tangent, out)), f"tangent of {param}"


def _has_number(x: Any) -> bool:
    return any(isinstance(v, np.ndarray | np.generic) and v.ndim == 0 for v in leaves(x))


def _is_single(x: Any) -> bool:
    found = leaves(x)
    return bool(found) and all(
        isinstance(v, np.ndarray | np.generic) and v.dtype == np.float32 for v in found
    )


# ---- conventions at kinks ----------------------------------------------------


def _gradient(target: Any, *args: Any, wrt: int = 0, **kwargs: Any) -> Any:
    """The gradient of the sum of the result by one argument."""
    found = registry.lookup(target)
    assert found is not None
    entry = registry.for_call(found, len(args))
    sample = Sample(entry, (args, kwargs))
    out = sample.call()
    return reverse(sample, list(sample.arguments)[wrt], tree_map(np.ones_like, out), out)


INF = np.inf
CONVENTIONS: list[tuple[str, Any, Any]] = [
    ("abs at 0", lambda: _gradient(np.abs, 0.0), 0.0),
    ("complex abs at 0", lambda: _gradient(np.abs, 0j), 0.0),
    ("builtin abs at 0", lambda: _gradient(abs, 0.0), 0.0),
    ("hypot at 0", lambda: _gradient(np.hypot, 0.0, 0.0), 0.0),
    ("sinc at 0", lambda: _gradient(np.sinc, 0.0), 0.0),
    ("arctan2 at 0", lambda: _gradient(np.arctan2, 0.0, 0.0), 0.0),
    ("maximum, tie", lambda: _gradient(np.maximum, 1.0, 1.0), 0.5),
    ("maximum, tie, second", lambda: _gradient(np.maximum, 1.0, 1.0, wrt=1), 0.5),
    ("minimum, tie", lambda: _gradient(np.minimum, 1.0, 1.0), 0.5),
    ("fmax, tie", lambda: _gradient(np.fmax, 1.0, 1.0), 0.5),
    ("builtin max, tie", lambda: _gradient(max, 1.0, 1.0), 0.5),
    ("max of three, ties", lambda: _gradient(max, 1.0, 2.0, 2.0), (0.0, 0.5, 0.5)),
    ("min of a list, ties", lambda: _gradient(min, [1.0, 1.0, 2.0]), [0.5, 0.5, 0.0]),
    ("max, ties", lambda: _gradient(np.max, np.array([2.0, 5, 5, 1])), [0, 0.5, 0.5, 0]),
    (
        "min, ties along an axis",
        lambda: _gradient(np.min, np.array([[1.0, 2], [1, 0]]), axis=0),
        [[0.5, 0], [0.5, 1]],
    ),
    ("median, ties", lambda: _gradient(np.median, np.array([1.0, 2, 2, 5])), [0, 0.5, 0.5, 0]),
    (
        "clip at its bounds",
        lambda: _gradient(np.clip, np.array([-1.0, 0, 1, 3]), -1, 1),
        [1, 1, 1, 0],
    ),
    ("x ** 0 at 0", lambda: _gradient(np.power, 0.0, 0), 0.0),
    ("x ** 1 at 0", lambda: _gradient(np.power, 0.0, 1), 1.0),
    ("x ** [0, 1, 2] at 0", lambda: _gradient(np.power, 0.0, np.arange(3)), 1.0),
    ("0 ** y", lambda: _gradient(np.power, 0.0, 2.0, wrt=1), 0.0),
    ("prod, one zero", lambda: _gradient(np.prod, np.array([2.0, 0, 3, 4])), [0, 24, 0, 0]),
    ("prod, two zeros", lambda: _gradient(np.prod, np.array([2.0, 0, 0, 4])), [0, 0, 0, 0]),
    ("cumprod, zero", lambda: _gradient(np.cumprod, np.array([2.0, 0, 3])), [1, 8, 0]),
    ("std of equals", lambda: _gradient(np.std, np.full(3, 1.5)), [0, 0, 0]),
    ("var of equals", lambda: _gradient(np.var, np.full(3, 1.5)), [0, 0, 0]),
    ("logaddexp at -inf", lambda: _gradient(np.logaddexp, -INF, 1.0), 0.0),
    ("logaddexp, both -inf", lambda: _gradient(np.logaddexp, -INF, -INF), 0.0),
    (
        "where, other arm",
        lambda: _gradient(np.where, np.array([True, False]), np.ones(2), 0.0, wrt=1),
        [1, 0],
    ),
    ("maximum with inf", lambda: _gradient(np.maximum, 0.5, -INF), 1.0),
]


@pytest.mark.parametrize(
    ("gradient", "expected"), [c[1:] for c in CONVENTIONS], ids=[c[0] for c in CONVENTIONS]
)
def test_convention(gradient: Any, expected: Any) -> None:
    actual = gradient()
    np.testing.assert_allclose(actual, expected, atol=1e-12)


def test_max_of_the_same_value_has_derivative_one() -> None:
    x = np.array([1.0, -2.0])
    total = _gradient(np.maximum, x, x) + _gradient(np.maximum, x, x, wrt=1)
    np.testing.assert_allclose(total, np.ones(2))


# ---- the registry ------------------------------------------------------------


def test_a_ufunc_method_is_found_at_each_access() -> None:
    first, second = registry.lookup(np.add.reduce), registry.lookup(np.add.reduce)
    assert first is second
    assert first is not None
    assert first.name == "numpy.add.reduce"
    assert registry.lookup(np.multiply.reduce) is not first


def test_an_alias_has_the_rule_of_the_other() -> None:
    import operator

    assert registry.lookup(operator.add) is registry.lookup(np.add)
    assert registry.lookup(np.ndarray.sum) is registry.lookup(np.sum)


def test_signatures_accept_what_the_functions_accept() -> None:
    """The parameters that NumPy has and a rule has not are refused: they are listed here."""
    for target, refused in {
        np.sum: set(),
        np.mean: set(),
        np.prod: set(),
        np.max: set(),
        np.cumsum: set(),
        np.var: {"mean", "correction"},
        np.std: {"mean", "correction"},
        np.average: {"returned"},
        np.quantile: {"weights", "interpolation", "overwrite_input"},
        np.interp: {"period"},
    }.items():
        entry = registry.lookup(target)
        assert entry is not None
        assert entry.params is not None
        theirs = inspect.signature(target).parameters
        missing = set(theirs) - set(entry.params.parameters)
        assert missing == refused & set(theirs)  # not every NumPy has all of them


# ---- short formulas ----------------------------------------------------------


def _known(sample: Sample) -> tuple[dict[str, Any], dict[str, Any]]:
    """The literals of a call and the types of its arguments, as the compiler has them."""
    values = sample.environment()
    plain = (int, float, str, bool, type(None))
    constants = {p: v for p, v in values.items() if type(v) in plain}
    types: dict[str, Any] = {}
    for p, v in values.items():
        if isinstance(v, np.ndarray):
            types[p] = Array(v.dtype, tuple("1" if n == 1 else "n" for n in v.shape))
        elif isinstance(v, int | float | complex | np.number):
            types[p] = Number(type(v))
    return constants, types


@pytest.mark.parametrize(("entry", "point"), SAMPLES)
def test_short_formulas_agree(entry: Entry, point: Any) -> None:
    sample = Sample(entry, point)
    constants, types = _known(sample)
    rng = _rng(entry)
    out = sample.call()
    g = random_like(out, rng)
    for param in _differentiable(sample):
        if isinstance(sample.arguments[param], list | tuple):
            continue
        others = {p: v for p, v in constants.items() if p != param}
        tangent = random_like(sample.arguments[param], rng)
        for known in ({}, types):
            short = specialised(entry, param, others, known)
            if short is not None:
                names = sample.environment(g=g, out=out)
                value = evaluate(entry, short.text, names)
                if entry.kind == "elementwise":
                    value = support.unbroadcast(value, sample.arguments[param])
                _close(value, reverse(sample, param, g, out), short.text)
            short = specialised(entry, param, others, known, forward=True)
            if short is not None:
                names = {**sample.environment(out=out), f"{param}_dot": tangent}
                value = evaluate(entry, short.text, names)
                general = forward(sample, param, tangent, out)
                _close(value, general if isinstance(general, tuple) else np.asarray(general), "")


@pytest.mark.parametrize(
    ("target", "param", "constants", "types", "expected"),
    [
        (np.power, "x1", {"x2": 2}, {}, "g * 2.0 * x1"),
        (np.power, "x1", {"x2": 3}, {}, "g * 3.0 * x1 ** 2"),
        (np.power, "x1", {"x2": -2}, {}, "-2.0 * g * x1 ** -3"),
        (np.power, "x1", {"x2": 0.5}, {}, "g * 0.5 / out"),
        (np.power, "x2", {"x1": 2.0}, {}, "g * math.log(2.0) * out"),
        (np.sin, "x", {}, {}, None),
        (np.absolute, "x", {}, {"x": Number(float)}, "g * np.sign(x)"),
        (np.absolute, "x", {}, {"x": Number(complex)}, None),
        (
            np.clip,
            "a",
            {"a_min": 0.0, "a_max": None, "min": None, "max": None},
            {},
            "g * (a >= 0.0)",
        ),
    ],
)
def test_short_formula(
    target: Any, param: str, constants: Any, types: Any, expected: str | None
) -> None:
    entry = registry.lookup(target)
    assert entry is not None
    short = specialised(entry, param, constants, types)
    assert (None if short is None else short.text) == expected


def test_a_reduction_prints_without_its_defaults() -> None:
    entry = registry.lookup(np.max)
    assert entry is not None
    defaults = {"axis": None, "keepdims": False, "initial": None, "where": True, "out": None}
    short = specialised(entry, "a", defaults)
    assert short is not None
    assert short.text == "g * support.ties(a, out)"
