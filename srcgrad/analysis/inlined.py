"""Users' rules that are written out where they are used, as srcgrad's own are.

    @sg.rule(square)
    def square_rule(g, out, x):        ->     # by the rule square_rule (model.py:9) for square(x)
        return 2.0 * g * x                    x_bar = 2.0 * y_bar * x

What is checked when a rule that is called returns has to be settled by the types here: that each
cotangent has the shape and dtype of its argument.  A rule of which that isn't known is called.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.analysis.effects import summary
from srcgrad.analysis.facts import Facts
from srcgrad.analysis.partials import must_reduce, same_shape
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Bound, Library, Packed, writes_argument
from srcgrad.analysis.types import probe
from srcgrad.analysis.types.user_rules import rule_call
from srcgrad.errors import SrcgradError
from srcgrad.frontend.formulas import is_linear, is_pointwise
from srcgrad.frontend.plain_rules import PlainRule, functions_of, plain_rule
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry, Formula

if TYPE_CHECKING:
    from srcgrad.analysis.unit import Unit

_P = inspect.Parameter
_Types = dict[str, ty.Type]


def _inlined(unit: Unit, stmt: ir.Stmt) -> Library | None:
    """The call of a function with a user's rule as one with formulas, or None where its rule has
    to be called."""
    call = unit.facts.targets.get(stmt.sid)
    if not isinstance(stmt, ir.Assign) or stmt.inplace or not isinstance(call, Library):
        return None
    entry = call.entry
    if not entry.given or call.called is not None or isinstance(entry.target, ir.Function):
        return None
    if not unit.is_active(stmt.target) or unit.kind(stmt.target.name) == "memory":
        return None
    rule = plain_rule(call.entry)
    if rule is None or _writes(unit.program, call):
        return None
    try:
        passed = rule_call(call.entry, call.args)
    except SrcgradError:
        return None  # it is refused where it is called
    if passed.keywords or len(passed.positional) != len(rule.params):
        return None
    args = list(zip(rule.params, passed.positional, strict=True))
    made = _Fitted(unit.facts, call, rule, args, unit.facts.of(stmt.target)).library()
    return made if made is not None and _noted(unit.program, call.entry) else None


def _noted(program: Program, entry: Entry) -> bool:
    """Note the functions of a rule as ones that the text depends on, and the names in them."""
    try:
        for fn in functions_of(entry):
            if fn is not None:
                program.function(fn, ir.Const(None))
    except SrcgradError:
        return False  # it can't be told whether it is as it was
    return True


def _writes(program: Program, call: Library) -> bool:
    """Whether the function may change an argument."""
    if writes_argument(call):
        return True
    source = call.source
    return source is not None and bool(summary(program, source.fn, source.types).stored)


@dataclass
class _Fitted:
    """A plain rule at one call."""

    facts: Facts
    call: Library
    rule: PlainRule
    args: Sequence[tuple[str, Bound]]
    out: ty.Type

    def library(self) -> Library | None:
        types: _Types = {"g": self.out, "out": self.out}
        for name, b in self.args:
            if isinstance(b, Packed):
                return None
            types[name] = self.facts.of(b)
        if not _has_derivative(self.out):
            return None
        formulas: dict[str, ast.expr] = {}
        zero: list[str] = []
        for (name, _), item in zip(self.args, self.rule.items, strict=True):
            if item is None or not _has_derivative(types[name]):
                zero.append(name)
            elif self.fits(item, types[name], types):
                formulas[name] = item
            else:
                return None
        if any(isinstance(types[n], ty.Unknown) for n in zero):
            return None
        return self.made(formulas, zero, types)

    def fits(self, item: ast.expr, t: ty.Type, types: _Types) -> bool:
        """Whether a cotangent surely has the shape and dtype of its argument."""
        found = type_of(item, types)
        if found is None or _dtype(found) != _dtype(t):
            return False
        if isinstance(t, ty.Number) and isinstance(found, ty.Number):
            return True
        if not is_pointwise(item) or not isinstance(found, ty.Array):
            return False
        if sums(self.call.entry):  # the framework sums it down to the argument's shape
            return not must_reduce(self.out, found) and not must_reduce(found, self.out)
        leaves = [types[n] for n in asts.names(item) if n in types]
        arrays = [a for a in leaves if isinstance(a, ty.Array)]
        return all(same_shape(a, t) for a in arrays)

    def made(
        self, formulas: dict[str, ast.expr], zero: list[str], types: _Types
    ) -> Library | None:
        entry = self.call.entry
        pointwise = all(map(is_pointwise, formulas.values())) and (
            sums(entry) or all(_same(types[n], self.out) for n in formulas)
        )
        linear = all(map(is_linear, formulas.values()))
        if self.rule.forward and not (pointwise and linear):
            return None
        texts: dict[str, Formula | None] = {
            n: Formula(ast.unparse(e)) for n, e in formulas.items()
        }
        own = replace(
            entry,
            kind="elementwise" if pointwise and linear else "structured",
            params=inspect.Signature([_P(n, _P.POSITIONAL_ONLY) for n, _ in self.args]),
            vjps=dict(texts),
            jvps={},
            zero=frozenset(zero),
            lanes=pointwise,
        )
        return Library(own, tuple(self.args), called=self.call)


def _has_derivative(t: ty.Type) -> bool:
    return isinstance(t, ty.Number | ty.Array) and ty.can_be_active(t)


def _dtype(t: ty.Type) -> np.dtype[Any] | None:
    match t:
        case ty.Number(cls):
            return np.dtype(cls)
        case ty.Array(dtype):
            return dtype
        case _:
            return None


def _same(a: ty.Type, b: ty.Type) -> bool:
    return same_shape(a, b) or (isinstance(a, ty.Number) and isinstance(b, ty.Number))


def sums(entry: Entry) -> bool:
    """Whether a rule's cotangents have the shape of the result and are summed down: those of
    functions that work element by element."""
    return type(entry.target).__name__ == "ufunc" or (
        entry.builtin is not None and entry.builtin.kind == "elementwise"
    )


def type_of(formula: ast.expr, types: _Types) -> ty.Type | None:
    """The type of a formula whose names have these types."""
    names = [n for n in types if n in asts.names(formula)]
    found = probe.result_type(
        _function(ast.unparse(formula), tuple(names)), [types[n] for n in names]
    )
    return None if isinstance(found, ty.Unknown) else found


@lru_cache(maxsize=1024)
def _function(text: str, names: tuple[str, ...]) -> Any:
    import math

    return eval(f"lambda {', '.join(names)}: {text}", {"np": np, "math": math})


def rules_written_out(unit: Unit) -> Facts:
    """The facts of a function with the rules that are written out in the place of their calls."""
    found = {s.sid: made for s in ir.walk(unit.body) if (made := _inlined(unit, s)) is not None}
    targets = {**unit.facts.targets, **found}
    return replace(unit.facts, targets=targets) if found else unit.facts
