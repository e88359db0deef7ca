"""Expressions in users' rules as formulas, such as srcgrad's own rules have.

Only what has one meaning wherever it stands is taken: parameters, numbers, operators, and pure
functions of NumPy and math.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from srcgrad.ir import asts
from srcgrad.rules import registry

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_OTHERS = (np.where, np.clip)  # of three arguments, element by element, and no ufuncs
_SHAPE_OF = frozenset(("T", "shape", "size", "ndim", "dtype"))


_OWNERS: dict[str, Any] = {"np": np, "math": math}


class NotPlain(Exception):
    """A rule is no formula."""


def fail() -> NoReturn:
    """Give up."""
    raise NotPlain


@dataclass
class Formulas:
    """Expressions of a function as formulas: `names` says what its names are in them, `around`
    what those mean that it takes from around it."""

    names: Mapping[str, ast.expr]
    around: Mapping[str, Any]

    def expr(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Name(name) if name in self.names:
                return asts.copied(self.names[name])
            case ast.Constant(value) if type(value) in (int, float):
                return ast.Constant(value)
            case ast.BinOp(left, op, right) if isinstance(op, (*_ARITHMETIC, ast.MatMult)):
                return ast.BinOp(self.expr(left), op, self.expr(right))
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
                return ast.UnaryOp(sign, self.expr(operand))
            case ast.Compare(left, ops, rights):
                return ast.Compare(self.expr(left), ops, [self.expr(r) for r in rights])
            case ast.Attribute(ast.Name(name) as obj, attr) if name in self.names:
                return ast.Attribute(self.expr(obj), attr if attr in _SHAPE_OF else fail())
            case ast.Call(fn, args, keywords):
                given = [ast.keyword(k.arg or fail(), self.option(k.value)) for k in keywords]
                return ast.Call(self.function(fn, bool(keywords)), [*map(self.expr, args)], given)
            case _:
                fail()

    def option(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Constant(value) if value is None or isinstance(value, int):
                return ast.Constant(value)
            case _:
                fail()

    def function(self, node: ast.expr, options: bool) -> ast.expr:
        """The name that a function of a library has in every module."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.names:
            fail()
        value = self.around.get(node.id, fail)
        for part in reversed(path):
            value = getattr(value, part, fail)
        return _library_name(value, options) or fail()


def _library_name(value: Any, options: bool) -> ast.expr | None:
    entry = registry.lookup(value) if callable(value) else None
    if entry is None or not entry.pure or entry.kind == "refuse" or (entry.writes and options):
        return None
    name = getattr(value, "__name__", "")
    for prefix, owner in (("np", np), ("math", math), ("np.linalg", np.linalg)):
        if vars(owner).get(name) is value:
            return ast.parse(f"{prefix}.{name}", mode="eval").body
    return None


# ---- what formulas are like ---------------------------------------------------------------------


def is_pointwise(node: ast.expr) -> bool:
    """Whether a formula works element by element.

    >>> is_pointwise(ast.parse("g * np.exp(x)", mode="eval").body)
    True
    >>> is_pointwise(ast.parse("np.sum(g) * x", mode="eval").body)
    False
    """
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.BinOp(left, op, right):
            return isinstance(op, _ARITHMETIC) and is_pointwise(left) and is_pointwise(right)
        case ast.UnaryOp(_, operand):
            return is_pointwise(operand)
        case ast.Compare(left, _, [right]):
            return is_pointwise(left) and is_pointwise(right)
        case ast.Call(ast.Attribute(ast.Name(owner), name), args, []):
            fn = (
                vars({"np": np, "math": math}[owner]).get(name)
                if owner in ("np", "math")
                else None
            )
            if isinstance(fn, np.ufunc):
                full = fn.nin == len(args)
            else:
                full = owner == "math" or (fn in _OTHERS and len(args) == 3)
            return full and all(map(is_pointwise, args))
        case _:
            return False


def is_linear(node: ast.expr) -> bool:
    """Whether a formula is surely linear in `g`.

    >>> [is_linear(ast.parse(t, mode="eval").body) for t in ("g * x / y - g", "g + x", "g * g")]
    [True, False, False]
    """
    match node:
        case ast.Name(name):
            return name == "g"
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return is_linear(left) and is_linear(right)
        case ast.BinOp(left, ast.Mult(), right):
            return (is_linear(left) and _is_free(right)) or (_is_free(left) and is_linear(right))
        case ast.BinOp(left, ast.Div(), right):
            return is_linear(left) and _is_free(right)
        case ast.UnaryOp(_, operand):
            return is_linear(operand)
        case ast.Call(ast.Attribute(ast.Name("np"), "where"), [test, *arms], []):
            return _is_free(test) and all(is_linear(a) or _is_zero(a) for a in arms)
        case _:
            return False


def _is_free(node: ast.expr) -> bool:
    return "g" not in asts.names(node)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
