"""Starting from the cache: the compiler is skipped, and never when anything is different."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad as sg
from srcgrad import pipeline, warm
from srcgrad.rules import custom
from srcgrad.runtime import cache

ROOT = Path(__file__).parents[1]
HELPERS = """
import numpy as np

def inner(x, k=2.0):
    return k * x * x

def other(x, k=2.0):
    return 7.0 * x
"""
MODEL = """
import numpy as np
import warm_helpers
from warm_helpers import inner

K, N, FLAG, ACT, TABLE = 1.5, 3, True, np.tanh, np.ones(3)

def f(x, w=2.0):
    s = ACT(x) * K if FLAG else x
    for i in range(N):
        s = s + inner(x) * TABLE[0]
    return s * w
"""


class Place:
    """Modules that are written, and imported as if for the first time."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.compilations = folder, 0
        plain = pipeline.compile_request

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.compilations += 1
            return plain(*args, **kwargs)

        patch.setattr(pipeline, "compile_request", counted)

    def module(self, model: str = MODEL, helpers: str = HELPERS) -> ModuleType:
        for name, text in (("warm_helpers", helpers), ("warm_model", model)):
            (self.folder / f"{name}.py").write_text(textwrap.dedent(text))
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("warm_model")

    def compiled(self, module: ModuleType, *args: Any, **options: Any) -> tuple[Any, int]:
        """The gradient in a derivative made anew, and how often the compiler ran for it."""
        before = self.compilations
        found = sg.grad(module.f, **options)(*args)
        return found, self.compilations - before


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SRCGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(custom, "_version", 0)  # other tests registered rules
    cache._verdicts.clear()
    yield Place(tmp_path, monkeypatch)
    cache._verdicts.clear()
    for name in ("warm_model", "warm_helpers"):
        sys.modules.pop(name, None)


def slope(x: float, act: Any = None, k: float = 1.5, n: int = 3, scale: float = 4.0) -> float:
    """The derivative of f by hand; `act` is that of ACT."""
    act = 1.0 - np.tanh(x) ** 2 if act is None else act
    return 2.0 * (act * k + n * scale * x)


def test_the_second_time_nothing_is_compiled(place: Place) -> None:
    assert place.compiled(place.module(), 0.5) == (pytest.approx(slope(0.5)), 1)
    assert place.compiled(place.module(), 0.5) == (pytest.approx(slope(0.5)), 0)
    assert place.compiled(place.module(), 0.5, specialize=False)[1] == 1
    module = place.module()
    df = sg.grad(module.f)
    df(0.5)
    module.inner = sys.modules["warm_helpers"].other  # what was read is watched as ever
    assert df(0.5) == pytest.approx(slope(0.5, scale=0.0) + 42.0)


def test_texts_and_tracebacks_are_the_same(place: Place) -> None:
    said = []
    for _ in range(2):
        df = sg.vjp(place.module().f, wrt=("x", "w"))
        with pytest.raises(ValueError, match="broadcast") as caught:
            df(np.ones(3), np.ones(3), np.ones(2))
        said.append((df.source, df.path, df._last.origins(), caught.value.__notes__))
    assert said[0] == said[1]
    assert said[0][2]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return k * x * x", "return k * x", slope(0.5, scale=0.0) + 2.0 * 3 * 2.0),
        ("k=2.0", "k=5.0", slope(0.5, scale=10.0)),
        ("    return k * x * x", "    # the same\n    return k * x * x", slope(0.5)),
    ],
)
def test_a_callee_in_another_file_is_edited(
    place: Place, old: str, new: str, expected: float
) -> None:
    place.compiled(place.module(), 0.5)
    module = place.module(helpers=HELPERS.replace(old, new, 1))
    assert place.compiled(module, 0.5) == (pytest.approx(expected), 1)


