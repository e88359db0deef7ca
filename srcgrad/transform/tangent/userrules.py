"""Users' rules in forward mode.

A rule for reverse mode maps the cotangent of the result to those of the arguments, and has to be
linear.  Its transpose maps tangents of the arguments to the tangent of the result: it is the
reverse sweep of the rule, taken as a function of the cotangent.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from srcgrad.analysis import linear
from srcgrad.analysis.facts import Facts
from srcgrad.analysis.resolve import Program, user_source
from srcgrad.analysis.targets import Bound, Library, Packed, bound_atoms
from srcgrad.analysis.types.binding import bind_user
from srcgrad.analysis.types.user_rules import rule_call
from srcgrad.analysis.unit import Spec
from srcgrad.errors import MissingRule, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.userrules import about, bind_part, note_rule

if TYPE_CHECKING:
    from srcgrad.transform.tangent.base import Base

_G, _OUT, _SAVED = "%rule_g", "%rule_out", "%rule_saved"  # stand for what a rule is passed


@dataclass
class Linear:
    """A rule as a function of the cotangent: its function, and its arguments."""

    fn: ir.Function
    types: tuple[ty.Type, ...]
    args: list[Bound | ast.expr]


def sum_of(walk: Base, stmt: ir.Assign, entry: Entry, a: ast.expr, b: ast.expr) -> ast.expr:
    """The sum of two tangents of a result that may be a tuple: `(a, b) + (c, d)` is none."""
    plain = isinstance(walk.unit.type(stmt.target.name), ty.Number | ty.Array)
    return syn.add(a, b) if plain or entry.kind == "elementwise" else walk.support("add", a, b)


def tangent(walk: Base, stmt: ir.Assign, call: Library) -> None:
    """The statements that bind the tangent of a call with a user's rule; the value is computed
    before them, since rules read it."""
    passed = rule_call(call.entry, call.args)
    name = walk.text.names.temporary()
    walk.kept[stmt.sid] = name
    if call.entry.kind == "jvp":
        _by_jvp(walk, stmt, call, name)
        return
    active = [any(walk.active(a) for a in bound_atoms(b)) for b in passed.positional]
    saved: ast.expr | None = None
    if call.entry.kind == "custom":
        saved = syn.name(walk.text.names.temporary())
        walk.emit(syn.assign(syn.tuple_of([syn.name(name), saved]), _with_saved(walk, call)))
    else:
        walk.emit(syn.assign(name, walk.printer({}).expr(stmt.value)))
    if not any(active):
        walk.emit(
            syn.assign(walk.dot_name(stmt.target.name), walk.support("zeros", syn.name(name)))
        )
        return
    walk.emit_comment(f"by the transpose of the {about(call.entry)}")
    rule = _rule(walk, stmt, call, saved)
    wanted = [k for k, a in enumerate(active) if a]
    forward, reverse = _compiled(walk, stmt, call, rule, wanted)
    value, kept = walk.text.names.temporary(), walk.text.names.temporary()
    out = syn.name(name)
    parts = {_G: walk.support("zeros", out), _OUT: out, _SAVED: saved}
    args = [_print(walk, b, parts) for b in rule.args]
    pair = syn.tuple_of([syn.name(value), syn.name(kept)])
    walk.emit(syn.assign(pair, syn.call(forward, *args)))
    dots = [
        _dot(walk, b) if a else syn.number(None)
        for b, a in zip(passed.positional, active, strict=True)
    ]
    given = [
        _primal(walk, b) if a else syn.number(None)
        for b, a in zip(passed.positional, active, strict=True)
    ]
    back = walk.support(
        "cotangents_back", syn.tuple_of(dots), syn.name(value), syn.tuple_of(given)
    )
    walk.emit(syn.assign(walk.dot_name(stmt.target.name), syn.call(reverse, back, syn.name(kept))))


def _by_jvp(walk: Base, stmt: ir.Assign, call: Library, name: str) -> None:
    """`y, y_dot = f_jvp((x,), (x_dot,))`"""
    passed = rule_call(call.entry, call.args)
    primals = syn.tuple_of(_primal(walk, b) for b in passed.positional)
    dots = syn.tuple_of(_dot_or_zero(walk, b) for b in passed.positional)
    fn = bind_part(walk.module, call.entry, "jvp", call.entry.jvp_fn)
    pair = syn.tuple_of([syn.name(name), syn.name(walk.dot_name(stmt.target.name))])
    walk.emit(syn.assign(pair, ast.Call(fn, [primals, dots], [])))


def _with_saved(walk: Base, call: Library) -> ast.expr:
    """The call that returns the value and what the rule needs."""
    if isinstance(call.entry.target, ir.Function):
        assert call.source is not None
        return walk.owner.reverse_mode().callees.plain.call_of(
            call.source,
            lambda b: _primal(walk, b),  # type: ignore[arg-type]
        )
    passed = rule_call(call.entry, call.args)
    args = [_primal(walk, b) for b in passed.positional]
    keywords = [ast.keyword(k, _primal(walk, b)) for k, b in passed.keywords]
    which = "__wrapped__" if call.entry.backward is None else "fwd"
    return ast.Call(bind_part(walk.module, call.entry, which, call.entry.fn), args, keywords)


def _rule(walk: Base, stmt: ir.Assign, call: Library, saved: ast.expr | None) -> Linear:
    facts, program = walk.unit.facts, walk.unit.program
    out = walk.unit.type(stmt.target.name)
    entry = call.entry
    if entry.kind == "custom" and entry.backward is None:
        return _returned_rule(walk, stmt, call, out, saved)
    fn: Any = entry.fn if entry.kind == "function" else entry.backward
    if user_source(fn) is None:
        raise _refused(walk, stmt, call, "it has no Python source to transpose")
    found, before, named = program.function(fn, ir.Const(None))
    args: list[ir.Atom | ir.Star]
    if entry.kind == "function":
        passed = rule_call(entry, call.args)
        args = [
            ir.Var(_G),
            ir.Var(_OUT),
            *(b for b in passed.positional if not isinstance(b, Packed)),
        ]
        keywords = {**dict(named), **{str(k): b for k, b in passed.keywords}}
    else:
        args, keywords = [ir.Var(_SAVED), ir.Var(_G)], dict(named)
    bound = bind_user(found, (*before, *args), tuple(keywords.items()), program.defaults(found))  # type: ignore[arg-type]
    known = {_G: out, _OUT: out, _SAVED: ty.UNKNOWN}
    types = tuple(_type(facts, b, known) for b in bound)
    return Linear(found, types, list(bound))


def _returned_rule(
    walk: Base, stmt: ir.Assign, call: Library, out: ty.Type, saved: ast.expr | None
) -> Linear:
    """The gradient function that a function decorated by `custom_gradient` returned."""
    assert saved is not None
    result: Any = None
    if call.source is not None:
        result = walk.unit.program.returns(call.source.fn, call.source.types)
    made = result.items[1] if isinstance(result, ty.Tuple) and len(result.items) == 2 else None
    if not isinstance(made, ty.ClosureType):
        raise _refused(walk, stmt, call, "it isn't known when compiling which function it is")
    parts: list[Bound | ast.expr] = [
        walk.support("captured", saved, syn.number(k), ast.Constant(n))
        for k, n in enumerate(made.fn.free)
    ]
    first: list[Bound | ast.expr] = [ir.Var(_G)]
    return Linear(made.fn, (out, *made.free), first + parts)


def _compiled(
    walk: Base, stmt: ir.Assign, call: Library, rule: Linear, wanted: list[int]
) -> tuple[str, str]:
    """Forward and reverse function of a rule with respect to its cotangent."""
    active = tuple(isinstance(b, ir.Var) and b.name == _G for b in rule.args)
    names = [p.name for p in rule.fn.params] + list(rule.fn.free)
    mine = [n for n, a in zip(names, active, strict=True) if a]
    single = len(rule_call(call.entry, call.args).positional) == 1
    try:
        leaves = None if single else wanted
        linear.check(walk.owner.reverse_mode().program, rule.fn, rule.types, mine, leaves)
    except linear.NotLinear as e:
        where = f" (line {e.line})" if e.line else ""
        raise _refused(
            walk, stmt, call, f"it is not linear in the cotangent: {e}{where}"
        ) from None
    spec = Spec(rule.fn, rule.types, active, (None,) * len(active))
    return walk.owner.reverse_mode().pair(spec)


def _refused(walk: Base, stmt: ir.Assign, call: Library, why: str) -> Exception:
    return located(
        MissingRule,
        stmt.loc,
        f"the {about(call.entry)} can't be used in forward mode: {why}",
        fixes=["give the function a forward rule with srcgrad.custom_jvp", "use grad of grad"],
    )


def _type(facts: Facts, b: Bound, known: dict[str, ty.Type]) -> ty.Type:
    if isinstance(b, Packed):
        return ty.Tuple(tuple(_type(facts, ir.unstar(i), known) for i in b.items))
    if isinstance(b, ir.Var) and b.name in known:
        return known[b.name]
    return facts.of(b)


def _print(walk: Base, b: Bound | ast.expr, parts: dict[str, ast.expr | None]) -> ast.expr:
    if isinstance(b, ast.expr):
        return b
    if isinstance(b, Packed):
        return syn.tuple_of(_print(walk, ir.unstar(i), parts) for i in b.items)
    got = parts.get(b.name) if isinstance(b, ir.Var) else None
    return got if got is not None else walk.primal(b)


def _primal(walk: Base, b: Bound) -> ast.expr:
    return _print(walk, b, {})


def _dot(walk: Base, b: Bound) -> ast.expr:
    if isinstance(b, Packed):
        return syn.tuple_of(_dot(walk, ir.unstar(i)) for i in b.items)
    return walk.dot(b)


def _dot_or_zero(walk: Base, b: Bound) -> ast.expr:
    if any(walk.active(a) for a in bound_atoms(b)):
        return _dot(walk, b)
    return walk.support("zero_tangent", _primal(walk, b))


__all__ = ["Program", "note_rule", "tangent"]
