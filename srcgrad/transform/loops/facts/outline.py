"""The statements and blocks that a function's body is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeGuard

from srcgrad.ir.comments import Comment, Place

Block = list[ast.stmt]

_BLOCKS = ("body", "orelse", "handlers", "finalbody")

# Statements that have none: most of them, and asked for often.
SIMPLE = frozenset(
    (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Pass, ast.Break, ast.Continue, Comment,
     Place)
)  # fmt: skip
_COMPOUND = (ast.If, ast.For, ast.While)


def is_compound(s: ast.stmt) -> TypeGuard[ast.If | ast.For | ast.While]:
    """Whether a statement is a loop or branch, whose leaves are those of its parts."""
    return isinstance(s, _COMPOUND)


def heads(s: ast.stmt) -> tuple[ast.expr, ...]:
    """The expressions in the head of a compound statement."""
    match s:
        case ast.If(test) | ast.While(test):
            return (test,)
        case ast.For(target, over):
            return target, over
    return ()


def statements(block: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Every statement of a block, outer before inner."""
    found: list[ast.stmt] = []
    for s in block:
        found.append(s)
        if s.__class__ in SIMPLE:
            continue
        for inner in blocks_of(s):
            found += statements(inner)
    return found


def parts_of(s: ast.stmt) -> list[Block]:
    """The body of a compound statement, and what it does otherwise."""
    if isinstance(s, _COMPOUND):
        return [s.body, s.orelse]
    found = [getattr(s, name, None) for name in ("body", "orelse")]
    return [inner for inner in found if inner.__class__ is list]


def blocks_of(s: ast.stmt) -> list[Block]:
    """The blocks of statements in a compound one."""
    if isinstance(s, _COMPOUND):
        return [s.body, s.orelse] if s.orelse else [s.body]
    found = [getattr(s, name, None) for name in _BLOCKS]
    return [inner for inner in found if inner.__class__ is list]


class Outline:
    """The parts of a function's body as they stand: two that are equal are of the same body,
    unless a leaf was changed in place meanwhile."""

    def __init__(self, body: Block, changes: int) -> None:
        self._changes = changes
        self._blocks: list[Block] = []  # kept alive, lest another get the identity of one
        self._identities: list[int] = []  # of the blocks
        self._inside: list[Block] = []  # what is in each
        self._heads: list[ast.expr] = []
        self._block(body)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outline) and self._all() == other._all()

    __hash__ = None  # type: ignore[assignment]

    def _all(self) -> tuple[object, ...]:
        return self._changes, self._identities, self._inside, self._heads

    def _block(self, block: Block) -> None:
        self._blocks.append(block)
        self._identities.append(id(block))
        self._inside.append(block[:])
        for s in block:
            if s.__class__ in SIMPLE:
                continue
            if is_compound(s):
                self._heads += heads(s)
            for inner in blocks_of(s):
                self._block(inner)


def leaves_of(block: Iterable[ast.stmt]) -> list[ast.AST]:
    """The simple statements of a block, the expressions in the heads of compound ones, and whole
    statements of other kinds, in order."""
    found: list[ast.AST] = []
    for s in block:
        if s.__class__ in SIMPLE or not is_compound(s):
            found.append(s)
        else:
            found += (*heads(s), *leaves_of(s.body), *leaves_of(s.orelse))
    return found


__all__ = [
    "SIMPLE",
    "Block",
    "Outline",
    "blocks_of",
    "heads",
    "is_compound",
    "leaves_of",
    "parts_of",
    "statements",
]
