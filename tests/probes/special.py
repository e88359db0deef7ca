"""Objects with operators of their own, closures that hold defaults, parts of complex arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.probes.table import V, probe


class Gain:
    """Its operators are none that NumPy knows."""

    def __init__(self, k):
        self.k = k

    def __getitem__(self, i):
        return i**2 * self.k

    def __mul__(self, other):
        return other**3 * self.k

    def __rmul__(self, other):
        return other**2 * self.k

    def __matmul__(self, other):
        return other * self.k * other

    def __neg__(self):
        return self.k

    def __len__(self):
        return 7

    def __call__(self, x):
        return x**2

    def __abs__(self):
        return self.k * 2


@dataclass
class Dual:
    """A number of a user's own."""

    a: float
    b: float

    def __add__(self, other):
        return Dual(self.a * other.a, self.b + other.b)

    def __radd__(self, other):
        return self.a + other * self.b

    def __neg__(self):
        return Dual(-self.a, -self.b)

    def __abs__(self):
        return self.a**2

    def __len__(self):
        return 3

    def __getitem__(self, k):
        return (self.a, self.b)[k]

    def __eq__(self, other):
        return self.a == other.a


GAIN = Gain(3.0)
GAINS = [Gain(2.0), Gain(3.0)]


@probe(1.7)
def special_index(x):
    return GAIN[x] * x


@probe(1.7)
def special_product(x):
    return (GAIN * x) * (x * GAIN) + GAIN @ x


@probe(1.7)
def special_unary(x):
    return -GAIN * x * len(GAIN) + abs(GAIN) * GAIN(x)


@probe(1.7)
def special_of_active_fields(x):
    d = Dual(x, 2.0) + Dual(x**2, x)
    e = -d
    return d.a * d.b * e.a + abs(d) * len(d) + d[0] * e[1]


@probe(1.7)
def special_reflected(x):
    return x + Dual(x, x)


@probe(1.7)
def special_comparison(x):
    return x * 2.0 if Dual(x, 1.0) == Dual(x, 2.0) else 0.0


@probe(1.7)
def special_in_a_global_list(x):
    total = 0.0
    for gain in GAINS:
        total = total + gain * x
    return total


@probe([Gain(2.0), Gain(0.5)], 1.7, wrt=1)
def special_in_an_argument(gains, x):
    return gains[0] * x + (x * gains[1])


@probe(1.7)
def closure_default_called_through_a_parameter(x):
    def g(a, b=x * 2.0):
        return a * b

    def apply(h, v):
        return h(v)

    return apply(g, x)


@probe(1.7)
def closure_default_in_a_list(x):
    fs = [lambda a, i=i: a * i * i for i in range(1, 4)]
    return fs[0](x) + fs[2](x * x)


@probe(1.7)
def closure_default_returned(x):
    def make(k):
        def g(a, b=k * 2.0):
            return a * b * k

        return g

    h = make(x)
    return h(2.0) * h(x, 3.0)


@probe(np.array([1.0 + 2.0j, 0.5 - 1.0j]))
def complex_imaginary_element(z):
    return z.imag[1] * 2.0 + (z.real * z.imag).sum()


@probe(V)
def complex_real_part_written(x):
    z = x * (1 + 2j)
    v = z.real
    v[0] = x[1] * x[0]
    return (z * z * z).imag.sum()


@probe(V)
def joined_with_brackets(x):
    return np.r_[x, x**2, 1.0].sum() * np.c_[x, x * 2.0].prod() + np.r_[x[0], x][1] ** 2


@probe(1.7)
def range_from_a_number(x):
    return np.arange(x, x + 2.5).sum() * (np.arange(x, 9.0, x) ** 2).sum()


@probe(1.7)
def range_of_steps(x):
    return np.arange(5.2, step=x).sum() + (np.arange(5) * x).sum()
