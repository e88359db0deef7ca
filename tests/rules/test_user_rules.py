"""Rules that users register, and functions decorated with their own derivative."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.rules import registry, tables

X = np.array([0.4, -1.3, 2.1])


@pytest.fixture(autouse=True)
def same_registry(monkeypatch):
    """What a test registers is gone after it."""
    tables.load()
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))


@pytest.fixture(params=[True, False], ids=["typed", "generic"])
def grad(request):
    return lambda f, wrt=0, **options: sg.grad(f, wrt, specialize=request.param, **options)


# ---- registered rules -------------------------------------------------------------------


def square(x):
    return x * x


def power_law(x, n=2, mode="plain"):
    return np.abs(x) ** n if mode == "abs" else x**n


def split(x):
    return np.sum(x**2), np.exp(x)


def test_a_registered_rule_is_used_by_the_function_and_by_its_callers(grad):
    def loss(x):
        return np.sum(square(x) * x)

    @sg.rule(square)
    def rule(g, out, x):
        return 10.0 * g * x

    assert grad(square)(3.0) == 30.0
    np.testing.assert_allclose(grad(loss)(X), 10 * X**2 + X**2)


def test_second_derivatives_differentiate_the_rule(grad):
    sg.rule(square)(lambda g, out, x: 3.0 * g * x**3)
    assert grad(grad(square))(2.0) == pytest.approx(36.0)


def test_keyword_arguments_reach_the_rule_in_the_order_of_the_parameters(grad):
    seen = []

    @sg.rule(power_law)
    def rule(g, out, x, n, mode):
        seen.append((n, mode))
        return g * n * x ** (n - 1), None, None

    def total(x):
        return np.sum(power_law(x)) + np.sum(power_law(mode="abs", x=x, n=4))

    np.testing.assert_allclose(grad(total)(X), 2 * X + 4 * X**3)
    assert sorted(seen) == [(2, "plain"), (4, "abs")]


def test_a_rule_for_a_result_of_several_parts(grad):
    @sg.rule(split)
    def rule(g, out, x):
        assert isinstance(g, tuple)
        assert g[1].shape == out[1].shape
        return g[0] * 2 * x + g[1] * out[1]

    assert grad(lambda x: split(x)[0])(X) == pytest.approx(2 * X)
    np.testing.assert_allclose(grad(lambda x: np.sum(split(x)[1] * 3.0))(X), 3 * np.exp(X))


def test_a_result_that_is_not_used_does_not_call_its_rule():
    def f(x):
        return np.sum(x * 2.0) + len(np.round(x))

    assert sg.grad(f, rules={np.round: lambda g, out, x: g / "0"})(X) == pytest.approx(
        np.full(3, 2.0)
    )


def test_variables_of_one_name_around_a_call(grad):
    def f(x, n):
        for _ in range(n):
            x = square(x)
        return np.sum(x)

    sg.rule(square)(lambda g, out, x: 2.0 * g * x + 0.0 * out)
    np.testing.assert_allclose(grad(f)(X, 3), 8 * X**7, rtol=1e-12)


def test_results_and_arguments_that_are_written_into_later(grad):
    def f(x):
        y = np.zeros(3)
        y[:] = x
        z = square(y)
        y[0] = 5.0
        z[1] = z[0] * 2.0
        return np.sum(z * y)

    sg.rule(square)(lambda g, out, x: 2.0 * g * x)
    want = np.array([2 * X[0] * 5 + 2 * 2 * X[0] * X[1], 2 * X[0] ** 2, 3 * X[2] ** 2])
    np.testing.assert_allclose(grad(f)(X), want)


def test_a_function_that_returns_its_argument_is_refused_where_that_is_written():
    def same(x):
        return x

    def f(x):
        y = same(x)
        y[0] = 2.0 * x[1]
        return np.sum(y * y)

    rules = {same: lambda g, out, x: 2.0 * g}
    with pytest.raises(sg.SrcgradError, match="shares memory"):
        sg.grad(f, rules=rules)(X)
    np.testing.assert_allclose(sg.grad(lambda x: np.sum(same(x) * x), rules=rules)(X), 3 * X)


def test_gradients_of_rules_that_pass_on_their_arguments_share_no_memory():
    def f(a, b):
        return np.sum(pair(a, b))

    def pair(a, b):
        return a * b

    ga, gb = sg.grad(f, (0, 1), rules={pair: lambda g, out, a, b: (g, g)})(X, X)
    ga += 1.0
    np.testing.assert_array_equal(gb, np.ones(3))


@pytest.mark.parametrize("x", [X.astype(np.float32), np.float32(0.5)])
def test_the_gradient_has_the_dtype_of_the_argument(x):
    sg.rule(square)(lambda g, out, x: np.float64(2.0) * g * x)
    assert sg.grad(lambda x: np.sum(square(x)))(x).dtype == np.float32


# ---- what can have a rule ---------------------------------------------------------------


def test_a_c_function(grad):
    special = pytest.importorskip("scipy.special")
    rule = lambda g, out, x: -g * special.j1(x)  # noqa: E731
    got = grad(lambda x: np.sum(special.j0(x) * x), rules={special.j0: rule})(X)
    np.testing.assert_allclose(got, special.j0(X) - X * special.j1(X))


def test_a_function_of_ctypes(grad):
    cosh = ctypes.CDLL(ctypes.util.find_library("m")).cosh
    cosh.restype, cosh.argtypes = ctypes.c_double, [ctypes.c_double]
    sg.rule(cosh)(lambda g, out, x: g * math.sinh(x))
    assert grad(lambda x: cosh(x) * x)(0.7) == pytest.approx(math.sinh(0.7) * 0.7 + math.cosh(0.7))
    assert grad(cosh)(0.7) == pytest.approx(math.sinh(0.7))


def test_a_function_of_numba(grad):
    numba = pytest.importorskip("numba")
    compiled = numba.njit(lambda x: x * x)
    sg.rule(compiled)(lambda g, out, x: 7.0 * g)
    assert grad(lambda x: compiled(x) + x)(2.0) == 8.0


class Model:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return x * x * self.w


MODEL = Model(3.0)


def test_methods(grad):
    def through_object(x):
        return MODEL.forward(x)

    def of_local(x):
        return Model(2.0).forward(x)

    of_class = {Model.forward: lambda g, out, self, x: (None, 8.0 * g)}
    of_object = {MODEL.forward: lambda g, out, x: 9.0 * g}
    assert grad(through_object, rules=of_class)(2.0) == 8.0
    assert grad(of_local, rules=of_class)(2.0) == 8.0
    assert grad(through_object, rules=of_object)(2.0) == 9.0
    assert grad(Model(1.0).forward, rules=of_class)(2.0) == 8.0
    with pytest.warns(sg.errors.UnusedOverride):
        assert grad(of_local, rules=of_object)(2.0) == 8.0


def test_a_black_box_that_could_not_be_differentiated(grad):
    def search(x):
        found = {}
        for k in map(str, range(3)):
            exec(f"found[{k!r}] = x * {k}")
        return found["2"]

    assert grad(lambda x: search(x) + x, rules={search: lambda g, out, x: 2.0 * g})(1.0) == 3.0


def test_what_is_not_callable():
    with pytest.raises(sg.errors.RuleError, match="not callable"):
        sg.rule(3)(lambda g, out, x: g)
    with pytest.raises(sg.errors.RuleError, match="not callable"):
        sg.grad(square, rules={"math.pi": lambda g, out, x: g})


# ---- checks -------------------------------------------------------------------------------


def product(x, y):
    return x * y


def one(x):
    return x * 2.0


def check(target, rule, *args, wrt=0):
    return sg.grad(lambda *a: np.sum(target(*a)), wrt, rules={target: rule})(*args)


@pytest.mark.parametrize(
    ("target", "rule", "args", "words"),
    [
        (product, lambda g, out, x, y: (g * y,), (2.0, 3.0), ["1 cotangent ", "2 arguments"]),
        (product, lambda g, out, x, y: g * y, (2.0, 3.0), ["1 cotangent,", "2 arguments"]),
        (one, lambda g, out, x: (g, g), (2.0,), ["2 cotangents", "1 argument"]),
        (one, lambda g, out, x: (1j * g * x,), (X,), ["complex", "real"]),
        (one, lambda g, out, x: g[:2], (X,), ["shape (2,)", "(3,)"]),
        (one, lambda g, out, x: 1.0 * np.sum(g), (X,), ["shape ()", "(3,)"]),
        (one, lambda g, out, x: g * np.ones(3), (2.0,), ["shape (3,)", "number"]),
        (one, lambda g, out, x: g > 0, (X,), ["dtype bool"]),
        (one, lambda g, out, x: str(g), (2.0,), ["a str"]),
        (one, lambda g: g, (2.0,), ["signature", "(g, out, *args)"]),
        (product, lambda g, out, x: g, (2.0, 3.0), ["takes 1 argument", "at least 2"]),
        (one, lambda g, out, x, y: g, (2.0,), ["takes 2 arguments", "at most 1"]),
    ],
)
def test_wrong_rules_are_refused_with_their_place(target, rule, args, words):
    with pytest.raises(sg.errors.RuleError) as caught:
        check(target, rule, *args, wrt=tuple(range(len(args))))
    text = str(caught.value)
    assert all(
        word in text for word in [*words, target.__name__, "<lambda> (", "test_user_rules.py:"]
    ), text


def test_the_cotangents_of_an_elementwise_function_are_summed(grad):
    rules = {np.multiply: lambda g, out, a, b: (2 * g * b, 3 * g * a)}
    ga, gb = grad(lambda a, b: np.sum(np.multiply(a, b)), (0, 1), rules=rules)(X, 2.0)
    np.testing.assert_allclose(ga, np.full(3, 4.0))
    assert gb == pytest.approx(3 * X.sum())


def test_the_cotangent_is_read_only(grad):
    def rule(g, out, x):
        g *= 2.0
        return g

    with pytest.raises(ValueError, match="read-only") as caught:
        grad(lambda x: np.sum(one(x) * x), rules={one: rule})(X)
    assert "rule" in caught.value.__notes__[0]


def test_an_exception_in_a_rule_says_which_rule():
    with pytest.raises(ZeroDivisionError) as caught:
        check(one, lambda g, out, x: (g * (1 / 0),), X)
    note = caught.value.__notes__[0]
    assert "one(x)" in note
    assert "test_user_rules.py:" in note


def test_a_second_registration_needs_replace():
    sg.rule(one)(lambda g, out, x: g)
    with pytest.raises(sg.errors.RuleError, match="replace=True"):
        sg.rule(one)(lambda g, out, x: 2.0 * g)
    df = sg.grad(one)
    assert df(1.0) == 1.0
    sg.rule(one, replace=True)(lambda g, out, x: 5.0 * g)
    assert df(1.0) == 5.0


@pytest.mark.parametrize(
    "rule",
    [
        lambda g, out, x: 4.0,
        lambda g, out, x: (2.0 * x,),
    ],
)
def test_a_rule_that_forgets_its_cotangent_is_warned_of(rule):
    with pytest.warns(sg.errors.RuleIgnoresCotangent, match="breaks the chain rule"):
        sg.rule(one, replace=True)(rule)


def helper(a):
    return a


@pytest.mark.parametrize(
    "rule",
    [
        lambda g, out, x: np.zeros_like(x),
        lambda g, out, x: None,
        lambda g, out, x: (0.0 * x,),
        lambda g, out, x: helper(g),
        lambda cotangent, out, x: sum(k * cotangent for k in (1.0,)),
    ],
)
def test_a_rule_that_uses_its_cotangent_or_is_zero_is_not_warned_of(rule):
    sg.rule(one, replace=True)(rule)


def test_a_rule_written_out_in_steps_is_not_warned_of():
    @sg.rule(one)
    def rule(g, out, x):
        total = np.zeros_like(x)
        for k in range(2):
            total += k * g
        return total


# ---- forward mode --------------------------------------------------------------------------


def test_a_linear_rule_is_transposed_in_forward_mode(grad):
    a = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])

    def solve(x):
        return a @ x

    def loss(x):
        y = solve(x)
        return np.sum(y * y * y)

    rules = {solve: lambda g, out, x: 2.0 * (a.T @ g)}
    _, tangent = sg.jvp(loss, rules=rules)(np.ones(3), X)
    assert tangent == pytest.approx(np.sum(3 * (a @ X) ** 2 * (2.0 * a @ np.ones(3))))
    first = grad(loss, rules=rules)
    np.testing.assert_allclose(first(X), 2.0 * a.T @ (3 * (a @ X) ** 2))
    # The rule's factor counts once for each time that the product is differentiated.
    h = sg.hessian(loss, rules=rules)(X)
    np.testing.assert_allclose(h, 4.0 * a.T @ np.diag(6 * (a @ X)) @ a)
    np.testing.assert_allclose(sg.hvp(loss, rules=rules)(X, X), h @ X)


def test_elementwise_rules_broadcast_in_forward_mode():
    rules = {np.multiply: lambda g, out, a, b: (2 * g * b, 3 * g * a)}
    f = sg.jvp(lambda a, b: np.sum(np.multiply(a, b)), (0, 1), rules=rules)
    assert f((np.ones(3), 1.0), X, 2.0)[1] == pytest.approx(12.0 + 3 * X.sum())


@pytest.mark.parametrize(
    "rule",
    [
        lambda g, out, x: np.clip(g, -1.0, 1.0),
        lambda g, out, x: g * (g > 0),
        lambda g, out, x: g + x,
        lambda g, out, x: np.where(x > 0, g, x),
        lambda g, out, x: g if np.sum(g) > 0 else -g,
        lambda g, out, x: np.sign(g),
    ],
)
def test_a_rule_that_is_not_linear_is_refused_in_forward_mode(rule):
    with pytest.raises(sg.SrcgradError, match="not linear"):
        sg.jvp(lambda x: np.sum(one(x)), rules={one: rule})(np.ones(3), X)


@pytest.mark.parametrize(
    "rule",
    [
        lambda g, out, x: np.where(x > 0, g, 0.0),
        lambda g, out, x: g * (x > 0) / 3.0 - g,
        lambda g, out, x: np.sum(g) * x,
        lambda g, out, x: np.zeros_like(x),
        lambda g, out, x: np.flip(g),
    ],
)
def test_forward_and_reverse_agree_for_linear_rules(rule):
    def loss(x):
        return np.sum(one(x) * x)

    tangent = sg.jvp(loss, rules={one: rule})(np.array([1.0, 2.0, -1.0]), X)[1]
    assert tangent == pytest.approx(sg.grad(loss, rules={one: rule})(X) @ [1.0, 2.0, -1.0])


# ---- decorators -----------------------------------------------------------------------------


@sg.custom_gradient
def log1pexp(x):
    e = np.exp(x)

    def gradient(dy):
        return dy * (1 - 1 / (1 + e))

    return np.log(1 + e), gradient


@sg.custom_gradient
def log1pexp_twice(x):
    e = np.exp(x)

    @sg.custom_gradient
    def first(x):
        return 1 - 1 / (1 + e), lambda ddy: ddy * (1 - e)

    def gradient(dy):
        return dy * first(x)

    return np.log(1 + e), gradient


def test_custom_gradient(grad):
    with np.errstate(over="ignore", invalid="ignore"):
        assert grad(log1pexp)(100.0) == 1.0
        assert math.isnan(grad(lambda x: np.log(1 + np.exp(x)))(1000.0))
    assert grad(log1pexp)(1.0) == pytest.approx(0.7310586)
    assert log1pexp(1.0) == pytest.approx(math.log1p(math.e))


def test_custom_gradient_in_loops_and_arrays(grad):
    def f(x):
        s = 0.0
        for k in range(3):
            s = s + np.sum(log1pexp(x * k))
        return s

    np.testing.assert_allclose(grad(f)(X), sum(k / (1 + np.exp(-k * X)) for k in range(3)))


def test_the_second_derivative_of_a_custom_gradient(grad):
    s = 1 / (1 + math.exp(-1.0))
    assert grad(grad(log1pexp))(1.0) == pytest.approx(s * (1 - s))
    hessian = sg.hessian(lambda x: np.sum(log1pexp(x)))(X)
    s = 1 / (1 + np.exp(-X))
    np.testing.assert_allclose(hessian, np.diag(s * (1 - s)))


def test_nested_custom_gradients_give_second_derivatives(grad):
    first, second = grad(log1pexp_twice), grad(grad(log1pexp_twice))
    assert first(1.0) == pytest.approx(0.7310586)
    assert second(1.0) == pytest.approx(-1.7182817)
    assert first(100.0) == 1.0
    assert second(100.0) == pytest.approx(1 - math.exp(100.0))


def test_the_gradient_function_is_the_one_of_the_call():
    rng = np.random.default_rng(1)

    @sg.custom_gradient
    def dropout(x):
        mask = rng.random(x.shape) > 0.5
        return x * mask, lambda g: g * mask

    value, gradient = sg.value_and_grad(lambda x: np.sum(dropout(x)))(np.ones(64))
    assert 0 < value < 64
    assert value == gradient.sum()


def test_custom_gradient_of_several_arguments(grad):
    @sg.custom_gradient
    def scaled(x, y):
        return x * y, lambda g: (2.0 * g * y, None)

    got = grad(lambda x, y: np.sum(scaled(x, y)), (0, 1))(X, 3.0)
    np.testing.assert_allclose(got[0], np.full(3, 6.0))
    assert got[1] == 0.0


def test_custom_gradient_that_forgets_its_cotangent():
    with pytest.warns(sg.errors.RuleIgnoresCotangent):

        @sg.custom_gradient
        def quadruple(x):
            def gradient(dy):
                return 4.0

            return x * 4.0, gradient

    assert sg.grad(lambda x: quadruple(quadruple(x)))(1.0) == 4.0


def test_custom_vjp(grad):
    @sg.custom_vjp
    def f(x, y):
        return np.sin(x) * y

    with pytest.raises(sg.SrcgradError, match="defvjp"):
        grad(f)(0.3, 2.0)
    f.defvjp(
        lambda x, y: (f(x, y), (np.cos(x), np.sin(x), y)),
        lambda saved, g: (saved[0] * g * saved[2], saved[1] * g),
    )
    got = grad(f, (0, 1))(0.3, 2.0)
    assert got == pytest.approx((math.cos(0.3) * 2.0, math.sin(0.3)))
    assert grad(grad(f))(0.3, 2.0) == pytest.approx(-math.sin(0.3) * 2.0)
    assert f(0.3, 2.0) == math.sin(0.3) * 2.0


def test_custom_jvp(grad):
    @sg.custom_jvp
    def f(x, n):
        return np.sin(x) * n

    @f.defjvp
    def f_jvp(primals, tangents):
        x, n = primals
        x_dot, _ = tangents
        return f(x, n), 2.0 * np.cos(x) * x_dot * n

    assert sg.jvp(f)(1.0, 0.3, 2)[1] == pytest.approx(4.0 * math.cos(0.3))
    assert grad(f)(0.3, 2) == pytest.approx(4.0 * math.cos(0.3))
    np.testing.assert_allclose(
        grad(lambda x: np.sum(f(x, 3) * x))(X), 6 * np.cos(X) * X + 3 * np.sin(X)
    )


def test_a_forward_rule_that_is_not_linear_is_refused():
    @sg.custom_jvp
    def f(x):
        return x * x

    f.defjvp(lambda primals, tangents: (f(primals[0]), tangents[0] * tangents[0]))
    with pytest.raises(sg.SrcgradError, match="not linear in the tangents"):
        sg.grad(f)(1.0)


def test_nondiff(grad):
    @sg.nondiff
    def level(x):
        return np.floor(x) + 0.5 * x

    assert grad(lambda x: x * level(x))(2.5) == level(2.5)
    assert level(2.5) == 3.25


def test_stop_gradient(grad):
    def f(x):
        y = sg.stop_gradient(x)
        y[0] = 7.0
        return np.sum(x * y)

    np.testing.assert_allclose(grad(f)(X), [7.0, X[1], X[2]])
    assert grad(lambda x: sg.stop_gradient(x) * x)(3.0) == 3.0
    assert sg.stop_gradient(X) is not X


FRESH = """
import numpy as np
import srcgrad as sg
import sys

if sys.argv[1] == "loaded":
    sg.grad(np.sin)(1.0)

@sg.rule(np.square)
def square(g, out, x):
    return 3.0 * g * x

def f(x):
    return np.sum(np.square(x) + np.tanh(x) * np.ones((2, 1)))

given = {np.tanh: lambda g, out, x: 5.0 * g}
print(sg.grad(f, rules=given)(np.ones(2)))
with sg.override(given):
    print(sg.grad(f)(np.ones(2)))
"""


@pytest.mark.parametrize("tables", ["not loaded", "loaded"])
def test_rules_for_library_functions_in_a_fresh_process(tmp_path, tables):
    """Before the tables of srcgrad's own are loaded and after, a user's rule is stronger."""
    (tmp_path / "fresh.py").write_text(FRESH)
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(tmp_path / "fresh.py"), tables],
        env={**os.environ, "PYTHONPATH": root, "SRCGRAD_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["[16. 16.]", "[16. 16.]"]
