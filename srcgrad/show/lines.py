"""Which line of a derivative comes from which line of the primal, and what the line does there.

Owns the relation that both views show.  It reads the generated text; it must know nothing of how
it is displayed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from srcgrad.codegen import writer
from srcgrad.ir import nodes as ir

_TAPE = re.compile(r"_tape(_\d+)?$")
_COMMENT = re.compile(r"# \S+?:(\d+)  ")


@dataclass
class Line:
    """One line of the derivative."""

    number: int
    text: str
    sweep: str = ""  # "forward", "reverse", "tangent", or nothing
    function: str = ""  # the generated function it is in
    origin: int = 0  # the line of the primal it comes from; 0 when it comes from none
    tape: str = ""  # the tape that it fills or empties
    action: str = ""  # "save", "restore"


@dataclass(frozen=True)
class Blocks:
    """The loops and branches of the primal: (kind, first line, last line)."""

    start: int = 0  # the line of the function
    spans: tuple[tuple[str, int, int], ...] = ()

    def around(self, kind: str, lines: Sequence[int]) -> int:
        """The first line of the smallest such statement with these lines inside; 0 if none."""
        inside = [
            (last - first, first)
            for k, first, last in self.spans
            if k == kind and lines and first < min(lines) and max(lines) <= last
        ]
        return min(inside)[1] if inside else 0


def blocks_of(fn: ir.Function) -> Blocks:
    """The loops and branches of a function, from its IR."""
    spans = []
    for stmt in ir.walk(fn.body):
        if isinstance(stmt, ir.For | ir.While | ir.If):
            inner = [s.loc.end_line for block in ir.blocks(stmt) for s in ir.walk(block)]
            kind = "if" if isinstance(stmt, ir.If) else "loop"
            spans.append((kind, stmt.loc.line, max([stmt.loc.line, *inner])))
    return Blocks(fn.loc.line, tuple(spans))


def lines_of(tree: ast.Module, text: str, blocks: Mapping[str, Blocks]) -> list[Line]:
    """The lines of a derivative; `blocks` has those of each generated function's primal.

    >>> tree = ast.parse("def f_grad(x):\\n    y_tape.append(y)\\n    return x")
    >>> tree.body[0].body[0].srcgrad_origin = "model.py", 12
    >>> [(line.origin, line.action) for line in lines_of(tree, writer.write(tree), {})]
    [(0, ''), (12, 'save'), (0, '')]
    """
    rows = [Line(k, line) for k, line in enumerate(text.splitlines(), 1)]
    known = writer.line_table(tree, text)
    for number, (_, origin) in known.items():
        rows[number - 1].origin = origin
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            _Work(rows, node, blocks.get(node.name, Blocks())).run()
    return rows


@dataclass
class _Work:
    """One generated function."""

    rows: list[Line]
    node: ast.FunctionDef
    blocks: Blocks
    tangent: bool = field(init=False)

    def __post_init__(self) -> None:
        name = re.sub(r"_\d+$", "", self.node.name)
        self.tangent = name.endswith(("_tangent", "_jvp"))

    def run(self) -> None:
        first, last = self.node.lineno, self.node.end_lineno or self.node.lineno
        for row in self.rows[first - 1 : last]:
            row.function = self.node.name
        self.sweeps(first, last)
        self.tapes()
        self.fill(self.node.body)
        self.comments(first, last)
        self.ends()

    def sweeps(self, first: int, last: int) -> None:
        name = re.sub(r"_\d+$", "", self.node.name)
        sweep = "tangent" if self.tangent else "forward"
        if name.endswith("_reverse"):
            sweep = "reverse"
        elif not any("# ---- reverse sweep" in r.text for r in self.rows[first - 1 : last]):
            # A derivative that needs nothing of the forward sweep starts with the reverse.
            sweep = sweep if self.tangent or name.endswith("_forward") else "reverse"
        for row in self.rows[first:last]:
            if "# ---- reverse sweep" in row.text:
                sweep = "reverse"
            row.sweep = sweep

    def tapes(self) -> None:
        for stmt in ast.walk(self.node):
            tape, action = _tape_use(stmt)
            if tape and isinstance(stmt, ast.stmt):
                row = self.rows[stmt.lineno - 1]
                row.tape, row.action = tape, action

    # ---- origins of lines that the table doesn't know ----

    def fill(self, body: Sequence[ast.stmt]) -> None:
        """A compound statement comes from the one around what its lines come from; a restored
        value from where it was saved; any other line from where its neighbour comes from."""
        for stmt in body:
            for inner in _bodies(stmt):
                self.fill(inner)
            if _bodies(stmt):
                self.compound(stmt)
        self.saves(body)
        if self.tangent:
            self.neighbours(list(reversed(body)))
        self.neighbours(body)

    def neighbours(self, body: Sequence[ast.stmt]) -> None:
        at, sweep = 0, ""
        for stmt in body:
            row = self.rows[stmt.lineno - 1]
            at, sweep = (at if row.sweep == sweep else 0), row.sweep
            if isinstance(stmt, ast.Return) or _bodies(stmt) or _starts_tapes(stmt):
                continue
            at = row.origin = row.origin or self.saved_at(row) or self.noted(row.number) or at
            for number in range(row.number + 1, (stmt.end_lineno or row.number) + 1):
                self.rows[number - 1].origin = row.origin

    def saves(self, body: Sequence[ast.stmt]) -> None:
        """A value is saved after the statement that makes it, or before the one that ends it."""
        for k, stmt in enumerate(body):
            row = self.rows[stmt.lineno - 1]
            if row.action == "save" and not row.origin:
                before = body[k - 1] if k else None
                if before is not None and _reads(stmt) & _writes(before):
                    row.origin = self.rows[before.lineno - 1].origin
                following = (self.rows[s.lineno - 1].origin for s in body[k + 1 :])
                row.origin = row.origin or next(filter(None, following), 0)

    def compound(self, stmt: ast.stmt) -> None:
        row = self.rows[stmt.lineno - 1]
        if not row.origin:
            kind = "if" if isinstance(stmt, ast.If) else "loop"
            lines = [r.origin for s in ast.walk(stmt) if (r := self.row(s)) and r.origin]
            row.origin = self.blocks.around(kind, lines)
        other = getattr(stmt, "orelse", None)
        if other:
            for number in range(other[0].lineno - 1, stmt.lineno, -1):
                if self.rows[number - 1].text.strip() == "else:":
                    self.rows[number - 1].origin = row.origin
                    break

    def saved_at(self, row: Line) -> int:
        if row.action != "restore":
            return 0
        saves = (r.origin for r in self.rows if r.action == "save" and r.tape == row.tape)
        return next(saves, 0)

    def ends(self) -> None:
        """The arguments: the signature, and what is returned of a derivative."""
        start = self.blocks.start
        self.rows[self.node.lineno - 1].origin = start
        last = self.node.body[-1]
        if isinstance(last, ast.Return) and self.rows[last.lineno - 1].sweep == "reverse":
            self.rows[last.lineno - 1].origin = start
        first = self.node.body[0]
        if self.tangent and isinstance(first, ast.Assign) and _is_name(first.value, "tangents"):
            self.rows[first.lineno - 1].origin = start

    def noted(self, number: int) -> int:
        """The origin that a comment right above a line names."""
        above = self.rows[number - 2].text.strip() if number >= 2 else ""
        found = _COMMENT.match(above)
        return int(found[1]) if found else 0

    def row(self, node: ast.AST) -> Line | None:
        number = getattr(node, "lineno", 0)
        return self.rows[number - 1] if number and isinstance(node, ast.stmt) else None

    def comments(self, first: int, last: int) -> None:
        for row in self.rows[first - 1 : last]:
            found = _COMMENT.match(row.text.strip())
            if found:
                row.origin = int(found[1])


def _bodies(stmt: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(stmt, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list) and block]


def _starts_tapes(stmt: ast.stmt) -> bool:
    """`a_tape, b_tape = [], []`"""
    names = [
        n.id for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    return isinstance(stmt, ast.Assign) and bool(names) and all(map(_TAPE.search, names))


def _reads(stmt: ast.stmt) -> set[str]:
    found = (n for n in ast.walk(stmt) if isinstance(n, ast.Name))
    return {n.id for n in found if isinstance(n.ctx, ast.Load) and not _TAPE.search(n.id)}


def _writes(stmt: ast.stmt) -> set[str]:
    found = (n for n in ast.walk(stmt) if isinstance(n, ast.Name))
    return {n.id for n in found if isinstance(n.ctx, ast.Store)}


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _tape_use(stmt: ast.AST) -> tuple[str, str]:
    """The tape that a statement fills or empties, and which."""
    match stmt:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "append"))) if _TAPE.search(name):
            return name, "save"
        case ast.Assign(value=ast.Call(ast.Attribute(ast.Name(id=name), "pop"))) if _TAPE.search(
            name
        ):
            return name, "restore"
        case ast.Assign(targets=[ast.Subscript(ast.Name(id=name))]) if _TAPE.search(name):
            return name, "save"
        case ast.Assign(value=ast.Subscript(ast.Name(id=name))) if _TAPE.search(name):
            return name, "restore"
    return "", ""
