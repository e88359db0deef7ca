"""The cache under attack: many at once, full and foreign disks, files that vanish while in use."""

from __future__ import annotations

import inspect
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import srcgrad as sg
from srcgrad.errors import SrcgradWarning
from srcgrad.runtime import cache, loader

ROOT = Path(__file__).parents[2]
MODEL = """
import numpy as np

SCALE = 2.0

def inner(x):
    return np.tanh(x) * SCALE

def make(k):
    def f(x):
        return np.sum(inner(x) * k)
    return f
""" + "".join(f"\ndef f{i}(x):\n    return np.sum(inner(x) ** {i + 2})\n" for i in range(6))
# Threads and processes that ask for the same derivatives at the same moment, all on a cold cache.
CROWD = """
    import multiprocessing, os, sys, threading
    import numpy as np
    import crowd_model as model
    import srcgrad as sg

    X = np.linspace(0.1, 1.0, 5)

    def derivatives(found, barrier):
        barrier.wait()
        fs = [getattr(model, f"f{i}") for i in range(6)]
        found.append([sg.grad(f)(X).tolist() for f in fs] + [sg.hvp(fs[0])(X, X).tolist()])

    def process(number):
        found, barrier = [], threading.Barrier(4)
        threads = [threading.Thread(target=derivatives, args=(found, barrier)) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        return found

    if __name__ == "__main__":
        with multiprocessing.get_context("fork").Pool(16) as pool:
            found = sum(pool.map(process, range(16), chunksize=1), [])
        assert len(found) == 64, len(found)
        assert all(f == found[0] for f in found)
        print("all the same")
"""
posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
only_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can become another user"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SRCGRAD_CACHE_DIR", str(tmp_path / "cache"))
    cache._verdicts.clear()
    yield tmp_path / "cache"
    cache._verdicts.clear()


def child(program: str, place: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place}", "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(place),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
        cwd=place, env=environment, timeout=240, check=False,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_sixty_four_threads_of_sixteen_processes_on_a_cold_cache(folder: Path) -> None:
    (folder.parent / "crowd_model.py").write_text(MODEL)
    done = child(CROWD, folder.parent)
    assert done.stdout == "all the same\n", done.stderr
    assert done.stderr == ""
    leftovers = [*folder.glob(".new-*"), *folder.glob(".index/.new-*")]
    assert leftovers == []
    for path in folder.glob("*.py"):
        assert cache.fetch(path.stem) is not None


def test_threads_that_load_the_tables_at_once(folder: Path) -> None:
    done = child(
        """
        import threading
        import numpy as np
        from srcgrad.rules import registry, tables

        start, found = threading.Barrier(16), []

        def load():
            start.wait()
            tables.load()
            found.append(registry.lookup(np.linalg.svd) is not None)

        threads = [threading.Thread(target=load) for _ in range(16)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(found.count(True))
        """,
        folder.parent,
    )
    assert done.stdout == "16\n", done.stderr
    assert done.stderr == ""


@posix
def test_a_disk_that_fills_up(folder: Path) -> None:
    """No file may grow beyond 200 bytes: writing fails in the middle, as on a full disk."""
    (folder.parent / "crowd_model.py").write_text(MODEL)
    done = child(
        """
        import resource, signal
        import numpy as np
        import srcgrad as sg
        import crowd_model

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
        df = sg.grad(crowd_model.f0)
        assert np.allclose(df(np.zeros(2)), 0.0)
        assert "memory" in df.path, df.path
        import inspect
        assert inspect.getsource(df._last.function).startswith("def f0_grad")
        """,
        folder.parent,
    )
    assert done.returncode == 0, done.stderr
    assert [f for f in folder.rglob("*") if f.is_file() and f.stat().st_size] == []


@posix
@only_root
@pytest.mark.parametrize("attack", ["read-only", "another user's", "world-writable", "linked"])
def test_as_another_user(attack: str) -> None:
    """What root may do anywhere, a plain user may not: run as one."""
    place = Path(tempfile.mkdtemp())
    try:
        os.chmod(place, 0o755)
        (place / "crowd_model.py").write_text(MODEL)
        directory, mine = place / "cache", place / "mine"
        for folder in (directory, mine):
            folder.mkdir(mode=0o700)
            os.chown(folder, 65534, 65534)
        match attack:
            case "read-only":
                os.chmod(directory, 0o500)
            case "another user's":
                os.chown(directory, 0, 0)
                os.chmod(directory, 0o755)
            case "world-writable":
                os.chmod(directory, 0o777)
            case "linked":  # the user's own directory, by a link: that is fine
                directory.rmdir()
                directory.symlink_to(mine)
        program = f"""
        import os, warnings
        os.environ["SRCGRAD_CACHE_DIR"] = {str(place / "roots")!r}
        import numpy as np
        import srcgrad as sg
        import crowd_model
        sg.grad(crowd_model.f1)(np.zeros(2))  # loads what only root may be able to read
        from srcgrad.runtime import cache
        cache._verdicts.clear()
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        os.environ["SRCGRAD_CACHE_DIR"] = {str(directory)!r}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert np.allclose(sg.grad(crowd_model.f0)(np.zeros(2)), 0.0)
        print(len(caught), *(str(w.message) for w in caught))
        """
        done = child(program, place)
        assert done.returncode == 0, done.stderr
        said = {
            "read-only": "0\n",
            "another user's": f"1 the cache directory {directory} isn't used, for it belongs to",
            "world-writable": f"1 the cache directory {directory} isn't used, for other users can",
            "linked": "0\n",
        }
        assert done.stdout.startswith(said[attack])
        assert bool(list(mine.glob("*.py"))) == (attack == "linked")
    finally:
        shutil.rmtree(place)


def scaled(x):
    return np.sum(x * x * 3.0)


def test_eviction_breaks_nothing_that_runs(folder: Path) -> None:
    df = sg.grad(scaled)
    assert df(np.ones(2)).tolist() == [6.0, 6.0]
    path = Path(df.path)
    assert path.parent == folder
    assert path.stem in cache.evict(folder, 0, time.time() + 1e6)
    assert not path.exists()
    assert df(np.ones(2)).tolist() == [6.0, 6.0]
    assert inspect.getsource(df._last.function) in df.source
    with pytest.raises(TypeError) as caught:
        df._last.function(None)
    assert caught.value.__traceback__ is not None
    assert sg.grad(scaled)(np.ones(3)).tolist() == [6.0] * 3
    assert sg.grad(sg.grad(lambda x: scaled(x) * x))(1.0) == 18.0
    assert pickle.loads(pickle.dumps(df))(np.ones(1)).tolist() == [6.0]


def test_a_cache_swapped_for_anothers_while_running(folder: Path) -> None:
    """Files with the right names and other contents are made anew, and never run."""
    df = sg.grad(scaled)
    df(np.ones(2))
    for path in folder.glob("*.py"):
        path.write_text("raise SystemExit('taken over')\n")
    for file in folder.glob(".index/*"):
        file.write_text(file.read_text().replace("scaled", "evil"))
    for name in [n for n in sys.modules if n.startswith(f"{loader.PACKAGE}.")]:
        del sys.modules[name]
    loader._texts.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SrcgradWarning)
        assert sg.grad(scaled)(np.ones(2)).tolist() == [6.0, 6.0]
