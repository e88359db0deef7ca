"""Objects that are made inside the function."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from tests.probes.table import probe


@dataclass
class Doubled:
    a: float

    def __init__(self, a):
        self.a = a * 2


class Named(namedtuple("Q", "a b")):
    def dot(self):
        return self.a * self.b


class Affine:
    k = 2.0

    def __init__(self, a, b=3.0, *, c=None):
        if c is None:
            c = a
        self.a = a * a
        self.b = self.a * b
        self.c = c
        self.items = [a, b]

    def f(self, x):
        return self.a * x + self.b * self.k + self.c * self.items[0]


class Steeper(Affine):
    def __init__(self, a):
        super().__init__(a, 2.0)
        self.d = self.a * a

    def f(self, x):
        return super().f(x) * self.d


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(self.w * x)


class Layers:
    def __init__(self, ws):
        self.layers = [Layer(w) for w in ws]

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        return x


class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, s):
        return Vec(self.x * s, self.y * s)

    __rmul__ = __mul__

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5

    @staticmethod
    def unit():
        return Vec(1.0, 0.0)

    @classmethod
    def of(cls, t):
        return cls(*t)

    @property
    def total(self):
        return self.x + self.y


@probe(1.7)
def constructor_beside_a_dataclass(x):
    return Doubled(x).a * x


@probe(1.7)
def namedtuple_with_methods(x):
    return Named(x, x * x).dot() + Named(x, 2.0)._replace(b=x).b ** 2


@probe(1.7)
def constructor_with_defaults(x):
    return Affine(x).f(x) * Affine(x, x, c=2.0).f(1.0)


@probe(1.7)
def constructor_of_a_child(x):
    return Steeper(x).f(x)


@probe(1.7)
def constructor_of_layers(x):
    return Layers([x, 2.0, x * x])(0.3)


@probe(1.7)
def slots_and_operators(x):
    return (Vec(x, 1.0) + Vec(x * x, x) * 2.0).norm() * (x * Vec.unit()).x + Vec.of(
        (x, x * 2)
    ).total


@probe(1.7)
def slots_in_a_loop(x):
    v = Vec(x, 2.0)
    vs = [v, Vec(1.0, x)]
    t = Vec(0.0, 0.0)
    for u in vs:
        t = t + u
    return t.norm()
