"""The passes; each takes a function and changes its loops in place."""

from __future__ import annotations

import ast
from typing import TypeGuard

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.adjoint.tapes import _plus_one
from srcgrad.transform.loops.accesses import Access, Function, Summary, first_use, summary

# ---- guard -------------------------------------------------------------------------------------


def guard(fn: Function) -> None:
    """`z = 0.0; if b: z += e; for ...: (all linear in z)`: the loop runs only if b."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            if isinstance(s, ast.For):
                test = _decides(fn, block, k)
                if test is not None:
                    block[k] = ast.If(test, [s], [])
            k += 1


def _decides(fn: Function, block: list[ast.stmt], k: int) -> ast.expr | None:
    """The condition without which a loop adds nothing but zeros."""
    loop = block[k]
    assert isinstance(loop, ast.For)
    for name in sorted(_names(loop)):
        found = _set_only_if(block[:k], name)
        if found is not None and _spreads_only(fn, loop, name):
            return asts.copied(found)
    return None


def _set_only_if(before: list[ast.stmt], name: str) -> ast.expr | None:
    """The condition under which `name`, zero before, was added to."""
    test: ast.expr | None = None
    for k in range(len(before) - 1, -1, -1):
        match before[k]:
            case ast.Assign([ast.Name(n)], ast.Constant(0.0)) if n == name:
                return test
            case ast.If(ast.Name(t), body, []) as s if test is None and _touches(body, name):
                if any(_binds(later, t) for later in before[k:]):
                    return None
                test = s.test
            case s if _binds(s, name):
                return None
    return None


def _touches(body: list[ast.stmt], name: str) -> bool:
    return any(_binds(s, name) for s in body)


def _binds(s: ast.stmt, name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for n in asts.walk(s)
    )


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in asts.walk(node) if isinstance(n, ast.Name)}


def _spreads_only(fn: Function, loop: ast.For, name: str) -> bool:
    """Whether a loop has no effect when `name` is zero."""
    zero = {name}
    if not summary([loop]).plain or not _zero_block(loop.body, zero):
        return False
    bound = summary([loop]).assigned
    return not any(fn.live_after(n, loop) for n in bound)


def _zero_block(body: list[ast.stmt], zero: set[str]) -> bool:
    for s in body:
        match s:
            case ast.Assign([ast.Name(n)], value):
                zero.add(n) if _is_zero(value, zero) else zero.discard(n)
            case ast.AugAssign(_, ast.Add() | ast.Sub(), value):
                if not _is_zero(value, zero):
                    return False
            case ast.For(_, _, inner, []):
                if not _zero_block(inner, zero):
                    return False
            case _:
                if type(s).__name__ not in ("Comment", "Blank"):
                    return False
    return True


def _is_zero(e: ast.expr, zero: set[str]) -> bool:
    match e:
        case ast.Name(n):
            return n in zero
        case ast.Constant(0.0):
            return True
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            return _is_zero(operand, zero)
        case ast.BinOp(left, ast.Mult(), right):
            return _is_zero(left, zero) or _is_zero(right, zero)
        case ast.BinOp(left, ast.Div(), _):
            return _is_zero(left, zero)
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return _is_zero(left, zero) and _is_zero(right, zero)
        case _:
            return False


# ---- ascending ---------------------------------------------------------------------------------


def ascending(fn: Function) -> None:
    """`for i in range(n - 1, -1, -1)` becomes `for i in range(n)` where iterations commute."""
    for block in fn.blocks():
        for s in block:
            if isinstance(s, ast.For) and _descends(s) and _commutes(fn, s):
                high, low, _ = s.iter.args  # type: ignore[attr-defined]
                stop, start = _plus_one(high), _plus_one(_plain_number(low))
                args = [stop] if syn.is_number(start, 0) else [start, stop]
                s.iter = syn.call("range", *args)


def _plain_number(e: ast.expr) -> ast.expr:
    match e:
        case ast.UnaryOp(ast.USub(), ast.Constant(int(k))):
            return ast.Constant(-k)
    return e


def _descends(s: ast.For) -> bool:
    match s:
        case ast.For(ast.Name(), ast.Call(ast.Name("range"), [_, _, step], []), _, []):
            return ast.unparse(step) == "-1"
    return False


def _commutes(fn: Function, loop: ast.For) -> bool:
    """Whether the iterations of a loop may run in any order."""
    got = summary(loop.body)
    if not got.plain or not isinstance(loop.target, ast.Name):
        return False
    counter = loop.target.id
    if counter in got.assigned or counter in got.added or fn.live_after(counter, loop):
        return False
    return _numbers_commute(fn, loop, got) and _arrays_commute(fn, loop, got)


def _numbers_commute(fn: Function, loop: ast.For, got: Summary) -> bool:
    touched = {fn.root(a.array) for a in got.accesses}
    if any(fn.root(n) in touched for n in got.added | got.assigned):
        return False  # the name of an array that is changed in other ways, too
    for name in got.added - got.assigned:
        if name in got.read:
            return False
    for name in got.assigned:
        if first_use(loop.body, name) == "read" or fn.live_after(name, loop):
            return False
        if not _always_bound_first(loop.body, name):
            return False
    return True


def _always_bound_first(body: list[ast.stmt], name: str) -> bool:
    """Whether every read of a name in an iteration follows a binding in the same iteration."""
    if first_use(body, name) == "write":
        return True
    for s in body:
        match s:
            case ast.For(target, _, inner, []):
                if isinstance(target, ast.Name) and target.id == name:
                    continue
                if _mentions(s, name) and not _always_bound_first(inner, name):
                    return False
            case ast.If(_, inner, orelse):
                for arm in (inner, orelse):
                    if any(_mentions(x, name) for x in arm) and not _always_bound_first(arm, name):
                        return False
            case _:
                if _mentions(s, name):
                    return False
    return True


def _mentions(s: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in asts.walk(s))


def _arrays_commute(fn: Function, loop: ast.For, got: Summary) -> bool:
    assert isinstance(loop.target, ast.Name)
    counter = loop.target.id
    classes: dict[str, list[Access]] = {}
    for a in got.accesses:
        if a.array in got.assigned:
            return False  # another array in each iteration
        classes.setdefault(fn.root(a.array), []).append(a)
    for uses in classes.values():
        kinds = {a.kind for a in uses}
        if kinds <= {"read"} or kinds <= {"add"}:
            continue
        if not _apart(uses, counter) or not _never_negative(fn, loop):
            return False
    return True


def _never_negative(fn: Function, loop: ast.For) -> bool:
    """Whether a counter stays away from indices that count from the end."""
    match loop.iter:
        case ast.Call(ast.Name("range"), [_], []):
            return True
        case ast.Call(ast.Name("range"), [start, _], []):
            return _not_negative(fn, loop, start)
        case ast.Call(ast.Name("range"), [_, low, _], []):
            return _not_negative(fn, loop, _plus_one(_plain_number(low)))
    return False


def _not_negative(fn: Function, loop: ast.stmt, e: ast.expr) -> bool:
    match e:
        case ast.Constant(int(k)):
            return k >= 0
        case ast.BinOp(left, ast.Add(), right):
            return _not_negative(fn, loop, left) and _not_negative(fn, loop, right)
        case ast.Name(name):
            for block, k in fn.path(loop)[1:]:
                s = block[k]
                if (
                    isinstance(s, ast.For)
                    and isinstance(s.target, ast.Name)
                    and s.target.id == name
                ):
                    return _never_negative(fn, s)
    return False


def _apart(uses: list[Access], counter: str) -> bool:
    """Whether different iterations use different elements: the counter is an index in each."""
    if len({a.array for a in uses}) > 1:
        return False
    items = [a.key.elts if isinstance(a.key, ast.Tuple) else [a.key] for a in uses]
    for p in range(min(map(len, items))):
        shown = {ast.dump(k[p]) for k in items}
        if len(shown) == 1 and _is_counter(items[0][p], counter):
            return True
    return False


def _is_counter(e: ast.expr, counter: str) -> bool:
    match e:
        case ast.Name(n):
            return n == counter
        case ast.BinOp(ast.Name(n), ast.Add(), ast.Constant(int())):
            return n == counter
    return False


# ---- distribute --------------------------------------------------------------------------------


def distribute(fn: Function) -> None:
    """`b[i - 1] += t; b[i + 1] += t` in one loop: t goes into a buffer, each addition into a
    loop."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            made = _distributed(fn, s) if isinstance(s, ast.For) else None
            if made is not None:
                block[k : k + 1] = made
                k += len(made) - 1
            k += 1


