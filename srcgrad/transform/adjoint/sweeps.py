"""Both sweeps of one unit, written, before they are put into functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.analysis.effects import RESULT
from srcgrad.analysis.recording import Recording, record
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.unit import Unit
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.callee import Callees
from srcgrad.transform.adjoint.dead import dead_statements, forward_reads
from srcgrad.transform.adjoint.forward import Forward
from srcgrad.transform.adjoint.reverse import Reverse
from srcgrad.transform.adjoint.slots import Slots
from srcgrad.transform.adjoint.tapes import Tapes
from srcgrad.transform.module import Module
from srcgrad.transform.text import Text


@dataclass
class Sweeps:
    """The statements of the forward and the reverse sweep of a unit.

    `joint`: both go into one function, where the result stays in a variable."""

    unit: Unit
    program: Program
    module: Module
    callees: Callees
    found: Recording
    text: Text
    slots: Slots
    reverse: Reverse
    joint: bool
    forward_body: list[ast.stmt] = field(default_factory=list)
    reverse_body: list[ast.stmt] = field(default_factory=list)
    value: ast.expr | None = None  # the result as the forward sweep leaves it

    def write_forward(self, want_value: bool) -> None:
        """Write the forward sweep; again with the result, when only the seed needs that."""
        if want_value and self.joint and self.value is None:
            self.value = self._result()
        unit, text = self.unit, self.text
        forward = Forward(unit, self.found, self.module, text, self.slots, self.callees)
        text.uses = forward_reads(unit)
        text.named = forward.named()
        text.dead, text.may_raise = dead_statements(unit, self.found, forward, want_value)
        text.before, text.after, text.handling = forward.before, forward.after, forward.handling
        text.is_hooked = lambda s: bool(text.before(s) or forward.after(s))
        if self.slots.arrays is not None:
            text.before = lambda s: [*self.slots.allocations(s), *forward.before(s)]
        text.pending.clear()

        def replaces(stmt: ir.Stmt) -> list[ast.stmt] | None:
            if isinstance(stmt, ir.Exit) and stmt.kind == "return":
                return self._return(stmt, want_value)
            return forward.replaces(stmt)

        text.replaces, text.is_replaced = replaces, forward.is_replaced
        self.forward_body = text.block(unit.body)

    def write_reverse(self) -> None:
        """Write the reverse sweep."""
        self.reverse.block(self.unit.body)
        self.reverse_body = self.take()

    def take(self) -> list[ast.stmt]:
        """The statements that the reverse sweep has written since."""
        out, self.reverse.out = self.reverse.out, []
        return out

    def _result(self) -> ast.expr:
        """In one function the result stays in its variable where it is simply that."""
        exits = [s for s in ir.walk(self.unit.body) if isinstance(s, ir.Exit)]
        exits = [s for s in exits if s.kind == "return"]
        value = exits[0].value if len(exits) == 1 else None
        if isinstance(value, ir.Var) and not value.is_temp:
            return syn.name(self.text.var(value.name))
        if value is not None and not isinstance(value, ir.Var):
            return self.module.atom(value)
        return syn.name(self.text.names.fresh("result"))

    def _return(self, stmt: ir.Exit, want_value: bool) -> list[ast.stmt]:
        if not self.joint:
            assert stmt.value is not None
            placeholder = ast.Return(self.text.atom(stmt.value))
            placeholder.srcgrad_exit = stmt  # type: ignore[attr-defined]
            return [placeholder]
        if not want_value or stmt.value is None or not isinstance(self.value, ast.Name):
            return []
        node = self.text.atom(stmt.value)
        if isinstance(node, ast.Name) and node.id == self.value.id:
            return []
        return [syn.assign(self.value, node)]


def make_sweeps(
    unit: Unit,
    program: Program,
    module: Module,
    callees: Callees,
    want_value: bool,
    joint: bool,
) -> Sweeps:
    """What both sweeps of a unit need, and its forward sweep."""
    names = Names(_taken(unit))
    found = record(unit, names)
    text = Text(module, unit.facts, names, program=program, unit=unit)
    slots = Slots(found, text)
    if module.backend == "numba":
        slots.arrays = Tapes(found, text)
        text.printed |= {n: names.fresh("k") for n in _nameless(unit)}
    reverse = Reverse(unit, found, module, text, slots, callees)
    slots.reverse_key_of = reverse.key_value
    slots.reverse_place_of = lambda s: ast.Subscript(
        syn.name(text.var(s.base.name)), reverse.key(s.key), ast.Load()
    )
    out = Sweeps(unit, program, module, callees, found, text, slots, reverse, joint)
    out.write_forward(want_value)
    for n, t in unit.facts.types.items():
        if isinstance(t, ty.Array) and ("%" not in n or n in text.printed) and n != RESULT:
            module.note_ndim(text.var(n), len(t.dims))
            module.note_ndim(reverse.bar(n), len(t.dims))
    return out


def _taken(unit: Unit) -> set[str]:
    names = {n for n in unit.facts.types if "%" not in n} | set(unit.params)
    for s in ir.walk(unit.body):
        names |= {v.name for v in (*ir.reads(s), *ir.writes(s)) if "%" not in v.name}
        if isinstance(s, ir.With) and s.bound:
            names.add(s.bound)
    names.discard("")
    return names | {cotangent_name(unit)}


def _nameless(unit: Unit) -> list[str]:
    """Counters called `_`: an array tape is indexed by them, so they need names of their own."""
    loops = (s for s in ir.walk(unit.body) if isinstance(s, ir.For))
    return list(dict.fromkeys(s.target.name for s in loops if s.target.name.split("%")[0] == "_"))


def cotangent_name(unit: Unit) -> str:
    """The name of the cotangent's parameter; a derivative of a vjp has one of that name
    already."""
    name = "cotangent"
    while name in unit.params or name in unit.facts.types:
        name += "_2"
    return name
