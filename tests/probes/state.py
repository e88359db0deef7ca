"""Objects whose attributes are written, and what classes say of operators, items and defaults."""

from __future__ import annotations

import dataclasses
import math
import operator
import typing

import numpy as np

from tests.probes.table import probe


@dataclasses.dataclass
class Body:
    u: float
    v: float = 0.0
    h: list = dataclasses.field(default_factory=list)

    def step(self, dt):
        a = -self.u * self.u
        self.v += a * dt
        self.u += self.v * dt
        self.h.append(self.u)
        return self


class Wave:
    def __init__(self, n, c):
        self.u = np.zeros(n)
        self.u[n // 2] = c
        self.p = self.u.copy()
        self.t = 0.0

    def step(self):
        n = 2 * self.u - self.p
        n[1:-1] += 0.1 * (self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]) * self.u[1:-1]
        self.p = self.u
        self.u = n
        self.t += 0.1


class Node:
    def __init__(self, v, nx=None):
        self.v = v
        self.nx = nx


class Momentum:
    def __init__(self):
        self.m = 0.0
        self.k = 0

    def upd(self, g):
        self.k += 1
        self.m = 0.9 * self.m + 0.1 * g
        return self.m / (1 - 0.9**self.k)


class Layer:
    def __init__(self, w):
        self.w = w
        self.cache = None

    def fwd(self, z):
        self.cache = z * self.w
        return np.tanh(self.cache)


class Ring:
    def __init__(self, n):
        self.buf = [0.0] * n
        self.i = 0

    def push(self, v):
        self.buf[self.i] = v
        self.i = (self.i + 1) % len(self.buf)

    def mean(self):
        return sum(self.buf) / len(self.buf)


@dataclasses.dataclass
class Pair:
    x: float = 0.0
    y: float = 0.0

    def __add__(self, o):
        return Pair(self.x + o.x, self.y + o.y)

    def scale(self, k):
        self.x *= k
        self.y *= k
        return self


def upd(s, x):
    s.v = s.u * x
    return s


@probe(1.3)
def state_verlet(x):
    s = Body(x)
    for i in range(4):
        s.step(0.1)
    return s.u * s.v + sum(s.h)


@probe(1.3)
def state_wave(x):
    w = Wave(6, x)
    for i in range(3):
        w.step()
    return float((w.u**2).sum()) * w.t


@probe(1.3)
def state_alias(x):
    s = Body(x)
    t = s
    t.u = x * x
    return s.u * t.u


@probe(1.3)
def state_two(x):
    a = Body(x)
    b = Body(x * x)
    a.u, b.u = b.u, a.u
    return a.u * 2 + b.u * b.v + b.u


@probe(1.3)
def state_if(x):
    s = Body(x)
    if x > 1:
        s.v = x**3
    else:
        s.u = 2.0
    return s.v * s.u


@probe(1.3)
def state_loop_break(x):
    s = Body(x)
    while True:
        s.u = s.u * x
        if s.u > 5:
            break
    return s.u


@probe(1.3)
def state_list(x):
    ss = [Body(x), Body(2 * x)]
    for s in ss:
        s.v = s.u**2
    ss[0].u = ss[1].v
    return sum(s.u * s.v for s in ss)


@probe(1.3)
def state_dict(x):
    d = {"a": Body(x)}
    d["a"].u *= x
    d["a"].v -= x
    return d["a"].u * d["a"].v


@probe(1.3)
def state_arr(x):
    s = Body(x)
    s.u = np.array([x, x * x])
    s.u[0] *= x
    s.u += 1.0
    s.u = s.u * 2
    return float(s.u.sum())


@probe(1.3)
def state_arr_alias(x):
    a = np.array([x, x * x])
    s = Body(a)
    s.u[0] = x**3
    s.u = s.u * 1.0
    s.u[1] = 0.0
    return float(a.sum() + s.u.sum())


@probe(1.3)
def state_callee(x):
    s = Body(x)
    r = upd(s, x)
    r.u = 1.0
    return s.v * s.u + r.v


@probe(1.3)
def state_callee_ret(x):
    s = Body(x)

    def inner(k):
        s.v = s.v + k * s.u

    for k in range(3):
        inner(k)
    return s.v


@probe(1.3)
def state_linked(x):
    n = Node(x, Node(x * x, Node(x**3)))
    s = 0.0
    m = n
    while m is not None:
        m.v = m.v * 2
        s += m.v * m.v
        m = m.nx
    return s


@probe(1.3)
def state_linked2(x):
    a = Node(x)
    b = Node(x * x)
    a.nx = b
    a.nx.v = a.v * b.v
    return b.v


@probe(1.3)
def state_early(x):
    s = Body(x)
    for i in range(5):
        s.u = s.u * x
        if s.u > 3:
            return s.u * s.v + s.u
    return s.u


