"""Derivative rules that users give, in the reverse sweep: the rule is called where the adjoint of
its function is wanted, and what it returns is checked when it runs."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import TYPE_CHECKING, Any

from srcgrad.analysis import linear
from srcgrad.analysis.effects import summary
from srcgrad.analysis.inlined import sums
from srcgrad.analysis.targets import Bound, Library, Packed, bound_atoms
from srcgrad.analysis.types.user_rules import RuleCall, rule_call
from srcgrad.analysis.unit import Spec
from srcgrad.errors import (
    MissingRule,
    NotDifferentiable,
    UnsupportedSyntax,
    describe,
    located,
    rule_error,
    shown_file,
)
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.masks import Mask
from srcgrad.transform.adjoint.state import Adj
from srcgrad.transform.module import Module

if TYPE_CHECKING:
    from srcgrad.transform.adjoint.values import Values


def is_rule(target: object) -> bool:
    """Whether a call has a user's rule that the reverse sweep calls."""
    return isinstance(target, Library) and target.entry.kind in ("function", "custom", "jvp")


def note_rule(module: Module, out: list[ast.stmt], call: Library) -> None:
    """Say which user's rule is written out in what follows."""
    entry = call.called.entry if call.called is not None else call.entry
    for fn in (entry.fn, entry.backward, entry.jvp_fn):
        code = _code(fn)
        if code is not None:
            module.rules[code] = about(entry)
    out.append(syn.Comment(f"by the {about(entry)}"))


def reverse_value(rev: Values, stmt: ir.Assign, call: Library) -> None:
    """A call whose result has its adjoint by value."""
    name = stmt.target.name
    g = rev.take_full(name)
    out = _result(rev, call, name, rev.overwritten(stmt))
    g = rev.after_undo(stmt, g)
    contribute(rev, stmt, call, g, out, rev.masks.take(name))


def reverse_memory(rev: Values, stmt: ir.Assign, call: Library, g: ast.expr) -> None:
    """A call whose result is written into later on: its shadow is the cotangent."""
    goes = stmt.sid in rev.found.pairs or rev.overwritten(stmt)
    out = _result(rev, call, stmt.target.name, goes)
    rev.undo(stmt)
    check_apart(rev, stmt, call, out)
    contribute(rev, stmt, call, g, out)


def _result(rev: Values, call: Library, name: str, goes: bool) -> ast.expr:
    """The result, kept where undoing the statement is about to bind its name to something else."""
    out: ast.expr = syn.name(rev.text.var(name))
    read = call.entry.kind == "function" or not isinstance(
        rev.unit.type(name), ty.Number | ty.Array
    )
    if goes and read:
        kept = rev.text.names.temporary()
        rev.emit(syn.assign(kept, out))
        out = syn.name(kept)
    return out


def contribute(
    rev: Values,
    stmt: ir.Assign,
    call: Library,
    g: ast.expr,
    out: ast.expr,
    mask: Mask | None = None,
) -> None:
    """Call the rule, and add what it returns to the adjoints of the arguments: in the lanes of
    the mask, which is there for a rule that works lane by lane."""
    check_sharing(rev, stmt, call)
    passed = rule_call(call.entry, call.args)
    active = [any(rev.unit.is_active(a) for a in bound_atoms(b)) for b in passed.positional]
    _check_keywords(rev, stmt, call, passed.keywords)
    if not any(active):
        return
    how = "transpose of the " if call.entry.kind == "jvp" else ""
    rev.out.append(syn.Comment(f"by the {how}{about(call.entry)}"))
    if call.entry.kind == "jvp":
        _transposed(rev, stmt, call, passed, active, g, out, mask)
        return
    args = [rev.bound(b) for b in passed.positional]
    keywords = [ast.keyword(k, rev.bound(b)) for k, b in passed.keywords]
    given = _cotangent(rev, stmt, g, out)
    made = _rule(rev, stmt, call, [given, out, *args], keywords)
    label: list[ast.expr] = [ast.Constant(about(call.entry))]
    if sums(call.entry):
        label.append(ast.Constant(True))
    if len(active) == 1:
        one = rev.module.support("cotangent", made, args[0], *label)
        _add(rev, _atom(passed.positional[0]), one, mask)
        return
    wanted = [a if use else syn.number(None) for a, use in zip(args, active, strict=True)]
    every = rev.module.support("cotangents", made, syn.tuple_of(wanted), *label)
    pairs = [(k, _atom(b)) for k, b in enumerate(passed.positional) if active[k]]
    _spread(rev, every, pairs, len(active), mask)


