"""Assignment to names, tuples, subscripts and attributes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias

from srcgrad.frontend.bindings import names_in
from srcgrad.frontend.expressions import BINARY, assign_into, held, key, rebinds
from srcgrad.frontend.purity import is_pure
from srcgrad.frontend.resolve import builtin, check_attribute, helper
from srcgrad.frontend.scope import Scope, atom
from srcgrad.frontend.sharing import reaches
from srcgrad.ir.nodes import (
    Atom,
    Attr,
    Build,
    Call,
    Const,
    Expr,
    Global,
    Index,
    Op,
    Slice,
    Store,
    StoreAttr,
    Var,
)


@dataclass(frozen=True)
class Several:
    """A value known to be a tuple of these values, not built yet."""

    items: tuple[Expr | Several, ...]


# What a target gets: a value at hand, one still to be computed, or several.
Value: TypeAlias = Expr | Several


def variable(scope: Scope, node: ast.Name) -> Var:
    """The variable that an assignment to a name writes."""
    return scope.renames.get(node.id) or Var(node.id)


def assign_to(scope: Scope, target: ast.expr, value: Value, at: ast.AST) -> None:
    """`target = value`."""
    match target:
        case ast.Name():
            scope.assign(at, variable(scope, target), built(scope, value, at))
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(scope, elts, value, at)
        case ast.Subscript():
            held_value = scope.keep(at, built(scope, value, at))
            obj = held(scope, target.value, (target.slice,))
            found = key(scope, target.slice)
            scope.emit(Store(scope.sid(), scope.loc(at), obj, found, held_value))
        case ast.Attribute():
            check_attribute(scope, target)
            held_value = scope.keep(at, built(scope, value, at))
            obj = _object(scope, target, atom(scope, target.value))
            scope.emit(StoreAttr(scope.sid(), scope.loc(at), obj, target.attr, held_value))
        case _:
            raise scope.refusal(target, "this can't be assigned to")


def _object(scope: Scope, target: ast.Attribute, obj: Atom) -> Atom:
    """What an attribute is set on; a module's or class's would outlive the call."""
    if isinstance(obj, Global) and isinstance(obj.value, ModuleType | type):
        raise scope.refusal(
            target,
            f"{ast.unparse(target)} is a global: a second call would differ from the first",
            "pass it in and return its new value",
        )
    return obj


def built(scope: Scope, value: Value, at: ast.AST) -> Expr:
    """The value itself; several become a tuple."""
    if not isinstance(value, Several):
        return value
    return Build("tuple", tuple(scope.keep(at, built(scope, item, at)) for item in value.items))


def _unpack(scope: Scope, targets: Sequence[ast.expr], value: Value, at: ast.AST) -> None:
    star = next((k for k, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    if isinstance(value, Several) and star is None and len(value.items) == len(targets):
        for target, item in zip(targets, value.items, strict=True):
            assign_to(scope, target, item, at)
        return
    whole = scope.keep(at, built(scope, value, at))
    counts = [len(targets)] if star is None else [star, len(targets) - star - 1]
    call = Call(helper("unpacked"), (whole, *map(Const, counts)))
    items = scope.keep(at, call)
    for k, target in enumerate(targets):
        if star is None or k < star:
            assign_to(scope, target, Index(items, Const(k)), at)
        elif k == star:
            assert isinstance(target, ast.Starred)
            stop = Const(-counts[1]) if counts[1] else None
            middle = scope.keep(at, Index(items, Slice(Const(star), stop, None)))
            assign_to(scope, target.value, Call(builtin("list"), (middle,)), at)
        else:
            assign_to(scope, target, Index(items, Const(k - len(targets))), at)


# ---- a tuple of values to a tuple of targets ------------------------------------------


def assign_each(
    scope: Scope, targets: Sequence[ast.expr], values: Sequence[ast.expr], at: ast.AST
) -> None:
    """`a, b = x, y`: all values first, then the targets from left to right.

    A value goes straight to its name where nothing evaluated later can tell the difference."""
    pending: list[tuple[ast.expr, Value]] = []
    for k, (target, node) in enumerate(zip(targets, values, strict=True)):
        if isinstance(target, ast.Name) and _goes_straight(scope, target.id, k, targets, values):
            assign_into(scope, node, variable(scope, target), at)
        else:
            written = names_in(*(targets[:k] if isinstance(target, ast.Name) else targets))
            pending.append((target, _evaluated(scope, node, written)))
    for target, value in pending:
        assign_to(scope, target, value, at)


def _evaluated(scope: Scope, node: ast.expr, written: frozenset[str]) -> Value:
    """The value, safe from the assignments to the names in `written`."""
    if isinstance(node, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return Several(tuple(_evaluated(scope, e, written) for e in node.elts))
    found = atom(scope, node)
    if isinstance(found, Var) and found.name in written:
        temp = scope.temp()
        scope.assign(node, temp, found)
        return temp
    return found


def _goes_straight(
    scope: Scope,
    name: str,
    k: int,
    targets: Sequence[ast.expr],
    values: Sequence[ast.expr],
) -> bool:
    if scope.trying or name in scope.renames:
        return False
    return not any(
        _touches(scope, name, node) for node in (*targets[:k], *values[:k], *values[k + 1 :])
    )


def _touches(scope: Scope, name: str, node: ast.AST) -> bool:
    """May evaluating or assigning this read or write the name?"""
    return any(
        isinstance(part, ast.Lambda)
        or (isinstance(part, ast.Name) and (part.id == name or part.id in scope.inlined))
        for part in ast.walk(node)
    )


# ---- in place ---------------------------------------------------------------------------


def update(scope: Scope, node: ast.AugAssign) -> None:
    """`target op= value`: Python reads the target before it evaluates the value."""
    op = BINARY[type(node.op)]
    match node.target:
        case ast.Name() as name:
            _update_name(scope, node, variable(scope, name), op)
        case ast.Subscript(value=base, slice=index):
            obj = held(scope, base, (index, node.value))
            found = key(scope, index)
            if _may_write(scope, base, node.value):
                new = _updated(scope, node, Index(obj, found), op)
                scope.emit(Store(scope.sid(), scope.loc(node), obj, found, new))
            else:
                value = atom(scope, node.value)
                scope.emit(Store(scope.sid(), scope.loc(node), obj, found, value, op))
        case ast.Attribute(value=base, attr=attr) as target:
            check_attribute(scope, target)
            obj = _object(scope, target, held(scope, base, (node.value,)))
            if _may_write(scope, base, node.value):
                new = _updated(scope, node, Attr(obj, attr), op)
                scope.emit(StoreAttr(scope.sid(), scope.loc(node), obj, attr, new))
            else:
                value = atom(scope, node.value)
                scope.emit(StoreAttr(scope.sid(), scope.loc(node), obj, attr, value, op))


def _update_name(scope: Scope, node: ast.AugAssign, var: Var, op: str) -> None:
    if rebinds(scope, var, (node.value,)):
        scope.assign(node, var, _updated(scope, node, var, op))
        return
    value = atom(scope, node.value)
    scope.assign(node, var, Op(op, (var, value)), op)


def _updated(scope: Scope, node: ast.AugAssign, old: Expr, op: str) -> Var:
    """Python's own steps: read, evaluate, operate in place."""
    temp = scope.temp()
    scope.assign(node.target, temp, old)
    value = atom(scope, node.value)
    scope.assign(node, temp, Op(op, (temp, value)), op)
    return temp


def _may_write(scope: Scope, base: ast.expr, value: ast.expr) -> bool:
    """May evaluating `value` call code that reaches what `base` names, or shares memory with?"""
    if is_pure(scope, value):
        return False
    roots = reaches(scope, names_in(base))
    return any(
        isinstance(part, ast.Call)
        and not is_pure(scope, part)
        and bool(roots & _reached(scope, part))
        for part in ast.walk(value)
    )


def _reached(scope: Scope, node: ast.Call) -> frozenset[str]:
    names = names_in(node)
    inner = [scope.inlined[name].node for name in names if name in scope.inlined]
    return names | names_in(*inner)