@probe(1.3)
def state_overwrite(x):
    s = Body(x)
    y = s.u * s.u
    s.u = 0.0
    return y + s.u


@probe(1.3)
def state_opt(x):
    o = Momentum()
    w = x
    for i in range(3):
        w = w - 0.1 * o.upd(2 * w)
    return w * w


@probe(1.3)
def state_net(x):
    ls = [Layer(x), Layer(0.5)]
    z = x
    for l in ls:
        z = l.fwd(z)
    return z * ls[0].cache


@probe(1.3)
def state_ring(x):
    r = Ring(3)
    for k in range(5):
        r.push(x**k)
    return r.mean()


@probe(1.3)
def state_chain(x):
    return (Pair(x, x * x) + Pair(1.0, x)).scale(x).scale(2.0).y


@probe(1.3)
def state_try(x):
    s = Body(x)
    try:
        s.v = math.log(s.u)
    except ValueError:
        s.v = 0.0
    return s.v * s.u


@probe(1.3)
def state_none(x):
    s = Body(x)
    s.h = None
    s.h = [x]
    return s.h[0] * x


@probe(1.3)
def state_str(x):
    s = Body(x)
    s.mode = "a"
    return s.u * s.u if s.mode == "a" else 0.0


@probe(1.3)
def state_newattr(x):
    s = Body(x)
    s.extra = x * x
    s.extra *= s.u
    return s.extra


@probe(1.3)
def state_ternary(x):
    a = Body(x)
    b = Body(2 * x)
    c = a if x > 1 else b
    c.u = c.u**2
    return a.u + b.u


class Named(typing.NamedTuple):
    u: float
    v: float = 2.0

    def prod(self):
        return self.u * self.v


@dataclasses.dataclass
class Defaults:
    a: float
    buf: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    l: list = dataclasses.field(default_factory=list)
    n: int = 3
    name: str = "s"
    c: float = 0.0

    def step(self, x):
        self.c = self.c + x * self.a
        return self.c


@dataclasses.dataclass
class Holder:
    s: Defaults
    w: float = 1.5

    def val(self):
        return self.s.a * self.w


class Made:
    def __init__(self, x):
        self.x = x
        self.y = x * x
        self.z = [self.x, self.y]

    def tot(self):
        return self.z[0] * self.z[1]


class Compared:
    def __init__(self, a):
        self.a = a

    def __lt__(self, o):
        return self.a < o.a

    def __eq__(self, o):
        return self.a == o.a

    def __bool__(self):
        return self.a > 0

    def __abs__(self):
        return abs(self.a)

    def __contains__(self, v):
        return v == self.a

    def __float__(self):
        return self.a * 2


class Table:
    def __init__(self):
        self.d = {}

    def __setitem__(self, k, v):
        self.d[k] = v

    def __getitem__(self, k):
        return self.d[k]


class Shared:
    total = 0.0

    def add(self, v):
        self.total = self.total + v
        return self


class Updated:
    def __init__(self, v):
        self.v = v

    def __iadd__(self, o):
        self.v = self.v + o * self.v
        return self

    def __matmul__(self, o):
        return self.v @ o


class Doubling:
    def __init__(self):
        self._v = 0.0

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, n):
        self._v = n * 2


def mk(x):
    return Defaults(x, c=x * x)


def use(s):
    return s.a * s.c + float(s.buf.sum())


@probe(1.3)
def object_nt_default(x):
    return Named(x).prod()


@probe(1.3)
def object_nt_default2(x):
    n = Named(x)
    return n.u * n.v + n[1] * x


@probe(1.3)
def object_nt_default3(x):
    a, b = Named(x)
    return a * b


@probe(1.3)
def object_nt_default4(x):
    return sum(Named(x)) * x


@probe(1.3)
def object_dc_buf(x):
    s = Defaults(x)
    s.buf[0] = x * x
    s.buf[1] = s.a
    return float(np.sum(s.buf * np.arange(3.0))) + s.buf[0]


@probe(1.3)
def object_dc_list(x):
    s = Defaults(x)
    s.l.append(x * x)
    s.l.append(s.a)
    return s.l[0] * s.l[1]


@probe(1.3)
def object_dc_attr(x):
    s = Defaults(x)
    s.c = x * x
    s.c += s.a
    return s.c * s.n


@probe(1.3)
def object_dc_step(x):
    s = Defaults(x)
    for i in range(3):
        s.step(x)
    return s.c


@probe(1.3)
def object_dc_kw(x):
    s = Defaults(a=1.0, c=x)
    return s.a * s.c * s.c


@probe(1.3)
def object_dc_made(x):
    s = mk(x)
    return s.a * s.c


@probe(1.3)
def object_dc_use(x):
    return use(Defaults(x))


@probe(1.3)
def object_dc_use2(x):
    s = Defaults(x)
    s.buf = np.array([x, x * x, 1.0])
    return use(s)


