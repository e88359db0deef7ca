"""Building blocks of the generated text: Python syntax trees, made small while they are made.

Only rewrites that hold for every number and array stand here; in particular `x * 1.0` is dropped
only where a fresh array is not promised to anybody (the caller says whether a value is borrowed).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import copysign
from typing import Any

from srcgrad.ir import asts
from srcgrad.ir import nodes as ir
from srcgrad.ir.asts import Node
from srcgrad.ir.comments import Blank, Comment
from srcgrad.transform.literals import (
    deciding,
    is_float,
    is_number,
    is_power_of_two,
    negative,
    scaled,
    times,
    turned,
)

__all__ = ["Blank", "Comment", "deciding", "is_number", "negative", "scaled", "turned"]


def name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def number(value: Any) -> ast.expr:
    """A literal; negative, infinite and complex ones are built so that they print right."""
    if isinstance(value, bool) or value is None or isinstance(value, str | bytes):
        return ast.Constant(value)
    if value is Ellipsis:
        return ast.Constant(value)
    if isinstance(value, tuple | list):
        items = [number(v) for v in value]
        return (
            ast.Tuple(items, ast.Load())
            if isinstance(value, tuple)
            else ast.List(items, ast.Load())
        )
    if isinstance(value, complex):
        imaginary = _signed(ast.Constant(complex(0.0, abs(value.imag))), value.imag)
        # `-1j` is (-0.0-1j): a zero real part has the sign of the other.
        if not value.real and copysign(1.0, value.real) == copysign(1.0, value.imag):
            return imaginary
        return ast.BinOp(number(value.real), ast.Add(), imaginary)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        base = "np.nan" if value != value else "np.inf"
        return _signed(expr(base), -1.0 if value < 0 else 1.0)
    return _signed(ast.Constant(abs(value)), -1.0 if str(value).startswith("-") else 1.0)


def _signed(node: ast.expr, sign: float) -> ast.expr:
    return ast.UnaryOp(ast.USub(), node) if str(sign).startswith("-") else node


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@lru_cache(maxsize=1024)
def _parsed_stmts(text: str) -> tuple[ast.stmt, ...]:
    return tuple(ast.parse(text).body)


def expr(text: str, **parts: ast.expr) -> ast.expr:
    """A parsed expression with names replaced: `expr("a[k]", a=name("x"), k=number(0))`."""
    return substitute(_parsed(text), parts)


def stmts(text: str, **parts: ast.expr) -> list[ast.stmt]:
    """Parsed statements with names replaced."""
    return [substitute(s, parts) for s in _parsed_stmts(text)]


def substitute(node: Node, parts: Mapping[str, ast.expr]) -> Node:
    """A copy of a tree with names replaced; what they are replaced by is copied, too."""

    def put(found: ast.Name) -> ast.expr:
        part = parts.get(found.id)
        if part is None:
            return ast.Name(found.id, found.ctx)
        if isinstance(part, ast.Name):
            return ast.Name(part.id, found.ctx)
        part = asts.copied(part)
        if isinstance(found.ctx, ast.Store) and hasattr(part, "ctx"):
            part.ctx = ast.Store()
        return part

    return asts.rewritten(node, {ast.Name: put} if parts else {})


def assign(target: str | ast.expr, value: ast.expr) -> ast.stmt:
    node = ast.Name(target, ast.Store()) if isinstance(target, str) else _as_store(target)
    return ast.Assign([node], value)


def augment(target: str | ast.expr, op: ast.operator, value: ast.expr) -> ast.stmt:
    """`target op= value`; adding a negated value subtracts it."""
    if (
        isinstance(op, ast.Add)
        and isinstance(value, ast.UnaryOp)
        and isinstance(value.op, ast.USub)
    ):
        op, value = ast.Sub(), value.operand
    elif isinstance(op, ast.Add) and _negative_product(value):
        op, value = ast.Sub(), _drop_sign(value)
    node = ast.Name(target, ast.Store()) if isinstance(target, str) else _as_store(target)
    return ast.AugAssign(node, op, value)  # type: ignore[arg-type]


def _as_store(node: ast.expr) -> ast.expr:
    node = asts.copied(node)
    if isinstance(node, ast.Tuple):
        node.elts = [_as_store(e) for e in node.elts]
    node.ctx = ast.Store()  # type: ignore[attr-defined]
    return node


def tuple_of(items: Iterable[ast.expr]) -> ast.expr:
    return ast.Tuple(list(items), ast.Load())


def call(fn: str, *args: ast.expr, **kwargs: ast.expr) -> ast.expr:
    return ast.Call(expr(fn), list(args), [ast.keyword(k, v) for k, v in kwargs.items()])


def function_def(name: str, args: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.FunctionDef(name, args, body or [ast.Pass()], [], None)
    if "type_params" in ast.FunctionDef._fields:  # since Python 3.12
        vars(made)["type_params"] = []
    return made


def names_in(node: ast.AST) -> set[str]:
    return asts.names(node)


def loop(stmt: ir.For, target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> ast.For:
    """A loop of the text; `srcgrad_parallel` says that the user's runs in parallel."""
    made = ast.For(target, over, body, [])
    if stmt.parallel:
        vars(made)["srcgrad_parallel"] = True
    return made


_PLAIN = ast.Assign | ast.AugAssign | ast.Expr | ast.Return | Comment  # hold no statements


