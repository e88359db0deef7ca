"""What the statements of a generated function read and write: the facts that passes rely on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

from srcgrad.ir import asts

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

    def __init__(self, node: ast.FunctionDef, ndims: Mapping[str, int] | None = None) -> None:
        self.node = node
        self.ndims = ndims or {}  # of arrays, where they are known

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
                x = parent[x]
            return x

        for s in asts.walk(self.node):
            if not isinstance(s, ast.Assign):
                continue
            targets = [n.id for t in s.targets for n in asts.walk(t) if _stored(n)]
            shared = list(_shared(s.value))
            if isinstance(s.value, ast.Subscript) and set(targets) & self.arrays:
                shared += [n.id for n in asts.walk(s.value.value) if isinstance(n, ast.Name)]
            for t in targets:
                for n in shared:
                    parent[find(t)] = find(n)
        return {n: find(n) for n in list(parent)}

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

    def path(self, loop: ast.stmt) -> list[tuple[list[ast.stmt], int]]:
        """The way to a statement: blocks and positions, innermost first."""
        return _path(self.node.body, loop) or []

    def live_after(self, name: str, loop: ast.stmt) -> bool:
        """Whether a name may be read after a loop before it is bound again."""
        path = self.path(loop)
        for block, k in path:
            got = first_use(block[k + 1 :], name)
            if got is not None:
                return got == "read"
            owner = self._owner(block)
            if isinstance(owner, ast.For | ast.While):
                if first_use([owner], name, around=True) == "read":
                    return True
        return False

    def _owner(self, block: list[ast.stmt]) -> ast.stmt | None:
        for s in asts.walk(self.node):
            for name in ("body", "orelse"):
                if getattr(s, name, None) is block:
                    return s if isinstance(s, ast.stmt) else None
        return None

    def fresh(self, want: str) -> str:
        taken = {n.id for n in asts.walk(self.node) if isinstance(n, ast.Name)}
        taken |= {a.arg for a in asts.walk(self.node) if isinstance(a, ast.arg)}
        name, k = want, 1
        while name in taken:
            k += 1
            name = f"{want}_{k}"
        return name


def _stored(n: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)


def _blocks(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    for s in list(block):
        for name in ("body", "orelse"):
            inner = getattr(s, name, None)
            if isinstance(inner, list) and inner:
                yield from _blocks(inner)
    yield block


def _path(block: list[ast.stmt], wanted: ast.stmt) -> list[tuple[list[ast.stmt], int]] | None:
    for k, s in enumerate(block):
        if s is wanted:
            return [(block, k)]
        for name in ("body", "orelse"):
            inner = getattr(s, name, None)
            if isinstance(inner, list):
                found = _path(inner, wanted)
                if found is not None:
                    return [*found, (block, k)]
    return None


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
        case ast.Pass():
            return
        case _:
            if type(s).__name__ not in ("Comment", "Blank"):
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


# ---- order of uses -----------------------------------------------------------------------------


def first_use(block: list[ast.stmt], name: str, around: bool = False) -> str | None:
    """What happens first to a name in statements: "read", "write" (surely), or nothing sure."""
    for s in block:
        got = _use(s, name)
        if got is not None and not (around and got == "write"):
            return got
    return None


def _reads(e: ast.AST, name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        for n in asts.walk(e)
    )


def _use(s: ast.stmt, name: str) -> str | None:
    match s:
        case ast.If(test, body, orelse):
            if _reads(test, name):
                return "read"
            arms = [first_use(body, name), first_use(orelse, name)]
            if "read" in arms:
                return "read"
            return "write" if arms == ["write", "write"] else None
        case ast.For(target, it, body, _):
            if _reads(it, name):
                return "read"
            if isinstance(target, ast.Name) and target.id == name:
                return None
            return "read" if first_use(body, name) == "read" else None
        case ast.While(test, body, _):
            return "read" if _reads(test, name) or first_use(body, name) == "read" else None
        case ast.AugAssign(ast.Name(n)) if n == name:
            return "read"
        case ast.Assign(targets, value):
            if _reads(value, name) or any(_reads(t, name) for t in targets):
                return "read"
            names = {n.id for t in targets for n in asts.walk(t) if _stored(n)}
            return "write" if name in names else None
        case _:
            return "read" if _reads(s, name) else None
