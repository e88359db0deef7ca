"""Parsed files, and which definition in one is the function that runs.

Owns the cache of parsed files.  A definition is found by its first line and name, and then
believed only when compiling it gives the bytecode that the function has: a file edited after it
was imported, or rewritten while it was, must not pass for the source of what runs.
"""

from __future__ import annotations
import __future__

import ast
import copy
import hashlib
import linecache
import os
import threading
import types
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


class ParsedFile:
    """One text of one file: its tree, its definitions by line, its compiled statements."""

    def __init__(self, file: str, lines: list[str], digest: str) -> None:
        self.file = file
        self.lines = tuple(lines)
        self.digest = digest
        self.tree = ast.parse("".join(lines), filename=file)
        self.found: dict[tuple[int, str], list[Definition]] = {}
        self.by_name: dict[str, list[Definition]] = {}
        self._top: dict[int, int] = {}  # id of a definition -> position of its top statement
        self._codes: dict[tuple[int, int, bool, bool], types.CodeType] = {}
        # A call of an attribute of an imported module compiles to other code than one of a value.
        self._imports = list(_module_imports(self.tree.body))
        for position, statement in enumerate(self.tree.body):
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                    name = getattr(node, "name", "<lambda>")
                    self.found.setdefault((first_line(node), name), []).append(node)
                    self.by_name.setdefault(name, []).append(node)
                    self._top[id(node)] = position

    def candidates(self, code: types.CodeType) -> list[Definition]:
        """The definitions of a code object's name: at its line first, then those elsewhere."""
        here = self.found.get((code.co_firstlineno, code.co_name), [])
        return here + [n for n in self.by_name.get(code.co_name, []) if n not in here]

    def codes(
        self, node: Definition, like: types.CodeType, asserts: bool = True, imports: bool = True
    ) -> list[types.CodeType]:
        """What a definition compiles to, for comparing with `like`, within the top statement that
        it is in: only there do nested functions and captured variables come out right.

        Arguments: with its asserts; in a module with the imports of the file, or by itself."""
        futures = like.co_flags & _FUTURES
        top = self._compiled(self._top[id(node)], futures, asserts, imports)
        name, line = getattr(node, "name", "<lambda>"), first_line(node)
        codes = [c for c in _nested(top) if c.co_name == name and c.co_firstlineno == line]
        if not isinstance(node, ast.Lambda) or len(codes) < 2:
            return codes
        places = {id(c): place for c in codes if (place := span(c)) is not None}
        inside = {key: place for key, place in places.items() if _holds(node.body, place)}
        if not inside:
            return [self._alone(node, like.co_freevars, futures, imports)]
        # Of nested lambdas, all in the node's body, the outermost is the node's own.
        widest = max(inside.values(), key=_width)
        return [c for c in codes if inside.get(id(c)) == widest]

    def _alone(
        self, node: ast.Lambda, captured: tuple[str, ...], futures: int, imports: bool
    ) -> types.CodeType:
        """A lambda compiled by itself, in a function that has the variables it captures: which of
        a line is which can't be seen where Python didn't record columns."""
        outer = ast.parse(f"def outer({', '.join(captured)}): return 0").body[0]
        outer.body = [ast.copy_location(ast.Return(node), node)]  # type: ignore[attr-defined]
        module = ast.Module([*(self._imports if imports else ()), outer], [])
        code = compile(module, self.file, "exec", flags=futures, dont_inherit=True)
        around = next(c for c in _nested(code) if c.co_name == "outer")
        # Lambdas in the defaults come before it.
        return [c for c in around.co_consts if isinstance(c, types.CodeType)][-1]

    def _compiled(
        self, position: int, futures: int, asserts: bool, imports: bool
    ) -> types.CodeType:
        key = (position, futures, asserts, imports)
        if key not in self._codes:
            statement: ast.stmt = self.tree.body[position]
            if not asserts:
                statement = _NoAsserts().visit(copy.deepcopy(statement))
            module = ast.Module([*(self._imports if imports else ()), statement], [])
            self._codes[key] = compile(module, self.file, "exec", flags=futures, dont_inherit=True)
        return self._codes[key]


def _module_imports(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The imports that bind names of the module, in `if` and `try` blocks too."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            if getattr(statement, "module", None) != "__future__":
                yield statement
        elif not isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                for part in getattr(statement, name, None) or ():
                    inner = [part] if isinstance(part, ast.stmt) else part.body
                    yield from _module_imports(inner)


class _NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)


