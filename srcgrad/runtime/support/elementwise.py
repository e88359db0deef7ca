"""Helpers of the rules for functions that work element by element.

Every helper takes Python numbers, NumPy scalars and arrays, and keeps float32 as float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Value = Any  # a number or an array

__all__ = [
    "above",
    "angle_unit",
    "below",
    "broadcast_like",
    "direction",
    "exp_difference",
    "given",
    "i0_partial",
    "match",
    "polygamma",
    "power_partial",
    "safe_divide",
    "sinc_partial",
    "unbroadcast",
    "within",
    "zero_like",
]


def _plain(x: Value) -> Value:
    """0-d results as numbers, as NumPy's own functions give them."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def match(ct: Value, x: Value) -> Value:
    """ct with the kind of x: its real part when x is real, complex when x is.

    >>> match(1.0 + 2.0j, 3.0)
    1.0
    """
    if np.iscomplexobj(ct) == np.iscomplexobj(x):
        return ct
    return ct + 0j if np.iscomplexobj(x) else ct.real


def unbroadcast(ct: Value, x: Value) -> Value:
    """ct summed over the dimensions along which broadcasting repeated x; ct itself if none.

    A real x has a real cotangent, and a number one that is a number.

    >>> unbroadcast(np.ones((2, 3)), np.zeros(3))
    array([2., 2., 2.])
    """
    if isinstance(ct, tuple | list) and isinstance(x, tuple | list) and len(ct) == len(x):
        # Of a result that has several parts.
        made = [None if c is None else unbroadcast(c, v) for c, v in zip(ct, x, strict=True)]
        return tuple(made) if isinstance(ct, tuple) else made
    if np.iscomplexobj(ct) and not np.iscomplexobj(x):
        ct = ct.real
    shape = np.shape(x)
    if np.shape(ct) != shape:
        ct = _summed(np.asarray(ct), shape)
    if isinstance(x, np.ndarray):
        return ct if isinstance(ct, np.ndarray) else np.asarray(ct)
    return _plain(ct)


def _summed(ct: Any, shape: tuple[int, ...]) -> Any:
    full = np.broadcast_shapes(ct.shape, shape)
    if full != ct.shape:
        ct = np.broadcast_to(ct, full)
    extra = ct.ndim - len(shape)
    ones = tuple(i + extra for i, n in enumerate(shape) if n == 1 and full[i + extra] != 1)
    if extra or ones:
        return ct.sum(axis=(*range(extra), *ones), keepdims=True).reshape(shape)
    return ct.copy()


def broadcast_like(t: Value, x: Value) -> Value:
    """The tangent t, repeated to the shape of x; t itself if it has that shape.

    >>> broadcast_like(1.5, np.zeros(2))
    array([1.5, 1.5])
    """
    shape = np.shape(x)
    if np.shape(t) == shape:
        return t
    return np.array(np.broadcast_to(t, shape))


def zero_like(x: Value) -> Value:
    """Zero of the kind, shape and dtype of x.

    >>> zero_like(2.5)
    0.0
    """
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype)
    return type(x)(0)


def safe_divide(x1: Value, x2: Value) -> Value:
    """x1 / x2, and zero where x2 is zero.

    >>> safe_divide(1.0, 0.0)
    0.0
    """
    if not isinstance(x1, np.ndarray) and not isinstance(x2, np.ndarray):
        return x1 / x2 if x2 != 0 else x1 * 0.0 if math.isfinite(abs(x1)) else 0.0
    null = np.equal(x2, 0)
    # 1 + x2 rather than 1: the divisor keeps its dtype.
    return _plain(np.where(null, 0.0, x1 / np.where(null, x2 + 1, x2)))


def direction(x: Value) -> Value:
    """The derivative of |x|: conj(x) / |x|, the sign of a real x; zero at zero.

    >>> direction(-2.0)
    np.float64(-1.0)
    """
    if np.iscomplexobj(x):
        return safe_divide(np.conj(x), np.abs(x))
    return np.sign(x)


def exp_difference(x1: Value, x2: Value) -> Value:
    """exp(x1 - x2), and zero where x1 is -inf.

    >>> exp_difference(-math.inf, -math.inf)
    np.float64(0.0)
    """
    # Where both are the same infinity the difference is nan.
    same = np.equal(x1, x2)
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.subtract(x1, x2))
    return _plain(np.where(np.isneginf(x1), 0.0, np.exp(difference)))


def angle_unit(deg: bool) -> float:
    """The unit of an angle, in radians: 180 / pi for degrees.

    >>> angle_unit(False)
    1.0
    """
    return 180.0 / math.pi if deg else 1.0


# ---- clip ------------------------------------------------------------------


def given(first: Value, second: Value) -> Value:
    """The one that is not None: `np.clip` has two names for each bound.

    >>> given(None, 2.0)
    2.0
    """
    return second if first is None else first


def within(a: Value, low: Value, high: Value) -> Value:
    """Where clipping leaves a as it is, the bounds included.

    >>> within(np.array([0.0, 1.0, 3.0]), 1.0, None)
    array([False,  True,  True])
    """
    inside = True if low is None else np.greater_equal(a, low)
    return inside if high is None else np.logical_and(inside, np.less_equal(a, high))


def below(a: Value, low: Value, high: Value) -> Value:
    """Where clipping returns the lower bound.

    >>> below(np.array([0.0, 1.0, 3.0]), 1.0, None)
    array([ True, False, False])
    """
    lower = np.less(a, low)
    return lower if high is None else np.logical_and(lower, np.less_equal(low, high))


def above(a: Value, low: Value, high: Value) -> Value:
    """Where clipping returns the upper bound (which wins when the bounds are crossed).

    >>> above(np.array([0.0, 1.0, 3.0]), None, 2.0)
    array([False, False,  True])
    """
    return np.greater(a if low is None else np.maximum(a, low), high)