@pytest.mark.parametrize(
    ("old", "new", "expected", "compilations"),
    [
        ("K, N, FLAG", "K, N, FLAG", slope(0.5), 0),
        ("= 1.5, 3,", "= 2.5, 3,", slope(0.5, k=2.5), 0),  # read live: of a number the type counts
        ("= 1.5, 3,", "= 2, 3,", slope(0.5, k=2), 1),
        ("= 1.5, 3,", "= np.float64(1.5), 3,", slope(0.5), 1),
        (", 3, True", ", 4, True", slope(0.5, n=4), 0),
        ("True, np.tanh", "False, np.tanh", slope(0.5, act=1.0, k=1.0), 1),
        ("np.tanh,", "np.sin,", slope(0.5, act=np.cos(0.5)), 1),
        ("np.tanh,", "(lambda x: 3.0 * x),", slope(0.5, act=3.0), 1),
        ("np.ones(3)", "np.ones((1, 1))[0]", slope(0.5), 1),
        ("np.ones(3)", "[2.0]", slope(0.5, scale=8.0), 1),
        ("import inner", "import other as inner", slope(0.5, scale=0.0) + 42.0, 1),
        ("return s * w", "return s * w * 2.0", 2 * slope(0.5), 1),
        ("w=2.0", "w=4.0", 2 * slope(0.5), 1),
        ("def f", "\ndef f", slope(0.5), 1),  # the text names the line
        ("return s * w\n", "return s * w\n\nabs = np.exp\n", slope(0.5), 0),
    ],
)
def test_the_module_is_edited(
    place: Place, old: str, new: str, expected: float, compilations: int
) -> None:
    place.compiled(place.module(), 0.5)
    assert old in MODEL
    module = place.module(MODEL.replace(old, new, 1))
    assert place.compiled(module, 0.5) == (pytest.approx(expected), compilations)


def test_a_builtin_that_is_shadowed_later(place: Place) -> None:
    text = "import numpy as np\n\ndef f(x):\n    return abs(x)\n"
    assert place.compiled(place.module(text), -0.5) == (-1.0, 1)
    assert place.compiled(place.module(text), -0.5) == (-1.0, 0)
    found = place.compiled(place.module(text + "\nabs = np.exp\n"), -0.5)
    assert found == (pytest.approx(np.exp(-0.5)), 1)


LIBRARY = """
import functools, operator
import numpy as np
from scipy import stats
def scaled(k, x): return k * x
HELD = {}
def f(x):
    return HELD(x)
"""


@pytest.mark.parametrize(
    ("held", "expected", "again"),
    [
        ("functools.partial(scaled, 2.0)", 2.0, 1),
        ("functools.partial(scaled, 5.0)", 5.0, 1),
        ("stats.norm.logpdf", -0.5, 0),
        ("stats.cauchy.logpdf", -0.8, 0),
        ("operator.neg", -1.0, 0),
    ],
)
def test_objects_of_libraries_are_told_apart(
    place: Place, held: str, expected: float, again: int
) -> None:
    """By their place in the library; what has none is compiled as ever."""
    other = place.module(LIBRARY.replace("{}", "stats.logistic.logpdf"))
    place.compiled(other, 0.5)
    text = LIBRARY.replace("{}", held)
    assert place.compiled(place.module(text), 0.5) == (pytest.approx(expected), 1)
    assert place.compiled(place.module(text), 0.5) == (pytest.approx(expected), again)


def test_modes_types_and_options_are_questions_of_their_own(place: Place) -> None:
    made = [
        lambda f: sg.grad(f)(0.5),
        lambda f: sg.grad(f)(0.5, 3.0),
        lambda f: sg.grad(f, wrt="w")(0.5),
        lambda f: sg.grad(f, wrt=("x",))(0.5),
        lambda f: sg.value_and_grad(f)(0.5),
        lambda f: sg.vjp(f)(1.0, 0.5),
        lambda f: sg.jvp(f)(1.0, 0.5),
        lambda f: sg.vjp(f)(np.ones(2), np.array([0.5, 0.1])),
        lambda f: sg.grad(f)(np.float32(0.5)),
        lambda f: sg.hvp(f)(1.0, 0.5),
    ]
    first = [repr(make(place.module().f)) for make in made]
    before = place.compilations
    assert [repr(make(place.module().f)) for make in made] == first
    assert place.compilations == before
    assert len(set(first)) > 6


