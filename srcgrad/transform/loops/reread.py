"""What was read from an array that the reverse sweep puts back is read again, not kept."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.kept import Sweeps, is_steady, stores
from srcgrad.transform.loops.facts.outline import statements


def reread(fn: Function) -> None:
    """`t = a[k]; t_tape[i] = t` with `t = t_tape[i]`: the latter becomes `t = a[k]` where a is as
    it was."""
    sweeps = Sweeps(fn)
    if not sweeps.kept:
        return
    traffic = _Traffic(fn, sweeps)
    for made in [s for s in sweeps.ahead if isinstance(s, ast.Assign)]:
        match made:
            case ast.Assign([ast.Name(tape)], ast.Call(ast.Attribute(ast.Name("np"), "empty"))):
                if _reread(fn, sweeps, traffic, tape):
                    fn.node.body.remove(made)
                    fn = fn.again()
                    sweeps = Sweeps(fn)
                    traffic = _Traffic(fn, sweeps)


class _Traffic:
    """How often each name is mentioned, and the statements that put a variable into an array or
    take one from it."""

    def __init__(self, fn: Function, sweeps: Sweeps) -> None:
        self.mentions = fn.mentions
        self.records: dict[str, list[ast.stmt]] = {}
        self.loads: dict[str, list[ast.stmt]] = {}
        for s in statements(sweeps.ahead):
            match s:
                case ast.Assign([ast.Subscript(ast.Name(tape), _)], ast.Name()):
                    self.records.setdefault(tape, []).append(s)
        for s in statements(sweeps.back):
            match s:
                case ast.Assign([ast.Name()], ast.Subscript(ast.Name(tape), _)):
                    self.loads.setdefault(tape, []).append(s)


def _reread(fn: Function, sweeps: Sweeps, traffic: _Traffic, tape: str) -> bool:
    record, load = traffic.records.get(tape, []), traffic.loads.get(tape, [])
    if traffic.mentions[tape] != 3 or len(record) != 1 or len(load) != 1:
        return False
    kept, again = record[0], load[0]
    assert isinstance(kept, ast.Assign) and isinstance(again, ast.Assign)
    ahead, k = sweeps.places[id(kept)]
    behind, j = sweeps.places[id(again)]
    v = again.targets[0]
    assert isinstance(v, ast.Name) and isinstance(kept.value, ast.Name)
    read = ahead[k - 1] if k else None
    match read:
        case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(array), key) as place) if (
            name == v.id == kept.value.id and sweeps.is_put_back(array, kept)
        ):
            pass
        case _:
            return False
    loops = [s for s in fn.owners(kept) if isinstance(s, ast.For)]
    if not is_steady(fn, key, loops) or any(isinstance(s, ast.If) for s in fn.owners(kept)):
        return False
    use = next((u for u in range(j + 1, len(behind)) if v.id in asts.names(behind[u])), None)
    if use is None or not _same_state(ahead[k + 1 :], behind[:use], array):
        return False
    ahead.remove(kept)
    behind.remove(again)
    behind.insert(use - 1, ast.Assign([ast.Name(v.id, ast.Store())], asts.copied(place)))
    return True


def _same_state(after: list[ast.stmt], before: list[ast.stmt], array: str) -> bool:
    """Whether the reverse sweep has undone, up to the use, just what was stored after the read."""
    made = [w for s in after for w in stores(s, array)]
    undone = [w for s in before for w in stores(s, array)]
    plain = all(any(w is s for s in after) for w in made)
    return plain and len(made) == len(undone) and all(any(w is s for s in before) for w in undone)


__all__ = ["reread"]
