"""From a unit to the functions of the generated module.

A function whose only returns stand at its end becomes one function, forward sweep then reverse
sweep.  Any other becomes a pair: `f_forward` keeps the user's returns and hands what must be kept
to `f_reverse`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.analysis.effects import RESULT
from srcgrad.analysis.record.joinable import joinable
from srcgrad.analysis.record.restoring import restores
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.unit import Spec, Unit, make_unit
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import edges
from srcgrad.transform.adjoint.callee import Callees
from srcgrad.transform.adjoint.closures import Plain
from srcgrad.transform.adjoint.pair import write_pair
from srcgrad.transform.adjoint.seeds import one_for
from srcgrad.transform.adjoint.state import Adj
from srcgrad.transform.adjoint.sweeps import Sweeps, cotangent_name, make_sweeps
from srcgrad.transform.module import Module, base_name
from srcgrad.transform.parameters import arguments, check_result, gradient_of


@dataclass
class Adjoint:
    """Writes the reverse-mode functions of one module."""

    program: Program
    module: Module
    callees: Callees = field(init=False)
    order: list[list[ast.stmt]] = field(default_factory=list)
    single: bool = True
    aux: bool = False
    top_restores: bool = False

    def __post_init__(self) -> None:
        self.callees = Callees(self.pair, Plain(self.program, self.module, self.order))

    # ---- entry points ----

    def top(
        self, spec: Spec, mode: str, wrt: list[str], name: str, aux: bool, single: bool = True
    ) -> None:
        """The function that the user calls: mode grad, value_and_grad or vjp."""
        self.single, self.aux = single, aux
        unit = make_unit(self.program, spec)
        check_result(unit, mode, aux)
        joined = joinable(tuple(unit.body))
        if joined is None:
            lines = self.from_pair(unit, spec, mode, wrt)
        else:
            unit.refresh(joined)
            lines = self.joint(unit, mode, wrt)
        self.order.append([self.define(unit, name, lines, mode)])

    def pair(self, spec: Spec, top: bool = False) -> tuple[str, str]:
        """`f_forward` and `f_reverse` for a specification; names are known before bodies
        (recursion)."""
        got = self.callees.names.get(spec)
        if got is not None:
            return got
        base = base_name(spec.fn)
        names = (self.module.unique(f"{base}_forward"), self.module.unique(f"{base}_reverse"))
        self.callees.names[spec] = names
        sweeps = self.sweeps(make_unit(self.program, spec), want_value=True, joint=False)
        self.order.append(write_pair(sweeps, names, top, self.aux))
        if top:
            self.top_restores = restores(sweeps.found, RESULT)
        return names

    def sweeps(self, unit: Unit, want_value: bool, joint: bool) -> Sweeps:
        return make_sweeps(unit, self.program, self.module, self.callees, want_value, joint)

    # ---- one function ----

    def joint(self, unit: Unit, mode: str, wrt: list[str]) -> list[ast.stmt]:
        """The statements of both sweeps in one function."""
        want_value = mode != "grad" or self.aux
        sweeps = self.sweeps(unit, want_value, joint=True)
        self.start(sweeps, self.seed(sweeps, mode))
        sweeps.write_reverse()
        shadows = edges.shadows(sweeps, edges.shadowed(sweeps, late=True))
        gradients = self.gathered([edges.gradient(sweeps, n) for n in wrt])
        reverse = [*shadows, *sweeps.reverse_body]
        end = sweeps.take()
        kept, gradients = edges.given(sweeps, gradients)
        head = [*kept, *edges.private(sweeps)]
        head += edges.shadows(sweeps, edges.shadowed(sweeps, late=False))
        head += sweeps.slots.declarations() + edges.initial(sweeps, reverse)
        forward = [*head, *sweeps.forward_body]
        if want_value:
            forward += _result_lines(sweeps, reverse)
        reverse += end
        lines = [*_section("forward sweep", forward), *_section("reverse sweep", reverse)]
        if not forward:
            lines = reverse
        return [*lines, ast.Return(self.returns(sweeps.value, gradients, mode))]

    def seed(self, sweeps: Sweeps, mode: str) -> ast.expr:
        unit = sweeps.unit
        if mode == "vjp":
            return syn.name(cotangent_name(unit))
        one = one_for(self.module, unit)
        if not _surely_scalar(unit, self.aux):
            if sweeps.value is None:  # the seed needs the result although the caller does not
                sweeps.write_forward(want_value=True)
            assert sweeps.value is not None
            place = syn.expr("v[0]", v=sweeps.value) if self.aux else sweeps.value
            one = self.module.support("seed", place)
        return syn.tuple_of([one, syn.number(None)]) if self.aux else one

    def start(self, sweeps: Sweeps, seed: ast.expr) -> None:
        """Give the result its cotangent; anything but a name or literal gets a name first."""
        if isinstance(seed, ast.Tuple):
            seed = syn.tuple_of([self.named(sweeps, seed.elts[0]), *seed.elts[1:]])
        sweeps.reverse.state[RESULT] = Adj(self.named(sweeps, seed), False, False)

    def named(self, sweeps: Sweeps, seed: ast.expr) -> ast.expr:
        if not isinstance(seed, ast.Call):
            return seed
        name = sweeps.text.names.fresh("seed")
        sweeps.reverse.emit(syn.assign(name, seed))
        return syn.name(name)

    # ---- a pair ----

    def from_pair(self, unit: Unit, spec: Spec, mode: str, wrt: list[str]) -> list[ast.stmt]:
        """Early returns: a pair of functions, and here the statements that call both."""
        forward, reverse = self.pair(spec, top=True)
        params = [syn.name(p) for p in unit.params]
        names = Names(unit.params)  # which the gradients read at the end
        kept, saved = names.fresh("value"), syn.name(names.fresh("saved"))
        value: ast.expr = syn.name(kept)
        both = syn.tuple_of([value, saved])
        lines: list[ast.stmt] = [syn.assign(both, syn.call(forward, *params))]
        if self.top_restores and mode != "grad":
            # The reverse sweep brings back older elements of what is returned.
            lines.append(syn.assign(kept, self.module.support("own", value)))
        back = syn.call(reverse, self.pair_seed(unit, mode, value), saved)
        active = [n for n, a in zip(unit.params, unit.spec.active, strict=True) if a]
        got = {n: syn.name(names.fresh(f"{n}_bar")) for n in active}
        if got:
            target = got[active[0]] if len(got) == 1 else syn.tuple_of(got.values())
            lines.append(syn.assign(target, back))
        gradients = [
            gradient_of(self.module, unit, w, syn.name(w), got.get(w, syn.number(0.0)))
            for w in wrt
        ]
        return [*lines, ast.Return(self.returns(value, self.gathered(gradients), mode))]

    def pair_seed(self, unit: Unit, mode: str, value: ast.expr) -> ast.expr:
        if mode == "vjp":
            return syn.name(cotangent_name(unit))
        seed = one_for(self.module, unit)
        if not _surely_scalar(unit, self.aux):
            place = syn.expr("v[0]", v=value) if self.aux else value
            seed = self.module.support("seed", place)
        return syn.tuple_of([seed, syn.number(None)]) if self.aux else seed

    # ---- what is returned ----

    def gathered(self, gradients: list[ast.expr]) -> ast.expr:
        return gradients[0] if self.single else syn.tuple_of(gradients)

    def returns(self, value: ast.expr | None, gradients: ast.expr, mode: str) -> ast.expr:
        if mode == "grad":
            if self.aux:
                assert value is not None
                return syn.tuple_of([gradients, syn.expr("v[1]", v=value)])
            return gradients
        assert value is not None
        return syn.tuple_of([value, gradients])

    def define(self, unit: Unit, name: str, lines: list[ast.stmt], mode: str) -> ast.stmt:
        args = arguments(self.module, self.program, unit)
        if mode == "vjp":
            first = ast.arg(cotangent_name(unit))
            (args.posonlyargs if args.posonlyargs else args.args).insert(0, first)
        return syn.function_def(name, args, lines)


def _result_lines(sweeps: Sweeps, reverse: list[ast.stmt]) -> list[ast.stmt]:
    """Keep the result from being changed by the reverse sweep."""
    value = sweeps.value
    if not isinstance(value, ast.Name):
        return []
    if restores(sweeps.found, RESULT):
        fresh = not value.id.startswith("result")
        kept = sweeps.text.names.fresh("result") if fresh else value.id
        sweeps.value = syn.name(kept)
        return [syn.assign(kept, sweeps.module.support("own", value))]
    if any(value.id in syn.names_bound(s) for s in reverse):
        kept = sweeps.text.names.fresh("result")
        sweeps.value = syn.name(kept)
        return [syn.assign(kept, value)]
    return []


def _section(title: str, lines: list[ast.stmt]) -> list[ast.stmt]:
    return [syn.Comment(f"---- {title} ----"), *lines] if lines else []


def _surely_scalar(unit: Unit, aux: bool) -> bool:
    t = unit.facts.result
    if aux:
        t = t.items[0] if isinstance(t, ty.Tuple) and t.items else None
    if isinstance(t, ty.Array):
        return not t.dims
    return isinstance(t, ty.Number)
