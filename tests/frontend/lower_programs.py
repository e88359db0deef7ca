# ruff: noqa  (programs are written the way users write them)
"""Programs for the tests of lowering: each is called and interpreted, and both must agree."""

import itertools
import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
from numpy import sin as sine

FACTOR = 1.5
TABLE = {"a": 2.0, "b": -1.0}
X = np.array([0.5, -1.5, 2.5])
CALLS = []

Pair = namedtuple("Pair", "left right")


@dataclass
class Point:
    x: float
    y: float


class Box:
    scale = 3.0

    def __init__(self, value):
        self.value = value

    def grow(self, by):
        self.value += by
        return self.value


def note(label, value):
    """Records when it is called."""
    CALLS.append(label)
    return value


# ---- order of evaluation ----


def order_of_operands(x):
    return note("a", x) + note("b", 2.0) * note("c", 3.0) - note("d", x)


def order_in_calls(x):
    return max(note("a", x), *note("b", [1.0, 2.0]), key=note("c", abs))


def order_in_stores(x):
    y = [0.0, 0.0]
    y[note("k", 1)] = note("v", x)
    y[note("k2", 0)] += note("v2", x)
    return y


def order_of_updates(x):
    y = x.copy()

    def bump():
        y[0] = 10.0
        return 1.0

    y[0] += bump()
    return y


def order_in_dicts(x):
    return {note("k", "a"): note("v", x), **note("rest", {"b": 1.0})}


def walrus_order(x):
    return x + (x := 2.0 * x) * x


def walrus_in_update(x):
    x += (x := 3.0)
    return x


# ---- short circuit ----


def short_circuit(x, y):
    a = note("x", x) and note("y", y) and note("z", 3.0)
    b = note("p", x) or note("q", y)
    return a, b, not note("n", x)


