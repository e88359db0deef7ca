"""From a unit to the functions of the generated module.

A function whose only returns stand at its end becomes one function, forward sweep then reverse
sweep.  Any other becomes a pair: `f_forward` keeps the user's returns and hands what must be kept
to `f_reverse`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from srcgrad.analysis.control import escaping
from srcgrad.analysis.effects import RESULT, may_hold_memory
from srcgrad.analysis.needs import saved_name
from srcgrad.analysis.recording import Recording, record
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.unit import Spec, Unit, make_unit
from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.ir.names import Names
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.callee import Callees
from srcgrad.transform.adjoint.closures import Plain
from srcgrad.transform.adjoint.dead import dead_statements, forward_reads
from srcgrad.transform.adjoint.forward import Forward
from srcgrad.transform.adjoint.handed import handed
from srcgrad.transform.adjoint.reverse import Reverse
from srcgrad.transform.adjoint.seeds import one_for
from srcgrad.transform.adjoint.slots import Slots
from srcgrad.transform.adjoint.state import Adj
from srcgrad.transform.adjoint.tapes import Tapes
from srcgrad.transform.module import Module
from srcgrad.transform.parameters import arguments, check_result, gradient_of, private_argument
from srcgrad.transform.text import Text


@dataclass
class Sweeps:
    """Both sweeps of one unit, written, before they are put into functions."""

    unit: Unit
    found: Recording
    text: Text
    slots: Slots
    reverse: Reverse
    forward_body: list[ast.stmt] = field(default_factory=list)
    reverse_body: list[ast.stmt] = field(default_factory=list)
    value: ast.expr | None = None  # the result as the forward sweep leaves it
    value_is_restored: bool = False


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
        body = list(unit.body)
        joined = _joinable(tuple(body))
        if joined is None:
            self.top_from_pair(unit, spec, mode, wrt, name, aux)
            return
        unit.refresh(joined)
        self.joint(unit, mode, wrt, name, aux)

    def joint(self, unit: Unit, mode: str, wrt: list[str], name: str, aux: bool) -> None:
        want_value = mode != "grad" or aux
        sweeps = self.sweeps(unit, want_value, joint=True, top=True)
        self.start(sweeps, self.seed(sweeps, mode, aux))
        self.write_reverse(sweeps)
        shadows = self.param_shadows(sweeps, late=True)
        gradients = self.gradients(sweeps, wrt)
        body = self.given(sweeps, gradients) + self.private(sweeps)
        body += self.param_shadows(sweeps, late=False)
        body += sweeps.slots.declarations() + self.initial(sweeps)
        reverse = [*shadows, *sweeps.reverse_body]
        kept = self.result_lines(sweeps, reverse) if want_value else []
        forward = [*body, *sweeps.forward_body, *kept]
        lines = [
            *_section("forward sweep", forward),
            *_section("reverse sweep", [*reverse, *gradients.pre]),
        ]
        if not forward:
            lines = [*reverse, *gradients.pre]
        lines.append(ast.Return(self.returns(sweeps.value, gradients.node, mode, aux)))
        self.order.append([self.define(unit, name, lines, mode)])

    def start(self, sweeps: Sweeps, seed: ast.expr) -> None:
        """Give the result its cotangent; anything but a name or literal gets a name first."""
        text = sweeps.text
        if isinstance(seed, ast.Tuple) and isinstance(seed.elts[0], ast.Call):
            name = text.names.fresh("seed")
            sweeps.reverse.emit(syn.assign(name, seed.elts[0]))
            seed = syn.tuple_of([syn.name(name), *seed.elts[1:]])
        if isinstance(seed, ast.Call):
            name = text.names.fresh("seed")
            sweeps.reverse.emit(syn.assign(name, seed))
            seed = syn.name(name)
        sweeps.reverse.state[RESULT] = Adj(seed, False, False)

    def top_from_pair(
        self, unit: Unit, spec: Spec, mode: str, wrt: list[str], name: str, aux: bool
    ) -> None:
        """Early returns: a pair of functions, and a driver that calls both."""
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
        seed = one_for(self.module, unit)
        if aux:
            seed = syn.tuple_of([seed, syn.number(None)])
        if mode == "vjp":
            seed = syn.name(_cotangent(unit))
        elif not _surely_scalar(unit, aux):
            place = syn.expr("v[0]", v=value) if aux else value
            checked = self.module.support("seed", place)
            seed = syn.tuple_of([checked, syn.number(None)]) if aux else checked
        back = syn.call(reverse, seed, saved)
        active = [n for n, a in zip(unit.params, unit.spec.active, strict=True) if a]
        got = {n: syn.name(names.fresh(f"{n}_bar")) for n in active}
        if got:
            target = got[active[0]] if len(got) == 1 else syn.tuple_of(got.values())
            lines.append(syn.assign(target, back))
        grads: list[ast.expr] = []
        for w in wrt:
            node = got.get(w, syn.number(0.0))
            grads.append(gradient_of(self.module, unit, w, syn.name(w), node))
        node = grads[0] if self.single else syn.tuple_of(grads)
        lines.append(ast.Return(self.returns(value, node, mode, aux)))
        self.order.append([self.define(unit, name, lines, mode)])

    def pair(self, spec: Spec, top: bool = False) -> tuple[str, str]:
        """`f_forward` and `f_reverse` for a specification; names are known before bodies
        (recursion)."""
        got = self.callees.names.get(spec)
        if got is not None:
            return got
        base = spec.fn.name if spec.fn.name.isidentifier() else "function"
        names = (self.module.unique(f"{base}_forward"), self.module.unique(f"{base}_reverse"))
        self.callees.names[spec] = names
        unit = make_unit(self.program, spec)
        sweeps = self.sweeps(unit, want_value=True, joint=False, top=top)
        self.write_pair(sweeps, names, top)
        self.top_restores = top and sweeps.found.restores(RESULT)
        return names

    # ---- sweeps ----

    def sweeps(self, unit: Unit, want_value: bool, joint: bool, top: bool) -> Sweeps:
        names = Names(_taken(unit))
        found = record(unit, names)
        text = Text(self.module, unit.facts, names, program=self.program)
        slots = Slots(found, text)
        if self.module.backend == "numba":
            slots.arrays = Tapes(found, text)
            text.printed |= {n: names.fresh("k") for n in _nameless(unit)}
        forward = Forward(unit, found, self.module, text, slots, self.callees)
        reverse = Reverse(unit, found, self.module, text, slots, self.callees)
        slots.reverse_key_of = reverse.key_value
        slots.reverse_place_of = lambda s: ast.Subscript(
            syn.name(text.var(s.base.name)), reverse.key(s.key), ast.Load()
        )
        out = Sweeps(unit, found, text, slots, reverse)
        text.uses = forward_reads(unit)
        text.named = forward.named()
        text.dead, text.may_raise = dead_statements(unit, found, forward, want_value)
        text.before, text.after, text.handling = forward.before, forward.after, forward.handling
        text.is_hooked = lambda s: bool(text.before(s) or forward.after(s))
        if slots.arrays is not None:
            text.before = lambda s: [*slots.allocations(s), *forward.before(s)]
        self.choose_value(out, joint, want_value)

        def replaces(stmt: ir.Stmt) -> list[ast.stmt] | None:
            if isinstance(stmt, ir.Exit) and stmt.kind == "return":
                return self.return_lines(out, stmt, joint, want_value)
            return forward.replaces(stmt)

        text.replaces, text.is_replaced = replaces, forward.is_replaced
        out.forward_body = text.block(unit.body)
        for n, t in unit.facts.types.items():
            if isinstance(t, ty.Array) and ("%" not in n or n in text.printed) and n != RESULT:
                self.module.note_ndim(text.var(n), len(t.dims))
                self.module.note_ndim(reverse.bar(n), len(t.dims))
        return out

    def choose_value(self, sweeps: Sweeps, joint: bool, want_value: bool) -> None:
        """In one function the result stays in its variable where it is simply that."""
        if not joint or not want_value:
            return
        exits = [
            s for s in ir.walk(sweeps.unit.body) if isinstance(s, ir.Exit) and s.kind == "return"
        ]
        value = exits[0].value if len(exits) == 1 else None
        if isinstance(value, ir.Var) and not value.is_temp:
            sweeps.value = syn.name(sweeps.text.var(value.name))
        elif len(exits) == 1 and not isinstance(value, ir.Var) and value is not None:
            sweeps.value = self.module.atom(value)
        else:
            sweeps.value = syn.name(sweeps.text.names.fresh("result"))

    def return_lines(
        self, sweeps: Sweeps, stmt: ir.Exit, joint: bool, want_value: bool
    ) -> list[ast.stmt]:
        if joint:
            if not want_value or stmt.value is None:
                return []
            value = sweeps.value
            assert value is not None
            node = sweeps.text.atom(stmt.value)
            if isinstance(value, ast.Name) and isinstance(node, ast.Name) and node.id == value.id:
                return []
            if not isinstance(value, ast.Name):
                return []
            return [syn.assign(value, node)]
        assert stmt.value is not None
        placeholder = ast.Return(sweeps.text.atom(stmt.value))
        placeholder.srcgrad_exit = stmt  # type: ignore[attr-defined]
        return [placeholder]

    def write_reverse(self, sweeps: Sweeps) -> None:
        reverse = sweeps.reverse
        reverse.block(sweeps.unit.body)
        sweeps.reverse_body = reverse.out
        reverse.out = []

    def seed(self, sweeps: Sweeps, mode: str, aux: bool) -> ast.expr:
        unit = sweeps.unit
        if mode == "vjp":
            return syn.name(_cotangent(unit))
        one = one_for(self.module, unit)
        if not _surely_scalar(unit, aux):
            if sweeps.value is None:
                self.choose_value(sweeps, True, True)
                self.rewrite_with_value(sweeps)
            assert sweeps.value is not None
            place = syn.expr("v[0]", v=sweeps.value) if aux else sweeps.value
            one = self.module.support("seed", place)
        return syn.tuple_of([one, syn.number(None)]) if aux else one

    def rewrite_with_value(self, sweeps: Sweeps) -> None:
        """The seed needs the result although the caller does not: write the forward sweep
        again."""
        fresh = self.sweeps_again(sweeps)
        sweeps.forward_body, sweeps.value = fresh.forward_body, fresh.value

    def sweeps_again(self, sweeps: Sweeps) -> Sweeps:
        text = sweeps.text
        forward = Forward(sweeps.unit, sweeps.found, self.module, text, sweeps.slots, self.callees)
        text.dead, text.may_raise = dead_statements(sweeps.unit, sweeps.found, forward, True)
        text.pending.clear()

        def replaces(stmt: ir.Stmt) -> list[ast.stmt] | None:
            if isinstance(stmt, ir.Exit) and stmt.kind == "return":
                return self.return_lines(sweeps, stmt, True, True)
            return forward.replaces(stmt)

        text.replaces, text.is_replaced = replaces, forward.is_replaced
        sweeps.forward_body = text.block(sweeps.unit.body)
        return sweeps

    # ---- parameters ----

    def private(self, sweeps: Sweeps) -> list[ast.stmt]:
        """Written arguments are copied at entry: the caller keeps what it passed."""
        unit = sweeps.unit
        written = [n for n in unit.params if unit.fx.memory(n)]
        out: list[ast.stmt] = []
        others = [n for n in unit.params if may_hold_memory(unit.type(n))]
        if written and len(others) > 1:
            check = self.module.support(
                "refuse_shared",
                syn.tuple_of(map(syn.name, written)),
                syn.tuple_of(syn.name(n) for n in others if n not in written),
                syn.tuple_of(
                    ast.Constant(n) for n in [*written, *(n for n in others if n not in written)]
                ),
            )
            out.append(ast.Expr(check))
        for n in written:
            out.append(syn.assign(n, private_argument(self.module, unit, n)))
        return out

    def param_shadows(self, sweeps: Sweeps, late: bool) -> list[ast.stmt]:
        unit, reverse = sweeps.unit, sweeps.reverse
        out: list[ast.stmt] = []
        for n in unit.params:
            if unit.is_active(n) and unit.kind(n) == "memory":
                if sweeps.found.is_tracked(n) is not late:
                    out.append(
                        syn.assign(
                            reverse.bar(n),
                            reverse.zero(n)
                            if isinstance(unit.type(n), ty.Array)
                            else self.module.support("bar", syn.name(n)),
                        )
                    )
        return out

    def initial(self, sweeps: Sweeps) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for n in sweeps.found.initial:
            t = sweeps.unit.type(n)
            value = syn.number(_start_value(t))
            out.append(syn.assign(sweeps.text.var(n), value))
            if sweeps.unit.is_active(n) and sweeps.found.is_tracked(n):
                out.append(syn.assign(sweeps.reverse.bar(n), syn.number(None)))
        return out

    @dataclass
    class Gradients:
        pre: list[ast.stmt]
        node: ast.expr

    def gradients(self, sweeps: Sweeps, wrt: list[str]) -> Adjoint.Gradients:
        """The gradient of each argument asked for: owned, of its shape and dtype."""
        reverse, unit = sweeps.reverse, sweeps.unit
        nodes: list[ast.expr] = []
        for n in wrt:
            nodes.append(self.final(sweeps, n))
        pre, reverse.out = reverse.out, []
        del unit
        return Adjoint.Gradients(pre, nodes[0] if self.single else syn.tuple_of(nodes))

    def given(self, sweeps: Sweeps, gradients: Adjoint.Gradients) -> list[ast.stmt]:
        """Keep arguments whose names the function binds again: their gradients have their
        shapes."""
        unit, out = sweeps.unit, []
        for n in unit.params:
            again = [
                d for d in unit.defs.get(n, ()) if not (isinstance(d, ir.Assign) and d.inplace)
            ]
            if again and n in syn.names_in(gradients.node):
                kept = sweeps.text.names.fresh(f"{n}_given")
                gradients.node = syn.substitute(gradients.node, {n: syn.name(kept)})
                out.append(syn.assign(kept, syn.name(n)))
        return out

    def final(self, sweeps: Sweeps, n: str) -> ast.expr:
        reverse, unit = sweeps.reverse, sweeps.unit
        if not unit.is_active(n):
            return gradient_of(self.module, unit, n, syn.name(n), None)
        if unit.kind(n) == "memory":
            return gradient_of(self.module, unit, n, syn.name(n), reverse.bar_node(n), owned=True)
        adj = reverse.state.get(n)
        if adj is None:
            return gradient_of(self.module, unit, n, syn.name(n), None)
        reverse.full(n)
        adj = reverse.state[n]
        return gradient_of(self.module, unit, n, syn.name(n), reverse.value(n), owned=adj.owned)

    # ---- functions ----

    def result_lines(self, sweeps: Sweeps, reverse: list[ast.stmt]) -> list[ast.stmt]:
        """Keep the result from being changed by the reverse sweep."""
        value = sweeps.value
        if not isinstance(value, ast.Name):
            return []
        restored = _bound_names(reverse)
        if sweeps.found.restores(RESULT):
            kept = (
                sweeps.text.names.fresh("result")
                if not value.id.startswith("result")
                else value.id
            )
            sweeps.value = syn.name(kept)
            return [syn.assign(kept, self.module.support("own", value))]
        if value.id in restored:
            kept = sweeps.text.names.fresh("result")
            sweeps.value = syn.name(kept)
            return [syn.assign(kept, value)]
        return []

    def returns(self, value: ast.expr | None, grads: ast.expr, mode: str, aux: bool) -> ast.expr:
        if mode == "grad":
            if aux:
                assert value is not None
                return syn.tuple_of([grads, syn.expr("v[1]", v=value)])
            return grads
        assert value is not None
        return syn.tuple_of([value, grads])

    def define(self, unit: Unit, name: str, lines: list[ast.stmt], mode: str) -> ast.stmt:
        args = arguments(self.module, self.program, unit)
        if mode == "vjp":
            first = ast.arg(_cotangent(unit))
            if args.posonlyargs:
                args.posonlyargs.insert(0, first)
            else:
                args.args.insert(0, first)
        return syn.function_def(name, args, lines)

    def write_pair(self, sweeps: Sweeps, names: tuple[str, str], top: bool) -> None:
        unit, reverse, text = sweeps.unit, sweeps.reverse, sweeps.text
        memory = [
            n
            for n, g, a in zip(
                unit.params,
                unit.spec.groups or (None,) * len(unit.params),
                unit.spec.active,
                strict=True,
            )
            if g is not None and a
        ]
        text.names.suffix("bar")
        bar = reverse.result_bar = text.names.fresh("result_bar")
        if unit.spec.result_active:
            if unit.spec.result_memory:
                reverse.state.pop(RESULT, None)
            elif top and self.aux:
                parts = [syn.expr(f"{bar}[0]"), syn.number(None)]
                reverse.state[RESULT] = Adj(syn.tuple_of(parts), False, False)
            else:
                reverse.state[RESULT] = Adj(syn.name(bar), False, False)
        if unit.spec.lanes:
            reverse.result_lanes = text.names.fresh("lanes")
        text.names._made["%result", "bar"] = bar
        text.printed[RESULT] = "%result"
        self.write_reverse(sweeps)
        late = self.param_shadows(sweeps, late=True)
        start: list[ast.stmt] = [] if not top else self.private(sweeps)
        own = [n for n in unit.params if n not in memory]
        for n in own:
            if unit.is_active(n) and unit.kind(n) == "memory" and sweeps.found.is_tracked(n):
                start.append(syn.assign(reverse.bar(n), self.module.support("bar", syn.name(n))))
        late = [
            s
            for s in late
            if not any(
                isinstance(t, ast.Name) and t.id in {reverse.bar(m) for m in memory}
                for t in getattr(s, "targets", [])
            )
        ]
        returned: list[ast.expr] = []
        for n, g, a, t in zip(
            unit.params,
            unit.spec.groups or (None,) * len(unit.params),
            unit.spec.active,
            unit.spec.types,
            strict=True,
        ):
            if not a or (g is not None and isinstance(t, ty.Array)):
                continue
            returned.append(self.callee_gradient(sweeps, n))
        tail = reverse.out
        reverse.out = []
        body = [*late, *sweeps.reverse_body, *tail]
        node: ast.expr | None = None
        if returned:
            node = returned[0] if len(returned) == 1 else syn.tuple_of(returned)
        body.append(ast.Return(node if node is not None else syn.number(None)))
        self.finish_pair(sweeps, names, start, body, memory)

    def callee_gradient(self, sweeps: Sweeps, n: str) -> ast.expr:
        reverse, unit = sweeps.reverse, sweeps.unit
        if not unit.is_active(n):
            return (
                syn.number(0.0)
                if isinstance(unit.type(n), ty.Number)
                else self.module.support("zeros", syn.name(n))
            )
        if unit.kind(n) == "memory":
            return reverse.bar_node(n)
        if n not in reverse.state:
            return reverse.zero(n)
        reverse.full(n)
        return reverse.value(n)

    def finish_pair(
        self,
        sweeps: Sweeps,
        names: tuple[str, str],
        start: list[ast.stmt],
        body: list[ast.stmt],
        memory: list[str],
    ) -> None:
        """Pass what the reverse function reads and does not bind itself."""
        unit, reverse = sweeps.unit, sweeps.reverse
        head = [*start, *sweeps.slots.declarations(), *self.initial(sweeps)]
        forward = [*head, *sweeps.forward_body]
        bars = [reverse.bar(n) for n in memory]
        bound = _bound_names(forward) | set(unit.params) | set(bars)
        carried = [n for n in _free_names(body) if n in bound]
        early = _maybe_unbound(unit, sweeps, carried, _bound_names(head))
        forward = [*(syn.assign(n, syn.number(None)) for n in early), *forward]
        saved, held = syn.tuple_of(map(syn.name, carried)), handed(sweeps.text, carried, body)
        out: list[ast.stmt] = [_FinishReturns(self, sweeps, held).visit(s) for s in forward]
        if carried:
            node = syn.name(carried[0]) if len(carried) == 1 else None
            unpack = syn.assign(
                saved if node is None else ast.Tuple([node], ast.Load()), syn.name("saved")
            )
            body = [unpack, *body]
        args = arguments(self.module, self.program, unit, plain=True)
        args.args += [ast.arg(b) for b in bars]
        first = syn.function_def(names[0], args, out)
        given = [reverse.result_bar, "saved", *([reverse.result_lanes] if unit.spec.lanes else [])]
        back = ast.arguments([], [ast.arg(n) for n in given], None, [], [], None, [])
        self.order.append([first, syn.function_def(names[1], back, body)])


class _FinishReturns(ast.NodeTransformer):
    """Add what the reverse sweep needs to each return of the forward function."""

    def __init__(self, owner: Adjoint, sweeps: Sweeps, saved: ast.expr) -> None:
        self.owner, self.sweeps, self.saved = owner, sweeps, saved

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        stmt = getattr(node, "srcgrad_exit", None)
        if stmt is None:
            return node
        assert node.value is not None
        parts = [node.value]
        if self.sweeps.unit.spec.result_memory:
            value = stmt.value
            if (
                isinstance(value, ir.Var)
                and self.sweeps.unit.is_active(value)
                and self.sweeps.unit.kind(value.name) == "memory"
            ):
                bar = self.sweeps.reverse.bar_node(value.name)
                if not isinstance(self.sweeps.unit.type(value.name), ty.Array):
                    bar = self.owner.module.support("alias_bar", node.value, bar)
                parts.append(bar)
            else:
                parts.append(self.owner.module.support("bar", node.value))
        made = ast.Return(syn.tuple_of([*parts, self.saved]))
        return ast.copy_location(made, node)


# ---- helpers --------------------------------------------------------------------------------


def _joinable(block: ir.Block) -> ir.Block | None:
    """A body whose returns all stand at the end, or None; a few guards are put into else arms."""
    body = _tail(block, 3)
    if body is None:
        return None
    return body


def _tail(block: ir.Block, guards: int) -> ir.Block | None:
    if not block:
        return block
    for k, stmt in enumerate(block[:-1]):
        exits = [e for e in escaping(stmt) if e.kind == "return"]
        if isinstance(stmt, ir.Exit):
            return block[: k + 1]
        if not exits:
            continue
        if not isinstance(stmt, ir.If) or guards == 0:
            return None
        from dataclasses import replace

        from srcgrad.analysis.control import always_leaves

        rest = block[k + 1 :]
        clean = [not any(escaping(s) for s in arm) for arm in (stmt.body, stmt.orelse)]
        if always_leaves(stmt.body) and clean[1]:
            new = replace(stmt, orelse=(*stmt.orelse, *rest))
        elif always_leaves(stmt.orelse) and clean[0]:
            new = replace(stmt, body=(*stmt.body, *rest))
        else:
            return None
        return _tail((*block[:k], new), guards - 1)
    last = block[-1]
    if isinstance(last, ir.If):
        from dataclasses import replace

        body, orelse = _tail(last.body, guards), _tail(last.orelse, guards)
        if body is None or orelse is None:
            return None
        return (*block[:-1], replace(last, body=body, orelse=orelse))
    if isinstance(last, ir.Exit):
        return block
    if any(e.kind == "return" for e in escaping(last)):
        return None
    return block


def _taken(unit: Unit) -> set[str]:
    names = {n for n in unit.facts.types if "%" not in n} | set(unit.params)
    for s in ir.walk(unit.body):
        names |= {v.name for v in (*ir.reads(s), *ir.writes(s)) if "%" not in v.name}
        if isinstance(s, ir.With) and s.bound:
            names.add(s.bound)
    names.discard("")
    return names | {_cotangent(unit)}


def _nameless(unit: Unit) -> set[str]:
    """Counters called `_`: an array tape is indexed by them, so they need names of their own."""
    return {
        s.target.name
        for s in ir.walk(unit.body)
        if isinstance(s, ir.For) and s.target.name.split("%")[0] == "_"
    }


def _cotangent(unit: Unit) -> str:
    """The name of the cotangent's parameter; a derivative of a vjp has one of that name
    already."""
    name = "cotangent"
    while name in unit.params or name in unit.facts.types:
        name += "_2"
    return name


def _section(title: str, lines: list[ast.stmt]) -> list[ast.stmt]:
    return [syn.Comment(f"---- {title} ----"), *lines] if lines else []


def _surely_scalar(unit: Unit, aux: bool) -> bool:
    t = unit.facts.result
    if aux:
        t = t.items[0] if isinstance(t, ty.Tuple) and t.items else None
    if isinstance(t, ty.Array):
        return not t.dims
    return isinstance(t, ty.Number)


def _start_value(t: ty.Type) -> Any:
    if isinstance(t, ty.Number):
        if issubclass(t.cls, bool):
            return False
        return 0.0 if ty.can_be_active(t) else 0
    return None


def _bound_names(stmts: list[ast.stmt]) -> set[str]:
    return {
        n.id
        for s in stmts
        for n in asts.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _free_names(stmts: list[ast.stmt]) -> list[str]:
    """Names that statements read, in order of first appearance."""
    seen: dict[str, None] = {}
    for s in stmts:
        for n in asts.walk(s):
            if isinstance(n, ast.Name):
                seen.setdefault(n.id)
    return list(seen)


def _maybe_unbound(unit: Unit, sweeps: Sweeps, carried: list[str], bound: set[str]) -> list[str]:
    """Names that some return may reach without a value."""
    from srcgrad.analysis.placement import bound_before

    table = bound_before(unit)
    exits = [s for s in ir.walk(unit.body) if isinstance(s, ir.Exit) and s.kind == "return"]
    sure: set[str] | None = None
    for e in exits:
        here = {sweeps.text.var(n) for n in table.get(e.sid, ())}
        sure = here if sure is None else sure & here
    sure = (sure or set()) | bound | set(unit.params)
    shadows = {sweeps.reverse.bar(n) for n in unit.params if unit.is_active(n)}
    bars = {sweeps.text.names.suffixed(n, "bar") for n in sure}
    return [n for n in carried if n not in sure and n not in shadows and n not in bars]


__all__ = ["Adjoint", "saved_name"]
