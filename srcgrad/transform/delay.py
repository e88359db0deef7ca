"""A cotangent that a recurrence carries on is bound anew only after its last reader.

The reverse of `h = a * x[i] + b * h` scales `h_bar` by b before x and a get their share of what it
was, so that this needs a name of its own.  A person writes the scaling last.
"""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform import syntax as syn
from srcgrad.transform.silent import is_silent


def delay(function: ast.FunctionDef) -> None:
    """`t = h_bar; h_bar = h_bar * b; a_bar += t * x` becomes `a_bar += h_bar * x; h_bar =
    h_bar * b`; in place.

    Example:
        >>> text = "t1_bar = h_bar\\n h_bar = h_bar * b\\n a_bar += t1_bar * x"
        >>> fn = ast.parse(f"def f(a_bar, h_bar, b, x):\\n {text}").body[0]
        >>> fn.body[0].srcgrad_number = True
        >>> delay(fn)
        >>> print(ast.unparse(fn))
        def f(a_bar, h_bar, b, x):
            a_bar += h_bar * x
            h_bar = h_bar * b
    """
    found = [(b, s) for b in syn.blocks(function.body) for s in b if _may_wait(s)]
    if not found:
        return
    uses: dict[str, list[int]] = {}  # of each name: how often it is bound and read
    for node in asts.walk(function):
        if isinstance(node, ast.Name):
            seen = uses.setdefault(node.id, [0, 0])
            seen[isinstance(node.ctx, ast.Load)] += 1
    for block, s in found:
        match s:
            case ast.Assign([ast.Name(kept)], ast.Name(carried)) if uses[kept][0] == 1:
                _delay(block, block.index(s), kept, carried, uses[kept][1])


def _may_wait(s: ast.stmt) -> bool:
    """Whether a statement keeps the number that an adjoint is, under another name."""
    match s:
        case ast.Assign([ast.Name(kept)], ast.Name(carried)):
            number = getattr(s, "srcgrad_number", False)
            return bool(number and kept.endswith("_bar") and carried.endswith("_bar"))
    return False


def _delay(block: list[ast.stmt], k: int, kept: str, carried: str, reads: int) -> None:
    """Move the statement that binds `carried`, a number, anew behind the last one that reads
    `kept`, a name for what it was, if nothing between them minds."""
    at = next((j for j in range(k + 1, len(block)) if _binds(block[j], carried)), None)
    bound = None if at is None else block[at]
    match bound:
        case ast.Assign([ast.Name(name)], value) if name == carried and at is not None:
            needs = asts.names(value)
        case _:
            return
    others = {n for n in needs if n.endswith("_bar")} - {carried}
    if others or not isinstance(value, ast.BinOp | ast.UnaryOp) or not is_silent(value, False):
        return
    mentions = {j: n for j in range(k + 1, len(block)) if (n := _names(block[j]).get(kept))}
    if not mentions or sum(mentions.values()) != reads or at in mentions:
        return
    ends = [_after_use(block, at, max(mentions)), max(mentions)]
    last = next(
        (j for j in ends if j > at and _lets_pass(block[at + 1 : j + 1], carried, needs)), at
    )
    if last == at:
        return
    for j in mentions:
        block[j] = asts.changed(block[j], {ast.Name: lambda n: _renamed(n, kept, carried)})
    block[at : last + 1] = [*block[at + 1 : last + 1], bound]
    del block[k]


def _after_use(block: list[ast.stmt], at: int, last: int) -> int:
    """Where what the last reader computes is used up, if that is in the next statements."""
    made = block[last]
    match made:
        case ast.Assign([ast.Name(name)]) if last > at and name.endswith("_bar"):
            following = (j for j in range(last + 1, len(block)) if _names(block[j]).get(name))
            return next(following, last)
    return last


def _names(s: ast.stmt) -> dict[str, int]:
    out: dict[str, int] = {}
    for n in asts.walk(s):
        if isinstance(n, ast.Name):
            out[n.id] = out.get(n.id, 0) + 1
    return out


def _renamed(n: ast.Name, old: str, new: str) -> ast.Name:
    if n.id == old:
        n.id = new
    return n


def _binds(s: ast.stmt, name: str) -> bool:
    stored = (n for n in asts.walk(s) if isinstance(n, ast.Name))
    return any(n.id == name and not isinstance(n.ctx, ast.Load) for n in stored)


def _lets_pass(block: list[ast.stmt], carried: str, needs: set[str]) -> bool:
    return all(_is_apart(s, carried, needs) for s in block)


def _is_apart(s: ast.stmt, carried: str, needs: set[str]) -> bool:
    """Whether a statement neither reads what is bound later now, nor changes what that needs."""
    if isinstance(s, Comment):
        return not hasattr(s, "srcgrad_place")  # of the next statement of the user's
    if carried in asts.names(s):
        return False
    match s:
        case ast.Assign([target], value) | ast.AugAssign(target, _, value):
            pass
        case _:
            return False
    base = target.value if isinstance(target, ast.Subscript) else target
    changed = isinstance(base, ast.Name) and base.id.endswith("_bar") and base.id not in needs
    return changed and is_silent(value, False)


__all__ = ["delay"]
