"""Where the nan or inf of a derivative was made.

The generated text is run once more with a look at each statement: the first one that turns finite
values into one that is not is where to look.  Values that were not finite to begin with, or that a
mask throws away later, are not to blame, so nothing is said while the derivative itself is finite.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from srcgrad import trees
from srcgrad.compiled import Compiled
from srcgrad.errors import ArgumentError, SrcgradError, shown_file

_ORIGIN = re.compile(r"# (\S+?):(\d+)  (.*)")
_NOTE = "_srcgrad_note"


class NonFiniteDerivative(SrcgradError, FloatingPointError):
    """A derivative has a nan or inf; raised under SRCGRAD_DEBUG=1, with the line that made it."""


@dataclass(frozen=True)
class Origin:
    """The first statement of a sweep that made a nan or inf of finite values."""

    place: str  # of the primal: "model.py:7"
    line: str  # the primal's statement
    number: int  # of the generated line
    statement: str  # the generated one
    value: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        read = "".join(f"\n      {o}" for o in self.operands)
        return (
            f"{self.place}  {self.line}\n    generated line {self.number}: {self.statement}\n"
            f"    made {self.value} of{read}"
        )


@dataclass(frozen=True)
class Trace:
    """What `trace_nan` found."""

    name: str
    where: tuple[str, ...]  # the parts of the derivative that are not finite
    reverse: Origin | None  # in the reverse sweep, or in the propagation of tangents
    forward: Origin | None  # in the primal's own values

    def __str__(self) -> str:
        lines = [f"{self.name} is not finite: {', '.join(self.where)}"]
        if self.reverse is not None:
            lines.append(f"first in the derivative, at {self.reverse}")
        if self.forward is not None:
            lines.append(f"first in the function's own values, at {self.forward}")
        if self.reverse is None and self.forward is None:
            lines.append("it came in with the arguments")
        return "\n".join(lines)


def trace_nan(df: Any, /, *args: Any, **kwargs: Any) -> Trace | None:
    """The statements that made the nan or inf of a derivative; None when it is finite.

    Example:
        >>> import numpy as np, srcgrad as sg
        >>> def f(x):
        ...     y = np.sqrt(x)
        ...     return np.sum(y * y)
        >>> found = sg.trace_nan(sg.grad(f), np.array([4.0, 0.0]))
        >>> found.reverse.line
        'y = np.sqrt(x)'
        >>> found.reverse.operands[0]
        'y_bar = array of shape (2,) from 0 to 4, 1 zero'

    Arguments: a derivative made by `grad`, `value_and_grad`, `vjp`, `jvp` or `hvp`; the arguments
    of a call.
    Returns: what to print: the primal's line, the generated statement, the values it read.
    Raises: ArgumentError for anything else than such a derivative.
    """
    df = getattr(df, "_tangent", df)
    if not hasattr(df, "_prepared"):
        raise ArgumentError(f"trace_nan takes a derivative and its arguments, not {df!r}")
    made, positional, named = df._prepared(args, kwargs)
    if made.backend is not None:  # compiled code can't be looked into: its NumPy text is run
        made = df.for_numpy(args, kwargs)
    watch = _Watch(made)
    with np.errstate(all="ignore"):
        result = watch.function(*positional, **named)
    bad = [(path, leaf) for path, leaf in trees.leaves(result) if not np.all(np.isfinite(leaf))]
    if not bad:
        return None
    where = tuple(f"result{path} has {_kind(leaf)}" for path, leaf in bad)
    return Trace(df.__name__, where, watch.first(True), watch.first(False))


def _kind(value: Any) -> str:
    return "nan" if np.any(np.isnan(value)) else "inf"


@dataclass
class _Statement:
    """A statement of the generated text that is looked at when it has run."""

    number: int
    written: tuple[str, ...]
    read: tuple[str, ...]
    derivative: bool  # of the reverse sweep or a tangent


@dataclass
class _Event:
    statement: _Statement
    value: str
    operands: tuple[str, ...]


@dataclass
class _Watch:
    """The generated module with a look at every statement."""

    made: Compiled
    statements: list[_Statement] = field(default_factory=list)
    events: dict[bool, _Event] = field(default_factory=dict)
    running: list[tuple[int, bool, tuple[str, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        tree = ast.parse(self.made.text)
        self.rows = self.made.text.splitlines()
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                node.body = self._block(node.body)
        ast.fix_missing_locations(tree)
        names = dict(vars(self.made.module))
        names[_NOTE] = self._note
        exec(compile(tree, str(self.made.module.__file__), "exec"), names)
        self.function = names[self.made.name]

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for stmt in body:
            for name in ("body", "orelse", "finalbody"):
                if isinstance(getattr(stmt, name, None), list):
                    setattr(stmt, name, self._block(getattr(stmt, name)))
            if written := _written(stmt):
                derivative = any(map(_is_derivative, written)) or self._in_reverse(stmt.lineno)
                read = tuple(dict.fromkeys(_names(stmt)))
                self.statements.append(_Statement(stmt.lineno, written, read, derivative))
                k = len(self.statements) - 1
                out += [self._look(k, "before", stmt), stmt, self._look(k, "after", stmt)]
            else:
                out.append(stmt)
        return out

    def _in_reverse(self, number: int) -> bool:
        """Whether a line stands below the mark of the reverse sweep."""
        marks = (row for row in reversed(self.rows[: number - 1]) if "# ----" in row)
        return "reverse" in next(marks, "")

    def _look(self, k: int, when: str, stmt: ast.stmt) -> ast.stmt:
        call = ast.parse(f"{_NOTE}({k}, {when!r}, locals())").body[0]
        return ast.copy_location(call, stmt)

    def _note(self, k: int, when: str, names: dict[str, Any]) -> None:
        statement = self.statements[k]
        if statement.derivative in self.events:
            return
        if when == "before":
            values = [(n, names[n]) for n in statement.read if n in names]
            clean = bool(values) and all(_is_finite(v) for _, v in values)
            operands = tuple(f"{n} = {_shown(v)}" for n, v in values if _shown(v))
            self.running.append((k, clean, operands))
            return
        while self.running:  # those that an exception left behind go too
            began, clean, operands = self.running.pop()
            if began == k:
                break
        else:
            return
        if not clean:
            return
        for name in statement.written:
            value = names.get(name)
            if not _is_finite(value):
                shown = f"{name} = {_shown(value)}"
                self.events[statement.derivative] = _Event(statement, shown, operands)
                return

    def first(self, derivative: bool) -> Origin | None:
        """The first statement that is to blame, in the derivative or in the primal's values."""
        event = self.events.get(derivative)
        if event is None:
            return None
        number = event.statement.number
        place, line = _origin(self.made, number)
        shown = " ".join(ast.unparse(_at(self.made.text, number)).split())
        return Origin(place, line, number, shown, event.value, event.operands)


