"""Where the forward sweep of a generated function ends and its reverse sweep begins."""

from __future__ import annotations

import ast

from srcgrad.ir.comments import Comment
from srcgrad.transform.loops.facts.leaves import Leaves


def is_middle(s: ast.stmt) -> bool:
    """Whether a comment says that the reverse sweep begins."""
    return isinstance(s, Comment) and "reverse sweep" in s.text


def adjoints(fn: ast.FunctionDef, leaves: Leaves) -> set[str]:
    """The names that only the reverse sweep binds: the primal's own are never among them."""
    body = fn.body
    middle = next((k for k, s in enumerate(body) if is_middle(s)), None)
    if middle is None:
        return set()
    before, after = 0, 0
    for leaf in leaves.of_block(body[:middle]):
        before |= leaf.stores
    for leaf in leaves.of_block(body[middle:]):
        after |= leaf.stores
    return leaves.names_of(after & ~before)


__all__ = ["adjoints", "is_middle"]
