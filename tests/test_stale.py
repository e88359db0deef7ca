"""Nothing stale, ever: what a derivative was made from changes, and the next call knows.

Each test differentiates, changes one thing, and calls the same derivative again.
"""

from __future__ import annotations

import importlib
import itertools
import linecache
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

_numbers = itertools.count()


class Place:
    """Modules of a test, written and written again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()

    def module(self, text: str, name: str | None = None) -> ModuleType:
        name = name or f"stale_{next(_numbers)}"
        self.write(name, text)
        return importlib.import_module(name)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield Place(tmp_path)
    for name in set(sys.modules) - before:
        if name.startswith("stale_"):
            del sys.modules[name]


# ---- what a module's names mean ------------------------------------------------


GLOBALS = """
import math
import numpy as np
from math import tan as tangent
from numpy import sin

K, N, FLAG, MODE, TABLE, BOX = 2.0, 3, True, "square", [1.0, 2.0], {"k": 2.0}
act = np.tanh

def inner(x):
    return K * x * x

class Settings:
    k = 2.0

def number(x): return K * x
def exponent(x): return x**N
def trips(x):
    s = 1.0
    for i in range(N):
        s = s * x
    return s
def flag(x): return x * x if FLAG else x
def mode(x):
    if MODE == "square":
        return x * x
    return x
def item(x): return TABLE[0] * x
def key(x): return BOX["k"] * x
def attribute(x): return Settings.k * x
def callee(x): return inner(x)
def assigned(x): return act(x)
def imported(x): return sin(x)
def renamed(x): return tangent(x)
def builtin(x): return abs(x)
def from_module(x): return math.sin(x)
"""


@pytest.mark.parametrize(
    ("function", "changes"),
    [
        ("number", {"K": [(3.0, 3.0), (np.float64(4.0), 4.0), (np.array(5.0), 5.0)]}),
        ("exponent", {"N": [(2, 3.0), (2.5, 2.5 * 1.5**1.5)]}),
        ("trips", {"N": [(2, 3.0), (1, 1.0)]}),
        ("flag", {"FLAG": [(False, 1.0), (True, 3.0)]}),
        ("mode", {"MODE": [("linear", 1.0), ("square", 3.0)]}),
        ("item", {"TABLE": [([5.0], 5.0), (np.array([6.0]), 6.0)]}),
        ("key", {"BOX": [({"k": 9.0}, 9.0)]}),
        ("attribute", {"Settings": [(type("Settings", (), {"k": 4.0}), 4.0)]}),
        ("assigned", {"act": [(np.exp, np.exp(1.5)), (np.sin, np.cos(1.5))]}),
        ("imported", {"sin": [(np.cos, -np.sin(1.5))]}),
        ("renamed", {"tangent": [(np.sin, np.cos(1.5))]}),
        ("builtin", {"abs": [(np.exp, np.exp(1.5))]}),
    ],
)
def test_a_global_that_changes(place: Place, function: str, changes: Any) -> None:
    module = place.module(GLOBALS)
    df = sg.grad(getattr(module, function))
    df(1.5)
    for name, steps in changes.items():
        for value, expected in steps:
            setattr(module, name, value)
            assert df(1.5) == pytest.approx(expected), (name, value)


def test_a_global_function_that_is_replaced(place: Place) -> None:
    module = place.module(GLOBALS)
    other = place.module("def inner(x):\n    return 7.0 * x\n\ndef sin(x):\n    return 3.0 * x\n")
    df, dg = sg.grad(module.callee), sg.grad(module.imported)
    assert (df(1.0), dg(0.0)) == (4.0, 1.0)
    module.inner, module.sin = other.inner, other.sin
    assert (df(1.0), dg(0.0)) == (7.0, 3.0)
    del module.inner
    with pytest.raises((NameError, sg.SrcgradError), match="inner"):
        df(1.0)


def test_containers_and_classes_changed_in_place(place: Place) -> None:
    module = place.module(GLOBALS)
    item, attribute = sg.grad(module.item), sg.grad(module.attribute)
    assert (item(1.0), attribute(1.0)) == (1.0, 2.0)
    module.TABLE[0] = 8.0
    module.Settings.k = 5.0
    assert (item(1.0), attribute(1.0)) == (8.0, 5.0)


def test_a_library_function_that_is_replaced(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = place.module(GLOBALS)
    other = place.module("def sin(x):\n    return 2.0 * x\n")
    df = sg.grad(module.from_module)
    assert df(0.0) == 1.0
    with monkeypatch.context() as patch:
        patch.setattr("math.sin", other.sin)
        assert df(0.0) == 2.0
    assert df(0.0) == 1.0


# ---- functions -----------------------------------------------------------------


def test_default_values(place: Place) -> None:
    module = place.module("""
        def inner(x, k=2.0): return k * x
        def keyword(x, *, k=2.0): return k * x
        def f(x): return inner(x) + keyword(x)
    """)
    own, called = sg.grad(module.inner), sg.grad(module.f)
    assert (own(1.0), called(1.0)) == (2.0, 4.0)
    module.inner.__defaults__ = (6.0,)
    module.keyword.__kwdefaults__ = {"k": 3.0}
    assert (own(1.0), called(1.0)) == (6.0, 9.0)


def test_code_that_is_replaced(place: Place) -> None:
    """IPython's autoreload puts the new code into the old function."""
    module = place.module("""
        def first(x): return 2.0 * x
        def second(x): return 5.0 * x
        def third(x, k): return k * x * x
        def f(x): return first(x)
    """)
    own, called = sg.grad(module.first), sg.grad(module.f)
    assert (own(1.0), called(1.0)) == (2.0, 2.0)
    module.first.__code__ = module.second.__code__
    assert (own(1.0), called(1.0)) == (5.0, 5.0)
    module.first.__code__ = module.third.__code__
    assert own(1.0, 4.0) == 8.0
    assert own(1.0, k=5.0) == 10.0


