"""Callables of every kind, classes, containers as arguments, and calls into them."""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import math
import types
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.probes import helpers, helpers_too
from tests.probes.helpers import scale as scale_here
from tests.probes.table import M, V, add, probe

# ---- what is differentiated ----


class Quadratic:
    gain = 2.0
    shared = np.array([1.0, 2.0, 3.0])

    def __init__(self, a, b):
        self.a, self.b = a, b

    def value(self, x):
        return self.a * x * x + self.b * self.gain

    def __call__(self, x):
        return self.value(x) * x

    @staticmethod
    def static(x):
        return x**3

    @classmethod
    def made(cls, x):
        return cls(x, 2.0).value(x) * cls.gain

    @property
    def total(self):
        return self.a + self.b

    def uses_property(self, x):
        return self.total * x**2

    def calls_others(self, x):
        return self.static(x) + self.made(x) + self(x) + Quadratic.static(x)

    def uses_class_array(self, x):
        return (self.shared * x).sum() ** 2

    def __add__(self, other):
        return Quadratic(self.a + other.a, self.b + other.b)

    def __getitem__(self, i):
        return (self.a, self.b)[i]

    def __len__(self):
        return 2


class Child(Quadratic):
    gain = 3.0

    def value(self, x):
        return super().value(x) * 2.0 + self.gain * x


add("method_bound", Quadratic(1.5, 0.5).value, 1.3)
add("method_static", Quadratic.static, 1.3)
add("method_property", Quadratic(1.5, 0.5).uses_property, 1.3)
add("method_class_array", Quadratic(1.5, 0.5).uses_class_array, V)
add("method_unbound", Quadratic.value, Quadratic(1.5, 0.5), 1.3, wrt=1)
add("callable_object", Quadratic(1.5, 0.5), 1.3)
add("lambda_plain", lambda x: x * x + 1.0, 1.3)
add("lambda_default", lambda x, k=3.0: x**k, 1.3)
add("lambda_in_list", [lambda x: x, lambda x: x**2 * math.pi][1], 1.3)
add("partial_positional", functools.partial(lambda a, x: a * x**2, 2.0), 1.3)
add("partial_keyword", functools.partial(lambda x, k: k * x**2, k=3.0), 1.3)
add(
    "partial_of_partial",
    functools.partial(functools.partial(lambda a, b, x: a * b * x**2, 2.0), 3.0),
    1.3,
)
add("partial_of_method", functools.partial(Quadratic(1.0, 2.0).value), 1.3)
add("library_function", np.sin, 1.3)


def decorator(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs) * 2.0

    return inner


@decorator
def wrapped_once(x):
    return x**2


@probe(1.3)
def calls_wrapped(x):
    return wrapped_once(x) * x


@functools.lru_cache
def cached_constant(n):
    return n * 2.0


@probe(1.3)
def calls_cached(x):
    return cached_constant(3) * x**2


def factory(k):
    def f(x):
        return k * x**2

    return f


FIRST, SECOND = factory(2.0), factory(5.0)


@probe(1.3)
def calls_two_of_a_factory(x):
    return FIRST(x) * SECOND(x)


add("closure_first", FIRST, 1.3)
add("closure_second", SECOND, 1.3)

# ---- classes used inside ----


@probe(Quadratic(1.5, 0.5), 1.3, wrt=1)
def class_argument(q, x):
    return q.value(x) + q.a * x


@dataclass
class Params:
    w: np.ndarray
    b: float
    name: str = "p"
    sizes: tuple[int, ...] = (1, 2)

    def apply(self, x):
        return np.tanh(self.w @ x + self.b)


@dataclass(frozen=True)
class Outer:
    first: Params
    second: dict[str, Any]


@probe(Params(M, 0.3), V, wrt=(0, 1))
def dataclass_method(p, x):
    return p.apply(x).sum() * p.sizes[1]


@probe(Outer(Params(M, 0.3), {"k": 2.0}), V)
def dataclass_nested(o, x):
    return o.first.apply(x).sum() * o.second["k"]


@probe(V)
def dataclass_made_inside(x):
    p = Params(np.outer(x, x), x[0])
    return p.apply(x).sum() + p.b


class Point(NamedTuple):
    x: float
    y: float

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5


Pair = namedtuple("Pair", "a b")


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


@probe(1.3, Mode.SLOW)
def enum_branch(x, mode):
    if mode is Mode.FAST:
        return x
    return x**2 * mode.value


class Base(abc.ABC):
    @abc.abstractmethod
    def energy(self, x): ...

    def total(self, x):
        return self.energy(x) + x


class Spring(Base):
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return 0.5 * self.k * x**2


add("abstract_method", Spring(3.0).total, 1.3)


@probe(1.3)
def abstract_list_of_objects(x):
    return sum(s.total(x) for s in [Spring(1.0), Spring(2.0)])


SPRINGS = [Spring(1.0), Spring(2.5)]


