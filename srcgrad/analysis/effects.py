"""Which variables may share memory, and which memory is written.

Two variables are in one alias class when one may be a name, a view or a part of the other.  A
class that no store reaches is a *value* class; any other is a *memory* class (DESIGN section 6).
The analysis does not follow the order of statements: a class is one fact about a function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from srcgrad.analysis.facts import Facts
from srcgrad.analysis.moves import Move, settle_moves
from srcgrad.analysis.resolve import Program
from srcgrad.analysis.targets import (
    Bound,
    Construct,
    Container,
    Library,
    Packed,
    Uncharted,
    User,
    bound_atoms,
)
from srcgrad.analysis.unknown import handed, keeps
from srcgrad.analysis.views import makes_array_anew, may_view
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

RESULT = "%result"
_KEEPS = frozenset(("append", "insert", "setdefault", "extend", "update"))
_GIVES = frozenset(
    ("pop", "get", "copy", "values", "items", "alias", "list", "tuple", "dict", "setdefault")
)
WRITES = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "reverse",
        "sort",
        "setdefault",
        "update",
        "popitem",
        "fill",
        "put",
        "itemset",
        "resize",
        "partition",
        "setfield",
        "byteswap",
        "setflags",
    ]
)


def may_hold_memory(t: ty.Type) -> bool:
    """Whether a value of this type is an array or may contain one."""
    match t:
        case ty.Array() | ty.List() | ty.Dict() | ty.Object() | ty.Unknown():
            return True
        case ty.Tuple(items) | ty.ClosureType(_, items):
            return any(map(may_hold_memory, items))
        case _:
            return False


@dataclass(frozen=True)
class Summary:
    """What a caller must know of a callee: parameters and result by alias class (a number, None
    when they hold no memory), and the classes that are written."""

    params: tuple[int | None, ...]
    result: int | None
    stored: frozenset[int]


@dataclass
class Effects:
    """Alias classes of one function."""

    facts: Facts
    parent: dict[str, str] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    global_stores: list[ir.Stmt] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    # The classes of `marks`, with how many marks there were; None once classes were joined.
    _stored: tuple[int, set[str]] | None = None

    def root(self, name: str) -> str:
        while (up := self.parent.setdefault(name, name)) != name:
            self.parent[name] = self.parent.setdefault(up, up)
            name = up
        return name

    def union(self, a: str, b: str) -> None:
        a, b = self.root(a), self.root(b)
        if a != b:
            self.parent[b] = a
            self._stored = None

    def stored(self, name: str) -> bool:
        """Whether a store may reach the memory of a variable."""
        if self._stored is None or self._stored[0] != len(self.marks):
            self._stored = len(self.marks), {self.root(m) for m in self.marks}
        return self.root(name) in self._stored[1]

    def memory(self, name: str) -> bool:
        """Whether a variable belongs to a memory class."""
        return may_hold_memory(self.type(name)) and self.stored(name)

    def type(self, name: str) -> ty.Type:
        if name == RESULT:
            return self.facts.result or ty.UNKNOWN
        return self.facts.types.get(name, ty.UNKNOWN)

    def share(self, a: ir.Atom | str, b: ir.Atom | str) -> None:
        names = [
            x if isinstance(x, str) else x.name if isinstance(x, ir.Var) else None for x in (a, b)
        ]
        if None not in names and all(may_hold_memory(self.type(n)) for n in names if n):
            self.union(*names)  # type: ignore[arg-type]

    def bind(self, stmt: ir.Stmt, target: str, source: ir.Atom) -> None:
        """`target = source`: another name for an array, or its only one from now on."""
        if isinstance(source, ir.Var) and all(
            isinstance(self.type(n), ty.Array) for n in (target, source.name)
        ):
            self.moves.append(Move(stmt.sid, target, source.name))
        else:
            self.share(target, source)

    def store(self, base: ir.Atom, stmt: ir.Stmt) -> None:
        if isinstance(base, ir.Var):
            self.marks.add(base.name)
        elif isinstance(base, ir.Global):
            self.global_stores.append(stmt)


def effects(program: Program, facts: Facts, marks: Iterable[str] = ()) -> Effects:
    """Find the alias classes of a function and which of them are written.

    Arguments: `marks` are variables that are written by the function's callers.
    """
    out = Effects(facts)
    out.marks.update(marks)
    for stmt in ir.walk(facts.fn.body):
        _stmt(program, facts, out, stmt)
    settle_moves(out)
    return out


def written_in(program: Program, found: Effects, block: ir.Block) -> set[str]:
    """The memory classes (their roots) that a block of a function may write."""
    part = Effects(found.facts, dict(found.parent))  # whose moves nobody asks for
    for stmt in ir.walk(block):
        _stmt(program, found.facts, part, stmt)
    return {found.root(name) for name in part.marks}


def summary(program: Program, fn: ir.Function, types: tuple[ty.Type, ...]) -> Summary:
    """The effects of a callee; recursion runs to a fixed point."""
    known, key = program.summaries, (fn, types)
    found = known.get(key)
    if found is not None:
        return found
    facts = program.facts(fn, types)
    names = [p.name for p in facts.fn.params] + list(facts.fn.free)
    with known.running(key) as so_far:
        found = known.before(key) or Summary((None,) * len(names), None, frozenset())
        while True:
            so_far(found)
            known.again(key)
            new = _summarise(effects(program, facts), names)
            if new == found and not known.moved(key):
                return found
            found = new


def _summarise(found: Effects, names: list[str]) -> Summary:
    ids: dict[str, int] = {}

    def number(name: str) -> int | None:
        if not may_hold_memory(found.type(name)):
            return None
        return ids.setdefault(found.root(name), len(ids))

    params = tuple(map(number, names))
    result = number(RESULT) if found.facts.result is not None else None
    stored = frozenset(k for r, k in ids.items() if found.stored(r))
    return Summary(params, result, stored)


def _stmt(program: Program, facts: Facts, out: Effects, stmt: ir.Stmt) -> None:
    match stmt:
        case ir.Assign():
            _expr(program, facts, out, stmt, stmt.value, stmt.target.name)
            if stmt.inplace and may_hold_memory(out.type(stmt.target.name)):
                out.store(stmt.target, stmt)
        case ir.Effect():
            _expr(program, facts, out, stmt, stmt.value, None)
        case ir.Store():
            out.store(stmt.base, stmt)
            if stmt.op not in ir.AT_OPERATORS and not isinstance(facts.of(stmt.base), ty.Array):
                out.share(stmt.base, stmt.value)
        case ir.StoreAttr():
            out.store(stmt.base, stmt)
            out.share(stmt.base, stmt.value)
        case ir.Exit(kind="return") if stmt.value is not None:
            out.bind(stmt, RESULT, stmt.value)
        case _:
            pass


def _expr(
    program: Program,
    facts: Facts,
    out: Effects,
    stmt: ir.Stmt,
    expr: ir.Expr,
    target: str | None,
) -> None:
    found = facts.targets.get(stmt.sid)
    match expr:
        case ir.Var() if target is not None:
            out.bind(stmt, target, expr)
        case ir.Index(obj, key) if target is not None:
            if not (isinstance(facts.of(obj), ty.Array) and surely_copies(facts, key)):
                out.share(target, obj)
        case ir.Build(_, items, _) if target is not None:
            for item in items:
                out.share(target, ir.unstar(item))
        case ir.Closure(_, free) if target is not None:
            for _, a in free:
                out.share(target, a)
        case ir.Attr(obj, _) if target is not None and found is None:
            out.share(target, obj)
    match found:
        case Library(entry, args, _) if entry.kind == "parallel":
            every = [a for _, b in args for a in bound_atoms(b)]
            for a in every[1:]:
                out.share(every[0], a)
            for a in every:
                if target is not None:
                    out.share(target, a)
                if entry.writes:
                    out.store(a, stmt)
        case Library(source=User() as source):
            _user(program, out, stmt, source, target)
        case Library(entry, args, _):
            anew = entry.view == "never" or makes_array_anew(facts, found, target)
            _library(out, stmt, () if anew else may_view(facts, found), entry.writes, args, target)
            if found.opaque and target is not None:
                for a in (a for _, b in args for a in bound_atoms(b)):
                    out.share(target, a)
        case User():
            _user(program, out, stmt, found, target)
        case Construct(_, _, args) if target is not None:
            for b in args:
                for a in bound_atoms(b):
                    out.share(target, a)
        case Container(name):
            _container(out, stmt, name, expr, target)
        case Uncharted():
            _unknown(out, stmt, expr, target)


def _unknown(out: Effects, stmt: ir.Stmt, expr: ir.Expr, target: str | None) -> None:
    """Nobody knows what is done: the call may write what it is given, keep it and pass it on."""
    given = list(handed(expr))
    for a in given:
        out.share(given[0], a)
        if isinstance(a, ir.Var) or (target is None and keeps(a)):
            out.store(a, stmt)
    if target is not None and given:
        out.share(target, given[0])


def _library(
    out: Effects,
    stmt: ir.Stmt,
    viewed: tuple[ir.Atom, ...],
    writes: tuple[str, ...],
    args: tuple[tuple[str, Bound], ...],
    target: str | None,
) -> None:
    atoms = {name: bound_atoms(b) for name, b in args}
    if target is not None:
        for a in viewed:
            out.share(target, a)
    for name in (*writes, "out"):
        for a in atoms.get(name, ()):
            if a != ir.Const(None):
                out.store(a, stmt)
                if target is not None:
                    out.share(target, a)


def _user(program: Program, out: Effects, stmt: ir.Stmt, call: User, target: str | None) -> None:
    found = summary(program, call.fn, call.types)
    slots: list[tuple[ir.Atom, ...]] = [bound_atoms(b) for b in call.args]
    if call.closure is not None:
        slots += [(call.closure,)] * (len(found.params) - len(slots))
    members: dict[int, list[ir.Atom | str]] = {}
    for k, atoms in zip(found.params, slots, strict=True):
        if k is not None:
            members.setdefault(k, []).extend(atoms)
    if found.result is not None and target is not None:
        members.setdefault(found.result, []).append(target)
    for k, group in members.items():
        for other in group[1:]:
            out.share(group[0], other)
        if k in found.stored:
            for a in group:
                if not isinstance(a, str):
                    out.store(a, stmt)
                else:
                    out.marks.add(a)


def _container(out: Effects, stmt: ir.Stmt, name: str, expr: ir.Expr, target: str | None) -> None:
    if isinstance(expr, ir.Op):
        for a in expr.args:
            if target is not None:
                out.share(target, a)
        return
    if isinstance(expr, ir.Call):
        if target is not None:
            for arg in expr.args[:1] if name == "alias" else expr.args:
                out.share(target, ir.unstar(arg))
        return
    assert isinstance(expr, ir.Method)
    if name in WRITES:
        out.store(expr.obj, stmt)
    if name in _KEEPS:
        for arg in expr.args:
            out.share(expr.obj, ir.unstar(arg))
    if name in _GIVES and target is not None:
        out.share(target, expr.obj)
        for arg in expr.args[1:] if name in ("pop", "get", "setdefault") else expr.args:
            out.share(target, ir.unstar(arg))  # the default, not the key


def surely_copies(facts: Facts, key: ir.Key) -> bool:
    """Whether indexing an array with this key makes a copy: some item is an array or a list."""
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    for item in items:
        if isinstance(item, ir.Slice):
            continue
        t = facts.of(item)
        if isinstance(t, ty.List) or (isinstance(t, ty.Array) and (t.dims or t.dtype == bool)):
            return True
    return False


_PARTS_OF_KEYS = (ty.Literal(None), ty.Other(type(...)), ty.Other(slice))  # newaxis, ... and :


def surely_basic(facts: Facts, key: ir.Key) -> bool:
    """Whether a key has only integers, slices, Ellipsis and newaxis (views and elements)."""
    items = key.items if isinstance(key, ir.KeyTuple) else (key,)
    for item in items:
        if isinstance(item, ir.Slice):
            continue
        t = facts.of(item)
        whole = (
            isinstance(t, ty.Number) and issubclass(t.cls, int | _integer()) and t.cls is not bool
        )
        if not whole and t not in _PARTS_OF_KEYS:
            return False
    return True


def _integer() -> type:
    import numpy as np

    return np.integer


def packed(bound: Bound) -> bool:
    return isinstance(bound, Packed)