@pytest.mark.parametrize(
    ("made", "values"),
    [
        ("scaled", [(2.0, 2.0), (3.0, 3.0), (np.array(4.0), 4.0), (2, 2.0)]),
        ("applied", [(np.sinh, 1.0), (np.exp, 1.0), (lambda x: 3.0 * x, 3.0), (np.cosh, 0.0)]),
    ],
)
def test_closures(place: Place, made: str, values: Any) -> None:
    module = place.module("""
        def scaled(k):
            def f(x): return k * x
            def change(value):
                nonlocal k
                k = value
            return f, change
        def applied(k):
            def f(x): return k(x)
            def change(value):
                nonlocal k
                k = value
            return f, change
    """)
    f, change = getattr(module, made)(values[0][0])
    df = sg.grad(f)
    for value, expected in [*values, *values]:
        change(value)
        assert df(0.0) == pytest.approx(expected), value


def test_methods(place: Place) -> None:
    module = place.module("""
        class Model:
            scale = 2.0
            def __init__(self): self.own = 3.0
            def energy(self, x): return self.scale * self.own * x
            def __call__(self, x): return self.energy(x)
            @property
            def twice(self): return 2.0 * self.own
        model = Model()
        def f(x): return model.energy(x)
        def g(x): return model.twice * x
        def other(self, x): return 9.0 * x
        def another(self, x): return 10.0 * x
    """)
    df, dg, dm = sg.grad(module.f), sg.grad(module.g), sg.grad(module.model)
    assert (df(1.0), dg(1.0), dm(1.0)) == (6.0, 6.0, 6.0)
    module.model.own = 4.0
    assert (df(1.0), dg(1.0), dm(1.0)) == (8.0, 8.0, 8.0)
    module.Model.scale = 5.0
    assert (df(1.0), dm(1.0)) == (20.0, 20.0)
    module.Model.energy = module.other
    module.Model.twice = property(lambda self: 3.0 * self.own)
    assert (df(1.0), dg(1.0), dm(1.0)) == (9.0, 12.0, 9.0)
    module.Model.__call__ = module.another
    assert dm(1.0) == 10.0


CLASS_METHODS = """
    class Base:
        k = 2.0
        @classmethod
        def scaled(cls, x): return cls.k * x * x
        @staticmethod
        def plain(x): return 2.0 * x * x
        def own(self, x): return 2.0 * x * x
    class Model(Base): pass
    model = Model()
    def apply(f, x): return f(x)
    def of_class(x): return Model.scaled(x)
    def of_object(x): return model.scaled(x)
    def static(x): return Model.plain(x)
    def unbound(x): return Model.own(model, x)
    def passed(x): return apply(Model.scaled, x)
    def chosen(x): return {"a": Model.scaled}["a"](x)
"""


