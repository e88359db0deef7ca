"""Arrays that every iteration of a loop fills before it reads them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import minus_one, plus_one
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.leaves import Leaves
from srcgrad.transform.loops.facts.outline import SIMPLE, statements

Pattern = tuple[object, ...]  # for each dimension an expression, or a range of the counter


def is_private(fn: Function, loop: ast.For, body: list[ast.stmt], array: str) -> bool:
    """Whether an iteration reads no element of a local array that it did not store itself.

    `body`: what the loop does in an iteration.
    """
    bound = [
        s
        for s in fn.statements
        if isinstance(s, ast.Assign) and any(_is(t, array) for t in s.targets)
    ]
    if len(bound) != 1 or bound[0] not in fn.node.body or bound[0] in statements([loop]):
        return False
    found = _Cover(array, _shape(bound[0].value), fn.leaves)
    found.block(body)
    return found.right


def _is(e: ast.AST, name: str) -> bool:
    return isinstance(e, ast.Name) and e.id == name


def _shape(value: ast.expr) -> list[str] | None:
    match value:
        case ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros" | "ones"), [shape, *_]):
            items = asts.items(shape)
            return [ast.dump(i) for i in items]
    return None


@dataclass
class _Cover:
    """What has been stored so far in an iteration."""

    array: str
    shape: list[str] | None
    leaves: Leaves
    right: bool = True
    stored: list[Pattern] = field(default_factory=list)
    ranges: dict[str, tuple[str, str]] = field(default_factory=dict)
    bounds: dict[str, ast.expr] = field(default_factory=dict)  # of ranges, by their text

    def block(self, body: list[ast.stmt]) -> None:
        for s in body:
            self.statement(s)

    def statement(self, s: ast.stmt) -> None:
        if s.__class__ in SIMPLE and not self.leaves.uses(s, self.array):
            for name in self.leaves.of(s).bound:
                self.forget(syn.name(name))
            return
        match s:
            case ast.Assign([ast.Subscript(ast.Name(n), key)], value) if n == self.array:
                self.reads(key)
                self.reads(value)
                self.stored.append(self.pattern(key))
            case ast.AugAssign(ast.Subscript(ast.Name(n), key) as place, _, value):
                self.reads(value)
                self.reads(key)
                if n == self.array:
                    self.read(place)
            case ast.Assign(targets, value):
                self.reads(value)
                for t in targets:
                    self.reads(t)
                    self.forget(t)
            case ast.AugAssign(target, _, value):
                self.reads(value)
                self.forget(target)
            case ast.If(test, body, orelse):
                self.reads(test)
                for arm in (body, orelse):
                    before = list(self.stored)
                    self.block(arm)
                    self.stored = [p for p in before if p in self.stored]
            case ast.For(ast.Name(counter), ast.Call(_, args), body):
                self.loop(counter, args, body)
            case _:
                self.reads(s)

    def loop(self, counter: str, args: list[ast.expr], body: list[ast.stmt]) -> None:
        for a in args:
            self.reads(a)
        self.forget(ast.Name(counter))
        before, outer = list(self.stored), dict(self.ranges)
        if len(args) < 3:
            low = args[0] if len(args) == 2 else ast.Constant(0)
            self.ranges[counter] = (ast.dump(low), ast.dump(args[-1]))
            self.bounds |= {ast.dump(e): e for e in (low, args[-1])}
        self.block(body)
        inside = [p for p in self.stored if p not in before]
        kept = [p for p in before if p in self.stored]
        made = [self.generalised(p, counter) for p in inside]
        self.ranges = outer
        self.stored = kept + [p for p in made if p is not None]

    def generalised(self, p: Pattern, counter: str) -> Pattern | None:
        """What is stored after the loop, when each iteration stores p."""
        mine = ast.dump(ast.Name(counter, ast.Load()))
        around = self.ranges.get(counter)
        out = tuple(around if item == mine and around is not None else item for item in p)
        if any(isinstance(item, str) and f"'{counter}'" in item for item in out):
            return None
        return out if out != p else None

    def pattern(self, key: ast.expr) -> Pattern:
        items = asts.items(key)
        return tuple(ast.dump(i) for i in items)

    def reads(self, node: ast.AST) -> None:
        for n in asts.walk(node):
            if isinstance(n, ast.Subscript) and _is(n.value, self.array):
                self.read(n)

    def read(self, place: ast.Subscript) -> None:
        wanted = self.pattern(place.slice)
        self.right &= any(self._holds(self._grown(p), wanted) for p in self.stored)

    def _grown(self, p: Pattern) -> Pattern:
        """What a range is a part of, when the elements next to it are stored one by one."""
        for d, item in enumerate(p):
            if isinstance(item, tuple):
                low, high = self.bounds[item[0]], self.bounds[item[1]]
                while _is_above_zero(low) and self._has_stored(p, d, minus_one(low)):
                    low = minus_one(low)
                while self._has_stored(p, d, high):
                    high = plus_one(high)
                p = (*p[:d], (ast.dump(low), ast.dump(high)), *p[d + 1 :])
        return p

    def _has_stored(self, p: Pattern, d: int, index: ast.expr) -> bool:
        return (*p[:d], ast.dump(index), *p[d + 1 :]) in self.stored

    def _holds(self, p: Pattern, wanted: Pattern) -> bool:
        if len(p) != len(wanted):
            return False
        for d, (have, want) in enumerate(zip(p, wanted, strict=True)):
            known = self.shape is not None and len(self.shape) == len(p)
            whole = known and have == (_ZERO, self.shape[d])  # type: ignore[index]
            if have == want or whole:
                continue
            if not isinstance(have, tuple) or self._range_of(want) != have:
                return False
        return True

    def _range_of(self, item: object) -> tuple[str, str] | None:
        for counter, around in self.ranges.items():
            if item == ast.dump(ast.Name(counter, ast.Load())):
                return around
        return None

    def forget(self, target: ast.AST) -> None:
        """A name is bound anew: what was stored at places that it names is not known any more."""
        if isinstance(target, ast.Subscript) or not self.stored:
            return
        for name in asts.names(target):
            self.stored = [
                p
                for p in self.stored
                if not any(f"'{name}'" in text for item in p for text in _texts(item))
            ]


def _is_above_zero(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and isinstance(e.value, int) and e.value > 0


def _texts(item: object) -> tuple[str, ...]:
    return item if isinstance(item, tuple) else (str(item),)


_ZERO = ast.dump(ast.Constant(0))

__all__ = ["is_private"]
