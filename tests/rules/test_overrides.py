"""Overrides: what is in force where, and for how long."""

from __future__ import annotations

import asyncio
import threading
import warnings

import numpy as np
import other_functions as other
import pytest

import srcgrad as sg
from srcgrad.errors import RuleError, UnusedOverride
from srcgrad.rules import custom

X = np.array([0.4, -1.3, 2.1])


def nothing(g, out, *args):
    return tuple(None for _ in args)


def ten(g, out, x):
    return 10.0 * g


def hundred(g, out, x):
    return 100.0 * g


@pytest.fixture(params=[True, False], ids=["typed", "generic"])
def grad(request):
    return lambda f, wrt=0, **options: sg.grad(f, wrt, specialize=request.param, **options)


def squared(x):
    return np.square(x)


# ---- in force around calls ---------------------------------------------------------------


def test_before_inside_after_and_inside_again(grad):
    df = grad(squared)
    zero = {np.square: lambda g, out, x: 0.0 * g}
    assert df(5.0) == 10.0
    with sg.override(zero):
        assert df(5.0) == 0.0
        assert grad(squared)(5.0) == 0.0
    assert df(5.0) == 10.0
    with sg.override({"numpy.square": lambda g, out, x: 0.0 * g}):
        assert df(5.0) == 0.0
    assert df(5.0) == 10.0


def test_a_scope_that_is_left_by_an_exception(grad):
    df = grad(squared)
    with pytest.raises(KeyError), sg.override({np.square: ten}):
        raise KeyError
    assert df(5.0) == 10.0


def test_the_inner_of_two_scopes_wins(grad):
    def f(x):
        return np.square(x) + np.exp(x)

    df = grad(f)
    with sg.override({np.square: ten, np.exp: ten}), sg.override({np.square: hundred}):
        assert df(5.0) == 110.0
        with sg.override({np.exp: hundred}):
            assert df(5.0) == 200.0
        assert df(5.0) == 110.0


def test_none_stands_for_zero(grad):
    with sg.override({np.square: None}):
        assert grad(lambda x: np.square(x) * x)(3.0) == 9.0


def test_named_rules(monkeypatch, grad):
    monkeypatch.setattr(custom, "_named", {})

    @sg.rule("Tens")
    def tens(g, out, x):
        return 10.0 * g

    with sg.override({np.square: "Tens"}):
        assert grad(squared)(5.0) == 10.0
    with pytest.raises(RuleError, match="replace=True"):
        sg.rule("Tens")(hundred)
    with pytest.raises(RuleError, match=r"no rule named 'Ten' \(named rules: Tens\)"):
        sg.grad(squared, rules={np.square: "Ten"})


def test_rules_that_are_gone_are_never_used_again(grad):
    df = grad(squared)
    for k in range(40):
        with sg.override({np.square: lambda g, out, x, k=k: k * g}):
            assert df(5.0) == k


def test_rules_of_the_same_code_are_made_once():
    df = sg.grad(squared)
    for _ in range(5):
        with sg.override({np.square: lambda g, out, x: 3.0 * g}):
            assert df(5.0) == 3.0
    assert len(df._made) == 1


def test_threads_do_not_see_each_others_overrides():
    df, found, barrier = sg.grad(squared), {}, threading.Barrier(4)

    def work(k):
        with sg.override({np.square: lambda g, out, x: k * g}):
            barrier.wait()
            found[k] = [df(5.0) for _ in range(3)]
            barrier.wait()

    with sg.override({np.square: hundred}):
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert df(5.0) == 100.0
    assert found == {k: [float(k)] * 3 for k in range(4)}


def test_tasks_do_not_see_each_others_overrides():
    df = sg.grad(squared)

    async def work(k):
        with sg.override({np.square: lambda g, out, x: k * g}):
            await asyncio.sleep(0)
            first = df(5.0)
            await asyncio.sleep(0)
            return first, df(5.0)

    async def main():
        return await asyncio.gather(*map(work, range(4)))

    assert asyncio.run(main()) == [(float(k), float(k)) for k in range(4)]
    assert df(5.0) == 10.0


def test_an_override_reaches_callees_in_other_modules(grad):
    df = grad(lambda x: other.outer(x) + x)
    with sg.override({other.inner: hundred}):
        assert df(3.0) == 101.0
    with sg.override({"other_functions.inner": ten}):
        assert df(3.0) == 11.0
    assert df(3.0) == 7.0


def test_an_override_of_the_differentiated_function(grad):
    df = grad(other.inner)
    with sg.override({other.inner: hundred}):
        assert df(3.0) == 100.0
    assert df(3.0) == 6.0


def test_partials_and_methods(grad):
    from functools import partial

    half = partial(other.scaled, 0.5)
    with sg.override({other.scaled: lambda g, out, k, x: (None, 7.0 * k * g)}):
        assert grad(lambda x: half(x))(3.0) == 3.5
        assert grad(lambda x: other.scaled(x=x, k=2.0))(3.0) == 14.0


# ---- operators, methods, augmented assignments -------------------------------------------


