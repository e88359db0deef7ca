"""One small program for each construct of the language, in reverse and forward, with and without
types; and what is refused, with the exact text of the refusal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

PROGRAMS: list[Any] = []
V = np.array([0.5, -1.2, 2.0])


def program(*args: Any, wrt: Any = 0, **kwargs: Any) -> Callable[[Any], Any]:
    """Register a program with the arguments it is differentiated at."""

    def register(fn: Any) -> Any:
        PROGRAMS.append(pytest.param(fn, args, wrt, kwargs, id=fn.__name__))
        return fn

    return register


# ---- assignments ----


@program(1.3)
def chained_assignment(x):
    a = b = x * x
    a = a + 1.0
    return a * b


@program(1.3, 0.4, wrt=(0, 1))
def tuple_assignment(x, y):
    a, b = y, x
    a, b = b * 2.0, a + b
    return a * b


@program((1.0, (2.0, 3.0)))
def nested_assignment(t):
    a, (b, c) = t
    [d, e] = [a * b, b * c]
    return d + e * e


@program(V)
def starred_assignment(x):
    first, *rest = x
    *start, last = rest
    return first * last + start[0] ** 2


@program(1.1)
def annotated_assignment(x):
    y: float = x * x
    z: float
    z = y * x
    return z


@program(1.5)
def walrus(x):
    total = 0.0
    while (x := x * 0.5) > 0.1:
        total += (y := x * x) + y
    return total


@program(1.2, 0.7, wrt=(0, 1))
def augmented_on_numbers(x, y):
    x += y
    x -= 0.5 * y * y
    x *= y
    x /= 1.0 + y
    x **= 2
    return x


@program(V)
def augmented_on_arrays(x):
    y = x * 2.0
    y += x
    y *= x
    y -= 1.0
    y /= 2.0 + x * x
    y **= 2
    y[0] += x[1]
    y[1:] *= x[:-1]
    return np.sum(y)


@program(V)
def assignment_to_items(x):
    y = np.zeros((2, 3))
    y[0] = x
    y[1, ::2] = x[:2] * x[1:]
    y[..., 1] = x[2]
    y[-1, -1] = y[0, 0] * x[0]
    return np.sum(y * y)


@program(1.4)
def deletion(x):
    y = x * x
    z = y + 1.0
    del y
    return z * x


# ---- operators ----


@program(1.7, 0.6, wrt=(0, 1))
def arithmetic(x, y):
    return (x + y) * (x - y) / (1.0 + x**y) + -x + +y + x**2 - 2**y


@program(7.3, 2.1, wrt=(0, 1))
def modulo_and_floor(x, y):
    return x % y + (x // y) * x


@program(7.3)
def divmod_of_numbers(x):
    q, r = divmod(x, 2.0)
    return q * x + r * r


@program(np.array([[1.0, 0.5], [0.2, 2.0]]), np.array([0.3, -1.0]), wrt=(0, 1))
def matrix_product(A, x):
    return x @ A @ x + np.sum(A @ A)


@program(1.2, 7)
def bits_and_integers(x, n):
    m = (n << 1) | 1
    k = (n & 3) ^ (n >> 1)
    return x * m + x**k - (~n) * x + (-(-n // 2)) * x


@program(1.2, 0.4, wrt=(0, 1))
def comparisons(x, y):
    a = (x > y) + (x >= y) + (x != y) + (x == y) + (x < y) + (x <= y)
    return a * x * y


@program(0.7)
def chained_comparison(x):
    if 0.0 < x <= 1.0 < 2.0:
        return x * x
    return x


@program(0.8, -0.3, wrt=(0, 1))
def boolean_operators(x, y):
    if (x > 0 and not y > 0) or x < -10:
        return x * y * y
    return x


@program(0.8, 2.0, wrt=(0, 1))
def boolean_operators_as_values(x, y):
    a = x or 1.0
    b = y and x * 2.0
    c = 0.0 or y
    return a * b + c * c


@program(0.8, 2.0, wrt=(0, 1))
def ternary(x, y):
    return (x if x < y else y) * (y * y if y > 3.0 else x)


@program(1.3, ["c", "a"])
def membership_and_identity(x, keys):
    s = 0.0
    for k in ("a", "b", "c"):
        if k in keys:
            s += x ** (1 + keys.index(k))
        elif k not in keys and x is not None:
            s -= x
    return s


@program(1.3)
def formatted_strings(x):
    label = f"value {x:.3f} and {1 + 1!r}"
    return x * x * len(label)


# ---- slices ----


@program(np.arange(24.0).reshape(2, 3, 4) / 7)
def slices(x):
    a = x[0, 1:, ::-2]
    b = x[..., 1]
    c = x[:, np.newaxis, 0]
    d = x[1, ..., None]
    e = x[-1][-2]
    return np.sum(a**2) + np.sum(b * b * b) + np.sum(np.sin(c)) + np.sum(d * d) + e[0] * e[3]


@program(V, np.array([0, 2, 0]))
def integer_index(x, k):
    return np.sum(x[k] ** 2 * x[[1, 1, 2]])


@program(V)
def boolean_index(x):
    return np.sum(x[x > 0] ** 3) * x[np.array([True, False, False])][0]


# ---- containers ----


@program(1.2, 0.4, wrt=(0, 1))
def tuples(x, y):
    t = (x, y, x * y)
    return t[0] * t[-1] + sum(t[1:3]) + len(t) * x


@program(1.2, 0.4, wrt=(0, 1))
def tuple_concatenation(x, y):
    t = (x, y) + (x * y,)
    return t[0] * t[2]


@program(1.2, 0.4, wrt=(0, 1))
def lists(x, y):
    values = [x, y, 2.0]
    values.append(x * y)
    last = values.pop()
    values[1] = last * x
    total = 0.0
    for v in values:
        total = total * 0.5 + v * v
    return total


@program(1.2, 0.4, wrt=(0, 1))
def list_extend(x, y):
    values = [x]
    values.extend([x * x, x + y])
    values += [y]
    return sum(values) * values[1] + values[-1]


@program(1.2, 0.4, wrt=(0, 1))
def list_pop_and_insert(x, y):
    values = [x * y, y, x]
    first = values.pop(0)
    values.insert(1, first * y)
    return first * values[1] + values[-1]


@program(1.2, 0.4, wrt=(0, 1))
def dicts(x, y):
    d = {"a": x, "b": y}
    d["c"] = d["a"] * d["b"]
    d["a"] = d["c"] + 1.0
    total = 0.0
    for name, value in d.items():
        total += value * len(name)
    for value in d.values():
        total += value * value
    for name in d:
        total += d[name] * (1.0 if name == "a" else 0.0)
    return total


@program(1.2, 0.4, wrt=(0, 1))
def dict_get(x, y):
    d = {"a": x * y}
    return d.get("a") * d.get("z", x)


@program(1.2)
def sets_of_constants(x):
    allowed = {1, 3}
    total = 0.0
    for k in range(4):
        if k in allowed:
            total += x**k
    return total


@program(V)
def comprehensions(x):
    squares = [v * v for v in x if v > -1.0]
    pairs = [a * b for a in x for b in (1.0, 2.0)]
    named = {k: x[k] ** 2 for k in range(3)}
    return sum(squares) + pairs[1] * pairs[4] + named[2]


@program(V)
def generator_arguments(x):
    return sum(v * v for v in x) * max(v for v in x) + math.fsum(v for v in x)


@program([1.0, 2.0], {"scale": 0.5, "shift": 3.0}, wrt=(0, 1))
def container_arguments(values, options):
    return sum(v**2 * options["scale"] for v in values) * options["shift"]


class Pair(NamedTuple):
    left: float
    right: np.ndarray


@program(Pair(1.5, V))
def named_tuple_argument(p):
    return p.left * np.sum(p.right**2) + p[0]


@dataclass
class Model:
    w: np.ndarray
    scale: float = 2.0
    steps: int = 3

    def predict(self, x):
        for _ in range(self.steps):
            x = np.tanh(self.w * x) * self.scale
        return x

    @property
    def norm(self):
        return np.sum(self.w**2)


@program(Model(np.array([0.4, -0.3, 0.8])), V, wrt=(0, 1))
def dataclass_argument(model, x):
    return np.sum(model.predict(x)) + model.norm


# ---- functions ----


def helper(x, scale=2.0, *, shift=0.5):
    return x * scale + shift


def many(first, *rest, **named):
    total = first
    for k, r in enumerate(rest):
        total = total + (k + 1) * r * r
    return total * named.get("scale", 1.0)


def positional_only(x, y, /, z):
    return x * y + z * z


@program(1.2, 0.4, wrt=(0, 1))
def call_forms(x, y):
    a = helper(x) + helper(x, y) + helper(scale=x, x=y, shift=x * y)
    b = many(x, y, x * y, scale=y)
    return a * b + positional_only(x, y, z=y)


@program(1.2, 0.4, wrt=(0, 1))
def unpacked_arguments(x, y):
    args = (x, y)
    options = {"scale": x, "shift": y}
    return helper(*args) * positional_only(*args, x * y) + helper(x, **options)


@program(1.2, 0.4, wrt=(0, 1))
def unpacked_into_star_parameters(x, y):
    args = (x, y)
    return many(*args) + many(x, *[x, y], scale=y)


@program(1.2, 0.5, -0.7, wrt=(0, 1, 2), scale=2.0)
def star_parameters(first, *rest, **named):
    total = first
    for r in rest:
        total = total * r + r
    return total * named["scale"]


@program(1.3, wrt=(0, "slope", "offset"), slope=1.5, offset=-0.25)
def keyword_parameters(x, slope=2.0, *, offset=0.5):
    return (slope * x + offset) ** 2


@program(1.3, 0.2, wrt=(0, 1))
def positional_only_parameters(x, y, /, scale=3.0):
    return x * y * scale + x


@program(0.9, 1.3, wrt=(0, 1))
def nested_functions(x, y):
    def scaled(v, k=2.0):
        return v * k * y

    return scaled(scaled(x)) + (lambda a: a * x)(y)


@program(0.9, 1.3, wrt=(0, 1))
def closures_passed_to_functions(x, y):
    def scaled(v, k=2.0):
        return v * k * y

    def twice(f, v):
        return f(f(v))

    return twice(scaled, x)


def make_polynomial(c):
    return lambda v: c[0] + c[1] * v * v


@program(V, 0.3, wrt=(0, 1))
def functions_that_return_functions(c, x):
    p = make_polynomial(c)
    return p(x) * p(c[2])


@program(1.1, 4)
def recursive(x, n):
    if n == 0:
        return 1.0
    return x * recursive(x, n - 1) + 0.1 * x


def is_even(x, n):
    return x if n == 0 else is_odd(x * x, n - 1)


def is_odd(x, n):
    return 2.0 * x if n == 0 else is_even(x + 1.0, n - 1)


@program(0.7, 3)
def mutual_recursion(x, n):
    return is_even(x, n)


@program(0.7)
def local_import(x):
    import math as m

    from numpy import cosh

    return m.exp(x) * cosh(x)


@program(0.7, "soft", None)
def strings_and_none_pick_branches(x, kind, bias):
    y = np.tanh(x) if kind == "soft" else x
    if bias is None:
        bias = 0.25
    return y * y + bias * x


# ---- conditions and loops ----


@program(2.5)
def if_elif_else(x):
    if x < 1.0:
        y = x
    elif x < 2.0:
        y = x * x
    else:
        y = x * x * x
    if y > 100.0:
        y = 0.0
    return y * x


@program(0.9, 5)
def for_over_ranges(x, n):
    total = 0.0
    for i in range(n):
        total += x**i
    for i in range(n, 0, -2):
        total *= 1.0 + i * x
    for i in range(1, n, 3):
        total -= i * x * x
    return total


@program(np.arange(6.0).reshape(2, 3) / 3 + 0.1)
def for_over_arrays(x):
    total = 0.0
    for row in x:
        for v in row:
            total = total * 0.9 + v * v * row[0]
    return total


@program(V)
def for_over_zip_enumerate_reversed(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, x[1:]), start=1):  # noqa: RUF007
        total += i * a * b
    for v in reversed(x):
        total = total * v + 1.0
    return total


@program([0.5, 1.5])
def for_else(values):
    total = 0.0
    for v in values:
        if v > 10.0:
            break
        total += v * v
    else:
        total *= 2.0
    for v in values:
        if v > 1.0:
            total += v
            break
    else:
        total = 0.0
    return total


@program(3.0)
def while_else(x):
    n = 0
    while x > 0.5:
        x = x * 0.6
        n += 1
        if n > 20:
            break
    else:
        x = x * x * n
    return x


@program(V, 2.0, wrt=(0, 1))
def break_and_continue(x, cap):
    total = 0.0
    for v in x:
        if v < 0.0:
            continue
        total += v * v
        if total > cap:
            total = cap * v
            break
    return total


@program(np.arange(1.0, 7.0).reshape(2, 3) / 4)
def return_from_nested_loops(x):
    total = 0.0
    for row in x:
        for v in row:
            total += v * v
            if total > 1.5:
                return total * v
    return total


@program(0.9, 4)
def variables_changed_in_loops(x, n):
    k = n
    y = x
    for i in range(n):
        n = n - 1
        k = i * 2
        y = y * x + n + k
    return y * k


@program(0.8)
def zero_trips(x):
    y = x
    for _ in range(0):
        y = y * 3.0
    while y > 5.0:
        y = y - 1.0
    return y * y


# ---- statements ----


@program(V)
def assertions_and_raises(x):
    assert x.ndim == 1, "a vector"
    if np.any(np.isnan(x)):
        raise ValueError("nan")
    return np.prod(x)


@program(1.7)
def try_around_inactive_code(x):
    try:
        n = int("3")
    except ValueError:
        n = 0
    finally:
        k = 2
    return x**n * k


@program(1.7)
def with_blocks(x):
    with np.errstate(divide="ignore"), np.errstate(over="raise"):
        y = np.log(x)
    return y * y


@program(1.7)
def with_block_that_names(x):
    with contextlib.nullcontext(3.0) as k:
        y = x * k
    return y * y


@program(1.2, ("rect", 3.0))
def match_statement(x, shape):
    match shape:
        case "circle":
            return math.pi * x * x
        case ("rect", r):
            return x * x * r
        case {"side": s}:
            return s * x
        case float() | int():
            return x
        case _:
            return 0.0 * x


@program(1.2)
def pass_and_docstring(x):
    """A docstring."""
    if x > 5.0:
        pass
    else:
        x = x * x
    ...
    return x


@program(1.2)
def prints(x):
    y = x * x
    print("y is", y)
    return y * x


@program(1.2)
def logs(x):
    y = x * x
    logging.getLogger(__name__).debug("y is %s", y)
    logging.info("y is %s", y)
    return y * x


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize("mode", ["grad", "vjp", "jvp"])
@pytest.mark.parametrize(("fn", "args", "wrt", "kwargs"), PROGRAMS)
def test_program(
    fn: Any, args: Any, wrt: Any, kwargs: Any, mode: str, typed: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    check(fn, *args, wrt=wrt, kwargs=kwargs, modes=(mode,), specialize=(typed,))


def test_prints_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    sg.grad(prints)(2.0)
    assert capsys.readouterr().out == "y is 4.0\n"


# ---- refusals ----

STATE = 1.0


def generator(x):
    for v in x:
        yield v * v


async def coroutine(x):
    await asyncio.sleep(0)
    return x * x


def global_write(x):
    global STATE
    STATE = x * 2.0
    return STATE * x


def make_nonlocal() -> Any:
    total = 0.0

    def nonlocal_write(x):
        nonlocal total
        total = total + x
        return total * x

    return nonlocal_write


def uses_eval(x):
    return eval("x * x")


def uses_locals(x):
    y = x * 2.0
    return locals()["y"]


def try_with_active_handler(x):
    try:
        y = math.log(x)
    except ValueError:
        y = x * x
    return y


def try_with_a_division(x):
    try:
        y = 1.0 / (x - 1.0)
    except ZeroDivisionError:
        y = 3.0 * x
    return y


def captured_list(x):
    SEEN.append(x)
    return SEEN[-1] * x


SEEN: list[Any] = []

# In the texts a line is counted from the `def`, and is otherwise as users see it.
REFUSED: list[tuple[Any, Any, str]] = [
    (
        generator,
        V,
        """\
