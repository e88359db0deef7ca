"""Code of users' classes, and stores that outlive the call, which the compiler does not see."""

from __future__ import annotations

import array
import collections
import contextvars
import dataclasses
import threading
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.runtime import support

BOTH = pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b=3.0):
        self.a = a
        self.b = b


@dataclasses.dataclass
class Completed:
    a: float
    b: float = dataclasses.field(init=False)

    def __post_init__(self):
        self.b = self.a**2


class Iterated:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __iter__(self):
        return iter((self.a, self.b))


class Stepped(Iterated):
    def __iter__(self):
        yield self.a
        yield self.b


class Entered:
    def __init__(self, a):
        self.a = a

    def __enter__(self):
        return self.a

    def __exit__(self, *e):
        return False


class Desc:
    def __get__(self, o, t=None):
        return o.raw * 2


class HasD:
    d = Desc()

    def __init__(self, r):
        self.raw = r


class GA:
    def __init__(self, r):
        self.raw = r

    def __getattr__(self, n):
        return self.raw**2


def slot_written(x):
    s = Slots(x)
    s.b = s.a * s.b
    return s.b


def completed(x):
    return Completed(x).b * Completed(x).a


def iterated(x):
    a, b = Iterated(x, x * x)
    return a * b


def looped_over(x):
    s = 0.0
    for v in Stepped(x, x * x):
        s += v * v
    return s


def spread_out(x):
    return max(*Iterated(x, x * x))


def entered(x):
    with Entered(x) as a:
        return a * a


def described(x):
    return HasD(x).d * x


def computed_attribute(x):
    return GA(x).foo


class Plain:
    v = 0.0


kept = []
variable = contextvars.ContextVar("variable")


def queued(x):
    q = collections.deque()
    q.append(x * x)
    return q[0] * 2


def stdlib_array(x):
    a = array.array("d", [0.0])
    a[0] = x * x
    return a[0] * 2


def kept_list(x):
    kept.clear()
    kept.append(x * x)
    return kept[0]


def context_variable(x):
    variable.set(x * x)
    return variable.get()


def in_a_thread(x):
    out = [0.0]

    def w():
        out[0] = x * x

    t = threading.Thread(target=w)
    t.start()
    t.join()
    return out[0]


def class_written(x):
    o = Plain()
    type(o).v = x * x
    return o.v


def function_written(x):
    helper.val = x * x
    return helper.val


def helper():
    pass


def deleted_attribute(x):
    o = Plain()
    o.e = x * x
    r = o.e
    del o.e
    return r


# ---- what is refused, and where it says so ----

REFUSED = [
    (slot_written, "does not keep it in a plain attribute"),
    (completed, "no derivative rule for Completed"),
    (iterated, "no derivative rule for iteration over an object of the class Iterated"),
    (looped_over, "yield: a generator or coroutine runs in pieces"),
    (spread_out, "no derivative rule for max of an object of the class Iterated"),
    (entered, "a context manager is given a value with a derivative"),
    (described, "the attribute d of an object of the class HasD"),
    (computed_attribute, "the attribute foo of an object of the class GA"),
    (queued, "no derivative rule"),
    (stdlib_array, "no derivative rule"),
    (kept_list, "an object from outside the function"),
    (context_variable, "an object from outside the function"),
    (in_a_thread, "no derivative rule for Thread|an object from outside the function"),
    (class_written, "the attribute v of a function, class or array"),
    (function_written, "the attribute val of a function, class or array"),
    (deleted_attribute, "no derivative rule for delattr"),
]


@BOTH
@pytest.mark.parametrize(("fn", "message"), REFUSED, ids=[fn.__name__ for fn, _ in REFUSED])
def test_it_is_refused_where_it_happens(fn: Any, message: str, typed: bool) -> None:
    for make, args in ((sg.grad, (1.3,)), (sg.jvp, (1.0, 1.3))):
        with pytest.raises(sg.SrcgradError, match=message) as caught:
            make(fn, specialize=typed)(*args)
        places = ("threading.py", "test_unseen.py") if fn is in_a_thread else ("test_unseen.py",)
        assert str(caught.value).partition(":")[0].endswith(places)


# ---- objects from outside are as they were ----


class Counter:
    def __init__(self) -> None:
        self.total = 1.0
        self.seen = np.zeros(2)

    def add(self, x):
        self.total = self.total + x * x
        self.seen[0] = x
        return self.total * self.seen[0]


@BOTH
def test_the_object_of_a_method_is_left_as_it_was(typed: bool) -> None:
    counter = Counter()
    assert sg.grad(counter.add, specialize=typed)(2.0) == 1.0 + 3.0 * 4.0
    assert sg.value_and_grad(counter.add, specialize=typed)(2.0) == (10.0, 13.0)
    assert sg.jvp(counter.add, specialize=typed)(1.0, 2.0) == (10.0, 13.0)
    assert counter.total == 1.0
    assert counter.seen.tolist() == [0.0, 0.0]


@dataclasses.dataclass
class State:
    t: float
    u: np.ndarray


def stepped(s, k):
    s.t = s.t * k + s.u.sum()
    s.u = s.u * 2
    s.u[0] *= s.t
    return s.t * s.u.sum()


