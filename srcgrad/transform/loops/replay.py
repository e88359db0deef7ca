"""What a round of a loop computes is computed again in its reverse, from the state at its head.

A round that keeps several numbers for each element of the arrays that it carries on is cheaper to
run a second time: only these arrays are kept, and what a tape held for all rounds is held for one.
(Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 12: recomputation instead of
storage, here with one round between a checkpoint and its use.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from srcgrad.ir import asts
from srcgrad.ir.comments import Comment
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.indices import counter_in
from srcgrad.transform.loops.facts.order import commutes, is_innermost, same_range
from srcgrad.transform.loops.facts.outline import statements
from srcgrad.transform.loops.facts.private import is_private
from srcgrad.transform.loops.facts.slices import sliced
from srcgrad.transform.loops.facts.sweeps import is_middle
from srcgrad.transform.loops.facts.tapes import Tape, between, binders, shrink, without
from srcgrad.transform.loops.facts.uses import Uses

_WORTH = 3  # tapes that an array which is carried on has to stand for
_CHEAP = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def replay(fn: Function) -> None:
    """`for k: t = y[i] + h; t_tape[k, i] = t` keeps y[i] instead; the reverse of each round
    begins with `t = y[i] + h`."""
    body = fn.node.body
    middle = next((k for k, s in enumerate(body) if is_middle(s)), None)
    if middle is None:
        return
    for ahead in [s for s in body[:middle] if isinstance(s, ast.For)]:
        for backward in [s for s in body[middle:] if isinstance(s, ast.For)]:
            if ahead in body and same_range(ahead, backward):
                made = _Replay(fn, ahead, backward)
                if made.belongs() and made.fits():
                    made.change()
                    fn = fn.again()
                    break


@dataclass
class _Replay:
    """A loop of the forward sweep, and the loop that reverses it."""

    fn: Function
    ahead: ast.For
    backward: ast.For
    tapes: list[Tape] = field(default_factory=list)
    again: list[ast.stmt] = field(default_factory=list)  # what runs again in each round
    state: list[str] = field(default_factory=list)  # the arrays that a round reads and changes

    @property
    def counter(self) -> ast.expr:
        return self.ahead.target

    def belongs(self) -> bool:
        """Whether one loop reads what the other recorded, and what that was runs again."""
        fn = self.fn
        if any(getattr(s, "srcgrad_parallel", False) for s in (self.ahead, self.backward)):
            return False
        if not fn.is_plain([self.ahead, self.backward]):
            return False
        self.tapes = between(fn, self.ahead, self.backward)
        names = {t.name for t in self.tapes}
        self.again, _ = sliced(fn, self.ahead.body, names)
        return bool(names) and all(map(self._runs_again, statements(self.again)))

    def _runs_again(self, s: ast.stmt) -> bool:
        """Whether a statement is cheap, and LLVM takes several rounds of a loop at once."""
        if isinstance(s, ast.For):
            return not is_innermost(s) or commutes(self.fn, self._original(s))
        if isinstance(s, ast.If):
            return False
        nodes = asts.walk(s)
        ops = [n.op for n in nodes if isinstance(n, ast.BinOp | ast.AugAssign)]
        calls = any(isinstance(n, ast.Call | ast.IfExp) for n in nodes)
        return not calls and all(isinstance(op, _CHEAP) for op in ops)

    def _original(self, loop: ast.For) -> ast.For:
        """The loop of the forward sweep that a part of the replay was taken from."""
        return next(
            s for s in statements([self.ahead]) if isinstance(s, ast.For) and s.iter is loop.iter
        )

    # ---- whether it is right, and better ----

    def fits(self) -> bool:
        body = self.fn.node.body
        between_them = body[body.index(self.ahead) + 1 : body.index(self.backward)]
        reverse = without(self.backward.body, self.tapes)
        return (
            self._numbers(reverse, between_them)
            and self._arrays(reverse, between_them)
            and self._pays()
        )

    def _numbers(self, reverse: list[ast.stmt], middle: list[ast.stmt]) -> bool:
        """Whether a round makes all its numbers itself, and the reverse has its own."""
        fn = self.fn
        got, back = fn.summary(self.again), fn.summary(reverse)
        bound_later = {n for s in middle for n in fn.leaves.bound(s)}
        bound = got.assigned | got.added
        ahead, behind = Uses(self.again, fn.leaves), Uses(self.backward.body, fn.leaves)
        for v in bound:
            if not ahead.is_always_bound_first(self.again, v):
                return False
            if behind.is_read_first(self.backward.body, v) or fn.live_after([v], self.backward):
                return False
        changed = fn.leaves.bound(self.ahead) | back.assigned | back.added | bound_later
        used = (got.read | asts.names(self.ahead.iter)) - bound
        assert isinstance(self.counter, ast.Name)
        return not used - {self.counter.id} & changed and self.counter.id not in bound

    def _arrays(self, reverse: list[ast.stmt], middle: list[ast.stmt]) -> bool:
        """Whether the arrays that a round reads are as they were, made by itself, or kept."""
        fn = self.fn
        tapes = {t.name for t in self.tapes}
        got = fn.summary(self.again)
        changed = {a.array for a in got.accesses if a.kind != "read"} - tapes
        read = {a.array for a in got.accesses if a.kind != "store"} - tapes
        after = fn.node.body[fn.node.body.index(self.backward) + 1 :]
        for array in sorted(changed | read):
            written = self._is_stored(array, [self.ahead])
            if not written:
                if self._is_stored(array, [*middle, *reverse]):
                    return False
                continue
            if not self._is_own(array) or self._mentions(array, [*reverse, *after]):
                return False
            if array in read and not is_private(fn, self.ahead, self.again, array):
                self.state.append(array)
        return True

    def _is_stored(self, array: str, block: list[ast.stmt]) -> bool:
        root = self.fn.root(array)
        for leaf in self.fn.leaves.of_block(block):
            if not leaf.summary.plain and any(self.fn.root(n) == root for n in leaf.contents):
                return True
            for a in leaf.summary.accesses:
                if a.kind != "read" and self.fn.root(a.array) == root:
                    return True
            if any(self.fn.root(n) == root for n in leaf.bound):
                return True
        return False

    def _mentions(self, array: str, block: list[ast.stmt]) -> bool:
        return any(array in leaf.contents for leaf in self.fn.leaves.of_block(block))

    def _is_own(self, array: str) -> bool:
        """Whether an array is made once, before the loop, and has no other name."""
        body = self.fn.node.body
        made = [s for s in body[: body.index(self.ahead)] if _makes(s, array)]
        return (
            len(made) == 1
            and self.fn.bindings[array] == 1
            and self.fn.is_alone(array)
            and array in self.fn.ndims
        )

    def _pays(self) -> bool:
        """Whether the tapes hold much more than the state."""
        most = max(_rank(t) for t in self.tapes)
        mine = [self.fn.ndims[array] for array in self.state]
        if most == 0 or max(mine, default=0) > most:
            return False
        large = sum(_rank(t) == most for t in self.tapes)
        return large >= _WORTH * max(1, mine.count(most))

    # ---- the change ----

    def change(self) -> None:
        recorded = {id(s) for t in self.tapes for s in t.stores}
        again, back = _copied(self.again, recorded), self.backward.body
        self.ahead.body = without(self.ahead.body, self.tapes)
        before, behind = self._kept()
        self.ahead.body[:0] = before
        self.backward.body = [*behind, *again, Comment("---- and back ----"), *back]
        bound = binders(self.backward)
        for tape in sorted(self.tapes, key=_rank, reverse=True):  # numbers last: they move blocks
            single = tape.has_rows and len(tape.stores) == 1
            shrink(self.fn, tape, self.backward, bound)
            if single:
                _read_again(self.fn, tape, again, back)

    def _kept(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The loops that keep the state of a round, and those that put it back."""
        fn = self.fn
        body = fn.node.body
        first = self.tapes[0]
        assert isinstance(first.made.value, ast.Call)
        rounds = asts.items(first.made.value.args[0])[0]
        at = first.keys[0][0]
        out: tuple[list[ast.stmt], list[ast.stmt]] = ([], [])
        most = max(map(self._ndim, self.state), default=0)
        counters = [fn.fresh(f"j{d + 1}") for d in range(most)]
        for array in self.state:
            tape, extents = fn.fresh(f"{array}_tape"), _extents(array, self._ndim(array))
            names: list[ast.expr] = [syn.name(c) for c in counters[: len(extents)]]
            shape = syn.tuple_of([asts.copied(rounds), *extents])
            dtype = syn.expr("a.dtype", a=syn.name(array))
            made = syn.assign(tape, syn.call("np.empty", shape, dtype))
            body.insert(body.index(self.ahead), made)
            element = _element(array, names)
            kept = _element(tape, [asts.copied(at), *names])
            for block, target, value in ((out[0], kept, element), (out[1], element, kept)):
                block.append(_nest(syn.assign(target, value), counters, extents))
        return out

    def _ndim(self, array: str) -> int:
        return self.fn.ndims[array]


