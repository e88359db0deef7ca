"""Functions that are chosen when the program runs, and names of attributes in variables."""

from __future__ import annotations

import operator

import numpy as np

from tests.probes.table import P, V, probe


def squared(v):
    return v * v


def cubed(v):
    return v**3


def double(u):
    u *= 2.0


def triple(u):
    u *= 3.0
    u[0] = u[1]


TABLE = {"square": squared, "sin": np.sin}


@probe(0.7)
def function_by_condition(x):
    f = np.sin if x > 0 else np.cos
    return f(x) * x


@probe(-0.7)
def user_function_by_condition(x):
    f = squared if x > 0 else cubed
    return f(x)


@probe(V)
def function_bound_again(x):
    f = np.sin
    if x[0] > 0:
        f = np.exp
    return f(x) * f(x * 0.5)


@probe(V)
def functions_in_a_loop(x):
    total = 0.0
    for f in (np.sin, squared, cubed):
        total = total + f(x).sum()
    return total


@probe(V)
def functions_of_a_generator(x):
    return sum(f(x).sum() for f in [np.tanh, squared])


@probe(V)
def functions_by_changing_index(x):
    layers = [np.sin, squared, np.cos]
    y = x
    for i in range(5):
        y = layers[i % 3](y)
    return y


@probe(V)
def function_by_a_computed_key(x):
    f = {True: np.sin, False: squared}[bool(x[0] > 0)]
    return f(x)


@probe(V)
def function_of_a_table_of_the_module(x):
    return TABLE["square"](x) * TABLE["sin"](x)


@probe(V)
def function_that_a_callee_chose(x):
    def pick(flag):
        return np.sin if flag else squared

    return pick(x[0] > 0)(x) + pick(x[0] < 0)(x)


@probe(V)
def operator_by_condition(x):
    op = operator.mul if x.size > 2 else operator.add
    return op(x, x)


@probe(P)
def function_called_for_its_effect(x):
    y = x * 1.0
    for k in range(3):
        f = double
        if k == 1:
            f = triple
        f(y)
    return y * x


@probe(V)
def function_handed_on(x):
    def twice(f, v):
        return f(f(v))

    return twice(np.sin if x[1] > 0 else squared, x)


@probe(V)
def attribute_by_a_variable(x):
    name = "tanh"
    return getattr(np, name)(x) * getattr(np, "sin", None)(x)


@probe(V)
def function_compared(x):
    f = np.sin if x[0] > 0 else np.cos
    y = f(x)
    return y * 2.0 if f is np.sin else y


@probe(V)
def setdefault_of_lists(x):
    groups = {}
    for i in range(3):
        groups.setdefault(i % 2, []).append(x[i] ** 2)
    return groups[0][0] * groups[0][1] * groups[1][0]


@probe(V)
def setdefault_of_a_number(x):
    d = {"a": x[0]}
    a = d.setdefault("a", x[1])
    b = d.setdefault("b", x[2])
    return a * b * d["b"]
