"""The part of a block that some names depend on."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from srcgrad.ir import asts
from srcgrad.transform.loops.facts.accesses import Function


def sliced(
    fn: Function, block: list[ast.stmt], wanted: Iterable[str]
) -> tuple[list[ast.stmt], set[str]]:
    """The statements that names depend on at the end of a block, and the names that these read
    from before it; loops are new, what is in them is shared.

    >>> text = "def f(a, k):\\n u = a[k]\\n v = u * 2.0\\n w = u + 1.0\\n a[k] = w"
    >>> fn = ast.parse(text).body[0]
    >>> part, names = sliced(Function(fn), fn.body, ["v"])
    >>> [ast.unparse(s) for s in part], sorted(names)
    (['u = a[k]', 'v = u * 2.0'], ['a', 'k'])
    """
    made = _Slice(fn)
    live = {fn.root(n) for n in wanted}
    kept = made.block(block, live)
    return kept, live


class _Slice:
    """Goes backwards through blocks of plain statements; a set of names is changed on the way.

    An array is never known to be filled as a whole: once it is wanted, it stays so.
    """

    def __init__(self, fn: Function) -> None:
        self.fn = fn

    def block(self, body: list[ast.stmt], live: set[str]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in reversed(body):
            kept = self.statement(s, live)
            if kept is not None:
                out.append(kept)
        return out[::-1]

    def statement(self, s: ast.stmt, live: set[str]) -> ast.stmt | None:
        match s:
            case ast.For(target, over, body):
                return self.loop(target, over, body, live)
            case ast.If(test, body, orelse):
                arms = set(live), set(live)
                kept = self.block(body, arms[0]), self.block(orelse, arms[1])
                if not any(kept):
                    return None
                live |= arms[0] | arms[1] | self.reads(test)
                return ast.If(test, kept[0] or [ast.Pass()], kept[1])
            case ast.Assign([ast.Name(name)], value):
                if self.fn.root(name) not in live:
                    return None
                live.discard(name)
                live |= self.reads(value)
            case ast.Assign([ast.Subscript(ast.Name(name))]) | ast.AugAssign(
                ast.Subscript(ast.Name(name)) | ast.Name(name)
            ):
                if self.fn.root(name) not in live:
                    return None
                live |= self.reads(s)
            case _:
                return None
        return s

    def loop(
        self, target: ast.expr, over: ast.expr, body: list[ast.stmt], live: set[str]
    ) -> ast.stmt | None:
        while True:
            around = set(live)
            kept = self.block(body, around)
            around -= asts.names(target)
            if around <= live:
                break
            live |= around
        if not kept:
            return None
        live |= self.reads(over)
        return ast.For(target, over, kept, [])

    def reads(self, node: ast.AST) -> set[str]:
        return {self.fn.root(n) for n in self.fn.leaves.of(node).reads}


__all__ = ["sliced"]