test_language.py:+2:8: yield: a generator or coroutine runs in pieces and has no single result
    yield v * v
    ^^^^^^^^^^^
Fixes: collect the values in a list and return it.""",
    ),
    (
        coroutine,
        1.0,
        """\
test_language.py:+0:0: coroutine is async: a coroutine runs in pieces and has no single result
    async def coroutine(x):
    ^^^^^^^^^^^^^^^^^^^^^^^
Fixes: write the numeric part as an ordinary function.""",
    ),
    (
        global_write,
        1.0,
        """\
test_language.py:+1:4: global STATE: the function writes a variable outside it, so that a second \
call differs from the first
    global STATE
    ^^^^^^^^^^^^
Fixes: pass STATE in and return its new value.""",
    ),
    (
        make_nonlocal(),
        1.0,
        """\
test_language.py:+1:8: nonlocal total: the function writes a variable outside it, so that a \
second call differs from the first
    nonlocal total
    ^^^^^^^^^^^^^^
Fixes: pass total in and return its new value.""",
    ),
    (
        uses_eval,
        1.0,
        """\
test_language.py:+1:11: eval runs code that can't be read when compiling
    return eval("x * x")
           ^^^^^^^^^^^^^
Fixes: write the expression itself.""",
    ),
    (
        uses_locals,
        1.0,
        """\
