"""Derivatives made and called inside differentiated functions: of nested functions, of what these
capture, and the matrices made of derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad as sg

X = np.array([1.0, 2.0, 3.0])
FACTOR = 2.0


def energy(x: Any) -> Any:
    return np.sum(x**3) * x[0]


HESSIAN = sg.hessian(energy)
JACOBIAN = sg.jacobian(sg.grad(energy))


def no_capture(x: Any) -> Any:
    return x[0] * sg.grad(lambda y: y**2)(x[1])


def trained(x: Any) -> Any:
    def loss(w: Any, b: Any, *, lam: float = 0.1) -> Any:
        return np.sum((w * x + b - 1.0) ** 2) + lam * w**2

    w, b = 0.1, 0.2
    for _ in range(3):
        w_bar, b_bar = sg.grad(loss, wrt=(0, 1))(w, b)
        w = w - 0.01 * w_bar
        b = b - 0.01 * b_bar
    return loss(w, b)


def default_of_x(x: Any) -> Any:
    def loss(w: Any, lam: Any = x[0]) -> Any:
        return np.sum((w * x - 1.0) ** 2) + lam * np.sum(w**2)

    w = np.zeros(3)
    for _ in range(2):
        w = w - 0.01 * sg.grad(loss)(w)
    return np.sum(w**2)


def with_value(x: Any) -> Any:
    value, g = sg.value_and_grad(lambda y: np.sum(np.sin(y) * x))(x * 2.0)
    return value * np.sum(g)


def products(x: Any) -> Any:
    f = lambda y: np.sin(y) * x  # noqa: E731
    value, g = sg.vjp(f)(x, x * 2.0)
    return np.sum(g * value) + np.sum(sg.jvp(f)(x, x)[1])


def of_a_derivative(x: Any) -> Any:
    f = lambda y: np.sum(np.sin(y) * x)  # noqa: E731
    g = lambda y: np.sum(sg.grad(f)(y) ** 2)  # noqa: E731
    return np.sum(sg.grad(g)(x))


def with_helpers(x: Any) -> Any:
    def a(y: Any) -> Any:
        return y * y

    def b(y: Any) -> Any:
        return a(y) * x[0]

    return sg.grad(lambda y: b(y) * a(y) * FACTOR)(x[1])


def in_a_comprehension(x: Any) -> Any:
    return sum(sg.grad(lambda y: y**k * x[0])(x[1]) for k in range(1, 4))


def through_memory(x: Any) -> Any:
    def inner(y: Any) -> Any:
        u = np.zeros(3)
        u[:] = y * x
        u[0] *= y
        return np.sum(u**2)

    return sg.grad(inner)(x[1])


def newton(f: Any, y: Any) -> Any:
    for _ in range(4):
        y = y - f(y) / sg.grad(f)(y)
    return y


def solved(x: Any) -> Any:
    return newton(lambda z: z**3 - 7.0, x[0])


def factory(c: float) -> Any:
    def made(x: Any) -> Any:
        return sg.grad(lambda y: y**3 * c * x[0])(x[1])

    return made


class Model:
    def __init__(self, c: float) -> None:
        self.c = c

    def slope(self, x: Any) -> Any:
        return sg.grad(lambda y: y * y * self.c * x[0])(x[1])


def nested_twice(x: Any) -> Any:
    def outer(y: Any) -> Any:
        return sg.grad(lambda z: z**3 * y * x[0])(y)

    return sg.grad(outer)(x[1])


def laplacian(x: Any) -> Any:
    return np.trace(HESSIAN(x))


def hessian_made_here(x: Any) -> Any:
    return np.sum(sg.hessian(energy)(x) ** 2)


def jacobian_of_nested(x: Any) -> Any:
    return np.sum(sg.jacobian(lambda z: z**2 * x[0])(x))


def hessian_product(x: Any) -> Any:
    return np.sum(sg.hvp(lambda z: np.sum(z**3) * x[0])(x, x))


ALL = [
    no_capture, trained, default_of_x, with_value, products, of_a_derivative, with_helpers,
    in_a_comprehension, through_memory, solved, factory(4.0), factory(5.0), Model(3.0).slope,
    nested_twice, laplacian, hessian_made_here, jacobian_of_nested, hessian_product,
]  # fmt: skip


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize("fn", ALL)
def test_right(fn: Any, specialize: bool) -> None:
    sg.check_grads(fn, (X,), order=1, specialize=specialize)


def test_a_jacobian_by_the_cheaper_mode() -> None:
    def total(x: Any) -> Any:
        return np.sum(JACOBIAN(x) ** 2)

    sg.check_grads(total, (X,), order=1)


def test_two_arguments() -> None:
    def f(x: Any) -> Any:
        def inner(a: Any, b: Any) -> Any:
            return a * b**2 * x[0]

        by_a, by_b = sg.jacobian(inner, wrt=(0, 1))(x[1], x[2])
        return by_a * by_b

    sg.check_grads(f, (X,), order=1)


def test_the_text_calls_the_derivative_of_the_nested_function() -> None:
    source = sg.source(no_capture, X)
    assert "lambda__grad_reverse(" in source


# ---- refused ----------------------------------------------------------------------------


def test_what_gets_another_value_before_the_derivative_is_called() -> None:
    def f(x: Any) -> Any:
        s = x[0]
        g = sg.grad(lambda y: s * y * y)
        s = 2.0 * x[1]
        return g(3.0)

    with pytest.raises(sg.UnsupportedSyntax, match="captures s, which gets another value later"):
        sg.grad(f)(X)


def test_a_module_that_only_the_function_around_has() -> None:
    def f(x: Any) -> Any:
        import math as FACTOR

        return sg.grad(lambda y: FACTOR.sin(y) * x[0])(x[1])

    with pytest.raises(sg.MissingRule, match="not known when compiling"):
        sg.grad(f)(X)


def test_what_a_function_captures_that_is_passed() -> None:
    def f(x: Any) -> Any:
        return newton(lambda z: z**3 - x[1], x[0])

    sg.check_grads(f, (X[:2] + 1.0,), order=2)
