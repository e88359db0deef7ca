"""What statements after one another add to an adjoint is added at once, like terms as one.

`x_bar = g * t` and `x_bar += h * s` become `x_bar = g * t + h * s`, and what the two factors of
`0.5 * x * x` get, `x_bar += g * (0.5 * x)` and `x_bar += g * x * 0.5`, becomes `x_bar += g * x`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn

_WIDEST = 84  # columns that a sum may take, about


def join_sums(block: list[ast.stmt]) -> None:
    """Join the statements of a block that add to the same number, in place.

    Example:
        >>> text = "x_bar = g * t\\nx_bar -= h * s\\nx_bar += h * (0.5 * x)\\nx_bar += h * x * 0.5"
        >>> block = ast.parse(text).body
        >>> for s in block:
        ...     s.srcgrad_number = True
        >>> join_sums(block)
        >>> print(ast.unparse(ast.fix_missing_locations(ast.Module(block, []))))
        x_bar = g * t - h * s + h * x
    """
    for join in (_alike, _beside):
        k = 0
        while k < len(block) - 1:
            joined = _joined(block[k], block[k + 1], join)
            if joined is None:
                k += 1
            else:
                block[k : k + 2] = [joined]


def _joined(
    first: ast.stmt,
    second: ast.stmt,
    join: Callable[[ast.expr, ast.expr, bool], ast.expr | None],
) -> ast.stmt | None:
    """One statement for two that bind a number, or add to it."""
    if not isinstance(second, ast.AugAssign) or not _adds(second) or not _same(first, second):
        return None
    assert isinstance(first, ast.Assign | ast.AugAssign)
    name = second.target.id  # type: ignore[union-attr]
    if name in asts.names(second.value):
        return None
    if isinstance(first, ast.AugAssign):
        if not _adds(first):
            return None
        one = syn.negative(first.value) if isinstance(first.op, ast.Sub) else first.value
    else:
        one = first.value
    other = syn.negative(second.value) if isinstance(second.op, ast.Sub) else second.value
    total = join(one, other, isinstance(first, ast.AugAssign))
    if total is None:
        return None
    made: ast.stmt
    if isinstance(first, ast.AugAssign):
        made = _added(first, total)
    else:
        made = syn.assign(name, total)
    vars(made).update({k: v for k, v in vars(first).items() if k.startswith("srcgrad_")})
    return made


def _beside(one: ast.expr, other: ast.expr, added: bool) -> ast.expr | None:
    """The sum of two terms that a reader takes in at a glance, one that is subtracted last."""
    widest = _WIDEST // 2 if added else _WIDEST
    if isinstance(one, ast.Constant) or _width(one) + _width(other) > widest:
        return None
    match one, other:
        case ast.UnaryOp(ast.USub(), a), ast.UnaryOp(ast.USub(), b):
            return ast.UnaryOp(ast.USub(), ast.BinOp(a, ast.Add(), b))
        case ast.UnaryOp(ast.USub()), _:
            return syn.add(other, one)
    return syn.add(one, other)


def _adds(s: ast.AugAssign) -> bool:
    return isinstance(s.op, ast.Add | ast.Sub)


def _same(first: ast.stmt, second: ast.AugAssign) -> bool:
    """Whether both are about one number."""
    if not all(getattr(s, "srcgrad_number", False) for s in (first, second)):
        return False
    match first:
        case ast.Assign([ast.Name(name)]) | ast.AugAssign(ast.Name(name)):
            return isinstance(second.target, ast.Name) and second.target.id == name
    return False


def _added(first: ast.AugAssign, total: ast.expr) -> ast.stmt:
    return syn.augment(asts.rewritten(first.target, {}), ast.Add(), total)


def _width(node: ast.expr) -> int:
    """About how many columns an expression takes."""
    width = 0
    for n in asts.walk(node):
        match n:
            case ast.Name(name) | ast.Attribute(attr=name):
                width += len(name) + 1
            case ast.Constant(value):
                width += len(repr(value))
            case ast.UnaryOp():
                width += 1
            case _:
                width += 3
    return width


# ---- like terms -----------------------------------------------------------------------------


@dataclass
class _Product:
    """A product: its literals as one, and the other factors."""

    factor: float
    over: list[ast.expr]
    under: list[ast.expr]

    def key(self) -> tuple[list[str], list[str]]:
        return sorted(map(ast.dump, self.over)), sorted(map(ast.dump, self.under))


def _alike(one: ast.expr, other: ast.expr, added: bool) -> ast.expr | None:
    """The sum of two products of the same factors, literals aside."""
    del added
    if len(asts.walk(one)) > 24 or not isinstance(other, ast.BinOp | ast.UnaryOp):
        return None
    p, q = _product(one), _product(other)
    if not p.over or len(p.over) != len(q.over) or p.key() != q.key():
        return None
    factor = p.factor + q.factor
    node = q.over[0]
    for e in q.over[1:]:
        node = ast.BinOp(node, ast.Mult(), e)
    for e in q.under:
        node = ast.BinOp(node, ast.Div(), e)
    if abs(factor) != 1.0:
        node = _times(abs(factor), node)
    return syn.negative(node) if factor < 0 else node


def _times(factor: float, node: ast.expr) -> ast.expr:
    """`2.0 * a * b`, with the literal first."""
    match node:
        case ast.BinOp(left, ast.Mult() | ast.Div() as op, right):
            return ast.BinOp(_times(factor, left), op, right)
    return ast.BinOp(ast.Constant(factor), ast.Mult(), node)


def _product(node: ast.expr) -> _Product:
    match node:
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return _Product(float(value), [], [])
        case ast.UnaryOp(ast.USub(), inner):
            p = _product(inner)
            return _Product(-p.factor, p.over, p.under)
        case ast.BinOp(left, ast.Mult(), right):
            p, q = _product(left), _product(right)
            return _Product(p.factor * q.factor, [*p.over, *q.over], [*p.under, *q.under])
        case ast.BinOp(left, ast.Div(), right):
            p = _product(left)
            return _Product(p.factor, p.over, [*p.under, right])
    return _Product(1.0, [node], [])


__all__ = ["join_sums"]
