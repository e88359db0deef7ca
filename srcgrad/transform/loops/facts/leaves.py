"""What each simple statement of a generated function says, found once for all passes.

The passes ask the same of the same statements again and again.  Simple statements and expressions
are mostly left alone or replaced by new ones; a pass that changes one in place says so (`forget`),
and under SRCGRAD_DEBUG it is checked that none was forgotten.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeGuard

from srcgrad.debug import debugging
from srcgrad.errors import InternalError
from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform.loops.facts.summaries import FRESH, Summary, is_element, of_leaf

Block = list[ast.stmt]

_BLOCKS = ("body", "orelse", "handlers", "finalbody")

# Statements that have none: most of them, and asked for often.
SIMPLE = frozenset((ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Pass, Comment))
_COMPOUND = (ast.If, ast.For, ast.While)

_SHAPES = frozenset(("shape", "dtype", "ndim", "size"))


class First(NamedTuple):
    """Of a statement or block: the names surely or maybe read before they are bound in it, those
    that are surely bound before; those of which some read follows no binding in the same block
    (`unsure`); and all that it mentions."""

    reads: int = 0
    writes: int = 0
    unsure: int = 0
    mentioned: int = 0


class Leaf:
    """A simple statement, or an expression in the head of a compound one, and its names."""

    def __init__(self, node: ast.AST, bits: dict[str, int]) -> None:
        self.node = node
        self.loads = self.stores = 0  # sets of names, as `Leaves.bits` numbers them
        self.read: list[str] = []  # the names that are read, each time
        self.bound: list[str] = []  # the names that are stored, each time
        self.nodes = asts.walk(node)
        for n in self.nodes:
            if n.__class__ is ast.Name:
                bit = bits.get(n.id)
                if bit is None:
                    bit = bits[n.id] = 1 << len(bits)
                if n.ctx.__class__ is ast.Load:
                    self.loads |= bit
                    self.read.append(n.id)
                else:
                    self.stores |= bit
                    self.bound.append(n.id)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names read or bound."""
        return frozenset((*self.read, *self.bound))

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(self.read)

    @cached_property
    def first(self) -> First:
        """What happens first to its names."""
        both = self.loads | self.stores
        match self.node:
            case ast.AugAssign(ast.Name()):
                return First(both, 0, both, both)
            case ast.Assign():
                return First(self.loads, self.stores & ~self.loads, both, both)
        return First(self.loads, 0, both, both)

    @cached_property
    def contents(self) -> frozenset[str]:
        """The names of which more than a shape is read or bound."""
        shapes = {
            id(n.value) for n in self.nodes if isinstance(n, ast.Attribute) and n.attr in _SHAPES
        }
        return frozenset(
            n.id for n in self.nodes if isinstance(n, ast.Name) and id(n) not in shapes
        )

    @cached_property
    def arrays(self) -> frozenset[str]:
        """The names that are used as arrays: with an index or attribute, or changed in place."""
        out: set[str] = set()
        for n in self.nodes:
            match n:
                case ast.Subscript(ast.Name(name)) | ast.Attribute(ast.Name(name)):
                    out.add(name)
                case ast.AugAssign(ast.Name(name)):
                    out.add(name)
        return frozenset(out)

    @cached_property
    def named(self) -> frozenset[str]:
        """The names that an expression binds."""
        found = (n.target for n in self.nodes if isinstance(n, ast.NamedExpr))
        return frozenset(t.id for t in found if isinstance(t, ast.Name))

    @cached_property
    def summary(self) -> Summary:
        """What it does."""
        return of_leaf(self.node)

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The names whose memory the targets of an assignment may share."""
        return tuple(_shared(self.node.value)) if isinstance(self.node, ast.Assign) else ()

    @cached_property
    def part(self) -> ast.Subscript | None:
        """The element, row or view that an assignment takes out of an array."""
        value = self.node.value if isinstance(self.node, ast.Assign) else None
        return value if isinstance(value, ast.Subscript) else None

    @cached_property
    def made(self) -> tuple[str, ast.expr] | None:
        """The array that an assignment makes with `np.empty` or `np.zeros`, and its shape."""
        match self.node:
            case ast.Assign(
                [ast.Name(name)],
                ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros"), [shape, *_]),
            ):
                return name, shape
        return None


class Leaves:
    """The leaves of a function, by identity; each is kept alive, lest another get its identity."""

    def __init__(self) -> None:
        self.bits: dict[str, int] = {}
        self.changes = 0  # how often a node was changed in place
        self._known: dict[int, Leaf] = {}
        self._checks = debugging()
        self._shown: dict[int, str] = {}

    def of(self, node: ast.AST) -> Leaf:
        """The facts of a simple statement or expression."""
        found = self._known.get(id(node))
        if found is None and isinstance(getattr(node, "body", None), list):
            return Leaf(node, self.bits)  # which other statements are in
        if found is None:
            found = self._known[id(node)] = Leaf(node, self.bits)
            if self._checks:
                self._shown[id(node)] = ast.dump(node)
        return found

    def forget(self, *nodes: ast.AST) -> None:
        """These were changed in place."""
        self.changes += 1
        for node in nodes:
            self._known.pop(id(node), None)

    def some(self, names: Iterable[str]) -> int:
        """The set of these names; one that is in no statement has no bit."""
        out = 0
        for name in names:
            out |= self.bits.get(name, 0)
        return out

    def names_of(self, some: int) -> set[str]:
        """The names in a set."""
        return {name for name, bit in self.bits.items() if bit & some} if some else set()

    def check(self, name: str) -> None:
        """Under SRCGRAD_DEBUG, raise an error if a pass changed a node and didn't say so."""
        if not self._checks:
            return
        for key, leaf in self._known.items():
            if self._shown.get(key, "") != ast.dump(leaf.node):
                raise InternalError(f"{name} changed {ast.unparse(leaf.node)} unseen")

    def within(self, s: ast.stmt) -> list[Leaf]:
        """The leaves of a statement: itself, or its head and what it holds."""
        return self.of_block((s,))

    def of_block(self, block: Iterable[ast.stmt]) -> list[Leaf]:
        return [self.of(node) for node in leaves_of(block)]

    def mentioned(self, s: ast.stmt) -> int:
        """The set of names in a statement."""
        out = 0
        for leaf in self.within(s):
            out |= leaf.loads | leaf.stores
        return out

    def names(self, s: ast.stmt) -> set[str]:
        """The names in a statement."""
        return {n for leaf in self.within(s) for n in leaf.names}

    def bound(self, s: ast.stmt) -> set[str]:
        """The names that a statement binds or adds to."""
        return {n for leaf in self.within(s) for n in leaf.bound}

    def reads(self, block: Iterable[ast.stmt]) -> set[str]:
        """The names that statements read."""
        return {n for leaf in self.of_block(block) for n in leaf.reads}


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


