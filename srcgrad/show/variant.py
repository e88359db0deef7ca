"""What there is to see of a derivative: the primal with its types, the text, and how they relate.

A `Variant` is one mode and one set of types; a page shows several.  This module asks the compiler;
`terminal` and `page` only display.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from srcgrad import pipeline
from srcgrad.analysis.facts import Facts
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Library
from srcgrad.analysis.unit import Spec, Unit, make_unit
from srcgrad.codegen import writer
from srcgrad.errors import ArgumentError, SrcgradError, shown_file
from srcgrad.frontend import source as source_module
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.jobs import Job, Wrt
from srcgrad.rules.registry import Entry
from srcgrad.show.lines import Line, blocks_of, lines_of


@dataclass
class PrimalLine:
    """One line of the user's function."""

    number: int
    text: str
    types: list[tuple[str, str]] = field(default_factory=list)  # what it assigns, as what
    rules: list[Entry] = field(default_factory=list)  # library functions that it calls
    active: bool = False  # a derivative passes through it


@dataclass
class Primal:
    """A function of the user's that the derivative was made from."""

    name: str
    file: str
    lines: list[PrimalLine]

    def has(self, number: int) -> bool:
        return bool(self.lines) and self.lines[0].number <= number <= self.lines[-1].number


@dataclass
class Variant:
    """The derivative in one mode for one set of types, or why there is none."""

    mode: str
    types: str  # as people write them; empty when nothing is known
    primals: list[Primal]
    lines: list[Line]
    text: str
    of: dict[str, int] = field(default_factory=dict)  # generated function -> index of its primal
    error: SrcgradError | None = None

    @property
    def label(self) -> str:
        return self.types or "types not known"

    def primal_of(self, line: Line) -> int | None:
        """The index of the primal in which a line of the derivative has its origin."""
        k = self.of.get(line.function)
        if k is not None and self.primals[k].has(line.origin):
            return k
        return next((k for k, p in enumerate(self.primals) if p.has(line.origin)), None)


@dataclass
class View:
    """Everything a page shows."""

    name: str
    place: str
    wrt: tuple[str, ...]
    variants: list[Variant]


def view(jobs: Sequence[Job]) -> View:
    """The view of one function in several modes or for several types.

    Raises: SrcgradError when there is nothing to see, not even the primal.
    """
    variants: list[Variant] = []
    wrt: tuple[str, ...] = ()
    for job in jobs:
        try:
            request = job.request()
            wrt = request.wrt
            pipeline.function_of(request.fn)
        except ArgumentError:
            raise
        except SrcgradError as error:
            variants.append(_unread(job, error))
        else:
            variants.append(variant(request))
    first = variants[0].primals[0]
    place = f"{first.file}:{first.lines[0].number}" if first.lines else first.file
    return View(first.name, place, wrt or _named(jobs[0].wrt), variants)


def _named(wrt: Wrt) -> tuple[str, ...]:
    return tuple(map(str, wrt)) if isinstance(wrt, tuple) else (str(wrt),)


def _unread(job: Job, error: SrcgradError) -> Variant:
    """A function that can't even be lowered: its text, with the refusal in its place."""
    try:
        found = source_module.read(job.fn)
    except SrcgradError:
        raise error from None
    first = found.node.lineno
    numbers = range(first, (found.node.end_lineno or first) + 1)
    rows = [PrimalLine(n, found.lines[n - 1].rstrip("\r\n").expandtabs(4)) for n in numbers]
    name = getattr(found.node, "name", "lambda")
    primal = Primal(name, shown_file(found.file), _dedented(rows))
    return Variant(job.mode, "", [primal], [], "", error=error)


def variant(request: pipeline.Request) -> Variant:
    """The derivative for a request with what is known of it; a refusal is part of the answer."""
    fn, _ = pipeline.function_of(request.fn)
    types = _types(fn, request)
    try:
        drafted = pipeline.draft([request])
    except SrcgradError as error:
        return _refused(request, fn, types, error)
    tree = pipeline.tree_of(drafted, request)
    text = writer.write(tree)
    specs = _unique([drafted.specs[0], *drafted.made_for.values()])
    primals = [_primal(drafted.program, spec) for spec in specs]
    primals, index = _merged(primals)
    of = {name: index[specs.index(_first(specs, spec))] for name, spec in drafted.made_for.items()}
    blocks = {n: blocks_of(spec.fn) for n, spec in drafted.made_for.items()}
    lines = lines_of(tree, text, blocks)
    return Variant(request.mode, types, primals, lines, text, of)


def _refused(
    request: pipeline.Request, fn: ir.Function, types: str, error: SrcgradError
) -> Variant:
    primals = [Primal(fn.name, shown_file(fn.loc.file), _source(fn))]
    loc = error.loc
    if loc is not None and not (loc.file == fn.loc.file and primals[0].has(loc.line)):
        primals.append(Primal("", shown_file(loc.file), _around(loc)))
    return Variant(request.mode, types, primals, [], "", error=error)


