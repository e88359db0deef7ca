"""Arrays that each round of a loop makes for itself are made once, before the loop."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.kept import Sweeps
from srcgrad.transform.loops.facts.outline import statements
from srcgrad.transform.loops.facts.private import is_private
from srcgrad.transform.loops.facts.summaries import is_element


def lift(fn: Function) -> None:
    """`for i: a = np.zeros(3); a[0] = e` becomes `a = np.empty(3)` and
    `for i: for k in range(3): a[k] = 0.0; a[0] = e`."""
    todo = [s for s in fn.statements if _is_allocation(s) and fn.owners(s)]
    for s in todo:
        assert isinstance(s, ast.Assign)
        made = _Local(fn, s)
        if made.fits():
            made.move()
            fn = fn.again()


def _is_allocation(s: ast.stmt) -> bool:
    match s:
        case ast.Assign(
            [ast.Name()],
            ast.Call(
                ast.Attribute(ast.Name("np"), "zeros" | "empty"),
                [_] | [_, _],
                [] | [ast.keyword("dtype", _)],
            ),
        ):
            return True
    return False


class _Kept:
    """The list that keeps an array of each round, when it does it for its shape alone."""

    def __init__(self, fn: Function, array: str) -> None:
        self.fn = fn
        self.array = array
        sweeps = Sweeps(fn)
        self.push = [s for s in statements(sweeps.ahead) if _is_push(s, array)]
        self.pull = [s for s in statements(sweeps.back) if _list_of(s, array)]
        self.list = _list_of(self.pull[0], array) if self.pull else ""
        self.made = [s for s in fn.node.body if _is_list(s, self.list)]

    def is_whole(self) -> bool:
        """Whether the list has no other use, and no element of the array is read back from it."""
        if not len(self.push) == len(self.pull) == len(self.made) == 1:
            return False
        names = (n for leaf in self.fn.every_leaf for n in leaf.nodes if isinstance(n, ast.Name))
        if sum(n.id == self.list for n in names) != 3:
            return False
        back = Sweeps(self.fn).back
        leaves = self.fn.leaves.of_block(back)
        return all(
            self.array not in leaf.contents for leaf in leaves if leaf.node is not self.pull[0]
        )

    def remove(self) -> None:
        for block in self.fn.blocks():
            for s in (self.push[0], self.pull[0], self.made[0]):
                if s in block:
                    block.remove(s)
                    if not block:
                        block.append(ast.Pass())


def _is_push(s: ast.stmt, array: str) -> bool:
    match s:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(), "append"), [ast.Name(name)], [])):
            return name == array
    return False


def _list_of(s: ast.stmt, array: str) -> str:
    match s:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Name(tape), "pop"), [], [])):
            return tape if name == array else ""
    return ""


def _is_list(s: ast.stmt, name: str) -> bool:
    match s:
        case ast.Assign([ast.Name(found)], ast.List([])):
            return found == name
    return False


@dataclass
class _Local:
    """An array that is made in a loop."""

    fn: Function
    made: ast.Assign
    extents: list[ast.expr] = field(default_factory=list)
    kept: _Kept | None = None

    @property
    def name(self) -> str:
        assert isinstance(self.made.targets[0], ast.Name)
        return self.made.targets[0].id

    @property
    def call(self) -> ast.Call:
        assert isinstance(self.made.value, ast.Call)
        return self.made.value

    @property
    def dtype(self) -> list[ast.expr]:
        """The type of the elements, if it is said."""
        return [*self.call.args[1:], *(k.value for k in self.call.keywords)]

    def fits(self) -> bool:
        """Whether nobody holds the array itself, and all rounds make it of one size."""
        owners = list(self.fn.owners(self.made))
        if not owners or any(getattr(s, "srcgrad_parallel", False) for s in owners):
            return False
        if not any(isinstance(s, ast.For | ast.While) for s in owners):
            return False
        self.extents = self._extents()
        used = {n for e in (*self.extents, *self.dtype) for n in asts.names(e)}
        if not self.extents or used & self.fn.leaves.bound(owners[-1]):
            return False
        if any(self._calls(e) for e in (*self.extents, *self.dtype)):
            return False
        kept = _Kept(self.fn, self.name)
        self.kept = kept if kept.is_whole() else None
        times = 1 if self.kept is None else 2
        return self.fn.bindings[self.name] == times and self._only_elements()

    def _extents(self) -> list[ast.expr]:
        match self.call.args[0]:
            case ast.Tuple(items):
                return items
            case ast.Attribute(ast.Name(other), "shape") as shape:
                known = self._constants(other)
                if known:
                    return known
                ndim = self.fn.ndims.get(other, 0)
                return [
                    ast.Subscript(asts.copied(shape), ast.Constant(d), ast.Load())
                    for d in range(ndim)
                ]
            case ast.Name() as e if self.fn.ndims.get(self.name) == 1:
                return [e]
            case ast.Constant(int()) | ast.Subscript(ast.Attribute(_, "shape")) as e:
                return [e]
        return []

    def _constants(self, array: str) -> list[ast.expr]:
        """The extents of an array that is made once, with numbers for its size."""
        if self.fn.bindings[array] != 1:
            return []
        for s in self.fn.node.body:
            match s:
                case ast.Assign([ast.Name(name)], ast.Call(_, [shape, *_])) if (
                    name == array and _is_allocation(s)
                ):
                    items = shape.elts if isinstance(shape, ast.Tuple) else [shape]
                    if all(isinstance(i, ast.Constant) for i in items):
                        return [asts.copied(i) for i in items]
        return []

    def _calls(self, e: ast.expr) -> bool:
        return any(isinstance(n, ast.Call) for n in asts.walk(e))

    def _only_elements(self) -> bool:
        allowed: list[ast.stmt] = [self.made]
        if self.kept is not None:
            allowed += [*self.kept.push, *self.kept.pull]
        for leaf in self.fn.every_leaf:
            if self.name not in leaf.names or any(leaf.node is s for s in allowed):
                continue
            elements = {
                id(n.value)
                for n in leaf.nodes
                if isinstance(n, ast.Subscript) and self._is_element(n)
            }
            shapes = {
                id(n.value)
                for n in leaf.nodes
                if isinstance(n, ast.Attribute) and n.attr in ("shape", "dtype")
            }
            mine = (n for n in leaf.nodes if isinstance(n, ast.Name) and n.id == self.name)
            if any(id(n) not in elements | shapes for n in mine):
                return False
        return True

    def _is_element(self, n: ast.Subscript) -> bool:
        items = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
        return len(items) == len(self.extents) and is_element(n.slice)

    # ---- the change ----

    def move(self) -> None:
        fn = self.fn
        owners = list(fn.owners(self.made))
        body = fn.node.body
        sizes = [_size(e) for e in self.extents]
        shape = sizes[0] if len(sizes) == 1 else syn.tuple_of(sizes)
        made = syn.call("np.empty", shape, *self.dtype)
        block = next(
            b
            for b in (getattr(owners[0], name, None) for name in ("body", "orelse"))
            if b and self.made in b
        )
        k = block.index(self.made)
        zeros = self._zeros()
        block[k : k + 1] = zeros or [ast.Pass()]
        body.insert(body.index(owners[-1]), syn.assign(self.name, made))
        if self.kept is not None:
            self.kept.remove()
        if zeros and isinstance(owners[0], ast.For):
            rest = [s for s in owners[0].body if s is not zeros[0]]
            if zeros[0] in owners[0].body and is_private(fn.again(), owners[0], rest, self.name):
                owners[0].body = rest

    def _zeros(self) -> list[ast.stmt]:
        assert isinstance(self.call.func, ast.Attribute)
        if self.call.func.attr == "empty":
            return []
        counters = [self.fn.fresh(f"j{d + 1}") for d in range(len(self.extents))]
        names = [syn.name(c) for c in counters]
        key = names[0] if len(names) == 1 else syn.tuple_of(names)
        place = ast.Subscript(syn.name(self.name), key, ast.Load())
        s = syn.assign(place, ast.Constant(0.0))
        for counter, extent in zip(counters[::-1], self.extents[::-1], strict=True):
            over = syn.call("range", asts.copied(extent))
            s = ast.For(ast.Name(counter, ast.Store()), over, [s], [])
        return [s]


def _size(e: ast.expr) -> ast.expr:
    """An extent of which a loop that never runs may not have the right one."""
    if isinstance(e, ast.Name):
        return syn.call("max", asts.copied(e), ast.Constant(0))
    return asts.copied(e)


__all__ = ["lift"]
