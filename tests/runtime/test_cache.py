"""The cache directory, under all that can happen to one, and the modules made from it."""

from __future__ import annotations

import gc
import importlib
import inspect
import json
import linecache
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from srcgrad.errors import CacheError, SrcgradWarning
from srcgrad.runtime import cache, loader

TEXT = "def f(x):\n    return 1 / x\n"
posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
not_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() == 0, reason="root may write everywhere"
)
only_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can give files away"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache directory, and no module of an earlier test."""
    monkeypatch.setenv("SRCGRAD_CACHE_DIR", str(tmp_path / "cache"))
    cache._verdicts.clear()
    _forget_modules()
    yield tmp_path / "cache"
    cache._verdicts.clear()
    _forget_modules()


def _forget_modules() -> None:
    for name in [n for n in sys.modules if n.startswith(f"{loader.PACKAGE}.")]:
        del sys.modules[name]
    loader._texts.clear()
    loader._injected.clear()


def run(program: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(os.path.abspath, sys.path))
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *args],
        env={**os.environ, "PYTHONPATH": paths, **env},
        capture_output=True,
        text=True,
        check=False,
    )


# ---- storing ---------------------------------------------------------------


@posix
def test_files_are_private(folder: Path) -> None:
    path = cache.store("model__f_grad", TEXT)
    assert path is not None
    assert path.parent == folder
    assert path.read_text() == TEXT
    assert path.name.startswith("model__f_grad_")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_same_text_is_not_written_again(folder: Path) -> None:
    path = cache.store("m", TEXT)
    assert path is not None
    os.utime(path, (1e9, 1e9))
    assert cache.store("m", TEXT) == path
    assert path.stat().st_mtime == 1e9  # older Numbas compare times
    assert cache.store("m", TEXT + "\n") != path


@pytest.mark.parametrize("name", ["na\u00efve", "a.b<lambda>", "9lives", "", "x" * 300, "../up"])
def test_any_name_will_do(folder: Path, name: str) -> None:
    module = loader.load(name, TEXT)
    assert module.f(2) == 0.5
    assert Path(str(module.__file__)).parent == folder
    assert importlib.import_module(module.__name__) is module


def test_damaged_files_are_made_anew(folder: Path) -> None:
    for damage in (b"", b"def f(x): return 'evil'\n", b"\xff\xfe", TEXT.encode()[:-3]):
        path = cache.store("m", TEXT)
        assert path is not None
        path.write_bytes(damage)
        if damage != b"\xff\xfe":
            with pytest.raises(CacheError, match="changed or damaged"):
                cache.fetch(path.stem)
        _forget_modules()
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"{loader.PACKAGE}.{path.stem}")
        assert loader.load("m", TEXT).f(2) == 0.5
        assert path.read_text() == TEXT


@posix
def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    path = cache.store("m", TEXT)
    assert path is not None
    (tmp_path / "elsewhere.py").write_text(TEXT)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.py")
    assert cache.fetch(path.stem) is None
    assert cache.store("m", TEXT) == path
    assert not path.is_symlink()


@posix
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_something_else_in_the_place_of_a_file(folder: Path, make: Any) -> None:
    path = cache.store("m", TEXT)
    assert path is not None
    path.unlink()
    make(path)
    assert loader.load("m", TEXT).f(2) == 0.5


# ---- directories that can't be used ----------------------------------------


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_directory_others_can_write_is_refused(folder: Path, mode: int) -> None:
    path = cache.store("m", TEXT)
    assert path is not None
    path.write_text("raise SystemExit\n")
    folder.chmod(mode)
    cache._verdicts.clear()
    with pytest.warns(SrcgradWarning) as caught:
        module = loader.load("m", TEXT)
    assert str(caught[0].message) == (
        f"the cache directory {folder} isn't used, for other users can write in it: code from "
        f"it would run\nFixes: chmod go-w {folder}; or set SRCGRAD_CACHE_DIR to a directory of "
        "your own."
    )
    assert module.f(2) == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert loader.load("n", TEXT).f(4) == 0.25
    assert "other users can write in it" in str(cache.info().problem)