def _origin(made: Compiled, number: int) -> tuple[str, str]:
    """The primal's line behind a generated one: the comment of its group says it, or the table of
    lines; through derivatives of derivatives down to what a person wrote."""
    file, line, text = shown_file(made.file), 0, ""
    for row in reversed(made.text.splitlines()[: number - 1]):
        found = _ORIGIN.match(row.strip())
        if found:
            line, text = int(found[2]), found[3]
            if found[1] != os.path.basename(file):
                file = found[1]
        if found or "# ----" in row or row.startswith("def "):
            break
    if not line or os.path.basename(file) != os.path.basename(made.file):
        near = sorted((number, number - 1, number + 1), key=partial(_distance, made.text, number))
        place, at = next((found for found in map(made.place, near) if found[1]), (file, line))
        if at:
            file, line, text = shown_file(place), at, linecache.getline(place, at).strip()
    return f"{file}:{line}", text


def _distance(text: str, number: int, other: int) -> int:
    """A tangent stands beside the statement that it belongs to: that of the same variable."""
    if number == other:
        return 0
    rows = text.splitlines()
    name = re.sub(r"_dot(_\d+)?$", "", rows[number - 1].split()[0])
    there = rows[other - 1].split() if 0 < other <= len(rows) else []
    return 1 if there[:1] == [name] else 2


def _at(text: str, number: int) -> ast.stmt:
    found = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt)]
    return next(n for n in found if n.lineno == number)


def _is_derivative(name: str) -> bool:
    return re.search(r"_(bar|dot)(_\d+)?$", name) is not None


def _written(stmt: ast.stmt) -> tuple[str, ...]:
    """The names whose values a statement may change, containers that it writes into included."""
    match stmt:
        case ast.Assign(targets=targets):
            parts: list[ast.expr] = list(targets)
        case ast.AugAssign(target=target):
            parts = [target]
        case ast.Expr(
            value=ast.Call(args=[first, *_], func=ast.Attribute(value=ast.Name("support")))
        ):
            parts = [first]
        case _:
            return ()
    names = []
    for part in parts:
        for node in ast.walk(part):
            base: ast.AST = node
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                names.append(base.id)
    return tuple(dict.fromkeys(names))


def _names(stmt: ast.stmt) -> Iterator[str]:
    """The variables whose values count for what a statement makes, as they stand in it."""
    names = [n for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    yield from (n.id for n in sorted(names, key=lambda n: (n.lineno, n.col_offset)))
    if isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name):
        yield stmt.target.id


def _is_finite(value: Any) -> bool:
    try:
        return all(bool(np.all(np.isfinite(leaf))) for _, leaf in trees.leaves(value))
    except TypeError:
        return True


def _shown(value: Any) -> str:
    """A number as it is; of an array what could be to blame."""
    if isinstance(value, float | int | complex | np.number) and not isinstance(value, bool):
        return f"{value:.6g}"
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fciu" or value.size == 0:
        return ""
    finite = value[np.isfinite(value)]
    said = f"array of shape {value.shape}"
    if finite.size and value.dtype.kind != "c":
        said += f" from {np.min(finite):.6g} to {np.max(finite):.6g}"
    counts = {
        "zero": int(np.sum(value == 0)),
        "nan": int(np.sum(np.isnan(value))),
        "inf": int(np.sum(np.isinf(value))),
    }
    return said + "".join(f", {n} {word}" for word, n in counts.items() if n)


__all__ = ["NonFiniteDerivative", "Origin", "Trace", "trace_nan"]
