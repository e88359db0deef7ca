"""Nested functions handed to other functions: the callee is made anew for each that it is given.

    def newton(f, y):                      def newton(y, a):
        ... f(y) ...                           ... y * y - a ...
    newton(lambda y: y * y - a, 1.0)  ->   newton(1.0, a)

What the nested function captures is then an argument like any other, which it may also write into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

from srcgrad.analysis.targets import Bound
from srcgrad.frontend.lower import RecursiveRef
from srcgrad.ir import nodes as ir
from srcgrad.ir.rebuild import map_own, with_blocks

_PLAIN = frozenset(("posonly", "normal", "kwonly"))


def made_for_nested(
    variants: MutableMapping[Any, ir.Function],
    fn: ir.Function,
    bound: tuple[Bound, ...],
    closures: Mapping[str, ir.Closure],
) -> tuple[ir.Function, tuple[Bound, ...]]:
    """A function for a call that hands it nested functions, and the arguments that it then takes.

    Arguments: `closures` are the variables of the caller that hold a nested function made just
    there.
    """
    for p, b in zip(fn.params, bound, strict=False):
        closure = closures.get(b.name) if isinstance(b, ir.Var) else None
        if closure is None or p.kind not in _PLAIN or not _followed(fn, p.name, closure):
            continue
        k = fn.params.index(p)
        key = (fn, k, closure.fn)
        if key not in variants:
            variants[key] = _variant(fn, p, closure.fn)
        fn, bound = variants[key], (*bound[:k], *bound[k + 1 :], *(a for _, a in closure.free))
    return fn, bound


def _followed(fn: ir.Function, name: str, closure: ir.Closure) -> bool:
    """Whether a parameter is what the caller gave all along."""
    if closure.fn.decorated is not None or not closure.free:
        return False
    for s in ir.walk(fn.body):
        if isinstance(s, ir.Verbatim) or any(v.name == name for v in ir.writes(s)):
            return False
        for e in ir.exprs(s):
            if isinstance(e, ir.Opaque) and any(v.name == name for v in e.reads):
                return False  # text is kept as written
            if isinstance(e, ir.Call) and isinstance(e.fn, ir.Global):
                if isinstance(e.fn.value, RecursiveRef):
                    return False
    return True


def _variant(fn: ir.Function, param: ir.Param, nested: ir.Function) -> ir.Function:
    taken = {p.name for p in fn.params} | set(fn.free)
    for s in ir.walk(fn.body):
        taken |= {v.name for v in (*ir.reads(s), *ir.writes(s))}
    names: dict[str, str] = {}
    for n in nested.free:
        names[n] = _new(n, taken)
        taken.add(names[n])
    holder = ir.Var(_new(f"%{param.name}", taken))

    def through(a: ir.Atom) -> ir.Atom:
        return holder if isinstance(a, ir.Var) and a.name == param.name else a

    body = _mapped(fn.body, through)
    first = 1 + max((s.sid for s in ir.walk(fn.body)), default=0)
    closure = ir.Closure(nested, tuple((n, ir.Var(names[n])) for n in nested.free))
    return replace(
        fn,
        params=tuple(p for p in fn.params if p is not param),
        body=(ir.Assign(first, fn.loc, holder, closure), *body),
        free=(*fn.free, *names.values()),
        fn=None,
        defaults=tuple((n, a) for n, a in fn.defaults if n != param.name),
    )


def _new(name: str, taken: set[str]) -> str:
    made, k = name, 1
    while made in taken:
        k += 1
        made = f"{name}_{k}"
    return made


def _mapped(block: ir.Block, through: Callable[[ir.Atom], ir.Atom]) -> ir.Block:
    made = []
    for s in block:
        inner = tuple(_mapped(b, through) for b in ir.blocks(s))
        made.append(with_blocks(map_own(s, through, lambda a: a), inner))
    return tuple(made)
