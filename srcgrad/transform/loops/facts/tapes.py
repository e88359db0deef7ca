"""Tapes in the generated text: which arrays are, and how they shrink when loops are joined."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.outline import statements
from srcgrad.transform.loops.facts.summaries import does_something


@dataclass(eq=False)
class Tape:
    """An array that one loop fills and the loop that reverses it reads, each iteration its own
    part."""

    name: str
    made: ast.Assign
    stores: list[ast.Assign]
    loads: list[ast.Assign]

    @property
    def variable(self) -> str | None:
        """The variable that is kept in it, if it is one and the same."""
        kept = {s.value.id if isinstance(s.value, ast.Name) else None for s in self.stores}
        back = {
            s.targets[0].id if isinstance(s.targets[0], ast.Name) else None for s in self.loads
        }
        return kept.pop() if kept == back and len(kept) == 1 else None

    @property
    def has_rows(self) -> bool:
        """Whether it keeps more than one number for each iteration."""
        return len(self.keys[0]) > 1

    @property
    def keys(self) -> list[list[ast.expr]]:
        """The indices of each place where it is used."""
        return [asts.items(s.slice) for s in _subscripts(self)]


def between(fn: Function, ahead: ast.For, backward: ast.For) -> list[Tape]:
    """The tapes that a loop fills and the other one reads, and nothing else uses."""
    assert isinstance(ahead.target, ast.Name)
    stores, loads = _by_array(ahead, "target"), _by_array(backward, "value")
    out: list[Tape] = []
    for s in fn.node.body:
        match s:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Name("np"), "empty"))):
                filled, read = stores.get(name, []), loads.get(name, [])
                if filled and read and fn.mentions[name] == 1 + len(filled) + len(read):
                    made = Tape(name, s, filled, read)
                    if _has_own_parts(made, ahead.target.id):
                        out.append(made)
    return out


def _by_array(loop: ast.For, side: str) -> dict[str, list[ast.Assign]]:
    """The assignments to, or of, an element of each array."""
    out: dict[str, list[ast.Assign]] = {}
    for s in statements([loop]):
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            match s.targets[0] if side == "target" else s.value:
                case ast.Subscript(ast.Name(name), _):
                    out.setdefault(name, []).append(s)
    return out


def _element(e: ast.expr, name: str) -> ast.Subscript | None:
    match e:
        case ast.Subscript(ast.Name(n), _) if n == name:
            return e
    return None


def _has_own_parts(tape: Tape, counter: str) -> bool:
    """Whether each iteration has its own part: the first index says which."""
    first = {ast.dump(k[0]) for k in tape.keys}
    counts = {len(k) for k in tape.keys}
    return len(first) == 1 and len(counts) == 1 and _is_place(tape.keys[0][0], counter)


def _subscripts(tape: Tape) -> list[ast.Subscript]:
    found = [_element(s.targets[0], tape.name) for s in tape.stores]
    found += [_element(s.value, tape.name) for s in tape.loads]
    return [s for s in found if s is not None]


def _is_place(e: ast.expr, counter: str) -> bool:
    match e:
        case ast.Name(n):
            return n == counter
        case ast.BinOp(ast.Name(n), ast.Sub(), low):
            return n == counter and counter not in asts.names(low)
    return False


# ---- changes -----------------------------------------------------------------------------------


def without(block: Sequence[ast.stmt], tapes: Sequence[Tape]) -> list[ast.stmt]:
    """A block as it is without records and what reads them; the original stays."""
    gone = {id(s) for t in tapes for s in (*t.stores, *t.loads)}
    return _filtered(block, gone) if gone else list(block)


def _filtered(block: Sequence[ast.stmt], gone: set[int]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for s in block:
        if id(s) in gone:
            continue
        match s:
            case ast.For(target, it, body, orelse):
                s = ast.For(target, it, _filtered(body, gone) or [ast.Pass()], orelse)
            case ast.If(test, body, orelse):
                arms = _filtered(body, gone), _filtered(orelse, gone)
                then, other = [arm if any(map(does_something, arm)) else [] for arm in arms]
                if not then and not other:
                    continue
                s = ast.If(test, then or [ast.Pass()], other)
        out.append(s)
    return out


def remove(fn: Function, tape: Tape, *loops: ast.For) -> None:
    """Take a tape out of the function."""
    fn.node.body.remove(tape.made)
    for loop in loops:
        loop.body = without(loop.body, [tape])


Binders = dict[str, list[ast.stmt]]


def binders(loop: ast.For) -> Binders:
    """For each name the statements of a loop that bind it or add to it."""
    out: Binders = {}
    for s in statements([loop]):
        for name in _bound(s):
            out.setdefault(name, []).append(s)
    return out


def shrink(fn: Function, tape: Tape, loop: ast.For, bound: Binders) -> None:
    """Keep one iteration's part only: filled and read by one iteration of one loop.  `bound`
    are the `binders` of the loop, which follow."""
    if len(tape.keys[0]) > 1:
        _drop_dimension(tape)
        fn.leaves.forget(tape.made, *tape.stores, *tape.loads)
        return
    held = [s for s in tape.loads if _is_held(tape, s, loop, bound)]
    tape.loads = [s for s in tape.loads if s not in held]
    gone = held if tape.loads else [*held, *tape.stores]
    loop.body = _filtered(loop.body, {id(s) for s in gone}) if gone else loop.body
    for v in {v for s in held for v in _bound(s)}:
        bound[v] = [s for s in bound[v] if s not in held]
    fn.node.body.remove(tape.made)
    if tape.loads:
        for s in tape.stores:
            s.targets = [ast.Name(tape.name, ast.Store())]
        for s in tape.loads:
            s.value = syn.name(tape.name)
        fn.leaves.forget(*tape.stores, *tape.loads)


def _drop_dimension(tape: Tape) -> None:
    for place in _subscripts(tape):
        rest = asts.items(place.slice)[1:]
        place.slice = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())
    call = tape.made.value
    assert isinstance(call, ast.Call) and isinstance(call.args[0], ast.Tuple)
    rest = call.args[0].elts[1:]
    call.args[0] = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())


def _is_held(tape: Tape, load: ast.Assign, loop: ast.For, bound: Binders) -> bool:
    """Whether a variable still holds what is read back: it is bound once in the iteration, next
    to the record.  One that is recorded under another name has the same value since then."""
    target = load.targets[0]
    if not isinstance(target, ast.Name):
        return False
    others = [s for s in bound.get(target.id, ()) if s not in tape.loads]
    if _is_next(tape, load, loop.body):
        return True
    if len(others) != 1 or isinstance(others[0], ast.For):
        return False
    for record in tape.stores:
        found = _path(loop.body, record)
        own = target.id in asts.names(record.value)
        if found is None or others[0] not in (found[0][: found[1]] if own else found[0]):
            return False
    return True


def _is_next(tape: Tape, load: ast.Assign, block: list[ast.stmt]) -> bool:
    """Whether a variable is recorded and read back in one block, and not bound in between."""
    if len(tape.stores) != 1 or tape.stores[0] not in block or load not in block:
        return False
    (name,) = _bound(load)
    start, end = block.index(tape.stores[0]), block.index(load)
    inside = {n for s in block[start + 1 : end] for n in syn.names_bound(s)}
    return start < end and tape.variable == name and name not in inside


def _bound(s: ast.stmt) -> set[str]:
    match s:
        case ast.Assign(targets):
            return {n.id for t in targets for n in _targets(t) if isinstance(n, ast.Name)}
        case ast.AugAssign(ast.Name(name)) | ast.For(ast.Name(name)):
            return {name}
    return set()


def _targets(t: ast.expr) -> list[ast.AST]:
    return [t] if isinstance(t, ast.Name) else [] if isinstance(t, ast.Subscript) else asts.walk(t)


def _path(block: list[ast.stmt], wanted: ast.stmt) -> tuple[list[ast.stmt], int] | None:
    """The block inside another one that a statement stands in, and its position."""
    for k, s in enumerate(block):
        if s is wanted:
            return block, k
        for inner in (getattr(s, "body", None), getattr(s, "orelse", None)):
            found = _path(inner, wanted) if isinstance(inner, list) else None
            if found is not None:
                return found
    return None


__all__ = ["Tape", "between", "binders", "remove", "shrink", "without"]
