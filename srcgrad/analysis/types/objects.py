"""Types of objects: what constructors make, and operators that classes define."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import Bound, Construct, Container, Packed, Target, Uncharted
from srcgrad.analysis.types import constructors, special_methods
from srcgrad.analysis.types.binding import bind_library
from srcgrad.analysis.types.containers import ContainerTypes
from srcgrad.analysis.types.probe import type_of
from srcgrad.analysis.types.records import default_of, is_plain_record
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules.registry import Entry
from srcgrad.runtime import support

_BUILTIN_CONTAINERS = {list: "list", tuple: "tuple", dict: "dict"}
_BOOL = ty.Number(bool)

Args = Sequence[ir.Atom | ir.Star]
Kwargs = Sequence[tuple[str | None, ir.Atom]]


class ObjectTypes(ContainerTypes):
    """The part of inference that sees to objects of classes."""

    program: Program

    @abstractmethod
    def target(self, stmt: ir.Stmt, target: Target) -> None:
        """Note what a statement calls."""

    @abstractmethod
    def call_value(
        self, stmt: ir.Stmt, value: Any, args: Args, kwargs: Kwargs, where: ir.Atom
    ) -> ty.Type | None:
        """The type of a call of an object known when compiling."""

    @abstractmethod
    def invoke_object(
        self, stmt: ir.Stmt, value: Any, args: Args, kwargs: Kwargs, where: ir.Atom
    ) -> ty.Type | None:
        """The type of a call of a function with source."""

    @abstractmethod
    def invoke(
        self,
        stmt: ir.Stmt,
        fn: ir.Function,
        args: Args,
        kwargs: Kwargs,
        closure: ir.Atom | None = None,
    ) -> ty.Type | None:
        """The type of a call of a lowered function."""

    def special(
        self, found: special_methods.Found | None, what: str, stmt: ir.Stmt
    ) -> ty.Type | None:
        """An operator or index on an object of a user's class: a call of its special method."""
        if found is None:
            if what not in ("is", "is_not", "not"):
                self.target(stmt, Uncharted(f"{what} of an object", "its class defines none"))
            return ty.UNKNOWN if what not in ("eq", "ne", "is", "is_not", "not") else _BOOL
        method, args = found
        return self.call_value(stmt, method, args, (), args[0])

    def construct(
        self,
        stmt: ir.Stmt,
        cls: type,
        args: Args,
        kwargs: Kwargs,
    ) -> ty.Type:
        if cls is dict and args and kwargs:
            self.target(stmt, Uncharted("dict", "it is given items and names", pending=True))
            return ty.Dict(None)
        if (
            cls is dict
            and len(args) == 1
            and not isinstance(self.atom(ir.unstar(args[0])), ty.Dict)
        ):
            return self.invoke_object(stmt, support.table_of, args, kwargs, args[0])  # type: ignore[arg-type,return-value]
        if cls in _BUILTIN_CONTAINERS:
            self.target(stmt, Container(_BUILTIN_CONTAINERS[cls]))
            if not args or isinstance(args[0], ir.Star):
                empty: dict[type, ty.Type] = {
                    list: ty.List(None), tuple: ty.Tuple(()), dict: ty.Dict(()),
                }  # fmt: skip
                return empty.get(cls, ty.UNKNOWN)
            return self.convert(cls, self.atom(ir.unstar(args[0])))
        fields = is_plain_record(cls)
        if fields is not None:
            bound = bind_library(
                Entry(cls, cls.__name__, "record", inspect.signature(cls), {}, {}), args, kwargs
            )
            if bound is not None and not any(isinstance(b, Packed) for _, b in bound):
                given = dict(bound)
                if set(given) <= set(fields):
                    names = tuple(f for f in fields if f in given)
                    self.target(stmt, Construct(cls, names, tuple(given[f] for f in names)))
                    return self.record_type(cls, fields, given)
        if cls is support.Record and not args and all(k is not None for k, _ in kwargs):
            given = {k: v for k, v in kwargs if k is not None}
            self.target(stmt, Construct(cls, tuple(given), tuple(given.values())))
            return self.record_type(cls, tuple(given), given)
        if constructors.has_none(cls) and not args and not kwargs:
            self.target(stmt, Construct(cls, (), ()))
            return self.record_type(cls, (), {})
        made = self.program.constructor(cls)
        if made is not None:
            return self.invoke(stmt, made, args, kwargs)  # type: ignore[return-value]
        self.target(stmt, Uncharted(cls.__name__, "srcgrad does not look into its constructor"))
        return ty.Object(cls)

    def instance(
        self,
        stmt: ir.Stmt,
        args: Args,
        kwargs: Kwargs,
    ) -> ty.Type:
        """The end of a constructor: an object with these attributes."""
        first = args[0]
        assert isinstance(first, ir.Global) and isinstance(first.value, type)
        cls = first.value
        given = {k: v for k, v in kwargs if k is not None}
        self.target(stmt, Construct(cls, tuple(given), tuple(given.values())))
        return self.record_type(cls, tuple(given), given)

    def record_type(
        self, cls: type, fields: tuple[str, ...], given: Mapping[str, Bound]
    ) -> ty.Type:
        def of(f: str) -> ty.Type:
            a = given.get(f)
            if a is None and is_plain_record(cls):
                default = default_of(cls, f)
                fresh = default is inspect.Parameter.empty
                return ty.UNKNOWN if fresh else ty.generic(type_of(default))
            return ty.UNKNOWN if a is None or isinstance(a, Packed) else self.atom(a) or ty.UNKNOWN

        if issubclass(cls, tuple):
            return ty.Tuple(tuple(of(f) for f in fields), cls)
        return ty.Object(cls, tuple((f, of(f)) for f in fields))

    def with_attribute(self, stmt: ir.StoreAttr) -> ty.Type | None:
        """The type of an object in which an attribute has been set."""
        obj, value = self.atom(stmt.base), self.atom(stmt.value)
        if not isinstance(obj, ty.Object) or obj.fields is None or value is None:
            return None
        old = dict(obj.fields)
        if stmt.op is not None or stmt.name not in old:
            return ty.Object(obj.cls)
        old[stmt.name] = ty.join(old[stmt.name], value)
        return ty.Object(obj.cls, tuple(old.items()))