def _makes(s: ast.stmt, array: str) -> bool:
    match s:
        case ast.Assign([ast.Name(name)], ast.Call()):
            return name == array
    return False


def _rank(tape: Tape) -> int:
    """How many dimensions the part of one round has."""
    return len(tape.keys[0]) - 1


def _extents(array: str, ndim: int) -> list[ast.expr]:
    return [syn.expr("a.shape[d]", a=syn.name(array), d=ast.Constant(d)) for d in range(ndim)]


def _element(array: str, items: list[ast.expr]) -> ast.expr:
    key = items[0] if len(items) == 1 else ast.Tuple(list(items), ast.Load())
    return ast.Subscript(syn.name(array), key, ast.Load())


def _nest(s: ast.stmt, counters: list[str], extents: list[ast.expr]) -> ast.stmt:
    for counter, extent in reversed(list(zip(counters, extents, strict=False))):
        over = syn.call("range", asts.copied(extent))
        s = ast.For(ast.Name(counter, ast.Store()), over, [s], [])
    return s


def _copied(block: list[ast.stmt], shared: set[int]) -> list[ast.stmt]:
    """A block of new statements; those whose identities are given move."""
    out: list[ast.stmt] = []
    for s in block:
        if isinstance(s, ast.For):
            body = _copied(s.body, shared)
            out.append(ast.For(asts.copied(s.target), asts.copied(s.iter), body, []))
        else:
            out.append(s if id(s) in shared else asts.copied(s))
    return out


