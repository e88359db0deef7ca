"""What the statements of a generated function read and write: the facts that passes rely on."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.leaves import Leaf, Leaves
from srcgrad.transform.loops.facts.outline import (
    SIMPLE,
    Outline,
    is_compound,
    leaves_of,
    parts_of,
    statements,
)
from srcgrad.transform.loops.facts.summaries import Summary, is_element
from srcgrad.transform.loops.facts.uses import Uses


class Function:
    """A function and its loops."""

    def __init__(
        self,
        node: ast.FunctionDef,
        ndims: Mapping[str, int] | None = None,
        adjoints: set[str] | None = None,
        leaves: Leaves | None = None,
        outline: Outline | None = None,
    ) -> None:
        self.node = node
        self.leaves = leaves or Leaves()  # what its simple statements say, for all passes
        self.adjoints = set() if adjoints is None else adjoints  # names of the reverse sweep's own
        self._given = ndims or {}
        self._outline = outline or Outline(node.body, self.leaves.changes)
        self.statements = statements(node.body)  # outer before inner
        self._nodes = leaves_of(node.body)
        self.numbers: set[str] | None = None  # as `numbers` found them
        self.has_dead = True  # may something in it be dead
        self._latest = [self]  # what was found last, for all that `again` made

    def again(self) -> Function:
        """The same function as it is now: what is known of it stays if nothing has changed."""
        now = Outline(self.node.body, self.leaves.changes)
        if now == self._outline:
            return self
        latest = self._latest[0]
        if now != latest._outline:
            latest = Function(self.node, self._given, self.adjoints, self.leaves, now)
            latest._latest = self._latest
            self._latest[0] = latest
        return latest

    @cached_property
    def every_leaf(self) -> list[Leaf]:
        """The leaves of all statements."""
        return self.leaves.all(self._nodes)

    @cached_property
    def assignments(self) -> list[Leaf]:
        return self.leaves.all(s for s in self.statements if s.__class__ is ast.Assign)

    @cached_property
    def arguments(self) -> set[str]:
        """The names of its parameters."""
        return {a.arg for a in asts.walk(self.node.args) if isinstance(a, ast.arg)}

    @cached_property
    def bindings(self) -> Counter[str]:
        """How often each name is bound, by arguments or statements."""
        found = Counter(n for leaf in self.every_leaf for n in leaf.bound)
        found.update(a.arg for a in asts.walk(self.node.args) if isinstance(a, ast.arg))
        return found

    @cached_property
    def counters(self) -> set[str]:
        """The names that only loops bind, as their counters."""
        loops = (s.target for s in self.statements if isinstance(s, ast.For))
        found = Counter(t.id for t in loops if isinstance(t, ast.Name))
        return {name for name, times in found.items() if times == self.bindings[name]}

    @cached_property
    def mentions(self) -> Counter[str]:
        """How often each name is read or bound in a statement."""
        return Counter(n for leaf in self.every_leaf for n in (*leaf.read, *leaf.bound))

    def is_plain(self, block: Iterable[ast.stmt]) -> bool:
        """Whether the summary of statements says all that they do."""
        for s in block:
            if s.__class__ in SIMPLE or not is_compound(s):
                if not self.leaves.of(s).summary.plain:
                    return False
                continue
            parts = _parts(s)
            if parts is None or not all(self.leaves.of(e).summary.plain for e in parts[0]):
                return False
            if not self.is_plain(parts[1]):
                return False
        return True

    def summary(self, block: Iterable[ast.stmt]) -> Summary:
        """What statements do."""
        out = Summary()
        for s in block:
            self._sum(s, out)
        return out

    def _sum(self, s: ast.stmt, out: Summary) -> None:
        if s.__class__ in SIMPLE or not is_compound(s):
            out.take(self.leaves.of(s).summary)
            return
        parts = _parts(s)
        if parts is None:
            out.plain = False
            return
        for e in parts[0]:
            out.take(self.leaves.of(e).summary)
        if isinstance(s, ast.For):
            assert isinstance(s.target, ast.Name)
            out.assigned.add(s.target.id)
        for inner in parts[1]:
            self._sum(inner, out)

    @cached_property
    def ndims(self) -> dict[str, int]:
        """The numbers of dimensions of arrays, where they are known."""
        return {**self._given, **self._allocated()}

    def is_number(self, array: str, key: ast.expr) -> bool:
        """Whether an element is surely a number, not a row."""
        items = asts.items(key)
        return self.ndims.get(array) == len(items) and is_element(key)

    def blocks(self) -> list[list[ast.stmt]]:
        """All blocks, inner ones first, as they are now."""
        return _blocks(self.node.body)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """For each name a representative of the names that may share memory with it."""
        parent: dict[str, str] = {}

        def find(x: str) -> str:
            while parent.setdefault(x, x) != x:
                parent[x] = x = parent[parent[x]]
            return x

        for leaf in self.assignments:
            if not leaf.shared and leaf.part is None:
                continue
            shared, targets = list(leaf.shared), leaf.bound
            if leaf.part is not None and self._may_be_row(leaf.part):
                if not self.arrays.isdisjoint(targets):
                    shared += asts.names(leaf.part.value)
            for t in targets:
                for n in shared:
                    parent[find(t)] = find(n)
        return {n: find(n) for n in list(parent)}

    def _may_be_row(self, part: ast.Subscript) -> bool:
        match part.value:
            case ast.Name(array):
                return not self.is_number(array, part.slice)
        return True

    @cached_property
    def arrays(self) -> set[str]:
        """Names that are used as arrays: with an index or an attribute, or changed in place."""
        return {n for leaf in self.every_leaf for n in leaf.arrays}

    def _allocated(self) -> dict[str, int]:
        """The numbers of dimensions of arrays that the function makes once, by their shapes."""
        found: dict[str, int] = {}
        for leaf in self.assignments:
            if leaf.made is not None and self.bindings[leaf.made[0]] == 1:
                found[leaf.made[0]] = _extents(leaf.made[1], self._lengths)
        return {name: k for name, k in found.items() if k > 0}

    @cached_property
    def _lengths(self) -> set[str]:
        """The names that are bound once, to the extent of an array."""
        found: set[str] = set()
        shapes: set[str] = set()
        for leaf in self.assignments:
            if leaf.sizes is None:
                continue
            kind, names = leaf.sizes
            if kind == "shape":
                shapes.add(f"of {names[0]}")
            elif kind == "extent" or kind in shapes:
                found |= {*names}
        return {n for n in found if self.bindings[n] == 1}

    def root(self, name: str) -> str:
        return self.aliases.get(name, name)

    def is_alone(self, array: str) -> bool:
        """Whether no other name shares an array's memory."""
        root = self.root(array)
        return not any(other != array and self.root(other) == root for other in self.aliases)

    @cached_property
    def around(self) -> dict[int, ast.stmt]:
        """By identity of each statement the one that it stands in."""
        out: dict[int, ast.stmt] = {}
        todo: list[ast.stmt] = list(self.node.body)
        for s in todo:
            if s.__class__ in SIMPLE:
                continue
            for inner in parts_of(s):
                out.update((id(x), s) for x in inner)
                todo += inner
        return out

    def owners(self, s: ast.stmt) -> Iterator[ast.stmt]:
        """The statements around one, innermost first."""
        while id(s) in self.around:
            s = self.around[id(s)]
            yield s

    def live_after(self, names: Iterable[str], loop: ast.stmt) -> bool:
        """Whether one of the names may be read after a loop before it is bound again."""
        return bool(self.after(loop) & self.leaves.some(names))

    def after(self, s: ast.stmt) -> int:
        """The set of names that may be read after a statement before they are bound again."""
        found = self.uses.after.get(id(s))
        if found is None:  # a pass made it
            self.uses = Uses(self.node.body, self.leaves)
            found = self.uses.after[id(s)]
        return found[1]

    @cached_property
    def uses(self) -> Uses:
        return Uses(self.node.body, self.leaves)

    @cached_property
    def taken(self) -> set[str]:
        nodes = asts.walk(self.node.args)
        names = {n.id for n in nodes if isinstance(n, ast.Name)} | self.arguments
        for d in self.node.decorator_list:
            names |= asts.names(d)
        return names.union(*(leaf.names for leaf in self.every_leaf))

    def fresh(self, want: str) -> str:
        name, k = want, 1
        while name in self.taken:
            k += 1
            name = f"{want}_{k}"
        self.taken.add(name)
        return name


def _parts(s: ast.stmt) -> tuple[list[ast.expr], list[ast.stmt]] | None:
    """The expressions in the head of a loop over a range or of a branch, and the statements in
    it; None of other loops."""
    match s:
        case ast.For(ast.Name(), ast.Call(ast.Name("range"), args), body, []):
            return args, body
        case ast.If(test, body, orelse):
            return [test], [*body, *orelse]
    return None


def _extents(shape: ast.expr, lengths: set[str]) -> int:
    """How many numbers a shape has; 0 when that can't be seen."""
    match shape:
        case ast.Tuple(items):
            return len(items)
        case ast.Name(name) if name in lengths:
            return 1
        case ast.Constant(int()) | ast.Subscript(ast.Attribute(_, "shape")) | ast.BinOp():
            return 1
        case ast.Call(ast.Name("max" | "len")):
            return 1
    return 0


def _blocks(block: list[ast.stmt]) -> list[list[ast.stmt]]:
    found: list[list[ast.stmt]] = []
    for s in block:
        if s.__class__ in SIMPLE:
            continue
        for inner in parts_of(s):
            if inner:
                found += _blocks(inner)
    return [*found, block]
