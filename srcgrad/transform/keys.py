"""Keys of arrays and containers, and the attributes of objects, as text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from srcgrad.analysis.targets import Construct
from srcgrad.analysis.types.records import default_of, fields_and_defaults
from srcgrad.analysis.unit import Unit
from srcgrad.errors import UnsupportedSyntax, located
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.runtime.support import state
from srcgrad.transform import syntax as syn
from srcgrad.transform.module import Module


def key_value(key: ir.Key, atom: Callable[[ir.Atom], ast.expr]) -> ast.expr:
    """A key as a value: slices are written as calls; `atom` prints what the key is made of."""
    match key:
        case ir.KeyTuple(items):
            return syn.tuple_of(key_value(i, atom) for i in items)
        case ir.Slice(lower, upper, step):
            parts = [syn.number(None) if a is None else atom(a) for a in (lower, upper, step)]
            return syn.call("slice", *parts)
        case _:
            return atom(key)


def attributes_of(
    unit: Unit, module: Module, stmt: ir.Store | ir.StoreAttr, printed: ast.expr
) -> ast.expr:
    """The dict that a store changes an item of: `obj.__dict__` for `obj.name = e`."""
    if isinstance(stmt, ir.Store):
        return printed
    t = unit.facts.of(stmt.base)
    if not isinstance(t, ty.Object):
        return module.support("attributes", printed, ast.Constant(stmt.name))
    if not state.is_plain(t.cls, stmt.name):
        raise located(
            UnsupportedSyntax,
            stmt.loc,
            f"a value with a derivative is written into the attribute {stmt.name} of an object "
            f"of the class {t.cls.__name__}, which does not keep it in a plain attribute",
            fixes=["keep it in a local variable or an array"],
        )
    return ast.Attribute(printed, "__dict__", ast.Load())


def fields_of(
    module: Module, made: Construct, given: Mapping[str, ast.expr], here: ast.expr
) -> tuple[dict[str, ast.expr], bool]:
    """The adjoints or tangents of all fields of an object, zero for a field that its default
    fills, and whether they read the object, `here`, itself."""
    out: dict[str, ast.expr] = {}
    late = False
    for name in fields_and_defaults(made.cls, made.fields):
        default = default_of(made.cls, name) if name not in given else None
        if name in given:
            out[name] = given[name]
        elif default is None or isinstance(default, bool | str):
            out[name] = syn.number(None)
        elif isinstance(default, int | float):
            out[name] = syn.number(0.0)
        else:
            out[name] = module.support("bar", ast.Attribute(here, name, ast.Load()))
            late = True
    return out, late


def record_of(module: Module, fields: Mapping[str, ast.expr]) -> ast.Call:
    """`support.Record(a=..., b=...)`"""
    made = module.support("Record")
    assert isinstance(made, ast.Call)
    made.keywords = [ast.keyword(name, value) for name, value in fields.items()]
    return made