@pytest.mark.parametrize(
    "function",
    ["of_class", "of_object", "static", "unbound", "passed", "chosen"],
)
@pytest.mark.parametrize("holder", ["Base", "Model"])
def test_methods_of_classes_that_are_replaced(place: Place, function: str, holder: str) -> None:
    """In the class or in one below it, whether they are called or handed on."""
    module = place.module(CLASS_METHODS)
    df = sg.grad(getattr(module, function))
    assert df(1.5) == 6.0
    cls = getattr(module, holder)
    cls.scaled = classmethod(lambda cls, x: 7.0 * x)
    cls.plain = staticmethod(lambda x: 7.0 * x)
    cls.own = lambda self, x: 7.0 * x
    assert df(1.5) == 7.0
    assert sg.grad(getattr(module, function))(1.5) == 7.0


# ---- files and cells -----------------------------------------------------------


def test_a_callee_in_another_file_is_edited(place: Place) -> None:
    place.module("def inner(x):\n    return 2.0 * x\n", "stale_callee")
    module = place.module("""
        import stale_callee
        from stale_callee import inner
        def by_module(x): return stale_callee.inner(x)
        def by_name(x): return inner(x)
    """)
    df, dg = sg.grad(module.by_module), sg.grad(module.by_name)
    assert (df(1.0), dg(1.0)) == (2.0, 2.0)
    place.write("stale_callee", "# edited\ndef inner(x):\n    return 33.0 * x\n")
    importlib.reload(sys.modules["stale_callee"])
    assert df(1.0) == 33.0
    assert dg(1.0) == module.by_name(1.0) == 2.0  # the name still stands for the old function
    module.inner = sys.modules["stale_callee"].inner
    assert dg(1.0) == 33.0


def test_a_file_edited_but_not_imported_again_is_refused(place: Place) -> None:
    module = place.module("def f(x):\n    return 2.0 * x\n")
    place.write(module.__name__, "def f(x):\n    return 33.0 * x\n")
    with pytest.raises(sg.SrcgradError, match="file has changed since"):
        sg.grad(module.f)(1.0)


def cell(names: dict[str, Any], text: str) -> None:
    """Run a cell as a notebook does: a file name of its own, known to `linecache`."""
    name = f"<stale cell {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)


def test_a_notebook_cell_that_is_run_again() -> None:
    names: dict[str, Any] = {"__name__": "__main__", "sg": sg}
    cell(names, "def h(x):\n    return 2.0 * x\n\ndef f(x):\n    return h(x)\n")
    cell(names, "df = sg.grad(f)\na = df(1.0)")
    cell(names, "def h(x):\n    return 5.0 * x\n")
    cell(names, "b = df(1.0)")
    cell(names, "def f(x):\n    return 7.0 * x\n")
    cell(names, "c, d = df(1.0), sg.grad(f)(1.0)")
    assert [names[k] for k in "abcd"] == [2.0, 5.0, 5.0, 7.0]


# ---- rules ---------------------------------------------------------------------


def test_rules_and_overrides(place: Place) -> None:
    module = place.module("""
        def target(x): return x * x
        def f(x): return target(x)
    """)
    df = sg.grad(module.f)
    assert df(3.0) == 6.0

    @sg.rule(module.target)
    def hundred(g, out, x):
        return 100.0 * g

    assert df(3.0) == 100.0

    @sg.rule(module.target, replace=True)
    def other(g, out, x):
        return 200.0 * g

    assert df(3.0) == 200.0
    with sg.override({module.target: lambda g, out, x: 5.0 * g}):
        assert df(3.0) == 5.0
        with sg.override({module.target: lambda g, out, x: 6.0 * g}):
            assert df(3.0) == 6.0
        assert df(3.0) == 5.0
    assert df(3.0) == 200.0
    assert sg.grad(module.f, rules={module.target: hundred})(3.0) == 100.0


# ---- derivatives of derivatives, and compiled ones -----------------------------


def test_derivatives_that_were_seen_through(place: Place) -> None:
    module = place.module(
        "K = 2.0\ndef inner(x):\n    return x**3\ndef f(x):\n    return inner(x)\n"
    )
    other = place.module("def inner(x):\n    return x**4\n")
    second, product = sg.grad(sg.grad(module.f)), sg.hvp(module.f)
    assert (second(1.0), product(1.0, 1.0)) == (6.0, 6.0)
    module.inner = other.inner
    assert (second(1.0), product(1.0, 1.0)) == (12.0, 12.0)


