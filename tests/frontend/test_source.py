"""Reading the source of everything that can be called."""

from __future__ import annotations

import ast
import functools
import importlib
import linecache
import os
import subprocess
import sys
import textwrap
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from srcgrad.errors import SourceUnavailable
from srcgrad.frontend import parsed
from srcgrad.frontend.source import read

Make = Callable[[str], types.ModuleType]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes and imports (or writes again and reloads) a module."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    name = "made_for_test_source"

    def write(text: str) -> types.ModuleType:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        importlib.invalidate_caches()
        if name in sys.modules:
            return importlib.reload(sys.modules[name])
        return importlib.import_module(name)

    yield write
    sys.modules.pop(name, None)


def refusal(fn: Any) -> str:
    with pytest.raises(SourceUnavailable) as caught:
        read(fn)
    return str(caught.value)


# ---- what can be read ------------------------------------------------------

CLASSES = """
    import functools

    class A:
        def plain(self, x):
            return x + 1

        @classmethod
        def of_class(cls, x):
            return x + 2

        @staticmethod
        def static(x):
            return x + 3

        def __call__(self, x):
            return x + 4

        @functools.lru_cache
        def cached(self, x):
            return x + 5

    class B(A):
        pass
"""


def test_methods_and_callable_objects(make: Make) -> None:
    m = make(CLASSES)
    a, b = m.A(), m.B()
    expected: list[tuple[Any, str, tuple[Any, ...]]] = [
        (a.plain, "plain", (a,)),
        (m.A.plain, "plain", ()),
        (b.of_class, "of_class", (m.B,)),
        (m.A.of_class, "of_class", (m.A,)),
        (a.static, "static", ()),
        (m.A.__dict__["static"], "static", ()),
        (b, "__call__", (b,)),
        (a.cached, "cached", (a,)),
    ]
    for fn, name, bound in expected:
        found = read(fn)
        assert isinstance(found.node, ast.FunctionDef)
        assert found.node.name == name
        assert found.bound == bound
        assert isinstance(found.fn, types.FunctionType)


def test_places_are_those_of_the_file(make: Make) -> None:
    m = make(CLASSES)
    found = read(m.A.static)
    assert (found.node.lineno, found.node.col_offset) == (13, 4)
    assert found.lines[found.node.lineno - 1] == "    def static(x):\n"
    assert found.text == "    @staticmethod\n    def static(x):\n        return x + 3\n"
    assert found.file == m.__file__


def test_partials(make: Make) -> None:
    m = make("class A:\n    def f(self, a, b, c=0, d=0): return a\n")
    a = m.A()
    inner = functools.partial(a.f, 1, c=3, d=4)
    found = read(functools.partial(inner, 2, d=5))
    assert found.bound == (a, 1, 2)
    assert found.bound_kwargs == {"c": 3, "d": 5}
    method = functools.partial(m.A.f, a)
    assert read(functools.partial(method, 7)).bound == (a, 7)


def test_lambdas_of_one_line(make: Make) -> None:
    m = make(
        """
        pair = (lambda x: x ** 2, lambda x: x ** 3)
        nested = lambda x: lambda y: x + y
        same = [lambda x: x, lambda x: x]
        constant = [lambda: 0, lambda: 1, lambda x: x, lambda: (lambda: 0)]
        wide = {"\u00e9": lambda x: x * 2.0, "b": lambda x: x * 3.0}
        lines = (lambda x:
                 x + 1)
        default = lambda x, f=lambda y: y: f(x)
        """
    )
    texts = {
        "lambda x: x ** 2": m.pair[0],
        "lambda x: x ** 3": m.pair[1],
        "lambda x: lambda y: x + y": m.nested,
        "lambda y: x + y": m.nested(1),
        "lambda: 0": m.constant[0],
        "lambda: 1": m.constant[1],
        "lambda x: x": m.constant[2],
        "lambda: (lambda: 0)": m.constant[3],
        "lambda x: x * 2.0": m.wide["\u00e9"],
        "lambda x: x * 3.0": m.wide["b"],
        "lambda x:\n         x + 1": m.lines,
        "lambda x, f=lambda y: y: f(x)": m.default,
        "lambda y: y": m.default.__defaults__[0],
    }
    for text, fn in texts.items():
        assert read(fn).text == text
    assert read(m.same[0]).node is not read(m.same[1]).node