@probe(1.3)
def object_dc_list_of(x):
    ss = [Defaults(x * i) for i in range(1, 3)]
    return sum(s.a * s.a for s in ss)


@probe(1.3)
def object_dc_nested(x):
    d = {"m": Defaults(x), "k": Named(x, x)}
    return d["m"].a * d["k"].v


@probe(1.3)
def object_dc_outer(x):
    return Holder(Defaults(x)).val()


@probe(1.3)
def object_dc_outer2(x):
    o = Holder(Defaults(x))
    o.s.a = x**3
    o.w = x
    return o.val()


@probe(1.3)
def object_post(x):
    return Made(x).tot()


@probe(1.3)
def object_cmp(x):
    return x * x if Compared(x) < Compared(2 * x) else x


@probe(1.3)
def object_boolobj(x):
    return x * x if Compared(x) else -x


@probe(1.3)
def object_absobj(x):
    return abs(Compared(-x)) * x


@probe(1.3)
def object_floatobj(x):
    return float(Compared(x)) * x


@probe(1.3)
def object_setitem(x):
    d = Table()
    d["k"] = x * x
    d["k"] = d["k"] * 2
    return d["k"]


@probe(1.3)
def object_acc(x):
    a = Shared()
    a.add(x).add(x * x)
    return a.total


@probe(1.3)
def object_iadd(x):
    a = Updated(x)
    a += x
    a += 2.0
    return a.v


@probe(1.3)
def object_matmul(x):
    return Updated(np.array([x, x * x])) @ np.array([1.0, x])


@probe(1.3)
def object_setter(x):
    p = Doubling()
    p.v = x * x
    return p.v


def app(f, n):
    return f(n)


def pick(p, xs):
    for v in xs:
        if p(v):
            return v
    return 0.0


def both(f, g, x):
    return f(x) if g(x) else g(1) * x


@probe(1.3)
def handed_app(x):
    k = app(lambda v: v * 2, 3)
    return x * k


@probe(1.3)
def handed_app2(x):
    c = 2
    k = app(lambda v: v * c, 3)
    return x * k * app(lambda v: v * x, 2.0)


@probe(1.3)
def handed_pick(x):
    return pick(lambda v: v > 1, [x * 0.1, x, x * x])


@probe(1.3)
def handed_both(x):
    return both(lambda v: v * v, lambda v: v > 0, x)


@probe(1.3)
def handed_both2(x):
    return both(lambda v: v * v, lambda v: v < 0, x)


def inner(v):
    return math.sin(v)


@probe(1.3)
def named_a(x):
    inner_forward = x * 2
    return inner(inner_forward) * inner_forward


@probe(1.3)
def named_b(x):
    inner_tangent = x * 2
    inner_reverse = x
    return inner(inner_tangent) * inner_reverse


@probe(1.3)
def named_d(x):
    x_bar = x * x
    x_dot = x
    return inner(x_bar) * x_dot


@probe(1.3)
def named_e(x):
    math = 2.0
    return inner(x) * math


@probe(1.3)
def named_f(x):
    saved = x
    t1 = x * x
    t1_bar = x
    return inner(saved) * t1 * t1_bar


@probe(1.3)
def named_g(x):
    named_g_grad = x
    named_g_jvp = x * x
    return inner(named_g_grad) * named_g_jvp


@probe(1.3)
def named_i(x):
    def inner_forward(v):
        return v * v

    return inner(x) * inner_forward(x)


@probe(1.3)
def named_j(x):
    state = x
    return inner(state)


@probe(1.3)
def named_k(x):
    result = x
    seed = x
    tangents = x * x
    return inner(result) * seed * tangents


def apply2(inner_forward, x):
    return inner(x) * inner_forward(x)


@probe(1.3)
def named_l(x):
    return apply2(lambda v: v * x, x)


def apply3(inner_tangent, x):
    return inner(x) * inner_tangent


@probe(1.3)
def named_m(x):
    return apply3(x, x)


class Plain:
    pass


@probe(1.3)
def stored_by_opset(x):
    d = {}
    operator.setitem(d, "k", x * x)
    return d["k"]


@probe(1.3)
def stored_by_dset(x):
    d = {}
    d.__setitem__("k", x * x)
    return d["k"]


@probe(1.3)
def stored_by_arrset(x):
    a = np.zeros(3)
    a.__setitem__(0, x * x)
    return a[0]


@probe(1.3)
def stored_by_setattr(x):
    o = Plain()
    setattr(o, "a", x * x)
    return o.a


@probe(1.3)
def stored_by_setattr2(x):
    o = Plain()
    o.a = x * x
    return getattr(o, "a")


@probe(1.3)
def stored_by_dunderdict(x):
    o = Plain()
    o.__dict__["a"] = x * x
    return o.a
