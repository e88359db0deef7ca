"""Literals in products: which they are, and how two of them become one."""

from __future__ import annotations

import ast
import math


def is_number(node: ast.expr, value: float) -> bool:
    return (
        isinstance(node, ast.Constant)
        and type(node.value) in (int, float)
        and node.value == value
        and not getattr(node, "decides_dtype", False)
    )


def is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is float


def deciding(node: ast.expr) -> ast.expr:
    """A literal that stays: it makes a product of it and booleans or integers a float."""
    if isinstance(node, ast.Constant) and type(node.value) is float:
        made = ast.Constant(node.value)
        made.decides_dtype = True  # type: ignore[attr-defined]
        return made
    return node


def negative(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    return ast.UnaryOp(ast.USub(), node)


def is_power_of_two(node: ast.expr) -> bool:
    """Whether a literal only moves the exponent of what it is multiplied with."""
    if not is_float(node) or hasattr(node, "decides_dtype"):
        return False
    part, exponent = math.frexp(node.value)  # type: ignore[attr-defined]
    return abs(part) == 0.5 and abs(exponent) < 64


def turned(node: ast.expr) -> ast.expr:
    """Minus a product: the sign goes to its first factor."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        return ast.BinOp(turned(node.left), node.op, node.right)
    return negative(node)


def scaled(node: ast.BinOp) -> ast.expr | None:
    """A product by a literal with another literal in it, of which one is a power of two: one
    literal is left, or none, and the value is a new array still."""
    c = node.right
    minus = isinstance(c, ast.UnaryOp) and isinstance(c.op, ast.USub)
    if isinstance(c, ast.UnaryOp) and minus:
        c = c.operand
    if not isinstance(node.op, ast.Mult) or not is_float(c) or hasattr(c, "decides_dtype"):
        return None
    value = c.value  # type: ignore[attr-defined]
    if is_power_of_two(c):
        made = times(node.left, value)
        made = turned(made) if minus and made is not None else made
    else:
        rest, factor = _without_power(node.left)
        literal = ast.Constant(value * factor)
        made = None
        if rest is not None:
            made = ast.BinOp(rest, node.op, negative(literal) if minus else literal)
    return made if isinstance(made, ast.BinOp | ast.UnaryOp) else None


def _without_power(node: ast.expr) -> tuple[ast.expr | None, float]:
    """A product or quotient without a power of two that it is multiplied by, and that."""
    match node:
        case ast.BinOp(left, ast.Mult(), right) if is_power_of_two(right):
            return left, right.value  # type: ignore[attr-defined]
        case ast.BinOp(left, ast.Mult() | ast.Div() as op, right):
            rest, factor = _without_power(left)
            return None if rest is None else ast.BinOp(rest, op, right), factor
    return None, 1.0


def _may_scale(node: ast.expr) -> bool:
    """Whether twice a literal, or half of it, is a number like it."""
    if not is_float(node) or hasattr(node, "decides_dtype"):
        return False
    return bool(1e-200 < abs(node.value) < 1e200)  # type: ignore[attr-defined]


def times(node: ast.expr, factor: float) -> ast.expr | None:
    """A product with one of its literals multiplied by a power of two, which is exact, where it
    has one: `g * 0.5 / d` times 2.0 is `g / d`."""
    if _may_scale(node):
        return ast.Constant(node.value * factor)  # type: ignore[attr-defined]
    match node:
        case ast.BinOp(left, ast.Mult(), right) if _may_scale(right):
            product = right.value * factor  # type: ignore[attr-defined]
            return left if product == 1.0 else ast.BinOp(left, ast.Mult(), ast.Constant(product))
        case ast.BinOp(left, ast.Mult() as op, ast.UnaryOp(ast.USub(), c)) if _may_scale(c):
            product = c.value * factor  # type: ignore[attr-defined]
            left = turned(left)
            return left if product == 1.0 else ast.BinOp(left, op, ast.Constant(product))
        case ast.BinOp(left, ast.Mult() | ast.Div() as op, right):
            scaled = times(left, factor)
            if scaled is None:
                return None
            if is_number(scaled, 1) and isinstance(op, ast.Mult):
                return right
            return ast.BinOp(scaled, op, right)
        case ast.UnaryOp(ast.USub(), operand):
            scaled = times(operand, factor)
            return None if scaled is None else negative(scaled)
    return None


__all__ = [
    "deciding",
    "is_float",
    "is_number",
    "is_power_of_two",
    "negative",
    "scaled",
    "times",
    "turned",
]