def test_lambdas_without_recorded_columns(tmp_path: Path) -> None:
    (tmp_path / "lambdas.py").write_text(
        "from srcgrad.frontend.source import read\n"
        "a, b = lambda x: x ** 2, lambda x: x * 3\n"
        "print(read(a).text, read(b).text, sep='|')\n"
        "c, d = lambda x: x[0], lambda  x: x[0]\n"
        "print(read(c).text)\n"
        "g, h = lambda x, k=lambda y: y: k(x), lambda: 0\n"
        "print(read(g).text)\n"
        "e, f = lambda x, k=1: x + k, lambda x, k=2: x + k\n"
        "read(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", "lambdas.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "lambda x: x ** 2|lambda x: x * 3",
        "lambda x: x[0]",
        "lambda x, k=lambda y: y: k(x)",
    ]
    assert "SourceUnavailable: there are several lambdas at lambdas.py:8" in done.stderr


def test_closures_and_nested_functions(make: Make) -> None:
    m = make(
        """
        def outer(k):
            if k:
                def inner(x):
                    return x * k
            else:
                def inner(x):
                    return x - k
            class Local:
                def method(self, x):
                    return __class__, x + k
            return inner, Local().method
        """
    )
    assert read(m.outer(1)[0]).node.lineno == 4
    assert read(m.outer(0)[0]).node.lineno == 7
    assert read(m.outer(0)[1]).node.lineno == 10


def test_numba_dispatchers(make: Make) -> None:
    m = make("import numba\n\n@numba.njit\ndef f(x):\n    return x\n")
    found = read(m.f)
    assert found.fn is m.f.py_func
    assert found.notes == ("f (made_for_test_source.py:3) is read without Numba",)


def test_async_and_generators_are_found(make: Make) -> None:
    m = make("async def a(x): return x\ndef g(x): yield x\n")
    assert isinstance(read(m.a).node, ast.AsyncFunctionDef)
    assert isinstance(read(m.g).node, ast.FunctionDef)


def test_digest_is_that_of_the_function(make: Make) -> None:
    first = read(make("def f(x):\n    return x\n").f)
    moved = read(make("import os\n\n\ndef f(x):\n    return x\n").f)
    other = read(make("import os\n\n\ndef f(x):\n    return x + 1\n").f)
    assert first.digest == moved.digest != other.digest
    assert moved.node.lineno == 4


# ---- decorators ------------------------------------------------------------

WRAPPED = """
import functools
import time
from contextlib import contextmanager, nullcontext

def deco(f):
    @functools.wraps(f)
    def wrapper{params}:
{body}
    return wrapper

@deco
def target(x, n=1):
    return x * n
"""

ADDS_NOTHING = [
    ("(*args, **kwargs)", "return f(*args, **kwargs)"),
    ("(x, n=1)", "return f(x, n)"),
    ("(x, *, n=1)", "return f(x, n=n)"),
    ("(*a, **k)", "print('call', a)\nr = f(*a, **k)\nprint('done', r)\nreturn r"),
    ("(*a, **k)", "with nullcontext():\n    return f(*a, **k)"),
    ("(*a, **k)", "try:\n    return f(*a, **k)\nfinally:\n    print('done')"),
    ("(*a, **k)", "start = time.time()\nr = f(*a, **k)\nprint(time.time() - start)\nreturn r"),
    ("(*a, **k)", "if not a:\n    raise TypeError('no')\nreturn f(*a, **k)"),
]
ADDS = [
    ("(*a, **k)", "return 2 * f(*a, **k)"),
    ("(*a, **k)", "r = f(*a, **k)\nr = r * 2\nreturn r"),
    ("(*a, **k)", "r = f(*a, **k)\nr *= 2\nreturn r"),
    ("(*a, **k)", "r = f(*a, **k)\nr[0] = 2\nreturn r"),
    ("(*a, **k)", "r = f(*a, **k)\nr.fill(2)\nreturn r"),
    ("(x, n=1)", "return f(n, x)"),
    ("(x, n=1)", "return f(x, n + 1)"),
    ("(x, n=1)", "x = x + 1\nreturn f(x, n)"),
    ("(x, n=1)", "return f(x)"),
    ("(*a, **k)", "k.pop('n', None)\nreturn f(*a, **k)"),
    ("(*a, **k)", "a[0][0] = 1\nreturn f(*a, **k)"),
    ("(*a, **k)", "for a in [a]:\n    pass\nreturn f(*a, **k)"),
    ("(*a, **k)", "if a:\n    return f(*a, **k)"),
    ("(*a, **k)", "try:\n    return f(*a, **k)\nexcept ValueError:\n    return 0.0"),
    ("(*a, **k)", "return (lambda: f(*a, **k))()"),
    ("(*a, **k)", "f(*a, **k)\nr = 1.0\nreturn r"),
    ("(*a, **k)", "g = f\nreturn g(*a, **k) + 1"),
]