@posix
@only_root
def test_a_directory_of_another_user_is_refused(folder: Path) -> None:
    path = cache.store("m", TEXT)
    assert path is not None
    os.chown(folder, 12345, -1)
    cache._verdicts.clear()
    with pytest.warns(SrcgradWarning, match="it belongs to another user") as said:
        assert loader.load("m", TEXT).f(2) == 0.5
    assert "chmod" not in str(said[0].message)
    os.chown(folder, 0, -1)


@posix
@only_root
def test_a_file_of_another_user_is_replaced(folder: Path) -> None:
    path = cache.store("m", TEXT)
    assert path is not None
    os.chown(path, 12345, -1)
    with pytest.raises(CacheError, match="belongs to another user"):
        cache.fetch(path.stem)
    assert cache.store("m", TEXT) == path
    assert path.stat().st_uid == 0


def test_a_file_in_the_place_of_the_directory(folder: Path) -> None:
    folder.write_text("")
    assert loader.load("m", TEXT).f(2) == 0.5
    assert "can't be written" in str(cache.info().problem)


@posix
@not_root
def test_read_only_directory(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o500)
    assert loader.load("m", TEXT).f(2) == 0.5
    assert "can't be written" in str(cache.info().problem)
    folder.chmod(0o700)


@pytest.mark.parametrize("call", ["mkstemp", "replace"])
def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(cache.tempfile if call == "mkstemp" else cache.os, call, full)
        assert cache.store("m", TEXT) is None
        assert loader.load("m", TEXT).f(2) == 0.5
        cache.remember("key", "m", TEXT, {})
        assert cache.lookup("key") is None
    assert not list(folder.glob(".new-*"))
    assert cache.store("m", TEXT) is not None  # it recovered


def test_a_directory_removed_meanwhile(folder: Path) -> None:
    path = cache.store("m", TEXT)
    assert path is not None
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    folder.rmdir()
    cache.remember("key", "m", TEXT, {})
    assert cache.lookup("key") == ("m", TEXT, {})


# ---- modules ---------------------------------------------------------------


def check_tools(fn: Any) -> None:
    """What people use to look at code works, whatever was forgotten meanwhile."""
    for forget in (lambda: None, linecache.checkcache, linecache.clearcache):
        forget()
        assert inspect.getsource(fn) == TEXT
        with pytest.raises(ZeroDivisionError) as caught:
            fn(0)
        assert "    return 1 / x" in "".join(traceback.format_exception(caught.value))


def test_a_stored_module_is_like_any_other(folder: Path) -> None:
    module = loader.load("m", TEXT)
    assert loader.load("m", TEXT) is module
    assert sys.modules[module.__name__] is module
    assert module.__package__ == loader.PACKAGE
    assert inspect.getsourcefile(module.f) == module.__file__
    assert pickle.loads(pickle.dumps(module.f)) is module.f
    check_tools(module.f)
    assert importlib.reload(module).f(2) == 0.5


def test_a_module_in_memory_is_too(folder: Path) -> None:
    folder.write_text("")
    module = loader.load("m", TEXT)
    assert loader.load("m", TEXT) is module
    assert not Path(str(module.__file__)).exists()
    assert pickle.loads(pickle.dumps(module.f)) is module.f
    check_tools(module.f)


@pytest.mark.parametrize("stored", [True, False])
def test_injected_objects(folder: Path, stored: bool) -> None:
    if not stored:
        folder.write_text("")
    text = "at_once = box[0]\ndef f(x):\n    return box[0] * x\n"
    one, two = [1.0], [2.0]
    first, second = loader.load("m", text, {"box": one}), loader.load("m", text, {"box": two})
    assert (first.f(3), second.f(3), first.at_once, second.at_once) == (3.0, 6.0, 1.0, 2.0)
    assert first is not second
    assert first.__file__ == second.__file__
    assert first.__name__ != second.__name__
    assert loader.load("m", text, {"box": one}) is first
    one[0] = 5.0
    assert first.f(1) == 5.0
    assert inspect.getsource(second.f).startswith("def f")
    assert pickle.loads(pickle.dumps(first.f)) is first.f


def test_injected_modules_are_let_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "_MOST_INJECTED", 3)
    text = "def f(x):\n    return box[0] * x\n"
    made = [loader.load("m", text, {"box": [i]}).f for i in range(10)]
    gc.collect()
    assert [fn(2) for fn in made] == [2 * i for i in range(10)]
    alive = [name for name in sys.modules if name.startswith(f"{loader.PACKAGE}.m_")]
    assert len(alive) == len(loader._texts) == 3
    assert inspect.getsource(made[0]).startswith("def f")