def _distributed(fn: Function, loop: ast.For) -> list[ast.stmt] | None:
    match loop:
        case ast.For(ast.Name(counter), ast.Call(ast.Name("range"), args, []), body, []):
            pass
        case _:
            return None
    if len(args) > 2 or any(isinstance(s, ast.For | ast.If) for s in body):
        return None
    start = args[0] if len(args) == 2 else ast.Constant(0)
    if not _is_a_start(start) or not _commutes(fn, loop):
        return None
    got = summary(body)
    adds = [s for s in body if _is_addition(s)]
    groups: dict[str, list[ast.AugAssign]] = {}
    for s in adds:
        groups.setdefault(fn.root(_place(s)[0]), []).append(s)
    chosen = [g for g in groups.values() if len({ast.dump(_place(s)[1]) for s in g}) > 1]
    moved = [s for g in chosen for s in g]
    if not all(fn.is_number(*_place(s)) for s in moved):
        return None
    if not moved or any(_names(_place(s)[1]) & got.assigned for s in moved):
        return None
    if any(
        a.kind != "add"
        for s in moved
        for a in got.accesses
        if fn.root(a.array) == fn.root(_place(s)[0])
    ):
        return None
    for s in moved:  # the buffer holds what the name is at the end of the iteration
        assert isinstance(s.value, ast.Name)
        name = s.value.id
        if name in got.added or sum(_binds(x, name) for x in body) != 1:
            return None
    outer = _outermost(fn, loop)
    if _names(args[-1]) & {
        n.id for n in asts.walk(outer) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }:
        return None
    return _split(fn, loop, counter, args, moved, outer)