# ---- families of derivatives -------------------------------------------------
# Each takes the order of the derivative, so that it is its own derivative at the next order.


def power_partial(x1: Value, x2: Value, m: int, n: int) -> Value:
    """The derivative of x1 ** x2, m times by x1 and n times by x2.

    At x1 = 0 it is the one-sided limit where that is finite, and zero where a power that does
    not grow meets the logarithm.  By an integer exponent it is zero: integers carry no derivative,
    and without types a negative base would bring the nan of its logarithm.

    >>> float(power_partial(0.0, 2, 1, 0)), float(power_partial(3.0, 2.0, 1, 0))
    (0.0, 6.0)
    """
    x1 = x1 * 1.0  # integers have no negative powers
    if n and np.asarray(x2).dtype.kind in "iub":
        return _plain(np.zeros(np.broadcast_shapes(np.shape(x1), np.shape(x2))))
    if np.iscomplexobj(x2):
        x1 = x1 + 0j
    if type(x1) is float and x1 < 0.0 and x2 != int(np.real(x2)):
        x1 = complex(x1)  # as Python's own ** does
    with np.errstate(all="ignore"):
        total = _power_term(x1, x2, _falling(x2, m, n), m, 0)
        for j in range(1, n + 1):
            term = _power_term(x1, x2, math.comb(n, j) * _falling(x2, m, n - j), m, j)
            total = total + term
    return _plain(total)


def _power_term(x1: Value, x2: Value, coefficient: Value, m: int, logs: int) -> Value:
    """coefficient * x1 ** (x2 - m) * log(x1) ** logs, zero where the coefficient is."""
    exponent = x2 - m
    power = np.power(x1, exponent)
    if logs:
        null = np.equal(x1, 0)
        log = np.log(np.where(null, x1 * 0 + 1, x1))
        power = power * (float(log) if type(x1) is float else log) ** logs  # weak, as x1 is
        power = np.where(np.logical_and(null, np.greater_equal(exponent, 0)), 0.0, power)
    return np.where(np.equal(coefficient, 0), 0.0, coefficient * power)


def _falling(x2: Value, m: int, derivative: int) -> Value:
    """x2 (x2 - 1) ... (x2 - m + 1), differentiated so many times."""
    coefficients = np.polynomial.polynomial.polyfromroots(range(m))
    coefficients = np.polynomial.polynomial.polyder(coefficients, derivative)
    result: Value = x2 * 0
    for c in coefficients[::-1].tolist():
        result = result * x2 + c
    return result


def sinc_partial(x: Value, n: int) -> Value:
    """The n-th derivative of np.sinc.

    >>> float(sinc_partial(0.0, 1)), round(float(sinc_partial(0.5, 1)), 6)
    (0.0, -1.27324)
    """
    u = np.multiply(x, math.pi)
    near = np.abs(u) < n + 2.0
    series = _sinc_series(np.where(near, u, np.multiply(u, 0)), n)
    far = np.where(near, np.multiply(u, 0) + 1, u)
    value = np.sin(far) / far
    for k in range(1, n + 1):
        value = (np.sin(far + k * math.pi / 2) - k * value) / far
    return _plain(np.where(near, series, value) * math.pi**n)


def _sinc_series(u: Any, n: int) -> Any:
    """The n-th derivative of sin(u) / u from the series: the recurrence cancels near zero."""
    total = np.multiply(u, 0)
    first = (n + 1) // 2
    for k in range(first + 20 + n, first - 1, -1):
        power = 2 * k - n
        term = (-1) ** k / ((2 * k + 1) * math.factorial(power))
        total = total + term * u**power
    return total


def i0_partial(x: Value, n: int) -> Value:
    """The n-th derivative of np.i0, the Bessel function: an integral over half a period.

    >>> round(float(i0_partial(1.0, 1)), 12)
    0.565159103992
    """
    largest = float(np.max(np.abs(x), initial=0.0))
    nodes = 16 + n + int(10.0 * math.sqrt(largest))  # the trapezoidal rule is exact beyond
    total = np.multiply(x, 0.0)
    for k in range(nodes + 1):
        c = math.cos(math.pi * k / nodes)
        weight = (0.5 if k in (0, nodes) else 1.0) / nodes
        total = total + weight * c**n * np.exp(np.multiply(x, c))
    return total


def polygamma(n: int, x: float) -> float:
    """The (n + 1)-th derivative of the logarithm of the gamma function at the number x.

    >>> round(polygamma(0, 1.0), 12)
    -0.577215664902
    """
    x = float(x)
    if n == 0 and x < 0.0:
        return polygamma(0, 1.0 - x) - math.pi / math.tan(math.pi * x)
    sign = -1.0 if n % 2 == 0 else 1.0
    total = 0.0
    while x < 12.0 + n:  # the asymptotic series wants a large x
        total += sign * math.factorial(n) / x ** (n + 1)
        x += 1.0
    if n == 0:
        total += math.log(x) - 0.5 / x
    else:
        total += sign * (math.factorial(n - 1) / x**n + math.factorial(n) / (2.0 * x ** (n + 1)))
    for k, bernoulli in enumerate(_BERNOULLI, start=1):
        total += (
            sign
            * bernoulli
            * math.factorial(2 * k + n - 1)
            / (math.factorial(2 * k) * x ** (2 * k + n))
        )
    return total


_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
)


def finite(x: Value, nan: Any, posinf: Any, neginf: Any) -> Any:
    """`np.nan_to_num`, for what it puts in the place of numbers that are not finite.

    >>> finite(np.array([np.nan, 1.0]), 3.0, None, None)
    array([3., 1.])
    """
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