def test_a_module_that_fails_can_be_tried_again(folder: Path) -> None:
    text = "if not box:\n    raise ValueError('empty')\ny = box[0]\n"
    box: list[int] = []
    for inject in ({"box": box},):
        with pytest.raises(ValueError, match="empty"):
            loader.load("m", text, inject)
        box.append(3)
        assert loader.load("m", text, inject).y == 3


def test_unknown_modules(folder: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="differentiate the function again"):
        importlib.import_module(f"{loader.PACKAGE}.m_0123456789abcdef")
    folder.mkdir(exist_ok=True)
    (folder / "os_helpers.py").write_text("raise SystemExit\n")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"{loader.PACKAGE}.os_helpers")


def test_many_threads_make_one_module(folder: Path) -> None:
    text = "import time\ntime.sleep(0.05)\n" + TEXT
    modules: list[Any] = []

    def make() -> None:
        module = loader.load("m", text)
        assert module.f(2) == 0.5
        modules.append(module)

    threads = [threading.Thread(target=make) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(modules) == 16
    assert len(set(map(id, modules))) == 1


# ---- other processes -------------------------------------------------------


def test_another_process_unpickles_by_reference(folder: Path) -> None:
    data = pickle.dumps(loader.load("m", TEXT).f)
    program = "import pickle, sys; print(pickle.loads(bytes.fromhex(sys.argv[1]))(4))"
    assert run(program, data.hex()).stdout == "0.25\n"
    done = run(program, data.hex(), SRCGRAD_CACHE_DIR=str(folder.parent / "other"))
    assert "differentiate the function again" in done.stderr


def _race(number: int) -> tuple[bool, bool]:
    texts = [f"def f(x):\n    return x + {i}\n# {'padding ' * 2000}\n" for i in range(5)]
    good = all(loader.load("race", text).f(1) == 1 + i for i, text in enumerate(texts))
    for i, text in enumerate(texts):
        cache.remember(f"key {i}", "race", text, {"i": i})
        found = cache.lookup(f"key {i}")
        good = good and found == ("race", text, {"i": i})
    return good, cache.usable() is not None


def test_many_processes_race(folder: Path) -> None:
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with context.Pool(16) as pool:
        results = pool.map(_race, range(64), chunksize=1)
    assert results == [(True, True)] * 64
    assert len(list(folder.glob("race_*.py"))) == 5
    assert not list(folder.glob(".new-*"))
    assert not list(folder.glob(".index/.new-*"))


@posix
def test_killed_processes_leave_no_half_files(folder: Path) -> None:
    program = """
        from srcgrad.runtime import cache
        text = "x = 1\\n" * 20000
        print("ready", flush=True)
        for i in range(100000):
            cache.store("m", text + f"y = {i}\\n")
    """
    paths = os.pathsep.join(map(os.path.abspath, sys.path))
    for delay in (0.01, 0.03, 0.05, 0.07):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program)],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
    stored = list(folder.glob("m_*.py"))
    assert stored
    for path in stored:
        assert cache.fetch(path.stem) is not None


@pytest.mark.slow
def test_numba_finds_what_it_compiled(folder: Path) -> None:
    pytest.importorskip("numba")
    program = """
        import numba
        from srcgrad.runtime import loader
        text = "def f(x):\\n    return x * 2.0\\n"
        f = numba.njit(cache=True)(loader.load("m", text).f)
        print(f(3.0), sum(f.stats.cache_hits.values()))
    """
    assert [run(program).stdout for _ in range(2)] == ["6.0 0\n", "6.0 1\n"]


# ---- answers ---------------------------------------------------------------


def test_remember_and_lookup(folder: Path) -> None:
    assert cache.lookup("key") is None
    cache.remember("key", "m", TEXT, {"entry": "f", "n": 1})
    assert cache.lookup("key") == ("m", TEXT, {"entry": "f", "n": 1})
    cache.remember("key", "n", TEXT + "\n", {})
    assert cache.lookup("key") == ("n", TEXT + "\n", {})
    assert cache.lookup("../key") is None


