"""Statements and expressions of the language."""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import math
import operator
from math import exp as e_to
from math import pi
from typing import Any

import numpy as np

from tests.probes.table import M, P, S, V, probe

LOG = logging.getLogger("probes")

# ---- assignment ----


@probe(1.3)
def assign_chained_three(x):
    a = b = c = x * x
    c += 1.0
    b *= 2.0
    return a * b * c


@probe(V)
def assign_chained_array_then_write(x):
    a = b = x * 1.0
    a[0] = 3.0 * x[1]
    return (a * b).sum()


@probe(V)
def assign_name_and_item(x):
    a = np.zeros(3)
    b = a[1] = x[0] * x[2]
    return a.sum() * b


@probe(V)
def assign_item_then_index_changes(x):
    i = 0
    a = np.zeros(3)
    i, a[i] = 1, x[0] ** 2
    return a @ np.array([1.0, 2.0, 3.0])


@probe(V)
def assign_unpack_array(x):
    a, b, c = x
    return a * b - c**2


@probe(M)
def assign_unpack_rows(m):
    r, s = m
    return r @ s + (r**2).sum()


@probe(M)
def assign_unpack_nested_array(m):
    (a, b, c), row = m
    return a * b * c + row.sum() ** 2


@probe(V)
def assign_starred_middle_of_array(x):
    first, *middle, last = x
    return first * last + middle[0] ** 3


@probe(V)
def assign_starred_to_all(x):
    (*everything,) = x * 2.0
    return everything[0] * everything[2]


@probe(1.2, 0.4, wrt=(0, 1))
def assign_swap_thrice(x, y):
    z = x * y
    x, y, z = z, x, y
    x, y, z = z, x, y
    return x + 2.0 * y + x * y * z


@probe(V)
def assign_augmented_matmul(x):
    m = np.outer(x, x)
    m = m + np.eye(3)
    m @= np.ones((3, 3)) * 0.5
    return m.trace() + (m**2).sum()


@probe(V)
def assign_augmented_subscript_once(x):
    calls = []

    def where():
        calls.append(1)
        return len(calls) - 1

    a = x.copy()
    a[where()] += x[2]
    a[where()] *= x[0]
    return a.sum() * len(calls)


@probe(1.1)
def assign_annotated_without_value(x):
    y: float
    y = x * 3.0
    z: Any = y**2
    return z


@probe(1.1)
def walrus_in_condition(x):
    if (y := x * x) > 1.0:
        return y * 3.0
    return y


@probe(1.1)
def walrus_in_call(x):
    return np.sin(y := x * 2.0) * y


@probe(V)
def walrus_in_comprehension(x):
    last = 0.0
    squares = [last := v * v + last for v in x]
    return sum(squares) * last


@probe(1.1)
def walrus_in_boolean(x):
    if (y := x + 1.0) > 0 and (z := y * 2.0) > 1.0:
        return y * z
    return 0.0


@probe(V)
def del_name_and_reuse(x):
    y = x * x
    z = y.sum()
    del y
    y = z * 2.0
    return y * z


# ---- operators ----


@probe(1.7, 0.6, wrt=(0, 1))
def op_true_division(x, y):
    return x / y


