"""Numbers read from text that was written from values with a derivative: `float(str(x))`.

No derivative passes through text, so that such a number would count as constant.  A variable is
*written* when its type is one of text and what it is made of carries a derivative, and so is what
takes such a value in: lists, files, arrays of text.  What makes a number of it, in this function
or in one that it is handed to, is refused where the result counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from srcgrad.analysis.effects import may_hold_memory
from srcgrad.analysis.facts import Facts
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Container, Library, User, bound_atoms
from srcgrad.analysis.unit import Unit
from srcgrad.errors import NotDifferentiable, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty


def refuse_numbers_from_text(unit: Unit) -> None:
    """Raise where a number that reaches the result is read from such text."""
    if not writes_text(unit.program):
        return
    found = _Flow(unit.program, unit.facts, unit.body, unit.act.varied)
    found.run()
    for stmt, source in found.numbers:
        if stmt.target.name in unit.act.useful:
            raise located(
                NotDifferentiable,
                stmt.loc,
                "a number is read from text that was written from a value with a derivative, "
                "and no derivative passes through text",
                chain=unit.act.chain(source),
                fixes=[
                    "use the number itself, rounded with round(...) if that is meant",
                    "mark it constant with srcgrad.stop_gradient(...)",
                ],
            )


_WRITERS = (
    str, repr, format, ascii, np.array2string, np.array_str, np.array_repr,
    np.format_float_positional, np.format_float_scientific,
)  # fmt: skip


@dataclass
class _Flow:
    """Where text goes in one function."""

    program: Program
    facts: Facts
    body: ir.Block
    varied: frozenset[str]  # what carries a derivative
    written: dict[str, str] = field(default_factory=dict)  # variable -> a value it was made from
    numbers: list[tuple[ir.Assign, str]] = field(default_factory=list)  # read from such text
    spreads: frozenset[str] = frozenset()  # what may carry one when its operands do
    returned: bool = False  # is what the function returns such text

    def run(self) -> None:
        stmts = list(ir.walk(self.body))
        size = (-1, -1)
        while size != (len(self.written), len(self.varied)):
            size, self.numbers = (len(self.written), len(self.varied)), []
            for stmt in stmts:
                self.stmt(stmt)

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign():
                self.assign(stmt)
            case ir.Store(base=ir.Var(name), value=ir.Var(source)):
                self.pass_on(name, source)
            case ir.Effect(value=ir.Method(ir.Var(name), _) as value):
                for a in ir.operands(value):
                    if isinstance(a, ir.Var) and a.name != name:
                        self.pass_on(name, a.name)
            case ir.Effect(value=value) if (file := _file_of(value)) is not None:
                for a in ir.operands(value):
                    if isinstance(a, ir.Var) and (a.name in self.varied or a.name in self.written):
                        self.written.setdefault(file.name, self.written.get(a.name, a.name))
            case ir.Exit(kind="return", value=ir.Var(name)):
                self.returned |= name in self.written

    def pass_on(self, name: str, source: str) -> None:
        if source in self.written:
            self.written.setdefault(name, self.written[source])

    def assign(self, stmt: ir.Assign) -> None:
        reads = [a.name for a in ir.operands(stmt.value) if isinstance(a, ir.Var)]
        held = [self.written[n] for n in reads if n in self.written]
        varied = [n for n in reads if n in self.varied]
        origins = [*held, *varied]
        t, target = self.facts.of(stmt.target), self.facts.targets.get(stmt.sid)
        if is_text(t) or self.writes(stmt.value):
            if origins:
                self.written.setdefault(stmt.target.name, origins[0])
            return
        if isinstance(target, User) and not isinstance(t, ty.Number | ty.Array):
            if origins and self.callee(target).returned:
                self.written.setdefault(stmt.target.name, origins[0])
        if varied:
            self.varied |= self.spreads & {stmt.target.name}
        counted = isinstance(target, Library) and target.entry.kind == "nondiff"  # `len(text)`
        if not held or counted or not ty.can_be_active(t):
            return
        number = not isinstance(stmt.value, ir.Var | ir.Index | ir.Attr | ir.Build | ir.Closure)
        if isinstance(target, User):
            number = bool(self.callee(target).numbers)
        elif isinstance(target, Container) or self.gives_part(stmt.value):
            number = isinstance(t, ty.Number)
        elif isinstance(stmt.value, ir.Op):
            number = False
        if number:
            self.numbers.append((stmt, held[0]))
        elif may_hold_memory(t) and not isinstance(target, User):
            self.written.setdefault(stmt.target.name, held[0])

    def writes(self, value: ir.Expr) -> bool:
        """Whether an expression is text, whatever is known of its type."""
        if isinstance(value, ir.Method) and value.name == "format":
            return is_text(self.facts.of(value.obj)) or _is_string(value.obj)
        return _may_be_text(value)

    def gives_part(self, value: ir.Expr) -> bool:
        """Whether a method may give the text that its object holds: `file.getvalue()`."""
        return isinstance(value, ir.Method) and not isinstance(self.facts.of(value.obj), ty.Array)

    def callee(self, target: User) -> _Flow:
        """The same in a function that is called, for what its arguments are made of."""
        cache = self.program.__dict__.setdefault("_text_flows", {})
        names = [p.name for p in target.fn.params]
        varied, written = (
            frozenset(
                name
                for name, b in zip(names, target.args, strict=False)
                if any(isinstance(a, ir.Var) and a.name in these for a in bound_atoms(b))
            )
            for these in (self.varied, self.written)
        )
        key = (target.fn, target.types, varied, written)
        if key not in cache:
            facts = self.program.facts(target.fn, target.types)
            body = facts.fn.body
            inner = _Flow(self.program, facts, body, varied, {n: n for n in written})
            inner.spreads = frozenset(v.name for s in ir.walk(body) for v in ir.writes(s))
            cache[key] = inner  # also where it calls itself
            inner.run()
        found: _Flow = cache[key]
        return found


def writes_text(program: Program) -> bool:
    """Whether any function of a program makes text."""
    known = program.__dict__.setdefault("_writes_text", {})
    for fn in program.lowered:
        if fn not in known:
            known[fn] = any(map(_may_be_text, _expressions(fn)))
    return any(known[fn] for fn in program.lowered)


def _expressions(fn: ir.Function) -> Iterator[ir.Expr]:
    """Those of a function and of the functions nested in it."""
    for stmt in ir.walk(fn.body):
        for expr in ir.exprs(stmt):
            yield expr
            if isinstance(expr, ir.Closure):
                yield from _expressions(expr.fn)


def is_text(t: ty.Type | None) -> bool:
    """Whether a value of this type is text, or a container or array of text.

    >>> is_text(ty.List(ty.Other(str))), is_text(ty.Number(float))
    (True, False)
    """
    match t:
        case ty.Other(cls):
            return issubclass(cls, str | bytes | bytearray)
        case ty.Number(cls):
            return issubclass(cls, np.str_ | np.bytes_)
        case ty.Array(dtype, _):
            return dtype.kind in "SU"
        case ty.List(item):
            return is_text(item)
        case ty.Tuple(items):
            return any(map(is_text, items))
        case _:
            return False


def _may_be_text(value: ir.Expr) -> bool:
    """Whether an expression looks like one that makes text."""
    match value:
        case ir.Opaque(node):
            return isinstance(node, ast.JoinedStr | ast.BinOp)  # `"%f" % x`
        case ir.Call(ir.Global(value=fn), _, kwargs):
            return any(fn is one for one in _WRITERS) or (
                fn is print and any(k == "file" for k, _ in kwargs)
            )
        case ir.Op("mod", (left, _)):
            return _is_string(left)
        case ir.Method(_, "format"):
            return True
        case ir.Method(_, "astype", args, kwargs):
            given = [*map(ir.unstar, args[:1]), *(v for k, v in kwargs if k == "dtype")]
            return any(map(_is_text_dtype, given))
    return False


def _is_string(a: ir.Atom) -> bool:
    return isinstance(getattr(a, "value", None), str | bytes)


def _is_text_dtype(a: ir.Atom) -> bool:
    """Whether a dtype known when compiling is one of text or of objects."""
    value = getattr(a, "value", None)
    try:
        return value is not None and np.dtype(value).kind in "SUO"
    except TypeError:
        return False


def _file_of(value: ir.Expr) -> ir.Var | None:
    """The file that `print(..., file=f)` writes to."""
    if isinstance(value, ir.Call) and getattr(value.fn, "value", None) is print:
        for name, a in value.kwargs:
            if name == "file" and isinstance(a, ir.Var):
                return a
    return None
