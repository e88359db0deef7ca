"""A loop whose iterations don't depend on one another is reversed iteration by iteration.

`for i: forward; ...; for i: reverse` becomes `for i: forward; reverse`, as a person writes it:
what was kept for every iteration is kept for one, in a variable where it can be.  Nothing is
computed twice.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.numbers import numbers
from srcgrad.transform.loops.facts.order import (
    apart,
    commutes,
    never_negative,
    same_range,
)
from srcgrad.transform.loops.facts.outline import is_compound, statements
from srcgrad.transform.loops.facts.private import is_private
from srcgrad.transform.loops.facts.summaries import Access
from srcgrad.transform.loops.facts.sweeps import is_middle
from srcgrad.transform.loops.facts.tapes import Tape, between, binders, remove, shrink, without
from srcgrad.transform.loops.facts.uses import Uses

_BACK = "---- and back ----"


def fuse(fn: Function) -> None:
    """`for i in range(n): t = e; t_tape[i] = t` with its reverse: one loop without a tape."""
    blocks = [(fn.node.body, is_middle)]
    while blocks:
        block, is_marker = blocks.pop()
        for loop in _joined(fn, block, is_marker):
            blocks.append((loop.body, _is_back))
        fn = fn.again()


def _is_back(s: ast.stmt) -> bool:
    return isinstance(s, Comment) and s.text == _BACK


def _joined(
    fn: Function, block: list[ast.stmt], is_marker: Callable[[ast.stmt], bool]
) -> list[ast.For]:
    """The loops of a block that each were two, on both sides of where it turns back."""
    middle = next((k for k, s in enumerate(block) if is_marker(s)), None)
    if middle is None:
        return []
    marker, out = block[middle], []
    arrays = _made_empty(fn.node.body)
    names = fn.leaves.names
    ahead_of = {id(s): names(s) & arrays for s in block[:middle] if isinstance(s, ast.For)}
    for backward in [s for s in block[middle:] if isinstance(s, ast.For)]:
        tapes = names(backward) & arrays
        for ahead in [s for s in block[: block.index(marker)] if isinstance(s, ast.For)]:
            if not tapes & ahead_of[id(ahead)]:
                continue
            made = _Pair(fn, ahead, backward, block)
            if made.belongs() and made.fits():
                made.join()
                out.append(backward)
                fn = fn.again()
                break
    if block[0] is marker:  # nothing is left ahead of it
        block.remove(marker)
    return out


def _made_empty(body: list[ast.stmt]) -> set[str]:
    """The arrays that a function allocates and leaves to be filled: tapes are among them."""
    out: set[str] = set()
    for s in body:
        match s:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Name("np"), "empty"))):
                out.add(name)
    return out


@dataclass
class _Pair:
    """A loop of the forward sweep and the loop that reverses it."""

    fn: Function
    ahead: ast.For
    backward: ast.For
    block: list[ast.stmt]  # that both are in
    tapes: list[Tape] = field(default_factory=list)
    dropped: list[Tape] = field(default_factory=list)  # their records restore nothing needed
    ascending: bool = False  # the reverse iterations commute

    @property
    def counter(self) -> str:
        assert isinstance(self.ahead.target, ast.Name)
        return self.ahead.target.id

    def belongs(self) -> bool:
        """Whether one loop reads, iteration by iteration, what the other recorded."""
        if not same_range(self.ahead, self.backward):
            return False
        if not self.fn.is_plain([self.ahead, self.backward]):
            return False
        found = between(self.fn, self.ahead, self.backward)
        self.tapes = found or []
        return bool(found)

    # ---- whether it is right ----

    def fits(self) -> bool:
        start, end = self.block.index(self.ahead), self.block.index(self.backward)
        middle = self.block[start + 1 : end]
        self.dropped = self._restoring()
        forward = without(self.ahead.body, self.dropped)
        reverse = without(self.backward.body, self.dropped)
        self.ascending = self._commutes(reverse)
        return (
            self._numbers(forward, reverse, middle)
            and self._arrays(forward, reverse, middle)
            and self._bounds_hold(middle)
        )

    def _commutes(self, reverse: list[ast.stmt]) -> bool:
        if not self.dropped:
            return commutes(self.fn, self.backward)
        whole, self.backward.body = self.backward.body, reverse
        try:
            return commutes(self.fn.again(), self.backward)
        finally:
            self.backward.body = whole

    def _restoring(self) -> list[Tape]:
        """The tapes that put a variable back only for the iteration before, which now binds it
        itself."""
        found: dict[str, list[Tape]] = {}
        for t in self.tapes:
            v = t.variable
            if v is not None and not self._reads_again(t, v):
                found.setdefault(v, []).append(t)
        forward = without(self.ahead.body, [t for tapes in found.values() for t in tapes])
        uses = Uses(forward, self.fn.leaves) if found else None
        out: list[Tape] = []
        for v, tapes in sorted(found.items()):
            assert uses is not None
            if not self.fn.live_after([v], self.backward):
                out += tapes if uses.is_always_bound_first(forward, v) else []
        return out

    def _reads_again(self, tape: Tape, v: str) -> bool:
        behind = self._behind
        return any(behind.live_after(s) & behind.some([v]) for s in tape.loads)

    @cached_property
    def _behind(self) -> Uses:
        return Uses(self.backward.body, self.fn.leaves)

    def _numbers(
        self, forward: list[ast.stmt], reverse: list[ast.stmt], middle: list[ast.stmt]
    ) -> bool:
        """Whether the forward iterations share no variable, and nothing else changes theirs."""
        got = self.fn.summary(forward)
        back = self.fn.summary(reverse)
        if self.counter in got.assigned | got.added | back.assigned | back.added:
            return False
        bound_later = {n for s in middle for n in self.fn.leaves.bound(s)}
        ahead, during, behind = (
            Uses(block, self.fn.leaves) for block in (forward, middle, reverse)
        )
        if not got.added <= numbers(self.fn):
            return False
        for v in got.assigned | got.added:
            if v in got.added and v not in got.assigned:
                if not self._is_unused_sum(v, got.read, back.read, middle):
                    return False
                continue
            if not ahead.is_always_bound_first(forward, v) or during.is_read_first(middle, v):
                return False
            if self.fn.live_after([v], self.backward):
                return False
            if v in bound_later and behind.is_read_first(reverse, v):
                return False
        needed = got.read - got.assigned - got.added
        return not needed & (back.assigned | back.added | bound_later)

    def _is_unused_sum(
        self, v: str, read: set[str], read_back: set[str], middle: list[ast.stmt]
    ) -> bool:
        """Whether a sum that the loop makes is looked at by nobody before both loops are over;
        its terms keep their order if anybody looks at it then."""
        if v in read or v in read_back or any(v in self.fn.leaves.names(s) for s in middle):
            return False
        return self.ascending or not self.fn.live_after([v], self.backward)

    def _arrays(
        self, forward: list[ast.stmt], reverse: list[ast.stmt], middle: list[ast.stmt]
    ) -> bool:
        uses: dict[str, list[Access]] = {}
        for a in self.fn.summary(forward).accesses:
            uses.setdefault(self.fn.root(a.array), []).append(a)
        back: dict[str, list[Access]] = {}
        for a in self.fn.summary(reverse).accesses:
            back.setdefault(self.fn.root(a.array), []).append(a)
        changed = {self.fn.root(n) for n in _changed(self.fn, middle)}
        for root, found in uses.items():
            again = back.get(root, [])
            if all(a.kind == "read" for a in (*found, *again)):
                if root in changed:
                    return False
                continue
            if any(_uses_contents(s, self.fn, root) for s in middle):
                return False
            if apart([*found, *again], self.counter) and never_negative(self.fn, self.ahead):
                continue
            if all(a.kind == "read" for a in found):
                return False  # the reverse changes what later iterations read
            names = {a.array for a in (*found, *again)}
            if len(names) > 1 or not is_private(self.fn, self.ahead, forward, found[0].array):
                return False
            if any(_uses_contents(s, self.fn, root) for s in self._after()):
                return False
        return True

    def _after(self) -> list[ast.stmt]:
        """What runs after both loops: with a loop around them, anything that is not in them."""
        body = self.fn.node.body
        if self.block is body:
            return body[body.index(self.backward) + 1 :]
        inside = {id(s) for s in statements([self.ahead, self.backward])}
        return [
            s
            for s in self.fn.statements
            if id(s) not in inside and not is_compound(s) and not _is_allocation(s)
        ]

    def _bounds_hold(self, middle: list[ast.stmt]) -> bool:
        """Whether the range of the loop is the same when it runs later."""
        used = asts.names(self.ahead.iter)
        return not any(used & self.fn.leaves.bound(s) for s in middle)

    # ---- the change ----

    def join(self) -> None:
        self.block.remove(self.ahead)
        for t in self.dropped:
            remove(self.fn, t, self.ahead, self.backward)
        both = [*self.ahead.body, Comment(_BACK), *self.backward.body]
        self.backward.body = both
        if self.ascending:
            self.backward.iter = self.ahead.iter
        several = getattr(self.backward, "srcgrad_parallel", False)  # rounds run at once
        bound = binders(self.backward)
        for t in self.tapes:
            if t not in self.dropped and not (several and t.has_rows):
                shrink(self.fn, t, self.backward, bound)


def _is_allocation(s: ast.stmt) -> bool:
    match s:
        case ast.Assign([ast.Name()], ast.Call(ast.Attribute(ast.Name("np"), "empty" | "zeros"))):
            return True
    return False


def _changed(fn: Function, block: list[ast.stmt]) -> set[str]:
    """The names of arrays whose contents statements may change."""
    out: set[str] = set()
    for top in block:
        for s in asts.walk(top):
            match s:
                case ast.Assign(targets):
                    out |= {n for t in targets for n in asts.names(t)}
                case ast.AugAssign(target):
                    out |= asts.names(target)
                case ast.Call(func) if not _is_pure(func):
                    out |= asts.names(s)
                case ast.keyword("out", value):
                    out |= asts.names(value)
                case ast.Expr():
                    out |= asts.names(s)
    return out


def _is_pure(func: ast.expr) -> bool:
    match func:
        case ast.Name("range" | "len" | "max" | "min" | "abs" | "float" | "int" | "bool"):
            return True
        case ast.Attribute(ast.Name("np" | "math"), _):
            return True
        case ast.Attribute(_, "copy" | "sum" | "astype" | "dot"):
            return True
    return False


def _uses_contents(s: ast.stmt, fn: Function, root: str) -> bool:
    """Whether a statement may look at an array's elements, not only at its shape."""
    return any(fn.root(name) == root for leaf in fn.leaves.within(s) for name in leaf.contents)


__all__ = ["fuse"]
