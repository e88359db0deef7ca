"""A unit as a pair of functions: `f_forward` keeps the user's returns and hands what must be kept
to `f_reverse`."""

from __future__ import annotations

import ast

from srcgrad.analysis.effects import RESULT
from srcgrad.analysis.record.placement import bound_before
from srcgrad.analysis.unit import Unit
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint import edges
from srcgrad.transform.adjoint.handed import handed
from srcgrad.transform.adjoint.state import Adj
from srcgrad.transform.adjoint.sweeps import Sweeps
from srcgrad.transform.parameters import arguments


def write_pair(sweeps: Sweeps, names: tuple[str, str], top: bool, aux: bool) -> list[ast.stmt]:
    """Both functions; `top`: they are what the user calls, not a callee; `aux`: it returns more
    than what is differentiated."""
    unit, reverse = sweeps.unit, sweeps.reverse
    groups = _groups(unit)
    memory = [n for n, a in zip(unit.params, unit.spec.active, strict=True) if a and n in groups]
    _seed(sweeps, top and aux)
    sweeps.write_reverse()
    late = edges.shadows(sweeps, [n for n in edges.shadowed(sweeps, True) if n not in memory])
    start = edges.private(sweeps) if top else []
    for n in edges.shadowed(sweeps, late=False):
        if n not in memory:
            start.append(syn.assign(reverse.bar(n), sweeps.module.support("bar", syn.name(n))))
    returned = [_gradient(sweeps, n) for n in _returned(unit, groups)]
    result = returned[0] if len(returned) == 1 else syn.tuple_of(returned)
    end = ast.Return(result if returned else syn.number(None))
    body = [*late, *sweeps.reverse_body, *sweeps.take(), end]
    return _functions(sweeps, names, start, body, [reverse.bar(n) for n in memory])


def _groups(unit: Unit) -> set[str]:
    """The parameters whose adjoints are shadows, passed in."""
    groups = unit.spec.groups or (None,) * len(unit.params)
    return {n for n, g in zip(unit.params, groups, strict=True) if g is not None}


def _returned(unit: Unit, groups: set[str]) -> list[str]:
    """The parameters whose adjoints the reverse function returns."""
    parts = zip(unit.params, unit.spec.active, unit.spec.types, strict=True)
    return [n for n, a, t in parts if a and not (n in groups and isinstance(t, ty.Array))]


def _seed(sweeps: Sweeps, aux: bool) -> None:
    """The cotangent of the result is a parameter of the reverse function."""
    spec, reverse, text = sweeps.unit.spec, sweeps.reverse, sweeps.text
    text.names.suffix("bar")
    bar = reverse.result_bar = text.names.fresh("result_bar")
    if spec.result_active and spec.result_memory:
        reverse.state.pop(RESULT, None)
    elif spec.result_active:
        seed: ast.expr = syn.name(bar)
        if aux:
            seed = syn.tuple_of([syn.expr(f"{bar}[0]"), syn.number(None)])
        reverse.state[RESULT] = Adj(seed, False, False)
    if spec.lanes:
        reverse.result_lanes = text.names.fresh("lanes")
    text.names._made["%result", "bar"] = bar
    text.printed[RESULT] = "%result"


def _gradient(sweeps: Sweeps, n: str) -> ast.expr:
    reverse, unit = sweeps.reverse, sweeps.unit
    if not unit.is_active(n):
        if isinstance(unit.type(n), ty.Number):
            return syn.number(0.0)
        return sweeps.module.support("zeros", syn.name(n))
    if unit.kind(n) == "memory":
        return reverse.bar_node(n)
    if n not in reverse.state:
        return reverse.zero(n)
    reverse.full(n)
    return reverse.value(n)


