"""Completion of targets in a shell: files, then the functions in them.  Nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def targets(incomplete: str) -> list[str]:
    """What a target that starts so may be.

    >>> targets("no/such/file.py:f")
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
