"""Types flow back: what is stored through one name of a list, dict or object shows under every
other.

    rows = [1, 2]
    same = rows
    same[0] = x        # now `rows`, too, is a list of floats

An assignment gives its target the type of its value; for what can be changed it also gives the
value the type of its target.  So does a call: its arguments get the types that the parameters have
at its end.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from srcgrad.analysis.targets import (
    Construct,
    Container,
    Library,
    Packed,
    Uncharted,
    User,
    bound_atoms,
)
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

if TYPE_CHECKING:
    from srcgrad.analysis.infer import Inference

_SHALLOW = frozenset(("list", "tuple", "copy", "dict", "concat"))


def changeable(t: ty.Type | None) -> bool:
    """Whether a value can get other contents, or holds something that can."""
    match t:
        case ty.List() | ty.Dict() | ty.Object():
            return True
        case ty.Tuple(items) | ty.ClosureType(_, items):
            return any(map(changeable, items))
        case _:
            return False


def flow_back(work: Inference, stmt: ir.Assign | ir.Effect | ir.Store | ir.StoreAttr) -> None:
    """Give what a statement reads the types that its target and the callee's parameters have."""
    target = work.facts.targets.get(stmt.sid)
    if isinstance(stmt, ir.Store | ir.StoreAttr):
        if stmt.op is None and changeable(work.atom(stmt.value)):
            _stored(work, stmt)
        return
    if (
        isinstance(target, Uncharted) and not target.pending
    ):  # it may put anything into what it is given
        for a in ir.operands(stmt.value):
            _bind(work, a, ty.UNKNOWN)
    if isinstance(stmt, ir.Effect) and isinstance(stmt.value, ir.Method):
        _added(work, stmt.value)
    if isinstance(target, Library) and target.entry.kind == "parallel":
        _filled(work, target)
    if isinstance(target, User):
        _from_call(work, stmt, target)
        return
    if not isinstance(stmt, ir.Assign) or stmt.inplace is not None:
        return
    t = work.facts.types.get(stmt.target.name)
    if t is None:
        return
    match stmt.value:
        case ir.Var() as source:
            _bind(work, source, t)
        case ir.Index(obj, key) if target is None:
            _item(work, obj, key, t)
        case ir.Attr(obj, name) if target is None:
            _field(work, obj, name, t)
        case ir.Build(kind, items, keys):
            _display(work, kind, items, keys, t)
        case ir.Closure(_, free) if isinstance(t, ty.ClosureType):
            for (_, a), inner in zip(free, t.free, strict=True):
                _bind(work, a, inner)
        case ir.Call() | ir.Method() | ir.Op() if isinstance(target, Container):
            _container(work, stmt.value, target, t)
        case _ if isinstance(target, Construct):
            fields = dict(t.fields or ()) if isinstance(t, ty.Object) else {}
            for name, b in zip(target.fields, target.args, strict=True):
                for a in bound_atoms(b):
                    _bind(work, a, fields.get(name, ty.UNKNOWN))


def _filled(work: Inference, call: Library) -> None:
    """A helper may put new keys into a dict, such as the one of adjoints that starts empty."""
    for name, b in call.args:
        for a in bound_atoms(b) if name in call.entry.writes else ():
            if isinstance(work.atom(a), ty.Dict):
                _bind(work, a, ty.UNKNOWN)


def _bind(work: Inference, a: ir.Atom, t: ty.Type | None) -> None:
    """Join a type into that of a variable that holds something changeable."""
    if not isinstance(a, ir.Var) or t is None:
        return
    old = work.facts.types.get(a.name)
    if not changeable(old) or old == t:
        return
    assert old is not None
    if isinstance(t, ty.Unknown):
        t = opened(old)
    work.bind(a.name, t)


