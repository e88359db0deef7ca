"""The forward-mode functions of one module: the one that the user calls, and callees."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.analysis.resolve import Program
from srcgrad.analysis.unit import Spec, make_unit
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.assemble import Adjoint
from srcgrad.transform.module import Module, base_name
from srcgrad.transform.parameters import arguments, tangents_name
from srcgrad.transform.tangent.walk import Walk


@dataclass
class Tangent:
    """Writes the forward-mode functions of one module."""

    program: Program
    module: Module
    order: list[list[ast.stmt]] = field(default_factory=list)
    names: dict[Spec, str] = field(default_factory=dict)
    adjoint: Adjoint | None = None

    def top(self, spec: Spec, wrt: list[str], name: str, single: bool) -> None:
        """The function that the user calls: (tangents, *args) -> (value, tangent)."""
        unit = make_unit(self.program, spec)
        work = Walk(self, unit)
        lines = work.top_lines(wrt, single)
        args = arguments(self.module, self.program, unit)
        first = ast.arg(tangents_name(unit))
        (args.posonlyargs if args.posonlyargs else args.args).insert(0, first)
        self.order.append([syn.function_def(name, args, lines)])

    def reverse_mode(self) -> Adjoint:
        """Writes reverse sweeps into the same module: of rules, whose transposes they are.  What
        is
        overridden for the program is not for its rules."""
        if self.adjoint is None:
            self.adjoint = Adjoint(Program(builtin=True), self.module)
            self.adjoint.order = self.adjoint.callees.plain.order = self.order
        return self.adjoint

    def callee(self, spec: Spec) -> str:
        """`f_tangent(args..., tangents of active args...)`, compiled once for each use."""
        got = self.names.get(spec)
        if got is None:
            got = self.names[spec] = self.module.unique(f"{base_name(spec.fn)}_tangent")
            unit = make_unit(self.program, spec)
            work = Walk(self, unit)
            lines = work.callee_lines()
            args = arguments(self.module, self.program, unit, plain=True)
            active = [n for n, a in zip(unit.params, spec.active, strict=True) if a]
            args.args += [ast.arg(work.dot_name(n)) for n in active]
            self.order.append([syn.function_def(got, args, lines)])
        return got
