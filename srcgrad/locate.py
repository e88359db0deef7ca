"""From the text of a target to the function: `package.module:function` or `path/file.py:function`.

Owns how files are imported for the command line and the build.  A file is imported under the name
it has for other programs, so that what is generated from it can import it by that name.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from srcgrad.errors import SrcgradError, shown_file


class TargetNotFound(SrcgradError):
    """There is no function of that name, or its module can't be imported."""


def find(target: str, path: Sequence[str | Path] = ()) -> Any:
    """The object that a target names; `path` are directories to look in before `sys.path`.

    >>> find("statistics:NormalDist.pdf").__name__
    'pdf'
    >>> find("statistics:NormalDst")
    Traceback (most recent call last):
        ...
    srcgrad.locate.TargetNotFound: statistics has no NormalDst
    Fixes: perhaps you mean NormalDist.

    Raises: TargetNotFound.
    """
    place, sign, name = target.rpartition(":")
    if not sign or not place or not name:
        raise TargetNotFound(
            f"{target!r} names no function",
            fixes=["write package.module:function", "write path/to/file.py:function"],
        )
    for directory in reversed([str(p) for p in path] or [os.getcwd()]):
        if directory not in sys.path:
            sys.path.insert(0, directory)
    module = _file(place) if place.endswith(".py") else _module(place)
    return _inside(module, place, name)


def _inside(module: ModuleType, place: str, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise TargetNotFound(f"{place} has no {name}", fixes=_similar(found, part))
        found = getattr(found, part)
    return found


def _similar(owner: Any, name: str) -> list[str]:
    import difflib

    names = [n for n in dir(owner) if n[0] != "_" and callable(getattr(owner, n, None))]
    close = difflib.get_close_matches(name, names, 3, 0.6)
    return [f"perhaps you mean {' or '.join(close)}"] if close else []


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        raise _failed(name, error) from error


def _failed(name: str, error: BaseException) -> TargetNotFound:
    why = f"{type(error).__name__}: {error}"
    missing = isinstance(error, ModuleNotFoundError) and error.name in (name, name.split(".")[0])
    if missing:
        fixes = ["run it where the module is, or set PYTHONPATH", "write path/to/file.py:function"]
        return TargetNotFound(f"there is no module {name}", fixes=fixes)
    return TargetNotFound(f"{name} can't be imported: {why}")


def _file(place: str) -> ModuleType:
    file = Path(place)
    if not file.is_file():
        raise TargetNotFound(f"there is no file {place}")
    file = file.resolve()
    root, name = module_of(file)
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded if _is_file(loaded, file) else _alone(file)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    spec = importlib.util.find_spec(name) if "." not in name else None
    if spec is not None and (not spec.origin or Path(spec.origin).resolve() != file):
        return _alone(file)  # another module has that name: `random.py`, `test.py`
    return _module(name)


def module_of(file: Path) -> tuple[Path, str]:
    """The directory from which a file is imported, and the name it then has."""
    parts = [] if file.stem == "__init__" else [file.stem]
    root = file.parent
    while (root / "__init__.py").is_file() and root.parent != root:
        parts.insert(0, root.name)
        root = root.parent
    return root, ".".join(parts) or file.stem


def _is_file(module: ModuleType, file: Path) -> bool:
    known = getattr(module, "__file__", None)
    return known is not None and Path(known).resolve() == file


def _alone(file: Path) -> ModuleType:
    """Runs a file under a name of its own."""
    name = f"_srcgrad_file_{file.stem}"
    known = sys.modules.get(name)
    if known is not None and _is_file(known, file):
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise TargetNotFound(f"{shown_file(str(file))} isn't a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failed(shown_file(str(file)), error) from error
    return module


# ---- completion in a shell -----------------------------------------------------


def completions(incomplete: str) -> list[str]:
    """What a target that starts so may be; nothing is imported to find out.

    >>> completions("no/such/file.py:f")
    []
    """
    place, sign, start = incomplete.partition(":")
    if not sign:
        return sorted(_files(incomplete))
    file = Path(place) if place.endswith(".py") else _file_of(place)
    if file is None or not file.is_file():
        return []
    return [f"{place}:{name}" for name in _functions(file) if name.startswith(start)]


def _files(start: str) -> Iterator[str]:
    folder = Path(start).parent if not start.endswith("/") else Path(start)
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.name.startswith(".") or not str(entry).startswith(start.removeprefix("./")):
            continue
        if entry.is_dir() and any(entry.glob("*.py")):
            yield f"{entry}/"
        elif entry.suffix == ".py":
            yield f"{entry}:"


def _file_of(module: str) -> Path | None:
    for root in (Path(), Path("src")):
        path = root.joinpath(*module.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def _functions(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            methods = (n.name for n in node.body if isinstance(n, ast.FunctionDef))
            yield from (f"{node.name}.{name}" for name in methods if not name.startswith("_"))