def test_what_numba_froze(place: Place) -> None:
    pytest.importorskip("numba")
    module = place.module("""
        K = 2.0
        def inner(x): return K * x
        def f(x): return inner(x)
    """)
    other = place.module("def inner(x):\n    return 7.0 * x\n")
    df = sg.grad(module.f, backend="numba")
    assert df(1.0) == 2.0
    module.K = 3.0
    assert df(1.0) == 3.0
    module.inner = other.inner
    assert df(1.0) == 7.0


def test_a_module_that_is_imported_anew(place: Place) -> None:
    """`del sys.modules[...]` and import: another module of the same name and text."""
    text = "K = [2.0]\ndef f(x):\n    return K[0] * x\n"
    first = place.module(text, "stale_again")
    df = sg.grad(first.f)
    assert df(1.0) == 2.0
    del sys.modules["stale_again"]
    second = place.module(text, "stale_again")
    second.K[0] = 5.0
    assert sg.grad(second.f)(1.0) == 5.0
    assert df(1.0) == 2.0  # that of the first module, which is still there


# ---- what is changed without a name being bound anew -----------------------------


def test_default_values_changed_in_their_dictionary(place: Place) -> None:
    module = place.module("""
        import numpy as np
        def inner(x, *, k=2.0, fn=np.sin): return k * fn(x)
        def f(x): return inner(x)
    """)
    own, called = sg.grad(module.inner), sg.grad(module.f)
    assert (own(0.0), called(0.0)) == (2.0, 2.0)
    module.inner.__kwdefaults__["k"] = 3.0
    assert (own(0.0), called(0.0)) == (3.0, 3.0)
    module.inner.__kwdefaults__["fn"] = np.sinh
    assert (own(1.0), called(1.0)) == (pytest.approx(3.0 * np.cosh(1.0)),) * 2


def test_a_partial_that_is_changed(place: Place) -> None:
    module = place.module("""
        from functools import partial
        def inner(x, k=1.0, n=1.0): return k * x + n * x
        held = partial(inner, k=2.0)
        def f(x): return held(x)
    """)
    own, called = sg.grad(module.held), sg.grad(module.f)
    assert (own(1.0), called(1.0)) == (3.0, 3.0)
    module.held.keywords["k"] = 5.0
    assert (own(1.0), called(1.0)) == (6.0, 6.0)
    module.held.keywords["n"] = 2.0
    assert (own(1.0), called(1.0)) == (7.0, 7.0)
    module.held.__setstate__((module.inner, (), {"k": 9.0}, {}))
    assert (own(1.0), called(1.0)) == (10.0, 10.0)


def test_an_object_that_gets_a_method_or_a_class(place: Place) -> None:
    module = place.module("""
        class Model:
            def energy(self, x): return 2.0 * x
        class Other:
            def energy(self, x): return 7.0 * x
        model = Model()
        def own(x): return 9.0 * x
        def f(x): return model.energy(x)
        def given(x, model): return model.energy(x)
    """)
    df, dg = sg.grad(module.f), sg.grad(module.given)
    assert (df(1.0), dg(1.0, module.model)) == (2.0, 2.0)
    module.model.energy = module.own
    assert df(1.0) == 9.0
    with pytest.raises(sg.SrcgradError, match="energy: its object is not known"):
        dg(1.0, module.model)
    del module.model.energy
    assert (df(1.0), dg(1.0, module.model)) == (2.0, 2.0)
    module.model.__class__ = module.Other
    assert (df(1.0), dg(1.0, module.model)) == (7.0, 7.0)


FROZEN = """
import numpy as np
WEIGHTS, PAIR = np.ones(3), (np.ones(3), 2.0)
def default(x, w=WEIGHTS): return np.sum(w * x)
def called(x): return default(x)
def pair(x): return np.sum(PAIR[0] * x) * PAIR[1]
def make():
    held = np.ones(3)
    def closed(x): return np.sum(held * x)
    def through(x):
        def inner(n): return held[n]
        return inner(0) * x + 2.0 * x
    return closed, through, held
closed, through, HELD = make()
"""


