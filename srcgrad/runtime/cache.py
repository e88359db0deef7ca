"""The directory of generated modules: one file for each text, named by its digest.

Owns where it is, that it is safe to import from, that files appear whole, and how large it grows.
It must know nothing of modules in memory (`loader`) or of what is in a text.  Nothing here is
fatal: a directory that can't be used is one that stores and finds nothing.

    <directory>/model__f_grad_0123456789abcdef.py   a generated module
    <directory>/.index/<digest>.json                what to load for a question asked before
    <directory>/.used/<module>                      its time is when the module was last loaded
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srcgrad.errors import CacheError, SrcgradWarning

_DIGEST = 16  # hexadecimal digits of a digest in a file's name
_OURS = re.compile(rf"[A-Za-z_][A-Za-z0-9_]*_[0-9a-f]{{{_DIGEST}}}")
_LONGEST = 120  # characters of a module's name before the digest
_LIMIT = 256 * 2**20  # bytes, unless SRCGRAD_CACHE_SIZE says otherwise
_YOUNG = 3600.0  # seconds; younger files are never evicted, they may be about to be used
_MOST_ANSWERS = 20_000  # of small files; the oldest go
_INDEX, _USED = ".index", ".used"

# Directory -> why it can't be used (None: it can); asked of the system once.
_verdicts: dict[str, str | None] = {}


@dataclass(frozen=True)
class Info:
    """What `srcgrad cache info` prints."""

    path: str
    modules: int
    bytes: int
    limit: int
    problem: str | None  # why nothing is stored, when nothing is


def module_name(name: str, text: str) -> str:
    """The name of the module with this text: plain letters and a digest.

    >>> module_name("model__f_grad", "x = 1")
    'model__f_grad_8ff436def1451285'
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_LONGEST] or "_"
    return f"{'_' if plain[0].isdigit() else ''}{plain}_{_digest(text)}"


def store(name: str, text: str) -> Path | None:
    """Writes a module's text, unless it is there; None when it can't be stored."""
    directory = usable()
    if directory is None:
        return None
    module = module_name(name, text)
    path = directory / f"{module}.py"
    try:
        known = _has(path, text)
        if not known:
            _write(path, text)
    except (OSError, CacheError):  # the disk is full, or the directory was changed meanwhile
        if not directory.is_dir():
            _verdicts.pop(str(directory), None)  # it may be made again next time
        return None
    _mark_used(directory, module)
    if not known:
        _sweep(directory)
    return path


def fetch(module: str) -> tuple[str, Path] | None:
    """The text and file of a stored module, if it is whole and nobody else could have written it.

    Raises: CacheError when there is a file but it can't be trusted.
    """
    directory = usable()
    if directory is None or not _OURS.fullmatch(module):
        return None
    path = directory / f"{module}.py"
    text = _read(path)
    if text is None:
        return None
    if _digest(text) != module[-_DIGEST:]:
        raise CacheError(f"{path} isn't what was generated: it was changed or damaged")
    _mark_used(directory, module)
    return text, path


def remember(key_digest: str, name: str, text: str, meta: dict[str, Any]) -> None:
    """Stores a module as the answer to a question, which is the digest of all it depends on."""
    path = store(name, text)
    if path is None:
        return
    content = json.dumps([name, path.stem, meta], sort_keys=True)
    record = json.dumps({"check": _digest(content), "content": content})
    with suppress(OSError):
        _write(_index_file(path.parent, key_digest), record)


def lookup(key_digest: str) -> tuple[str, str, dict[str, Any]] | None:
    """The name, text and meta that were remembered for a question; None when there are none."""
    directory = usable()
    if directory is None:
        return None
    try:
        record = _read(_index_file(directory, key_digest))
        if record is None:
            return None
        fields = json.loads(record)
        content = fields["content"]
        if fields["check"] != _digest(content):
            return None
        name, module, meta = json.loads(content)
        found = fetch(module)
    except (ValueError, KeyError, TypeError, CacheError):
        return None  # damaged: it will be made anew, and replaced
    return None if found is None else (name, found[0], meta)