@probe(1.3)
def global_list_of_objects(x):
    t = 0.0
    for s in SPRINGS:
        t += s.energy(x)
    return t


CONFIG = types.SimpleNamespace(rate=0.3, table={"a": 2.0}, weights=V)


@probe(V)
def global_namespace(x):
    return CONFIG.rate * (x * CONFIG.weights).sum() ** CONFIG.table["a"]


@probe(types.SimpleNamespace(w=V, b=2.0), 1.3, wrt=1)
def namespace_argument(c, x):
    return c.b * x**2 + (c.w * x).sum()


# ---- containers as arguments ----


@probe((1.3, [0.4, V]))
def container_tuple_list(t):
    a, (b, c) = t
    return a * b * c.sum() + (c**2).sum()


@probe({"w": M, "n": 3, "inner": {"b": 1.5, "name": "z"}})
def container_dict(d):
    return (d["w"] ** 2).sum() * d["inner"]["b"] * d["n"]


@probe([1.3, 0.4, 2.0])
def container_list_comprehension(items):
    return sum([v**2 for v in items]) * items[0] * len(items)


@probe([1.3, 0.4, 2.0])
def container_list_to_array(items):
    return (np.array(items) ** 2).sum() * np.sum(items) + np.dot(items, items)


@probe([V, V * 2.0], wrt=0)
def container_stack(arrays):
    return (
        np.stack(arrays).prod() + np.concatenate(arrays).sum() ** 2 + sum(a.sum() for a in arrays)
    )


# ---- parameters ----


@probe(1.3, 2, wrt="x")
def param_by_name(x, n):
    return x**n


@probe(1.3, 2.0, wrt=("k", "x"), k=0.5)
def param_keyword_only(x, y, *, k, name="a"):
    return x * y * k**2 if name == "a" else x


@probe(1.3, 0.4, wrt=(0, 1))
def param_positional_only(x, y, /, z=2.0):
    return x * y**2 * z


@probe(1.3, 0.4, 2.0, wrt=(0, 1, 2))
def param_varargs(x, *rest):
    return x * rest[0] + sum(r**2 for r in rest) * len(rest)


@probe(1.3, wrt=(0, "k"), k=2.0, other="no")
def param_kwargs(x, **kwargs):
    return x ** kwargs["k"] if "other" in kwargs else x


@probe(1.3)
def param_default_array(x, w=np.array([1.0, 2.0])):
    return (w * x).sum() ** 2


# ---- other modules ----


@probe(1.3)
def module_functions(x):
    return helpers.scale(x) * helpers_too.scale(x) + scale_here(x)


@probe(1.3)
def module_global(x):
    return helpers.K * x**2 * helpers_too.K


@probe(1.3)
def module_local_import(x):
    from tests.probes.helpers import square_plus

    return square_plus(x, 2.0)


@probe(1.3)
def function_passed(x):
    return helpers.twice(lambda v: v * v + x, x) + helpers.twice(helpers.scale, x)


@probe(1.3, math.sin)
def function_argument(x, f):
    return (f(x) if not isinstance(x, complex) else np.sin(x)) * x


@probe(1.3, lambda v: v**2 + 1.0)
def function_argument_lambda(x, f):
    return f(f(x))


@probe(V, Quadratic(1.0, 2.0))
def function_argument_object(x, f):
    return f(x).sum()


@probe(1.3)
def recursion_deep(x):
    return helpers.power(x, 6)


@probe(V)
def recursion_on_slices(x):
    return helpers.tree_sum(x)


@probe(1.3)
def recursion_mutual(x):
    return helpers.even(x, 4) + helpers.odd(x, 3)


# ---- building containers ----


@probe(V)
def list_index_count(x):
    names = ["a", "b", "c"]
    return x[names.index("b")] ** 2 * names.count("a") + x[0]


@probe(V)
def dict_int_tuple_keys(x):
    d = {}
    for i in range(3):
        d[i, i + 1] = x[i] ** 2
    return d[0, 1] * d[(2, 3)]


@probe(V)
def dict_state_in_loop(x):
    s = {"p": x[0], "v": x[1]}
    for _ in range(4):
        s["v"] = s["v"] - 0.1 * s["p"]
        s["p"] = s["p"] + 0.1 * s["v"]
    return s["p"] * s["v"]


@probe(V)
def dict_rebuilt_in_loop(x):
    s = {"p": x[0], "v": x[1]}
    for _ in range(4):
        s = {"p": s["p"] + 0.1 * s["v"], "v": s["v"] - 0.1 * s["p"] * x[2]}
    return s["p"] * s["v"]


@probe(V)
def tuple_state_in_loop(x):
    s = (x[0], x[1])
    for i in range(4):
        s = (s[1], s[0] * s[1] + x[i % 3])
    return s[0] * s[1]