def _transposed(
    rev: Values,
    stmt: ir.Assign,
    call: Library,
    passed: RuleCall,
    active: list[bool],
    g: ast.expr,
    out: ast.expr,
    mask: Mask | None,
) -> None:
    """A forward rule, which is linear in the tangents, backwards: its reverse sweep with respect
    to the tangents, at zero."""
    program, facts, entry = rev.unit.program, rev.unit.facts, call.entry
    fn, before, _ = program.function(entry.jvp_fn, ir.Const(None))
    types = ty.Tuple(
        tuple(ty.UNKNOWN if isinstance(b, Packed) else facts.of(b) for b in passed.positional)
    )
    names = [p.name for p in fn.params]
    if before or len(names) != 2:
        raise rule_error(entry.target, entry.jvp_fn, "a forward rule takes (primals, tangents)")
    try:
        linear.check(program, fn, (types, types), names[1:], [1])
    except linear.NotLinear as e:
        raise located(
            MissingRule,
            stmt.loc,
            f"the {about(entry)} can't be used in reverse mode: it is not linear in the tangents: "
            f"{e} (line {e.line})",
            fixes=["give the function a reverse rule with srcgrad.custom_vjp"],
        ) from None
    forward, reverse = rev.callees.compile(Spec(fn, (types, types), (False, True), (None, None)))
    primals = [rev.bound(b) for b in passed.positional]
    zeros = [rev.module.support("zero_tangent", p) for p in primals]
    kept, bars = (rev.text.names.temporary() for _ in range(2))
    made = syn.call(forward, syn.tuple_of(primals), syn.tuple_of(zeros))
    rev.emit(syn.assign(syn.tuple_of([syn.name("_"), syn.name(kept)]), made))
    back = syn.tuple_of([rev.module.support("zeros", out), g])
    rev.emit(syn.assign(bars, syn.call(reverse, back, syn.name(kept))))
    for k, b in enumerate(passed.positional):
        if active[k]:
            part = syn.expr("t[k]", t=syn.name(bars), k=syn.number(k))
            _add(rev, _atom(b), part, mask, fresh=False)


def _add(
    rev: Values, operand: ir.Var, node: ast.expr, mask: Mask | None, fresh: bool = True
) -> None:
    """Add what a rule returned to the adjoint of an operand, zero in lanes that don't count."""
    if mask is not None:
        node = rev.masks.select(mask, node, rev.unit.type(operand.name), exact=False)
        rev.masks.put(operand.name, rev.masks.of_operand(mask, operand))
        fresh = True
    rev.contribute(operand, node, fresh)


def _rule(
    rev: Values, stmt: ir.Assign, call: Library, args: list[ast.expr], keywords: list[ast.keyword]
) -> ast.expr:
    """The call of the rule: with the cotangent, the result and the arguments, or with what the
    forward sweep left for it."""
    entry = call.entry
    if entry.kind == "function":
        assert entry.fn is not None
        return ast.Call(bind_rule(rev.module, entry, entry.fn), args, keywords)
    saved = syn.name(rev.slots.saved(stmt))
    if isinstance(entry.target, ir.Function):
        return _nested_rule(rev, stmt, call, args[0], saved)
    if entry.backward is None:
        return ast.Call(saved, args[:1], [])
    return ast.Call(bind_part(rev.module, entry, "bwd", entry.backward), [saved, args[0]], [])


def _nested_rule(
    rev: Values, stmt: ir.Assign, call: Library, g: ast.expr, saved: ast.expr
) -> ast.expr:
    """The call of the gradient function that a decorated nested function returned."""
    source = call.source
    assert source is not None
    result = rev.unit.program.returns(source.fn, source.types)
    made = result.items[1] if isinstance(result, ty.Tuple) and len(result.items) == 2 else None
    if not isinstance(made, ty.ClosureType):
        raise located(
            UnsupportedSyntax,
            stmt.loc,
            f"what gradient function {source.fn.name} returns isn't known when compiling",
            fixes=["end it with `return value, gradient` for a nested function `gradient`"],
        )
    parts = [syn.expr("s[k]", s=saved, k=syn.number(k)) for k in range(len(made.free))]
    name = rev.callees.plain.of(made.fn, (ty.UNKNOWN, *made.free))
    return syn.call(name, g, *parts)


def _spread(
    rev: Values, every: ast.expr, pairs: list[tuple[int, ir.Var]], n: int, mask: Mask | None
) -> None:
    """`x_bar, _, y_bar = support.cotangents(...)`, or by way of temporaries."""
    names = ["_"] * n
    direct = mask is None and _fresh(rev, [v for _, v in pairs])
    for k, v in pairs:
        names[k] = rev.bar(v.name) if direct else rev.text.names.temporary() + "_bar"
    rev.emit(syn.assign(syn.tuple_of(map(syn.name, names)), every))
    for k, v in pairs:
        if direct:
            rev.state[v.name] = Adj(None, True, False)
        else:
            _add(rev, v, syn.name(names[k]), mask)


def _fresh(rev: Values, operands: list[ir.Var]) -> bool:
    """Whether all adjoints start here, so that they can be bound at once."""
    names = [v.name for v in operands]
    return len(set(names)) == len(names) and not any(
        n in rev.state or "%" in n or rev.unit.kind(n) == "memory" for n in names
    )


def _atom(b: Bound) -> ir.Var:
    assert isinstance(b, ir.Var)
    return b