def blocks(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """A block and all blocks inside it, but those of nested functions."""
    yield block
    for s in block:
        if isinstance(s, _PLAIN):
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(s, name, None)
            if isinstance(inner, list) and inner and not isinstance(s, ast.FunctionDef):
                yield from blocks(inner)
        for handler in getattr(s, "handlers", ()):
            yield from blocks(handler.body)


def names_bound(node: ast.AST) -> set[str]:
    """The names that a piece of text binds or adds to."""
    found = (n for n in asts.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in found if isinstance(n.ctx, ast.Store)}


# ---- small algebra -----------------------------------------------------------


def _negative_product(node: ast.expr) -> bool:
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        node = node.left
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _drop_sign(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp):
        return node.operand
    assert isinstance(node, ast.BinOp)
    return ast.BinOp(_drop_sign(node.left), node.op, node.right)


def add(a: ast.expr, b: ast.expr) -> ast.expr:
    if isinstance(b, ast.UnaryOp) and isinstance(b.op, ast.USub):
        return ast.BinOp(a, ast.Sub(), b.operand)
    if _negative_product(b):
        return ast.BinOp(a, ast.Sub(), _drop_sign(b))
    return ast.BinOp(a, ast.Add(), b)


def mul(a: ast.expr, b: ast.expr) -> ast.expr:
    return simplify(ast.BinOp(a, ast.Mult(), b))


def _shorter_operation(node: ast.BinOp) -> ast.expr:
    left, right = node.left, node.right
    match node.op:
        case ast.Mult():
            if is_float(left) and is_float(right):
                return ast.Constant(left.value * right.value)  # type: ignore[attr-defined]
            if is_number(left, 1):
                return right
            if is_number(right, 1):
                return left
            if isinstance(left, ast.UnaryOp) and isinstance(left.op, ast.USub):
                if is_number(left.operand, 1):
                    return negative(right)
            if is_power_of_two(right):
                return times(left, right.value) or node  # type: ignore[attr-defined]
        case ast.Div() if is_number(right, 1):
            return left
        case ast.Pow() if is_number(right, 1):
            return left
    return node


def _masked_once(node: ast.Call) -> ast.expr:
    """`np.where(m, np.where(m, g, 0.0) * x, 0.0)` is `np.where(m, g * x, 0.0)`."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("np"), "where"), [ast.Name(m), value, zero], []):
            if is_number(zero, 0):
                node.args[1] = _unmasked(value, m)
    return node


def _unmasked(node: ast.expr, mask: str) -> ast.expr:
    """What is computed element by element, without a mask that is laid over the result."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("np"), "where"), [ast.Name(m), value, zero], []):
            return value if m == mask and is_number(zero, 0) else node
        case ast.BinOp(left, ast.Mult() | ast.Div() | ast.Add() | ast.Sub() as op, right):
            return simplify(ast.BinOp(_unmasked(left, mask), op, _unmasked(right, mask)))
        case ast.UnaryOp(ast.USub() as op, operand):
            return ast.UnaryOp(op, _unmasked(operand, mask))
    return node


def _item_of_display(node: ast.Subscript) -> ast.expr:
    whole, key = node.value, node.slice
    if isinstance(whole, ast.Tuple) and isinstance(key, ast.Constant):
        if isinstance(key.value, int) and 0 <= key.value < len(whole.elts):
            return whole.elts[key.value]
    return node


def transposed(node: ast.Attribute) -> ast.expr:
    """`a.T.T` is a, and `(a.T @ b).T` is `b.T @ a`: rules write `.T` for matrices alone."""
    match node:
        case ast.Attribute(
            ast.Call(ast.Attribute(ast.Name("np"), "outer") as outer, [left, right], []), "T"
        ):
            return ast.Call(outer, [right, left], [])
        case ast.Attribute(ast.Attribute(inner, "T"), "T"):
            return inner
        case ast.Attribute(ast.BinOp(left, ast.MatMult() as op, right), "T"):
            if any(isinstance(e, ast.Attribute) and e.attr == "T" for e in (left, right)):
                turned = (transposed(ast.Attribute(e, "T", ast.Load())) for e in (right, left))
                return ast.BinOp(next(turned), op, next(turned))
    return node


def twice_negative(node: ast.UnaryOp) -> ast.expr:
    inner = node.operand
    if isinstance(node.op, ast.USub) and isinstance(inner, ast.UnaryOp):
        if isinstance(inner.op, ast.USub):
            return inner.operand
    return node


_SHORTER: asts.Rules = {
    ast.BinOp: _shorter_operation,
    ast.Subscript: _item_of_display,
    ast.Attribute: transposed,
    ast.UnaryOp: twice_negative,
    ast.Call: _masked_once,
}


def simplify(node: ast.expr) -> ast.expr:
    """`1.0 * e` and `e * 1.0` are e, `--e` is e, `-1.0 * b` is `-b`; the tree is changed."""
    return asts.changed(node, _SHORTER)


def conditional(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
    """`if test: body else: orelse` in its shortest form; nothing when both arms are empty."""

    def empty(arm: list[ast.stmt]) -> bool:
        return all(isinstance(s, Comment) for s in arm)

    if empty(body) and empty(orelse):
        return []
    if empty(body):
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return [ast.If(test.operand, orelse, [])]
        return [ast.If(ast.UnaryOp(ast.Not(), test), orelse, [])]
    return [ast.If(test, body, [] if empty(orelse) else orelse)]


def counted(start: ast.expr, stop: ast.expr, step: ast.expr) -> ast.expr:
    """`range(start, stop, step)` in its shortest form."""
    args = [start, stop, step]
    if is_number(step, 1):
        args.pop()
        if is_number(start, 0):
            args.pop(0)
    return call("range", *args)