def test_rules_are_compiled_as_ever(place: Place) -> None:
    place.compiled(place.module(), 0.5)
    with sg.override({np.tanh: lambda g, out, x: 0.0 * g}):
        assert place.compiled(place.module(), 0.5) == (pytest.approx(slope(0.5, act=0.0)), 1)
    rules = {np.tanh: lambda g, out, x: 2.0 * g}
    found = place.compiled(place.module(), 0.5, rules=rules)
    assert found == (pytest.approx(slope(0.5, act=2.0)), 1)
    module = place.module()

    @sg.rule(module.inner)
    def inner_rule(g, out, x, k):
        return 0.0 * g * x, None

    assert place.compiled(module, 0.5) == (pytest.approx(slope(0.5, scale=0.0)), 1)


def test_other_versions_are_asked_anew(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.compiled(place.module(), 0.5)
    for target in ("srcgrad.warm.__version__", "numpy.__version__"):
        warm._environment.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(target, "9.9")
            assert place.compiled(place.module(), 0.5)[1] == 1
    warm._environment.cache_clear()
    assert place.compiled(place.module(), 0.5)[1] == 0


def test_what_can_not_be_described_is_compiled(place: Place) -> None:
    text = """
        from functools import partial
        def make(k):
            def f(x): return k * x
            return f
        p = partial(make(5.0))
    """
    for _ in range(2):
        module = place.module(text)
        before = place.compilations
        assert sg.grad(module.p)(1.0) == 5.0
        assert place.compilations == before + 1


CLOSURES = """
import numpy as np

class Base:
    rate = 2.0
    def energy(self, x): return self.rate * self.own * x

class Model(Base):
    def __init__(self, own=1.0): self.own = own

def make(k, act):
    def inner(x): return k * act(x)
    def f(x): return inner(x) + x
    return f

f, other = make(3.0, np.sin), make(5.0, np.sin)
model = Model()
bound = model.energy
def by_object(x): return model.energy(x)
def by_class(x): return Base.rate * x
def made_inside(x): return Model(x).energy(1.0)
"""


def slopes(module: ModuleType) -> list[float]:
    named = ("f", "other", "bound", "by_object", "by_class", "made_inside")
    return [float(sg.grad(getattr(module, name))(0.0)) for name in named]


def test_closures_and_methods_are_not_compiled_again(place: Place) -> None:
    expected = [4.0, 6.0, 2.0, 2.0, 2.0, 2.0]
    assert slopes(place.module(CLOSURES)) == expected
    before = place.compilations
    module = place.module(CLOSURES)
    assert slopes(module) == expected
    assert place.compilations == before
    module.model.own, module.Base.rate = 3.0, 4.0  # read live, as ever
    assert slopes(module) == [4.0, 6.0, 12.0, 12.0, 4.0, 4.0]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return k * act(x)", "return 2.0 * k * act(x)", [7.0, 11.0, 2.0, 2.0, 2.0, 2.0]),
        ("make(3.0, np.sin)", "make(3.0, lambda v: 7.0 * v)", [22.0, 6.0, 2.0, 2.0, 2.0, 2.0]),
        ("make(3.0, np.sin)", "make(np.array(9.0), np.sin)", [10.0, 6.0, 2.0, 2.0, 2.0, 2.0]),
        ("self.rate * self.own", "3.0 * self.rate", [4.0, 6.0, 6.0, 6.0, 2.0, 0.0]),
        ("    def __init__", "    def energy(self, x): return 9.0 * x\n    def __init__",
         [4.0, 6.0, 9.0, 9.0, 2.0, 0.0]),
        ("class Model(Base)", "class Middle(Base):\n    rate = 8.0\n\nclass Model(Middle)",
         [4.0, 6.0, 8.0, 8.0, 2.0, 8.0]),
        ("model = Model()", "model = Model()\nmodel.energy = np.exp",
         [4.0, 6.0, 1.0, 1.0, 2.0, 2.0]),
    ],
)  # fmt: skip
def test_closures_and_classes_are_edited(
    place: Place, old: str, new: str, expected: list[float]
) -> None:
    slopes(place.module(CLOSURES))
    assert slopes(place.module(CLOSURES.replace(old, new, 1))) == expected


