"""Additions to one place of an array are summed in a number first."""

from __future__ import annotations

import ast

from srcgrad.ir import asts
from srcgrad.transform import syntax as syn
from srcgrad.transform.loops.facts.accesses import Function
from srcgrad.transform.loops.facts.order import descends, is_innermost, runs


def hoist(fn: Function) -> None:
    """`for j ...: a[i] += e` becomes a sum in a number, added to a[i] after the loop."""
    for block in fn.blocks():
        k = 0
        while k < len(block):
            s = block[k]
            if isinstance(s, ast.For) and is_innermost(s):
                before, after = _hoisted(fn, s)
                block[k : k + 1] = [*before, s, *after]
                k += len(before) + len(after)
            k += 1


def _hoisted(fn: Function, loop: ast.For) -> tuple[list[ast.stmt], list[ast.stmt]]:
    before: list[ast.stmt] = []
    after: list[ast.stmt] = []
    if not any(map(_is_addition, loop.body)):
        return before, after
    got = fn.summary([loop])
    step = loop.iter.args[2:] if isinstance(loop.iter, ast.Call) else []
    if not got.plain or (step and not descends(loop)):
        return before, after
    uses: dict[str, set[tuple[str, str]]] = {}  # of what shares memory: how, and where in it
    for a in got.accesses:
        uses.setdefault(fn.root(a.array), set()).add((a.kind, ast.dump(a.key)))
    changed = got.assigned | got.added
    names: dict[str, str] = {}
    for s in loop.body:
        match s:
            case ast.AugAssign(ast.Subscript(ast.Name(array), key) as place) if _is_addition(s):
                if uses[fn.root(array)] != {("add", ast.dump(key))} or syn.names_in(key) & changed:
                    continue
                if not fn.is_number(array, key) or (fn.adjoints and array not in fn.adjoints):
                    continue  # the primal's own sums keep their order
                shown = ast.dump(place)
                if shown not in names:
                    names[shown] = fn.fresh(f"{array}_sum")
                    if array in fn.adjoints:
                        fn.adjoints.add(names[shown])
                    before.append(syn.assign(names[shown], ast.Constant(0.0)))
                    added = syn.augment(asts.copied(place), ast.Add(), syn.name(names[shown]))
                    after.append(added)
                s.target = ast.Name(names[shown], ast.Store())
                fn.leaves.forget(s)
    if after:
        after = [ast.If(runs(loop), after, [])]
    return before, after


def _is_addition(s: ast.stmt) -> bool:
    match s:
        case ast.AugAssign(ast.Subscript(ast.Name()), ast.Add() | ast.Sub()):
            return True
    return False