@BOTH
def test_a_dataclass_that_is_written_has_the_gradient_of_what_was_passed(typed: bool) -> None:
    state = State(2.0, np.array([1.0, 2.0, 3.0]))
    gradient = sg.grad(stepped, specialize=typed)(state, 1.5)
    assert gradient.t == 69.0
    assert gradient.u.tolist() == [208.0, 64.0, 64.0]
    direction = State(1.0, np.zeros(3))
    assert sg.jvp(stepped, specialize=typed)(direction, state, 1.5) == (252.0, 69.0)
    for one, t, u in ((state, 2.0, [1.0, 2.0, 3.0]), (direction, 1.0, [0.0, 0.0, 0.0])):
        assert one.t == t
        assert one.u.tolist() == u


def test_a_plain_object_is_nothing_to_differentiate_by() -> None:
    with pytest.raises(sg.ArgumentError, match="an object of the class Counter: make the class a"):
        sg.grad(lambda c: c.total * 2.0)(Counter())


# ---- to second order ----


def energy(x):
    s = State(x, np.array([x, x * x]))
    for _ in range(3):
        s.t = s.t * s.u[0] + x
        s.u = s.u * s.t
    return s.t * s.u.sum()


@BOTH
def test_hessians_of_programs_that_write_attributes(typed: bool) -> None:
    first = sg.grad(energy, specialize=typed)
    step = 1e-5
    wanted = (first(0.7 + step) - first(0.7 - step)) / (2 * step)
    assert sg.hvp(energy, specialize=typed)(1.0, 0.7) == pytest.approx(wanted, rel=1e-7)


def slope(x):
    return sg.jvp(energy)(1.0, x)[1]


def test_reverse_over_forward_of_records() -> None:
    wanted = sg.hvp(energy)(1.0, 0.7)
    assert sg.grad(slope)(0.7) == pytest.approx(wanted, rel=1e-12)


# ---- what nested functions and methods keep between two calls ----


def counter():
    n = [0.0]

    def inc(v):
        n[0] += v
        return n[0]

    return inc


def counted_twice(x):
    i = counter()
    i(x)
    return i(x * x)


def made_pair():
    a = np.zeros(2)

    def put(v):
        a[0] = v

    def get():
        return a[0] * 2

    return put, get


def written_by_one_read_by_the_other(x):
    put, get = made_pair()
    put(x * x)
    return get()


class Adder:
    def __init__(self):
        self.n = 0.0

    def inc(self, v):
        self.n += v
        return self.n


def method_in_a_variable(x):
    a = Adder()
    f = a.inc
    f(x)
    return a.n * 2


def counted_here(x):
    n = [0.0]

    def inc(v):
        n[0] += v
        return n[0]

    inc(x)
    return inc(x * x)


def put_and_got(x):
    a = np.zeros(2)

    def put(v):
        a[0] = v

    def get():
        return a[0] * 2

    put(x)
    return get()


def steps(x):
    a = np.zeros(3)

    def step(k):
        a[k] = a[k - 1] * x + 1

    for k in range(3):
        step(k)
    return a.sum()


def logged(x):
    h = []

    def log(v):
        h.append(v)

    for k in range(3):
        log(x**k)
    return sum(h)


@BOTH
@pytest.mark.parametrize(
    "fn", [counted_twice, written_by_one_read_by_the_other, method_in_a_variable]
)
def test_state_behind_a_variable_is_refused(fn: Any, typed: bool) -> None:
    with pytest.raises(sg.SrcgradError, match=r"test_unseen\.py:\d+"):
        sg.grad(fn, specialize=typed)(1.3)
    if fn is method_in_a_variable:
        with pytest.raises(sg.SrcgradError, match=r"test_unseen\.py:\d+"):
            sg.jvp(fn, specialize=typed)(1.0, 1.3)
    else:
        wanted = (fn(1.3 + 1e-6) - fn(1.3 - 1e-6)) / 2e-6
        assert sg.jvp(fn, specialize=typed)(1.0, 1.3)[1] == pytest.approx(wanted, rel=1e-7)


@BOTH
@pytest.mark.parametrize("fn", [counted_here, put_and_got, steps, logged])
def test_state_of_functions_called_by_name_is_followed(fn: Any, typed: bool) -> None:
    wanted = (fn(1.3 + 1e-6) - fn(1.3 - 1e-6)) / 2e-6
    assert sg.grad(fn, specialize=typed)(1.3) == pytest.approx(wanted, rel=1e-7)
    assert sg.jvp(fn, specialize=typed)(1.0, 1.3)[1] == pytest.approx(wanted, rel=1e-7)


# ---- where an attribute is kept ----


class Stored:
    """A descriptor that asks its object, and so fails on the class itself."""

    def __get__(self, obj, kind=None):
        return obj.__dict__["kept"]

    def __set__(self, obj, value):
        obj.__dict__["kept"] = 2.0 * value


class WithDescriptor:
    d = Stored()


def test_a_descriptor_is_no_plain_attribute() -> None:
    with pytest.raises(sg.UnsupportedSyntax, match="does not keep it in a plain attribute"):
        support.attributes(WithDescriptor(), "d")
    assert support.attributes(WithDescriptor(), "e") == {}
