"""A user's module that probes call into."""

from __future__ import annotations

import numpy as np

K = 2.0


def scale(x):
    return K * x


def square_plus(x, c):
    return square(x) + c * x


def square(x):
    return x * x


def twice(f, x):
    return f(f(x))


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def tree_sum(x):
    if len(x) == 1:
        return x[0] ** 2
    m = len(x) // 2
    return tree_sum(x[:m]) + tree_sum(x[m:]) * x[0]


def even(x, n):
    return 1.0 if n == 0 else x * odd(x, n - 1)


def odd(x, n):
    return x if n == 0 else x + even(x, n - 1)


class Layer:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return np.tanh(self.w @ x) + self.w.sum()


class Counter:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def add(self, v):
        self.total += v * v
        self.n += 1
