"""The truth of tests that types settle: `if mask is not None`, `if isinstance(x, float)`,
`if x.ndim == 2`.

A test whose types are not surely known stays, and is asked when the program runs.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.analysis.types.dispatch import class_of
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

if TYPE_CHECKING:
    from srcgrad.analysis.facts import Facts

_COMPARE: Mapping[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_UNKNOWN = object()


def decided(test: ir.Expr, facts: Facts) -> bool | None:
    """The truth of a test where types settle it, else None."""
    match test:
        case ir.Op("is" | "is_not" as op, (a, b)):
            return _is_same(facts.of(a), facts.of(b), op == "is")
        case ir.Op("eq" | "ne" | "in" | "not_in" | "not" as op, args):
            return _of_literals(op, [facts.of(a) for a in args])
        case ir.Var():
            t = facts.of(test)
            return bool(t.value) if isinstance(t, ty.Literal) else None
        case ir.Opaque(node, reads, names):
            return _Test({v.name: facts.of(v) for v in reads}, dict(names)).truth(node)
        case _:
            return None


def _is_one(a: ty.Type, b: ty.Type, positive: bool) -> bool | None:
    """`a is b` (or `is not`) where one is None, True or False."""
    for x, y in ((a, b), (b, a)):
        if not isinstance(x, ty.Literal) or isinstance(x.value, str):
            continue
        if isinstance(y, ty.Literal):
            return (x.value is y.value) is positive
        if isinstance(y, ty.Number):
            return None if y.cls is bool and x.value is not None else not positive
        sure = ty.Array | ty.Tuple | ty.List | ty.Dict | ty.Static
        if isinstance(y, sure | ty.ClosureType):
            return not positive
    return None


def _is_same(a: ty.Type, b: ty.Type, positive: bool) -> bool | None:
    """`a is b` of functions that are known, or where one is None, True or False."""
    if isinstance(a, ty.Static) and isinstance(b, ty.Static):
        return (a == b) is positive
    return _is_one(a, b, positive)


def _of_literals(op: str, types: list[ty.Type]) -> bool | None:
    """An operator whose operands are all known when compiling: `method in ("mean", "sum")`."""
    match op, types:
        case "not", [ty.Literal(a)]:
            return not a
        case "eq" | "ne", [ty.Literal(a), ty.Literal(b)]:
            return (a == b) is (op == "eq")
        case "in" | "not_in", [ty.Literal(a), ty.Tuple(items)]:
            if all(isinstance(t, ty.Literal) for t in items):
                return (ty.Literal(a) in items) is (op == "in")
    return None


class _Test:
    """A test as the user wrote it, over variables of known types."""

    def __init__(self, types: Mapping[str, ty.Type], names: Mapping[str, ir.Global]) -> None:
        self.types, self.names = types, names

    def truth(self, node: ast.expr) -> bool | None:
        match node:
            case ast.Compare(left, [op], [right]):
                return self.compare(left, op, right)
            case ast.UnaryOp(ast.Not(), operand):
                inner = self.truth(operand)
                return None if inner is None else not inner
            case ast.BoolOp(op, values):
                return self.chain(op, values)
            case ast.Call() | ast.Name() | ast.Constant():
                value = self.value(node)
                return None if value is _UNKNOWN else bool(value)
            case _:
                return None

    def compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
        a, b = self.type_of(left), self.type_of(right)
        if isinstance(op, ast.Is | ast.IsNot):
            if a is not None and b is not None:
                return _is_one(a, b, isinstance(op, ast.Is))
            one, two = self.class_of(left), self.named(right)
            if one is None or not isinstance(two, type):
                return None
            return (one is two) is isinstance(op, ast.Is)
        x, y = self.value(left), self.value(right)
        if x is _UNKNOWN or y is _UNKNOWN or type(op) not in _COMPARE:
            return None
        return bool(_COMPARE[type(op)](x, y))

    def chain(self, op: ast.boolop, values: list[ast.expr]) -> bool | None:
        ends = isinstance(op, ast.Or)
        for value in values:
            found = self.truth(value)
            # An undecided operand before this one may raise or have effects: leave the test alone.
            if found is None:
                return None
            if found is ends:
                return ends
        return not ends

    def value(self, node: ast.expr) -> Any:
        """What an expression gives for any values of these types."""
        match node:
            case ast.Constant(value) if value is None or isinstance(value, str | int):
                return value
            case ast.Name(name) if isinstance(self.types.get(name), ty.Literal):
                return self.types[name].value  # type: ignore[union-attr]
            case ast.Attribute(array, "ndim"):
                t = self.type_of(array)
                return len(t.dims) if isinstance(t, ty.Array) else _UNKNOWN
            case ast.Call(ast.Name() | ast.Attribute() as fn, args, []):
                return self.call(self.named(fn), args)
            case _:
                return _UNKNOWN

    def call(self, fn: Any, args: list[ast.expr]) -> Any:
        match args:
            case [value, classes] if fn is isinstance:
                one, several = class_of(self.type_of(value)), self.classes(classes)
                return _UNKNOWN if one is None or several is None else issubclass(one, several)
            case [value, ast.Constant(str(name))] if fn is hasattr:
                one = class_of(self.type_of(value))
                return _UNKNOWN if one is None else hasattr(one, name)
            case [value] if fn is np.ndim:
                return _ndim(self.type_of(value))
            case [ast.Attribute(value, "shape")] if fn is len:
                return _ndim(self.type_of(value), arrays=True)
            case [ast.Call(shape, [value], [])] if fn is len and self.named(shape) is np.shape:
                return _ndim(self.type_of(value))
            case [value] if fn is np.isscalar or fn is callable:
                t = self.type_of(value)
                if not isinstance(t, ty.Number | ty.Array):
                    return _UNKNOWN
                return fn is np.isscalar and isinstance(t, ty.Number)
            case [value] if fn is np.iscomplexobj or fn is np.isrealobj:
                dtype = _dtype(self.type_of(value))
                return (
                    _UNKNOWN if dtype is None else (dtype.kind == "c") is (fn is np.iscomplexobj)
                )
            case _:
                return _UNKNOWN

    def type_of(self, node: ast.expr) -> ty.Type | None:
        match node:
            case ast.Constant(value) if value is None or isinstance(value, str | bool):
                return ty.Literal(value)
            case ast.Name(name):
                return self.types.get(name)
            case _:
                return None

    def class_of(self, node: ast.expr) -> type | None:
        """The class that `type(x)` gives."""
        match node:
            case ast.Call(fn, [value], []) if self.named(fn) is type:
                return class_of(self.type_of(value))
            case _:
                return None

    def classes(self, node: ast.expr) -> tuple[type, ...] | None:
        """The classes that a value is checked against."""
        match node:
            case ast.Tuple(items):
                parts = [self.classes(i) for i in items]
            case ast.BinOp(left, ast.BitOr(), right):
                parts = [self.classes(left), self.classes(right)]
            case _:
                found = self.named(node)
                return (found,) if isinstance(found, type) else None
        return None if None in parts else tuple(c for p in parts for c in p or ())

    def named(self, node: ast.expr) -> Any:
        """The object that a name from outside the function means."""
        match node:
            case ast.Name(name) if name in self.names:
                return self.names[name].value
            case _:
                return None


def _ndim(t: ty.Type | None, arrays: bool = False) -> Any:
    match t:
        case ty.Array(dims=dims):
            return len(dims)
        case ty.Number() if not arrays:
            return 0
        case _:
            return _UNKNOWN


def _dtype(t: ty.Type | None) -> np.dtype[Any] | None:
    match t:
        case ty.Array(dtype):
            return dtype
        case ty.Number(cls):
            return np.dtype(cls)
        case _:
            return None