@probe(1.7, 0.6, wrt=(0, 1))
def op_floor_division(x, y):
    return (x // y) * x


@probe(1.7, 0.6, wrt=(0, 1))
def op_modulo(x, y):
    return x % y * y


@probe(-1.7, 0.6, wrt=(0, 1))
def op_modulo_negative(x, y):
    return x % y * y


@probe(1.7, 0.6, wrt=(0, 1))
def op_power(x, y):
    return x**y


@probe(1.7)
def op_power_of_constant(x):
    return 2.0**x + 2**x


@probe(1.7)
def op_power_negative_int(x):
    return x**-2 + x**0 + x**1


@probe(-1.7)
def op_power_negative_base(x):
    return x**3 + x**2.0


@probe(0.0)
def op_power_zero_base(x):
    return x**2 + x**1 + 3.0 * x


@probe(1.7)
def op_unary(x):
    return -x + +x - (-(-x)) * 3.0


@probe(S, V, wrt=(0, 1))
def op_matmul_vector(a, x):
    return x @ a @ x


@probe(1.7)
def op_bits_pick(x):
    n = 5
    k = (n & 3) | (1 << 2)
    k ^= 1
    k = k >> 1
    return x * k + x ** (~k + 5)


@probe(V)
def op_invert_mask(x):
    mask = x > 0
    return (x * ~mask).sum() * 2.0 + (x[mask] ** 2).sum()


@probe(V)
def op_and_or_masks(x):
    m = (x > -2.0) & (x < 1.0) | (x > 1.9)
    return np.where(m ^ (x > 0), x * 2.0, x**2).sum()


@probe(1.7)
def op_chained_comparison(x):
    if 0.0 < x <= 1.8 < 2.0 != 3.0:
        return x**2
    return x


@probe(1.7)
def op_chained_comparison_calls_once(x):
    seen = []

    def middle():
        seen.append(1)
        return x

    ok = 0.0 < middle() < 2.0
    return x * len(seen) if ok else 0.0


@probe(1.7, 0)
def op_and_or_values(x, y):
    a = x and x * 2.0
    b = y or x * 3.0
    c = (y and 5.0) or x
    return a + b * c


@probe(1.7)
def op_not(x):
    return x * 2.0 if not x < 1.0 else x


@probe(1.7, None)
def op_is_none(x, y):
    return x * x if y is None else x


@probe(1.7, "b")
def op_in(x, key):
    return x * x if key in ("a", "b") and key not in {"c"} else x


@probe(1.7)
def op_ternary_nested(x):
    return x if x < 0 else x**2 if x < 1 else x**3 if x < 2 else 0.0


@probe(V)
def op_ternary_of_arrays(x):
    y = x if x.sum() > 0 else x * 2.0
    return (y * x).sum()


@probe(1.3)
def op_bool_times(x):
    return (x > 1.0) * x + (x > 2.0) * x**2


@probe(1.3)
def op_complex_numbers(x):
    z = complex(x, 2.0 * x)
    w = z * z + 1j * z
    return w.real * w.imag + abs(z)


@probe(1.3)
def op_complex_power(x):
    z = (x + 1j) ** 3
    return z.real + z.conjugate().imag


@probe(1.3)
def op_integer_mixed(x):
    n = 7
    return n // 2 * x + n % 4 * x**2 + n / 2 * x + (-n) // 2


@probe(1.3)
def op_divmod(x):
    q, r = divmod(x * 3.0, 1.1)
    return q * x + r**2


@probe(1.3)
def op_pow_builtin(x):
    return pow(x, 3) + pow(2.0, x) + pow(x, x)


@probe(1.37)
def op_round_float(x):
    return round(x) * x + round(x, 1) * x**2 + float(x) * 2.0


@probe(1.3)
def op_abs_min_max(x):
    return abs(-x) * min(x, 2.0, 1.5 * x) + max(x, 0.2) + max([x, 3.0 * x])


@probe(V)
def op_sum_start(x):
    return sum(x, x[0] * 2.0) * sum([x[0], x[1]]) + sum((v for v in x), start=x[1])


@probe(V)
def op_sum_of_arrays(x):
    return (sum([x, x * 2.0, x**2]) * x).sum()


@probe(V)
def op_len_int_bool(x):
    return len(x) * x[0] + int(x[2] + 0.5) * x[1] + bool(x[0]) * x[2] + x.shape[0] * x[1]


@probe(V)
def op_any_all(x):
    return x[0] * 2.0 if any(v > 1 for v in x) and not all(v > 0 for v in x) else x[1]


@probe(V)
def op_isinstance_pick(x):
    if isinstance(x, np.ndarray) and not isinstance(x, (list, tuple)):
        return (x**2).sum()
    return 0.0


@probe(V)
def op_hasattr_type(x):
    if hasattr(x, "shape") and type(x) is np.ndarray and callable(np.sin):
        return np.sin(x).sum()
    return x[0]


# ---- strings ----


@probe(1.3)
def string_fstring(x):
    label = f"{x:.3f} and {x!r} {'a' if x > 1 else 'b'}"
    return x * len(label.split()) + (x**2 if label.endswith("a") else 0.0)


@probe(1.3)
def string_format_percent(x):
    text = "%.2f" % x + "{:.1f}".format(x)
    return x**2 * len(text)


@probe(1.3, "exp")
def string_dispatch_dict(x, name):
    table = {"exp": math.exp, "sin": math.sin}
    return table[name](x)


@probe(1.3, "square")
def string_picks_branch(x, kind):
    if kind == "square":
        return x * x
    elif kind.startswith("cu"):
        return x**3
    raise ValueError(kind)


@probe(1.3)
def print_and_log(x):
    print("x is", x, end="", file=None)
    y = x * x
    LOG.debug("y %s", y)
    LOG.debug(f"y {y}")
    return y


# ---- slices ----


@probe(P)
def slice_steps(x):
    return x[::2].sum() * x[1::2].prod() + x[::-1][0] + x[-2:][0] ** 2


@probe(P)
def slice_names(x):
    s = slice(1, 3)
    t = slice(None, None, 2)
    return x[s].sum() * x[t].sum()


@probe(M)
def slice_ellipsis_newaxis(m):
    a = m[..., 1]
    b = m[:, None, :]
    c = m[np.newaxis, ..., np.newaxis]
    return a.sum() * b.mean() + (c**2).sum()


@probe(P)
def slice_assign(x):
    y = np.zeros(6)
    y[1:5] = x
    y[::2] += x[:3]
    return (y**2).sum()


@probe(P)
def slice_variable_bounds(x):
    total = 0.0
    for i in range(1, 4):
        total += x[i - 1 : i + 1].sum() * i
    return total**2


@probe(P)
def slice_of_slice(x):
    v = x[1:][::2][:1]
    return v[0] ** 2 * x[0]


@probe(M)
def slice_tuple_index(m):
    k = (1, 2)
    return m[k] * m[(0, 1)]


# ---- comprehensions ----


@probe(V)
def comp_list_nested(x):
    table = [[a * b for b in x] for a in x]
    return sum(table[0]) * table[1][2]


@probe(V)
def comp_list_two_loops(x):
    return sum([a * b for a in x for b in x if a < b])


@probe(V)
def comp_dict_items(x):
    d = {k: x[i] for i, k in enumerate("abc")}
    return sum(v * (2.0 if k == "b" else 3.0) for k, v in d.items())


@probe(V)
def comp_generator_sum(x):
    return sum(v**2 for v in x if v > 0) + max(v * 2.0 for v in x)


@probe(V)
def comp_zip(x):
    return sum(a * b for a, b in zip(x, x[::-1], strict=True))


@probe(V)
def comp_to_array(x):
    return (np.array([v * i for i, v in enumerate(x)]) ** 2).sum()


@probe(M)
def comp_rows_stack(m):
    return (
        np.stack([row * (i + 1) for i, row in enumerate(m)]).sum()
        + np.vstack([r**2 for r in m]).sum()
    )


@probe(V)
def comp_condition_else(x):
    return sum(v if v > 0 else -2.0 * v for v in x)


@probe(V)
def comp_set_of_ints(x):
    picks = {i % 2 for i in range(5)}
    return sum(x[i] for i in sorted(picks)) ** 2


@probe(V)
def comp_tuple_of_generator(x):
    t = tuple(v * 2.0 for v in x)
    return t[0] * t[1] + t[-1]


@probe(V)
def comp_shadowing(x):
    v = x[0]
    w = [v * 2.0 for v in x]
    return v * w[2]


@probe(V)
def comp_call_each(x):
    def sq(a):
        return a * a

    return sum([sq(v) for v in x])


@probe(V)
def comp_map_two(x):
    return sum(map(lambda a, b: a * b, x, x[1:]))


@probe(V)
def comp_map_operator(x):
    return sum(map(operator.mul, x, [1.0, 2.0, 3.0]))


# ---- loops ----


@probe(V)
def loop_range_forms(x):
    t = 0.0
    for i in range(3):
        t += x[i] * i
    for i in range(2, -1, -1):
        t = t * 0.5 + x[i] ** 2
    for i in range(0, 3, 2):
        t *= x[i]
    return t


@probe(V)
def loop_range_len(x):
    t = 1.0
    for i in range(len(x)):
        t *= x[i]
    return t


@probe(M)
def loop_rows(m):
    t = 0.0
    for row in m:
        t = t * row[0] + (row**2).sum()
    return t


@probe(M)
def loop_rows_of_transpose(m):
    t = 0.0
    for column in m.T:
        t = t * 0.5 + column[0] * column[1]
    return t


@probe(V)
def loop_list_of_active(x):
    t = 1.0
    for v in [x[0], x[1] * x[2], 3.0]:
        t = t * v + v
    return t


@probe(V)
def loop_tuple_of_tuples(x):
    t = 0.0
    for a, (b, c) in ((x[0], (x[1], 2.0)), (x[2], (1.0, x[0]))):
        t += a * b * c
    return t


@probe(V)
def loop_enumerate_start(x):
    t = 0.0
    for i, v in enumerate(x, 1):
        t += v**i
    for i, v in enumerate(x, start=2):
        t += v * i
    return t


@probe(V)
def loop_zip_three(x):
    t = 0.0
    for i, a, b in zip(range(3), x, x[::-1]):
        t += i * a * b
    return t


@probe(V)
def loop_enumerate_zip(x):
    t = 0.0
    for i, (a, b) in enumerate(zip(x, x[1:])):
        t += (i + 1) * a * b
    return t


@probe(V)
def loop_reversed(x):
    t = 0.0
    for v in reversed(x):
        t = t * 0.5 + v**2
    for i in reversed(range(3)):
        t = t * x[i] + 1.0
    for v in reversed([x[0], x[2]]):
        t = t * v
    return t


@probe(V)
def loop_dict_views(x):
    d = {"a": x[0], "b": x[1]}
    t = 1.0
    for k in d:
        t *= d[k] + 2.0
    for k, v in d.items():
        t += v * (2.0 if k == "a" else 3.0)
    for v in d.values():
        t *= v
    for k in d.keys():
        t += d[k]
    return t


@probe({"a": np.array([1.0, 2.0]), "b": np.array([0.5])})
def loop_dict_argument(d):
    t = 0.0
    for k, v in d.items():
        t += (v**2).sum() * (2.0 if k == "a" else 1.0)
    return t


@probe([np.array([1.0, 2.0]), np.array([[0.5]])])
def loop_list_of_arrays_argument(items):
    t = 1.0
    for a in items:
        t = t * a.sum()
    return t


@probe(V)
def loop_for_else(x):
    for v in x:
        if v > 100:
            t = v
            break
    else:
        t = x[0] * 3.0
    return t * x[1]


@probe(V)
def loop_for_else_broken(x):
    for v in x:
        if v < 0:
            t = v**2
            break
    else:
        t = x[0]
    return t * x[1]


@probe(1.3)
def loop_while_else(x):
    n = 0
    while n < 3:
        x = x * x * 0.7
        n += 1
    else:
        x = x + 1.0
    return x


@probe(1.3)
def loop_while_true(x):
    n = 0
    while True:
        x = np.sin(x) + 0.3
        n += 1
        if n == 2:
            continue
        if n > 4:
            break
    return x * n


@probe(1.3)
def loop_while_value(x):
    y = x
    while abs(y) < 10.0:
        y = y * x + 0.5
    return y


@probe(V)
def loop_return_inside(x):
    for i in range(3):
        for j in range(3):
            if i * j == 2:
                return x[i] * x[j] ** 2
    return x[0]


@probe(V)
def loop_break_inner(x):
    t = 0.0
    for i in range(3):
        for j in range(3):
            if j > i:
                break
            if i == 1:
                continue
            t += x[i] * x[j]
        t *= 0.9
    return t


@probe(V)
def loop_index_after(x):
    for i in range(2):
        pass
    v = 0.0
    for v in x:
        pass
    return x[i] * v


@probe(V)
def loop_variable_assigned(x):
    t = 0.0
    for v in x:
        v = v * 2.0
        t += v * v
    return t


@probe(V)
def loop_newton(x):
    y = 1.0
    for _ in range(20):
        y = y - (y * y - x[2]) / (2.0 * y)
    return y


@probe(V)
def loop_nested_accumulate(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            out[i, j] = x[i] * x[j] + (out[i, j - 1] if j else 0.0)
    return (out**2).sum()


@probe(V)
def loop_zero_trips(x):
    t = x[0]
    for i in range(0):
        t = t * x[i]
    while False:
        t = 0.0
    return t * x[1]


@probe(V)
def loop_over_string(x):
    t = 0.0
    for i, c in enumerate("aba"):
        t += x[i] * (1.0 if c == "a" else 2.0)
    return t**2


@probe(V)
def loop_ndenumerate(x):
    t = 0.0
    for (i,), v in np.ndenumerate(x):
        t += v * v * i
    for idx in np.ndindex(3):
        t += x[idx]
    return t


@probe(M)
def loop_flat(m):
    t = 0.0
    for v in m.flat:
        t += v * v
    for v in m.ravel():
        t += v**3
    return t


# ---- exceptions ----


@probe(1.3)
def exc_assert(x):
    assert x > 0, f"bad {x}"
    assert isinstance(x, (float, complex))
    return x**2


@probe(1.3)
def exc_raise_not_taken(x):
    if x < 0:
        raise ValueError(f"negative {x}")
    return math.sqrt(x) if not isinstance(x, complex) else x**0.5


@probe(1.3)
def exc_try_finally(x):
    y = 1.0
    try:
        y = x * x
    finally:
        y = y * 3.0
    return y


@probe(1.3)
def exc_try_not_raised(x):
    try:
        y = x * x
    except ZeroDivisionError:
        y = 0.0
    else:
        y = y + x
    return y


@probe(1.3, {"a": 1})
def exc_key_error_caught(x, d):
    try:
        k = d["b"]
    except KeyError:
        k = 2
    return x**k


@probe(1.3)
def exc_return_in_try(x):
    try:
        return x * x
    finally:
        pass


@probe(1.3)
def exc_return_in_finally_path(x):
    done = []
    try:
        if x > 1.0:
            return x**3
        return x
    finally:
        done.append(1)


@probe(1.3)
def exc_import_error(x):
    try:
        import nonexistent_module_for_probe as n
    except ImportError:
        n = None
    return x**2 if n is None else x


@probe(1.3)
def exc_raise_caught_same(x):
    try:
        if x > 1.0:
            raise ValueError("large")
        y = x
    except ValueError:
        y = x**2
    return y


@probe(1.3)
def exc_nested_try(x):
    try:
        try:
            y = x * 2.0
        except ValueError:
            y = x
        z = y * y
    except TypeError as error:
        raise RuntimeError("no") from error
    return z


# ---- with ----


@probe(V)
def with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = x / (x + 1.0)
    return y.sum()


@probe(1.3)
def with_nullcontext(x):
    with contextlib.nullcontext():
        y = x * x
    with contextlib.nullcontext(2.0) as c:
        y = y * c
    return y


@probe(1.3)
def with_two_items(x):
    with np.errstate(all="ignore"), contextlib.nullcontext() as n:
        y = x * (2.0 if n is None else 3.0) * x
    return y


@probe(1.3)
def with_return_inside(x):
    with np.errstate(all="ignore"):
        return np.log(x) * x


@probe(V)
def with_printoptions(x):
    with np.printoptions(precision=3):
        s = str(x)
    return (x**2).sum() if s else 0.0


# ---- match ----


@probe(1.3, "cube")
def match_literal(x, kind):
    match kind:
        case "square" | "sq":
            return x**2
        case "cube":
            return x**3
        case _:
            return x


@probe(1.3, 3)
def match_capture_guard(x, n):
    match n:
        case 0:
            return x
        case k if k > 2:
            return x**k
        case k:
            return x * k


@probe((1.3, 0.4))
def match_sequence(t):
    match t:
        case [a]:
            return a
        case [a, b]:
            return a * b**2
        case [a, *rest]:
            return a + sum(rest)


@probe([1.3, 0.4, 2.0])
def match_sequence_star(t):
    match t:
        case [a, *rest]:
            return a * sum(rest) * rest[1]
        case []:
            return 0.0


@probe({"kind": "a", "v": 1.3})
def match_mapping(d):
    match d:
        case {"kind": "b", "v": v}:
            return v
        case {"kind": "a", "v": v, **rest}:
            return v**2 * (1 + len(rest))


@probe(1.3)
def match_class(x):
    match x:
        case int():
            return x
        case float() | complex() as y:
            return y**2


@probe(1.3, None)
def match_none_bool(x, flag):
    match flag:
        case True:
            return x
        case None:
            return x**2


@probe(1.3, math.pi)
def match_value(x, c):
    match c:
        case math.pi:
            return x**2
        case _:
            return x


@probe((1.3, ("add", 2.0)))
def match_nested(t):
    match t:
        case (v, ("mul", c)):
            return v * c
        case (v, ("add", c)):
            return (v + c) ** 2


@probe(1.3, 2)
def match_as(x, n):
    match n:
        case (1 | 2) as k:
            return x**k
    return x


# ---- functions ----


@probe(1.3)
def fun_nested_def_default(x):
    def g(a, b=2.0, *, c=x):
        return a * b + c

    return g(x) * g(x, 3.0) * g(x, c=1.0)


@probe(1.3)
def fun_lambda(x):
    f = lambda a: a * x  # noqa: E731
    return f(f(x))


@probe(1.3)
def fun_lambda_immediate(x):
    return (lambda a, b=2.0: a**b)(x)


@probe(1.3)
def fun_closure_late_binding(x):
    k = x

    def g(a):
        return a * k

    k = x * x
    return g(2.0)


@probe(1.3)
def fun_closure_in_loop(x):
    fs = [lambda a, i=i: a * i for i in range(1, 4)]
    t = x
    for f in fs:
        t = f(t) + x
    return t


@probe(1.3)
def fun_closure_counts(x):
    def outer(n):
        def inner(a):
            return a * n + x

        return inner

    g, h = outer(2.0), outer(3.0)
    return g(h(x))


@probe(1.3)
def fun_recursive_inner(x):
    def power(a, n):
        return 1.0 if n == 0 else a * power(a, n - 1)

    return power(x, 3)


@probe(V)
def fun_returns_tuple(x):
    def stats(v):
        return v.mean(), v.var()

    m, s = stats(x)
    return m * s


@probe(V)
def fun_returns_dict(x):
    def stats(v):
        return {"m": v.mean(), "rest": [v.sum(), v[0]]}

    d = stats(x)
    return d["m"] * d["rest"][1] + d["rest"][0]


@probe(V)
def fun_returns_none(x):
    def write(a):
        a[0] = a[1] * 2.0

    y = x.copy()
    r = write(y)
    return (y**2).sum() if r is None else 0.0


@probe(1.3, 0.4, wrt=(0, 1))
def fun_operator_module(x, y):
    return (
        operator.add(x, y) * operator.mul(x, 2.0)
        - operator.truediv(x, operator.neg(y))
        + operator.pow(x, 2)
        - operator.sub(y, x)
    )


@probe(1.3)
def fun_local_imports(x):
    import math as m

    from numpy import cos as c
    from numpy import linalg

    return c(x) * m.pi + linalg.norm(np.array([x, 2.0]))


@probe(1.3)
def fun_from_imports(x):
    return pi * x + np.e * x**2 + (e_to(x) if not isinstance(x, complex) else np.exp(x))


@probe(1.3)
def fun_docstring_and_pass(x):
    """A docstring with "quotes" and \\ backslashes."""
    pass
    ...
    "another string"
    return x**2


@probe(1.3)
def fun_semicolons(x):
    a = x * 2.0
    b = a * x
    if b > 0:
        b = b + a
    return b


@probe(1.3)
def fun_varargs(x):
    def f(*args, **kwargs):
        t = 0.0
        for a in args:
            t += a * a
        for k, v in kwargs.items():
            t += v * (2.0 if k == "u" else 3.0)
        return t * len(args)

    return f(x, 2.0 * x, u=x, w=x**2)


@probe(1.3)
def fun_mutable_default(x):
    def f(a, acc=None):
        acc = [] if acc is None else acc
        acc.append(a)
        return sum(acc)

    return f(x) * f(x, [2.0, x])


@probe(1.3)
def fun_generator_inside_sum(x):
    return sum(x**k / math.factorial(k) for k in range(6))


@probe(1.3)
def fun_functions_in_dict(x):
    table = {"a": np.sin, "b": lambda v: v * v}
    return table["a"](x) * table["b"](x)


@probe(1.3)
def fun_early_returns(x):
    if x < 0:
        return -x
    if x < 1:
        return x**2
    y = x**3
    if y > 100:
        return y
    return y * 2.0


@probe(1.3)
def fun_global_constants(x):
    return x * SCALE + TABLE["k"] * x**2 + np.dot(WEIGHTS, WEIGHTS) * x


SCALE = 2.5
TABLE = {"k": 3.0}
WEIGHTS = np.array([1.0, 2.0])


@probe(1.3)
def fun_unused(x):
    y = x**2
    z = np.sin(y)
    w = [y, z]
    return y


@probe(1.3)
def fun_tuple_return_index(x):
    def f(a):
        return a, a * 2.0, a**2

    return f(x)[1] * f(x)[-1]


@probe(1.3)
def fun_apply(x):
    def apply(f, *args):
        return f(*args)

    return apply(lambda a, b: a * b, x, x + 1.0) + apply(np.sin, x)


@probe(V)
def del_item_of_list(x):
    items = [x[0], x[1] * 5.0, x[2]]
    del items[1]
    return items[0] * items[1] + len(items)


@probe(V)
def del_key_of_dict(x):
    d = {"a": x[0], "b": x[1]}
    del d["b"]
    return d["a"] ** 2 * len(d)


@probe(V)
def del_slice_of_list(x):
    items = [x[0], x[1], x[2], x[0] * x[1]]
    del items[1:3]
    return items[0] * items[1]


@probe(V)
def op_max_with_key(x):
    return max(x, key=lambda v: abs(v)) ** 2


@probe(V)
def op_max_default(x):
    return max([v for v in x if v > 10], default=x[0] * 2.0) * x[1]


@probe(V)
def comp_dict(x):
    d = {i: v * v for i, v in enumerate(x)}
    return d[0] * d[2] + sum(d.values())


@probe(V)
def loop_pairwise_islice(x):
    t = 0.0
    for a, b in itertools.pairwise(x):
        t += a * b
    for v in itertools.islice(x, 2):
        t += v**2
    return t


@probe(V)
def loop_product_combinations(x):
    t = 0.0
    for i, j in itertools.product(range(3), range(2)):
        t += x[i] * x[j]
    for a, b in itertools.combinations(x, 2):
        t += a * b**2
    return t


@probe(V)
def loop_chain_accumulate(x):
    t = 0.0
    for v in itertools.chain(x, [1.0, x[0] * 2.0]):
        t = t * 0.5 + v * v
    for v in itertools.accumulate(x):
        t += v * v
    return t


@probe(V)
def fun_reduce(x):
    return functools.reduce(lambda a, b: a * b + 1.0, x) + functools.reduce(operator.add, x, x[0])


@probe(1.3)
def fun_star_call(x):
    def f(a, b, c=0.0, **rest):
        return a * b + c * rest.get("d", 1.0)

    args = (x, 2.0)
    return f(*args, **{"c": x, "d": x}) * f(*[x], *(x,)) + f(x, **dict(b=3.0))


@probe(V)
def op_min_max_of_array_builtin(x):
    return max(x) * min(x) + max(*x)


@probe(V)
def loop_repeat_count(x):
    t = 0.0
    for v, k in zip(x, itertools.count(1)):
        t += v * k
    for v, c in zip(x, itertools.cycle([1.0, 2.0])):
        t += v * v * c
    for v in itertools.repeat(x[0], 3):
        t += v
    return t
