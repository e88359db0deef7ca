"""Everything that can be called, differentiated."""

from __future__ import annotations

import doctest
import functools
import importlib
import linecache
import math
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from tests.numeric import check

V = np.array([0.5, -1.2, 2.0])


class Affine:
    order = 2

    def __init__(self, w: Any, b: float) -> None:
        self.w = w
        self.b = b

    def plain(self, x):
        return np.sum(self.w * x**self.order) + self.b

    @classmethod
    def of_class(cls, x):
        return np.sum(x**cls.order)

    @staticmethod
    def static(x):
        return np.sum(x * x * x)

    def __call__(self, x):
        return self.plain(x) * self.b

    @property
    def total(self):
        return np.sum(self.w)

    def uses_property(self, x):
        return self.total * np.sum(x * x)


class Cubic(Affine):
    order = 3

    def plain(self, x):
        return super().plain(x) + np.sum(x)


affine = Affine(np.array([1.0, 2.0, -0.5]), 0.3)


def function(x):
    return np.sum(x**2)


def scaled(x, scale, shift=0.0):
    return np.sum(scale * x**2 + shift * x)


def make_power(p):
    def power(x):
        return np.sum(x**p)

    return power


square, cube = make_power(2), make_power(3)


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


@logged
def decorated(x):
    return np.sum(x * np.tanh(x))


def doubled(f):
    @functools.wraps(f)
    def wrapper(x):
        return 2.0 * f(x)

    return wrapper


@doubled
def decorated_to_another(x):
    return np.sum(x * x)


@functools.lru_cache
def cached(x):
    return x * x * x


@sg.differentiable
def differentiable(x):
    return np.sum(x**3)


ONE_LINE = (lambda x: np.sum(x**2), lambda x: np.sum(x**3), lambda x, k=2.0: np.sum(k * x))

CALLABLES: dict[str, tuple[Any, ...]] = {
    "function": (function, V),
    "bound method": (affine.plain, V),
    "method of a subclass": (Cubic(V, 0.5).of_class, V),
    "class method": (Affine.of_class, V),
    "class method of an object": (affine.of_class, V),
    "static method": (Affine.static, V),
    "callable object": (affine, V),
    "method that reads a property": (affine.uses_property, V),
    "first lambda of a line": (ONE_LINE[0], V),
    "second lambda of a line": (ONE_LINE[1], V),
    "lambda with a default": (ONE_LINE[2], V),
    "closure": (square, V),
    "other closure of one factory": (cube, V),
    "partial by position": (functools.partial(scaled, shift=2.0), V, 1.5),
    "partial by keyword": (functools.partial(scaled, scale=2.0), V),
    "partial of a method": (functools.partial(affine.plain), V),
    "partial of a partial": (
        functools.partial(functools.partial(scaled, scale=2.0), shift=1.0),
        V,
    ),
    "decorated": (decorated, V),
    "decorated to do something else": (decorated_to_another, V),
    "cached": (cached, 1.3),
    "differentiable": (differentiable, V),
    "ufunc": (np.sin, 0.4),
    "function of math": (math.exp, 0.4),
    "builtin": (abs, -0.4),
}


@pytest.mark.parametrize("mode", ["grad", "vjp", "jvp"])
@pytest.mark.parametrize("name", CALLABLES)
def test_derivatives(name: str, mode: str) -> None:
    fn, *args = CALLABLES[name]
    check(fn, *args, modes=(mode,))


def test_super() -> None:
    """Reaches the method of the parent, or is refused; never another one."""
    fn = Cubic(np.array([1.0, 2.0, -0.5]), 0.3).plain
    try:
        sg.grad(fn)(V)
    except sg.SrcgradError:
        with pytest.raises(sg.SrcgradError, match="super"):
            sg.grad(fn)(V)
    else:
        check(fn, V)


def test_partial_with_the_first_argument() -> None:
    fn = functools.partial(scaled, V)
    check(fn, 1.5)
    np.testing.assert_allclose(sg.grad(fn)(1.5), np.sum(V**2))