@pytest.mark.parametrize(
    "damage", ["", "{}", "[1]", "null", "{", '{"check": "x", "content": "[]"}']
)
def test_damaged_answers_are_none(folder: Path, damage: str) -> None:
    cache.remember("key", "m", TEXT, {})
    (file,) = folder.glob(".index/*.json")
    whole = file.read_text()
    file.write_text(damage)
    assert cache.lookup("key") is None
    fields = json.loads(whole)
    fields["content"] = fields["content"].replace('"m"', '"n"')
    file.write_text(json.dumps(fields))
    assert cache.lookup("key") is None
    cache.remember("key", "m", TEXT, {})
    assert cache.lookup("key") == ("m", TEXT, {})


def test_an_answer_whose_module_is_gone_or_damaged(folder: Path) -> None:
    cache.remember("key", "m", TEXT, {})
    (path,) = folder.glob("m_*.py")
    path.write_text("x = 1\n")
    assert cache.lookup("key") is None
    path.unlink()
    assert cache.lookup("key") is None


# ---- size ------------------------------------------------------------------


def test_info_and_clear(folder: Path) -> None:
    assert cache.info() == cache.Info(str(folder), 0, 0, 256 * 2**20, None)
    path = cache.store("m", TEXT)
    assert path is not None
    cache.remember("key", "n", TEXT, {})
    compiled = folder / "__pycache__" / f"{path.stem}.f-1.py311.1.nbc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"12345")
    mine = folder / "my_own_module.py"
    mine.write_text("keep\n")
    info = cache.info()
    assert (info.modules, info.bytes) == (2, 2 * len(TEXT) + 5)
    assert cache.clear() == 2
    assert cache.info().modules == 0
    assert mine.read_text() == "keep\n"
    assert not compiled.exists()
    assert cache.lookup("key") is None
    assert not list(folder.glob(".index/*"))


def test_the_least_recently_used_go_first(folder: Path) -> None:
    now = time.time()
    stems = []
    for i in range(6):
        path = cache.store("m", f"# {i}\n" + TEXT)
        assert path is not None
        stems.append(path.stem)
        os.utime(path, (now - 9e5, now - 9e5))
    cache.remember("key", "m", "# 1\n" + TEXT, {})
    # 0 is the oldest by its file but was used just now; 1 was used longest ago.
    for stem, age in zip(stems, (60, 8e5, 7e5, 6e5, 5e5, 4e5), strict=True):
        os.utime(folder / ".used" / stem, (now - age, now - age))
    (answer,) = folder.glob(".index/*.json")
    os.utime(answer, (now - 9e5, now - 9e5))
    size = len(TEXT) + 4
    assert cache.evict(folder, 4 * size, now) == [stems[1], stems[2]]
    assert cache.evict(folder, 4 * size, now) == []
    assert cache.evict(folder, 0, now) == stems[3:]
    assert [p.stem for p in folder.glob("*.py")] == [stems[0]]
    assert not answer.exists()


def test_answers_are_bounded_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ANSWERS", 2)
    for i in range(4):
        cache.remember(f"key {i}", "m", TEXT, {})
        os.utime(cache._index_file(folder, f"key {i}"), (1e9 + i, 1e9 + i))
    cache.evict(folder, 10**6, time.time())
    assert [cache.lookup(f"key {i}") is not None for i in range(4)] == [False, False, True, True]


def test_young_files_stay(folder: Path) -> None:
    for i in range(4):
        cache.store("m", f"# {i}\n" + TEXT)
    (folder / ".new-recent").write_text("")
    (folder / ".new-old").write_text("")
    os.utime(folder / ".new-old", (1e9, 1e9))
    assert cache.evict(folder, 0, time.time()) == []
    assert cache.info().modules == 4
    assert (folder / ".new-recent").exists()
    assert not (folder / ".new-old").exists()


def test_storing_keeps_the_size_in_bounds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRCGRAD_CACHE_SIZE", "100")
    old = []
    for i in range(8):
        path = cache.store("m", f"# {i}\n" + TEXT)
        assert path is not None
        old.append(path)
    for path in (*old, *(folder / ".used").iterdir()):
        os.utime(path, (1e9, 1e9))
    new = cache.store("m", "# new\n" + TEXT)
    assert new is not None
    assert new.exists()
    assert sum(path.exists() for path in old) < 3
    monkeypatch.setenv("SRCGRAD_CACHE_SIZE", "no number")
    assert cache.info().limit == 256 * 2**20