test_language.py:+2:11: locals reads variables by name, which hides the flow of data
    return locals()["y"]
           ^^^^^^^^
Fixes: name the variable.""",
    ),
]
# These are refused too, by whatever stage finds them first.
REFUSED_SOMEHOW = [
    (captured_list, 1.0),
]


def refusal(fn: Any, argument: Any, typed: bool) -> str:
    with pytest.raises(sg.SrcgradError) as caught:
        sg.grad(fn, specialize=typed)(argument)
    first = fn.__code__.co_firstlineno

    def counted(match: re.Match[str]) -> str:
        return f"test_language.py:+{int(match[1]) - first}:"

    return re.sub(r"test_language\.py:(\d+):", counted, str(caught.value))


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize(
    ("fn", "argument", "text"),
    [pytest.param(*case, id=case[0].__name__) for case in REFUSED],
)
def test_refusal(
    fn: Any, argument: Any, text: str, typed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    assert refusal(fn, argument, typed) == text


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
def test_handled_exceptions(typed: bool) -> None:
    """The derivative is that of what ran: the body, or the handler."""
    gradient = sg.grad(try_with_active_handler, specialize=typed)
    assert gradient(2.0) == 0.5
    assert gradient(-1.5) == -3.0
    divided = sg.grad(try_with_a_division, specialize=typed)
    assert divided(3.0) == -0.25
    assert divided(1.0) == 3.0


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "generic"])
@pytest.mark.parametrize(("fn", "argument"), REFUSED_SOMEHOW)
def test_refused_somehow(fn: Any, argument: Any, typed: bool) -> None:
    text = refusal(fn, argument, typed)
    assert re.match(r"\S*test_language\.py:\+\d+:\d+: ", text)
    assert "Fixes: " in text


def number_before_a_loop(x, n):
    k = x * x
    y = x
    for k in range(n):
        y = y * x + k
    return k + y


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("typed", [True, False])
def test_a_loop_gives_its_target_whole_numbers(n, typed):
    slope = (number_before_a_loop(1.3 + 1e-6, n) - number_before_a_loop(1.3 - 1e-6, n)) / 2e-6
    assert sg.grad(number_before_a_loop, specialize=typed)(1.3, n) == pytest.approx(slope)
    assert sg.jvp(number_before_a_loop, specialize=typed)(1.0, 1.3, n)[1] == pytest.approx(slope)