def _cotangent(rev: Values, stmt: ir.Assign, g: ast.expr, out: ast.expr) -> ast.expr:
    match rev.unit.type(stmt.target.name):
        case ty.Number():
            return g
        case ty.Array():
            return rev.module.support("read_only", g)
        case _:
            return rev.module.support("cotangent_of", g, out)


def check_sharing(rev: Values, stmt: ir.Assign | ir.Effect, call: Library) -> None:
    """A rule says nothing of arguments that its function writes: refused where it matters."""
    unit, entry = rev.unit, call.entry
    what = None
    if call.source is not None:
        found = summary(unit.program, call.source.fn, call.source.types)
        hit = [
            a
            for k, b in zip(found.params, call.source.args, strict=False)
            for a in bound_atoms(b)
            if k in found.stored and isinstance(a, ir.Var)
        ]
        if any(unit.is_active(a) for a in hit):
            what = f"{entry.name} has a derivative rule, but writes into its argument"
    if what is not None:
        raise located(
            UnsupportedSyntax,
            stmt.loc,
            what,
            fixes=["let the function return a new array"],
        )


def check_apart(rev: Values, stmt: ir.Assign, call: Library, out: ast.expr) -> None:
    """The result is written into later: it must not be a part of an argument.  Where that isn't
    sure it is looked at when the program runs."""
    fx = rev.unit.fx
    names = {
        a.name: None
        for _, b in call.args
        for a in bound_atoms(b)
        if isinstance(a, ir.Var) and fx.root(a.name) == fx.root(stmt.target.name)
    }
    if names:
        args = syn.tuple_of(rev.primal(ir.Var(n)) for n in names)
        check = rev.module.support("check_apart", out, args, ast.Constant(about(call.entry)))
        rev.emit(ast.Expr(check))


def _check_keywords(
    rev: Values, stmt: ir.Stmt, call: Library, keywords: list[tuple[str | None, Bound]]
) -> None:
    for name, b in keywords:
        for a in bound_atoms(b):
            if rev.unit.is_active(a):
                assert isinstance(a, ir.Var)
                raise located(
                    NotDifferentiable,
                    stmt.loc,
                    f"the {about(call.entry)} gives no cotangent for {name}, which it takes by "
                    "keyword only",
                    chain=rev.chain(a.name),
                    fixes=["let the rule take it by position"],
                )


def about(entry: Entry) -> str:
    """A rule as comments and messages name it."""
    if isinstance(entry.target, ir.Function):
        loc = entry.target.loc
        return f"gradient that {entry.name} ({shown_file(loc.file)}:{loc.line}) returned"
    if entry.kind == "custom" and entry.backward is None:
        return f"gradient that {describe(entry.fn)} returned"
    names = "..." if entry.params is None else ", ".join(entry.params.parameters)
    call = f"{entry.name.removeprefix('__main__.')}({names})"
    if entry.kind == "jvp":
        return f"forward rule {describe(entry.jvp_fn)} for {call}"
    return f"rule {describe(entry.backward or entry.fn)} for {call}"


def bind_part(module: Module, entry: Entry, part: str, value: Any) -> ast.expr:
    """A function that belongs to a decorated one: `model.f.fwd` or `model.f.__wrapped__`."""
    code = _code(value)
    if code is not None:
        module.rules[code] = about(entry)
    home, path = (
        getattr(entry.target, "__module__", None),
        getattr(entry.target, "__qualname__", ""),
    )
    if isinstance(home, str) and home != "__main__" and _reached(home, path) is entry.target:
        return ast.Attribute(_path(module, home, path), part, ast.Load())
    name = path.rpartition(".")[2]
    name = name if name.isidentifier() else "function"
    suffix = "" if part == "__wrapped__" else f"_{part}"
    return syn.name(module.bind_object(name + suffix, value))


def _path(module: Module, home: str, path: str) -> ast.expr:
    node: ast.expr = syn.name(module.bind_import(home))
    for part in path.split("."):
        node = ast.Attribute(node, part, ast.Load())
    return node


def bind_rule(module: Module, entry: Entry, fn: Any) -> ast.expr:
    """A rule by its name in its module, or as an object that the module is given."""
    code = _code(fn)
    if code is not None:
        module.rules[code] = about(entry)
    home, path = getattr(fn, "__module__", None), getattr(fn, "__qualname__", "")
    if isinstance(home, str) and home != "__main__" and _reached(home, path) is fn:
        return _path(module, home, path)
    name = getattr(fn, "__name__", "rule")
    name = name if isinstance(name, str) and name.isidentifier() else "rule"
    return syn.name(module.bind_object(name, fn))


def _reached(home: str, path: str) -> Any:
    found: Any = sys.modules.get(home)
    if getattr(found, "__spec__", None) is None:
        return None
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _code(fn: Any) -> Any:
    call = inspect.getattr_static(type(fn), "__call__", None)
    for one in (fn, getattr(fn, "__func__", None), call):
        code = getattr(one, "__code__", None)
        if code is not None:
            return code
    return None
