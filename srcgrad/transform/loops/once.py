"""An element that every round of a loop changes and none reads otherwise is kept once."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import plus_one
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.kept import Kept, Sweeps, is_steady
from srcgrad.transform.loops.facts.order import descends, plain_number, runs


def once(fn: Function) -> None:
    """`for k: tape[k] = a[i]; a[i] += e` keeps `a[i]` before the loop over k."""
    sweeps = Sweeps(fn)
    tapes = {k.tape for k in sweeps.kept if sweeps.is_put_back(k.array, k.record)}
    while any(_kept_before(fn, sweeps, one) for one in sweeps.kept if one.tape in tapes):
        fn = fn.again()
        sweeps = Sweeps(fn)


def _kept_before(fn: Function, sweeps: Sweeps, one: Kept) -> bool:
    ahead, back = sweeps.loops(one.record), sweeps.loops(one.restore)
    loops = [s for s in ahead if isinstance(s, ast.For)]
    behind = [s for s in back if isinstance(s, ast.For)]
    if len(loops) != len(ahead) or len(behind) != len(back) or len(loops) != len(behind):
        return False
    names = [_counter(s) for s in loops]
    if names != [_counter(s) for s in behind] or not all(names):
        return False
    if not is_steady(fn, one.key, loops):
        return False
    for d, name in enumerate(names):
        if name not in asts.names(one.key) and _fits(fn, one, loops, behind, d):
            _move(fn, sweeps, one, loops, behind, d)
            return True
    return False


def _counter(s: ast.For) -> str:
    return s.target.id if isinstance(s.target, ast.Name) else ""


def _fits(fn: Function, one: Kept, loops: list[ast.For], behind: list[ast.For], d: int) -> bool:
    """Whether no round of a loop looks at the elements, other than to change them."""
    inner = loops[d + 1 :]
    counter = _counter(loops[d])
    own = {_counter(s) for s in inner}
    changing = syn.names_bound(loops[d]) - own
    if any(changing & asts.names(s.iter) for s in inner):
        return False
    assert isinstance(one.record.targets[0], ast.Subscript)
    index = asts.items(one.record.targets[0].slice)
    shown = [ast.dump(i) for i in index]
    if len(shown) < 2 or shown.count(ast.dump(syn.name(counter))) != 1:
        return False
    for loop, other in ((loops[d], one.record), (behind[d], one.restore)):
        got = fn.summary([loop])
        if not got.plain:
            return False
        if not _others_differ(fn, one, loop, own, other):
            return False
    return True


def _others_differ(fn: Function, one: Kept, loop: ast.For, own: set[str], unit: ast.stmt) -> bool:
    """Whether every other use of the array in a loop is of other elements."""
    ranges = {_counter(s): _range(s) for s in [loop, *fn.owners(loop)] if isinstance(s, ast.For)}
    ranges |= {_counter(s): _range(s) for s in asts.walk(loop) if isinstance(s, ast.For)}
    key = asts.items(one.key)
    skipped = {id(n) for n in asts.walk(unit)} | {id(n) for n in _store_of(loop, one)}
    for n in asts.walk(loop):
        match n:
            case ast.Subscript(ast.Name(array), k) if fn.root(array) == fn.root(one.array):
                if id(n) in skipped:
                    continue
                if not any(
                    not asts.names(a) & own and _differ(a, b, ranges)
                    for a, b in zip(key, asts.items(k), strict=False)
                ):
                    return False
    return True


def _store_of(loop: ast.For, one: Kept) -> list[ast.AST]:
    """The target of the store that the record is for."""
    for s in asts.walk(loop):
        body = getattr(s, "body", None)
        if isinstance(body, list) and one.record in body:
            after = body[body.index(one.record) + 1]
            match after:
                case ast.AugAssign(target) | ast.Assign([target]):
                    if asts.same(target.slice, one.key):  # type: ignore[attr-defined]
                        return [target]
    return []


def _range(s: ast.For) -> tuple[ast.expr, ast.expr] | None:
    """The first and the end of what a counter runs through, upwards."""
    match s.iter:
        case ast.Call(ast.Name("range"), [stop], []):
            return ast.Constant(0), stop
        case ast.Call(ast.Name("range"), [start, stop], []):
            return start, stop
        case ast.Call(ast.Name("range"), [high, low, _], []) if descends(s):
            return plus_one(plain_number(low)), plus_one(high)
    return None


def _differ(a: ast.expr, b: ast.expr, ranges: dict[str, tuple[ast.expr, ast.expr] | None]) -> bool:
    """Whether two indices are surely different numbers, one always below the other."""
    return _below(a, b, ranges) or _below(b, a, ranges)


def _below(a: ast.expr, b: ast.expr, ranges: dict[str, tuple[ast.expr, ast.expr] | None]) -> bool:
    """Whether a < b: b counts from a + 1 or more, or a counts up to b."""
    for mine, other, which in ((b, a, 0), (a, b, 1)):
        if isinstance(mine, ast.Name) and ranges.get(mine.id) is not None:
            around = ranges[mine.id]
            assert around is not None
            if which == 0 and _offset(around[0], other, 1):
                return True
            if which == 1 and _offset(around[1], other, 0):
                return True
    return False


def _offset(e: ast.expr, base: ast.expr, least: int) -> bool:
    """Whether e is base + c with c >= least (for an end: base - c)."""
    if asts.same(e, base):
        return least == 0
    match e:
        case ast.BinOp(left, op, ast.Constant(int(c))) if asts.same(left, base):
            return isinstance(op, ast.Add) and c >= 1 if least else isinstance(op, ast.Sub)
    return False


# ---- the change --------------------------------------------------------------------------------


def _move(
    fn: Function, sweeps: Sweeps, one: Kept, loops: list[ast.For], behind: list[ast.For], d: int
) -> None:
    counter = _counter(loops[d])
    place = one.record.targets[0]
    assert isinstance(place, ast.Subscript)
    at = [ast.dump(i) for i in asts.items(place.slice)].index(ast.dump(syn.name(counter)))
    for s in (place, one.restore.value):
        assert isinstance(s, ast.Subscript)
        s.slice = _without(asts.items(s.slice), at)
    fn.leaves.forget(one.record, one.restore)
    made = next(s for s in fn.node.body if _makes(s, one.tape))
    assert isinstance(made, ast.Assign) and isinstance(made.value, ast.Call)
    shape = made.value.args[0]
    assert isinstance(shape, ast.Tuple)
    made.value.args[0] = _without(shape.elts, at)
    fn.leaves.forget(made)
    for statement, around, after in ((one.record, loops, 0), (one.restore, behind, 1)):
        sweeps.places[id(statement)][0].remove(statement)
        moved: list[ast.stmt] = [statement]
        for inner in reversed(loops[d + 1 :]):
            moved = [ast.For(asts.copied(inner.target), asts.copied(inner.iter), moved, [])]
        outer = fn.around.get(id(around[d]))
        home = fn.node.body if outer is None else outer.body  # type: ignore[attr-defined]
        home.insert(home.index(around[d]) + after, ast.If(runs(loops[d]), moved, []))


def _without(items: list[ast.expr], at: int) -> ast.expr:
    rest = items[:at] + items[at + 1 :]
    return rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())


def _makes(s: ast.stmt, name: str) -> bool:
    match s:
        case ast.Assign([ast.Name(n)], ast.Call()):
            return n == name
    return False


__all__ = ["once"]
