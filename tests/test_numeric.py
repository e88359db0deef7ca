"""Programs as users write them, in every mode, with every form of `wrt`, container and dtype."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import srcgrad as sg
from srcgrad import trees
from srcgrad.differences import Slopes
from srcgrad.rules.versions import NUMPY_2
from tests.numeric import check, same

V = np.array([0.5, -1.2, 2.0])
BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])

# ---- programs ----


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def logistic(w, X, y):
    z = X @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def pendulum(theta, omega, damping, steps):
    for _ in range(steps):
        omega = omega - 0.05 * (np.sin(theta) + damping * omega)
        theta = theta + 0.05 * omega
    return theta * omega


def portfolio(w, returns):
    path = returns @ w
    return np.mean(path) / np.std(path, ddof=1)


def huber(x, y, delta=1.0):
    r = np.abs(x - y)
    return np.sum(np.where(r < delta, 0.5 * r**2, delta * (r - 0.5 * delta)))


def gaussian_process(log_length, log_noise, x, y):
    K = np.exp(-((x[:, None] - x[None, :]) ** 2) / (2.0 * np.exp(log_length) ** 2))
    K = K + np.exp(log_noise) * np.eye(len(x))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L, y)
    return 0.5 * a @ a + np.sum(np.log(np.diagonal(L)))


def spring_chain(x, k):
    force = np.zeros_like(x)
    for i in range(len(x) - 1):
        pull = k * (x[i + 1] - x[i] - 1.0)
        force[i] += pull
        force[i + 1] -= pull
    return np.sum(force**2)


def lowpass(signal, a):
    out = np.empty(len(signal))
    state = 0.0
    for i, v in enumerate(signal):
        state += a * (v - state)
        out[i] = state
    return np.max(out) - np.min(out)


def spline(knots, t):
    i = np.searchsorted(np.array([0.0, 1.0, 2.0]), t) - 1
    u = t - i
    return knots[i] * (1.0 - u) + knots[i + 1] * u


def option(spot, sigma):
    d = (math.log(spot / 100.0) + 0.5 * sigma**2) / sigma
    return spot * 0.5 * math.erfc(-d / math.sqrt(2.0))


def matrix_power_trace(A, n):
    B = np.eye(len(A))
    for _ in range(n):
        B = B @ A
    return np.trace(B)


def convex_hull_area(points):
    total = 0.0
    for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0)):
        total += x0 * y1 - x1 * y0
    return abs(total) / 2.0


RNG = np.random.default_rng(3)
PROGRAMS: list[tuple[Any, tuple[Any, ...], Any]] = [
    (rosenbrock, (RNG.normal(size=5),), 0),
    (logistic, (V, RNG.normal(size=(6, 3)), np.array([0, 1, 1, 0, 1, 0.0])), "w"),
    (pendulum, (0.5, 0.1, 0.3, 12), (0, 1, 2)),
    (portfolio, (np.array([0.3, 0.7]), RNG.normal(size=(7, 2))), 0),
    (huber, (V * 2, RNG.normal(size=3)), ("x", "y")),
    (gaussian_process, (0.2, -1.0, np.arange(4.0), RNG.normal(size=4)), (0, 1, 3)),
    (spring_chain, (np.array([0.0, 1.2, 1.9, 3.3]), 2.0), ("x", "k")),
    (lowpass, (RNG.normal(size=6), 0.4), (0, 1)),
    (spline, (V, 1.3), (0, 1)),
    (option, (104.0, 0.3), (0, 1)),
    (matrix_power_trace, (RNG.normal(size=(3, 3)) / 2, 4), 0),
    (convex_hull_area, (np.array([[0.0, 0.1], [1.0, 0.0], [1.2, 1.1], [0.2, 0.9]]),), 0),
]
IDS = [fn.__name__ for fn, _, _ in PROGRAMS]


@BOTH
@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
@pytest.mark.parametrize(("fn", "args", "wrt"), PROGRAMS, ids=IDS)
def test_first_derivatives(fn: Any, args: Any, wrt: Any, mode: str, typed: bool) -> None:
    check(fn, *args, wrt=wrt, modes=(mode,), specialize=(typed,))


@BOTH
@pytest.mark.parametrize(("fn", "args", "wrt"), PROGRAMS, ids=IDS)
def test_second_derivatives(fn: Any, args: Any, wrt: Any, typed: bool) -> None:
    """hvp and hessian against differences of the gradient, in one argument."""
    first = wrt[0] if isinstance(wrt, tuple) else wrt
    gradient = sg.grad(fn, first, specialize=typed)
    place = list(fn.__code__.co_varnames).index(first) if isinstance(first, str) else first
    x = args[place]

    def at(chosen: Any) -> Any:
        new = list(trees.copied(args))
        new[place] = chosen[0]
        return gradient(*new)

    weights = np.cos(np.arange(np.size(x)) + 1.0)
    slopes = Slopes(at, (x,), weights, 0.02, analytic=False)
    expected = np.array([slopes.along(e)[0] for e in np.eye(np.size(x))])
    vector = weights.reshape(np.shape(x)) if np.ndim(x) else float(weights[0])
    product = sg.hvp(fn, first, specialize=typed)(vector, *trees.copied(args))
    np.testing.assert_allclose(np.ravel(product), expected, rtol=1e-6, atol=1e-6)
    matrix = np.reshape(
        sg.hessian(fn, first, specialize=typed)(*trees.copied(args)), (np.size(x), -1)
    )
    np.testing.assert_allclose(weights @ matrix, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-8, atol=1e-8)


# ---- Jacobians ----


def two_outputs(x, y):
    return np.array([x[0] * y, np.sin(x[1]) * x[2]])


def matrix_output(x):
    return np.outer(x, x**2)


@BOTH
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobian(mode: str, typed: bool) -> None:
    found = sg.jacobian(two_outputs, (0, 1), mode=mode, specialize=typed)(V, 1.5)
    expected = [[1.5, 0, 0], [0, np.cos(V[1]) * V[2], np.sin(V[1])]]
    np.testing.assert_allclose(found[0], expected)
    np.testing.assert_allclose(found[1], [V[0], 0.0])
    third = sg.jacobian(matrix_output, mode=mode, specialize=typed)(V)
    assert third.shape == (3, 3, 3)
    eye = np.eye(3)
    expected = np.einsum("ik,j->ijk", eye, V**2) + np.einsum("i,jk->ijk", V, eye * 2 * V)
    np.testing.assert_allclose(third, expected)


def test_jacobian_of_a_number_is_the_gradient() -> None:
    np.testing.assert_allclose(sg.jacobian(rosenbrock)(V), sg.grad(rosenbrock)(V))
    assert sg.jacobian(lambda x: x**3)(2.0) == 12.0


# ---- wrt ----


def three(x, y, *, z=3.0):
    return x * y * y + z * x


def test_forms_of_wrt() -> None:
    assert sg.grad(three)(2.0, 5.0) == 28.0
    assert sg.grad(three, 1)(2.0, 5.0) == 20.0
    assert sg.grad(three, "z")(2.0, 5.0) == 2.0
    assert sg.grad(three, wrt=(1,))(2.0, 5.0) == (20.0,)
    assert sg.grad(three, wrt=["x", 1, "z"])(2.0, 5.0, z=1.0) == (26.0, 20.0, 2.0)
    assert sg.value_and_grad(three, ("z", "x"))(2.0, 5.0) == (56.0, (2.0, 28.0))
    assert sg.jvp(three, ("x", "z"))((1.0, 10.0), 2.0, 5.0) == (56.0, 48.0)
    assert sg.vjp(three, ("x", "z"))(2.0, 2.0, 5.0) == (56.0, (56.0, 4.0))


@pytest.mark.parametrize(
    ("wrt", "word"),
    [(2, "position 2"), (-1, "position -1"), ("w", "'w'"), (1.5, "1.5"), (True, "True")],
)
def test_wrt_that_names_nothing(wrt: Any, word: str) -> None:
    with pytest.raises(sg.SrcgradError, match=word):
        sg.grad(three, wrt)(2.0, 5.0)


@pytest.mark.parametrize("bad", [3, np.int64(3), True, np.arange(3), "3", None])
@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
def test_wrt_that_is_not_floating(bad: Any, mode: str) -> None:
    def f(x):
        return x * x

    first = (1.0,) if mode in ("vjp", "jvp") else ()
    with pytest.raises((sg.SrcgradError, TypeError)) as caught:
        getattr(sg, mode)(f)(*first, bad)
    assert "x" in str(caught.value)


def array_result(x):
    return x * 2.0


def tuple_result(x):
    return x, x * x


@BOTH
@pytest.mark.parametrize("fn", [array_result, tuple_result])
def test_gradients_are_of_numbers(fn: Any, typed: bool) -> None:
    with pytest.raises(sg.SrcgradError, match=r"scalar|single|one number") as caught:
        sg.grad(fn, specialize=typed)(V)
    assert "vjp" in str(caught.value) or "has_aux" in str(caught.value)


def test_results_without_dimensions() -> None:
    np.testing.assert_allclose(sg.grad(lambda x: np.array(x[0] * x[1]))(V), [V[1], V[0], 0.0])
    np.testing.assert_allclose(sg.grad(lambda x: np.float64(x[0]))(V), [1.0, 0.0, 0.0])


# ---- containers ----


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True)
class Frozen:
    w: Any
    name: str = "frozen"
    count: int = 3


def of_dict(p):
    return p["a"] * np.sum(p["b"]["c"] ** 2) + p["b"]["d"][1]


def of_pair(p):
    return np.sum(p.left * p.right[0]) * p.right[1]


def of_frozen(p):
    return np.sum(p.w**p.count)


def of_list(p):
    return p[0] * p[1] + sum(v * v for v in p)


def of_tuple(p, q):
    (a, b), c = p
    return a * b * c + q[0] * np.sum(b)


CONTAINERS: list[tuple[Any, tuple[Any, ...], Any]] = [
    (of_dict, ({"a": 2.0, "b": {"c": V, "d": (1.0, 4.0, 3)}, "name": "x"},), 0),
    (of_pair, (Pair(V, (V * 2, 3.0)),), 0),
    (of_frozen, (Frozen(V),), 0),
    (of_list, ([1.5, 2.5, 0.5],), 0),
    (of_tuple, (((2.0, 3.0), 1.5), [0.5, "no"]), (0, 1)),
]


@BOTH
@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
@pytest.mark.parametrize(
    ("fn", "args", "wrt"), CONTAINERS, ids=[c[0].__name__ for c in CONTAINERS]
)
def test_containers(fn: Any, args: Any, wrt: Any, mode: str, typed: bool) -> None:
    check(fn, *args, wrt=wrt, modes=(mode,), specialize=(typed,))


@BOTH
def test_container_gradients_have_the_structure_of_the_argument(typed: bool) -> None:
    argument = CONTAINERS[0][1][0]
    found = sg.grad(of_dict, specialize=typed)(copy.deepcopy(argument))
    assert list(found) == ["a", "b", "name"]
    assert found["name"] is None
    assert found["b"]["d"][2] is None
    assert isinstance(found["b"]["d"], tuple)
    pair = sg.grad(of_pair, specialize=typed)(CONTAINERS[1][1][0])
    assert type(pair) is Pair
    frozen = sg.grad(of_frozen, specialize=typed)(Frozen(V))
    assert type(frozen) is Frozen
    assert frozen.name is None
    assert frozen.count is None


@BOTH
def test_container_results(typed: bool) -> None:
    def f(x, y):
        return {"sum": x + y, "pair": (x * y, np.array([x, y]))}

    check(f, 1.5, 0.5, wrt=(0, 1), modes=("vjp", "jvp"), specialize=(typed,))


# ---- has_aux ----


def with_aux(x, y):
    hidden = x * y
    return np.sum(hidden**2), {"hidden": hidden, "label": "aux", "n": len(x)}


@BOTH
@pytest.mark.parametrize("mode", ["grad", "value_and_grad"])
def test_has_aux(mode: str, typed: bool) -> None:
    check(with_aux, V, V * 2, wrt=(0, 1), modes=(mode,), specialize=(typed,), has_aux=True)


# ---- dtypes ----


def mixed(x, w):
    h = np.tanh(2.0 * x) * w
    y = np.zeros_like(h)
    for i in range(len(x)):
        y[i] = h[i] * 0.5 + x[i] / 3
    return np.mean(y * y) + np.sqrt(np.sum(x * x))


@BOTH
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_dtypes_are_kept(dtype: Any, typed: bool) -> None:
    x, w = V.astype(dtype), (V * 2 - 1).astype(dtype)
    value, (x_bar, w_bar) = sg.value_and_grad(mixed, (0, 1), specialize=typed)(x, w)
    assert np.asarray(value).dtype == dtype
    assert x_bar.dtype == w_bar.dtype == dtype
    expected = sg.grad(mixed, (0, 1))(x.astype(float), w.astype(float))
    tol = 8 * float(np.finfo(dtype).eps) + 1e-13
    np.testing.assert_allclose(np.asarray(x_bar, float), expected[0], rtol=tol, atol=tol)
    np.testing.assert_allclose(np.asarray(w_bar, float), expected[1], rtol=tol, atol=tol)
    tangent = sg.jvp(mixed, specialize=typed)(np.ones(3, dtype), x, w)[1]
    if NUMPY_2 or dtype is np.longdouble:  # in NumPy 1 a float32 number times 2.0 is a float64
        assert np.asarray(tangent).dtype == dtype
    np.testing.assert_allclose(float(tangent), np.sum(expected[0]), rtol=tol, atol=tol)


@BOTH
def test_python_floats_stay_python_floats(typed: bool) -> None:
    def f(x, y):
        return x * math.sin(y) + abs(x) ** 3

    for found in sg.grad(f, (0, 1), specialize=typed)(1.5, 0.5):
        assert type(found) is float
    value, gradient = sg.value_and_grad(f, specialize=typed)(1.5, 0.5)
    assert type(value) is float
    assert type(gradient) is float
    assert type(sg.grad(f, specialize=typed)(np.float64(1.5), 0.5)) is np.float64
    assert type(sg.grad(f, specialize=typed)(np.float32(1.5), 0.5)) is np.float32


@BOTH
def test_longdouble_keeps_its_digits(typed: bool) -> None:
    x = np.array([1.0], np.longdouble) / 3
    found = sg.grad(lambda v: np.sum(v * v * v), specialize=typed)(x)
    assert abs(found[0] - np.longdouble(1) / 3) < 4 * np.finfo(np.longdouble).eps


@BOTH
def test_one_function_for_several_dtypes(typed: bool) -> None:
    gradient = sg.grad(lambda x: np.sum(x**3), specialize=typed)
    for dtype in (np.float64, np.float32, np.float64, np.longdouble, np.float32):
        found = gradient(V.astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(
            found.astype(float), 3 * V.astype(dtype).astype(float) ** 2, rtol=1e-6
        )


# ---- complex intermediates ----


def spectrum(x, w):
    return np.sum(w * np.abs(np.fft.fft(x)) ** 2)


def rotation(x, angle):
    z = (x[0] + 1j * x[1]) * np.exp(1j * angle)
    return z.real * z.imag + abs(z)


def impedance(r, l, c):
    omega = 2.0
    z = r + 1j * omega * l + 1.0 / (1j * omega * c)
    return abs(1.0 / z) ** 2 + np.angle(z)


def hermitian(x):
    H = np.array([[x[0], x[1] - 1j * x[2]], [x[1] + 1j * x[2], 2.0 * x[0]]])
    return np.real(np.trace(H @ H @ np.conj(H)))


@BOTH
@pytest.mark.parametrize("mode", ["grad", "vjp", "jvp"])
@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (spectrum, (V, V**2)),
        (rotation, (V[:2], 0.7)),
        (impedance, (1.5, 0.4, 0.3)),
        (hermitian, (V,)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_complex_intermediates(fn: Any, args: Any, mode: str, typed: bool) -> None:
    wrt = tuple(range(len(args)))
    check(fn, *args, wrt=wrt, modes=(mode,), specialize=(typed,))


# ---- memory ----


def writes(x, w):
    x *= 2.0
    x[0] = w[1] * x[1]
    w += x
    return np.sum(x * w)


@BOTH
@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_arguments_are_left_alone(order: str, mode: str, typed: bool) -> None:
    base = np.arange(12.0).reshape(3, 4) / 5 + 0.1
    x = {"C": base, "F": np.asfortranarray(base), "strided": np.repeat(base, 2, 1)[:, ::2]}[order]
    w = np.cos(base)
    check(writes, x, w, wrt=(0, 1), modes=(mode,), specialize=(typed,))


def returns_its_argument(x):
    return x


def returns_views(x):
    return x[1:], x.T, x[::-1]


def adds_the_same(x, y):
    return np.sum(x + y)


@BOTH
@pytest.mark.parametrize(
    ("fn", "args", "wrt"),
    [
        (returns_its_argument, (V,), 0),
        (returns_views, (V,), 0),
        (adds_the_same, (V, V * 2), (0, 1)),
    ],
    ids=["itself", "views", "sum"],
)
def test_results_share_no_memory(fn: Any, args: Any, wrt: Any, typed: bool) -> None:
    check(fn, *args, wrt=wrt, specialize=(typed,), modes=("vjp", "jvp"))


@BOTH
def test_results_of_two_calls_are_separate(typed: bool) -> None:
    gradient = sg.grad(adds_the_same, (0, 1), specialize=typed)
    first = gradient(V, V)
    before = copy.deepcopy(first)
    second = gradient(V * 3, V)
    assert not np.shares_memory(first[0], second[0])
    first[0][:] = 7.0
    assert same(gradient(V, V), before)


def test_written_arguments_that_share_memory_are_refused() -> None:
    a = np.arange(4.0)
    with pytest.raises(sg.SrcgradError, match="share memory"):
        sg.grad(writes, (0, 1))(a[:3], a[1:])


# ---- derivatives of derivatives ----


def quartic(x):
    return x**4 + np.sin(x)


@BOTH
def test_orders(typed: bool) -> None:
    x, f = 0.7, quartic
    expected = [quartic(x), 4 * x**3 + np.cos(x), 12 * x**2 - np.sin(x), 24 * x - np.cos(x)]
    for order in (1, 2, 3):
        f = sg.grad(f, specialize=typed)
        np.testing.assert_allclose(f(x), expected[order], rtol=1e-12)


def weighted(x, w):
    s = 0.0
    for v in x:
        s = w * s + v * v
    return s


@BOTH
def test_products_of_products(typed: bool) -> None:
    """The value of a derivative is that of the function that is its primal."""
    first = sg.vjp(weighted, (0, 1), specialize=typed)
    check(first, 2.0, V, 0.5, wrt=(0, 1, 2), modes=("vjp", "jvp"), specialize=(typed,))


def edges(x):
    return np.sum(np.histogram(x, 3)[1])


@BOTH
def test_edges_of_a_histogram_move_with_the_data(typed: bool) -> None:
    try:
        found = sg.grad(edges, specialize=typed)(V)
    except sg.SrcgradError:
        return
    np.testing.assert_allclose(found, [0.0, 2.0, 2.0])


def uses_a_gradient(x, y):
    return sg.grad(quartic)(x) * y + sg.grad(quartic)(y)


@BOTH
def test_gradients_inside_functions(typed: bool) -> None:
    check(uses_a_gradient, 0.7, 0.4, wrt=(0, 1), specialize=(typed,))


def test_modes_over_modes() -> None:
    hessian = sg.hessian(rosenbrock)(V)
    v = np.array([1.0, -2.0, 0.5])
    by = [
        sg.jvp(sg.grad(rosenbrock))(v, V)[1],
        sg.grad(lambda x: sg.grad(rosenbrock)(x) @ v)(V),
        sg.grad(lambda x: sg.jvp(rosenbrock)(v, x)[1])(V),
        sg.jvp(lambda x: sg.vjp(rosenbrock)(1.0, x)[1])(v, V)[1],
    ]
    for found in by:
        np.testing.assert_allclose(found, hessian @ v)


def test_stop_gradient() -> None:
    assert sg.grad(lambda x: x * sg.stop_gradient(x))(3.0) == 3.0


def clipped(x):
    y = x * x
    with sg.adjoint_of(y) as y_bar:
        y_bar = np.clip(y_bar, -1.0, 1.0)
    return np.sum(5.0 * y)


@BOTH
def test_adjoint_of(typed: bool) -> None:
    np.testing.assert_allclose(sg.grad(clipped, specialize=typed)(V), 2 * V)


# ---- the object ----


def test_pickle() -> None:
    gradient = sg.grad(rosenbrock)
    gradient(V)
    again = pickle.loads(pickle.dumps(gradient))
    np.testing.assert_array_equal(again(V), gradient(V))
    assert again.source == gradient.source


def test_text_and_file() -> None:
    gradient = sg.grad(pendulum, ("theta", "omega"))
    gradient(0.5, 0.1, 0.3, 3)
    assert gradient.source.startswith("# Generated by srcgrad")
    with open(gradient.path, encoding="utf-8") as file:
        assert file.read() == gradient.source
    gradient(np.float32(0.5), 0.1, 0.3, 3)
    assert len(gradient.sources) == 2
    assert "theta float32" in gradient.source


def test_annotations_give_types_before_any_call() -> None:
    def f(x: float, n: int) -> float:
        return x**n

    assert "Types: x float, n int." in sg.grad(f).source
    assert "Types: not known." in sg.grad(quartic).source


def test_specialize_makes_without_a_call() -> None:
    gradient = sg.grad(quartic)
    gradient.specialize(0.5)
    assert "Types: x float." in gradient.source
    assert gradient.source == sg.source(quartic, 0.5)


def test_user_errors_surface_as_themselves() -> None:
    def f(x, table):
        return np.sum(x @ table["w"])

    with pytest.raises(KeyError):
        sg.grad(f)(V, {})
    with pytest.raises(ValueError, match=r"matmul|shapes"):
        sg.grad(f)(V, {"w": np.ones((2, 2))})
    with pytest.raises(ZeroDivisionError):
        sg.grad(lambda x: x * (1 / 0))(2.0)
    with pytest.raises(TypeError, match="missing"):
        sg.grad(f)(V)
