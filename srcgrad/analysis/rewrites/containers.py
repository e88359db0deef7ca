"""Rewrites of what is done with containers, by their types: starred values, merged dicts, slices
of lists that are assigned, methods called for their effect."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from srcgrad.analysis.rewrites.base import Rewrites
from srcgrad.analysis.types.records import is_plain_record, parts_of
from srcgrad.frontend.resolve import builtin, global_of, helper
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

_READERS = frozenset(("get", "keys", "values", "items", "copy", "index", "count"))


@dataclass
class ContainerRewrites(Rewrites):
    """The part of sharpening that sees to containers."""

    def merged(self, stmt: ir.Assign) -> list[ir.Stmt] | None:
        """`{**a, "k": x}` and `a | b` for dicts of unknown keys: stores into a new dict."""
        value, loc = stmt.value, stmt.loc
        keys: tuple[ir.Atom | None, ...]
        match value:
            case ir.Op("or", items) if any(isinstance(self.facts.of(a), ty.Dict) for a in items):
                keys = (None, None)
            case ir.Build("dict", items, keys) if None in keys:
                pass
            case _:
                return None
        if not any(ty.can_be_active(self.facts.of(ir.unstar(a))) for a in items):
            return None
        made = ir.Var(f"%d{next(self.sids)}")
        out: list[ir.Stmt] = [ir.Assign(next(self.sids), loc, made, ir.Build("dict", ()))]
        for k, a in zip(keys, items, strict=True):
            v = ir.unstar(a)
            if k is None:
                more = ir.Method(made, "update", (v,))
                out.append(ir.Effect(next(self.sids), loc, more))
            else:
                out.append(ir.Store(next(self.sids), loc, made, k, v))
        self.changed = True
        return [*out, replace(stmt, value=made)]

    def list_slice(self, stmt: ir.Store) -> list[ir.Stmt]:
        """`rows[1:] = more` for a list that may carry a derivative."""
        t = self.facts.of(stmt.base)
        if not isinstance(t, ty.List) or not isinstance(stmt.key, ir.Slice):
            return [stmt]
        if not ty.can_be_active(t) and not ty.can_be_active(self.facts.of(stmt.value)):
            return [stmt]
        self.changed = True
        key = ir.Var(f"%s{next(self.sids)}")
        ends = (stmt.key.lower, stmt.key.upper, stmt.key.step)
        made = ir.Call(builtin("slice"), tuple(ir.Const(None) if a is None else a for a in ends))
        call = ir.Call(helper("list_store_slice"), (stmt.base, key, stmt.value))
        return [
            ir.Assign(next(self.sids), stmt.loc, key, made),
            ir.Effect(stmt.sid, stmt.loc, call),
        ]

    def changed_copy(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`p._replace(x=e)` and `dataclasses.replace(p, x=e)`: a new one of the other fields."""
        match stmt.value:
            case ir.Method(obj, "_replace", (), kwargs):
                pass
            case ir.Call(ir.Global(value=fn), (ir.Var() | ir.Global() as obj,), kwargs) if (
                fn is dataclasses.replace
            ):
                pass
            case _:
                return None
        t = self.facts.of(obj)
        if isinstance(t, ty.Tuple):
            fields: tuple[str, ...] = getattr(t.cls, "_fields", ())
        else:
            fields = is_plain_record(t.cls) or () if isinstance(t, ty.Object) else ()
        given = {k: v for k, v in kwargs if k is not None}
        if not fields or len(given) != len(kwargs):
            return None
        assert isinstance(t, ty.Tuple | ty.Object)
        out: list[ir.Stmt] = []
        items: list[tuple[str, ir.Atom]] = []
        for k, name in enumerate(fields):
            part = ir.Var(f"%s{next(self.sids)}")
            if name in given:
                items.append((name, given[name]))
                continue
            read: ir.Expr = ir.Attr(obj, name)
            if isinstance(t, ty.Tuple):
                read = ir.Index(obj, ir.Const(k))
            out.append(ir.Assign(next(self.sids), stmt.loc, part, read))
            items.append((name, part))
        made = ir.Call(global_of(t.cls), (), tuple(items))
        self.changed = True
        return [*out, replace(stmt, value=made)]

    def taken_apart(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`p._asdict()`, `dataclasses.asdict(p)` and `astuple(p)`: a display of the fields."""
        match stmt:
            case ir.Assign(value=ir.Method(obj, "_asdict", (), ())):
                fn: Any = dataclasses.asdict
            case ir.Assign(
                value=ir.Call(ir.Global(value=fn), (ir.Var() | ir.Global() as obj,), ())
            ):
                pass
            case _:
                return None
        found = parts_of(self.facts.of(obj), fn)
        if found is None:
            return None
        out: list[ir.Stmt] = []
        parts: list[ir.Atom] = []
        for name, _ in found:
            part = ir.Var(f"%s{next(self.sids)}")
            out.append(ir.Assign(next(self.sids), stmt.loc, part, ir.Attr(obj, name)))
            parts.append(part)
        keys = tuple(ir.Const(name) for name, _ in found) if fn is dataclasses.asdict else ()
        kind = "dict" if keys else "tuple"
        self.changed = True
        return [*out, replace(stmt, value=ir.Build(kind, tuple(parts), keys))]

    def of_known(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`table.get("a", x)` for a dict of known keys is `table["a"]`, or x."""
        match stmt:
            case ir.Assign(value=ir.Method(ir.Var() as obj, "get", (ir.Const(key), *rest), ())):
                t = self.facts.of(obj)
                if not isinstance(t, ty.Dict) or t.items is None or self.grows(obj):
                    return None
                default = ir.unstar(rest[0]) if rest else ir.Const(None)
                found: ir.Expr = ir.Index(obj, ir.Const(key)) if key in dict(t.items) else default
                self.changed = True
                return [replace(stmt, value=found)]
        return None

    def of_container(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`rows.pop()` for its effect takes the item; `table.update(a=x)` stores it."""
        value = stmt.value
        if not isinstance(stmt, ir.Effect) or not isinstance(value, ir.Method):
            return None
        t = self.facts.of(value.obj)
        if not isinstance(t, ty.List | ty.Dict | ty.Unknown) or not ty.can_be_active(t):
            return None
        if value.name == "pop":
            self.changed = True
            taken = ir.Var(f"%s{next(self.sids)}")
            return [ir.Assign(stmt.sid, stmt.loc, taken, value)]
        if value.name != "update" or not value.kwargs:
            return None
        first = replace(stmt, value=replace(value, kwargs=()))
        return [first, *self.named_items(stmt, value.obj, value.kwargs)]

    def of_table(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`dict(table, a=x)` makes a dict of the table, and stores x into it."""
        match stmt:
            case ir.Assign(value=ir.Call(ir.Global(value=cls) as fn, (a,), kwargs)) if (
                cls is dict and kwargs and not isinstance(a, ir.Star)
            ):
                made = ir.Var(f"%d{next(self.sids)}")
                first = ir.Assign(next(self.sids), stmt.loc, made, ir.Call(fn, (a,)))
                items = self.named_items(stmt, made, kwargs)
                return [first, *items, replace(stmt, value=made)]
        return None

    def named_items(
        self, stmt: ir.Stmt, table: ir.Atom, kwargs: Sequence[tuple[str | None, ir.Atom]]
    ) -> list[ir.Stmt]:
        """Stores of keyword arguments into a dict."""
        self.changed = True
        out: list[ir.Stmt] = []
        for k, v in kwargs:
            if k is None:
                more = ir.Method(table, "update", (v,))
                out.append(ir.Effect(next(self.sids), stmt.loc, more))
            else:
                out.append(ir.Store(next(self.sids), stmt.loc, table, ir.Const(k), v))
        return out

    def by_protocol(self, stmt: ir.Store | ir.StoreAttr) -> list[ir.Stmt]:
        """`rows[k] += e` for anything but an array, and `obj.name += e`: take the item, update
        it, put it back."""
        if isinstance(self.facts.of(stmt.base), ty.Array) or stmt.op is None:
            return [stmt]
        self.changed = True
        temp = ir.Var(f"%i{next(self.sids)}")
        operator = ir.Op(stmt.op, (temp, stmt.value))
        item: ir.Expr
        if isinstance(stmt, ir.StoreAttr):
            item = ir.Attr(stmt.base, stmt.name)
        else:
            item = ir.Index(stmt.base, stmt.key)
        return [
            ir.Assign(next(self.sids), stmt.loc, temp, item),
            ir.Assign(next(self.sids), stmt.loc, temp, operator, inplace=stmt.op),
            replace(stmt, value=temp, op=None),
        ]

    def unstar(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt]:
        value = stmt.value
        if not isinstance(value, ir.Call | ir.Method | ir.Build):
            return [stmt]
        wanted = self.facts.starred.get(stmt.sid)
        if isinstance(value, ir.Call | ir.Method) and any(k is None for k, _ in value.kwargs):
            named = self.unpack_named(stmt, value, wanted)
            if named is not None:
                return named
        args = value.items if isinstance(value, ir.Build) else value.args
        lengths = [self.length(a) for a in args]
        if wanted is not None and lengths[-1] is None and isinstance(args[-1], ir.Star):
            return self.unpack_unknown(stmt, len(wanted))
        starred = [n for a, n in zip(args, lengths, strict=True) if isinstance(a, ir.Star)]
        if all(n is None for n in starred):
            grown = isinstance(value, ir.Build) and starred and isinstance(stmt, ir.Assign)
            return self.grow_list(stmt) if grown else [stmt]  # type: ignore[arg-type]
        before: list[ir.Stmt] = []
        new: list[ir.Atom | ir.Star] = []
        for a, n in zip(args, lengths, strict=True):
            if not isinstance(a, ir.Star) or n is None:
                new.append(a)
                continue
            for k in range(n):
                sid = next(self.sids)
                temp = ir.Var(f"%s{sid}")
                before.append(ir.Assign(sid, stmt.loc, temp, ir.Index(a.value, ir.Const(k))))
                new.append(temp)
        self.changed = True
        if isinstance(value, ir.Build):
            return [*before, replace(stmt, value=replace(value, items=tuple(new)))]
        return [*before, replace(stmt, value=replace(value, args=tuple(new)))]

    def grow_list(self, stmt: ir.Assign) -> list[ir.Stmt]:
        """`[*xs, a]` for xs of any length: a list to which the items are appended one by one."""
        value, loc = stmt.value, stmt.loc
        assert isinstance(value, ir.Build)
        if value.kind not in ("list", "tuple"):
            return [stmt]
        made = ir.Var(f"%l{next(self.sids)}")
        out: list[ir.Stmt] = [ir.Assign(next(self.sids), loc, made, ir.Build("list", ()))]
        for a in value.items:
            if not isinstance(a, ir.Star):
                add = ir.Method(made, "append", (a,))
                out.append(ir.Effect(next(self.sids), loc, add))
                continue
            held, length, k, item = (ir.Var(f"%s{next(self.sids)}") for _ in range(4))
            body = (
                ir.Assign(next(self.sids), loc, item, ir.Index(held, k)),
                ir.Effect(next(self.sids), loc, ir.Method(made, "append", (item,))),
            )
            size = ir.Call(builtin("len"), (held,))
            out += [
                ir.Assign(next(self.sids), loc, held, ir.Call(helper("sequence"), (a.value,))),
                ir.Assign(next(self.sids), loc, length, size),
                ir.For(next(self.sids), loc, k, ir.Const(0), length, ir.Const(1), body),
            ]
        self.changed = True
        whole: ir.Expr = made if value.kind == "list" else ir.Call(builtin("tuple"), (made,))
        return [*out, replace(stmt, value=whole)]

    def unpack_unknown(self, stmt: ir.Assign | ir.Effect, count: int) -> list[ir.Stmt]:
        """`f(*row)` for an f of three parameters takes the three items of row."""
        value = stmt.value
        assert isinstance(value, ir.Call | ir.Method) and isinstance(value.args[-1], ir.Star)
        held, before = ir.Var(f"%s{next(self.sids)}"), []
        check = ir.Call(helper("unpacked"), (value.args[-1].value, ir.Const(count)))
        before.append(ir.Assign(next(self.sids), stmt.loc, held, check))
        items = [ir.Var(f"%s{next(self.sids)}") for _ in range(count)]
        for k, item in enumerate(items):
            before.append(ir.Assign(next(self.sids), stmt.loc, item, ir.Index(held, ir.Const(k))))
        self.changed = True
        args = (*value.args[:-1], *items)
        return [*before, replace(stmt, value=replace(value, args=args))]

    def unpack_named(
        self,
        stmt: ir.Assign | ir.Effect,
        value: ir.Call | ir.Method,
        wanted: tuple[tuple[str, ir.Atom | None], ...] | None,
    ) -> list[ir.Stmt] | None:
        """`f(**options)` for a dict of known keys is `f(scale=options["scale"], ...)`."""
        before: list[ir.Stmt] = []
        new: list[tuple[str | None, ir.Atom]] = []
        for k, a in value.kwargs:
            t = self.facts.of(a)
            if k is not None:
                new.append((k, a))
                continue
            names: Sequence[tuple[Any, ir.Atom | None]] | None = wanted
            if isinstance(t, ty.Dict) and t.items is not None and not self.grows(a):
                names = [(n, None) for n, _ in t.items]
            elif names is not None:
                check = ir.Call(helper("check_names"), (a, *(ir.Const(n) for n, _ in names)))
                before.append(ir.Effect(next(self.sids), stmt.loc, check))
            if names is None or not all(isinstance(n, str) for n, _ in names):
                return None
            for name, default in names:
                sid, at = next(self.sids), ir.Const(name)
                temp = ir.Var(f"%s{sid}")
                item = ir.Index(a, at) if default is None else ir.Method(a, "get", (at, default))
                before.append(ir.Assign(sid, stmt.loc, temp, item))
                new.append((name, temp))
        self.changed = True
        return [*before, replace(stmt, value=replace(value, kwargs=tuple(new)))]

    def grows(self, a: ir.Atom) -> bool:
        """Whether the function may change the keys of a dict or the length of a list."""
        for s in ir.walk(self.facts.fn.body):
            if isinstance(s, ir.Store) and s.base == a:
                return True
            value = getattr(s, "value", None)
            if isinstance(value, ir.Method) and value.obj == a and value.name not in _READERS:
                return True
            if isinstance(value, ir.Closure) and a in dict(value.free).values():
                return True
        return False

    def length(self, arg: ir.Atom | ir.Star) -> int | None:
        if not isinstance(arg, ir.Star):
            return None
        t = self.facts.of(arg.value)
        if isinstance(t, ty.Tuple):
            return len(t.items)
        if isinstance(t, ty.List) and isinstance(arg.value, ir.Var) and arg.value.is_temp:
            # A display that is written where it is starred; a comprehension grows a list.
            statements = list(ir.walk(self.facts.fn.body))
            made = [s for s in statements if arg.value in ir.writes(s)]
            reads = sum(arg.value in ir.reads(s) for s in statements)
            match made:
                case [ir.Assign(value=ir.Build(_, items))] if reads == 1:
                    starred = any(isinstance(i, ir.Star) for i in items)
                    return None if starred else len(items)
        return None