def wrapped(make: Make, params: str, body: str) -> Any:
    text = WRAPPED.format(params=params, body=textwrap.indent(body, " " * 8))
    return make(text).target


@pytest.mark.parametrize(("params", "body"), ADDS_NOTHING)
def test_decorators_that_add_nothing_are_passed_over(make: Make, params: str, body: str) -> None:
    found = read(wrapped(make, params, body))
    assert found.fn.__code__.co_name == "target"
    (note,) = found.notes
    assert "target (made_for_test_source.py:" in note
    assert "deco.wrapper (made_for_test_source.py:7)" in note


@pytest.mark.parametrize(("params", "body"), ADDS)
def test_decorators_that_change_the_result_are_what_runs(
    make: Make, params: str, body: str
) -> None:
    found = read(wrapped(make, params, body))
    assert found.fn.__code__.co_name == "wrapper"
    assert "does more than call it" in found.notes[0]


def test_singledispatch_is_not_passed_over(make: Make) -> None:
    m = make("import functools\n\n@functools.singledispatch\ndef f(x):\n    return x\n")
    assert read(m.f).fn is m.f


# ---- what can't ------------------------------------------------------------


def test_builtins_and_c_functions() -> None:
    assert refusal(abs) == (
        "abs is not written in Python, so it has no source to differentiate\n"
        "Fixes: give it a derivative with @srcgrad.rule(abs)."
    )
    for fn in (np.sin, np.sum, "a".upper, str.upper, [].append, int.__add__, (1).__add__):
        assert "is not written in Python" in refusal(fn)


def test_other_things() -> None:
    assert "is a class" in refusal(Path)
    assert "np.vectorize calls its function once for each element" in refusal(np.vectorize(abs))
    assert "isn't a function" in refusal(3)
    assert "isn't a function" in refusal(property(lambda self: 1))
    universal = numba.vectorize(["float64(float64)"])(lambda x: x)
    assert "is not written in Python" in refusal(universal)


def test_no_file() -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def f(x): return x", "<nowhere>", "exec"), namespace)
    assert refusal(namespace["f"]) == (
        "the source of f can't be read: there is no <nowhere>:1\n"
        "Fixes: define it in a file or a notebook cell; or give it a derivative with "
        "@srcgrad.rule."
    )


def test_itself() -> None:
    def f(x: float) -> float:
        return x

    f.__wrapped__ = f  # type: ignore[attr-defined]
    assert read(f).fn is f  # `f` isn't captured by itself, so it is what runs
    partial = functools.partial(f)
    partial.__setstate__((partial, (), {}, {}))  # type: ignore[attr-defined]
    assert "wraps itself" in refusal(partial)
    partial.__setstate__((f, (), {}, {}))  # type: ignore[attr-defined]


# ---- files that change -----------------------------------------------------


def test_edited_after_import(make: Make, tmp_path: Path) -> None:
    f = make("def f(x):\n    return x * 2\n").f
    path = tmp_path / "made_for_test_source.py"
    for text in (
        "def f(x):\n    return x * 3\n",  # the same but for a constant, of the same length
        "def f(x):\n    return x + 2\n",
        "def f(y):\n    return y * 2\n",
        "def g(x):\n    return x * 2\n",
        "x = 1\n",
    ):
        path.write_text(text)
        os.utime(path, (1e9, 1e9))
        message = refusal(f)
        assert message.startswith("what is at made_for_test_source.py:1 isn't the source of f")
        assert "importlib.reload" in message
    path.write_text("def f(x:\n")
    assert "can't be read" in refusal(f)
    path.write_text("import os\n\n\n# moved, otherwise the same\ndef f(x):\n    return x * 2\n")
    assert read(f).node.lineno == 5


