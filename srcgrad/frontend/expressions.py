"""Expressions, in Python's order of evaluation, with atoms as operands.

Conditions, and values that can only be true, false or text, are kept as written where they are
pure: no derivative passes through them, and nothing has to be known about them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from srcgrad.frontend.eager import eager
from srcgrad.frontend.purity import gives_bool_or_text, is_pure
from srcgrad.frontend.resolve import (
    check_attribute,
    constant,
    extend,
    fold,
    is_newaxis,
)
from srcgrad.frontend.scope import Ref, Scope, atom, expression, lowers, ref
from srcgrad.frontend.verbatim import opaque
from srcgrad.ir.nodes import (
    Atom,
    Attr,
    Build,
    Call,
    Const,
    Expr,
    Global,
    If,
    Index,
    Key,
    KeyItem,
    KeyTuple,
    Method,
    Op,
    Slice,
    Star,
    Var,
)

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not",
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Is: "is",
    ast.IsNot: "is_not",
    ast.In: "in",
    ast.NotIn: "not_in",
}

Lowering = Callable[[Scope, ast.expr], Expr]


# ---- operands -----------------------------------------------------------------


@lowers(Ref)
def _ref(_scope: Scope, node: Ref) -> Expr:
    return node.atom


def held(scope: Scope, node: ast.expr, later: Sequence[ast.AST]) -> Atom:
    """An operand that keeps its value while the later ones are evaluated.

    In `x + (x := 2)` the first operand is the old x."""
    found = atom(scope, node)
    if isinstance(found, Var) and rebinds(scope, found, later):
        temp = scope.temp()
        scope.assign(node, temp, found)
        return temp
    return found


def rebinds(scope: Scope, var: Var, nodes: Sequence[ast.AST]) -> bool:
    """Does a `:=` in these expressions give the variable another value?"""
    return scope.bindings.walrus and any(
        isinstance(part, ast.NamedExpr) and var.name == part.target.id
        for node in nodes
        for part in ast.walk(node)
    )


def operands(scope: Scope, nodes: Sequence[ast.expr]) -> tuple[Atom, ...]:
    """Several operands, evaluated from left to right."""
    return tuple(held(scope, node, nodes[k + 1 :]) for k, node in enumerate(nodes))


def starred(
    scope: Scope, nodes: Sequence[ast.expr], later: Sequence[ast.AST] = ()
) -> tuple[Atom | Star, ...]:
    """Several operands of which some are written `*value`."""
    found: list[Atom | Star] = []
    for k, node in enumerate(nodes):
        rest = (*nodes[k + 1 :], *later)
        if isinstance(node, ast.Starred):
            found.append(unpacked(scope, node.value, rest))
        else:
            found.append(held(scope, node, rest))
    return tuple(found)


def unpacked(scope: Scope, node: ast.expr, later: Sequence[ast.AST]) -> Star:
    """`*value`, whose items are taken before what comes later may write into it."""
    value = held(scope, eager(scope, node), later)
    if not all(is_pure(scope, part) for part in later):
        temp = scope.temp()
        scope.assign(node, temp, Build("list", (Star(value),)))
        value = temp
    return Star(value)


# ---- values ---------------------------------------------------------------------


@lowers(ast.Constant)
def _constant(_scope: Scope, node: ast.Constant) -> Expr:
    return Const(node.value)


@lowers(ast.Attribute)
def _attribute(scope: Scope, node: ast.Attribute) -> Expr:
    check_attribute(scope, node)
    found = fold(scope, node)
    if found is not None:
        return Const(None) if is_newaxis(found) else found
    obj = atom(scope, node.value)
    inner = extend(scope.session, obj, node.attr) if isinstance(obj, Global) else None
    return Attr(obj, node.attr) if inner is None else inner


@lowers(ast.BinOp)
def _binary(scope: Scope, node: ast.BinOp) -> Expr:
    if gives_bool_or_text(node) and is_pure(scope, node):
        return opaque(scope, node)
    spine = [node]
    while isinstance(spine[-1].left, ast.BinOp) and not gives_bool_or_text(spine[-1].left):
        spine.append(spine[-1].left)
    left = held(scope, spine[-1].left, [part.right for part in spine])
    for part in reversed(spine[1:]):  # a loop, as a sum may have any number of terms
        left = scope.keep(part, Op(BINARY[type(part.op)], (left, atom(scope, part.right))))
    return Op(BINARY[type(node.op)], (left, atom(scope, node.right)))


@lowers(ast.UnaryOp)
def _unary(scope: Scope, node: ast.UnaryOp) -> Expr:
    literal = constant(node)
    if literal is not None:
        return literal
    if isinstance(node.op, ast.Not):
        if is_pure(scope, node) and not isinstance(node.operand, ast.Name):
            return opaque(scope, node)
        return Op("not", (scope.keep(node.operand, test(scope, node.operand)),))
    return Op(UNARY[type(node.op)], (atom(scope, node.operand),))


@lowers(ast.Compare)
def _compare(scope: Scope, node: ast.Compare) -> Expr:
    if len(node.ops) == 1:
        pair = operands(scope, (node.left, node.comparators[0]))
        return Op(COMPARE[type(node.ops[0])], pair)
    if is_pure(scope, node):
        return opaque(scope, node)
    result = scope.temp()
    _chain(scope, node, atom(scope, node.left), 0, result)
    return result


def _chain(scope: Scope, node: ast.Compare, left: Atom, k: int, result: Var) -> None:
    """`a < b < c`: the later comparisons only where the earlier ones hold."""
    right = held(scope, node.comparators[k], node.comparators[k + 1 :])
    scope.assign(node, result, Op(COMPARE[type(node.ops[k])], (left, right)))
    if k + 1 < len(node.ops):
        sid = scope.sid()
        body = scope.block(lambda: _chain(scope, node, right, k + 1, result))
        scope.emit(If(sid, scope.loc(node), result, body, ()))


@lowers(ast.BoolOp)
def _bool_op(scope: Scope, node: ast.BoolOp) -> Expr:
    if gives_bool_or_text(node) and is_pure(scope, node):
        return opaque(scope, node)
    return _short_circuit(scope, node, expression)


def _short_circuit(scope: Scope, node: ast.BoolOp, lower_part: Lowering) -> Var:
    """`a and b`: the later operands only where the earlier ones leave the answer open."""
    result = scope.temp()

    def fill(k: int) -> None:
        scope.assign(node.values[k], result, lower_part(scope, node.values[k]))
        if k + 1 == len(node.values):
            return
        goes_on: Expr = result if isinstance(node.op, ast.And) else Op("not", (result,))
        sid = scope.sid()
        body = scope.block(lambda: fill(k + 1))
        scope.emit(If(sid, scope.loc(node.values[k]), goes_on, body, ()))

    fill(0)
    return result


@lowers(ast.IfExp)
def _ternary(scope: Scope, node: ast.IfExp) -> Expr:
    result = scope.temp()
    choose(scope, node, result)
    return result


def choose(scope: Scope, node: ast.IfExp, target: Var) -> None:
    """`target = a if condition else b`, as a statement."""
    condition = test(scope, node.test)
    sid = scope.sid()
    body = scope.block(lambda: assign_into(scope, node.body, target))
    orelse = scope.block(lambda: assign_into(scope, node.orelse, target))
    scope.emit(If(sid, scope.loc(node), condition, body, orelse))


def assign_into(scope: Scope, node: ast.expr, target: Var, at: ast.AST | None = None) -> None:
    """`target = value`, without a temporary between them."""
    if isinstance(node, ast.IfExp):
        choose(scope, node, target)
    else:
        value = expression(scope, node)
        scope.assign(at or node, target, value)


@lowers(ast.NamedExpr)
def _walrus(scope: Scope, node: ast.NamedExpr) -> Expr:
    target = walrus_target(scope, node)
    assign_into(scope, node.value, target, node)
    return target


def walrus_target(scope: Scope, node: ast.NamedExpr) -> Var:
    """`:=` binds a name of the function, also from inside a comprehension."""
    name = node.target.id
    if not scope.bindings.is_local(name):
        raise scope.refusal(node, f"{name} is not a local variable of the function")
    return Var(name)


@lowers(ast.JoinedStr)
def _f_string(scope: Scope, node: ast.JoinedStr) -> Expr:
    if is_pure(scope, node):
        return opaque(scope, node)
    return opaque(scope, _f_string_parts(scope, node))


def _f_string_parts(scope: Scope, node: ast.JoinedStr) -> ast.JoinedStr:
    parts: list[ast.expr] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue) and not is_pure(scope, part):
            value = ref(atom(scope, part.value), part.value)
            spec = part.format_spec
            if isinstance(spec, ast.JoinedStr):
                spec = _f_string_parts(scope, spec)
            part = ast.copy_location(ast.FormattedValue(value, part.conversion, spec), part)
        parts.append(part)
    return ast.copy_location(ast.JoinedStr(parts), node)


# ---- containers and indices -------------------------------------------------------


@lowers(ast.Tuple, ast.List, ast.Set)
def _display(scope: Scope, node: ast.Tuple | ast.List | ast.Set) -> Expr:
    kind = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}[type(node)]
    return Build(kind, starred(scope, node.elts))


@lowers(ast.Dict)
def _dict(scope: Scope, node: ast.Dict) -> Expr:
    keys: list[Atom | None] = []
    values: list[Atom] = []
    rest: list[ast.expr] = [part for part in (*node.keys, *node.values) if part is not None]
    for key, value in zip(node.keys, node.values, strict=True):
        keys.append(None if key is None else held(scope, key, rest))
        values.append(held(scope, value, rest))
    return Build("dict", tuple(values), tuple(keys))


@lowers(ast.Subscript)
def _subscript(scope: Scope, node: ast.Subscript) -> Expr:
    obj = held(scope, node.value, (node.slice,))
    return Index(obj, key(scope, node.slice))


def key(scope: Scope, node: ast.expr) -> Key:
    """What stands between the brackets of `x[...]`."""
    if isinstance(node, ast.Tuple):
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return atom(scope, node)
        rests = [node.elts[k + 1 :] for k in range(len(node.elts))]
        return KeyTuple(
            tuple(_item(scope, i, rest) for i, rest in zip(node.elts, rests, strict=True))
        )
    return _item(scope, node, ())


def _item(scope: Scope, node: ast.expr, later: Sequence[ast.AST]) -> KeyItem:
    if not isinstance(node, ast.Slice):
        return held(scope, node, later)
    parts = (node.lower, node.upper, node.step)
    lower, upper, step = (None if p is None else held(scope, p, later) for p in parts)
    return Slice(lower, upper, step)


@lowers(ast.Starred)
def _starred(scope: Scope, node: ast.Starred) -> Expr:
    raise scope.refusal(node, "a starred value is not supported here")


@lowers(ast.Await, ast.Yield, ast.YieldFrom)
def _suspended(scope: Scope, node: ast.expr) -> Expr:
    word = {ast.Await: "await", ast.Yield: "yield", ast.YieldFrom: "yield from"}[type(node)]
    raise scope.refusal(
        node,
        f"{word}: a generator or coroutine runs in pieces and has no single result",
        "collect the values in a list and return it",
    )


# ---- conditions ---------------------------------------------------------------------


def test(scope: Scope, node: ast.expr) -> Expr:
    """A condition: only whether it is true matters."""
    if isinstance(node, ast.Name | ast.Constant | Ref):
        return atom(scope, node)
    if is_pure(scope, node):
        found = fold(scope, node)
        return opaque(scope, node) if found is None else found
    match node:
        case ast.BoolOp():
            return _short_circuit(scope, node, test)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Op("not", (scope.keep(operand, test(scope, operand)),))
    value = expression(scope, node)
    # A call stands in a statement of its own: it may write what it is given.
    return scope.keep(node, value) if isinstance(value, Call | Method) else value


def negated(scope: Scope, node: ast.AST, condition: Expr) -> Expr:
    """The opposite of a condition; `not a < b` is not `a >= b` where nan is about."""
    if isinstance(condition, Const):
        return Const(not condition.value)
    return Op("not", (scope.keep(node, condition),))
