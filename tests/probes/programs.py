"""Programs of several constructs each: in-place updates, control flow, calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.probes.table import M, P, V, probe


class Pair(NamedTuple):
    a: Any
    b: Any = 2.0


@dataclass
class Power:
    w: Any
    n: int = 2

    def apply(self, v):
        return self.w * v**self.n


class Total:
    def __init__(self):
        self.total = 0.0
        self.items = []

    def add(self, v):
        self.total = self.total + v
        self.items.append(v * v)
        return self


def swap(u, i, j):
    u[i], u[j] = u[j], u[i]


def scale(u, c):
    u *= c


def doubled_into(u, o):
    np.multiply(u, 2.0, out=o)
    return o


def nested_sines(n, v):
    return v if n == 0 else nested_sines(n - 1, v * np.sin(v))


def alternating(v, n=0):
    if n > 3:
        return v
    return alternating(v * 0.5, n + 1) if n % 2 else alternating(3 * v + 1, n + 1)


@probe(V)
def swap_by_a_callee(x):
    y = x.copy()
    swap(y, 0, 2)
    y[0] *= y[1]
    return y


@probe(V)
def overlapping_views_returned(x):
    y = x * 1.0
    z = y[1:]
    z += y[:-1]
    return (y, z)


@probe(V)
def reversed_view_of_written(x):
    y = x * 1.0
    z = y[::-1]
    y[0] = z[0] * 2
    return z


@probe(V)
def slice_scaled_by_a_callee(x):
    y = x * 1.0
    scale(y[:2], x[2])
    return y


@probe(V)
def out_argument_written_again(x):
    o = np.empty(3)
    r = doubled_into(x, o)
    r[0] = 1.0
    return o * r


@probe(V)
def permutation_store_and_transpose(x):
    y = np.zeros((3, 3))
    y[np.arange(3), [2, 0, 1]] = x
    y += y.T
    return y


@probe(V)
def rows_assigned_and_returned(x):
    y = np.zeros((2, 3))
    y[0], y[1] = (x, x[::-1])
    return (y[0] * y[1], y)


@probe(V)
def strided_updates(x):
    y = np.zeros(5)
    y[1:4] = x
    y[2:5] += x
    y[::2] *= 2
    return y


@probe(V)
def name_rebound_after_its_alias(x):
    y = x * 2
    w = y
    w[0] = 5.0
    y = y + w
    return y * w


@probe(M)
def masks_powered_in_place(x):
    y = x.ravel()
    z = y * 1.0
    z[z < 0] = 0.0
    z[z > 1] **= 2
    return z


@probe(V)
def mask_and_repeated_index(x):
    y = x * 1.0
    y[y > 0] += 1.0
    y[[0, 0]] += x[1]
    return y


@probe(V)
def fill_with_an_element(x):
    y = x * 1.0
    y.fill(x[0])
    return y * x


@probe(V)
def flat_assigned_backwards(x):
    y = x * 1.0
    y.flat[:] = x[::-1]
    return y * x


@probe(V)
def columns_of_a_stack(x):
    y = np.stack([x, x * 2])
    y[:, 0] = y[:, 1] * y[:, 2]
    return y


@probe(M)
def rows_of_a_transpose(x):
    y = x.T.copy()
    y[0] += y[1] * y[2]
    y[1:] -= y[:2]
    return y


@probe(V)
def recurrence_in_place(x):
    y = x * 1.0
    for i in range(1, 3):
        y[i] += y[i - 1] * x[i]
    return y


@probe(V)
def recurrence_backwards(x):
    y = x * 1.0
    for i in range(2, -1, -1):
        y[i] = np.sin(y[i]) + y[(i + 1) % 3]
    return y


@probe(V)
def tails_added_in_a_loop(x):
    y = np.zeros(3)
    for i, v in enumerate(x):
        y[i:] += v * v
    return y


@probe(V)
def halved_until_small(x):
    y = x * 1.0
    while np.abs(y).sum() > 0.5:
        y *= 0.5
    return y * x


@probe(V)
def arrays_in_a_list_updated(x):
    rows = [x * 1.0, x * 2.0]
    rows[0] += rows[1]
    rows[1] *= rows[0]
    return (rows[0] * rows[1], rows)


@probe(V)
def object_that_accumulates(x):
    a = Total()
    for v in x:
        a.add(v * v)
    return a.total * a.items[0]


@probe(V)
def methods_chained(x):
    a = Total().add(x[0]).add(x[1])
    return a.total**2 + sum(a.items)


@probe(V)
def dataclass_field_changed(x):
    c = Power(x[0], 3)
    c.w = c.w * x[1]
    return c.apply(x[2])


@probe(V)
def namedtuple_replaced_and_returned(x):
    p = Pair(x[0])
    q = p._replace(b=x[1])
    return (p.a * p.b + q.b * q.a**2, q)


@probe(V)
def views_swapped(x):
    a, b = (x[:2], x[1:])
    a, b = (b * a, a)
    return (a, b)


@probe(V)
def list_under_two_names(x):
    xs = list(x)
    ys = xs
    ys[0] = x[1] * 2
    return (xs[0] * ys[1], ys)


@probe(V)
def list_of_powers_returned(x):
    xs = [x[0]]
    for _ in range(3):
        xs.append(xs[-1] * x[1] + 1)
    return xs


@probe(V)
def inserted_in_front(x):
    xs = []
    for v in x:
        xs.insert(0, v * v)
    return (xs[0] * xs[1], xs)


@probe(P)
def folded_from_both_ends(x):
    xs = [v * v for v in x]
    while len(xs) > 1:
        a = xs.pop()
        b = xs.pop(0)
        xs.append(a * b)
    return xs[0]


@probe(V)
def stack_of_slices(x):
    stack = [x]
    out = 0.0
    while stack:
        v = stack.pop()
        if len(v) > 1:
            stack.append(v[:1] * 2)
            stack.append(v[1:])
        else:
            out = out + v[0] ** 2
    return out


@probe(V)
def nested_unpacking(x):
    t = (x, (x * 2, [x[0]]))
    a, (b, [c]) = t
    return a * b * c


@probe(0.7)
def recursion_by_count(x):
    return nested_sines(4, x)


@probe(0.7)
def recursion_with_two_exits(x):
    return alternating(x)


@probe(V)
def nested_loops_with_else(x):
    total = 0.0
    for i in range(3):
        if i == 1:
            continue
        for j in range(3):
            if j > i:
                break
            total = total + x[i] * x[j]
        else:
            total = total * 2
    return total


@probe(V)
def loop_else_not_run(x):
    for i in range(10):
        x = x * 0.9
        if x.max() < 1.5:
            break
    else:
        x = x * 100
    return x


@probe(V)
def endless_loop_with_return(x):
    i = 0
    while True:
        x = np.sin(x) + x
        i += 1
        if i >= 3:
            return x * i


@probe(V)
def try_with_finally(x):
    try:
        y = x * x
    except ValueError:
        y = x
    finally:
        z = 2.0
    return y * z


@probe(V)
def handler_before_active_code(x):
    try:
        {}["k"]
    except KeyError:
        x = x * 3
    return x * x


@probe(V)
def match_on_length(x):
    match len(x):
        case 3:
            return x**2
        case _:
            return x


@probe(V)
def match_on_two_tests(x):
    match (x[0] > 0, x[1] > 0):
        case [True, False]:
            y = x * 2
        case [True, _]:
            y = x * 3
        case _:
            y = x
    return y * x


@probe(V)
def match_on_a_mapping(x):
    match {"kind": "sq", "v": x}:
        case {"kind": "sq", "v": v}:
            return v * v
    return x


@probe(V)
def match_on_a_sequence(x):
    match [x[0], x[1], x[2]]:
        case [a, *rest]:
            return a * rest[0] + rest[1]


@probe(V)
def walrus_in_a_test(x):
    if (n := len(x)) > 2 and (m := x.max()) > 1:
        return x * n * m
    return x


@probe(V)
def and_or_as_values(x):
    y = x[0] or x[1]
    z = x[1] and x[2]
    return y * z


@probe(V)
def chained_comparison_as_number(x):
    return x[0] * (0 < x[0] < 1 <= x[2]) + x[1]


@probe(V)
def generator_of_two_loops(x):
    return sum((v * w for v in x for w in x if v != w))


@probe(V)
def max_by_key_times_min_by_key(x):
    return max(x, key=lambda v: v * v) * min(x, key=abs)


@probe(V)
def lambda_with_every_parameter(x):
    k = lambda a, b=x[0], *c, d=2.0, **e: a * b + d * sum(c) + e.get("z", 1.0)
    return k(x[1]) + k(x[1], x[2], x[0], d=x[1], z=x[2])


@probe(V)
def positional_only_and_keyword_only(x):
    def f(a, /, b, *, c=1.0):
        return a * b + c

    return f(x[0], b=x[1], c=x[2]) + f(x[1], x[2])


@probe(V)
def lambdas_with_defaults_in_a_list(x):
    fs = [lambda v, k=k: v**k for k in (1, 2, 3)]
    return fs[0](x) + fs[2](x)


@probe(V)
def functions_composed(x):
    def compose(f, g):
        return lambda v: f(g(v))

    return compose(np.sin, lambda v: v * v)(x)


@probe(V)
def stars_in_a_call(x):
    args = (x[0], x[1])
    kw = {"c": x[2]}

    def f(a, b, c):
        return a * b + c**2

    return f(*args, **kw)


@probe(V)
def annotated_assignments(x):
    a = b = x * 2
    a = a + 1
    return a * b


# ---- what is returned is used inside, too ----


@probe(V)
def tuple_used_and_returned(x):
    q = (x[0], (x[1], [x[2]]))
    return q[0] * q[1][0], q[1][1][0] * q[1][0], q


@probe(V)
def namedtuple_used_and_returned(x):
    q = Pair(x[0], x[1])
    return q.b * q.a**2, q


# ---- numbers that are not finite ----


@probe(np.array([0.5, 1.0, 2.0]))
def nan_to_num_of_finite_numbers(x):
    return np.nan_to_num(np.log(x) * x, posinf=1.0)