@pytest.mark.parametrize(
    ("function", "array", "before", "after"),
    [
        ("default", "WEIGHTS", 3.0, 7.0),
        ("called", "WEIGHTS", 3.0, 7.0),
        ("pair", "PAIR", 6.0, 14.0),
        ("closed", "HELD", 3.0, 7.0),
        ("through", "HELD", 3.0, 7.0),
    ],
)
def test_arrays_that_numba_froze(
    place: Place, function: str, array: str, before: float, after: float
) -> None:
    pytest.importorskip("numba")
    module = place.module(FROZEN)
    df = sg.grad(getattr(module, function), backend="numba")
    assert df(1.0) == before
    held = getattr(module, array)
    (held[0] if isinstance(held, tuple) else held)[0] = 5.0
    assert df(1.0) == sg.grad(getattr(module, function), backend="numba")(1.0) == after


BY_ITSELF = """
import numpy as np
import srcgrad as sg
from scipy import stats

def square(x): return x * x
def cube(x): return x * x * x

class Act:
    def __call__(self, x): return 3.0 * x

HELD = None
def calls(x): return HELD(x)
def density(x): return HELD.logpdf(x)
def capture(held):
    def f(x): return held(x)
    def put(other):
        nonlocal held
        held = other
    return f, put
"""


@pytest.mark.parametrize(
    ("function", "objects", "expected"),
    [
        ("calls", ["sg.grad(square)", "sg.grad(cube)"], [2.0, 3.0]),
        ("calls", ["sg.grad(cube)", "sg.grad(sg.grad(cube))"], [3.0, 6.0]),
        ("calls", ["sg.hessian(cube)", "sg.hessian(square)"], [6.0, 0.0]),
        ("calls", ["sg.jacobian(square)", "sg.jacobian(cube)"], [2.0, 3.0]),
        ("calls", ["np.poly1d([1.0, 0.0])", "np.poly1d([4.0, 0.0])"], [1.0, 4.0]),
        ("density", ["stats.norm(0.0, 2.0)", "stats.norm(1.5)"], [-0.125, 1.0]),
        ("density", ["stats.norm(0.0, 2.0)", "stats.cauchy(0.0, 1.0)"], [-0.125, -0.8]),
    ],
)
def test_an_object_whose_class_does_not_say_all(
    place: Place, function: str, objects: list[str], expected: list[float]
) -> None:
    """Derivatives, frozen distributions: another in the same place is of the same class."""
    module = place.module(BY_ITSELF)
    f = getattr(module, function)
    df, tangent = sg.grad(f), sg.jvp(f)
    made = [eval(text, vars(module)) for text in objects]
    for held, slope in [*zip(made, expected, strict=True)] * 2:
        module.HELD = held
        assert df(0.5) == pytest.approx(slope)
        assert tangent(1.0, 0.5)[1] == pytest.approx(slope)


def test_a_captured_derivative_that_is_another(place: Place) -> None:
    module = place.module(BY_ITSELF)
    f, put = module.capture(sg.grad(module.square))
    df = sg.grad(f)
    assert df(0.5) == 2.0
    put(sg.grad(module.cube))
    assert df(0.5) == 3.0


def test_an_object_that_can_be_called_and_has_a_rule(place: Place) -> None:
    module = place.module(BY_ITSELF)
    module.HELD = ruled = module.Act()
    df = sg.grad(module.calls)
    assert df(0.5) == 3.0

    @sg.rule(ruled)
    def act_rule(g, out, x):
        return 100.0 * g

    assert df(0.5) == 100.0
    module.HELD = module.Act()
    assert df(0.5) == 3.0
    with sg.override({module.HELD: lambda g, out, x: 7.0 * g}):
        assert df(0.5) == 7.0
        module.HELD = module.Act()
        assert df(0.5) == 3.0


DISPATCHED = """
import functools
@functools.singledispatch
def size(x): return 2.0 * x
def f(x): return size(x) + x
"""


def test_an_implementation_that_is_registered_later(place: Place) -> None:
    module = place.module(DISPATCHED)
    df, other = sg.grad(module.f), sg.grad(module.f)
    assert df(0.5) == 3.0
    module.size.register(float)(lambda x: x * x)
    assert df(0.5) == 2.0 == other(0.5)
    module.size.register(float)(lambda x: x * x * x)
    assert df(0.5) == 1.75 == other(0.5)
    assert df(0.5) == 1.75