def impure_condition(x, n):
    total = 0.0
    while note("w", n) > 0 and (half := note("h", n // 2)) < 100:
        n = half
        total += x if note("t", n) % 2 and note("u", n) > 1 else -x
        if not note("v", n):
            continue
        if 0 < note("m", n) < 3 < note("k", 5):
            total *= 2.0
    else:
        total += 0.25
    return total


def written_in_conditions(x):
    y = np.zeros_like(x)
    if np.any(np.square(x, out=y) > 0) and np.all(np.add(x, 1.0, y) > 5):
        return y
    return y + 1.0


def chain_with_effect(x):
    return note("a", 1) < note("b", x) < note("c", 5) < note("d", 4)


# ---- assignment ----


def swaps(a, b, c):
    a, b, c = b, c, a
    a, b = b, a
    (a, b), c = (c, a), b
    return a, b, c


def tuple_targets(xs):
    i = 0
    xs = list(xs)
    i, xs[i] = 1, 9.0
    a = b = xs
    b[0], (c, *d) = i, xs
    *e, f = d
    [g, h] = (v for v in (1, 2))
    return a, b, c, d, e, f, g, h


def index_then_name(xs):
    i = 1
    xs[i], i = 7.0, 2
    return xs, i


def duplicate_target(x):
    x, x = x + 1.0, x + 2.0
    return x


def starred(xs):
    first, *middle, last = xs
    *init, end = "abc"
    return first, middle, last, init, end


def chained(x):
    a = b = c = x * 2.0
    a += 1.0
    return a, b, c


def annotated(x: float) -> float:
    y: float = x * 2.0
    z: int
    for z in range(2):
        y += z
    return y


def updates(x, box):
    x -= 1.0
    x **= 2
    y = np.arange(6.0).reshape(2, 3)
    y[0, 1:] *= x
    y[..., None, 1] += 1.0
    y[1] @= np.eye(3)
    box.value += y[0, 2]
    box.value -= box.grow(1.0)
    z = y
    z //= 2.0
    n = 5
    n <<= 2
    n |= 1
    n ^= 3
    n &= 0xFF
    n >>= 1
    n %= 7
    return x, y, z, box.value, n


# ---- loops ----


def ranges(n):
    out = []
    for i in range(n):
        out.append(i)
    for i in range(1, n):
        i += 10
        out.append(i)
    for i in range(n, -1, -2):
        out.append(i)
    for i in reversed(range(n)):
        out.append(i)
    for i in reversed(range(5, 1, -1)):
        out.append(i)
    for i in reversed(range(1, n, 3)):
        out.append(i)
    for k, i in enumerate(range(2, n, 2), 5):
        out.append((k, i))
    for k, i in enumerate(reversed(range(3))):
        out.append((k, i))
    return out, i


def many_sources(x, d):
    out = []
    for v in x:
        out.append(v)
    for k, v in enumerate(x, start=1):
        out.append((k, v))
    for k, (a, b) in enumerate(zip(x, reversed(x))):
        out.append((k, a, b))
    for pair in zip(x, range(2)):
        out.append(pair)
    for k, v in d.items():
        out.append((k, v))
    for v in d.values():
        out.append(v)
    for k in d.keys():
        out.append(k)
    for k in d:
        out.append(k)
    for c in "ab":
        out.append(c)
    for v in {3}:
        out.append(v)
    for index, v in np.ndenumerate(np.outer(x, x)):
        out.append((index, v))
    for i, j in np.ndindex(2, 2):
        out.append(i - j)
    for v in reversed(x):
        out.append(v)
    for a, b in [(1, 2), (3, 4)]:
        out.append(a * b)
    for v in (w * 2 for w in x if w > 0):
        out.append(v)
    for v in map(lambda w: w + 1, x):
        out.append(v)
    for v in itertools.chain(x, [9.0]):
        out.append(v)
    for a, b in itertools.product(x[:2], repeat=2):
        out.append(a - b)
    for a, b in zip(*[x, x * 2]):
        out.append(a + b)
    for v in np.outer(x, x).flat:
        out.append(v)
    for k in itertools.count(3, step=2):
        if k > 8:
            break
        if k == 5:
            continue
        out.append(k)
    for a, b in zip(x, x * 2, strict=True):
        out.append(a + b)
    return out


def shared_iterator(x):
    it = iter(x)
    for v in it:
        for w in it:
            x = x + v * w
    return x


def unpacked_iterators(x):
    a, b, c = iter(x)
    d, *e = map(float, x)
    f, g = itertools.count()
    return a, b, c, d, e, f, g


def unequal_zip(x):
    for a, b in zip(x, x[1:], strict=True):
        x = x + a * b
    return x


def generator_in_step(x):
    y = x.copy()
    total = 0.0
    for v in (y[k] for k in range(len(y)) if k != 1):
        total += v
        y[2] = 5.0
    for k, v in enumerate(y[k] for k in range(3)):
        y[2] = 7.0
        total += v * k
    v = 100.0
    total += sum([v for v in (v + w for w in y)])
    return total


def same_names(x):
    state = x
    error = x
    with np.errstate(all="ignore") as state:
        x = x + len(state)
    try:
        x = x + 1 // 0
    except ZeroDivisionError as error:
        message = str(error)
    with np.errstate(all="ignore") as other:
        return x, len(other), message, len(state)


def loop_else(x, limit):
    for k in range(5):
        for j in range(3):
            if k * j > limit:
                break
        else:
            x = x + 1.0
            continue
        x = x * 2.0
        if x > 40.0:
            break
    else:
        x = -x
    while x > 1.0:
        x = x / 2.0
        if x == limit:
            break
    else:
        x = x + 100.0
    return x


def nested_exits(x, n):
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            if i * j == 6:
                return x + i
            x = x + j
        if x > 50:
            break
    return x


def iterable_rebound(x):
    for v in x:
        x = x * 2.0
        x = x + v
    return x


def assigned_target(x):
    for i, i in [(1, 2), (3, 4)]:
        x = x + i
    return x, i


def target_is_subscript(x):
    y = [0]
    for y[0] in range(3):
        x = x + y[0]
    return x, y


# ---- comprehensions ----


def comprehensions(x, n):
    v = 100.0
    a = [v * 2 for v in x if v > -2 if v < 3]
    b = {k: v for k, v in zip("abc", x)}
    c = {int(v) for v in x}
    d = [(i, j) for i in range(n) for j in range(i) if i != j]
    e = sum(v for v in x) + sum((v * v for v in x), v)
    f = (
        any(v > 2 for v in x),
        all(v > 2 for v in x),
        any(i > j for i in range(n) for j in range(n)),
    )
    g = max(abs(v) for v in x), min((v for v in []), default=4.0), sorted((-v for v in x), key=abs)
    h = tuple(v for v in x), list(map(lambda v, w: v + w, x, x)), ",".join(str(int(v)) for v in x)
    k = [[v + w for w in x] for v in x]
    m = [y := v for v in x], y
    r = []
    r.extend(v for v in x)
    s = [*(v for v in x), 1]
    return a, b, c, d, e, f, g, h, k, m, r, s, v


def stops_early(x):
    return any(note(k, k > 1) for k in range(4)), all(note(-k, k < 1) for k in range(4))


# ---- functions ----


def nested_late_binding(x):
    k = 1.0

    def scaled(v, by=x, *, plus=k + 1.0):
        """Late k, early x and plus."""
        return k * v * by + plus

    first = scaled(2.0)
    k = 5.0
    x = 100.0
    return first, scaled(2.0), scaled(2.0, plus=0.0, by=1.0)


def nested_chain(x):
    c = 2.0

    def inner(v):
        return v * c

    def outer(v):
        w = c + 1.0
        return inner(v) + (lambda u: u * w + inner(u))(v)

    c = 3.0
    return outer(x)


def nested_recursion(x, n):
    def power(m):
        return 1.0 if m == 0 else x * power(m - 1)

    fact = lambda m: 1 if m < 2 else m * fact(m - 1)
    return power(n) * fact(n)


def conditional_function(x, flag):
    if flag:

        def g(v):
            return v * x

    else:
        g = lambda v: v + x
    return g(2.0)


def function_in_loop(x):
    total = 0.0
    for k in range(3):

        def term(v):
            return v * k

        total += term(x) + apply(term, x)
    return total


def apply(f, *args, **kwargs):
    return f(*args, **kwargs)


def early_bound_lambdas(x):
    fs = [lambda v, k=k: v * k for k in range(3)]
    return [f(x) for f in fs]


def returned_lambda(x):
    k = x
    k = k + 1.0
    return (lambda v: v * k)(3.0)


def make_adder(x):
    k = x * 2.0
    return lambda v: v + k


def uses_adder(x):
    f = make_adder(x)
    return f(1.0)


def functions_in_containers(x):
    table = {"double": lambda v: 2 * v, "plus": lambda v: v + x}
    return sum(f(x) for f in table.values())


def varied_call(x, *rest, scale=2.0, **named):
    total = x * scale
    for r in rest:
        total += r
    for key in sorted(named):
        total += named[key]
    return total


def posonly(x, /, y=2.0, *, z=3.0):
    return apply(varied_call, x, *[y, z], scale=z, **{"q": 1.0})


# ---- names ----


def local_names(x):
    import math as m
    import os.path

    from numpy import linalg as la

    try:
        import srcgrad.no_such_module as extra
    except ImportError:
        extra = None
    return m.exp(x), la.norm(X), os.path.basename("a/b"), extra


def imports(x):
    import math as m
    import os.path

    from numpy import linalg as la

    return m.exp(x), la.norm(X), os.path.basename("a/b")


def global_paths(x):
    global FACTOR
    return sine(x) * FACTOR + TABLE["a"] + np.pi + Box.scale + math.tau


def undefined_name(x):
    return x + not_there


def new_axes(x):
    return x[:, np.newaxis] + x[None, ::-1], x[..., 0], x[(0, 1),], x[1:][0]


# ---- other statements ----


def with_context(x):
    with np.errstate(all="ignore") as state, np.printoptions(precision=3):
        y = np.log(x - 10.0)
        if x > 0:
            return x, state
    return y


def tries(x, kind):
    try:
        if kind == 1:
            raise ValueError(f"bad {x:.1f}")
        if kind == 2:
            raise KeyError("k")
        y = x * 2.0
    except ValueError as error:
        y = str(error)
    except (KeyError, TypeError):
        y = -x
    else:
        y = y + 1.0
    finally:
        x = x + 10.0
    return x, y


def tuple_in_try(x):
    a = 1.0
    try:
        a, b = 2.0, 1.0 / x
    except ZeroDivisionError:
        b = a
    return a, b


def asserts(x):
    assert x > 0, f"x is {x}"
    assert note("a", x) < 100
    del x
    return 1.0


def deletes(x):
    d = {"a": x, "b": x}
    del d["a"], d["b"]
    return len(d)


def texts(x):
    name = f"{x:.2f} {note('t', x)!r:>{5 + 5}}"
    plain = f"{x + 1}"
    return name, plain, "%s" % x, x > 0, 0 < x < 5, not x, x is None


def prints(x):
    print("x", x, end="")
    """not a docstring"""
    x.sort()
    return x


def matches(x, s):
    match s:
        case 1 | 2:
            return x
        case int(n) if n > 100:
            return x * n
        case None:
            return -x
        case "a" | "b" as letter:
            return letter
        case [] | ():
            return "empty"
        case [a, [b, *c], *d] if note("g", a) != 7:
            return a, b, c, d
        case (7, *rest):
            return rest
        case {"kind": "circle", "r": r, **rest}:
            return r, rest
        case {"side": (1 | 2) as side}:
            return side
        case Point(0.0, y):
            return "on axis", y
        case Point(x=px, y=Point(y=py)) | Pair(left=px, right=py):
            return px, py
        case (float() | str()) as s:
            return "scalar", s
        case math.pi:
            return "pi"
        case _ if x > 5:
            return "large"
        case other:
            return other


def attributes(box, x):
    box.value = x
    box.value *= 2.0
    other, box.value = box.value, 1.0
    return other, box.value, type(box).__name__


def dead_code(x):
    return x
    x = x + 1.0
    return x


def nothing(x):
    x + 1.0


def ternaries(x, c):
    y = x if c else x * 2.0
    z = (x if c > 1 else y) + (1.0 if x else 2.0 if y else 3.0)
    return y, z, [x if c else y]


def signs(x):
    return -x, +x, ~3, -2.0, -(2.0**2), --1, x**-1, 1j * -1j


def make_closure():
    k = 2.0
    import numpy as local_np

    def inner(x):
        return k * local_np.sin(x) + late

    late = 1.0
    return inner


closed = make_closure()
anonymous = lambda x, y=2.0: x * y if x else y
