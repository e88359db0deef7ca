"""What the statements of a generated function read and write: the facts that passes rely on."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

from srcgrad.ir import asts
from srcgrad.ir.comments import Blank, Comment
from srcgrad.transform.loops.uses import Uses

_PURE = frozenset(["abs", "min", "max", "float", "int", "bool", "len"])
_FRESH = frozenset(
    [
        "zeros",
        "empty",
        "ones",
        "full",
        "zeros_like",
        "empty_like",
        "copy",
        "astype",
        "sum",
        "dot",
        "outer",
    ]
)
_SCALAR_MODULES = frozenset(("math", "np"))


@dataclass
class Access:
    """One use of an element of an array."""

    array: str
    key: ast.expr
    kind: str  # read, store, add


@dataclass
class Summary:
    """All that a loop body does; `plain` only when nothing in it is beyond these facts."""

    plain: bool = True
    accesses: list[Access] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)  # numbers bound, counters included
    added: set[str] = field(default_factory=set)  # numbers added to
    read: set[str] = field(default_factory=set)  # names read, other than as `s` in `s += e`


class Function:
    """A function and its loops."""

    def __init__(
        self,
        node: ast.FunctionDef,
        ndims: Mapping[str, int] | None = None,
        adjoints: set[str] | None = None,
    ) -> None:
        self.node = node
        self.adjoints = set() if adjoints is None else adjoints  # names of the reverse sweep's own
        self._given = ndims or {}

    def again(self) -> Function:
        """The same function, now that it has changed."""
        return Function(self.node, self._given, self.adjoints)

    @cached_property
    def ndims(self) -> dict[str, int]:
        """The numbers of dimensions of arrays, where they are known."""
        return {**self._given, **_allocated(self.node)}

    def is_number(self, array: str, key: ast.expr) -> bool:
        """Whether an element is surely a number, not a row."""
        items = key.elts if isinstance(key, ast.Tuple) else [key]
        return self.ndims.get(array) == len(items) and is_element(key)

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """All blocks, inner ones first."""
        yield from _blocks(self.node.body)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """For each name a representative of the names that may share memory with it."""
        parent: dict[str, str] = {}

        def find(x: str) -> str:
            while parent.setdefault(x, x) != x:
                parent[x] = x = parent[parent[x]]
            return x

        for s in asts.walk(self.node):
            if not isinstance(s, ast.Assign):
                continue
            shared, row = list(_shared(s.value)), self._may_be_row(s.value)
            if not shared and not row:
                continue
            targets = [n.id for t in s.targets for n in asts.walk(t) if _stored(n)]
            if row and set(targets) & self.arrays:
                assert isinstance(s.value, ast.Subscript)
                shared += [n.id for n in asts.walk(s.value.value) if isinstance(n, ast.Name)]
            for t in targets:
                for n in shared:
                    parent[find(t)] = find(n)
        return {n: find(n) for n in list(parent)}

    def _may_be_row(self, e: ast.expr) -> bool:
        match e:
            case ast.Subscript(ast.Name(array), key):
                return not self.is_number(array, key)
        return isinstance(e, ast.Subscript)

    @cached_property
    def arrays(self) -> set[str]:
        """Names that are used as arrays: with an index or an attribute, or changed in place."""
        out: set[str] = set()
        for n in asts.walk(self.node):
            match n:
                case ast.Subscript(ast.Name(name)) | ast.Attribute(ast.Name(name)):
                    out.add(name)
                case ast.AugAssign(ast.Name(name)):
                    out.add(name)
        return out

    def root(self, name: str) -> str:
        return self.aliases.get(name, name)

    @cached_property
    def around(self) -> dict[int, ast.stmt]:
        """By identity of each statement the one that it stands in."""
        out: dict[int, ast.stmt] = {}
        todo: list[ast.stmt] = list(self.node.body)
        for s in todo:
            for inner in (getattr(s, "body", None), getattr(s, "orelse", None)):
                if isinstance(inner, list):
                    out.update((id(x), s) for x in inner)
                    todo += inner
        return out

    def owners(self, s: ast.stmt) -> Iterator[ast.stmt]:
        """The statements around one, innermost first."""
        while id(s) in self.around:
            s = self.around[id(s)]
            yield s

    def live_after(self, names: Iterable[str], loop: ast.stmt) -> bool:
        """Whether one of the names may be read after a loop before it is bound again."""
        if not self.uses.knows(loop):  # a pass made it
            self.uses = Uses(self.node.body)
        return bool(self.uses.live_after(loop) & self.uses.some(names))

    @cached_property
    def uses(self) -> Uses:
        return Uses(self.node.body)

    @cached_property
    def taken(self) -> set[str]:
        nodes = asts.walk(self.node)
        names = {n.id for n in nodes if isinstance(n, ast.Name)}
        return names | {a.arg for a in nodes if isinstance(a, ast.arg)}

    def fresh(self, want: str) -> str:
        name, k = want, 1
        while name in self.taken:
            k += 1
            name = f"{want}_{k}"
        self.taken.add(name)
        return name


def _allocated(fn: ast.FunctionDef) -> dict[str, int]:
    """The numbers of dimensions of arrays that a function makes once, by their shapes."""
    nodes = asts.walk(fn)
    bound = Counter(n.id for n in nodes if _stored(n))
    bound.update(a.arg for a in nodes if isinstance(a, ast.arg))
    found: dict[str, int] = {}
    for s in nodes:
        match s:
            case ast.Assign(
                [ast.Name(name)],
                ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros"), [shape, *_]),
            ) if bound[name] == 1:
                found[name] = _extents(shape)
    return {name: k for name, k in found.items() if k > 0}


def _extents(shape: ast.expr) -> int:
    """How many numbers a shape has; 0 when that can't be seen."""
    match shape:
        case ast.Tuple(items):
            return len(items)
        case ast.Constant(int()) | ast.Subscript(ast.Attribute(_, "shape")) | ast.BinOp():
            return 1
        case ast.Call(ast.Name("max" | "len")):
            return 1
    return 0