def info() -> Info:
    """Where the cache is, what it holds, and why it isn't used if it isn't."""
    path = _configured()
    directory = usable()
    sizes = [entry.size for entry in _entries(directory)] if directory else []
    return Info(str(path), len(sizes), sum(sizes), _limit(), _verdicts.get(str(path)))


def clear() -> int:
    """Removes every stored module; gives how many.  Files that aren't srcgrad's stay."""
    directory = usable()
    if directory is None:
        return 0
    entries = list(_entries(directory))
    for entry in entries:
        _remove(directory, entry.module)
    for file in _files(directory / _INDEX):
        _unlink(file)
    for file in _files(directory):
        if file.name.startswith(".new-"):
            _unlink(file)
    return len(entries)


# ---- the directory ---------------------------------------------------------


def _configured() -> Path:
    chosen = os.environ.get("SRCGRAD_CACHE_DIR")
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    import platformdirs

    return Path(platformdirs.user_cache_dir("srcgrad", appauthor=False))


def usable() -> Path | None:
    """The directory, made if need be; None when it can't be used safely."""
    try:
        directory = _configured()
    except (OSError, RuntimeError, ImportError):  # no home directory, no current directory
        return None
    known = str(directory)
    if known not in _verdicts:
        try:
            _prepare(directory)
            _verdicts[known] = None
        except CacheError as error:
            _verdicts[known] = error.message
            warnings.warn(str(error), SrcgradWarning, stacklevel=2)
        except OSError as error:  # a read-only system is an everyday thing: no warning
            _verdicts[known] = f"{directory} can't be written: {error.strerror or error}"
    return directory if _verdicts[known] is None else None


def _prepare(directory: Path) -> None:
    for folder in (directory, directory / _INDEX, directory / _USED):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        verify(folder)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise PermissionError(13, "no permission to write there")


def verify(directory: Path) -> None:
    """Refuses a directory that someone else could put modules in.

    Raises: CacheError, OSError.
    """
    status = os.stat(directory)
    if not stat.S_ISDIR(status.st_mode):
        raise CacheError(f"the cache {directory} isn't a directory")
    if problem := _unsafe(status):
        mend = [] if "belongs" in problem else [f"chmod go-w {directory}"]
        raise CacheError(
            f"the cache directory {directory} isn't used, for {problem}: code from it would run",
            fixes=[*mend, "set SRCGRAD_CACHE_DIR to a directory of your own"],
        )


def _unsafe(status: os.stat_result) -> str | None:
    if not hasattr(os, "geteuid"):  # Windows: a user's own directories are closed to others
        return None
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    return "other users can write in it" if status.st_mode & 0o022 else None


# ---- files -----------------------------------------------------------------


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]


def _read(path: Path) -> str | None:
    """The text of a file of ours; None when there is none, or it isn't text.

    Raises: CacheError when another user could have written it.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    status = os.fstat(handle)
    problem = _unsafe(status) if stat.S_ISREG(status.st_mode) else "it isn't a plain file"
    if problem:
        os.close(handle)
        raise CacheError(f"{path} isn't loaded, for {problem}", fixes=[f"remove {path}"])
    with suppress(OSError, UnicodeDecodeError), os.fdopen(handle, "rb") as file:
        return file.read().decode("utf-8", "surrogatepass")
    return None


def _has(path: Path, text: str) -> bool:
    """Whether a file is there with this text; one that can't be trusted will be replaced."""
    try:
        return _read(path) == text
    except CacheError:
        return False