def test_operators_follow_their_ufunc(grad):
    def product(x):
        return x * x

    rule = {np.multiply: lambda g, out, a, b: (10.0 * g * b, 100.0 * g * a)}
    assert grad(product, rules=rule)(3.0) == 330.0
    with sg.override({np.power: lambda g, out, a, b: (g, None)}):
        assert grad(lambda x: x**2)(3.0) == 1.0
    with pytest.warns(UnusedOverride, match="numpy.square"), sg.override({np.square: ten}):
        assert grad(lambda x: x**2)(3.0) == 6.0


def test_array_methods_follow_the_function(grad):
    rule = {np.sum: lambda g, out, x: 5.0 * g * np.ones(x.shape)}
    np.testing.assert_allclose(grad(lambda x: x.sum(), rules=rule)(X), np.full(3, 5.0))


def test_augmented_assignments(grad):
    def f(x):
        y = x.copy()
        y *= x
        y[0] *= 2.0
        return np.sum(y)

    rule = {np.multiply: lambda g, out, a, b: (10.0 * g * b, 100.0 * g * a)}
    want = 110.0 * X * np.array([20.0, 1.0, 1.0])
    np.testing.assert_allclose(sg.grad(f, rules=rule)(X), want)


# ---- lexical -----------------------------------------------------------------------------


def inside(x):
    with sg.override({np.square: ten}):
        a = np.square(x)
    return a + np.square(x)


def inside_by_name(x):
    with sg.override({"numpy.square": ten, other.inner: ten}):
        a = np.square(x) + other.outer(x) + other.inner(x)
    return a


def inside_nested(x):
    with sg.override({np.square: ten}):

        def inner(y):
            return np.square(y)

        a = sum(np.square(x) for _ in range(2))
        with sg.override({np.square: hundred}):
            b = np.square(x) + (lambda y: np.square(y))(x)
    return a + inner(x) + b


def inside_loop(x):
    s = 0.0
    for k in range(3):
        if k == 1:
            with sg.override({np.square: ten}):
                s = s + np.square(x)
        else:
            s = s + np.square(x)
    return s


def test_a_block_holds_for_the_calls_written_in_it(grad):
    assert grad(inside)(5.0) == 20.0
    assert inside(5.0) == 50.0
    assert grad(inside_by_name)(5.0) == 10.0 + 10.0 + 10.0
    assert grad(inside_nested)(5.0) == 20.0 + 10.0 + 200.0
    assert grad(inside_loop)(5.0) == 30.0


def test_the_strongest_rule_wins(grad):
    by_option = {np.square: hundred}
    with sg.override({np.square: lambda g, out, x: 1000.0 * g}):
        assert grad(inside, rules=by_option)(5.0) == 110.0
        assert grad(inside)(5.0) == 1010.0


def test_a_rule_that_is_not_named_is_refused():
    def f(x):
        with sg.override({np.square: lambda g, out, x: g}):
            return np.square(x)

    with pytest.raises(sg.SrcgradError, match="name a function of the module"):
        sg.grad(f)(1.0)


# ---- warnings and refusals ---------------------------------------------------------------


def test_an_override_of_a_function_that_is_never_called_is_warned_of():
    df = sg.grad(squared)
    with pytest.warns(UnusedOverride, match="numpy.sign, which"), sg.override({np.sign: ten}):
        df(5.0)
    with pytest.warns(UnusedOverride, match="numpy.sign, which"):
        sg.grad(squared, rules={np.sign: ten})(5.0)


def test_an_override_in_which_nothing_is_differentiated_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sg.override({np.sign: ten}):
            pass
        with pytest.raises(KeyError), sg.override({np.sign: ten}):
            raise KeyError(sg.grad(squared)(5.0))


@pytest.mark.parametrize("name", ["numpy.Sum", "no_such_module.f", "numpy", "", "numpy.linalg."])
def test_a_misspelt_name_is_refused(name):
    with pytest.raises(RuleError), sg.override({name: ten}):
        pass


def test_two_rules_for_one_function_are_refused():
    with (
        pytest.raises(RuleError, match="two rules"),
        sg.override({np.square: ten, "numpy.square": ten}),
    ):
        pass


# ---- higher orders -----------------------------------------------------------------------


def four(g, out, x):
    return 4.0 * g


def test_a_rule_applied_twice():
    def s2(x):
        return squared(x)

    def s4(x):
        return squared(squared(x))

    rules = {squared: four}
    assert sg.grad(s4, rules=rules)(3.0) == 16.0
    assert sg.grad(s2, rules=rules)(3.0) == 4.0
    with pytest.warns(sg.errors.RuleIgnoresCotangent):
        forgot = sg.grad(s4, rules={squared: lambda g, out, x: 4.0})
    assert forgot(3.0) == 4.0


def test_second_derivatives_under_an_override(grad):
    cubed = {np.square: lambda g, out, x: 3.0 * g * x * x}
    assert grad(grad(squared, rules=cubed))(2.0) == 12.0
    d2 = grad(grad(squared))
    with sg.override(cubed):
        assert d2(2.0) == 12.0
    assert d2(2.0) == 2.0
