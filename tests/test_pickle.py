"""Derivatives in other processes: pickle, cloudpickle, multiprocessing, joblib."""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad as sg

ROOT = Path(__file__).parents[1]
SCALE = 3.0


def helper(x):
    return np.tanh(x) * SCALE


def loss(w, x):
    return np.sum(helper(x * w))


@sg.differentiable
def energy(x):
    return x * x * SCALE


def doubled(g, out, x):
    return 2.0 * g


X = np.linspace(-1.0, 1.0, 4)
MADE = [
    (sg.value_and_grad(loss, wrt=("w", "x")), (0.5, X)),
    (sg.grad(functools.partial(loss, x=X)), (0.5,)),
    (sg.grad(sg.grad(loss)), (0.5, X)),
    (sg.vjp(helper), (np.ones(4), X)),
    (sg.hvp(loss), (1.0, 0.5, X)),
    (sg.jacobian(helper), (X,)),
    (sg.hessian(loss), (0.5, X)),
    (sg.grad(energy), (0.5,)),
    (sg.grad(loss, rules={np.tanh: doubled}), (0.5, X)),
    (sg.grad(loss, backend="numpy", specialize=False), (0.5, X)),
]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return np.array_equal(a, b)


@pytest.mark.parametrize(("df", "args"), MADE, ids=lambda v: repr(v)[:40])
def test_round_trip(df: Any, args: Any) -> None:
    other = pickle.loads(pickle.dumps(df))
    assert type(other) is type(df)
    assert same(other(*args), df(*args))


def test_rules_of_a_derivative_go_with_it() -> None:
    df = sg.grad(loss, rules={np.tanh: doubled})
    assert pickle.loads(pickle.dumps(df))(0.5, X) == df(0.5, X) != sg.grad(loss)(0.5, X)


def child(program: str, *args: str, place: Path = Path("/"), **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *args], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env}, cwd=place, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


CALL = """
    import pickle, sys
    import numpy as np
    for name in sys.argv[1:]:
        with open(name, "rb") as file:
            df, args, expected = pickle.load(file)
        found = df(*args)
        assert np.array_equal(found, expected), (found, expected)
        print(df.source.splitlines()[0].partition(" from ")[2])
"""


def test_cloudpickle_sends_what_no_file_has(tmp_path: Path) -> None:
    """A script's functions, lambdas and closures: where they arrive there is no file of theirs,
    no module that they came from, and no cache."""
    pytest.importorskip("cloudpickle")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import sys
        import cloudpickle
        import numpy as np
        import srcgrad as sg

        SCALE = 3.0

        def helper(x):
            return np.tanh(x) * SCALE

        def loss(w, x):
            return np.sum(helper(x * w))

        def make(k):
            def inner(x):
                return k * x * helper(x)
            return inner

        class Model:
            def __init__(self, k): self.k = k
            def energy(self, x): return self.k * helper(x)

        X = np.linspace(-1.0, 1.0, 4)
        derivatives = [
            (sg.grad(loss), (0.5, X)),
            (sg.grad(lambda x: x * x * SCALE), (2.0,)),
            (sg.grad(make(4.0)), (2.0,)),
            (sg.grad(Model(5.0).energy), (2.0,)),
            (sg.hvp(loss), (1.0, 0.5, X)),
        ]
        for k, (df, args) in enumerate(derivatives):
            with open(f"{sys.argv[1]}/{k}.pickle", "wb") as file:
                cloudpickle.dump((df, args, df(*args)), file)
        """)
    )
    subprocess.run(
        [sys.executable, script, tmp_path], check=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    script.unlink()
    files = [str(tmp_path / f"{k}.pickle") for k in range(5)]
    heads = child(CALL, *files, SRCGRAD_CACHE_DIR=str(tmp_path / "other")).splitlines()
    assert heads[0].startswith("script.py:12 loss(w, x)")


def test_a_spawned_process_needs_no_cache(tmp_path: Path, monkeypatch: Any) -> None:
    df = sg.value_and_grad(loss)
    expected = df(0.5, X)
    monkeypatch.setenv("SRCGRAD_CACHE_DIR", str(tmp_path / "empty"))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(df, (0.5, X)) == expected


@pytest.mark.filterwarnings("ignore")
def test_joblib() -> None:
    joblib = pytest.importorskip("joblib")
    df = sg.grad(lambda w: np.sum(helper(X * w)))
    points = [0.1, 0.5, 0.9]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(df)(w) for w in points)
    assert found == [df(w) for w in points]


def test_what_was_made_travels(tmp_path: Path) -> None:
    """Where a derivative arrives it needs neither a cache nor the compiler; but when the function
    is another one there, it is made anew."""
    (tmp_path / "travel_model.py").write_text(
        "import numpy as np\nK = 3.0\n\ndef f(x):\n    return np.sum(np.sin(x) * K)\n"
    )
    send = """
        import pickle, sys
        import numpy as np
        import srcgrad as sg
        import travel_model
        df = sg.grad(travel_model.f)
        df(np.zeros(2))
        with open("sent.pickle", "wb") as file:
            pickle.dump(df, file)
    """
    receive = """
        import pickle, sys
        import numpy as np
        with open("sent.pickle", "rb") as file:
            df = pickle.load(file)
        print(df(np.zeros(2)).tolist(), "srcgrad.pipeline" in sys.modules)
    """
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    paths = f"{ROOT}{os.pathsep}{tmp_path}"

    def run(program: str, cache: str) -> str:
        return child(program, PYTHONPATH=paths, SRCGRAD_CACHE_DIR=cache, place=tmp_path)

    run(send, here)
    assert run(receive, there) == "[3.0, 3.0] False\n"
    text = (tmp_path / "travel_model.py").read_text()
    (tmp_path / "travel_model.py").write_text(text.replace("np.sin(x)", "2.0 * x"))
    assert run(receive, str(tmp_path / "elsewhere")) == "[6.0, 6.0] True\n"
