"""Functions to look at; their line numbers are part of the tests."""

import numpy as np


def simulate(x, w, n):
    s = 0.0
    for i in range(n):
        h = np.tanh(w * s + x[i])
        if h > 0.5:
            s = h * s + 1.0
        else:
            s = s + h
    return s


def scaled(a: float, b: float = 2.0):
    return np.sin(a) * b


def outer(a, n):
    total = 0.0
    for k in range(n):
        total += scaled(a * k, 3.0)
    return total


def refused(x):
    y = x * 2.0
    r = open(y)
    return r * y


def without_rule(x):
    y = x * 2.0
    return UFUNC(y)


def annotated(x: float, n: int) -> float:
    return x**n


UFUNC = np.frompyfunc(lambda v: v * 2.0, 1, 1)
SCALE = 2.5
WEIGHTS = np.array([1.0, -2.0, 0.5])
TABLE = {"a": 2.0}


def with_globals(x):
    return SCALE * np.sum(WEIGHTS * x)


def with_norm(x):
    return SCALE * np.linalg.norm(x)


def with_table(x):
    return TABLE["a"] * x


def maker(c):
    def inner(x):
        return c[0] * x * x

    return inner


def times(c):
    def scaled(x):
        return c * x

    return scaled


captured, tripled = maker(UFUNC), times(3.0)
PLACES = {"a": slice(3)}


def with_places(x):
    return PLACES["a"].stop * x


def particles(np):
    return np * np


def starred(*args: float) -> float:
    return args[0] * args[1]


def named(x: float, **kw: float) -> float:
    return x * kw["k"]


def jitted(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:] = u[1:] * u[:-1]
    return np.sum(u)
