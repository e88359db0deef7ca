"""Numbers read from text that was written from values with a derivative: `float(str(x))`.

Nothing follows a derivative through text, so that such a number would count as constant.
"""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.analysis.unit import Unit
from srcgrad.errors import NotDifferentiable, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

_WRITES = (
    str, repr, format, ascii, np.array2string, np.array_str, np.array_repr,
    np.format_float_positional, np.format_float_scientific,
)  # fmt: skip
_READS = (
    float, complex, np.float64, np.float32, np.float16, np.longdouble, np.complex128,
    np.fromstring, np.array, np.asarray, np.genfromtxt, np.loadtxt, ast.literal_eval,
)  # fmt: skip
_TEXT_METHODS = frozenset({
    "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "partition", "rpartition",
    "replace", "join", "format", "lower", "upper", "removeprefix", "removesuffix", "zfill",
    "translate", "encode", "decode", "pop", "append",
})  # fmt: skip


def refuse_numbers_from_text(unit: Unit) -> None:
    """Raise where a number that reaches the result is read from such text."""
    written = _written(unit)
    if not written:
        return
    for stmt in ir.walk(unit.body):
        if not isinstance(stmt, ir.Assign) or not isinstance(stmt.value, ir.Call):
            continue
        fn = stmt.value.fn
        if not isinstance(fn, ir.Global) or not any(fn.value is f for f in _READS):
            continue
        read = [a for a in ir.operands(stmt.value) if isinstance(a, ir.Var) and a.name in written]
        if read and stmt.target.name in unit.act.useful:
            raise located(
                NotDifferentiable,
                stmt.loc,
                "a number is read from text that was written from a value with a derivative, "
                "and no derivative passes through text",
                chain=unit.act.chain(written[read[0].name]),
                fixes=[
                    "use the number itself, rounded with round(...) if that is meant",
                    "mark it constant with srcgrad.stop_gradient(...)",
                ],
            )


def _written(unit: Unit) -> dict[str, str]:
    """The variables that hold text from values with a derivative, and one such value of each."""
    out: dict[str, str] = {}
    varied = unit.act.varied
    while True:
        size = len(out)
        for stmt in ir.walk(unit.body):
            match stmt:
                case ir.Assign():
                    targets, value = [stmt.target.name], stmt.value
                case ir.Effect(value=ir.Method(ir.Var(name), _) as value):
                    targets = [name]  # items.append(text)
                case _:
                    continue
            origin = _origin(value, varied, out, unit)
            if origin is not None:
                for target in targets:
                    out.setdefault(target, origin)
        if len(out) == size:
            return out


def _origin(
    value: ir.Expr, varied: frozenset[str], texts: dict[str, str], unit: Unit
) -> str | None:
    """The value with a derivative that an expression's text was written from."""
    reads = [a.name for a in ir.operands(value) if isinstance(a, ir.Var)]
    numbers = [n for n in reads if n in varied and not _is_text(unit, n)]
    held = [texts[n] for n in reads if n in texts]
    match value:
        case ir.Call(ir.Global(value=fn)) if any(fn is w for w in _WRITES):
            return next(iter(numbers), None) or next(iter(held), None)
        case ir.Opaque(node) if any(isinstance(n, ast.JoinedStr) for n in ast.walk(node)):
            return next(iter(numbers), None) or next(iter(held), None)
        case ir.Method(_, name) if name in _TEXT_METHODS:
            return next(iter(held), None) or (
                next(iter(numbers), None) if name == "format" else None
            )
        case ir.Op("mod") if any(_is_text(unit, n) for n in reads) or _has_text(value):
            return next(iter(numbers), None) or next(iter(held), None)
        case ir.Var() | ir.Index() | ir.Build() | ir.Op("add"):
            return next(iter(held), None)
        case ir.Call(ir.Global(value=fn)) if getattr(fn, "__name__", "") in ("sequence", "list"):
            return next(iter(held), None)
        case _:
            return None


def _is_text(unit: Unit, name: str) -> bool:
    t = unit.facts.types.get(name)
    return (isinstance(t, ty.Other) and t.cls is str) or (
        isinstance(t, ty.Literal) and isinstance(t.value, str)
    )


def _has_text(value: ir.Expr) -> bool:
    return any(isinstance(a, ir.Const) and isinstance(a.value, str) for a in ir.operands(value))