@probe(V)
def nested_tuple_arrays(x):
    layers = [(np.outer(x, x), x), (np.eye(3) * x[0], x * 2.0)]
    h = x
    for w, b in layers:
        h = np.tanh(w @ h + b)
    return h.sum()


@probe({"a": 1.3, "b": 0.4})
def container_dict_star(d):
    def f(a, b):
        return a**2 * b

    return f(**d)


@probe((1.3, 0.4))
def container_tuple_star(t):
    def f(a, b):
        return a**2 * b

    return f(*t) + max(t) + sum(t)


@probe(V)
def list_methods(x):
    a = [x[0]]
    a.append(x[1])
    a.extend([x[2], x[0] * x[1]])
    a.insert(0, x[2] ** 2)
    b = a.pop()
    c = a.pop(0)
    a.reverse()
    a += [b]
    return a[0] * a[1] + a[2] * b + c * a[-1] * len(a)


@probe(V)
def list_sort(x):
    a = [x[0], x[1], x[2] * 0.1]
    a.sort()
    b = sorted([v * v for v in x], reverse=True)
    return a[0] * 2.0 + a[1] * 3.0 + b[0] * b[1]


@probe(V)
def list_sort_key(x):
    a = sorted([x[0], x[1], x[2]], key=lambda v: abs(v))
    return a[0] * 2.0 + a[1] * a[2]


@probe(V)
def list_algebra(x):
    a = [x[0]] * 2 + [x[1]]
    b = a[::-1] + list(x)
    return sum(b) * b[0] + a[1] ** 2 + (a * 2)[4]


@probe(V)
def list_of_lists_store(x):
    g = [[0.0] * 3 for _ in range(2)]
    for i in range(2):
        for j in range(3):
            g[i][j] = x[i] * x[j]
    g[0][1] += x[2]
    return sum(sum(r) for r in g) * g[0][1]


@probe(V)
def list_slice_store(x):
    a = [x[0], x[1], x[2]]
    a[1:] = [x[0] * 2.0, x[0] ** 2, x[1]]
    return a[1] * a[2] + a[3] * len(a)


@probe(V)
def list_copy_clear(x):
    a = [x[0], x[1]]
    b = a.copy()
    c = list(a)
    a[0] = x[2]
    a.clear()
    return b[0] * c[1] + len(a)


@probe(V)
def dict_methods(x):
    d = {"a": x[0], "b": x[1]}
    d.update(c=x[2], a=x[0] * 2.0)
    d.update({"e": x[1] ** 2})
    e = d.pop("c")
    f = d.setdefault("g", x[0] ** 3)
    h = d.get("zz", x[2])
    return d["a"] * e + f * h + d["e"] + d["g"]


@probe(V)
def dict_merge(x):
    d = {"a": x[0], **{"b": x[1]}} | {"c": x[2], "a": x[0] ** 2}
    e = dict(p=d["a"], q=d["b"])
    f = dict(zip(["r", "s"], [x[0], x[1]]))
    return d["a"] * d["c"] + e["p"] * e["q"] + f["r"] * f["s"]


@probe(V)
def tuple_star_build(x):
    t = (*x, x[0] * 2.0)
    u = [*t, *t[:1]]
    return u[0] * u[3] + u[-1] ** 2 * len(u)


add("method_class", Quadratic.made, 1.3)


add("method_of_child", Child(1.5, 0.5).value, 1.3)


add("method_calls_others", Quadratic(1.5, 0.5).calls_others, 1.3)


add("callable_child_object", Child(1.5, 0.5), 1.3)


@probe(1.3, 0.4, wrt=(0, 1))
def class_made_inside(x, y):
    q = Quadratic(x, y)
    return q.value(x) * q.total


@probe(1.3, 0.4, wrt=(0, 1))
def class_child_inside(x, y):
    q = Child(x, y)
    return q(x) + q.value(y)


@probe(1.3)
def class_operator(x):
    q = Quadratic(x, 1.0) + Quadratic(2.0, x)
    return q.a * q.b


@probe(1.3)
def class_getitem_len(x):
    q = Quadratic(x, x**2)
    return q[0] * q[1] * len(q)


@probe(V)
def dataclass_replace(x):
    p = Params(np.outer(x, x), x[0])
    q = dataclasses.replace(p, b=x[1])
    return q.apply(x).sum() * q.b


@probe(Point(1.3, 0.4))
def namedtuple_fields(p):
    a, b = p
    return p.norm() * p.x + a * b + p[1] ** 2


@probe(1.3)
def namedtuple_made_inside(x):
    p = Point(x, y=x * x)
    q = Pair(p.x, b=p)
    return p.norm() * q.b.y + q.a


@probe(1.3)
def namedtuple_replace(x):
    p = Point(x, 2.0)._replace(y=x**2)
    return p.x * p.y


@probe(V)
def module_class(x):
    layer = helpers.Layer(x)
    return layer.forward(x * 2.0)