INSIDE = """
import numpy as np
import srcgrad as sg
from warm_helpers import inner, other

def make(k):
    def scaled(x): return k * x * x
    return scaled

scaled, GRADIENT = make(3.0), sg.grad(inner)

def nested(a):
    def loss(w): return (w - a) ** 2 + other(w)
    return sg.grad(loss)(1.0) + sg.grad(lambda w: a * w * w)(a)

def of_module(a): return GRADIENT(a) * a
def by_global(a): return scaled(a)
"""


def inside(module: ModuleType) -> list[float]:
    names = ("nested", "of_module", "by_global")
    found = [float(sg.grad(getattr(module, name))(2.0)) for name in names]
    return [*found, float(sg.grad(sg.grad(module.scaled))(2.0)), sg.hvp(module.scaled)(1.0, 2.0)]


def test_derivatives_inside_and_of_closures_are_not_compiled_again(place: Place) -> None:
    expected = [6.0, 16.0, 12.0, 6.0, 6.0]
    texts = []
    for round_ in range(2):
        before = place.compilations
        module = place.module(INSIDE)
        assert inside(module) == expected
        assert (place.compilations == before) == (round_ > 0)
        texts.append([sg.grad(module.nested).source, sg.grad(module.of_module).source])
    assert texts[0] == texts[1]
    module.GRADIENT = sg.grad(module.inner, wrt="k")  # what was read is watched as ever
    assert sg.grad(module.of_module)(2.0) == 12.0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(w - a) ** 2", "(w - 2.0 * a) ** 2", [4.0, 16.0, 12.0, 6.0, 6.0]),
        ("a * w * w", "w * w", [0.0, 16.0, 12.0, 6.0, 6.0]),
        ("make(3.0)", "make(5.0)", [6.0, 16.0, 20.0, 10.0, 10.0]),
        ("k * x * x", "k * x", [6.0, 16.0, 3.0, 0.0, 0.0]),
        ("sg.grad(inner)", "sg.grad(inner, wrt='k')", [6.0, 12.0, 12.0, 6.0, 6.0]),
        ("sg.grad(inner)", "sg.grad(other)", [6.0, 7.0, 12.0, 6.0, 6.0]),
        ("sg.grad(inner)", "sg.grad(sg.grad(inner))", [6.0, 4.0, 12.0, 6.0, 6.0]),
        ("sg.grad(inner)", "sg.grad(make(2.0))", [6.0, 16.0, 12.0, 6.0, 6.0]),
    ],
)
def test_derivatives_inside_are_never_stale(
    place: Place, old: str, new: str, expected: list[float]
) -> None:
    inside(place.module(INSIDE))
    assert old in INSIDE
    assert inside(place.module(INSIDE.replace(old, new, 1))) == expected


def test_a_callee_of_a_derivative_inside_is_edited(place: Place) -> None:
    inside(place.module(INSIDE))
    helpers = HELPERS.replace("k=2.0", "k=3.0").replace("7.0 * x", "7.0 * x * x")
    assert inside(place.module(INSIDE, helpers)) == [6.0, 24.0, 12.0, 6.0, 6.0]


GIVEN = """
import numpy as np
from warm_helpers import inner
def make(k):
    def scaled(x): return k * x * x
    return scaled
def apply(g, x): return g(x) * x
closure, plain, ufunc = make(3.0), (lambda x: inner(x)), np.square
"""