_FILES: OrderedDict[str, tuple[Any, ParsedFile]] = OrderedDict()
_MOST_FILES = 128
_LOCK, _LINES = threading.Lock(), threading.Lock()


def _after_fork() -> None:
    """A thread of the parent may have held a lock; there is no such thread in the child."""
    global _LOCK, _LINES
    _LOCK, _LINES = threading.Lock(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def lines_of(
    file: str, module_globals: dict[str, Any] | None = None, *, again: bool = False
) -> list[str]:
    """The lines of a file as they are now; one thread at a time, as `linecache` drops an entry
    and then looks for it."""
    with _LINES:
        if again:
            entry = linecache.cache.get(file)
            if entry is not None and len(entry) == 4 and entry[1] is not None:
                linecache.cache.pop(file, None)
        else:
            linecache.checkcache(file)
        return linecache.getlines(file, module_globals)


def parsed_file(file: str, module_globals: dict[str, Any], *, again: bool) -> ParsedFile | None:
    """The file parsed, from the cache when its text is unchanged; None when it can't be read.

    `again` reads it from the disk even when its size and time are those of the text at hand.
    """
    lines = lines_of(file, module_globals, again=again)
    if not lines:
        return None
    with _LOCK:
        seen, known = _FILES.get(file, (None, None))
        if known is not None and seen is lines:
            return known
    digest = hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
    if known is None or known.digest != digest:
        try:
            known = ParsedFile(file, lines, digest)
        except (SyntaxError, ValueError):  # edited since, and not Python at the moment
            return None
    with _LOCK:
        _FILES[file] = (lines, known)
        _FILES.move_to_end(file)
        if len(_FILES) > _MOST_FILES:
            _FILES.popitem(last=False)
    return known


def first_line(node: Definition) -> int:
    """The line that a function's code object starts at: that of its first decorator, if any."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from _nested(const)


Span = tuple[tuple[int, int], tuple[int, int]]


def has_assert(node: Definition) -> bool:
    return any(isinstance(n, ast.Assert) for n in ast.walk(node))


def span(code: types.CodeType) -> Span | None:
    """From where to where in the file a code object's instructions come; None if not recorded."""
    known = [p for p in code.co_positions() if None not in p and (p[0], p[2]) != (p[1], p[3])]
    if not known:
        return None
    starts = [(p[0] or 0, p[2] or 0) for p in known]
    ends = [(p[1] or 0, p[3] or 0) for p in known]
    return min(starts), max(ends)


def _width(place: Span) -> tuple[int, int, int, int]:
    (line, column), (end_line, end_column) = place
    return end_line, end_column, -line, -column


def _holds(node: ast.expr, place: Span) -> bool:
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return start <= place[0] and place[1] <= end


def same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two code objects do the same, wherever in a file they stand."""
    return all(getattr(a, k) == getattr(b, k) for k in _COMPARED) and _same_consts(a, b)


_COMPARED = (
    "co_code",
    "co_name",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_exceptiontable",
)


def _same_consts(a: types.CodeType, b: types.CodeType) -> bool:
    if len(a.co_consts) != len(b.co_consts):
        return False
    return all(
        same_code(x, y)
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType)
        else _const_key(x) == _const_key(y)
        for x, y in zip(a.co_consts, b.co_consts, strict=True)
    )


def _const_key(value: Any) -> Any:
    """1, 1.0 and True are equal, and so are 0.0 and -0.0; as constants they differ."""
    if isinstance(value, tuple):
        return tuple(map(_const_key, value))
    if isinstance(value, frozenset):
        return frozenset(map(_const_key, value))
    return type(value), repr(value)


def could_be_rewritten(code: types.CodeType, written: types.CodeType) -> bool:
    """Whether `code` may be `written` (compiled without its asserts) with its asserts rewritten,
    as pytest does: then all that is in `written` has to be in `code`."""
    if code.co_name != written.co_name or _parameters(code) != _parameters(written):
        return False
    have, need = _contents(code), _contents(written)
    return need <= have


def _parameters(code: types.CodeType) -> tuple[int, int, int, int, tuple[str, ...]]:
    stars = code.co_flags & 0x0C  # has *args, has **kwargs
    count = code.co_argcount + code.co_kwonlyargcount + (stars // 4) % 2 + stars // 8
    names = code.co_varnames[:count]
    return code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, stars, names


def _contents(code: types.CodeType) -> set[Any]:
    found: set[Any] = {("name", n) for n in (*code.co_names, *code.co_varnames)}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            found |= _contents(const)
        elif const is not None:  # the value of a return at the end, which an assert may be at
            found.add(("const", _const_key(const)))
    return found