def _functions(
    sweeps: Sweeps,
    names: tuple[str, str],
    start: list[ast.stmt],
    body: list[ast.stmt],
    bars: list[str],
) -> list[ast.stmt]:
    """Pass what the reverse function reads and does not bind itself."""
    unit, reverse, module = sweeps.unit, sweeps.reverse, sweeps.module
    head = [*start, *sweeps.slots.declarations(), *edges.initial(sweeps, body)]
    forward = [*head, *sweeps.forward_body]
    bound = _bound(forward) | set(unit.params) | set(bars)
    carried = [n for n in _names(body) if n in bound]
    early = _maybe_unbound(sweeps, carried, _bound(head))
    forward = [*(syn.assign(n, syn.number(None)) for n in early), *forward]
    returns = _FinishReturns(sweeps, handed(sweeps.text, carried, body))
    forward = [returns.visit(s) for s in forward]
    if carried:
        target = [syn.name(n) for n in carried]
        node = syn.tuple_of(target) if len(target) > 1 else ast.Tuple([target[0]], ast.Load())
        body = [syn.assign(node, syn.name("saved")), *body]
    args = arguments(module, sweeps.program, unit, plain=True)
    args.args += [ast.arg(b) for b in bars]
    given = [reverse.result_bar, "saved", *([reverse.result_lanes] if unit.spec.lanes else [])]
    back = ast.arguments([], [ast.arg(n) for n in given], None, [], [], None, [])
    pair = [syn.function_def(names[0], args, forward), syn.function_def(names[1], back, body)]
    pair[1].srcgrad_forward = pair[0]  # type: ignore[attr-defined]
    return [*pair]


class _FinishReturns(ast.NodeTransformer):
    """Add what the reverse sweep needs to each return of the forward function."""

    def __init__(self, sweeps: Sweeps, saved: ast.expr) -> None:
        self.sweeps, self.saved = sweeps, saved

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        stmt = getattr(node, "srcgrad_exit", None)
        if stmt is None:
            return node
        assert node.value is not None
        parts = [node.value]
        if self.sweeps.unit.spec.result_memory:
            parts.append(self._shadow(stmt.value, node.value))
        made = ast.Return(syn.tuple_of([*parts, self.saved]))
        made.srcgrad_origin = stmt.loc.origin  # type: ignore[attr-defined]
        return made

    def _shadow(self, value: ir.Atom | None, node: ast.expr) -> ast.expr:
        """The shadow of a result that is memory of the caller."""
        unit, module = self.sweeps.unit, self.sweeps.module
        if not isinstance(value, ir.Var) or not unit.is_active(value):
            return module.support("bar", node)
        if unit.kind(value.name) != "memory":
            return module.support("bar", node)
        bar = self.sweeps.reverse.bar_node(value.name)
        if isinstance(unit.type(value.name), ty.Array):
            return bar
        return module.support("alias_bar", node, bar)


def _bound(stmts: list[ast.stmt]) -> set[str]:
    return set().union(*map(syn.names_bound, stmts))


def _names(stmts: list[ast.stmt]) -> list[str]:
    """Names that statements mention, in order of first appearance."""
    found = (n for s in stmts for n in asts.walk(s))
    return list(dict.fromkeys(n.id for n in found if isinstance(n, ast.Name)))


def _maybe_unbound(sweeps: Sweeps, carried: list[str], bound: set[str]) -> list[str]:
    """Names that some return may reach without a value."""
    unit = sweeps.unit
    table = bound_before(unit)
    exits = [s for s in ir.walk(unit.body) if isinstance(s, ir.Exit) and s.kind == "return"]
    at_exits = [{sweeps.text.var(n) for n in table.get(e.sid, ())} for e in exits]
    sure = set.intersection(*at_exits) if at_exits else set()
    sure |= bound | set(unit.params)
    shadows = {sweeps.reverse.bar(n) for n in unit.params if unit.is_active(n)}
    bars = {sweeps.text.names.suffixed(n, "bar") for n in sure}
    return [n for n in carried if n not in sure and n not in shadows and n not in bars]
