"""Types of lists, tuples and dicts: what stores and methods make of them."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from srcgrad.analysis.targets import Library
from srcgrad.analysis.types import probe
from srcgrad.analysis.types.dims import plain_dims
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty
from srcgrad.rules import sources
from srcgrad.rules.python import OPERATORS
from srcgrad.rules.registry import Entry
from srcgrad.runtime import support

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts

CONTAINER_METHODS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "reverse",
        "copy",
        "get",
        "keys",
        "values",
        "items",
        "setdefault",
        "update",
        "index",
        "count",
        "sort",
        "popitem",
    ]
)


class ContainerTypes(ABC):
    """The part of inference that sees to containers."""

    facts: Facts

    @abstractmethod
    def atom(self, a: ir.Atom) -> ty.Type | None:
        """The type of an atom, None while nothing is known."""

    @abstractmethod
    def bind(self, name: str, t: ty.Type | None) -> None:
        """Join a type into that of a variable."""

    @abstractmethod
    def rule(self, value: Any) -> Entry | None:
        """The rule in force for a function."""

    def store(self, stmt: ir.Store) -> None:
        """Storing into a container widens the type of what it holds."""
        entry = self.rule(OPERATORS.get(stmt.op)) if stmt.op is not None else None
        if entry is not None and entry.given:
            self.facts.targets[stmt.sid] = Library(entry, ())
        if not isinstance(stmt.base, ir.Var):
            return
        base, value = self.atom(stmt.base), self.atom(stmt.value)
        if base is None or value is None or stmt.op is not None:
            return
        if isinstance(base, ty.List):
            if isinstance(stmt.key, ir.Slice):
                self.bind(stmt.base.name, ty.List(items_of(value)))
            else:
                self.bind(stmt.base.name, ty.List(value))
        elif isinstance(base, ty.Dict):
            self.bind(stmt.base.name, self.dict_with(base, stmt.key, value))
        elif isinstance(base, ty.Array) and base.dtype == object:
            self.bind(stmt.base.name, ty.UNKNOWN)

    def dict_of(self, keys: Sequence[ir.Atom | None], values: Sequence[ty.Type]) -> ty.Dict:
        """The type of `{key: value, **more}`; `more` has the key None."""
        out: dict[Any, ty.Type] = {}
        for k, t in zip(keys, values, strict=True):
            if isinstance(k, ir.Const):
                out[k.value] = t
            elif k is None and isinstance(t, ty.Dict) and t.items is not None:
                out |= dict(t.items)
            else:
                return ty.Dict(None)
        return ty.Dict(tuple(out.items()))

    def dict_with(self, base: ty.Dict, key: ir.Key, value: ty.Type) -> ty.Type:
        if base.items is None or not isinstance(key, ir.Const):
            return ty.Dict(None)
        items = dict(base.items)
        if key.value not in items:
            return ty.Dict(None)
        items[key.value] = ty.join(items[key.value], value)
        return ty.Dict(tuple(items.items()))

    def grow(self, stmt: ir.Effect) -> None:
        """`rows.append(x)` widens the type of the items of `rows`."""
        value = stmt.value
        match value:
            case ir.Call(ir.Global(value=fn), (ir.Var(name) as table, _)) if (
                fn is support.delete_item and isinstance(self.atom(table), ty.Dict)
            ):
                self.bind(name, ty.Dict(None))
        if not (isinstance(value, ir.Method) and isinstance(value.obj, ir.Var)):
            return
        base = self.atom(value.obj)
        if not isinstance(base, ty.List | ty.Dict) or value.name not in CONTAINER_METHODS:
            return
        args = [self.atom(ir.unstar(a)) for a in value.args]
        if isinstance(base, ty.Dict):
            self.bind(value.obj.name, ty.Dict(None))
        elif value.name == "append" and args and args[0] is not None:
            self.bind(value.obj.name, ty.List(args[0]))
        elif value.name in ("extend", "insert"):
            got = args[-1] if args else None
            item = got.item if value.name == "extend" and isinstance(got, ty.List) else got
            if value.name == "extend" and not isinstance(got, ty.List):
                item = ty.UNKNOWN
            if item is not None:
                self.bind(value.obj.name, ty.List(item))

    def same(self, t: ty.Type | None) -> ty.Type:
        """`support.sequence(x)` is x for arrays, lists and tuples, the keys of a dict."""
        if isinstance(t, ty.Array | ty.List | ty.Tuple):
            return t
        if isinstance(t, ty.Dict) and t.items is not None:
            kinds = {type(k) for k, _ in t.items}
            return ty.List(ty.Other(kinds.pop())) if kinds == {str} else ty.UNKNOWN
        return t if isinstance(t, ty.Other) and t.cls is range else ty.UNKNOWN

    def convert(self, cls: type, t: ty.Type | None) -> ty.Type:
        """`list(x)` and `tuple(x)`."""
        if cls is dict:
            return t if isinstance(t, ty.Dict) else ty.Dict(None)
        match t:
            case ty.Tuple(items):
                if cls is tuple:
                    return ty.Tuple(items)
                item: ty.Type | None = None
                for i in items:
                    item = i if item is None else ty.join(item, i)
                return ty.List(item)
            case ty.List():
                return t if cls is list else ty.UNKNOWN
            case ty.Array(_, dims) if len(dims) >= 1 and cls is list:
                return ty.List(probe.index_type(plain_dims(t), ty.Number(int)))
            case _:
                return ty.List(ty.UNKNOWN) if cls is list else ty.UNKNOWN

    def source_of_method(self, obj: ty.Type, expr: ir.Method, stmt: ir.Stmt) -> Any:
        """The function in Python that stands for a method of a list or dict with derivatives."""
        if not isinstance(obj, ty.List | ty.Dict | ty.Unknown) or not ty.can_be_active(obj):
            return None
        if expr.name == "sort" and not isinstance(obj, ty.List):  # of an array
            return None
        if expr.name in sources.METHODS:
            return sources.METHODS[expr.name]
        if expr.name in sources.VIEWS and not isinstance(obj, ty.List):
            return sources.VIEWS[expr.name] if self.is_used_up(stmt) else None
        given = len(expr.args) + len(expr.kwargs)
        changes = (ir.Store, ir.Effect)
        if expr.name == "get" and not isinstance(obj, ty.List) and isinstance(stmt, ir.Assign):
            readers = self.facts.readers.get(getattr(expr.obj, "name", ""), [])
            return support.table_get if any(isinstance(s, changes) for s in readers) else None
        if expr.name == "pop" and given == 2 and not isinstance(obj, ty.List):
            return support.table_pop
        return None

    def is_used_up(self, stmt: ir.Stmt) -> bool:
        """Whether an iterator is handed to one function that takes all of it, and to no other."""
        if not isinstance(stmt, ir.Assign) or not stmt.target.is_temp:
            return False
        readers = self.facts.readers.get(stmt.target.name, [])
        if len(readers) != 1 or not isinstance(readers[0], ir.Assign | ir.Effect | ir.If):
            return False
        e = readers[0].test if isinstance(readers[0], ir.If) else readers[0].value
        if not isinstance(e, ir.Call) or not isinstance(e.fn, ir.Global):
            return False
        return sources.uses_up(e.fn.value)

    def container_result(self, obj: ty.Type, expr: ir.Method) -> ty.Type:
        if expr.name == "copy":
            return obj
        if isinstance(obj, ty.List) and expr.name == "pop":
            return obj.item or ty.UNKNOWN
        if isinstance(obj, ty.Dict) and expr.name == "get" and obj.items is not None:
            key = expr.args[0]
            if isinstance(key, ir.Const):
                items: dict[Any, ty.Type] = dict(obj.items)
                if key.value in items:
                    return items[key.value]
                return (
                    self.atom(ir.unstar(expr.args[1])) or ty.UNKNOWN
                    if len(expr.args) > 1
                    else ty.Literal(None)
                )
        if expr.name in (
            "append",
            "extend",
            "insert",
            "clear",
            "reverse",
            "sort",
            "remove",
            "update",
        ):
            return ty.Literal(None)
        if expr.name in ("index", "count"):
            return ty.Number(int)
        if expr.name == "keys":
            return ty.Other(type({}.keys()))
        return ty.UNKNOWN


def items_of(t: ty.Type) -> ty.Type | None:
    """The type of the items of a sequence."""
    match t:
        case ty.List(item):
            return item
        case ty.Tuple(items):
            return functools.reduce(ty.join, items) if items else None
        case ty.Array():
            return probe.index_type(plain_dims(t), ty.Number(int))
        case _:
            return ty.UNKNOWN
