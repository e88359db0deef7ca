"""What statements do to numbers and elements of arrays: the facts that passes rely on."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.ir.comments import Blank, Comment

_PURE = frozenset(["abs", "min", "max", "float", "int", "bool", "len"])
FRESH = frozenset(
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
_NOTHING = (ast.Pass, Comment, Blank)
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

    def take(self, other: Summary) -> None:
        """And then what another summary says."""
        self.plain &= other.plain
        self.accesses += other.accesses
        self.assigned |= other.assigned
        self.added |= other.added
        self.read |= other.read


def is_element(key: ast.expr) -> bool:
    """Whether a key has no slice, Ellipsis or None in it."""
    items = asts.items(key)
    return not any(
        isinstance(i, ast.Slice) or (isinstance(i, ast.Constant) and not isinstance(i.value, int))
        for i in items
    )


def does_something(s: ast.AST) -> bool:
    """Whether a statement is more than a comment."""
    return not isinstance(s, _NOTHING)


def of_leaf(node: ast.AST) -> Summary:
    """The facts of a simple statement, or of an expression."""
    out = Summary()
    if isinstance(node, ast.expr):
        _expression(node, out)
    else:
        _statement(node, out)
    return out


def _statement(s: ast.AST, out: Summary) -> None:
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
            module in _SCALAR_MODULES and fn not in FRESH
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
