"""Derivatives of nested functions, made inside a differentiated one.

    def inner(y): return s * y        def inner_grad(y): return <grad of inner>(s, y)
    g = srcgrad.grad(inner)      ->   g = inner_grad

`<grad of inner>` is a derivative of `inner` with what it captures as its first parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from srcgrad.analysis.rewrites.base import Rewrites
from srcgrad.frontend.lifted import lift
from srcgrad.frontend.resolve import global_of
from srcgrad.ir import nodes as ir
from srcgrad.ir import types as ty

_FIRST = {"vjp": "cotangent", "jvp": "tangents", "hvp": "vector"}


def of_nested(
    maker: Any, nested: ir.Function, given: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """The derivative that `maker(inner, *given, **named)` stands for, by the parameters behind
    what is captured; None where the function can't be made one of a module."""
    options = {**({"wrt": given[0]} if given else {}), **named}
    if nested.written is None or len(given) > 1:
        return None
    lifted = lift(nested.written, nested.name.strip("<>"))
    if lifted is None:
        return None
    wrt, behind = options.pop("wrt", 0), len(nested.free)
    many = isinstance(wrt, tuple | list)
    by = [w + behind if isinstance(w, int) else w for w in (wrt if many else [wrt])]
    return maker(lifted, tuple(by) if many else by[0], **options)


@dataclass
class Derived(Rewrites):
    """The part of sharpening that sees to derivatives of nested functions."""

    def of_closure(self, stmt: ir.Assign | ir.Effect) -> list[ir.Stmt] | None:
        """`g = srcgrad.grad(inner)` is a nested function that calls the derivative."""
        derivative = self.facts.derived.get(stmt.sid)
        if derivative is None or not isinstance(stmt, ir.Assign):
            return None
        assert isinstance(stmt.value, ir.Call)
        closure = self.closure_of(ir.unstar(stmt.value.args[0]))
        if closure is None:
            return None
        self.changed = True
        fn, maker = closure.fn, derivative.__name__.rpartition("_")[2]  # f_grad, f_hvp
        first = _FIRST.get(maker)
        params = tuple(replace(p, kind="normal") for p in fn.params)
        if first is not None:
            while first in {*fn.free, *(p.name for p in params)}:
                first += "_2"
            params = (ir.Param(first, "normal"), *params)
        given = [ir.Var(n) for n in (*([first] if first else []), *fn.free)]
        args = (*given, *(ir.Var(p.name) for p in fn.params))
        result = ir.Var("%1")
        body = (
            ir.Assign(next(self.sids), stmt.loc, result, ir.Call(global_of(derivative), args)),
            ir.Exit(next(self.sids), stmt.loc, "return", result),
        )
        made = ir.Function(
            f"{fn.name.strip('<>')}_{maker}", params, body, fn.free, stmt.loc, None,
            defaults=fn.defaults,
        )  # fmt: skip
        return [replace(stmt, value=ir.Closure(made, closure.free))]

    def closure_of(self, a: ir.Atom) -> ir.Closure | None:
        """The nested function that a variable surely is, with what it captures."""
        found = [
            s for s in ir.walk(self.facts.fn.body) if isinstance(s, ir.Assign) and s.target == a
        ]
        if len(found) == 1 and isinstance(found[0].value, ir.Closure):
            return found[0].value
        t = self.facts.of(a)
        if isinstance(t, ty.ClosureType) and not t.free:
            return ir.Closure(t.fn, ())
        return None
