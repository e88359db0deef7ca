"""Copies the helpers that a generated module uses into it, and only those it reaches.

Owns reading `srcgrad/runtime/support` as text.  The copies keep their comments; of their
docstrings the first paragraph stays.
"""

from __future__ import annotations

import ast
import importlib.util
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from srcgrad.codegen import writer
from srcgrad.codegen.printer import LIMIT
from srcgrad.errors import InternalError
from srcgrad.runtime.support import later

PACKAGE = "srcgrad.runtime.support"
_Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
_Place = tuple[str, str]  # module, name


@dataclass(frozen=True)
class Source:
    """One module of helpers: what it defines and what it imports."""

    lines: tuple[str, ...]
    definitions: dict[str, _Definition]
    ours: dict[str, _Place]  # names imported from other modules of helpers
    others: dict[str, ast.Import | ast.ImportFrom]


@dataclass
class Copies:
    """Helpers to copy, each after those it needs, and the imports they need."""

    order: list[_Place] = field(default_factory=list)
    imports: dict[str, ast.Import | ast.ImportFrom] = field(default_factory=dict)  # by name bound
    same: dict[_Place, _Place] = field(default_factory=dict)  # constants that several modules have

    def names(self, taken: Iterable[str]) -> dict[_Place, str]:
        """A private name for each, none of which is taken."""
        used, out = set(taken) | set(self.imports), {}
        for place in self.order:
            base = "_" + place[1].lstrip("_")
            name, k = base, 1
            while name in used:
                k += 1
                name = f"{base}_{k}"
            used.add(name)
            out[place] = name
        return out | {place: out[first] for place, first in self.same.items()}

    def text(self, names: dict[_Place, str]) -> str:
        """The copies under these names."""
        pieces: list[str] = []
        for k, place in enumerate(self.order):
            node = _source(place[0]).definitions[place[1]]
            short = isinstance(node, ast.Assign | ast.AnnAssign)
            before = _source(self.order[k - 1][0]).definitions[self.order[k - 1][1]] if k else None
            joined = short and isinstance(before, ast.Assign | ast.AnnAssign)
            text = _renamed(place, node, names)
            if max(map(len, text.splitlines())) > LIMIT:
                text = writer.write(ast.parse(text))
            pieces.append(("" if joined or not k else "\n\n") + text)
        return "".join(pieces)


def reached(wanted: Iterable[str]) -> Copies:
    """All that the helpers of these names need.

    >>> [name for _, name in reached(["safe_divide"]).order][-1]
    'safe_divide'
    """
    out = Copies()
    seen: set[_Place] = set()
    for name in sorted(set(wanted)):
        _reach(_home((PACKAGE, name)), out, seen)
    return out


def _reach(place: _Place, out: Copies, seen: set[_Place]) -> None:
    if place in seen:
        return
    seen.add(place)
    module, name = place
    source = _source(module)
    node = source.definitions.get(name)
    if node is None:
        raise InternalError(f"{module} defines no {name}")
    if isinstance(node, ast.Assign):
        for other in out.order:
            if other[1] == name and ast.dump(_source(other[0]).definitions[name]) == ast.dump(
                node
            ):
                out.same[place] = other
                return
    for free in sorted(_free(node)):
        if free in source.definitions:
            _reach((module, free), out, seen)
        elif free in source.ours:
            _reach(_home(source.ours[free]), out, seen)
        elif free in source.others:
            out.imports[free] = source.others[free]
    out.order.append(place)


def _home(place: _Place) -> _Place:
    """Where a name is defined that is perhaps only passed on."""
    while place[1] not in (source := _source(place[0])).definitions:
        if place[1] not in source.ours:
            return _later(place)
        place = source.ours[place[1]]
    return place


def _later(place: _Place) -> _Place:
    """Where a helper is that is loaded when it is needed."""
    for name in later.MODULES:
        if place[1] in _source(f"{PACKAGE}.{name}").definitions:
            return f"{PACKAGE}.{name}", place[1]
    raise InternalError(f"{place[0]} has no {place[1]}")


# ---- reading -----------------------------------------------------------------


@cache
def _source(module: str) -> Source:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise InternalError(f"the source of {module} can't be read")
    text = Path(spec.origin).read_text(encoding="utf-8")
    found = Source(tuple(text.splitlines()), {}, {}, {})
    for node in ast.parse(text).body:
        _note(node, found)
    return found


def _note(node: ast.stmt, found: Source) -> None:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            found.definitions[name] = node
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            if not name.startswith("__"):
                found.definitions[name] = node
        case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
            offered = (name for name in _source(module).definitions if name[0] != "_")
            found.ours.update({name: (module, name) for name in offered})
        case ast.ImportFrom(module=str(module), names=names) if module.startswith(PACKAGE):
            found.ours.update({a.asname or a.name: (module, a.name) for a in names})
        case ast.ImportFrom(module=str(module), names=names) if module != "__future__":
            for a in names:
                found.others[a.asname or a.name] = ast.ImportFrom(module, [a], 0)
        case ast.Import(names=names):
            for a in names:
                found.others[a.asname or a.name] = ast.Import([a])


def _free(node: ast.AST) -> set[str]:
    """The names of its module that a definition mentions."""
    bound: set[str] = set()
    mentioned: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                mentioned.add(name)
            case ast.Name(id=name) if not isinstance(node, ast.Assign | ast.AnnAssign):
                bound.add(name)
            case ast.arg(arg=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name)
    own = getattr(node, "name", None)
    return mentioned - bound - {own}


# ---- writing -----------------------------------------------------------------


def _renamed(place: _Place, node: _Definition, names: dict[_Place, str]) -> str:
    """The text of a definition with the helpers it mentions under their new names."""
    source = _source(place[0])
    free = _free(node)
    new = {
        name: names[_home(source.ours.get(name, (place[0], name)))]
        for name in free
        if name in source.definitions or name in source.ours
    }
    own = place[1]
    new[own] = names[place]
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    rows = [row.encode() for row in source.lines[first - 1 : node.end_lineno]]
    for line, col, old in sorted(_mentions(node, own, set(new)), reverse=True):
        row = rows[line - first]
        rows[line - first] = row[:col] + new[old].encode() + row[col + len(old.encode()) :]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        _shorten(node, rows, first)
    return "\n".join(row.decode() for row in rows) + "\n"


def _mentions(node: _Definition, own: str, names: set[str]) -> list[tuple[int, int, str]]:
    """Where the names stand: line, byte column, name."""
    out = []
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        skip = "class " if isinstance(node, ast.ClassDef) else "def "
        out.append((node.lineno, node.col_offset + len(skip), own))
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in names:
            out.append((part.lineno, part.col_offset, part.id))
    return out


def _shorten(node: ast.FunctionDef | ast.ClassDef, rows: list[bytes], first: int) -> None:
    """Leaves the first paragraph of the docstring; examples use the helper's old name."""
    start = node.body[0]
    text = ast.get_docstring(node)
    if text is None or len(node.body) == 1:
        return
    head = " ".join(text.split("\n\n")[0].split())
    end = start.end_lineno or start.lineno
    pad = b" " * start.col_offset
    quoted = textwrap.wrap(f'"""{head}', LIMIT - start.col_offset - 3)
    quoted = [f'{quoted[0]}"""'] if len(quoted) == 1 else [*quoted, '"""']
    rows[start.lineno - first : end - first + 1] = [pad + row.encode() for row in quoted]