def test_same_size_and_time(make: Make, tmp_path: Path) -> None:
    """`linecache` can't see such a change; the text is read again when it doesn't fit."""
    path = tmp_path / "made_for_test_source.py"
    for factor in (2, 3, 2):
        text = f"def f(x):\n    return x * {factor}\n"
        path.write_text(text)
        os.utime(path, (1e9, 1e9))
        module = make(text)
        os.utime(path, (1e9, 1e9))
        assert read(module.f).text == text
        assert module.f(1) == factor


def test_cells_as_ipython_and_doctest_register_them() -> None:
    for number, text in enumerate(("def f(x):\n    return x\n", "def f(x):\n    return -x\n")):
        name = f"<cell {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {}
        exec(compile(text, name, "exec"), namespace)
        assert read(namespace["f"]).text == text
        linecache.cache.pop(name)


def test_source_from_the_loader_of_a_module() -> None:
    text = "def f(x):\n    return x\n"

    class Loader:
        def get_source(self, name: str) -> str:
            return text

    namespace = {"__name__": "zipped", "__loader__": Loader()}
    exec(compile(text, os.path.abspath("no_such_archive.zip/zipped.py"), "exec"), namespace)
    assert read(namespace["f"]).text == text


def test_future_statements(make: Make) -> None:
    m = make("from __future__ import annotations\n\ndef f(x: No) -> Such:\n    return x\n")
    assert read(m.f).node.lineno == 3


def test_modules_that_pytest_rewrote() -> None:
    def checked(x: float) -> float:
        assert x > 0, "not positive"
        y = x * 2.5
        assert y
        return y

    found = read(checked)
    assert found.node.name == "checked"  # type: ignore[union-attr]
    assert "x * 2.5" in found.text


def test_one_parse_serves_all_functions_of_a_file(make: Make) -> None:
    text = "".join(f"def f{i}(x):\n    y = x * {i}\n    return y\n\n\n" for i in range(300))
    m = make(text)
    read(m.f0)
    start = time.perf_counter()
    for i in range(100):
        read(getattr(m, f"f{i}"))
    assert (time.perf_counter() - start) / 100 < 0.002


def test_many_threads(make: Make) -> None:
    m = make("".join(f"def f{i}(x): return x * {i}\n" for i in range(50)))
    wrong: list[int] = []

    def check(i: int) -> None:
        if f"* {i}\n" not in read(getattr(m, f"f{i}")).text:
            wrong.append(i)

    threads = [threading.Thread(target=check, args=(i,)) for i in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    "name", ["fractions", "statistics", "argparse", "scipy.optimize._optimize"]
)
def test_every_function_of_a_module_is_found(name: str) -> None:
    module = importlib.import_module(name)
    functions = [f for f in vars(module).values() if isinstance(f, types.FunctionType)]
    classes = [c for c in vars(module).values() if isinstance(c, type)]
    functions += [
        f for c in classes for f in vars(c).values() if isinstance(f, types.FunctionType)
    ]
    here = [f for f in functions if f.__code__.co_filename == module.__file__]
    assert len(here) > 10
    for fn in here:
        found = read(fn)
        assert isinstance(found.node, ast.FunctionDef | ast.Lambda)
        first = min(
            [found.node.lineno, *(d.lineno for d in getattr(found.node, "decorator_list", []))]
        )
        assert first == found.fn.__code__.co_firstlineno


def test_one_thread_at_a_time_reads_a_file(tmp_path, monkeypatch):
    """`linecache` looks for an entry that another thread may just have dropped."""
    inside, most = [], []
    plain = linecache.getlines

    def watched(file, names=None):
        inside.append(file)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return plain(file, names)

    monkeypatch.setattr(linecache, "getlines", watched)
    path = tmp_path / "model.py"
    path.write_text("def f(x):\n    return x\n")
    barrier = threading.Barrier(6)

    def read(again):
        barrier.wait()
        parsed.parsed_file(str(path), {}, again=again)

    threads = [threading.Thread(target=read, args=(k % 2 == 0,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 6


def test_a_cell_with_imports_whose_statements_are_compiled_one_by_one():
    """As IPython does: a call of np.sum compiles otherwise than beside the import of np."""
    text = (
        "import numpy as np\n\ndef f(x):\n    return np.sum(x * x)\n\n"
        "g, h = lambda x: np.sum(x), lambda x: np.prod(x)\n"
    )
    file, names = "<cell with imports>", {}
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), file, "exec"), names)
    assert read(names["f"]).text == "def f(x):\n    return np.sum(x * x)\n"
    assert read(names["h"]).text == "lambda x: np.prod(x)"