# ---- elements that are still at hand -----------------------------------------------------------


def _read_again(fn: Function, tape: Tape, again: list[ast.stmt], back: list[ast.stmt]) -> None:
    """`t = y[i]; t_tape[i] = t` with `t = t_tape[i]`: the latter becomes `t = y[i]` where y stays
    as it is."""
    record = tape.stores[0]
    found = _place_of(again, record)
    if found is None or not all(isinstance(s.targets[0], ast.Name) for s in tape.loads):
        return
    block, k, top = found
    match block[k - 1] if k else None:
        case ast.Assign([ast.Name(v)], ast.Subscript(ast.Name(array), key) as place) if (
            isinstance(record.value, ast.Name) and v == record.value.id
        ):
            pass
        case _:
            return
    counters = {n for i in tape.keys[0] for n in counter_in(i)}
    own = {n for s in (*again, *back) for n in fn.leaves.bound(s)}
    if asts.names(key) & own - counters or not fn.is_number(array, key):
        return
    rest = [*again[top:], *back]
    if any(a.kind != "read" and a.array == array for a in fn.summary(rest).accesses):
        return
    block.remove(record)
    for load in tape.loads:
        load.value = asts.copied(place)
        fn.leaves.forget(load)
    fn.node.body.remove(tape.made)


def _place_of(again: list[ast.stmt], wanted: ast.stmt) -> tuple[list[ast.stmt], int, int] | None:
    """The block that a statement stands in, its position there, and that of what holds it."""
    for top, s in enumerate(again):
        for block in _blocks(s, again):
            for k, one in enumerate(block):
                if one is wanted:
                    return block, k, top
    return None


def _blocks(s: ast.stmt, around: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    yield around
    for inner in statements([s]):
        if isinstance(inner, ast.For):
            yield inner.body


__all__ = ["replay"]