def opened(t: ty.Type) -> ty.Type:
    """A type of which only the outermost container is known.

    >>> opened(ty.List(ty.Number(int)))
    List(item=Unknown())
    """
    match t:
        case ty.List():
            return ty.List(ty.UNKNOWN)
        case ty.Dict():
            return ty.Dict(None)
        case ty.Object(cls, _):
            return ty.Object(cls)
        case ty.Tuple(items, cls):
            return ty.Tuple(tuple(map(opened, items)), cls)
        case ty.ClosureType(fn, free):
            return ty.ClosureType(fn, tuple(map(opened, free)))
        case _:
            return t


def _item(work: Inference, obj: ir.Atom, key: ir.Key, t: ty.Type) -> None:
    holder = work.atom(obj)
    if not changeable(holder):
        return
    match holder:
        case ty.List(item):
            inner = t.item if isinstance(key, ir.Slice) and isinstance(t, ty.List) else t
            if changeable(item) or changeable(inner):
                _bind(work, obj, ty.List(inner))
        case ty.Dict(items) if changeable(t):
            kinds = [v for _, v in items or ()]
            if isinstance(key, ir.Const) or t != functools.reduce(ty.join, kinds, t):
                _bind(work, obj, work.dict_with(holder, key, t))
        case ty.Tuple(items, cls):
            k = key.value if isinstance(key, ir.Const) else None
            if type(k) is int and -len(items) <= k < len(items):
                new = list(items)
                new[k] = _joined(items[k], t)
                _bind(work, obj, ty.Tuple(tuple(new), cls))
            elif changeable(t):
                _bind(work, obj, ty.Tuple(tuple(_joined(i, t) for i in items), cls))


def _joined(old: ty.Type, t: ty.Type) -> ty.Type:
    if not changeable(old):
        return old
    return opened(old) if isinstance(t, ty.Unknown) else ty.join(old, t)


def _field(work: Inference, obj: ir.Atom, name: str, t: ty.Type) -> None:
    holder = work.atom(obj)
    if isinstance(holder, ty.Object) and holder.fields is not None and changeable(t):
        new = tuple((k, _joined(v, t) if k == name else v) for k, v in holder.fields)
        _bind(work, obj, ty.Object(holder.cls, new))
    elif isinstance(holder, ty.Tuple) and name in getattr(holder.cls, "_fields", ()):
        _item(work, obj, ir.Const(holder.cls._fields.index(name)), t)  # type: ignore[attr-defined]


def _stored(work: Inference, stmt: ir.Store | ir.StoreAttr) -> None:
    holder = work.atom(stmt.base)
    inner: ty.Type | None = ty.UNKNOWN
    match holder:
        case ty.List(item) if isinstance(stmt, ir.Store):
            inner = ty.List(item) if isinstance(stmt.key, ir.Slice) else item
        case ty.Dict(items) if items and isinstance(stmt, ir.Store):
            if isinstance(stmt.key, ir.Const):
                inner = dict(items).get(stmt.key.value, ty.UNKNOWN)
        case ty.Object(_, fields) if fields is not None and isinstance(stmt, ir.StoreAttr):
            inner = dict(fields).get(stmt.name, ty.UNKNOWN)
    _bind(work, stmt.value, inner)


def _added(work: Inference, call: ir.Method) -> None:
    """`rows.append(row)`: row is what `rows[-1]` is."""
    holder = work.atom(call.obj)
    if call.name not in ("append", "insert", "extend") or not call.args:
        return
    if isinstance(holder, ty.List):
        inner = ty.List(holder.item) if call.name == "extend" else holder.item
        last = work.atom(ir.unstar(call.args[-1]))
        if call.name != "extend" or (isinstance(last, ty.List) and changeable(last.item)):
            _bind(work, ir.unstar(call.args[-1]), inner)
    elif isinstance(holder, ty.Unknown):
        _bind(work, ir.unstar(call.args[-1]), ty.UNKNOWN)