def test_instances_of_one_factory_stay_separate() -> None:
    gradients = [sg.grad(make_power(p)) for p in (1, 2, 3)]
    found = [g(np.array([2.0]))[0] for g in gradients]
    assert found == [1.0, 4.0, 12.0]


def test_state_of_an_object_is_read_at_the_call() -> None:
    model = Affine(np.array([1.0]), 0.0)
    gradient = sg.grad(model.plain)
    assert gradient(np.array([3.0]))[0] == 6.0
    model.w = np.array([10.0])
    assert gradient(np.array([3.0]))[0] == 60.0


def test_unbound_methods_take_the_object() -> None:
    found = sg.grad(Affine.plain, wrt="x")(affine, V)
    np.testing.assert_allclose(found, 2 * affine.w * V)


def test_signature_and_documentation() -> None:
    gradient = sg.grad(scaled, wrt=("x", "scale"))
    assert str(gradient.__signature__) == "(x, scale, shift=0.0)"
    assert gradient.__name__ == "scaled_grad"
    assert "scaled" in gradient.__doc__
    assert repr(gradient) == "<grad of scaled with respect to x, scale>"


def test_arguments_by_keyword() -> None:
    gradient = sg.grad(scaled)
    np.testing.assert_allclose(gradient(scale=2.0, x=V), 4 * V)
    np.testing.assert_allclose(gradient(V, shift=1.0, scale=2.0), 4 * V + 1)


def test_differentiable_is_the_function_and_its_derivatives() -> None:
    assert differentiable(V) == np.sum(V**3)
    np.testing.assert_allclose(differentiable.grad(V), 3 * V**2)
    value, gradient = differentiable.value_and_grad(V)
    assert value == differentiable(V)
    np.testing.assert_allclose(gradient, 3 * V**2)
    np.testing.assert_allclose(differentiable.hvp(V, V), 6 * V**2)
    np.testing.assert_allclose(differentiable.hessian(V), np.diag(6 * V))


# ---- sources that are no files ----


def cell(text: str, name: str, namespace: dict[str, Any]) -> None:
    """Run a text as IPython runs a cell: its lines are known to linecache only."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)


def test_cells() -> None:
    session = {"np": np, "__name__": "__main__"}
    cell("K = 3.0\ndef f(x):\n    return K * np.sum(x ** 2)\n", "<ipython-input-1-aa>", session)
    cell("g = lambda x: f(x) * f(x)\n", "<ipython-input-2-bb>", session)
    np.testing.assert_allclose(sg.grad(session["f"])(V), 6 * V)
    check(session["g"], V)
    cell("def f(x):\n    return np.sum(x ** 3)\n", "<ipython-input-3-cc>", session)
    np.testing.assert_allclose(sg.grad(session["f"])(V), 3 * V**2)
    check(session["g"], V)  # calls the f of now


def test_a_cell_run_again_with_other_text() -> None:
    session = {"np": np, "__name__": "__main__"}
    for power in (2, 3):
        cell(f"def f(x):\n    return np.sum(x ** {power})\n", "<ipython-input-7-dd>", session)
        np.testing.assert_allclose(sg.grad(session["f"])(V), power * V ** (power - 1))


def test_doctests() -> None:
    text = """
    >>> import srcgrad as sg
    >>> def f(x):
    ...     return x * x
    >>> sg.grad(f)(3.0)
    6.0
    >>> g = lambda x: f(x) + x
    >>> sg.grad(g)(3.0)
    7.0
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "example", "example.txt", 0)
    results = doctest.DocTestRunner().run(test)
    assert results.failed == 0
    assert results.attempted == 5


def test_without_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x * x\n", namespace)
    with pytest.raises(sg.SrcgradError) as caught:
        sg.grad(namespace["f"])
    assert "source" in str(caught.value)
    assert "Fixes: " in str(caught.value)


@pytest.mark.parametrize("thing", [3.0, "f", None, [abs]])
def test_what_is_no_function(thing: Any) -> None:
    with pytest.raises((sg.SrcgradError, TypeError)):
        sg.grad(thing)(1.0)


# ---- modules ----

