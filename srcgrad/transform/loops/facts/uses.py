"""What happens first to each name in the blocks of a function, found for all names in one walk.

A set of names is an integer, one bit a name: a program of thousands of statements has thousands of
names, and each loop asks about most of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from srcgrad.transform.loops.facts.leaves import First, Leaves
from srcgrad.transform.loops.facts.outline import SIMPLE, Block, parts_of


class Uses:
    """The facts of a block, as it was when they were found."""

    def __init__(self, body: Block, leaves: Leaves) -> None:
        self._leaves = leaves
        # By identity; the objects are kept, lest another gets the same.
        self._blocks: dict[int, tuple[Block, First, list[tuple[int, int]]]] = {}
        self._loops: dict[int, int] = {}  # what each iteration may read first
        # The names that may be read after a statement before they are bound again.
        self.after: dict[int, tuple[ast.stmt, int]] = {}
        self._block(body)
        self._flow(body, 0)

    def some(self, names: Iterable[str]) -> int:
        """The set of these names; one that is in no statement has no bit."""
        return self._leaves.some(names)

    def live_after(self, s: ast.stmt) -> int:
        """The names that may be read after a statement before they are bound again."""
        return self.after[id(s)][1]

    def is_read_first(self, block: Block, name: str) -> bool:
        return bool(self.in_block(block).reads & self.some([name]))

    def is_always_bound_first(self, block: Block, name: str) -> bool:
        """Whether every read of a name in a block follows a binding in it."""
        first = self.in_block(block)
        return not (first.reads | first.unsure) & self.some([name])

    def in_block(self, block: Block) -> First:
        return self._blocks[id(block)][1]

    # ---- one walk from the inside out ----

    def _names(self, node: ast.AST) -> tuple[int, int]:
        """What a piece of text reads and what it binds."""
        leaf = self._leaves.of(node)
        return leaf.loads, leaf.stores

    def _block(self, block: Block) -> First:
        reads = writes = unsure = mentioned = 0
        rest = [(0, 0)]  # what is read or written first by what follows each statement
        for s in reversed(block):
            one = self._leaves.of(s).first if s.__class__ in SIMPLE else self._statement(s)
            reads, writes = one[0] | reads & ~one[1], one[1] | writes & ~one[0]
            rest.append((reads, writes))
            unsure |= one[2]
            mentioned |= one[3]
        rest.reverse()
        out = First(reads, writes, unsure & ~writes, mentioned)
        self._blocks[id(block)] = (block, out, rest)
        return out

    def _statement(self, s: ast.stmt) -> First:
        match s:
            case ast.If(test, body, orelse):
                tested, bound = self._names(test)
                arms = self._block(body), self._block(orelse)
                reads = tested | arms[0].reads | arms[1].reads
                writes = arms[0].writes & arms[1].writes & ~reads
                mentioned = tested | bound | arms[0].mentioned | arms[1].mentioned
                return First(reads, writes, arms[0].unsure | arms[1].unsure, mentioned)
            case ast.For(target, over, body, orelse):
                taken, _ = self._names(over)
                given = self._names(target)
                inner, other = self._block(body), self._block(orelse)
                counter = given[1] if isinstance(target, ast.Name) else 0
                mentioned = taken | given[0] | given[1] | inner.mentioned | other.mentioned
                unsure = mentioned if orelse else inner.unsure & ~counter
                reads = taken | (inner.reads | other.reads) & ~counter
                self._loops[id(s)] = reads
                return First(reads, 0, unsure, mentioned)
            case ast.While(test, body, orelse):
                tested, bound = self._names(test)
                inner, other = self._block(body), self._block(orelse)
                mentioned = tested | bound | inner.mentioned | other.mentioned
                reads = self._loops[id(s)] = tested | inner.reads | other.reads
                return First(reads, 0, mentioned, mentioned)
            case _:
                for inner_block in parts_of(s):
                    self._block(inner_block)
                return self._leaves.of(s).first

    # ---- and one from the outside in ----

    def _flow(self, block: Block, around: int) -> None:
        """`around` are the names that may be read once the block has run."""
        rest = self._blocks[id(block)][2]
        for k, s in enumerate(block):
            reads, writes = rest[k + 1]
            inside = reads | around & ~writes
            self.after[id(s)] = (s, inside)
            if s.__class__ in SIMPLE:
                continue
            if isinstance(s, ast.For | ast.While):
                inside |= self._loops[id(s)]
            for inner in parts_of(s):
                self._flow(inner, inside)