def _around(loc: ir.Loc) -> list[PrimalLine]:
    """The lines around a place in a function that the primal calls."""
    out: list[PrimalLine] = []
    for n in range(max(loc.line - 4, 1), loc.line + 4):
        text = linecache.getline(loc.file, n).rstrip("\r\n")
        if n > loc.line and (not text.strip() or text[0].strip()):
            break
        out.append(PrimalLine(n, text))
    return out


def _types(fn: ir.Function, request: pipeline.Request) -> str:
    pairs = zip(fn.params, request.types, strict=True)
    known = [(p.name, t) for p, t in pairs if not isinstance(t, ty.Unknown)]
    return ", ".join(f"{name} {pipeline.show_type(t)}" for name, t in known)


def _unique(specs: Sequence[Spec]) -> list[Spec]:
    """One for each function: the first, in the order of the text."""
    out: dict[ir.Function, Spec] = {}
    for spec in specs:
        out.setdefault(spec.fn, spec)
    return list(out.values())


def _first(specs: Sequence[Spec], spec: Spec) -> Spec:
    return next(s for s in specs if s.fn is spec.fn)


def _merged(primals: list[Primal]) -> tuple[list[Primal], list[int]]:
    """Nested functions are lines of the one around them; the same lines are shown once."""
    out: list[Primal] = []
    index = []
    for primal in primals:
        place = next((k for k, p in enumerate(out) if _holds(p, primal)), None)
        if place is None:
            out.append(primal)
            place = len(out) - 1
        else:
            _add(out[place], primal)
        index.append(place)
    return out, index


def _holds(outer: Primal, inner: Primal) -> bool:
    if not inner.lines:
        return True
    return outer.file == inner.file and all(outer.has(line.number) for line in inner.lines)


def _add(outer: Primal, inner: Primal) -> None:
    table = {line.number: line for line in outer.lines}
    for line in inner.lines:
        at = table[line.number]
        at.types += [pair for pair in line.types if pair not in at.types]
        at.rules += [entry for entry in line.rules if entry not in at.rules]
        at.active = at.active or line.active


# ---- the primal ----------------------------------------------------------------


def _source(fn: ir.Function) -> list[PrimalLine]:
    """The lines of a function; of a notebook cell or file as `linecache` knows it."""
    found = fn.fn
    last = max([s.loc.end_line for s in ir.walk(fn.body)], default=fn.loc.line)
    last = max(last, fn.loc.end_line) if found is None or fn.loc.end_line > fn.loc.line else last
    rows = [PrimalLine(n, _line(fn, n)) for n in range(fn.loc.line, last + 1)]
    while rows and not rows[-1].text.strip():
        rows.pop()
    return _dedented(rows)


def _line(fn: ir.Function, number: int) -> str:
    return linecache.getline(fn.loc.file, number).rstrip("\r\n").expandtabs(4)


def _dedented(rows: list[PrimalLine]) -> list[PrimalLine]:
    """A method or nested function starts at the left like any other."""
    first = rows[0].text if rows else ""
    cut = len(first) - len(first.lstrip())
    for row in rows:
        row.text = row.text[cut:] if not row.text[:cut].strip() else row.text
    return rows


def _primal(program: Program, spec: Spec) -> Primal:
    rows = _source(spec.fn)
    table = {row.number: row for row in rows}
    facts = program.facts(spec.fn, spec.types)
    at_def = table.get(spec.fn.loc.line)
    if at_def is not None:
        pairs = zip(spec.fn.params, spec.types, strict=False)
        at_def.types = [(p.name, pipeline.show_type(t)) for p, t in pairs if _says(t)]
    unit = make_unit(program, spec)
    for stmt in ir.walk(facts.fn.body):
        row = table.get(stmt.loc.line)
        if row is not None:
            _note(row, stmt, facts)
            row.active = row.active or unit.differentiates(stmt) or _returns_active(unit, stmt)
    return Primal(spec.fn.name, shown_file(spec.fn.loc.file), rows)


def _returns_active(unit: Unit, stmt: ir.Stmt) -> bool:
    return (
        isinstance(stmt, ir.Exit) and isinstance(stmt.value, ir.Var) and unit.is_active(stmt.value)
    )


def _says(t: Any) -> bool:
    return not isinstance(t, ty.Unknown)


def _note(row: PrimalLine, stmt: ir.Stmt, facts: Facts) -> None:
    target = facts.targets.get(stmt.sid)
    if isinstance(target, Library) and _is_call(stmt) and target.entry not in row.rules:
        row.rules.append(target.entry)
    for var in ir.writes(stmt):
        name = _as_written(var.name.split("%")[0], row.text)
        t = facts.types.get(var.name)
        if name and t is not None and _says(t):
            pair = (name, pipeline.show_type(t))
            if pair not in row.types:
                row.types.append(pair)


def _as_written(name: str, line: str) -> str:
    """A variable's name in the user's line: one that is used for several things has a number."""
    stem = re.sub(r"_\d+$", "", name)
    return name if re.search(rf"\b{re.escape(name)}\b", line) else stem


def _is_call(stmt: ir.Stmt) -> bool:
    value = getattr(stmt, "value", None)
    return isinstance(value, ir.Call | ir.Method)
