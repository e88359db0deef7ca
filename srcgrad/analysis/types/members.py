"""Types of methods, attributes and items."""

from __future__ import annotations

import dataclasses
import functools
import inspect

from srcgrad.analysis.targets import (
    Constant,
    Container,
    Library,
    Packed,
    Uncharted,
)
from srcgrad.analysis.types import odd_arrays, probe, special_methods
from srcgrad.analysis.types.binding import bind_library
from srcgrad.analysis.types.calls import CallTypes, counts
from srcgrad.analysis.types.containers import CONTAINER_METHODS
from srcgrad.analysis.types.dims import plain_dims
from srcgrad.analysis.types.records import parts_of
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.methods import INPLACE_METHODS, METHODS
from srcgrad.rules.registry import for_call
from srcgrad.runtime import support

_ROUNDS = 8  # rounds of the fixed point before what still changes becomes unknown


class MemberTypes(CallTypes):
    """The part of inference that sees to what belongs to an object."""

    def method(self, expr: ir.Method, stmt: ir.Stmt) -> ty.Type | None:
        obj = self.atom(expr.obj)
        assert obj is not None
        if isinstance(obj, ty.Object) and not odd_arrays.is_odd(obj.cls):
            found = inspect.getattr_static(obj.cls, expr.name, None)
            if isinstance(found, staticmethod | classmethod):
                value = getattr(obj.cls, expr.name)
                return self.call_value(stmt, value, expr.args, expr.kwargs, expr.obj)
            if isinstance(expr.obj, ir.Global) and inspect.isroutine(found):
                bound = getattr(expr.obj.value, expr.name, None)
                if self.rule(bound) is not None:  # a rule for the method of this object
                    return self.call_value(stmt, bound, expr.args, expr.kwargs, expr.obj)
            if inspect.isfunction(found):
                args = (expr.obj, *expr.args)
                return self.call_value(stmt, found, args, expr.kwargs, expr.obj)
        if isinstance(obj, ty.Static):
            value = getattr(obj.value, expr.name, None)
            if value is not None:
                return self.call_value(stmt, value, expr.args, expr.kwargs, expr.obj)
        if isinstance(obj, ty.Tuple) and obj.cls is not tuple:
            found = inspect.getattr_static(obj.cls, expr.name, None)
            if expr.name == "_replace":  # the next round has a new tuple in its place
                self.target(stmt, Uncharted("_replace", "its object is not known", True))
                return obj
            if expr.name == "_asdict":  # the next round has a display in its place
                self.target(stmt, Uncharted("_asdict", "its object is not known", True))
                return ty.Dict(parts_of(obj, dataclasses.asdict))
            if inspect.isfunction(found) and not expr.name.startswith("_"):
                return self.call_value(stmt, found, (expr.obj, *expr.args), expr.kwargs, expr.obj)
        source = self.source_of_method(obj, expr, stmt)
        if source is support.table_update and expr.kwargs:
            self.target(stmt, Uncharted("the method update", "it has keyword arguments", True))
            return ty.Literal(None)  # the next round has stores in their place
        if source is not None:
            args = (expr.obj, *expr.args)
            return self.invoke_object(stmt, source, args, expr.kwargs, expr.obj)
        if isinstance(obj, ty.List | ty.Dict | ty.Tuple) and expr.name in CONTAINER_METHODS:
            self.target(stmt, Container(expr.name))
            return self.container_result(obj, expr)
        if isinstance(obj, ty.Array | ty.Number | ty.Unknown):
            if isinstance(obj, ty.Unknown) and expr.name in CONTAINER_METHODS - {"copy", "sort"}:
                self.target(stmt, Container(expr.name))
                return ty.UNKNOWN
            if expr.name in INPLACE_METHODS:
                self.target(stmt, Container(expr.name))
                return ty.Literal(None)
            info = METHODS.get(expr.name)
            if info is not None and not info.attr:
                return self.array_method(expr, stmt)
        self.target(stmt, Uncharted(f"the method {expr.name}", "its object is not known"))
        return ty.UNKNOWN

    def array_method(self, expr: ir.Method, stmt: ir.Stmt) -> ty.Type | None:
        info = METHODS[expr.name]
        entry = self.rule(info.target)
        if entry is None:
            self.target(stmt, Uncharted(f"the method {expr.name}", "it has no rule"))
            return ty.UNKNOWN
        entry = for_call(entry, 1 + len(expr.args))
        args: tuple[ir.Atom | ir.Star | Packed, ...] = expr.args
        if info.pack and len(args) > 1:
            args = (Packed("tuple", tuple(expr.args)),)
        bound = bind_library(entry, (expr.obj, *args), expr.kwargs)
        if bound is None:
            self.target(
                stmt, Uncharted(f"the method {expr.name}", "its arguments are not understood")
            )
            return ty.UNKNOWN
        self.target(stmt, Constant(ty.UNKNOWN) if counts(bound) else Library(entry, bound))
        given = [self.known(ir.unstar(a)) for a in expr.args]
        named = {k: self.known(v) for k, v in expr.kwargs if k is not None}
        found = probe.method_type(plain_dims(self.facts.of(expr.obj)), expr.name, given, named)
        plain = [expr.obj, *map(ir.unstar, expr.args)]
        return self.facts.extents.library(found, entry, plain, dict(bound))

    def attribute(self, expr: ir.Attr, stmt: ir.Stmt) -> ty.Type | None:
        obj = self.atom(expr.obj)
        assert obj is not None
        if isinstance(obj, ty.Object):
            if obj.fields is not None and expr.name in dict(obj.fields):
                return dict(obj.fields)[expr.name]
            return self.attribute_of_object(expr, stmt, obj)
        if isinstance(obj, ty.Tuple) and expr.name in getattr(obj.cls, "_fields", ()):
            return obj.items[obj.cls._fields.index(expr.name)]  # type: ignore[attr-defined]
        if isinstance(obj, ty.Static):
            value = getattr(obj.value, expr.name, ir.MISSING)
            return ty.UNKNOWN if value is ir.MISSING else probe.type_of(value)
        info = METHODS.get(expr.name)
        if isinstance(obj, ty.Array | ty.Number | ty.Unknown) and info is not None and info.attr:
            entry = self.rule(info.target)
            if entry is not None and entry.params is not None:
                first = next(iter(entry.params.parameters))
                self.target(stmt, Library(entry, ((first, expr.obj),)))
            elif entry is not None:
                self.target(stmt, Library(entry, ()))
        return self.facts.extents.attribute(obj, expr.name)

    def attribute_of_object(self, expr: ir.Attr, stmt: ir.Stmt, obj: ty.Object) -> ty.Type | None:
        """What the class says of an attribute that is not one of the object's known own."""
        found = inspect.getattr_static(obj.cls, expr.name, None)
        if isinstance(found, property) and found.fget is not None:
            return self.invoke_object(stmt, found.fget, (expr.obj,), (), expr.obj)
        if isinstance(found, functools.cached_property):
            return self.invoke_object(stmt, found.func, (expr.obj,), (), expr.obj)
        if special_methods.hides_attribute(obj.cls, expr.name):
            what = f"the attribute {expr.name} of an object of the class {obj.cls.__name__}"
            self.target(stmt, Uncharted(what, "its class computes it"))
            return ty.UNKNOWN
        if special_methods.is_own(found):
            if expr.name == "__dict__" and isinstance(expr.obj, ir.Var):
                self.bind(expr.obj.name, ty.Object(obj.cls))  # it may get any attribute by it
            return ty.UNKNOWN
        if obj.fields is not None and found is not None and not callable(found):
            t = ty.generic(probe.type_of(found))  # of the class
            self.target(stmt, Constant(t))
            return t
        return ty.UNKNOWN
