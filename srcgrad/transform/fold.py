"""Cotangents that are used once stand where they are used, and those that are constant everywhere.

`t7_bar = s_bar * a` and `x_bar[i] += t7_bar` become `x_bar[i] += s_bar * a`, as one would write
it; `total_bar = 1.0` goes where nothing else is ever bound to the name.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform import syntax as syn
from srcgrad.transform.begin import begin_whole, drop_returned, store_first
from srcgrad.transform.fresh import is_fresh
from srcgrad.transform.silent import is_silent
from srcgrad.transform.sums import join_sums

_TEMPORARY = re.compile(r"t\d+_(bar|dot)(_\d+)?")
_LARGEST = 24  # nodes of an expression that is folded into another
_SHORT = 3  # of a tangent, that the terms of a product rule stay in sight


def fold(function: ast.FunctionDef) -> None:
    """Fold the cotangents of a generated function, in place.

    Example:
        >>> fn = ast.parse("def f(a_bar, g, i):\\n t1_bar = g * 2.0\\n a_bar[i] += t1_bar").body[0]
        >>> fold(fn)
        >>> print(ast.unparse(fn))
        def f(a_bar, g, i):
            a_bar[i] += g * 2.0
    """
    stores, loads = _counts(function)
    if _propagate(function, stores, loads):
        stores, loads = _counts(function)
    for block in syn.blocks(function.body):
        drop_returned(block)
        _fold_block(block, stores, loads)
        if begin_whole(block):
            _fold_block(block, stores, loads)
        for s in block:
            if isinstance(s, ast.Assign | ast.AugAssign) and not hasattr(s, "srcgrad_raises"):
                s.value = _without_copies(s, asts.changed(s.value, _SHORTER))
        join_sums(block)
        store_first(block)


def _counts(function: ast.FunctionDef) -> tuple[Counter[str], Counter[str]]:
    """How often each name is bound, and read."""
    stores: Counter[str] = Counter()
    loads: Counter[str] = Counter()
    for node in asts.walk(function):
        if isinstance(node, ast.Name):
            (loads if isinstance(node.ctx, ast.Load) else stores)[node.id] += 1
        elif isinstance(node, ast.arg):
            stores[node.arg] += 1
    return stores, loads


# ---- single uses ----------------------------------------------------------------------------


def _fold_block(block: list[ast.stmt], stores: Counter[str], loads: Counter[str]) -> None:
    k = 0
    while k < len(block):
        at = _use(block, k, stores, loads)
        if at is None:
            k += 1
            continue
        made = block.pop(k)
        assert isinstance(made, ast.Assign)
        user = block[at - 1]
        assert isinstance(user, ast.Assign | ast.AugAssign)
        name, value = made.targets[0].id, made.value  # type: ignore[attr-defined]
        user.value = asts.rewritten(user.value, {ast.Name: _put(name, value)})
        block[at - 1] = _shorter(user)
        k = max(k - 1, 0)


def _put(name: str, value: ast.expr) -> Callable[[ast.Name], ast.expr]:
    return lambda n: value if n.id == name else n


def _use(
    block: Sequence[ast.stmt], k: int, stores: Counter[str], loads: Counter[str]
) -> int | None:
    """The statement behind the k-th that its value can be folded into."""
    match block[k]:
        case ast.Assign([ast.Name(name)], value):
            pass
        case _:
            return None
    once = stores[name] == 1 and loads[name] == 1 and _TEMPORARY.fullmatch(name)
    if not name.endswith(("_bar", "_dot")) or hasattr(block[k], "srcgrad_raises"):
        return None  # a statement of the user's
    if once and k + 1 < len(block):
        added = block[k + 1]
        if isinstance(added, ast.AugAssign | ast.Assign) and _is_name(_bare(added, value), name):
            target = added.target if isinstance(added, ast.AugAssign) else added.targets[0]
            plain = isinstance(target, ast.Name) and target.id != name
            view = isinstance(value, ast.Subscript | ast.Attribute)
            if plain and not view and len(asts.walk(value)) <= _LARGEST:
                return k + 1  # nothing happens in between
    if not is_silent(value, False) or not _is_short(name, value):
        return None
    for at in range(k + 1, len(block)):
        s = block[at]
        if isinstance(s, Comment):
            if hasattr(s, "srcgrad_place"):
                return None  # the next statement of the user's
            continue
        here = sum(n.id == name for n in _loads(s))
        if here:
            again = isinstance(s, ast.Assign) and _bound(s) == name  # x_bar = f(x_bar)
            fits = here == 1 and (once or again) and _takes(s, name, value)
            return at if fits else None
        if not _passes(s, name, value):
            return None
    return None


def _bare(s: ast.AugAssign | ast.Assign, value: ast.expr) -> ast.expr:
    """What a statement binds or adds; the array itself for a copy of a new one."""
    return _uncopied(s.value) if is_fresh(value) else s.value


def _is_short(name: str, value: ast.expr) -> bool:
    """Whether an expression is small enough to stand where it is used."""
    inner = asts.walk(value)
    if name.endswith("_bar"):
        return len(inner) <= _LARGEST
    return len(inner) <= _SHORT and not any(_is_name(n, "support") for n in inner)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _loads(s: ast.stmt) -> list[ast.Name]:
    found = asts.walk(s)
    return [n for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]


def _bound(s: ast.Assign) -> str | None:
    return s.targets[0].id if len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) else None


def _takes(s: ast.stmt, name: str, value: ast.expr) -> bool:
    """Whether a statement may hold an expression in the place of a name: it reads the name in its
    value, which does nothing but compute."""
    if not isinstance(s, ast.Assign | ast.AugAssign) or not is_silent(s.value, False):
        return False
    inner = asts.walk(s.value)
    if name not in {n.id for n in inner if isinstance(n, ast.Name)}:
        return False
    if isinstance(s.value, ast.Name) and isinstance(s, ast.Assign) and not is_fresh(value):
        return False  # another name for a view
    conditional = any(isinstance(n, ast.IfExp | ast.BoolOp | ast.Lambda) for n in inner)
    return not conditional and len(inner) <= _LARGEST


def _passes(s: ast.stmt, name: str, value: ast.expr) -> bool:
    """Whether an expression may be computed behind a statement instead of before it: one that only
    binds a name that the expression does not read."""
    bound = _bound(s) if isinstance(s, ast.Assign) else None
    if bound is None or bound == name or bound in asts.names(value):
        return False
    assert isinstance(s, ast.Assign)
    return is_silent(s.value, False)


def _shorter(s: ast.Assign | ast.AugAssign) -> ast.stmt:
    """`x += -y` is `x -= y`."""
    if not isinstance(s, ast.AugAssign) or not isinstance(s.op, ast.Add):
        return s
    made = syn.augment(asts.rewritten(s.target, {}), s.op, s.value)
    vars(made).update({k: v for k, v in vars(s).items() if k.startswith("srcgrad_")})
    return made


def _merged(node: ast.BinOp) -> ast.expr:
    """`2.0 * (0.5 * e) * x` is `e * x`: doubling is exact, and x a float."""
    node.left, node.right = _uncopied(node.left), _uncopied(node.right)
    match node:
        case ast.BinOp(ast.Constant(float() as one), ast.Mult(), ast.Constant(float() as other)):
            return ast.Constant(one * other)
        case ast.BinOp(ast.BinOp(one, ast.Mult(), e), ast.Mult() | ast.MatMult() as op, x) if (
            _is_number(one, 1.0)
        ):
            return ast.BinOp(e, op, x)
        case ast.BinOp(ast.UnaryOp(ast.USub(), one), ast.Mult(), x) if _is_number(one, 1.0):
            return ast.UnaryOp(ast.USub(), x)
        case ast.BinOp(
            ast.Constant(float() as one),
            ast.Mult(),
            ast.UnaryOp(ast.USub(), ast.Constant(float() as other)),
        ):
            return ast.UnaryOp(ast.USub(), ast.Constant(one * other))
        case ast.BinOp(two, ast.Mult(), e) if _is_number(two, 2.0):
            return _doubled(e) or node
    return syn.scaled(node) or node


def _uncopied(node: ast.expr) -> ast.expr:
    """What is computed with `a.copy()` is computed with a."""
    match node:
        case ast.Call(ast.Attribute(e, "copy"), [], []):
            return e
    return node


def _without_copies(s: ast.Assign | ast.AugAssign, node: ast.expr) -> ast.expr:
    """What is added to an array, or is an array of its own already, is not copied."""
    bare = _uncopied(node)
    return bare if isinstance(s, ast.AugAssign) or is_fresh(bare) else node


def _summed(node: ast.Subscript) -> ast.expr:
    """`np.sum(e, axis=1, keepdims=True)[:, 0]` is `np.sum(e, axis=1)`."""
    match node:
        case ast.Subscript(
            ast.Call(
                ast.Attribute(ast.Name("np"), "sum") as func,
                [e],
                [ast.keyword("axis", ast.Constant(int(axis))), ast.keyword("keepdims", keep)],
            ),
            key,
        ) if isinstance(keep, ast.Constant) and keep.value is True:
            items = asts.items(key)
            *whole, last = items
            first = isinstance(last, ast.Constant) and type(last.value) is int and not last.value
            if first and len(whole) == axis and all(map(_is_whole, whole)):
                return ast.Call(func, [e], [ast.keyword("axis", ast.Constant(axis))])
    return node


_SHORTER: asts.Rules = {
    ast.BinOp: _merged,
    ast.Subscript: _summed,
    ast.Attribute: syn.transposed,
}


def _is_whole(item: ast.expr) -> bool:
    return isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None


def _doubled(node: ast.expr) -> ast.expr | None:
    """Twice a number, or a product that starts with one."""
    match node:
        case ast.Constant(float() as c):
            return ast.Constant(2.0 * c)
        case ast.UnaryOp(ast.USub(), e) if (made := _doubled(e)) is not None:
            return ast.UnaryOp(ast.USub(), made)
        case ast.BinOp(e, ast.Mult(), ast.Constant(float() as c) as one):
            if c == 0.5 and not hasattr(one, "decides_dtype"):
                return e
            return ast.BinOp(e, ast.Mult(), ast.Constant(2.0 * c))
        case ast.BinOp(e, ast.Mult() | ast.Div() as op, x) if (made := _doubled(e)) is not None:
            return ast.BinOp(made, op, x)
    return None


def _is_number(node: ast.expr, value: float) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is float and node.value == value


# ---- constants ------------------------------------------------------------------------------


def _propagate(function: ast.FunctionDef, stores: Counter[str], loads: Counter[str]) -> bool:
    """Put the seed 1.0 of an adjoint that nothing changes where it is read; whether there is
    one."""
    found = False
    for block in syn.blocks(function.body):
        for s in list(block):
            match s:
                case ast.Assign([ast.Name(name)], value) if _is_literal(value):
                    if not name.endswith("_bar") or stores[name] != 1:
                        continue
                    users = list(_users(function, name))
                    made = [_put_constant(u, name, value) for u in users]
                    if sum(map(_times(name), users)) != loads[name] or any(map(_says_one, made)):
                        continue
                    block.remove(s)
                    found = True
                    for user, node in zip(users, made, strict=True):
                        user.value = node
                        if isinstance(user, ast.AugAssign) and isinstance(user.op, ast.Add):
                            shorter = syn.augment("_", user.op, node)
                            assert isinstance(shorter, ast.AugAssign)
                            user.op, user.value = shorter.op, shorter.value
    return found


def _users(function: ast.FunctionDef, name: str) -> Iterator[ast.Assign | ast.AugAssign]:
    for block in syn.blocks(function.body):
        for s in block:
            if isinstance(s, ast.Assign | ast.AugAssign) and name in asts.names(s.value):
                yield s


def _times(name: str) -> Callable[[ast.Assign | ast.AugAssign], int]:
    """How often a statement reads a name where a number may stand."""

    def added(s: ast.stmt) -> bool:
        return isinstance(s, ast.AugAssign)

    def count(s: ast.Assign | ast.AugAssign) -> int:
        if isinstance(s.value, ast.Tuple) or (isinstance(s.value, ast.Name) and not added(s)):
            return 0
        inner = asts.walk(s.value)
        parts = {
            n.value.id
            for n in inner
            if isinstance(n, ast.Attribute | ast.Subscript) and isinstance(n.value, ast.Name)
        }
        return 0 if name in parts else sum(isinstance(n, ast.Name) and n.id == name for n in inner)

    return count


def _is_literal(node: ast.expr) -> bool:
    """Whether an expression is a float, with or without a minus."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is float