@pytest.mark.parametrize(
    ("old", "new", "expected", "compiled"),
    [
        ("make(3.0)", "make(3.0)", [36.0, 24.0, 12.0], 0),
        ("make(3.0)", "make(5.0)", [60.0, 24.0, 12.0], 0),  # read live: its type counts
        ("make(3.0)", "make(5)", [60.0, 24.0, 12.0], 1),
        ("k * x * x", "k * x", [12.0, 24.0, 12.0], 1),
        ("(lambda x: inner(x))", "(lambda x: 2.0 * inner(x))", [36.0, 48.0, 12.0], 1),
        ("import inner", "import other as inner", [36.0, 28.0, 12.0], 1),
        ("np.square", "np.negative", [36.0, 24.0, -4.0], 1),
        ("g(x) * x", "g(x) + x", [13.0, 9.0, 5.0], 3),
    ],
)
def test_functions_that_are_given(
    place: Place, old: str, new: str, expected: list[float], compiled: int
) -> None:
    def slopes(module: ModuleType) -> list[float]:
        given = (module.closure, module.plain, module.ufunc)
        return [float(sg.grad(module.apply, wrt="x")(g, 2.0)) for g in given]

    assert slopes(place.module(GIVEN)) == [36.0, 24.0, 12.0]
    assert old in GIVEN
    module, before = place.module(GIVEN.replace(old, new, 1)), place.compilations
    assert slopes(module) == expected
    assert place.compilations == before + compiled


FROZEN = """
from scipy import stats
DIST = stats.norm(0.0, 2.0)
def f(x): return DIST.logpdf(x)
"""


@pytest.mark.parametrize(
    ("other", "expected"), [("norm(0.0, 1.0)", -0.5), ("cauchy(0.0, 1.0)", -0.8)]
)
def test_a_frozen_distribution_is_another(place: Place, other: str, expected: float) -> None:
    assert place.compiled(place.module(FROZEN), 0.5)[0] == -0.125
    module = place.module(FROZEN.replace("norm(0.0, 2.0)", other))
    assert place.compiled(module, 0.5)[0] == pytest.approx(expected)


COMPILED = """
import numpy as np
from numba import njit

K, WEIGHTS = 2.0, np.ones(3)

def inner(x):
    return K * x

@njit
def f(x):
    s = 0.0
    for i in range(3):
        s += inner(x) * WEIGHTS[i]
    return s
"""


@pytest.mark.parametrize(
    ("old", "new", "expected", "compilations"),
    [
        ("K, W", "K, W", 6.0, 0),
        ("K, WEIGHTS = 2.0", "K, WEIGHTS = 3.0", 9.0, 1),
        ("np.ones(3)", "np.ones(3) + 1.0", 12.0, 1),
        ("np.ones(3)", "np.array([1, 1, 1])", 6.0, 1),
        ("return K * x", "return K * x * 2.0", 12.0, 1),
        ("@njit", "@njit(fastmath=True)", 6.0, 1),
    ],
)
def test_compiled_derivatives(
    place: Place, old: str, new: str, expected: float, compilations: int
) -> None:
    """What Numba froze is in the answer, by its value."""
    pytest.importorskip("numba")
    assert place.compiled(place.module(COMPILED), 1.0) == (6.0, 1)
    module = place.module(COMPILED.replace(old, new, 1))
    assert place.compiled(module, 1.0) == (expected, compilations)
    df = sg.grad(module.f)
    assert df(1.0) == expected
    module.WEIGHTS[0] += 1.0
    assert df(1.0) > expected


