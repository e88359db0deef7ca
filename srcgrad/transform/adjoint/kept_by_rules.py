"""Calls, in the forward sweep, of functions that say themselves what their reverse needs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from srcgrad.analysis.targets import Library
from srcgrad.analysis.types.user_rules import rule_call
from srcgrad.ir import nodes as ir
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.userrules import about, bind_part

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.forward import Forward


def forward_custom(fwd: Forward, stmt: ir.Assign | ir.Effect, call: Library) -> list[ast.stmt]:
    """`y, saved = f_fwd(x)`: the call of a function that says itself what its reverse needs.

    What it keeps is its own: arguments and a result that are written into later are copied."""
    apart: list[ast.stmt] = []

    def bound(b: object) -> ast.expr:
        if not (isinstance(b, ir.Var) and fwd.unit.fx.memory(b.name)):
            return fwd.text_bound(b)
        kept = fwd.text.names.temporary()
        apart.append(syn.assign(kept, fwd.module.support("own", fwd.text_bound(b))))
        return syn.name(kept)

    if isinstance(call.entry.target, ir.Function):
        assert call.source is not None
        made = fwd.callees.plain.call_of(call.source, bound)
    else:
        passed = rule_call(call.entry, call.args)
        args = [bound(b) for b in passed.positional]
        keywords = [ast.keyword(k, bound(b)) for k, b in passed.keywords]
        which = "__wrapped__" if call.entry.backward is None else "fwd"
        made = ast.Call(bind_part(fwd.module, call.entry, which, call.entry.fn), args, keywords)
    value = fwd.primal(stmt.target) if isinstance(stmt, ir.Assign) else syn.name("_")
    saved = syn.name(fwd.slots.saved(stmt))
    return [*apart, syn.assign(syn.tuple_of([value, saved]), made), *_own(fwd, stmt, call, apart)]


def _own(
    fwd: Forward, stmt: ir.Assign | ir.Effect, call: Library, apart: list[ast.stmt]
) -> list[ast.stmt]:
    """A result that is written into later as memory that nobody else has."""
    if not isinstance(stmt, ir.Assign) or not fwd.unit.fx.memory(stmt.target.name):
        return []
    value, support = fwd.primal(stmt.target), fwd.module.support
    copies = [s.targets[0] for s in apart if isinstance(s, ast.Assign)]
    given = syn.tuple_of(syn.name(t.id) for t in copies if isinstance(t, ast.Name))
    check = support("check_apart", value, given, ast.Constant(about(call.entry)))
    own = syn.assign(fwd.text.var(stmt.target.name), support("own", value))
    return [ast.Expr(check), own] if apart else [own]