def _is_a_start(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and isinstance(e.value, int | float) and e.value >= 0


def _is_addition(s: ast.stmt) -> TypeGuard[ast.AugAssign]:
    match s:
        case ast.AugAssign(ast.Subscript(ast.Name(), _), ast.Add() | ast.Sub(), ast.Name()):
            return True
    return False


def _place(s: ast.AugAssign) -> tuple[str, ast.expr]:
    """The array and the key of an addition."""
    assert isinstance(s.target, ast.Subscript) and isinstance(s.target.value, ast.Name)
    return s.target.value.id, s.target.slice


def _outermost(fn: Function, loop: ast.stmt) -> ast.stmt:
    path = fn.path(loop)
    block, k = path[-1]
    return block[k]


def _split(
    fn: Function,
    loop: ast.For,
    counter: str,
    args: list[ast.expr],
    moved: list[ast.AugAssign],
    outer: ast.stmt,
) -> list[ast.stmt]:
    buffers: dict[str, str] = {}
    for s in moved:
        assert isinstance(s.value, ast.Name)
        if s.value.id not in buffers:
            buffers[s.value.id] = fn.fresh(f"{s.value.id}_row")
            made = syn.assign(
                buffers[s.value.id],
                syn.call("np.empty", syn.call("max", asts.copied(args[-1]), ast.Constant(0))),
            )
            top = fn.node.body
            top.insert(top.index(outer), made)
    index = syn.name(counter)
    rest = [s for s in loop.body if s not in moved]
    for value, buffer in buffers.items():
        place = ast.Subscript(syn.name(buffer), index, ast.Load())
        rest.append(syn.assign(place, syn.name(value)))
    out: list[ast.stmt] = [ast.For(loop.target, loop.iter, rest, [])]
    for s in moved:
        assert isinstance(s.value, ast.Name)
        s.value = ast.Subscript(syn.name(buffers[s.value.id]), syn.name(counter), ast.Load())
        out.append(ast.For(asts.copied(loop.target), asts.copied(loop.iter), [s], []))
    return out


# ---- hoist -------------------------------------------------------------------------------------


def hoist(fn: Function) -> None:
    """`for j ...: a[i] += e` becomes a sum in a number, added to a[i] after the loop."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            if isinstance(s, ast.For) and not any(
                isinstance(x, ast.For) for x in asts.walk(s) if x is not s
            ):
                before, after = _hoisted(fn, s)
                block[k : k + 1] = [*before, s, *after]
                k += len(before) + len(after)
            k += 1


def _hoisted(fn: Function, loop: ast.For) -> tuple[list[ast.stmt], list[ast.stmt]]:
    got = summary([loop])
    before: list[ast.stmt] = []
    after: list[ast.stmt] = []
    step = loop.iter.args[2:] if isinstance(loop.iter, ast.Call) else []
    if not got.plain or (step and not _descends(loop)):
        return before, after
    names: dict[str, str] = {}
    for s in loop.body:
        match s:
            case ast.AugAssign(
                ast.Subscript(ast.Name(array), key) as place, ast.Add() | ast.Sub(), _
            ):
                uses = [a for a in got.accesses if fn.root(a.array) == fn.root(array)]
                same = {(a.kind, ast.dump(a.key)) for a in uses} == {("add", ast.dump(key))}
                if not same or _names(key) & (got.assigned | got.added):
                    continue
                if not fn.is_number(array, key):
                    continue
                shown = ast.dump(place)
                if shown not in names:
                    names[shown] = fn.fresh(f"{array}_sum")
                    before.append(syn.assign(names[shown], ast.Constant(0.0)))
                    added = syn.augment(asts.copied(place), ast.Add(), syn.name(names[shown]))
                    after.append(added)
                s.target = ast.Name(names[shown], ast.Store())
    if after:
        after = [ast.If(_runs(loop), after, [])]
    return before, after


def _runs(loop: ast.For) -> ast.expr:
    """Whether a loop has an iteration: without one the place need not be in the array."""
    args = [asts.copied(a) for a in loop.iter.args]  # type: ignore[attr-defined]
    if len(args) == 1:
        return ast.Compare(args[0], [ast.Gt()], [ast.Constant(0)])
    if len(args) == 2:
        return ast.Compare(args[0], [ast.Lt()], [args[1]])
    return ast.Compare(args[0], [ast.Gt()], [args[1]])


__all__ = ["ascending", "distribute", "guard", "hoist"]
