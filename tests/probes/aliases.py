"""Containers, arrays and objects that change under one name and are read under another."""

from __future__ import annotations

import numpy as np

from tests.probes.table import V, probe


def put(d, k, v):
    d[k] = v


def push(l, v):
    l.append(v)


def put_through(d, k, v):
    e = d
    e[k] = v


@probe(V)
def key_added_by_a_callee(x):
    d = {}
    put(d, "a", x[0])
    return d["a"] * x[1]


@probe(V)
def item_added_by_a_callee(x):
    l = [1, 2]
    push(l, x[0])
    return l[2] * x[1]


@probe(V)
def key_added_through_another_name(x):
    d = {}
    e = d
    e["a"] = x[0]
    return d["a"] * x[1]


@probe(V)
def int_replaced_through_another_name(x):
    l = [1, 2]
    m = l
    m[0] = x[0]
    return l[0] * x[1]


@probe(V)
def item_added_to_an_inner_list(x):
    d = {"k": [1]}
    d["k"].append(x[0])
    return d["k"][1] * x[1]


@probe(V)
def key_added_to_an_inner_dict(x):
    d = {"k": {}}
    d["k"]["z"] = x[0]
    return d["k"]["z"] * x[1]


@probe(V)
def int_replaced_in_an_inner_list(x):
    l = [[1, 2], [3, 4]]
    l[0][1] = x[0]
    return l[0][1] * x[1]


@probe(V)
def int_replaced_in_a_made_table(x):
    l = [[0] * 2 for _ in range(2)]
    l[0][1] = x[0]
    return l[0][1] * x[1]


@probe(V)
def row_that_stands_twice(x):
    l = [[0] * 2] * 2
    l[0][1] = x[0]
    return l[1][1] * x[1]


@probe(V)
def key_added_by_a_callee_through_another_name(x):
    d = {}
    put_through(d, "a", x[0])
    return d["a"] * x[1]


@probe(V)
def ints_replaced_in_a_loop(x):
    l = [0, 0]
    r = l
    for q in range(2):
        r[q] = x[q]
    return l[0] * l[1]


@probe(V)
def list_inside_a_tuple(x):
    t = ([0, 1], 2)
    t[0][1] = x[0]
    return t[0][1] * x[1]


@probe(V)
def list_inside_a_dict(x):
    l = [0]
    d = {"l": l}
    d["l"][0] = x[0]
    return l[0] * x[1]


@probe(V)
def appended_by_a_nested_function(x):
    l = []

    def add(v):
        l.append(v)

    add(x[0])
    add(x[1])
    return l[0] * l[1]


@probe(V)
def stored_by_a_nested_function(x):
    d = {}

    def add(k, v):
        d[k] = v

    add("a", x[0])
    add("b", x[1])
    return d["a"] * d["b"]


@probe(V)
def list_made_longer_in_place(x):
    l = [1, 2]
    l += [x[0]]
    return l[2] * x[1]


@probe(V)
def inserted_through_another_name(x):
    l = [1, 2]
    l.extend([x[0]])
    m = l
    m.insert(0, x[1])
    return l[0] * l[3]


@probe(V)
def nones_replaced(x):
    l = [None, None]
    l[0] = x[0]
    l[1] = x[1]
    return l[0] * l[1]


@probe(V)
def repeated_nones_replaced(x):
    l = [None] * 2
    l[0] = x[0]
    l[1] = x[1]
    return l[0] * l[1]


