"""Replace, override and nest derivatives: what TensorFlow's `gradient_override_map` and
`custom_gradient` are used for.

    python examples/override_gradients.py
"""

from __future__ import annotations

import warnings

import numpy as np

import srcgrad as sg

# ---- a function whose derivative overflows --------------------------------------------------


def log1pexp_naive(x):
    return np.log(1 + np.exp(x))


@sg.custom_gradient
def log1pexp(x):
    e = np.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + e))

    return np.log(1 + e), grad


@sg.custom_gradient
def log1pexp_with_second(x):
    """The second derivative is given too: deliberately not the true one, to show it is used."""
    e = np.exp(x)

    @sg.custom_gradient
    def first_order(x):
        def second_order(ddy):
            return ddy * (1 - e)

        return 1 - 1 / (1 + e), second_order

    def grad(dy):
        return dy * first_order(x)

    return np.log(1 + e), grad


def custom_gradients():
    print("log(1 + exp(x))")
    with np.errstate(over="ignore", invalid="ignore"):
        naive = sg.grad(log1pexp_naive)(np.float32(100.0))
    print(f"  as it stands      gradient at 100, in single precision: {naive}")
    first = sg.grad(log1pexp)
    print(f"  custom gradient   gradient at 100: {first(100.0)}, at 1: {first(1.0):.7f}")
    first = sg.grad(log1pexp_with_second)
    second = sg.grad(first)
    print(f"  nested            gradient at 100: {first(100.0)}, at 1: {first(1.0):.7f}")
    print(f"                    second at 100: {second(100.0):.6e}, at 1: {second(1.0):.7f}")


# ---- an existing operation, within a scope ------------------------------------------------


def f(x):
    return np.square(x)


def zero(g, out, x):
    return 0.0 * g


def partly(x):
    with sg.override({np.square: zero}):
        a = np.square(x)
    return a + np.square(x)


def overrides():
    print("np.square at 5")
    df = sg.grad(f)
    found = [df(5.0)]
    with sg.override({np.square: zero}):
        found.append(df(5.0))
    found.append(df(5.0))
    with sg.override({"numpy.square": zero}):
        found.append(df(5.0))
    print("  before, inside, after, by name:", *map(float, found))
    print("  in one of two calls:", sg.grad(partly)(5.0))


# ---- a rule that is applied twice ---------------------------------------------------------


def square(x):
    return np.square(x)


def four(dy, out, x):
    return 4.0 * dy


def forgetful(dy, out, x):
    return 4.0


def chain(rule):
    def s4(x):
        return square(square(x))

    rules = {square: rule}
    s2 = square(3.0)
    return [
        float(sg.grad(s4, rules=rules)(3.0)),
        float(sg.grad(square, rules=rules)(s2)),
        float(sg.grad(square, rules=rules)(3.0)),
    ]


def twice():
    print("d s4/d x, d s4/d s2, d s2/d x of s2 = square(x), s4 = square(s2)")
    print("  with the rule 4 * dy:", *chain(four))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print("  with the rule 4:", *chain(forgetful))
    print(" ", caught[0].category.__name__ + ":", caught[0].message)


def show():
    print("the gradient of log1pexp_with_second, as it is run\n")
    print(sg.source(log1pexp_with_second, 1.0))


if __name__ == "__main__":
    custom_gradients()
    overrides()
    twice()
    show()