def _display(
    work: Inference,
    kind: str,
    items: tuple[ir.Atom | ir.Star, ...],
    keys: tuple[ir.Atom | None, ...],
    t: ty.Type,
) -> None:
    for k, a in enumerate(items):
        if isinstance(a, ir.Star) or (keys and keys[k] is None):
            if _holds_changeable(work.atom(ir.unstar(a))):
                _bind(work, ir.unstar(a), ty.UNKNOWN)
            continue
        inner: ty.Type | None = ty.UNKNOWN
        match t:
            case ty.List(item):
                inner = item
            case ty.Tuple(parts) if kind == "tuple" and len(parts) == len(items):
                inner = parts[k]
            case ty.Dict(found) if found is not None:
                key = keys[k]
                inner = dict(found).get(key.value, ty.UNKNOWN) if isinstance(key, ir.Const) else t
        _bind(work, a, inner)


def _container(work: Inference, expr: ir.Expr, target: Container, t: ty.Type) -> None:
    sources = [a for a in ir.operands(expr) if changeable(work.atom(a))]
    for a in sources:
        old = work.atom(a)
        if target.name == "alias":
            _bind(work, a, t)
        elif target.name in _SHALLOW:
            inner = _item_type(t)
            if isinstance(old, ty.List) and changeable(old.item):
                _bind(work, a, ty.List(inner))
            elif isinstance(old, ty.Dict | ty.Tuple) and changeable(inner):
                _bind(work, a, ty.UNKNOWN if t != old else t)
        elif target.name == "get" and isinstance(old, ty.Dict) and changeable(t):
            assert isinstance(expr, ir.Method)
            _bind(work, a, work.dict_with(old, ir.unstar(expr.args[0]), t))


def _holds_changeable(t: ty.Type | None) -> bool:
    """Whether the items of a container can get other contents: a shallow copy has them too."""
    match t:
        case ty.List(item):
            return changeable(item)
        case ty.Tuple(items):
            return any(map(changeable, items))
        case ty.Dict(items):
            return any(changeable(v) for _, v in items or ())
        case _:
            return changeable(t)


def _item_type(t: ty.Type) -> ty.Type | None:
    match t:
        case ty.List(item):
            return item
        case ty.Tuple(items):
            return functools.reduce(ty.join, items) if items else None
        case ty.Dict(items) if items:
            return functools.reduce(ty.join, (v for _, v in items))
        case _:
            return ty.UNKNOWN


def _from_call(work: Inference, stmt: ir.Stmt, call: User) -> None:
    """The arguments of a call have at its end the types of the parameters."""
    slots = [t for t in call.types if changeable(t)]
    if not slots:
        return
    facts = work.program.facts(call.fn, call.types)
    params = [p.name for p in call.fn.params]
    for name, b in zip(params, call.args, strict=False):
        after = facts.types.get(name)
        if isinstance(b, Packed):
            kinds = after.items if isinstance(after, ty.Tuple) else ()
            for k, a in enumerate(b.items):
                inner = kinds[k] if k < len(kinds) else ty.UNKNOWN
                _bind(work, ir.unstar(a), inner)
        else:
            _bind(work, b, after)
    if isinstance(call.closure, ir.Var):
        free = tuple(facts.types.get(n, ty.UNKNOWN) for n in call.fn.free)
        t = work.atom(call.closure)
        if isinstance(t, ty.ClosureType) and len(t.free) == len(free):
            _bind(work, call.closure, ty.ClosureType(t.fn, free))
    else:
        for n, b in zip(call.fn.free, call.args[len(params) :], strict=False):
            for a in bound_atoms(b):
                _bind(work, a, facts.types.get(n))
    _from_result(work, stmt, call)


def _from_result(work: Inference, stmt: ir.Stmt, call: User) -> None:
    """What a call returned got other contents: its arguments may be what it returned."""
    if not isinstance(stmt, ir.Assign):
        return
    now = work.facts.types.get(stmt.target.name)
    given = work.program.returns(call.fn, call.types)
    if not changeable(now) or given is None or now == given:
        return
    for b in call.args:
        for a in bound_atoms(b):
            _bind(work, a, ty.UNKNOWN)
    if call.closure is not None:
        _bind(work, call.closure, ty.UNKNOWN)
