"""An element that is read twice is kept once."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.outline import statements


def share(fn: Function) -> None:
    """`s = a[k]; s_tape[i] = s; t = a[k]; t_tape[i] = t`: t comes from `s_tape`, too."""
    for block in fn.blocks():
        k = 0 if _repeats(block) else len(block)
        while k < len(block):
            found = _same_later(fn, block, k)
            if found is not None and _replace(fn, block, k, found):
                continue
            k += 1


def _reads_and_keeps(block: list[ast.stmt], k: int) -> tuple[str, ast.Subscript, str, str] | None:
    """`v = a[key]; tape[i] = v` at a position: v, the element, the tape, the place in it."""
    if block[k].__class__ is not ast.Assign:
        return None
    match block[k : k + 2]:
        case [
            ast.Assign([ast.Name(v)], ast.Subscript(ast.Name(), _) as element),
            ast.Assign([ast.Subscript(ast.Name(tape), at)], ast.Name(kept)),
        ] if v == kept:
            return v, element, tape, ast.dump(at)
    return None


def _repeats(block: list[ast.stmt]) -> bool:
    """Whether a block may keep an element twice."""
    found = [_reads_and_keeps(block, k) for k in range(len(block) - 1)]
    elements = [ast.dump(kept[1]) for kept in found if kept is not None]
    return len(set(elements)) < len(elements)


def _same_later(fn: Function, block: list[ast.stmt], k: int) -> int | None:
    first = _reads_and_keeps(block, k)
    if first is None:
        return None
    _, element, tape, at = first
    array = element.value
    assert isinstance(array, ast.Name)
    used = asts.names(element.slice)
    for j in range(k + 2, len(block)):
        later = _reads_and_keeps(block, j)
        if later is not None and later[2] != tape and later[3] == at:
            if asts.same(later[1], element):
                return j
        got = fn.summary([block[j]])
        stored = {fn.root(a.array) for a in got.accesses if a.kind != "read"}
        if not got.plain or fn.root(array.id) in stored or used & fn.leaves.bound(block[j]):
            return None
    return None


def _replace(fn: Function, block: list[ast.stmt], k: int, j: int) -> bool:
    """Take the second tape away, if one statement fills it and one reads it."""
    first, later = _reads_and_keeps(block, k), _reads_and_keeps(block, j)
    assert first is not None and later is not None
    tape, other = first[2], later[2]
    uses = [
        n
        for leaf in fn.leaves.of_block(fn.node.body)
        for n in leaf.nodes
        if isinstance(n, ast.Name) and n.id == other
    ]
    load = [
        s
        for s in statements(fn.node.body)
        if isinstance(s, ast.Assign)
        and isinstance(s.value, ast.Subscript)
        and isinstance(s.value.value, ast.Name)
        and s.value.value.id == other
    ]
    made = [s for s in fn.node.body if _makes(s, other)]
    if len(uses) != 3 or len(load) != 1 or len(made) != 1 or not _made_alike(fn, tape, made[0]):
        return False
    assert isinstance(load[0].value, ast.Subscript)
    load[0].value.value = syn.name(tape)
    fn.leaves.forget(load[0])
    del block[j + 1]
    fn.node.body.remove(made[0])
    return True


def _makes(s: ast.stmt, name: str) -> bool:
    match s:
        case ast.Assign([ast.Name(n)], ast.Call(ast.Attribute(ast.Name("np"), "empty"))):
            return n == name
    return False


def _made_alike(fn: Function, tape: str, other: ast.stmt) -> bool:
    """Whether a tape is filled by one statement, and made with the same extents."""
    made = [s for s in fn.node.body if _makes(s, tape)]
    stores = [
        n
        for n in asts.walk(fn.node)
        if isinstance(n, ast.Subscript)
        and isinstance(n.ctx, ast.Store)
        and isinstance(n.value, ast.Name)
        and n.value.id == tape
    ]
    assert isinstance(other, ast.Assign)
    return (
        len(stores) == len(made) == 1
        and isinstance(made[0], ast.Assign)
        and asts.same(made[0].value, other.value)
    )


__all__ = ["share"]