Make = Callable[[str, str], types.ModuleType]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes and imports modules."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = []

    def write(name: str, text: str) -> types.ModuleType:
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        made.append(name)
        if name in sys.modules:
            return importlib.reload(sys.modules[name])
        return importlib.import_module(name)

    yield write
    for name in made:
        sys.modules.pop(name, None)


def test_functions_of_one_name_in_two_modules(make: Make) -> None:
    a = make("callables_a", "K = 2.0\ndef f(x):\n    return K * x * x\n")
    b = make("callables_b", "K = 5.0\ndef f(x):\n    return K * x\n")
    text = "import callables_a\nfrom callables_b import f\n"
    c = make("callables_c", text + "def g(x):\n    return callables_a.f(x) * f(x)\n")
    check(c.g, 1.5)
    a.K, b.K = 3.0, 7.0
    check(c.g, 1.5)
    assert sg.grad(c.g)(1.0) == 63.0


def test_globals_are_read_at_the_call(make: Make) -> None:
    m = make("callables_d", "K = 2.0\ndef f(x):\n    return K * x\n")
    gradient = sg.grad(m.f)
    assert gradient(1.0) == 2.0
    m.K = 4.0
    assert gradient(1.0) == 4.0
    m.K = np.float64(6.0)
    assert gradient(1.0) == 6.0


def test_a_global_function_that_is_replaced(make: Make) -> None:
    m = make("callables_e", "def h(x):\n    return x * x\ndef f(x):\n    return h(x)\n")
    gradient = sg.grad(m.f)
    assert gradient(3.0) == 6.0
    m.h = make("callables_e2", "def h(x):\n    return x * x * x\n").h
    assert gradient(3.0) == 27.0


def test_a_module_that_is_reloaded(make: Make) -> None:
    m = make("callables_f", "def f(x):\n    return x * x\n")
    assert sg.grad(m.f)(3.0) == 6.0
    m = make("callables_f", "def f(x):\n    return x * x * x * 1.0\n")
    assert sg.grad(m.f)(3.0) == 27.0


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import numpy", "numpy.sin(x)"),
        ("import numpy as xp", "xp.sin(x)"),
        ("from numpy import sin", "sin(x)"),
        ("from numpy import sin as s", "s(x)"),
        ("import math", "math.sin(x)"),
        ("from math import sin", "sin(x)"),
        ("import numpy.linalg as la", "la.norm([x, 0.0])"),
        ("import numpy as np", "np.linalg.norm([x, 0.0])"),
        ("from numpy import linalg", "linalg.norm([x, 0.0])"),
    ],
)
def test_spellings_of_imports(make: Make, imports: str, call: str) -> None:
    m = make("callables_g", f"{imports}\ndef f(x):\n    return x * {call}\n")
    check(m.f, 0.7)


def secant(fn, x, args=(), steps=8, start=None, kwargs={}):
    before = x * 1.0001 + 1e-4 if start is None else start
    there, here = fn(before, *args, **kwargs), fn(x, *args, **kwargs)
    for _ in range(steps):
        if here == there:
            return x
        x, before = x - here * (x - before) / (here - there), x
        there, here = here, fn(x, *args, **kwargs)
    return x


def square_less(x, a, b=1.0):
    return x * x - a * b


def roots(a):
    inner = secant(lambda x: x * x * x - a, 1.0)
    options = {"b": 3.0 * a}
    two = secant(square_less, 1.0, (a,)) + secant(square_less, 1.0, args=(a, 2.0))
    return inner + two + secant(square_less, 1.0, (a,), kwargs=options)


@pytest.mark.parametrize("typed", [True, False])
def test_arguments_and_options_handed_on(typed):
    a = 2.0
    assert roots(a) == pytest.approx(a ** (1 / 3) + a**0.5 + (2 * a) ** 0.5 + 3**0.5 * a)
    wanted = a ** (-2 / 3) / 3 + 0.5 / a**0.5 + 1 / (2 * a) ** 0.5 + 3**0.5
    assert sg.grad(roots, specialize=typed)(a) == pytest.approx(wanted)
    assert sg.jvp(roots, specialize=typed)(1.0, a)[1] == pytest.approx(wanted)
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        sg.grad(lambda a: secant(square_less, a, (a,), kwargs=dict([("c", a)])))(a)