def statements(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a block, outer before inner."""
    for s in block:
        yield s
        if s.__class__ in SIMPLE:
            continue
        for name in _BLOCKS:
            inner = getattr(s, name, None)
            if inner.__class__ is list:
                yield from statements(inner)


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
            for name in _BLOCKS:
                inner = getattr(s, name, None)
                if inner.__class__ is list:
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


def _shared(value: ast.expr) -> Iterator[str]:
    """The names whose memory the value of an expression may be or contain."""
    match value:
        case ast.Name(name):
            yield name
        case ast.Tuple(items) | ast.List(items):
            for i in items:
                yield from _shared(i)
        case ast.Subscript(inner, key):
            if not is_element(key) or not isinstance(inner, ast.Name):
                yield from _shared(inner)
        case ast.Attribute(inner, name) if name not in ("shape", "dtype", "size", "ndim"):
            yield from _shared(inner)
        case ast.IfExp(_, a, b):
            yield from _shared(a)
            yield from _shared(b)
        case ast.Call(ast.Attribute(ast.Name("np" | "math"), name), args) if name not in FRESH:
            if name in (
                "asarray",
                "ascontiguousarray",
                "broadcast_to",
                "reshape",
                "transpose",
                "ravel",
            ):
                for a in args:
                    yield from _shared(a)
        case ast.Call(ast.Attribute(inner, name), args) if name not in FRESH:
            yield from _shared(inner)
            for a in args:
                yield from _shared(a)
        case ast.Call(ast.Name(), args):
            for a in args:
                yield from _shared(a)


__all__ = [
    "SIMPLE",
    "First",
    "Leaf",
    "Leaves",
    "Outline",
    "heads",
    "is_compound",
    "leaves_of",
    "statements",
]
