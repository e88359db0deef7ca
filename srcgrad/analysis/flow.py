"""Through which operands a derivative flows, statement by statement."""

from __future__ import annotations

from srcgrad.analysis.infer import Facts
from srcgrad.analysis.targets import (
    Constant,
    Construct,
    Container,
    Library,
    Uncharted,
    User,
    bound_atoms,
)
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

_NO_FLOW = frozenset(("index", "count", "keys", "clear", "sort", "reverse"))


def dependencies(facts: Facts, expr: ir.Expr, stmt: ir.Stmt) -> tuple[ir.Var, ...]:
    """The variables whose derivative may reach the value of an expression."""
    target = facts.targets.get(stmt.sid)
    match expr:
        case ir.Var():
            return (expr,)
        case ir.Const() | ir.Global() | ir.Opaque():
            return ()
        case ir.Index(obj, _):
            return _vars((obj,))
        case ir.Build(_, items, _):
            return _vars(map(ir.unstar, items))
        case ir.Closure(_, free):
            return _vars(a for _, a in free)
        case ir.Attr(obj, _) if target is None:
            if isinstance(facts.of(obj), ty.Static | ty.Other):
                return ()
            return _vars((obj,))
    return _of_target(expr, target)


def _of_target(expr: ir.Expr, target: object) -> tuple[ir.Var, ...]:
    match target:
        case Library(entry, args, _):
            if entry.kind == "nondiff":
                return ()
            if entry.kind == "refuse":
                return _vars(ir.operands(expr))
            return _vars(a for n, b in args if n not in entry.zero for a in bound_atoms(b))
        case User(_, args, closure, _):
            extra = () if closure is None else (closure,)
            return _vars([*(a for b in args for a in bound_atoms(b)), *extra])
        case Construct(_, _, args):
            return _vars(a for b in args for a in bound_atoms(b))
        case Container(name):
            return () if name in _NO_FLOW else _vars(ir.operands(expr))
        case Constant():
            return ()
        case Uncharted() | _:
            return _vars(ir.operands(expr))


def _vars(atoms: object) -> tuple[ir.Var, ...]:
    return tuple(a for a in atoms if isinstance(a, ir.Var))  # type: ignore[attr-defined]
