"""Through which operands a derivative flows, statement by statement."""

from __future__ import annotations

from srcgrad.analysis.facts import Facts
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

_PLAIN: tuple[type, ...] = (dict, list, tuple, str, bytes, range)
_NO_FLOW = frozenset(("index", "count", "keys", "clear", "sort", "reverse"))


def dependencies(facts: Facts, expr: ir.Expr, stmt: ir.Stmt) -> tuple[ir.Var, ...]:
    """The variables whose derivative may reach the value of an expression."""
    target = facts.targets.get(stmt.sid)
    match expr:
        case ir.Var():
            return (expr,)
        case ir.Const() | ir.Global() | ir.Opaque():
            return ()
        case ir.Index(obj, key) if target is None:
            # What an object of unknown class makes of a key may depend on the key's value.
            if takes_any_key(facts.of(obj)):
                return _vars((obj, *ir.key_atoms(key)))
            return _vars((obj,))
        case ir.Build(_, items, _):
            return _vars(map(ir.unstar, items))
        case ir.Closure(_, free):
            return _vars(a for _, a in free)
        case ir.Attr(obj, _) if target is None:
            if not ty.can_be_active(facts.of(obj)):
                return ()
            return _vars((obj,))
    return _of_target(expr, target)


def takes_any_key(t: ty.Type) -> bool:
    """Whether indexing a value runs code that may compute with the key, as `np.r_[x, y]` does."""
    return isinstance(t, ty.Object) or (isinstance(t, ty.Other) and not issubclass(t.cls, _PLAIN))


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
        case Container("alias"):
            return _vars(ir.operands(expr)[1:2])
        case Container(name):
            return () if name in _NO_FLOW else _vars(ir.operands(expr))
        case Constant():
            return ()
        case Uncharted() | _:
            return _vars(ir.operands(expr))


def _vars(atoms: object) -> tuple[ir.Var, ...]:
    return tuple(a for a in atoms if isinstance(a, ir.Var))  # type: ignore[attr-defined]