def _put_constant(s: ast.Assign | ast.AugAssign, name: str, value: ast.expr) -> ast.expr:
    put = _put(name, value)
    node = asts.rewritten(s.value, {ast.Name: lambda n: asts.copied(put(n))})
    node = asts.changed(node, {ast.BinOp: _merged, ast.UnaryOp: syn.twice_negative})
    return _without_ones(node, isinstance(s, ast.AugAssign))


def _says_one(node: ast.expr) -> bool:
    """Whether a product by 1.0 is left."""
    return any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Mult)
        and (_is_number(n.left, 1.0) or _is_number(n.right, 1.0))
        for n in asts.walk(node)
    )


def _without_ones(node: ast.expr, added: bool) -> ast.expr:
    """`1.0 * e` is e where it is only added to something, and where e is a number; elsewhere it
    says that the product is a new array of floats."""
    match node:
        case ast.BinOp(ast.Constant(1.0), ast.Mult(), e) | ast.BinOp(
            e, ast.Mult(), ast.Constant(1.0)
        ):
            e = _without_ones(e, added)
            logical = any(isinstance(n, ast.Compare | ast.BoolOp) for n in asts.walk(e))
            return e if isinstance(e, ast.Constant) or (added and not logical) else node
        case ast.BinOp(left, op, right):
            return ast.BinOp(_without_ones(left, added), op, _without_ones(right, added))
        case ast.UnaryOp(op, e):
            return ast.UnaryOp(op, _without_ones(e, added))
    return node


__all__ = ["fold"]
