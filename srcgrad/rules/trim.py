"""What formulas need not say, given the options of a call and the types of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from srcgrad.ir.types import Array, Number, Type
from srcgrad.rules.registry import Entry

# What an option means when it is not written: the same in every function a formula calls.
DEFAULTS: dict[str, Any] = {
    "axis": None,
    "dtype": None,
    "ddof": None,
    "initial": None,
    "keepdims": False,
    "where": True,
    "weights": None,
    "prepend": None,
    "append": None,
    "rowvar": True,
    "bias": False,
    "skipnan": False,
    "edge_order": 1,
    "left": None,
    "right": None,
}


def is_default(name: str, constants: Mapping[str, Any]) -> bool:
    if name not in constants:
        return False
    value, default = constants[name], DEFAULTS[name]
    return type(value) is type(default) and bool(value == default)


def is_real(t: Type | None) -> bool:
    match t:
        case Number(cls):
            return not issubclass(cls, complex | np.complexfloating)
        case Array(dtype, _):
            return bool(dtype.kind in "fiub")
        case _:
            return False


# Functions whose result is real when their arguments are (unlike those of np.fft).
_REAL_OF_REAL = frozenset(
    (np.absolute, abs, np.conjugate, np.real, np.var, np.std, np.nanvar, np.nanstd)
)


class Trim(ast.NodeTransformer):
    """Drops options that say what is the default, and what is the identity for real arguments."""

    def __init__(
        self, entry: Entry, constants: Mapping[str, Any], types: Mapping[str, Type]
    ) -> None:
        self.constants = constants
        self.types = types
        self.real = entry.target in _REAL_OF_REAL and all(
            is_real(types.get(p)) for p in entry.vjps if p in types or len(entry.vjps) == 1
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [
            k
            for k in node.keywords
            if not (
                k.arg in DEFAULTS
                and isinstance(k.value, ast.Name)
                and k.value.id == k.arg
                and is_default(k.arg, self.constants)
            )
        ]
        name = ast.unparse(node.func)
        imaginary = any(
            isinstance(n, ast.Constant) and isinstance(n.value, complex) for n in ast.walk(node)
        )
        if name == "support.count":
            return self.counted(node)
        if self.real and not imaginary:
            if name in ("np.conj", "np.real", "support.match"):
                return node.args[0]
            if name == "support.direction":
                node.func = ast.parse("np.sign", mode="eval").body
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A choice by an option that is known."""
        self.generic_visit(node)
        known = self.flag(node.test)
        return node if known is None else node.body if known else node.orelse

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        known = self.flag(node.operand) if isinstance(node.op, ast.Not) else None
        return node if known is None else ast.Constant(not known)

    def flag(self, node: ast.expr) -> bool | None:
        """What an option is, if it is known to be True or False."""
        value = self.constants.get(node.id) if isinstance(node, ast.Name) else None
        return value if isinstance(value, bool) else None

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`sum_back(g, a) * b` where the sum broadcasts by itself, and `n - 0`."""
        self.generic_visit(node)
        match node:
            case ast.BinOp(left, ast.Sub(), ast.Name("ddof")):
                ddof = self.constants.get("ddof")
                return left if type(ddof) is int and ddof == 0 else node
            case ast.BinOp(ast.Call(), ast.Mult() | ast.Div()):
                node.left = spread_alone(node.left, self.ndim, self.constants)
        return node

    @property
    def ndim(self) -> int | None:
        """The number of dimensions of what is reduced."""
        t = self.types.get("a")
        return len(t.dims) if isinstance(t, Array) else None

    def counted(self, node: ast.Call) -> ast.expr:
        """`support.count(a, axis=1)` is `a.shape[1]`, and without an axis `a.size`."""
        options = {k.arg: k.value for k in node.keywords if k.arg != "keepdims"}
        array = node.args[0]
        if self.ndim is None or set(options) - {"axis"}:
            return node
        if not options:
            return ast.Attribute(array, "size", ast.Load())
        axis = _known(options["axis"], self.constants)
        if type(axis) is not int:
            return node
        shape = ast.Attribute(array, "shape", ast.Load())
        index = ast.Constant(axis) if axis >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-axis))
        return ast.Subscript(shape, index, ast.Load())


def spread_alone(node: ast.expr, ndim: int | None, constants: Mapping[str, Any]) -> ast.expr:
    """`support.sum_back(g, a, ...)` that meets an array of the shape of a: g, where it broadcasts
    to that shape by itself."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("support"), "sum_back"), [g, _], keywords):
            options = {k.arg: _known(k.value, constants) for k in keywords}
            if set(options) - {"axis", "keepdims"}:
                return node
            if not options:
                default = all(is_default(k, constants) for k in ("axis", "keepdims"))
                return g if default else node
            axis = options.get("axis")
            if options.get("keepdims") is True:
                return g
            if type(axis) is int and ndim is not None and options.get("keepdims") in (None, False):
                return _with_axis(g, axis % ndim, ndim)
    return node


def _with_axis(g: ast.expr, axis: int, ndim: int) -> ast.expr:
    """An array that broadcasts along an axis that it lacks: `g[:, None]`, or g itself."""
    if axis == 0:
        return g
    whole: list[ast.expr] = [ast.Slice() for _ in range(axis)]
    if axis == ndim - 1 > 1:
        whole = [ast.Constant(Ellipsis)]
    key = ast.Tuple([*whole, ast.Constant(None)], ast.Load())
    return ast.Subscript(g, key, ast.Load())


def _known(node: ast.expr, constants: Mapping[str, Any]) -> Any:
    """What an option is, if that is known; None otherwise."""
    match node:
        case ast.Name(name):
            return constants.get(name)
        case ast.Constant(value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            return -value
    return None
