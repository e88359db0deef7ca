"""Constructors of users' classes as functions that return a record of the attributes they set.

    def __init__(self, a, b):            def Line(a, b):
        self.a = a                  ->       self_a = a
        self.scale = self.a * b              self_scale = self_a * b
                                             return support.instance(Line, a=..., scale=...)

So an object made inside a differentiated function is what a plain dataclass is.  A constructor
that does anything else with `self` than set and read attributes is not looked into.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from srcgrad.frontend.resolve import global_of, helper
from srcgrad.ir import nodes as ir
from srcgrad.ir.names import Names
from srcgrad.ir.rebuild import with_blocks
from srcgrad.runtime.support.state import names_of

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that was made when the program ran


def has_own(cls: type) -> bool:
    """Whether a class makes its objects in the ordinary way: `__init__` in Python, no more."""
    made: tuple[Any, ...] = (cls.__new__, type(cls).__call__)
    ordinary = made == (object.__new__, type.__call__)
    init = inspect.getattr_static(cls, "__init__", None)
    return ordinary and inspect.isfunction(init)


def has_none(cls: type) -> bool:
    """Whether a class written in Python leaves its objects empty when it makes them."""
    init = inspect.getattr_static(cls, "__init__")
    made: tuple[Any, ...] = (cls.__new__, init, type(cls).__call__)
    in_python = "__dict__" in dir(cls) and bool(cls.__flags__ & _HEAP_TYPE)
    return in_python and made == (object.__new__, object.__init__, type.__call__)


def as_function(cls: type, init: ir.Function) -> ir.Function | None:
    """The function that stands for a constructor, None for one that is not followed."""
    if "__setattr__" in names_of(cls) or not init.params or init.params[0].kind != "normal":
        return None
    work = _Constructor(cls, init)
    try:
        body = work.block(init.body[:-1], top=True)
    except _NotFollowed:
        return None
    last = init.body[-1]
    if not isinstance(last, ir.Exit) or last.value != ir.Const(None):
        return None
    fields = tuple((name, ir.Var(var)) for name, var in work.attributes.items())
    made = ir.Var("%made")
    call = ir.Call(helper("instance"), (work.class_atom(),), fields)
    end = (
        ir.Assign(next(work.sids), init.loc, made, call),
        ir.Exit(next(work.sids), init.loc, "return", made),
    )
    return replace(init, name=cls.__name__, params=init.params[1:], body=(*body, *end))


class _NotFollowed(Exception):
    """The object itself is used for something."""


@dataclass
class _Constructor:
    cls: type
    init: ir.Function
    attributes: dict[str, str] = field(default_factory=dict)  # attribute -> variable

    def __post_init__(self) -> None:
        stmts = list(ir.walk(self.init.body))
        self.me = ir.Var(self.init.params[0].name)
        taken = {v.name for s in stmts for v in (*ir.reads(s), *ir.writes(s))}
        self.names = Names(taken | {p.name for p in self.init.params})
        self.sids: Iterator[int] = count(1 + max((s.sid for s in stmts), default=0))

    def class_atom(self) -> ir.Global:
        return global_of(self.cls)

    def variable(self, name: str) -> ir.Var:
        if name not in self.attributes:
            self.attributes[name] = self.names.fresh(f"{self.me.name}_{name}")
        return ir.Var(self.attributes[name])

    def block(self, block: ir.Block, top: bool = False) -> ir.Block:
        return tuple(new for s in block for new in self.stmt(s, top))

    def stmt(self, stmt: ir.Stmt, top: bool) -> list[ir.Stmt]:
        match stmt:
            case ir.StoreAttr(sid, loc, base, name, value, op) if base == self.me:
                if value == self.me:
                    raise _NotFollowed
                known = name in self.attributes
                if not (known or top) or (op is not None and not known):
                    raise _NotFollowed  # it may be set on one way only
                var = self.variable(name)
                made: ir.Expr = value if op is None else ir.Op(op, (var, value))
                return [ir.Assign(sid, loc, var, made, op)]
            case ir.Assign(value=ir.Attr(obj, name)) if obj == self.me:
                if name not in self.attributes:
                    raise _NotFollowed
                return [replace(stmt, value=self.variable(name))]
            case ir.Effect(value=ir.Call(fn, args, kwargs)) if self.me in args:
                return self.of_base(stmt, fn, args, kwargs, top)
            case ir.Exit(kind="return"):
                raise _NotFollowed
        if self.me in ir.reads(stmt) or self.me in ir.writes(stmt):
            raise _NotFollowed
        return [with_blocks(stmt, tuple(self.block(b) for b in ir.blocks(stmt)))]

    def of_base(
        self, stmt: ir.Effect, fn: ir.Atom, args: Any, kwargs: Any, top: bool
    ) -> list[ir.Stmt]:
        """`super().__init__(a)`: the attributes are those of an object of the base class."""
        having = [b for b in self.cls.__mro__[:-1] if "__init__" in vars(b)]
        base = having[1] if len(having) > 1 else None  # behind the one whose source this is
        value = fn.value if isinstance(fn, ir.Global) else None
        if base is None or not top or value is not vars(base)["__init__"] or args[0] != self.me:
            raise _NotFollowed
        from srcgrad.analysis.resolve import lowered, user_source

        source = user_source(value)
        inner = None if source is None else _Constructor(base, lowered(source))
        if inner is None or as_function(base, inner.init) is None:
            raise _NotFollowed
        inner.block(inner.init.body[:-1], top=True)
        made = ir.Var(f"%base{next(self.sids)}")
        call = ir.Call(inner.class_atom(), args[1:], kwargs)
        out: list[ir.Stmt] = [ir.Assign(stmt.sid, stmt.loc, made, call)]
        for name in inner.attributes:
            var = self.variable(name)
            out.append(ir.Assign(next(self.sids), stmt.loc, var, ir.Attr(made, name)))
        return out


__all__ = ["as_function", "has_none", "has_own"]
