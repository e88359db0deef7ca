"""The rules behind a derivative, for a person to read: formulas, and where they are written."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import srcgrad.rules as rules_package
from srcgrad.errors import shown_file
from srcgrad.rules.registry import Entry
from srcgrad.rules.solvers import solver_of

_NOT_TABLES = frozenset(("__init__", "registry", "custom", "scope", "tables", "methods", "short"))

# Of f(y, p) = 0, which is read: by the implicit function theorem.
_OF_ROOTS = ("dy", "-(df/dy)^-1 (df/dp) dp")


@dataclass(frozen=True)
class Shown:
    """One rule."""

    name: str
    kind: str
    formulas: tuple[tuple[str, str], ...]  # (what, formula)
    place: str  # file:line; empty when it isn't known


def shown(entry: Entry) -> Shown:
    """A rule with its formulas.

    >>> import numpy as np
    >>> from srcgrad.rules import tables, registry
    >>> tables.load()
    >>> shown(registry.lookup(np.exp)).formulas
    (('x_bar', 'g * out'),)
    """
    if solver_of(entry.target) is not None:
        return Shown(entry.name, "root finder", (_OF_ROOTS,), place_of(entry))
    return Shown(entry.name, entry.kind, tuple(_formulas(entry)), place_of(entry))


def _formulas(entry: Entry) -> Iterable[tuple[str, str]]:
    if entry.kind == "nondiff":
        yield "derivative", "zero"
    if entry.kind == "refuse":
        yield "refused", entry.note
    for name, formula in entry.let.items():
        yield name, formula.text
    for name, found in entry.vjps.items():
        yield f"{name}_bar", "not differentiable" if found is None else found.text
    for name, found in entry.jvps.items():
        if found is not None:
            yield f"{name}_dot", found.text
    for name in sorted(entry.zero):
        yield f"{name}_bar", "0"
    if entry.fn is not None:
        yield "vjp", f"{getattr(entry.fn, '__name__', 'function')}(g, out, ...)"


def place_of(entry: Entry) -> str:
    """Where a rule is written: the user's function, or the line of a table."""
    if entry.fn is not None and inspect.isfunction(entry.fn):
        code = entry.fn.__code__
        return f"{shown_file(code.co_filename)}:{code.co_firstlineno}"
    short = entry.name.removeprefix("numpy.")
    wanted = [f"np.{short}", entry.name, entry.name.removeprefix("_"), f"support.{short}"]
    wanted.append(entry.name.rpartition(".")[2])
    table = _places()
    return next((table[name] for name in wanted if name in table), "")


@cache
def _places() -> dict[str, str]:
    """Where each function is first named in a table; as the first argument of a call if it is."""
    first: dict[str, str] = {}
    second: dict[str, str] = {}
    for directory in rules_package.__path__:
        for file in sorted(Path(directory).glob("*.py")):
            if file.stem in _NOT_TABLES:
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and node.args:
                    _put(first, node.args[0], file.name)
                _put(second, node, file.name)
    return second | first


def _put(table: dict[str, str], node: ast.AST, file: str) -> None:
    if isinstance(node, ast.Attribute | ast.Name):
        table.setdefault(ast.unparse(node), f"srcgrad/rules/{file}:{node.lineno}")
