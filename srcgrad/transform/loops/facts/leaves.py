"""What each simple statement of a generated function says, found once for all passes.

The passes ask the same of the same statements again and again.  Simple statements and expressions
are mostly left alone or replaced by new ones; a pass that changes one in place says so (`forget`),
and under SRCGRAD_DEBUG it is checked that none was forgotten.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from srcgrad.debug import debugging
from srcgrad.errors import InternalError
from srcgrad.ir import asts
from srcgrad.transform.fresh import is_fresh
from srcgrad.transform.loops.facts.outline import SIMPLE, leaves_of
from srcgrad.transform.loops.facts.summaries import FRESH, Summary, is_element, of_leaf

_CONDITIONAL = (ast.IfExp, ast.BoolOp)

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
        self._bits = bits
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
    def looked_at(self) -> int:
        """The set of names of which it does more than ask for a shape, bind them, or store to one
        element."""
        spared = ""
        match self.node:
            case ast.Assign([ast.Name(name)]):
                spared = name
            case ast.Assign([ast.Subscript(ast.Name(name))]) | ast.AugAssign(
                ast.Subscript(ast.Name(name))
            ) if self.read.count(name) + self.bound.count(name) == 1:
                spared = name
        return sum(self._bits[name] for name in self.contents if name != spared)

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
    def always_reads(self) -> bool:
        """Whether it mentions elements, and evaluates all that it does."""
        kinds = {n.__class__ for n in self.nodes}
        return ast.Subscript in kinds and kinds.isdisjoint(_CONDITIONAL)

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
    def sizes(self) -> tuple[str, tuple[str, ...]] | None:
        """The names that an assignment binds to a shape ("shape"), to the extent of an array
        ("extent"), or to the items of what has another name (that)."""
        match self.node:
            case ast.Assign([ast.Name(name)], ast.Attribute(_, "shape")):
                return "shape", (name,)
            case ast.Assign(
                [ast.Name(name)],
                ast.Subscript(ast.Attribute(_, "shape")) | ast.Call(ast.Name("len")),
            ):
                return "extent", (name,)
            case ast.Assign([ast.Tuple(names)], ast.Name(shape)):
                return f"of {shape}", tuple(n.id for n in names if isinstance(n, ast.Name))
        return None

    @cached_property
    def given(self) -> frozenset[str]:
        """The names that an assignment binds to what others may hold, too."""
        match self.node:
            case ast.Assign([ast.Name(name)], value):
                own = isinstance(value, ast.Constant) or is_fresh(value)
                return frozenset() if own else frozenset((name,))
            case ast.Assign([ast.Tuple() as target]):
                return frozenset(asts.names(target))
        return frozenset()

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
        return [self.of(s)] if s.__class__ in SIMPLE else self.all(leaves_of((s,)))

    def uses(self, s: ast.stmt, name: str) -> bool:
        """Whether a statement reads or binds more than the shape of what has a name."""
        bit = self.bits.get(name, 0)
        return any(
            (leaf.loads | leaf.stores) & bit and name in leaf.contents for leaf in self.within(s)
        )

    def of_block(self, block: Iterable[ast.stmt]) -> list[Leaf]:
        return self.all(leaves_of(block))

    def all(self, nodes: Iterable[ast.AST]) -> list[Leaf]:
        """The facts of several, most of which are known."""
        known = self._known
        return [known.get(id(node)) or self.of(node) for node in nodes]

    def binds(self, s: ast.stmt, name: str) -> bool:
        """Whether a statement binds a name or adds to it."""
        bit = self.bits.get(name, 0)
        return any(leaf.stores & bit for leaf in self.within(s))

    def mentioned(self, s: ast.stmt) -> int:
        """The set of names in a statement."""
        out = 0
        for leaf in self.within(s):
            out |= leaf.loads | leaf.stores
        return out

    def names(self, s: ast.stmt) -> set[str]:
        """The names in a statement."""
        return {n for leaf in self.within(s) for n in leaf.names}

    def bound(self, s: ast.stmt) -> frozenset[str]:
        """The names that a statement binds or adds to."""
        return frozenset(n for leaf in self.within(s) for n in leaf.bound)

    def reads(self, block: Iterable[ast.stmt]) -> set[str]:
        """The names that statements read."""
        return {n for leaf in self.of_block(block) for n in leaf.reads}


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


__all__ = ["First", "Leaf", "Leaves"]