@probe(V)
def none_replaced_in_a_loop(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * x[0]


@probe(V)
def none_replaced_in_a_dict(x):
    d = {"a": None}
    d["a"] = x[0]
    return d["a"] ** 2


@probe(V)
def int_in_a_dict_added_to(x):
    d = {"n": 0}
    d["n"] += x[0]
    d["n"] += x[1]
    return d["n"] ** 2


@probe(V)
def ints_in_a_list_added_to(x):
    l = [0] * 3
    for i in range(3):
        l[i] += x[i] * x[i]
    return sum(l)


@probe(V)
def ints_of_an_array_replaced(x):
    a = np.zeros(3, int).tolist()
    a[0] = x[0]
    return a[0] ** 2


@probe(V)
def slice_is_a_copy(x):
    c = [0, 0]
    c[0], c[1] = (x[0], x[1])
    d = c[:]
    d[0] = x[2]
    return c[0] * d[0] * d[1]


@probe(V)
def stack_of_tuples(x):
    st = []
    st.append((0, x[0]))
    i, val = st.pop()
    st.append((i + 1, val * x[1]))
    return st[-1][1] * st[0][0]


@probe(V)
def memo_of_a_nested_function(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        r = x[0] if n < 2 else fib(n - 1) * x[1] + fib(n - 2)
        memo[n] = r
        return r

    return fib(5)


@probe(V)
def memo_with_first_values(x):
    memo = {0: x[0], 1: x[1]}
    for n in range(2, 6):
        memo[n] = memo[n - 1] * x[1] + memo[n - 2]
    return memo[5]


@probe(V)
def mutable_default_argument(x, cache={}):
    cache.clear()
    cache["a"] = x[0]
    return cache["a"] ** 2


@probe(V)
def row_filled_after_it_was_appended(x):
    rows = []
    for i in range(2):
        rows.append([])
        rows[-1].append(x[i])
    return rows[0][0] * rows[1][0]


@probe(V)
def loop_over_two_lists_that_grow(x):
    a, b = ([], [])
    for t_, l_ in ((x[0], a), (x[1], b)):
        l_.append(t_)
    return a[0] * b[0]


@probe(V)
def counter_of_a_recursive_walk(x):
    out = [0.0]

    def walk(i):
        out[0] = out[0] + x[i] * x[i]
        if i < 2:
            walk(i + 1)

    walk(0)
    return out[0]


@probe(V)
def dict_of_ints_replaced(x):
    d = {i: 0 for i in range(3)}
    for i in range(3):
        d[i] = x[i] * 2
    return d[0] * d[2]


@probe(V)
def list_of_a_range(x):
    q = list(range(3))
    q[1] = x[0]
    return q[1] * x[1] * q[2]


@probe(V)
def list_of_a_tuple(x):
    t = tuple([0, x[0]])
    u = list(t)
    u[0] = x[1]
    return u[0] * t[1]


@probe(V)
def display_with_another_inside(x):
    d = {"a": x[0], **{"b": x[1]}}
    return d["a"] * d["b"]


@probe(V)
def dicts_merged(x):
    d = {"a": x[0], "b": x[1]} | {"c": x[2], "a": x[0] ** 2}
    return d["a"] * d["c"] + d["b"]


@probe(V)
def dict_of_keywords(x):
    e = dict(p=x[0], q=x[1])
    return e["p"] * e["q"]


@probe(V)
def dict_of_a_zip(x):
    f = dict(zip(["r", "s"], [x[0], x[1]]))
    return f["r"] * f["s"]


@probe(V)
def dict_of_pairs(x):
    m = dict([("a", x[0]), ("b", x[1] * 2)])
    return m["a"] * m["b"]


@probe(V)
def dict_of_an_enumeration(x):
    m = dict(enumerate(x))
    n = dict(m)
    n[0] = x[1]
    return m[0] * m[1] + n[0] * n[2]


@probe(V)
def display_over_another(x):
    base = {"a": x[0], "b": x[1]}
    n = {**base, "a": x[2]}
    o = {k: v * 2 for k, v in base.items() if k != "b"}
    return n["a"] * n["b"] + o["a"] ** 2


def bump(y):
    y[0] = y[1] * y[2]
    return True


@probe(V)
def written_in_a_condition(x):
    y = x * 1.0
    if bump(y):
        return y.sum() ** 2
    return 0.0


@probe(V)
def written_in_half_a_condition(x):
    y = x * 1.0
    t = 0.0
    if x[0] > 0 and bump(y):
        t = 1.0
    return y.sum() ** 2 + t


@probe(V)
def written_in_a_ternary(x):
    y = x * 1.0
    a = 1.0 if bump(y) else 2.0
    return y.sum() ** 2 * a


@probe(V)
def written_in_a_while(x):
    y = x * 1.0
    n = 0
    while n < 2 and bump(y):
        y *= 1.1
        n += 1
    return y.sum() ** 2


@probe(V)
def written_in_an_assert(x):
    y = x * 1.0
    assert bump(y)
    return y.sum() ** 2


@probe(V)
def written_in_a_comprehension(x):
    y = x * 1.0
    t = [v for v in (1.0, 2.0) if bump(y)]
    return y.sum() ** 2 * len(t)


@probe(V)
def written_under_not(x):
    y = x * 1.0
    if not bump(y):
        return 0.0
    return y.sum() ** 2


@probe(V)
def written_in_a_string(x):
    y = x * 1.0
    s = f"{bump(y)}"
    return y.sum() ** 2 * len(s)


@probe(V)
def written_in_an_any(x):
    y = x * 1.0
    if any([bump(y)]) and len([1 for k in range(2) if bump(y)]) == 2:
        return y.sum() ** 2
    return 0.0


@probe(V)
def popped_in_a_condition(x):
    items = [x[0], x[1]]
    if items.pop() < 0 and items:
        return items[0] ** 2
    return x[2]


@probe(V)
def written_in_a_key(x):
    y = x * 1.0
    d = {bump(y): 1}
    return y.sum() ** 2


@probe(V)
def written_between_two_reads(x):
    y = x * 1.0
    z = [y.sum(), bump(y), y.sum()]
    return z[0] * z[2]


@probe(V)
def written_between_two_factors(x):
    y = x * 1.0
    return y.sum() * bump(y) * y.sum()


@probe(V)
def written_between_two_terms(x):
    y = x * 1.0
    k = y[0] * (1 if bump(y) else 0) + y[0]
    return k * k


@probe(V)
def written_in_a_match(x):
    y = x * 1.0
    match bump(y):
        case True:
            return y.sum() ** 2
    return 0.0


@probe(V)
def written_in_a_range(x):
    y = x * 1.0
    for k in range(2 if bump(y) else 1):
        y = y * y
    return y.sum()


@probe(V)
def written_in_a_lambda(x):
    y = x * 1.0
    return (lambda: bump(y))() * y.sum()


@probe(V)
def written_by_a_nested_function(x):
    y = x * 1.0

    def g():
        y[1] = y[0] * 3.0
        return 2.0

    if g() > 1:
        return y.sum() ** 2
    return 0.0


@probe(V)
def written_in_an_and(x):
    y = x * 1.0
    r = bump(y) and y.sum() or 0.0
    return r * r


def walk_list(out, x, i):
    out[0] = out[0] + x[i] * x[i]
    if i < 2:
        walk_list(out, x, i + 1)


def walk_array(out, x, i):
    out[0] += x[i] * x[i]
    if i < 2:
        walk_array(out, x, i + 1)


@probe(V)
def walk_with_a_list(x):
    out = [0.0]
    walk_list(out, x, 0)
    return out[0]


@probe(V)
def walk_with_an_array(x):
    out = np.zeros(1)
    walk_array(out, x, 0)
    return out[0]


@probe(V)
def nested_walk_with_an_array(x):
    out = np.zeros(1)

    def w(i):
        out[0] += x[i] * x[i]
        if i < 2:
            w(i + 1)

    w(0)
    return out[0]


@probe(V)
def nested_walk_that_overwrites(x):
    y = x * 1.0

    def w(i):
        if i < 2:
            w(i + 1)
        y[i] = y[i] * y[(i + 1) % 3]

    w(0)
    return y.sum()


@probe(V)
def nested_walk_that_appends(x):
    acc = []

    def w(i):
        acc.append(x[i] * x[i])
        if i < 2:
            w(i + 1)

    w(0)
    return acc[0] * acc[1] * acc[2]


def pick(t, k, d):
    if k in t:
        return t[k]
    return d


def choose(l, i, d):
    if i < len(l):
        return l[i]
    return d * 2.0


def itself_or_twice(a, flag):
    if flag:
        return a
    return a * 2.0


@probe(V)
def item_or_default_of_a_dict(x):
    d = {"a": x[0] * 1.0}
    d["b"] = x[1]
    return pick(d, "a", x[2]) * pick(d, "z", x[2]) * pick(d, "y", x[2] * x[1])


@probe(V)
def item_or_new_array_of_a_list(x):
    l = [x * 1.0, x * 2.0]
    l[0][1] = x[0]
    y = choose(l, 0, x)
    y2 = choose(l, 5, x)
    y[0] = x[2]
    return (y * y2).sum() + l[0][0]


@probe(V)
def argument_or_new_array(x):
    y = x * 1.0
    z = itself_or_twice(y, True)
    w = itself_or_twice(y, False)
    z[0] = x[1] * x[2]
    w[1] = x[0]
    return (y * z * w).sum()


@probe(V)
def captured_array_or_number(x):

    def f(i):
        if i == 0:
            return y
        return x[i]

    y = x * 1.0
    y[1] = x[0] * x[2]
    return f(0)[1] * f(1) * f(2)


def both(v, s):
    u = v
    return u, v * s


def halve(v):
    v *= 0.5
    return v


def mirror(v, w):
    w[:] = v
    return v[0]


@probe(V, 0.5, wrt=(0, 1))
def tuple_that_holds_one_array_twice(x, t):
    first, second = both(x, 1.0)
    return second.sum() + (first * t).sum()


@probe(V)
def slice_of_a_list_in_a_zip(x):
    l = x.tolist()
    return sum([b * 2.0 for a, b in zip(l, l[1:])])


@probe(1.7)
def inactive_list_joined_with_another(x):
    l = [a for a, b in zip([0, 0], [0, 0])] + [0.1, x]
    return sum(l)


@probe(V)
def result_of_a_writing_callee_ignored(x):
    halve(x)
    return np.sin(x).sum() + mirror(x.copy(), x)


@probe(V)
def finally_that_does_nothing(x):
    total = 0.0
    try:
        unused = x[1]
    finally:
        total = x[0]
    try:
        total = total * x[2]
    finally:
        unused = 3  # noqa: F841
    return total
