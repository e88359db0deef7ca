"""Calls of functions that are chosen when the program runs, and names of attributes in variables.

y = f(x)               ->    if f is np.sin: y = np.sin(x)
                             elif f is square: y = square(x)
                             else: raise ...
getattr(np, name)      ->    np.tanh                  where name is surely "tanh"
d.setdefault(k, v)     ->    if k not in d: d[k] = v
                             d[k]
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from types import ModuleType

from srcgrad.analysis.rewrites.base import Rewrites
from srcgrad.frontend.resolve import SUPPORT, global_of, module_path
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.runtime import support


@dataclass
class Choices(Rewrites):
    """The part of sharpening that sees to functions in variables."""

    def chosen(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        match stmt.value:
            case ir.Call(ir.Var() as fn) if isinstance(self.facts.of(fn), ty.OneOf):
                return self.by_case(stmt, stmt.value, fn)
            case ir.Call(ir.Global(value=fn), (owner, name, *default), ()) if fn is getattr:
                return self.attribute(stmt, owner, name, bool(default))
            case ir.Method(ir.Var() as table, "setdefault", (key, value), ()) if isinstance(
                self.facts.of(table), ty.Dict
            ):
                if isinstance(key, ir.Star) or isinstance(value, ir.Star):
                    return None
                return self.set_default(stmt, table, key, value)
            case _:
                return None

    def by_case(self, stmt: ir.Assign | ir.Effect, call: ir.Call, fn: ir.Var) -> list[ir.Stmt]:
        """A test for each function that it may be; each call is then of a known one."""
        found = self.facts.of(fn)
        assert isinstance(found, ty.OneOf)
        self.changed = True
        unknown = "unknown_function"
        name = ast.Name(fn.name, ast.Load())
        raised = ast.Raise(ast.Call(ast.Name(unknown, ast.Load()), [name], []), None)
        raiser = ir.Global(SUPPORT, (unknown,), support.unknown_function)
        rest: ir.Block = (
            ir.Verbatim(next(self.sids), stmt.loc, raised, (fn,), (), ((unknown, raiser),)),
        )
        for option in reversed(found.options):
            named = global_of(option.value)
            here = replace(stmt, sid=next(self.sids), value=replace(call, fn=named))
            test = ir.Op("is", (fn, named))
            rest = (ir.If(next(self.sids), stmt.loc, test, (here,), rest),)
        return list(rest)

    def attribute(
        self,
        stmt: ir.Assign | ir.Effect,
        owner: ir.Atom | ir.Star,
        name: ir.Atom | ir.Star,
        has_default: bool,
    ) -> list[ir.Stmt] | None:
        """An attribute whose name is known, read as if it were written out."""
        if isinstance(owner, ir.Star) or isinstance(name, ir.Star):
            return None
        t = self.facts.of(name)
        if not isinstance(t, ty.Literal) or not isinstance(t.value, str):
            return None
        module = self.facts.of(owner)
        if isinstance(module, ty.Static) and isinstance(module.value, ModuleType):
            found = module_path(module.value)
            if found is not None and hasattr(module.value, t.value):
                self.changed = True
                inner = getattr(module.value, t.value)
                return [replace(stmt, value=ir.Global(found.root, (*found.path, t.value), inner))]
        if has_default:
            return None
        self.changed = True
        return [replace(stmt, value=ir.Attr(owner, t.value))]

    def set_default(
        self, stmt: ir.Assign | ir.Effect, table: ir.Var, key: ir.Atom, value: ir.Atom
    ) -> list[ir.Stmt]:
        self.changed = True
        names = {f"v{k}": a for k, a in enumerate((key, table))}
        node = ast.parse("v0 not in v1", mode="eval").body
        assert isinstance(node, ast.Compare)
        test = _opaque(node, names)
        store = ir.Store(next(self.sids), stmt.loc, table, key, value)
        out: list[ir.Stmt] = [ir.If(next(self.sids), stmt.loc, test, (store,), ())]
        if isinstance(stmt, ir.Assign):
            out.append(replace(stmt, value=ir.Index(table, key)))
        return out


def _opaque(node: ast.Compare, atoms: dict[str, ir.Atom]) -> ir.Opaque:
    """A test over atoms."""
    reads: list[ir.Var] = []
    names: list[tuple[str, ir.Global]] = []

    def put(part: ast.expr) -> ast.expr:
        assert isinstance(part, ast.Name)
        match atoms[part.id]:
            case ir.Var(name) as var:
                reads.append(var)
                return ast.Name(name, ast.Load())
            case ir.Const(value):
                return ast.Constant(value)
            case ir.Global() as found:
                names.append((part.id, found))
                return part

    node.left, node.comparators = put(node.left), [put(c) for c in node.comparators]
    return ir.Opaque(node, tuple(reads), tuple(names))
