"""What srcgrad says of a rule that is wrong, word for word: users search for these texts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.errors import RuleError, RuleIgnoresCotangent, UnusedOverride, describe

X = np.array([0.4, -1.3, 2.1])


def product(x, y):
    return x * y


def twice(x):
    return x * 2.0


def one_cotangent(g, out, x, y):
    return (g * y,)


def bare(g, out, x, y):
    return g * y


def two_cotangents(g, out, x):
    return g, g


def complex_cotangent(g, out, x):
    return 1j * g * x


def short(g, out, x):
    return g[:2]


def array_for_a_number(g, out, x):
    return g * np.ones(3)


def boolean(g, out, x):
    return g > 0


def text(g, out, x):
    return str(g)


def only_g(g):
    return g


def too_few(g, out, x):
    return g


def too_many(g, out, x, y):
    return g


def forgets(g, out, x):
    return 4.0


def place(fn):
    """The rule with its file, which is shown from where the tests are run, and its line."""
    shown = describe(fn)
    assert shown.startswith(f"{fn.__name__} (")
    assert shown.endswith(f"test_rule_messages.py:{fn.__code__.co_firstlineno})")
    return shown


def of_product(x, y):
    return np.sum(product(x, y))


def of_twice(x):
    return np.sum(twice(x))


CASES = [
    (product, one_cotangent, (2.0, 3.0), "it returned 1 cotangent for 2 arguments"),
    (product, bare, (2.0, 3.0), "it returned 1 cotangent, but the call has 2 arguments"),
    (twice, two_cotangents, (2.0,), "it returned 2 cotangents for 1 argument"),
    (twice, complex_cotangent, (X,), "the cotangent of argument 0 is complex, but the argument is "
     "real: take the real part"),
    (twice, short, (X,), "the cotangent of argument 0 has shape (2,), the argument has (3,)"),
    (twice, array_for_a_number, (2.0,), "the cotangent of argument 0 has shape (3,), the argument "
     "is a number"),
    (twice, boolean, (X,), "the cotangent of argument 0 is an array of dtype bool, which is not a "
     "floating number or array"),
    (twice, text, (2.0,), "the cotangent of argument 0 is a str, which is not a floating number "
     "or array"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "rule", "args", "problem"), CASES, ids=[c[1].__name__ for c in CASES]
)
@pytest.mark.parametrize("specialize", [True, False])
def test_what_a_rule_returns(target, rule, args, problem, specialize):
    f = of_product if target is product else of_twice
    gradient = sg.grad(f, tuple(range(len(args))), rules={target: rule}, specialize=specialize)
    with pytest.raises(RuleError) as caught:
        gradient(*args)
    call = "product(x, y)" if target is product else "twice(x)"
    said = str(caught.value).partition("\n")[0]
    assert said == f"rule {place(rule)} for test_rule_messages.{call}: {problem}"


PARAMETERS = [
    (twice, only_g, "its signature must be (g, out, *args): the cotangent, the result, the "
     "arguments; it takes 1 argument"),
    (product, too_few, "it takes 1 argument after g and out, but a call passes at least 2 "
     "arguments"),
    (twice, too_many, "it takes 2 arguments after g and out, but a call passes at most 1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "rule", "problem"), PARAMETERS, ids=[c[1].__name__ for c in PARAMETERS]
)
def test_what_a_rule_takes(target, rule, problem):
    with pytest.raises(RuleError) as caught:
        sg.rule(target)(rule)
    assert str(caught.value) == f"rule {place(rule)} for {target.__name__}: {problem}"


def test_targets():
    with pytest.raises(RuleError) as caught:
        sg.rule(3.0)(too_few)
    assert str(caught.value) == "3.0 can't have a rule: it is not callable"


def test_a_rule_that_forgets_its_cotangent():
    with pytest.warns(RuleIgnoresCotangent) as found:
        sg.grad(twice, rules={twice: forgets})
    assert str(found[0].message) == (
        f"rule {place(forgets)} for twice: nothing it returns depends on the cotangent g, "
        "which breaks the chain rule: multiply by g"
    )


def test_an_override_that_is_never_used():
    with pytest.warns(UnusedOverride) as found:
        sg.grad(twice, rules={np.sign: too_few})(2.0)
    assert "numpy.sign, which" in str(found[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sg.grad(twice, rules={twice: too_few})(2.0)
