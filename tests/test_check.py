"""`check_grads` finds what is off; the derivatives here are made by differences and spoiled."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import srcgrad
from srcgrad import differences, trees
from srcgrad.check import GradientCheckError, check_grads, check_rule
from srcgrad.errors import SrcgradError


def slope_along(f, args, wrt, tangents, weights):
    chosen = tuple(args[w] for w in wrt)
    x = trees.real_parts(chosen, chosen)
    d = trees.real_parts(tangents, chosen)

    def at(t):
        new = list(trees.copied(args))
        for w, value in zip(wrt, trees.rebuilt(chosen, x + t * d), strict=True):
            new[w] = value
        out = f(*new)
        return float(weights @ trees.real_parts(out, out))

    return differences.extrapolated(at, 0.02)[0]


class Stand:
    """`vjp` and `jvp` by differences; `spoil` changes a gradient, `bend` a tangent."""

    def __init__(self, spoil=None, bend=None, order=1):
        self.spoil, self.bend, self.order = spoil, bend, order

    def vjp(self, f, wrt=0, **options):
        def derivative(cotangent, *args):
            out = f(*trees.copied(args))
            weights = trees.dual(cotangent, out)
            chosen = tuple(args[w] for w in wrt)
            size = trees.size(chosen)
            slopes = np.array(
                [
                    slope_along(f, args, wrt, trees.tangent(chosen, e), weights)
                    for e in np.eye(size)
                ]
            )
            if self.spoil and (getattr(f, "derived", 0) == self.order - 1):
                slopes = self.spoil(slopes)
            return out, trees.cotangent(chosen, slopes)

        derivative.derived = getattr(f, "derived", 0) + 1
        return derivative

    def jvp(self, f, wrt=0, **options):
        def derivative(tangents, *args):
            out = f(*trees.copied(args))
            size = trees.size(out)
            found = [slope_along(f, args, wrt, tangents, e) for e in np.eye(size)]
            tangent = trees.tangent(out, np.array(found))
            return out, self.bend(tangent) if self.bend else tangent

        derivative.derived = getattr(f, "derived", 0) + 1
        return derivative


@pytest.fixture
def stand(monkeypatch):
    def install(**how):
        made = Stand(**how)
        monkeypatch.setattr(srcgrad, "vjp", made.vjp, raising=False)
        monkeypatch.setattr(srcgrad, "jvp", made.jvp, raising=False)

    return install


def smooth(x, w):
    return np.sin(x[0] * w) + x[1] ** 3


def writes(x, w):
    x *= w
    return x @ x


@dataclasses.dataclass(frozen=True)
class Model:
    rate: float
    name: str
    table: np.ndarray


def contained(p, m):
    return {"loss": p["a"] * p["b"][1] ** 2, "parts": [m.table * m.rate, 3]}


ARGS = (np.array([0.4, -1.3]), 0.7)
MODEL = Model(0.6, "m", np.array([[1.0, 2.0]]))


@pytest.mark.parametrize("modes", [("reverse", "forward"), ("reverse",), ("forward",)])
def test_right_derivatives_pass(stand, modes):
    stand()
    check_grads(smooth, ARGS, (0, 1), 2, modes, tol=1e-4)  # differences of differences
    check_grads(smooth, ARGS, (0, 1), 1, modes)
    check_grads(writes, ARGS, ("x", 1), 1, modes)
    check_grads(contained, ({"a": 0.5, "b": (1, 2.0)}, MODEL), (0, 1), 1, modes)
    check_grads(lambda z: z * z * (1 + 2j), (0.3 + 0.4j,), 0, 1, modes)
    check_grads(lambda z: np.abs(z) ** 2, (0.3 + 0.4j,), 0, 1, modes)
    check_grads(lambda x: np.abs(x).sum() + x.max(), (np.array([0.3, -0.2]),), 0, 1, modes)
    assert ARGS[0].tolist() == [0.4, -1.3]


def test_one_wrong_entry_is_named(stand):
    stand(spoil=lambda slopes: slopes + np.array([0.0, 1e-3, 0.0]))
    with pytest.raises(GradientCheckError) as caught:
        check_grads(smooth, ARGS, (0, 1), order=1)
    (row,) = caught.value.rows
    assert (row.argument, row.entry) == ("x", "[1]")
    assert row.reverse - row.forward == pytest.approx(1e-3, rel=1e-3)
    assert row.differences == pytest.approx(3 * 1.3**2)
    text = str(caught.value)
    assert text.splitlines()[0] == "the derivatives of smooth are off"
    assert text.splitlines()[1].split("  ")[1:3] == ["argument", "entry"]
    assert "  x         [1]    5.071 " in text
    assert isinstance(caught.value, SrcgradError | AssertionError)


def test_wrong_place_in_a_container_is_named(stand):
    stand(spoil=lambda slopes: slopes * np.array([1.0, 1.0, 1.0, 0.9, 1.0]))
    with pytest.raises(GradientCheckError) as caught:
        check_grads(contained, ({"a": 0.5, "b": (1, 2.0)}, MODEL), (0, 1), order=1)
    assert [(row.argument, row.entry) for row in caught.value.rows] == [("m", ".table[0, 0]")]


def test_wrong_forward_mode(stand):
    stand(bend=lambda t: t * 1.01)
    with pytest.raises(GradientCheckError):
        check_grads(smooth, ARGS, (0, 1), order=1)
    check_grads(smooth, ARGS, (0, 1), order=1, modes=("reverse",))


def test_wrong_second_derivative(stand):
    stand(spoil=lambda slopes: slopes * 1.01, order=2)
    check_grads(smooth, ARGS, (0, 1), order=1)
    with pytest.raises(
        GradientCheckError, match=r"reverse derivative of smooth are off \(order 2"
    ):
        check_grads(smooth, ARGS, (0, 1), order=2, tol=1e-4)


def test_wrong_shape_dtype_value_and_missing_gradient(stand, monkeypatch):
    def answer(value, gradient):
        monkeypatch.setattr(srcgrad, "vjp", lambda *a, **k: lambda *a: (value, (gradient,)))
        with pytest.raises(GradientCheckError) as caught:
            check_grads(np.sum, (np.array([1.0, 2.0]),), order=1, modes=("reverse",))
        return str(caught.value)

    stand()
    assert "has shape (1,), not (2,)" in answer(3.0, np.ones(1))
    assert "has dtype float32, not float64" in answer(3.0, np.ones(2, np.float32))
    assert "is missing" in answer(3.0, None)
    assert "value that vjp returns is 2.0" in answer(2.0, np.ones(2))
    assert "nan" in answer(3.0, np.array([1.0, np.nan]))


def test_rough_function_is_not_found_right(stand):
    stand()
    with pytest.raises(GradientCheckError):
        check_grads(lambda x: np.floor(1000 * x) / 1000, (0.5,), order=1)


def test_check_rule_leaves_out_what_has_no_derivative(stand):
    stand()

    def rule(g, out, x, n):
        return g, None

    check_rule(np.power, (1.5, 2.0), rule, order=1)
    with pytest.raises(ValueError, match="no argument"):
        check_rule(np.power, (3, 2), rule)


def test_bad_modes():
    with pytest.raises(ValueError, match="modes"):
        check_grads(smooth, ARGS, modes=("sideways",))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_extrapolated_slope(scale):
    slope, error = differences.extrapolated(lambda t: np.log(scale * (1 + t)), 0.05)
    assert slope == pytest.approx(1.0, abs=1e-9)
    assert error < 1e-8


def test_extrapolation_outside_of_the_domain_starts_again():
    with np.errstate(invalid="ignore"):
        slope, _ = differences.extrapolated(lambda t: np.sqrt(0.01 + t), 0.05)
    assert slope == pytest.approx(5.0, rel=1e-7)