def _write(path: Path, text: str) -> None:
    """All of the text or nothing: other processes never see half a file."""
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=_folder(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        os.replace(temporary, path)
    except BaseException:
        _unlink(Path(temporary))
        raise


def _folder(path: Path) -> Path:
    """The folder of a file, made again when someone removed it while we ran."""
    if not path.parent.is_dir():
        os.makedirs(path.parent, mode=0o700, exist_ok=True)
        verify(path.parent)
    return path.parent


def _index_file(directory: Path, key_digest: str) -> Path:
    return directory / _INDEX / f"{hashlib.sha256(key_digest.encode()).hexdigest()[:32]}.json"


def _mark_used(directory: Path, module: str) -> None:
    """Notes the time, at most once an hour; on the side, since Numba looks at a module's own."""
    mark = directory / _USED / module
    if time.time() - _time(mark) < _YOUNG:
        return
    with suppress(OSError):
        mark.touch(mode=0o600)


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _files(directory: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(directory) if entry.is_file()]
    except OSError:
        return []


# ---- size ------------------------------------------------------------------


@dataclass(frozen=True)
class _Entry:
    module: str
    size: int  # with what Numba keeps for it
    made: float
    used: float


def _entries(directory: Path) -> Iterator[_Entry]:
    compiled = _compiled(directory)
    for file in _files(directory):
        if file.suffix != ".py" or not _OURS.fullmatch(file.stem):
            continue
        try:
            status = file.stat()
        except OSError:  # another process removed it
            continue
        used = _time(directory / _USED / file.stem) or status.st_mtime
        more = sum(size for _, size in compiled.get(file.stem, ()))
        yield _Entry(file.stem, status.st_size + more, status.st_mtime, used)


def _compiled(directory: Path) -> dict[str, list[tuple[Path, int]]]:
    """Python's and Numba's files for each module: `<module>.<function>-<line>.py311.1.nbc`."""
    found: dict[str, list[tuple[Path, int]]] = {}
    for file in _files(directory / "__pycache__"):
        with suppress(OSError):
            found.setdefault(file.name.partition(".")[0], []).append((file, file.stat().st_size))
    return found


def _remove(directory: Path, module: str) -> None:
    for file, _ in _compiled(directory).get(module, ()):
        _unlink(file)
    _unlink(directory / f"{module}.py")
    _unlink(directory / _USED / module)


def _limit() -> int:
    try:
        return int(os.environ.get("SRCGRAD_CACHE_SIZE", _LIMIT))
    except ValueError:
        return _LIMIT


def _sweep(directory: Path) -> None:
    """Keeps the size in bounds; once an hour, by whichever process gets to it first."""
    stamp = directory / _USED / "swept"
    now = time.time()
    if now - _time(stamp) < _YOUNG:
        return
    with suppress(OSError):
        stamp.touch(mode=0o600)
        evict(directory, _limit(), now)


def evict(directory: Path, limit: int, now: float) -> list[str]:
    """Removes the modules used longest ago until the rest fits; gives their names."""
    entries = sorted(_entries(directory), key=lambda entry: entry.used)
    total = sum(entry.size for entry in entries)
    gone = []
    for entry in entries:
        if total <= limit:
            break
        if now - max(entry.used, entry.made) > _YOUNG:
            _remove(directory, entry.module)
            total -= entry.size
            gone.append(entry.module)
    _tidy(directory, now)
    return gone


def _tidy(directory: Path, now: float) -> None:
    """Removes what killed processes left half written, answers whose modules are gone, and the
    oldest of too many answers."""
    answers = sorted(_files(directory / _INDEX), key=_time)
    for file in [*_files(directory), *answers]:
        if file.name.startswith(".new-") and now - _time(file) > _YOUNG:
            _unlink(file)
    for k, file in enumerate(answers):
        with suppress(OSError, ValueError, KeyError, TypeError, IndexError):
            module = json.loads(json.loads(file.read_text())["content"])[1]
            gone = now - _time(file) > _YOUNG and not (directory / f"{module}.py").exists()
            if gone or k < len(answers) - _MOST_ANSWERS:
                _unlink(file)


def _time(file: Path) -> float:
    """When a file was written; long ago if it isn't there."""
    try:
        return file.stat().st_mtime
    except OSError:  # there is none, or no longer
        return 0.0


if hasattr(os, "register_at_fork"):  # the child asks again: it may become another user
    os.register_at_fork(after_in_child=_verdicts.clear)