OTHER_KINDS = """
import numpy as np
from enum import Enum
from numba import njit

class Kind(Enum):
    A = 1
    B = 2

PART, KIND, WORD, PARTS = slice(1, -1), Kind.A, b"ab", (slice(0, 2), 1)

@njit
def f(x):
    s = 2.0 if KIND == Kind.A else 3.0
    return s * WORD[0] * (x[PART].sum() + x[PARTS[0]].sum())
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("slice(1, -1)", "slice(2, -1)"),
        ("slice(0, 2)", "slice(1, 2)"),
        ("KIND, WORD, PARTS = slice(1, -1), Kind.A", "KIND, WORD, PARTS = slice(1, -1), Kind.B"),
        ('b"ab"', 'b"bb"'),
    ],
)
def test_frozen_values_of_other_kinds(place: Place, old: str, new: str) -> None:
    """Slices, members of an Enum, bytes: another value is another compilation."""
    pytest.importorskip("numba")
    x = np.arange(5.0)
    first, _ = place.compiled(place.module(OTHER_KINDS), x)
    np.testing.assert_array_equal(first, 194.0 * np.array([1.0, 2.0, 1.0, 1.0, 0.0]))
    assert old in OTHER_KINDS
    module = place.module(OTHER_KINDS.replace(old, new, 1))
    again, compilations = place.compiled(module, x)
    e, h = np.eye(5), 0.5
    slopes = [(module.f.py_func(x + h * d) - module.f.py_func(x - h * d)) / (2 * h) for d in e]
    np.testing.assert_allclose(again, slopes)
    assert compilations == 1
    assert not np.array_equal(again, first)


def test_damaged_answers_are_made_again(place: Place) -> None:
    place.compiled(place.module(), 0.5)
    for damage in (b"", b"{}", b'{"check": 1}'):
        for file in (place.folder / "cache" / ".index").iterdir():
            file.write_bytes(damage)
        assert place.compiled(place.module(), 0.5) == (pytest.approx(slope(0.5)), 1)
    assert place.compiled(place.module(), 0.5)[1] == 0


def twice(folder: Path, program: str) -> list[list[str]]:
    """What a program prints in two processes, the second with a filled cache."""
    return [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)], check=True, capture_output=True,
            text=True, cwd=folder,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
                 "SRCGRAD_CACHE_DIR": str(folder / "cache")},
        ).stdout.split()
        for _ in range(2)
    ]  # fmt: skip


def test_another_process_does_not_load_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "warm_helpers.py").write_text(HELPERS)
    (tmp_path / "warm_model.py").write_text(MODEL)
    said = twice(
        tmp_path,
        """
        import sys, warm_model, srcgrad as sg
        print(sg.grad(warm_model.f)(0.5), *(name in sys.modules for name in
              ("srcgrad.pipeline", "srcgrad.ir.nodes", "srcgrad.analysis.targets")))
        """,
    )
    assert said[0] == [said[1][0], "True", "True", "True"]
    assert said[1][1:] == ["False", "False", "False"]


@pytest.mark.parametrize(("body", "helps"), [("x * x", "False"), ("max(x, 0.5) ** x", "True")])
def test_another_process_loads_for_numba_what_the_text_needs(
    tmp_path: Path, body: str, helps: str
) -> None:
    """Neither tables of rules, nor compiled forms of helpers that the text does not call."""
    pytest.importorskip("numba")
    (tmp_path / "warm_jitted.py").write_text(
        f"from numba import njit\n\n\n@njit(cache=True)\ndef f(x):\n    return {body}\n"
    )
    said = twice(
        tmp_path,
        """
        import sys, warm_jitted, srcgrad as sg
        df = sg.grad(warm_jitted.f)
        print(df(0.7), "srcgrad.rules.ufuncs" in sys.modules,
              "srcgrad.runtime.overloads" in sys.modules, "srcgrad.runtime" in df.source)
        """,
    )
    assert said[0][0] == said[1][0]
    assert said[0][1:3] == ["True", "True"]
    assert said[1][1:] == ["False", helps, helps]


SCRIPT = """
import numpy as np
import srcgrad as sg
from srcgrad import pipeline

compilations, plain = 0, pipeline.compile_request
def counted(*args):
    global compilations
    compilations += 1
    return plain(*args)
pipeline.compile_request = counted

RATE = 3.0
class Model:
    def __init__(self, k): self.k = k
    def energy(self, x): return RATE * self.k * x
def f(x): return Model(x).energy(x) * RATE
print(sg.grad(f)(2.0), compilations)
"""


def test_scripts_start_from_the_cache_too(tmp_path: Path) -> None:
    """Their names are found in the globals of the function, as no import finds them."""
    file = tmp_path / "script.py"
    said = []
    for rate in ("3.0", "3.0", "2.0"):
        file.write_text(SCRIPT.replace("RATE = 3.0", f"RATE = {rate}"))
        env = {**os.environ, "PYTHONPATH": str(ROOT), "SRCGRAD_CACHE_DIR": str(tmp_path / "c")}
        command = [sys.executable, str(file)]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=120, check=True
        )
        said.append(done.stdout.strip())
    assert said == ["36.0 1", "36.0 0", "16.0 1"]  # the class is in a file that changed
