"""Operators by their names in the IR, as text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv,
    "mod": ast.Mod, "pow": ast.Pow, "matmul": ast.MatMult, "lshift": ast.LShift,
    "rshift": ast.RShift, "and": ast.BitAnd, "or": ast.BitOr, "xor": ast.BitXor,
}  # fmt: skip
_COMPARE: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE,
    "is": ast.Is, "is_not": ast.IsNot, "in": ast.In, "not_in": ast.NotIn,
}  # fmt: skip
_UNARY: dict[str, type[ast.unaryop]] = {
    "neg": ast.USub, "pos": ast.UAdd, "invert": ast.Invert, "not": ast.Not,
}  # fmt: skip


def binary(op: str) -> ast.operator:
    """The operator between two operands.

    >>> ast.unparse(ast.BinOp(ast.Name("a"), binary("matmul"), ast.Name("b")))
    'a @ b'
    """
    return _BINARY[op]()


def operation(op: str, args: Sequence[ast.expr]) -> ast.expr:
    """An operator with its operands.

    >>> ast.unparse(operation("not_in", [ast.Name("a"), ast.Name("b")]))
    'a not in b'
    """
    if op in _UNARY:
        return ast.UnaryOp(_UNARY[op](), args[0])
    if op in _COMPARE:
        return ast.Compare(args[0], [_COMPARE[op]()], [args[1]])
    return ast.BinOp(args[0], _BINARY[op](), args[1])