def _stored(n: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)


def _blocks(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    for s in list(block):
        for name in ("body", "orelse"):
            inner = getattr(s, name, None)
            if isinstance(inner, list) and inner:
                yield from _blocks(inner)
    yield block


def _shared(value: ast.expr) -> Iterator[str]:
    """The names whose memory the value of an expression may be or contain."""
    match value:
        case ast.Name(name):
            yield name
        case ast.Tuple(items) | ast.List(items):
            for i in items:
                yield from _shared(i)
        case ast.Subscript(inner, key):
            if not is_element(key) or not isinstance(inner, ast.Name):
                yield from _shared(inner)
        case ast.Attribute(inner, name) if name not in ("shape", "dtype", "size", "ndim"):
            yield from _shared(inner)
        case ast.IfExp(_, a, b):
            yield from _shared(a)
            yield from _shared(b)
        case ast.Call(ast.Attribute(ast.Name("np" | "math"), name), args) if name not in _FRESH:
            if name in (
                "asarray",
                "ascontiguousarray",
                "broadcast_to",
                "reshape",
                "transpose",
                "ravel",
            ):
                for a in args:
                    yield from _shared(a)
        case ast.Call(ast.Attribute(inner, name), args) if name not in _FRESH:
            yield from _shared(inner)
            for a in args:
                yield from _shared(a)
        case ast.Call(ast.Name(), args):
            for a in args:
                yield from _shared(a)


def is_element(key: ast.expr) -> bool:
    """Whether a key has no slice, Ellipsis or None in it."""
    items = key.elts if isinstance(key, ast.Tuple) else [key]
    return not any(
        isinstance(i, ast.Slice) or (isinstance(i, ast.Constant) and not isinstance(i.value, int))
        for i in items
    )


def does_something(s: ast.stmt) -> bool:
    """Whether a statement is more than a comment."""
    return not isinstance(s, ast.Pass | Comment | Blank)


# ---- summaries ---------------------------------------------------------------------------------


def summary(body: list[ast.stmt]) -> Summary:
    out = Summary()
    for s in body:
        _statement(s, out)
    return out


def _statement(s: ast.stmt, out: Summary) -> None:
    match s:
        case ast.Assign([ast.Name(name)], value):
            _expression(value, out)
            out.assigned.add(name)
        case ast.Assign([ast.Subscript() as place], value):
            _expression(value, out)
            _place(place, "store", out)
        case ast.AugAssign(ast.Name(name), op, value):
            _expression(value, out)
            if isinstance(op, ast.Add | ast.Sub):
                out.added.add(name)
            else:
                out.assigned.add(name)
                out.read.add(name)
        case ast.AugAssign(ast.Subscript() as place, op, value):
            _expression(value, out)
            _place(place, "add" if isinstance(op, ast.Add | ast.Sub) else "read", out)
            if not isinstance(op, ast.Add | ast.Sub):
                _place(place, "store", out)
        case ast.For(ast.Name(name), ast.Call(ast.Name("range"), args), body, []):
            for a in args:
                _expression(a, out)
            out.assigned.add(name)
            for inner in body:
                _statement(inner, out)
        case ast.If(test, body, orelse):
            _expression(test, out)
            for inner in (*body, *orelse):
                _statement(inner, out)
        case _:
            if does_something(s):
                out.plain = False


def _place(place: ast.Subscript, kind: str, out: Summary) -> None:
    if not isinstance(place.value, ast.Name) or not is_element(place.slice):
        out.plain = False
        return
    _expression(place.slice, out)
    out.accesses.append(Access(place.value.id, place.slice, kind))


def _expression(e: ast.expr, out: Summary) -> None:
    match e:
        case ast.Name(name):
            out.read.add(name)
        case ast.Subscript(ast.Name(), key) if is_element(key):
            _place(e, "read", out)
        case ast.Subscript(ast.Attribute(ast.Name(), "shape"), ast.Constant()):
            return
        case ast.Attribute(ast.Name(module), _) if module in _SCALAR_MODULES:
            return
        case ast.Call(ast.Name(fn), args, []) if fn in _PURE:
            for a in args:
                if not (fn == "len" and isinstance(a, ast.Name)):
                    _expression(a, out)
        case ast.Call(ast.Attribute(ast.Name(module), fn), args, []) if (
            module in _SCALAR_MODULES and fn not in _FRESH
        ):
            for a in args:
                _expression(a, out)
        case ast.Call(
            ast.Attribute(ast.Name("support"), "safe_divide" | "power_partial"), args, []
        ):
            for a in args:
                _expression(a, out)
        case ast.BinOp(left, _, right):
            _expression(left, out)
            _expression(right, out)
        case ast.UnaryOp(_, operand):
            _expression(operand, out)
        case ast.Compare(left, _, rest):
            for a in (left, *rest):
                _expression(a, out)
        case ast.BoolOp(_, values) | ast.Tuple(values):
            for a in values:
                _expression(a, out)
        case ast.IfExp(test, a, b):
            for part in (test, a, b):
                _expression(part, out)
        case ast.Constant():
            return
        case _:
            out.plain = False
